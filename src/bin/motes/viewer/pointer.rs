//! What the mouse and the held keys do to the scene.

use super::action::Action;
use super::input::Input;
use super::physics::{Ball, Command, Wedge, What};
use super::state::Viewer;
use super::{aim, keys, outline};
use glam::{Vec2, Vec3};
use imgui::{Key, MouseButton};
use motes::ParticleId;
use std::path::Path;

/// A press that moves less than this is a click [px].
const STILL: f32 = 4.0;
/// Turn of the camera [rad/px].
const TURN: f32 = 0.006;

/// What a pressed button has begun.
#[derive(Clone, Copy, Debug, Default)]
enum Gesture {
    #[default]
    None,
    Orbit,
    Pan,
    /// The right button went down here and has not moved.
    Throw(Vec2),
    /// A particle pulled along a plane at this depth, and where to.
    Pull {
        id: u64,
        depth: f32,
        target: Vec3,
    },
    /// A stroke that cuts; up to here it has cut.
    Cut(Vec2),
}

/// The mouse, and the keys that are held.
#[derive(Default)]
pub struct Pointer {
    pub at: Vec2,
    /// Where a button went down last.
    pressed: Vec2,
    pub shift: bool,
    pub control: bool,
    gesture: Gesture,
    /// Where a cut went.
    pub trace: Vec<Vec2>,
    held: Vec<Key>,
}

impl Pointer {
    /// The particle that is pulled, and where to.
    pub fn pull(&self) -> Option<(u64, Vec3)> {
        match self.gesture {
            Gesture::Pull { id, target, .. } => Some((id, target)),
            _ => None,
        }
    }

    /// Whether keys move the camera.
    pub fn flies(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether something goes on that has to be drawn again and again.
    pub fn is_busy(&self) -> bool {
        self.flies() || !matches!(self.gesture, Gesture::None)
    }
}

impl Viewer {
    /// Takes an input. `mouse_taken` and `keys_taken` say that a panel uses them.
    pub fn input(&mut self, input: Input, mouse_taken: bool, keys_taken: bool) {
        self.rate.answers.ask(self.rate.frames);
        match input {
            Input::Move(at) => self.moved(at),
            Input::Button(button, true) => {
                if !mouse_taken && self.view.contains(self.pointer.at) {
                    self.press(button);
                }
            }
            Input::Button(button, false) => self.lift(button),
            Input::Wheel(notches) => {
                if !mouse_taken && self.view.contains(self.pointer.at) {
                    self.view.camera.zoom(0.88_f32.powf(notches.clamp(-10.0, 10.0)));
                }
            }
            Input::Modifiers { shift, control } => {
                self.pointer.shift = shift;
                self.pointer.control = control;
            }
            Input::Key(key, false) => self.pointer.held.retain(|&held| held != key),
            Input::Key(key, true) if !keys_taken => {
                if keys::FLY.iter().any(|(fly, _)| *fly == key) {
                    if !self.pointer.held.contains(&key) {
                        self.pointer.held.push(key);
                    }
                } else if let Some(action) =
                    self.chord(key).or(keys::action(key, self.pointer.shift))
                {
                    self.act(action);
                }
            }
            Input::Key(..) => {}
            Input::Drop(path) => self.drop_file(&path),
            Input::Blur => {
                self.pointer.held.clear();
                self.lift(MouseButton::Left);
                self.lift(MouseButton::Right);
                self.pointer.shift = false;
                self.pointer.control = false;
            }
        }
    }

    /// What a key means while Ctrl is held, where that is something of its own.
    fn chord(&self, key: Key) -> Option<Action> {
        match key {
            Key::Z if self.pointer.control && self.pointer.shift => Some(Action::Redo),
            Key::Z if self.pointer.control => Some(Action::Undo),
            _ => None,
        }
    }

    fn press(&mut self, button: MouseButton) {
        let at = self.pointer.at;
        self.pointer.trace = vec![at];
        self.pointer.pressed = at;
        if button == MouseButton::Left && self.aiming {
            self.aim();
            self.act(Action::Place);
            return;
        }
        self.pointer.gesture = match button {
            MouseButton::Left if self.pointer.shift => Gesture::Cut(at),
            MouseButton::Left if self.pointer.control => Gesture::Orbit,
            MouseButton::Left => match self.view.pick(&self.moment, at) {
                Some(id) => {
                    self.selected = Some(id);
                    self.obstacle = None;
                    self.begin_pull(id)
                }
                None => Gesture::Orbit,
            },
            MouseButton::Right => Gesture::Throw(at),
            MouseButton::Middle => Gesture::Pan,
            _ => Gesture::None,
        };
    }

    fn begin_pull(&self, id: u64) -> Gesture {
        let place = self.moment.slot(id).map(|slot| self.moment.positions[slot].truncate());
        let seen = place.and_then(|p| Some((p, self.view.project(p)?.1)));
        seen.map_or(Gesture::Orbit, |(target, depth)| Gesture::Pull { id, depth, target })
    }

    fn moved(&mut self, at: Vec2) {
        let by = at - self.pointer.at;
        self.pointer.at = at;
        if self.aiming && self.view.contains(at) {
            self.aim();
        }
        match self.pointer.gesture {
            Gesture::Orbit => self.view.camera.orbit(-by.x * TURN, by.y * TURN),
            Gesture::Pan => {
                let share = by / self.view.size[1].max(1) as f32;
                self.view.camera.pan(-share.x, share.y);
            }
            Gesture::Throw(from) if from.distance(at) > STILL => {
                self.pointer.gesture = Gesture::Pan;
            }
            Gesture::Pull { id, depth, .. } => {
                let target = self.view.camera.eye + self.view.ray(at) * depth;
                self.pointer.gesture = Gesture::Pull { id, depth, target };
                self.physics.send(Command::Drag { id: ParticleId(id), target });
            }
            Gesture::Cut(from) if from.distance(at) > STILL => {
                let ends = [self.view.ray(from), self.view.ray(at)];
                self.physics.send(Command::Cut(Wedge { eye: self.view.camera.eye, ends }));
                self.pointer.gesture = Gesture::Cut(at);
                self.pointer.trace.push(at);
            }
            _ => {}
        }
    }

    fn lift(&mut self, button: MouseButton) {
        let gesture = self.pointer.gesture;
        let ends = match (button, gesture) {
            (MouseButton::Left, Gesture::Pull { .. }) => {
                self.physics.send(Command::Release);
                true
            }
            (MouseButton::Right, Gesture::Throw(at)) => {
                self.throw_at(at);
                true
            }
            (MouseButton::Left, Gesture::Orbit) => {
                // A press that did not move is a click beside the particles.
                if self.pointer.pressed.distance(self.pointer.at) <= STILL {
                    self.select_obstacle();
                }
                true
            }
            (MouseButton::Left, Gesture::Cut(_)) => {
                self.physics.send(Command::StrokeEnd);
                true
            }
            (MouseButton::Right | MouseButton::Middle, Gesture::Pan) => true,
            _ => false,
        };
        if ends {
            self.pointer.gesture = Gesture::None;
            self.pointer.trace.clear();
        }
    }

    /// As far as a ray is followed [m]: what is further than a few sizes of the scene is not meant.
    fn reach(&self) -> f32 {
        let eye = self.view.camera.eye;
        (self.view.camera.target - eye).length() + 20.0 * self.scenery.size()
    }

    /// Selects the obstacle below the pointer, or none.
    fn select_obstacle(&mut self) {
        let hit = aim::cast(&self.view, &self.moment, self.pointer.at, self.reach());
        self.obstacle = hit.and_then(|hit| hit.obstacle);
        if self.obstacle.is_some() {
            self.selected = None;
        }
    }

    /// Moves what is to be placed to the surface below the pointer; where there is none, to the
    /// depth that the camera looks at.
    fn aim(&mut self) {
        let at = self.pointer.at;
        let lines = self.outlines.of(&self.placement);
        let hit = aim::cast(&self.view, &self.moment, at, self.reach());
        self.placement.position = match hit {
            Some(hit) => hit.point + hit.normal * outline::lift(&lines, hit.normal),
            None => {
                let camera = &self.view.camera;
                let depth = (camera.target - camera.eye).dot(camera.axes().forward);
                camera.eye + self.view.ray(at) * depth
            }
        };
    }

    /// Throws a ball from the eye through a pixel.
    pub fn throw_at(&mut self, at: Vec2) {
        let size = self.scenery.size();
        let direction = self.view.ray(at).normalize_or(Vec3::NEG_Z);
        let radius = (size * self.settings.ball_size).max(1e-4);
        let eye = self.view.camera.eye;
        // From far away it would take long to arrive: not further than the scene is large.
        let reach = (self.view.camera.target - eye).length();
        let start = eye + direction * (reach - size).max(radius * 2.0);
        let velocity = direction * size * self.settings.ball_speed;
        let mass = self.settings.ball_mass;
        self.physics.send(Command::Throw(Ball { position: start, velocity, radius, mass }));
    }

    /// Moves the camera by the held keys.
    pub fn fly(&mut self, seconds: f32) {
        let mut way = Vec3::ZERO;
        for (key, direction) in keys::FLY {
            if self.pointer.held.contains(key) {
                way += Vec3::from(*direction);
            }
        }
        if way == Vec3::ZERO {
            return;
        }
        let axes = self.view.camera.axes();
        let way = axes.right * way.x + axes.up * way.y + axes.forward * way.z;
        let pull = way * (self.scenery.size() * 0.6 * seconds.min(0.1));
        self.view.camera.eye += pull;
        self.view.camera.target += pull;
    }

    fn drop_file(&mut self, path: &Path) {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        match ending.as_str() {
            "toml" | "motes" | "obj" if path.to_str().is_none() => {
                self.messages.say("a name that is not Unicode cannot be opened".into(), true);
            }
            "toml" | "motes" => self.open(&path.to_string_lossy()),
            "obj" => {
                let file = path.to_string_lossy();
                let wanted = self.placement.of_file(&file);
                // At hand in the panel, to be placed elsewhere too.
                self.placement.what = wanted.what;
                self.placement.file = file.into();
                if wanted.what == What::Mesh {
                    let other =
                        "choose `soft mesh` or `rigid mesh` under Place to drop meshes as bodies";
                    self.messages.say(other.into(), false);
                }
                self.place(wanted);
            }
            _ => self.messages.say(
                format!(
                    "{}: drop a scene (.toml), a state (.motes) or a mesh (.obj)",
                    path.display()
                ),
                true,
            ),
        }
    }
}
