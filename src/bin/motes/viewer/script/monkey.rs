//! A monkey at the mouse and the keyboard: random input, the same for the same seed.

use crate::viewer::action::Action;
use crate::viewer::backends;
use crate::viewer::input::Input;
use crate::viewer::keys::{BINDINGS, FLY};
use crate::viewer::physics::{Command, What};
use crate::viewer::queue::{Queue, Waiting};
use crate::viewer::state::Viewer;
use glam::{Vec2, Vec3};
use imgui::{Io, MouseButton};
use std::time::{Duration, Instant};
use winit::dpi::PhysicalSize;
use winit::window::Window;

/// Random input for a while.
pub struct Monkey {
    state: u64,
    until: Instant,
    down: Option<MouseButton>,
}

impl Monkey {
    pub fn new(seed: u64, seconds: f32) -> Self {
        let seconds = Duration::from_secs_f32(seconds);
        Monkey { state: seed, until: Instant::now() + seconds, down: None }
    }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    fn random(&mut self, below: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below.max(1)
    }

    /// Does something. True when its time is over and nothing is held any more.
    pub fn play(
        &mut self,
        viewer: &mut Viewer,
        io: &Io,
        inputs: &mut Queue,
        window: &Window,
    ) -> bool {
        if io.want_text_input && self.random(4) == 0 {
            let letters = ['a', '.', '-', '7', 'e', '/', '\u{e9}', ' '];
            inputs.push(Waiting::Text(letters[self.random(letters.len() as u64) as usize]));
        }
        let over = Instant::now() >= self.until;
        let input = match (over, self.down.take()) {
            (true, Some(button)) => Input::Button(button, false),
            (true, None) => return true,
            (false, down) => match self.choose(viewer, window, down) {
                Some(input) => input,
                None => return false,
            },
        };
        inputs.push(Waiting::Script(input));
        false
    }

    fn choose(
        &mut self,
        viewer: &mut Viewer,
        window: &Window,
        down: Option<MouseButton>,
    ) -> Option<Input> {
        let size = window.inner_size();
        match self.random(100) {
            0..45 => {
                self.down = down;
                let x = self.random(u64::from(size.width)) as f32;
                let y = self.random(u64::from(size.height)) as f32;
                Some(Input::Move(Vec2::new(x, y)))
            }
            45..70 => match down {
                Some(button) => Some(Input::Button(button, false)),
                None => {
                    let buttons = [MouseButton::Left, MouseButton::Right, MouseButton::Middle];
                    let button = buttons[self.random(3) as usize];
                    self.down = Some(button);
                    Some(Input::Button(button, true))
                }
            },
            70..76 => {
                self.down = down;
                Some(Input::Wheel(self.random(7) as f32 - 3.0))
            }
            76..90 => {
                self.down = down;
                let binding = &BINDINGS[self.random(BINDINGS.len() as u64) as usize];
                // The monkey writes no files and opens no large scenes: they would only cost time.
                let skipped = matches!(
                    binding.action,
                    Action::Record(_)
                        | Action::Export
                        | Action::SaveProfile
                        | Action::Screenshot(_)
                        | Action::NextScene
                        | Action::PreviousScene
                        | Action::Recent
                );
                (!skipped).then_some(Input::Key(binding.key, true))
            }
            90..95 => {
                self.down = down;
                let (key, _) = FLY[self.random(FLY.len() as u64) as usize];
                Some(Input::Key(key, self.random(2) == 0))
            }
            95..97 => {
                self.down = down;
                Some(Input::Modifiers { shift: self.random(2) == 0, control: self.random(4) == 0 })
            }
            97 => {
                self.down = down;
                let side = |v: u64| 320 + v as u32;
                let wanted = PhysicalSize::new(side(self.random(900)), side(self.random(600)));
                let _ = window.request_inner_size(wanted);
                None
            }
            98 => {
                self.down = down;
                match self.random(4) {
                    0 => self.open(viewer),
                    1 => self.switch(viewer),
                    _ => self.place(viewer),
                }
                None
            }
            _ => {
                self.down = down;
                viewer.play(true);
                None
            }
        }
    }

    fn open(&mut self, viewer: &mut Viewer) {
        let small = ["cloth_hang", "tear", "stairs", "curtain", "spike", "trampoline"];
        viewer.open(small[self.random(small.len() as u64) as usize]);
    }

    /// To another backend, of those that are here.
    fn switch(&mut self, viewer: &mut Viewer) {
        let here: Vec<_> = backends::all().iter().filter(|choice| choice.make.is_ok()).collect();
        let choice = here[self.random(here.len() as u64) as usize];
        viewer.physics.send(Command::Backend(&choice.name));
    }

    /// Anything of the panel Place; the file is there, or is not.
    fn place(&mut self, viewer: &mut Viewer) {
        let mut number = |below: u64| self.random(below);
        let wanted = &mut viewer.placement;
        wanted.what = What::ALL[number(What::ALL.len() as u64) as usize].0;
        wanted.position += Vec3::new(number(9) as f32 - 4.0, 0.0, number(9) as f32 - 4.0) * 0.1;
        wanted.rotation.y = number(360) as f32;
        wanted.counts = std::array::from_fn(|_| 2 + number(6) as u32);
        wanted.break_at = number(3) as f32;
        wanted.self_collide = number(2) == 0;
        wanted.group = (number(2) == 0).then(|| number(5) as u32);
        wanted.file = ["", "", "cube.obj", "none.obj"][number(4) as usize].into();
        viewer.act(Action::Place);
    }
}
