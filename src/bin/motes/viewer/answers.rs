//! How long the user waits for the picture that shows what an input did, counted in frames.

use super::physics::Placement;
use super::settings::Settings;
use super::state::Viewer;
use glam::Vec3;
use imgui::{MouseButton, Ui};
use std::time::{Duration, Instant};

/// What inputs change and the picture shows.
#[derive(Default, PartialEq)]
pub struct Seen {
    camera: [Vec3; 2],
    settings: Settings,
    placement: Placement,
    pull: Option<(u64, Vec3)>,
    selected: Option<u64>,
    obstacle: Option<usize>,
    /// Playing, keys listed, profile frozen.
    switches: [bool; 3],
    /// The mouse as imgui has it: it takes the events of a burst one after the other.
    mouse: [f32; 2],
    buttons: [bool; 3],
}

impl Seen {
    /// What the picture to come will show at least: what panels change while they are drawn is seen
    /// in the one after it.
    pub fn now(ui: &Ui, viewer: &Viewer) -> Self {
        let camera = &viewer.view.camera;
        let buttons = [MouseButton::Left, MouseButton::Right, MouseButton::Middle];
        Seen {
            camera: [camera.eye, camera.target],
            settings: viewer.settings.clone(),
            placement: viewer.placement.clone(),
            pull: viewer.pointer.pull(),
            selected: viewer.selected,
            obstacle: viewer.obstacle,
            switches: [viewer.playing, viewer.help, viewer.history.is_frozen()],
            mouse: ui.io().mouse_pos,
            buttons: buttons.map(|button| ui.is_mouse_down(button)),
        }
    }
}

/// The input that came last.
struct Asked {
    /// Frames drawn before it came.
    frame: u64,
    at: Instant,
    /// Frames and time until the last picture that changed after it.
    answered: Option<(u64, Duration)>,
}

/// Inputs and the pictures that answered them.
#[derive(Default)]
pub struct Answers<S = Seen> {
    asked: Option<Asked>,
    seen: Option<S>,
    changed: bool,
    /// Inputs that changed a picture.
    pub count: u64,
    /// The longest wait.
    pub frames_most: u64,
    pub time_most: Duration,
}

impl<S: PartialEq> Answers<S> {
    /// An input came after so many frames. One that no picture could show yet is still waited for.
    pub fn ask(&mut self, frame: u64) {
        if self.asked.as_ref().is_none_or(|a| a.answered.is_some() || a.frame < frame) {
            self.asked = Some(Asked { frame, at: Instant::now(), answered: None });
        }
    }

    /// A picture of this is being made.
    pub fn look(&mut self, seen: S) {
        self.changed = self.seen.as_ref().is_some_and(|before| *before != seen);
        self.seen = Some(seen);
    }

    /// That picture is shown, the `frame`-th. `moves` says that it changes by itself from now on (a
    /// held key), so that only the first change is an answer.
    pub fn show(&mut self, frame: u64, moves: bool) {
        let Some(asked) = &mut self.asked else { return };
        if !self.changed || (moves && asked.answered.is_some()) {
            return;
        }
        self.count += u64::from(asked.answered.is_none());
        let (frames, time) = (frame - asked.frame, asked.at.elapsed());
        asked.answered = Some((frames, time));
        self.frames_most = self.frames_most.max(frames);
        self.time_most = self.time_most.max(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs (a frame number before which they come) and the frames at which the picture changes;
    /// gives how many were answered and the longest wait.
    fn run(inputs: &[u64], changes: &[u64], moves: bool) -> (u64, u64) {
        let mut answers = Answers::<u64>::default();
        let mut seen = 0;
        for frame in 0..20 {
            inputs.iter().filter(|&&input| input == frame).for_each(|_| answers.ask(frame));
            seen += u64::from(changes.contains(&frame));
            answers.look(seen);
            answers.show(frame + 1, moves);
        }
        (answers.count, answers.frames_most)
    }

    #[test]
    fn frames_are_counted_to_the_last_change() {
        assert_eq!(run(&[3], &[3], false), (1, 1), "the next picture");
        assert_eq!(run(&[3], &[3, 4], false), (1, 2), "a button that acts when it is let go");
        assert_eq!(run(&[3, 7], &[3, 8], false), (2, 2));
        // The controls: late pictures are told.
        assert_eq!(run(&[3], &[6], false), (1, 4));
        assert_eq!(run(&[3], &[3, 9], false), (1, 7));
        assert_eq!(run(&[3, 3, 3], &[3, 4, 5], false), (1, 3), "a burst that is taken in turns");
        assert_eq!(run(&[3], &[], false), (0, 0), "never");
        assert_eq!(run(&[3], &[3, 4, 5, 6], true), (1, 1), "flying");
    }
}
