//! Pictures of the window and of the scene in it: screenshots, and films by simulated time.

use super::bitmap;
use super::painter::{Painted, Wanted};
use super::physics::Command;
use super::state::Viewer;
use std::path::PathBuf;

/// What is on a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The scene alone.
    Scene,
    /// The window with its panels.
    Window,
}

/// A film that is being taken.
pub struct Recording {
    pub folder: PathBuf,
    frame: Frame,
    pub count: u32,
    /// The moment of the last picture: which load of a scene, and which step.
    last: Option<(u64, u64)>,
}

impl Viewer {
    /// The next finished picture is kept, under a name of its own.
    pub fn take_picture(&mut self, frame: Frame) {
        self.screenshot = Some((self.free_name("png"), frame));
    }

    /// Begins a film of one picture every so many steps, however fast frames are drawn: the
    /// simulation waits for each of them. Or ends it.
    pub fn toggle_recording(&mut self, frame: Frame) {
        if let Some(Recording { folder, count, .. }) = self.recording.take() {
            self.physics.send(Command::Record(None));
            let text = format!("{count} frames recorded in {}", folder.display());
            self.messages.say(text, false);
            return;
        }
        let folder = self.free_name("frames");
        if let Err(error) = std::fs::create_dir_all(&folder) {
            let text = format!("recording to {}: {error}", folder.display());
            return self.messages.say(text, true);
        }
        let every = self.settings.record_every;
        let pace = match every {
            1 => "every step".into(),
            every => format!("every {every} steps"),
        };
        self.messages.say(format!("recording {pace} to {}", folder.display()), false);
        self.physics.send(Command::Record(Some(every)));
        self.recording = Some(Recording { folder, frame, count: 0, last: None });
    }

    /// The moment that is shown now, if a film has to show it and does not yet.
    fn unrecorded(&self) -> Option<(u64, u64)> {
        let recording = self.recording.as_ref().filter(|_| self.moment.recorded)?;
        let now = (self.moment.generation, self.moment.step);
        (recording.last != Some(now)).then_some(now)
    }

    /// Which pictures somebody waits for.
    pub fn wanted_pictures(&self) -> Wanted {
        let taken = self.screenshot.as_ref().map(|(_, frame)| *frame);
        let filmed = self.recording.as_ref().filter(|_| self.unrecorded().is_some());
        let asked = [taken, filmed.map(|recording| recording.frame)];
        Wanted {
            scene: asked.contains(&Some(Frame::Scene)),
            window: asked.contains(&Some(Frame::Window)) || self.profile.picture.is_some(),
        }
    }

    /// Gives finished pictures to whoever waits for them.
    pub fn keep_pictures(&mut self, painted: &Painted) {
        if let Some((_, frame)) = self.screenshot
            && let Some(canvas) = painted.of(frame)
            && let Some((path, _)) = self.screenshot.take()
        {
            self.recorder.write(canvas.clone(), path, true);
        }
        if let Some(canvas) = painted.window
            && let Some((path, area)) = self.profile.take_picture()
        {
            self.recorder.write(bitmap::part(canvas, area), path, true);
        }
        if let Some(now) = self.unrecorded()
            && let Some(recording) = &mut self.recording
            && let Some(canvas) = painted.of(recording.frame)
        {
            recording.last = Some(now);
            recording.count += 1;
            let path = recording.folder.join(format!("frame_{:06}.png", recording.count));
            self.recorder.write(canvas.clone(), path, false);
        }
    }
}
