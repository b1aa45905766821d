//! Inputs in the order in which they came, handed to the interface in portions.
//!
//! imgui sees the mouse and the keys as they are when it goes over the panels. What comes quicker
//! than that has to be spread over several passes, or a key that goes down and up is never seen.
//! imgui would spread it over frames; but a frame that paints a large scene takes long, and a typed
//! path would arrive a letter a frame. So the spreading is done here: a frame makes as many passes
//! over the panels as there are portions, and only the last of them is painted.

use super::input::Input;
use imgui::Io;
use std::collections::VecDeque;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::keyboard::Key as WinitKey;

/// One input that waits.
pub enum Waiting {
    Window(WindowEvent),
    Script(Input),
    /// A character that a script types.
    Text(char),
}

/// What the inputs of a portion have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Move,
    Wheel,
    /// A key that writes a character, or that is let go.
    Letter,
    /// A button, a modifier, or a key that does something: it must be seen on its own.
    Alone,
}

impl Waiting {
    /// Nothing for what the interface cannot miss: a dropped file, a lost focus.
    fn kind(&self) -> Option<Kind> {
        Some(match self {
            Waiting::Text(_) => Kind::Letter,
            Waiting::Script(Input::Move(_)) => Kind::Move,
            Waiting::Script(Input::Wheel(_)) => Kind::Wheel,
            Waiting::Script(Input::Drop(_) | Input::Blur) => return None,
            Waiting::Script(_) => Kind::Alone,
            Waiting::Window(event) => match event {
                WindowEvent::CursorMoved { .. } => Kind::Move,
                WindowEvent::MouseWheel { .. } => Kind::Wheel,
                WindowEvent::MouseInput { .. } | WindowEvent::ModifiersChanged(_) => Kind::Alone,
                WindowEvent::KeyboardInput { event, .. } if writes(event) => Kind::Letter,
                WindowEvent::KeyboardInput { .. } => Kind::Alone,
                _ => return None,
            },
        })
    }
}

/// Whether a key writes a character, or may have done so and is let go.
fn writes(event: &KeyEvent) -> bool {
    match (event.state, &event.text) {
        // With Ctrl held, a letter gives a control character: it commands, and writes nothing.
        (ElementState::Pressed, Some(text)) => !text.chars().any(char::is_control),
        (ElementState::Pressed, None) => false,
        (ElementState::Released, _) => matches!(event.logical_key, WinitKey::Character(_)),
    }
}

/// The inputs that wait.
#[derive(Default)]
pub struct Queue(VecDeque<Waiting>);

impl Queue {
    pub fn push(&mut self, input: Waiting) {
        self.0.push_back(input);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes what the next pass over the panels can see without missing any of it.
    pub fn portion(&mut self) -> Vec<Waiting> {
        let mut taken = Vec::new();
        let mut kind = None;
        while let Some(next) = self.0.front().map(Waiting::kind) {
            match (kind, next) {
                (_, None) => {}
                (None, Some(_)) => kind = next,
                (Some(Kind::Alone), Some(_)) => break,
                (Some(now), Some(next)) if now != next => break,
                _ => {}
            }
            taken.extend(self.0.pop_front());
        }
        taken
    }
}

/// imgui takes all that a portion holds at once.
pub fn set_up(io: &mut Io) {
    io.config_input_trickle_event_queue = false;
}

#[cfg(test)]
mod tests {
    use super::*;
    use imgui::{Context, Key};

    /// A text field that has the keyboard, and a hand that is quicker than the frames.
    struct Desk {
        context: Context,
        queue: Queue,
        text: String,
        passes: u32,
    }

    impl Desk {
        fn new() -> Self {
            let mut context = Context::create();
            context.set_ini_filename(None);
            let io = context.io_mut();
            set_up(io);
            io.display_size = [400.0, 300.0];
            context.fonts().build_alpha8_texture();
            let mut desk =
                Desk { context, queue: Queue::default(), text: String::new(), passes: 0 };
            desk.pass(true);
            desk.pass(false);
            desk
        }

        fn pass(&mut self, focus: bool) {
            let io = self.context.io_mut();
            io.delta_time = 1e-3;
            for input in self.queue.portion() {
                match input {
                    Waiting::Script(input) => input.tell(io),
                    Waiting::Text(c) => io.add_input_character(c),
                    Waiting::Window(_) => {}
                }
            }
            let ui = self.context.new_frame();
            ui.window("desk").build(|| {
                if focus {
                    ui.set_keyboard_focus_here();
                }
                ui.input_text("path", &mut self.text).build();
            });
            self.context.render();
            self.passes += 1;
        }

        fn frame(&mut self) {
            self.passes = 0;
            while self.passes == 0 || !self.queue.is_empty() {
                self.pass(false);
            }
        }

        fn write(&mut self, text: &str) {
            text.chars().for_each(|c| self.queue.push(Waiting::Text(c)));
        }

        fn key(&mut self, key: Key, down: bool) {
            self.queue.push(Waiting::Script(Input::Key(key, down)));
        }

        fn tap(&mut self, key: Key) {
            self.key(key, true);
            self.key(key, false);
        }

        fn control(&mut self, control: bool) {
            self.queue.push(Waiting::Script(Input::Modifiers { shift: false, control }));
        }
    }

    #[test]
    fn a_burst_of_typing_arrives_in_one_frame_and_in_order() {
        let _alone = crate::viewer::interface::ONE_CONTEXT.lock();
        let mut desk = Desk::new();
        desk.write("meshes/rabbitt");
        desk.tap(Key::Backspace);
        desk.write(".obj");
        desk.frame();
        assert_eq!(desk.text, "meshes/rabbit.obj");
        assert_eq!(desk.passes, 4, "the letters go together");
        // A quick Ctrl+A: all of it is down and up again before the next frame.
        desk.control(true);
        desk.tap(Key::A);
        desk.control(false);
        desk.write("cube.obj");
        desk.frame();
        assert_eq!(desk.text, "cube.obj");
    }

    #[test]
    fn a_button_is_seen_where_the_pointer_was() {
        let mut queue = Queue::default();
        let at = |x: f32| Waiting::Script(Input::Move([x, 0.0].into()));
        let button = |down| Waiting::Script(Input::Button(imgui::MouseButton::Left, down));
        for input in [at(1.0), at(2.0), button(true), at(3.0), button(false), button(true)] {
            queue.push(input);
        }
        let portions: Vec<usize> =
            std::iter::from_fn(|| Some(queue.portion().len()).filter(|&n| n > 0)).collect();
        assert_eq!(portions, [2, 1, 1, 1, 1]);
    }
}
