//! Every key and what it does: the table behind both the keyboard and the list that `?` shows.

use super::action::Action;
use super::pictures::Frame;
use imgui::Key;

/// A key, its name on the list, and what it does.
pub struct Binding {
    pub key: Key,
    /// Whether Shift is held with it.
    pub shift: bool,
    /// In scripts and on the list.
    pub name: &'static str,
    pub action: Action,
    pub does: &'static str,
}

const fn on(key: Key, name: &'static str, action: Action, does: &'static str) -> Binding {
    Binding { key, shift: false, name, action, does }
}

const fn shifted(key: Key, name: &'static str, action: Action, does: &'static str) -> Binding {
    Binding { key, shift: true, name, action, does }
}

/// The keys, in the order they are listed.
pub const BINDINGS: &[Binding] = &[
    on(Key::Space, "Space", Action::PlayPause, "play or pause"),
    on(Key::N, "N", Action::Step, "single step"),
    on(Key::R, "R", Action::Reset, "reset the scene, keep the parameters"),
    on(Key::F5, "F5", Action::Reload, "read the scene's file again, keep the camera"),
    on(Key::G, "G", Action::Recent, "open the file that was open before"),
    on(Key::U, "U", Action::Undo, "take back the last edit (also Ctrl+Z)"),
    on(Key::Y, "Y", Action::Redo, "do it again (also Ctrl+Y)"),
    on(Key::LeftBracket, "[", Action::Slower, "half the speed"),
    on(Key::RightBracket, "]", Action::Faster, "twice the speed"),
    on(Key::Alpha1, "1", Action::Solver("seidel"), "solver seidel"),
    on(Key::Alpha2, "2", Action::Solver("lockfree"), "solver lockfree"),
    on(Key::Alpha3, "3", Action::Solver("colored"), "solver colored"),
    on(Key::Alpha4, "4", Action::Solver("jacobi"), "solver jacobi"),
    on(Key::M, "M", Action::NextMethod, "switch between pbd and xpbd"),
    on(Key::V, "V", Action::NextBroadPhase, "next broad phase"),
    on(Key::PageUp, "PageUp", Action::PreviousScene, "previous scene"),
    on(Key::PageDown, "PageDown", Action::NextScene, "next scene"),
    on(Key::P, "P", Action::TogglePin, "pin or free the selected particle"),
    on(Key::Delete, "Delete", Action::Remove, "remove the selected particle or obstacle"),
    shifted(Key::Delete, "Shift+Delete", Action::RemoveObject, "remove the whole object"),
    on(Key::Escape, "Escape", Action::Deselect, "select nothing, close the list of keys"),
    on(Key::B, "B", Action::Throw, "throw a ball into the middle"),
    on(Key::O, "O", Action::Place, "place the object of the panel Place"),
    on(Key::X, "X", Action::Aim, "place with the mouse, or stop"),
    on(Key::C, "C", Action::NextColor, "next colouring"),
    on(Key::L, "L", Action::Lines, "constraints as lines, by strain"),
    on(Key::K, "K", Action::Skins, "surfaces or particles"),
    on(Key::T, "T", Action::Theme, "dark or light"),
    on(Key::Tab, "Tab", Action::Panels, "panels on or off"),
    on(Key::Home, "Home", Action::Frame, "show the whole scene"),
    on(Key::F, "F", Action::Follow, "look at the selected particle"),
    on(Key::Z, "Z", Action::Freeze, "freeze the profile"),
    on(Key::Minus, "-", Action::Smaller, "smaller texts"),
    on(Key::Equal, "=", Action::Larger, "larger texts"),
    on(Key::F8, "F8", Action::SaveProfile, "save the profile as CSV and PNG"),
    on(Key::F9, "F9", Action::Record(Frame::Scene), "record the scene as PNG, or stop"),
    shifted(Key::F9, "Shift+F9", Action::Record(Frame::Window), "the same with the panels"),
    on(Key::F10, "F10", Action::Export, "export particles, obstacles and state"),
    on(Key::F12, "F12", Action::Screenshot(Frame::Scene), "picture of the scene"),
    shifted(Key::F12, "Shift+F12", Action::Screenshot(Frame::Window), "and of the window"),
    on(Key::Slash, "?", Action::Help, "this list"),
];

/// What the mouse does, for the list.
pub const MOUSE: &[(&str, &str)] = &[
    ("left drag on a particle", "pull it with a spring"),
    ("left click", "select a particle or an obstacle"),
    ("left click after X", "place there"),
    ("left drag beside", "orbit"),
    ("Ctrl + left drag", "orbit, whatever is below"),
    ("Shift + left drag", "cut constraints"),
    ("right click", "throw a ball"),
    ("right or middle drag", "pan"),
    ("wheel", "zoom; over the profile, in time"),
    ("Ctrl + click on a knob", "type its value"),
    ("W A S D, Q E", "fly: forward, left, back, right, down, up"),
    ("dropped files", "open: .toml scene, .motes state, .obj mesh"),
];

/// Keys that move the camera while they are down: right, up, forward.
pub const FLY: &[(Key, [f32; 3])] = &[
    (Key::W, [0.0, 0.0, 1.0]),
    (Key::S, [0.0, 0.0, -1.0]),
    (Key::D, [1.0, 0.0, 0.0]),
    (Key::A, [-1.0, 0.0, 0.0]),
    (Key::E, [0.0, 1.0, 0.0]),
    (Key::Q, [0.0, -1.0, 0.0]),
];

/// What a key does. Where it does nothing of its own with Shift, Shift changes nothing: some
/// layouts need it to reach a character.
pub fn action(key: Key, shift: bool) -> Option<Action> {
    let bound = |shift: bool| BINDINGS.iter().find(|b| b.key == key && b.shift == shift);
    bound(shift).or_else(|| bound(false)).map(|b| b.action)
}

/// Whether a name on the list is that of a key with Shift.
pub fn needs_shift(name: &str) -> bool {
    BINDINGS.iter().any(|b| b.shift && b.name.eq_ignore_ascii_case(name))
}

/// A key by its name on the list, or one letter of those that fly.
pub fn by_name(name: &str) -> Option<Key> {
    let bound = BINDINGS.iter().find(|b| b.name.eq_ignore_ascii_case(name)).map(|b| b.key);
    bound.or_else(|| {
        let fly = ["W", "S", "D", "A", "E", "Q"].iter().position(|f| f.eq_ignore_ascii_case(name));
        fly.map(|k| FLY[k].0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_does_two_things() {
        for (k, binding) in BINDINGS.iter().enumerate() {
            let same = |b: &Binding| (b.key, b.shift) == (binding.key, binding.shift);
            assert!(BINDINGS[..k].iter().all(|b| !same(b) && b.name != binding.name));
            assert!(FLY.iter().all(|(key, _)| *key != binding.key), "{}", binding.name);
            assert_eq!(by_name(binding.name), Some(binding.key));
            assert_eq!(action(binding.key, binding.shift), Some(binding.action));
        }
    }
}
