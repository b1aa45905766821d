//! What a key, a button or a script may ask of the viewer.

use super::catalog::Catalog;
use super::names;
use super::physics::{Command, Physics, Placement};
use super::pictures::Frame;
use super::state::Viewer;
use glam::Vec2;
use motes::ParticleId;
use motes::world::{BroadPhase, Method};
use std::path::PathBuf;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    PlayPause,
    Step,
    Reset,
    Reload,
    Recent,
    Undo,
    Redo,
    Slower,
    Faster,
    Solver(&'static str),
    NextMethod,
    NextBroadPhase,
    PreviousScene,
    NextScene,
    TogglePin,
    Remove,
    /// The object of the selected particle.
    RemoveObject,
    Deselect,
    Throw,
    Place,
    Aim,
    NextColor,
    Lines,
    Skins,
    Theme,
    Panels,
    Frame,
    Follow,
    Freeze,
    Smaller,
    Larger,
    SaveProfile,
    Record(Frame),
    Export,
    Screenshot(Frame),
    Help,
}

impl Viewer {
    /// Does it.
    pub fn act(&mut self, action: Action) {
        match action {
            Action::PlayPause => self.play(!self.playing),
            Action::Step => self.take_steps(1),
            Action::Reset => self.physics.send(Command::Reset),
            Action::Reload => self.reload(),
            Action::Recent => self.open_recent(),
            Action::Undo => self.physics.send(Command::Undo),
            Action::Redo => self.physics.send(Command::Redo),
            Action::Slower => self.set_speed(self.settings.speed * 0.5),
            Action::Faster => self.set_speed(self.settings.speed * 2.0),
            Action::Solver(word) => self.set_word("solver", word),
            Action::NextMethod => {
                self.set_word("method", after(Method::ALL, self.moment.params.method).word());
            }
            Action::NextBroadPhase => {
                let next = after(BroadPhase::ALL, self.moment.params.broad_phase);
                self.set_word("broad_phase", next.word());
            }
            Action::PreviousScene => self.open_neighbour(-1),
            Action::NextScene => self.open_neighbour(1),
            Action::TogglePin => self.with_selected(Command::TogglePin),
            Action::Remove => self.remove(),
            Action::RemoveObject => self.with_selected(Command::RemoveObject),
            Action::Deselect => {
                self.selected = None;
                self.obstacle = None;
                self.aiming = false;
                self.help = false;
            }
            Action::Throw => {
                let corner = Vec2::new(self.view.corner[0] as f32, self.view.corner[1] as f32);
                let size = Vec2::new(self.view.size[0] as f32, self.view.size[1] as f32);
                self.throw_at(corner + size * 0.5);
            }
            Action::Place => self.place(self.placement.clone()),
            Action::Aim => self.aiming ^= true,
            Action::NextColor => self.settings.color = self.settings.color.next(),
            Action::Lines => self.settings.lines ^= true,
            Action::Skins => self.settings.skins ^= true,
            Action::Theme => self.settings.dark ^= true,
            Action::Panels => self.settings.panels ^= true,
            Action::Frame => self.frame_scene(),
            Action::Follow => self.look_at_selected(),
            Action::Freeze => self.history.toggle_freeze(),
            Action::Smaller => self.set_scale(self.settings.scale - 0.125),
            Action::Larger => self.set_scale(self.settings.scale + 0.125),
            Action::SaveProfile => self.save_profile(),
            Action::Record(frame) => self.toggle_recording(frame),
            Action::Export => self.physics.send(Command::Export),
            Action::Screenshot(frame) => self.take_picture(frame),
            Action::Help => self.help ^= true,
        }
    }

    pub fn play(&mut self, on: bool) {
        self.playing = on;
        self.physics.send(Command::Play(on));
    }

    pub fn take_steps(&mut self, count: u32) {
        self.playing = false;
        self.physics.send(Command::Step(count));
    }

    pub fn set_speed(&mut self, speed: f32) {
        self.settings.speed = if speed > 0.0 { speed.clamp(1.0 / 64.0, 10.0) } else { 0.0 };
        self.physics.send(Command::Speed(self.settings.speed));
    }

    pub fn place(&mut self, placement: Placement) {
        self.physics.send(Command::Place(Box::new(placement)));
    }

    pub fn set_word(&mut self, name: &'static str, word: &str) {
        self.physics.send(Command::Param(name, toml::Value::String(word.into())));
    }

    pub fn open(&mut self, spec: &str) {
        self.open_with(spec, &[]);
    }

    /// Reads the scene's file again; the camera stays.
    pub fn reload(&mut self) {
        if self.physics.alive() && !self.moment.scene.spec.is_empty() {
            self.selected = None;
            self.obstacle = None;
            self.loading = Some(self.moment.scene.spec.clone());
            self.physics.send(Command::Reload);
        }
    }

    /// Opens the file that was opened before the running one.
    fn open_recent(&mut self) {
        let now = &self.moment.scene.spec;
        match self.settings.recent.iter().find(|path| *path != now).cloned() {
            Some(path) => self.open(&path),
            None => self.messages.say("no other file was opened yet".into(), false),
        }
    }

    /// Takes the selected particle or obstacle out of the world.
    fn remove(&mut self) {
        match self.obstacle.take() {
            Some(number) => self.physics.send(Command::RemoveObstacle(number)),
            None => self.with_selected(Command::Remove),
        }
    }

    /// Opens a scene with some of its keys set.
    pub fn open_with(&mut self, spec: &str, sets: &[String]) {
        self.selected = None;
        self.obstacle = None;
        if !self.physics.alive()
            && let Err(error) = self.restart()
        {
            return self.messages.say(format!("no thread for the simulation: {error}"), true);
        }
        self.loading = Some(spec.into());
        self.physics.send(Command::Open(spec.into(), sets.to_vec()));
    }

    /// Starts the simulation's thread anew.
    fn restart(&mut self) -> std::io::Result<()> {
        self.physics = Physics::start(self.settings.threads)?;
        self.compare.runs = false;
        self.compare.going = None;
        self.starting = None;
        self.physics.send(Command::Speed(self.settings.speed));
        Ok(())
    }

    fn open_neighbour(&mut self, by: isize) {
        if let Some(spec) = Catalog::neighbour(&self.moment.scene.spec, by) {
            self.open(spec);
        }
    }

    fn with_selected(&mut self, command: fn(ParticleId) -> Command) {
        match self.selected {
            Some(id) => self.physics.send(command(ParticleId(id))),
            None => self.messages.say("click a particle or an obstacle first".into(), false),
        }
    }

    pub fn set_scale(&mut self, scale: f32) {
        self.settings.scale = scale.clamp(0.5, 3.0);
    }

    /// A file name that is not taken.
    pub fn free_name(&self, ending: &str) -> PathBuf {
        let [path] = names::free(&self.moment.scene.spec, self.moment.step, [ending]);
        path
    }
}

fn after<T: Copy + PartialEq>(all: &[T], now: T) -> T {
    let at = all.iter().position(|&value| value == now).unwrap_or(0);
    all[(at + 1) % all.len()]
}
