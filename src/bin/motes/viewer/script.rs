//! The viewer driven by a file instead of a hand (`motes view --script FILE`): every line goes
//! through the same input handling as the mouse and the keys. For tests and for pictures.
//!
//! ```text
//! open SCENE            play            pause           steps N        wait FRAMES
//! move POINT            press BUTTON    release BUTTON  click POINT    rightclick POINT
//! drag POINT POINT      cut POINT POINT wheel NOTCHES   key NAME       drop FILE
//! set PARAMETER VALUE   resize W H      threads N       speed X        color NAME
//! backend NAME          painter NAME    screenshot FILE report FILE    type TEXT
//! place WHAT X Y Z SIZE hand FILE       monkey SEED SECONDS            lose surface|device
//! quit
//! ```
//!
//! WHAT is `box`, `ball`, `cylinder`, `torus`, `cloth` or `grains`, with SIZE m between particles,
//! or a mesh by name or file, SIZE times as large. `hand` leaves the window to a real mouse and
//! keyboard until FILE is there. NAME of a key is that of the list, such as `N` or `Shift+F12`. A
//! POINT is two numbers (pixels of the window) or `@ID`, where a particle is seen. Empty lines and
//! those that begin with `#` are passed over. The scene does not run before `play` or `steps`.

mod monkey;
mod parse;
mod report;

use super::action::Action;
use super::colors::ColorBy;
use super::input::Input;
use super::painter::Lost;
use super::physics::{Command, Placement};
use super::pictures::Frame;
use super::queue::{Queue, Waiting};
use super::state::Viewer;
use crate::cli::PainterName;
use glam::Vec2;
use imgui::{Io, Key, MouseButton};
use monkey::Monkey;
use motes::Params;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use winit::dpi::PhysicalSize;
use winit::window::Window;

/// A line that is not done after this long has failed.
const PATIENCE: Duration = Duration::from_secs(120);
/// Frames a stroke of the mouse takes.
const STROKE: u32 = 12;

/// Where to point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Point {
    At(Vec2),
    Particle(u32),
}

/// One thing to do; most take one frame.
#[derive(Clone, Debug)]
pub enum Op {
    Open(String),
    Play(bool),
    Steps(u32),
    Wait(u32),
    Move(Point),
    Button(MouseButton, bool),
    Stroke { to: Point, frames: u32 },
    Shift(bool),
    Wheel(f32),
    Key(Key, bool),
    Drop(PathBuf),
    Type(String),
    Place(Box<Placement>),
    Hand(PathBuf),
    Set(&'static str, toml::Value),
    Material(String, &'static str, f32),
    Resize(u32, u32),
    Threads(usize),
    Backend(&'static str),
    Painter(PainterName),
    Lose(Lost),
    Speed(f32),
    Color(ColorBy),
    Screenshot(PathBuf),
    Report(PathBuf),
    Monkey(u64, f32),
    Quit,
}

impl Op {
    /// Whether it has to know where particles are.
    fn looks(&self) -> bool {
        let there = |point: &Point| matches!(point, Point::Particle(_));
        match self {
            Op::Move(point) | Op::Stroke { to: point, .. } => there(point),
            Op::Report(_) | Op::Monkey(..) => true,
            _ => false,
        }
    }
}

/// How far a script is.
pub enum Progress {
    Goes,
    Done,
    Failed(String),
}

/// A script that runs.
pub struct Script {
    ops: VecDeque<(usize, Op)>,
    waits: Option<Wait>,
    since: Instant,
}

/// What is waited for.
enum Wait {
    /// Until this scene is seen.
    Scene(String, u64),
    Step(u64),
    Backend(&'static str),
    Frames(u32),
    Size(u32, u32, u32),
    File(PathBuf),
    Hand(PathBuf),
    Monkey(Box<Monkey>),
}

impl Script {
    /// Whether a real mouse and keyboard are heard.
    pub fn gives_way(&self) -> bool {
        matches!(self.waits, Some(Wait::Hand(_)))
    }

    /// Goes on by a frame.
    pub fn advance(
        &mut self,
        viewer: &mut Viewer,
        io: &Io,
        inputs: &mut Queue,
        window: &Window,
        scale: f32,
    ) -> Progress {
        if !viewer.physics.alive() {
            return Progress::Failed("the physics thread ended".into());
        }
        if let Some(wait) = &mut self.waits {
            if !wait.is_over(viewer, io, inputs, window) {
                let late = self.since.elapsed() > PATIENCE && !matches!(wait, Wait::Monkey(_));
                return match (late, self.ops.front()) {
                    (false, _) => Progress::Goes,
                    (true, next) => {
                        let line = next.map_or(0, |(line, _)| *line);
                        Progress::Failed(format!("the script waits too long before line {line}"))
                    }
                };
            }
            self.waits = None;
        }
        viewer.watched = self.ops.front().is_some_and(|(_, op)| op.looks());
        if viewer.watched && !viewer.moment.is_here() {
            // The next frame brings the particles.
            return Progress::Goes;
        }
        let Some((line, op)) = self.ops.pop_front() else { return Progress::Done };
        self.since = Instant::now();
        match self.run(line, op, viewer, inputs, window, scale) {
            Ok(true) => Progress::Goes,
            Ok(false) => Progress::Done,
            Err(why) => Progress::Failed(format!("script line {line}: {why}")),
        }
    }

    fn run(
        &mut self,
        line: usize,
        op: Op,
        viewer: &mut Viewer,
        inputs: &mut Queue,
        window: &Window,
        scale: f32,
    ) -> Result<bool, String> {
        let mut give = |input: Input| inputs.push(Waiting::Script(input));
        match op {
            Op::Open(spec) => {
                viewer.open(&spec);
                self.waits = Some(Wait::Scene(spec, viewer.moment.generation));
            }
            Op::Play(on) => viewer.play(on),
            Op::Steps(count) => {
                viewer.take_steps(count);
                self.waits = Some(Wait::Step(viewer.moment.step + u64::from(count)));
            }
            Op::Wait(frames) => self.waits = Some(Wait::Frames(frames)),
            Op::Move(point) => give(Input::Move(resolve(viewer, point)?)),
            Op::Button(button, down) => give(Input::Button(button, down)),
            Op::Stroke { to, frames } => {
                let end = resolve(viewer, to)?;
                let from = viewer.pointer.at;
                let step = (end - from) / frames.max(1) as f32;
                give(Input::Move(from + step));
                if frames > 1 {
                    let rest = Op::Stroke { to: Point::At(end), frames: frames - 1 };
                    self.ops.push_front((line, rest));
                }
            }
            Op::Shift(shift) => give(Input::Modifiers { shift, control: false }),
            Op::Wheel(notches) => give(Input::Wheel(notches)),
            Op::Key(key, down) => give(Input::Key(key, down)),
            Op::Drop(path) => give(Input::Drop(path)),
            Op::Type(text) => text.chars().for_each(|c| inputs.push(Waiting::Text(c))),
            Op::Place(wanted) => {
                viewer.placement = *wanted;
                viewer.act(Action::Place);
            }
            Op::Hand(path) => {
                viewer.rate.answers = Default::default();
                self.waits = Some(Wait::Hand(path));
            }
            Op::Set(name, value) => viewer.physics.send(Command::Param(name, value)),
            Op::Material(material, name, value) => {
                let mut known = viewer.moment.materials.iter();
                let found = known.find(|(_, known)| known.name == material);
                let (id, _) = found.ok_or(format!("there is no material `{material}`"))?;
                viewer.physics.send(Command::Material(*id, name, Some(value)));
            }
            Op::Resize(width, height) => {
                let _ = window.request_inner_size(PhysicalSize::new(width, height));
                self.waits = Some(Wait::Size(width, height, 300));
            }
            Op::Threads(threads) => viewer.physics.send(Command::Threads(threads)),
            Op::Backend(name) => {
                viewer.physics.send(Command::Backend(name));
                self.waits = Some(Wait::Backend(name));
            }
            Op::Painter(painter) => viewer.choose_painter(painter),
            Op::Lose(what) => viewer.painting.lost = Some(what),
            Op::Speed(speed) => viewer.set_speed(speed),
            Op::Color(color) => viewer.settings.color = color,
            Op::Screenshot(path) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
                    return Err(format!("there is no folder {}", folder.display()));
                }
                let _ = std::fs::remove_file(&path);
                viewer.screenshot = Some((path.clone(), Frame::Window));
                self.waits = Some(Wait::File(path));
            }
            Op::Report(path) => report::write(&path, viewer, window, scale)?,
            Op::Monkey(seed, seconds) => {
                self.waits = Some(Wait::Monkey(Box::new(Monkey::new(seed, seconds))));
            }
            Op::Quit => return Ok(false),
        }
        Ok(true)
    }
}

impl Wait {
    fn is_over(
        &mut self,
        viewer: &mut Viewer,
        io: &Io,
        inputs: &mut Queue,
        window: &Window,
    ) -> bool {
        match self {
            Wait::Scene(spec, generation) => {
                // An error is told in the messages, and the report shows what scene there is.
                let arrived =
                    viewer.moment.scene.spec == *spec && viewer.moment.generation > *generation;
                viewer.loading.is_none() && (arrived || viewer.messages.unread_errors > 0)
            }
            Wait::Step(step) => viewer.moment.step >= *step,
            // A device may take long over the step it is at. One that cannot be had is told.
            Wait::Backend(name) => {
                viewer.moment.backend == *name || viewer.messages.unread_errors > 0
            }
            Wait::Frames(left) => {
                *left = left.saturating_sub(1);
                *left == 0
            }
            Wait::Size(width, height, left) => {
                *left = left.saturating_sub(1);
                let size = window.inner_size();
                (size.width, size.height) == (*width, *height) || *left == 0
            }
            Wait::Hand(path) => path.exists(),
            Wait::File(path) => viewer.screenshot.is_none() && path.exists(),
            Wait::Monkey(monkey) => monkey.play(viewer, io, inputs, window),
        }
    }
}

fn resolve(viewer: &Viewer, point: Point) -> Result<Vec2, String> {
    match point {
        Point::At(at) => Ok(at),
        Point::Particle(id) => {
            let slot = viewer.moment.slot(id.into()).ok_or(format!("there is no particle {id}"))?;
            let seen = viewer.view.project(viewer.moment.positions[slot].truncate());
            seen.map(|(at, _)| at).ok_or(format!("particle {id} is behind the camera"))
        }
    }
}

fn parameter(name: &str) -> Option<&'static str> {
    Params::TABLE.iter().find(|info| info.name == name).map(|info| info.name)
}
