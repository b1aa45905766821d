//! The simulation on a thread of its own. The window sends commands and takes finished moments; it
//! never waits for a step, and a step never waits for the window.

mod command;
mod edit;
mod edits;
mod keep;
mod moment;
mod motion;
mod placement;
mod run;
#[cfg_attr(not(feature = "vulkan"), path = "apart.rs")]
mod straight;
mod topology;

pub use command::{Ball, Command, Wedge};
pub use edit::{COEFFICIENTS, Coefficient, placed_mesh};
pub use moment::{Moment, Sample};
pub use placement::{Placement, What};
pub use straight::Gpu;
#[cfg(feature = "vulkan")]
pub use straight::OnDevice;
#[cfg(test)]
pub use topology::Topology;

use super::messages::Note;
use crossbeam::channel::{Receiver, Sender, unbounded};
use crossbeam::queue::ArrayQueue;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long the end of the window waits for a step that is still being taken.
const FAREWELL: Duration = Duration::from_secs(1);
/// Steps whose times are kept for a window that does not look: half a minute at 120 steps a second.
const SAMPLES: usize = 4096;

/// What the two threads share.
pub struct Shared {
    /// The newest moment that the window has not taken.
    fresh: Mutex<Option<Box<Moment>>>,
    /// A moment the window is done with, to be filled again.
    spare: Mutex<Option<Box<Moment>>>,
    /// Whether the window has taken the last moment. Copying a world nobody looks at is wasted.
    wanted: AtomicBool,
    /// Whether the window needs the positions here, and not only where the painter draws from them.
    looks: AtomicBool,
    /// Times of the latest steps; the oldest are dropped when nobody takes them.
    samples: ArrayQueue<Sample>,
}

/// The window's end of the simulation.
pub struct Physics {
    commands: Sender<Command>,
    notes: Receiver<Note>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Physics {
    /// Starts the thread with nothing loaded.
    pub fn start(threads: usize) -> std::io::Result<Self> {
        let (commands, inbox) = unbounded();
        let (outbox, notes) = unbounded();
        let shared = Arc::new(Shared {
            fresh: Mutex::new(None),
            spare: Mutex::new(Some(Box::default())),
            wanted: AtomicBool::new(true),
            looks: AtomicBool::new(true),
            samples: ArrayQueue::new(SAMPLES),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("physics".into())
            .spawn(move || run::Runner::new(theirs, outbox, threads).run(&inbox))?;
        Ok(Physics { commands, notes, shared, thread: Some(thread) })
    }

    /// Sends a command. A thread that is gone is seen by [`Physics::alive`].
    pub fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }

    /// Whether the thread still runs.
    pub fn alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|t| !t.is_finished())
    }

    /// Says whether the window needs the positions of the next moments here. While the simulation
    /// runs on the painter's device they may stay there; when it stops they are always here.
    pub fn look(&self, looks: bool) {
        self.shared.looks.store(looks, Ordering::Relaxed);
    }

    /// Swaps `moment` for a newer one, if there is one.
    pub fn take(&self, moment: &mut Box<Moment>) -> bool {
        let Some(fresh) = self.shared.fresh.lock().take() else { return false };
        let old = std::mem::replace(moment, fresh);
        *self.shared.spare.lock() = Some(old);
        self.shared.wanted.store(true, Ordering::Release);
        true
    }

    /// The times of the steps since the last call, oldest first.
    pub fn samples(&self) -> impl Iterator<Item = Sample> + '_ {
        std::iter::from_fn(|| self.shared.samples.pop())
    }

    /// What the thread had to say since the last call.
    pub fn notes(&self) -> impl Iterator<Item = Note> + '_ {
        self.notes.try_iter()
    }
}

impl Drop for Physics {
    fn drop(&mut self) {
        self.send(Command::Quit);
        if let Some(thread) = self.thread.take() {
            // A device is best closed by its owner. But a step that takes minutes must not keep the
            // window's process: it ends with it.
            let asked = Instant::now();
            while !thread.is_finished() && asked.elapsed() < FAREWELL {
                std::thread::sleep(Duration::from_millis(2));
            }
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}

#[cfg(all(test, feature = "vulkan"))]
mod tests {
    use super::*;
    use crate::viewer::backends;
    use motes::vulkan::harness::trial::usable;

    /// Opening a device takes a while; the window hears of it before and after.
    #[test]
    fn a_device_that_is_opened_is_told_of() {
        let Some(_turn) = usable() else { return };
        let works = |choice: &&backends::Choice| choice.make.is_ok();
        let mut devices = backends::all().iter().skip(1);
        let Some(device) = devices.find(works) else { return };
        let physics = Physics::start(1).unwrap();
        let told = |last: Option<&str>| {
            let asked = Instant::now();
            loop {
                assert!(asked.elapsed() < Duration::from_secs(120), "nothing is told");
                let found = physics.notes.recv_timeout(Duration::from_secs(120)).unwrap();
                if let Note::Starting(now) = found {
                    return assert_eq!(now.as_deref(), last);
                }
            }
        };
        physics.send(Command::Open("tear".into(), Vec::new()));
        physics.send(Command::Backend(&device.name));
        told(Some(&device.name));
        told(None);
    }
}
