//! The simulation on a thread of its own. The window sends commands and takes finished frames; it
//! never waits for a step, and a step never waits for the window.

mod command;
mod edit;
mod frame;
mod placement;
mod run;
mod topology;

pub use command::{Ball, Command, Wedge};
pub use frame::{Frame, Sample};
pub use placement::{Placement, What};

use super::messages::Note;
use crossbeam::channel::{Receiver, Sender, unbounded};
use crossbeam::queue::ArrayQueue;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Steps whose times are kept for a window that does not look: half a minute at 120 steps a second.
const SAMPLES: usize = 4096;

/// What the two threads share.
pub struct Shared {
    /// The newest frame that the window has not taken.
    fresh: Mutex<Option<Box<Frame>>>,
    /// A frame the window is done with, to be filled again.
    spare: Mutex<Option<Box<Frame>>>,
    /// Whether the window has taken the last frame. Copying a world nobody looks at is wasted.
    wanted: AtomicBool,
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

    /// Swaps `frame` for a newer one, if there is one.
    pub fn take(&self, frame: &mut Box<Frame>) -> bool {
        let Some(fresh) = self.shared.fresh.lock().take() else { return false };
        let old = std::mem::replace(frame, fresh);
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
            // A step that takes minutes must not keep the window's process: it ends with it.
            if thread.is_finished() {
                let _ = thread.join();
            }
        }
    }
}
