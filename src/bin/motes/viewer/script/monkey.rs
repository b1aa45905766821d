//! A monkey at the mouse and the keyboard: random input, the same for the same seed.

use crate::viewer::action::Action;
use crate::viewer::input::Input;
use crate::viewer::keys::{BINDINGS, FLY};
use crate::viewer::state::Viewer;
use glam::Vec2;
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
        let seconds = Duration::from_secs_f32(seconds.clamp(0.0, 86_400.0));
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
    pub fn play(&mut self, viewer: &mut Viewer, io: &mut Io, window: &Window) -> bool {
        let over = Instant::now() >= self.until;
        let input = match (over, self.down.take()) {
            (true, Some(button)) => Input::Button(button, false),
            (true, None) => return true,
            (false, down) => match self.choose(viewer, window, down) {
                Some(input) => input,
                None => return false,
            },
        };
        let (mouse, keys) = (io.want_capture_mouse, io.want_text_input);
        input.tell(io);
        viewer.input(input, mouse, keys);
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
                // Files by the hundred, and scenes of minutes, are not what is tested.
                let leaves_files = [Action::Record, Action::Export, Action::SaveProfile];
                let skipped = leaves_files.contains(&binding.action)
                    || [Action::Screenshot, Action::NextScene, Action::PreviousScene]
                        .contains(&binding.action);
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
                let small = ["cloth_hang", "tear", "stairs", "curtain", "spike", "trampoline"];
                let spec = small[self.random(small.len() as u64) as usize];
                viewer.open(spec);
                None
            }
            _ => {
                self.down = down;
                viewer.play(true);
                None
            }
        }
    }
}
