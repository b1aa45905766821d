//! What the user does, whether it comes from the window system or from a script.

use glam::Vec2;
use imgui::{Io, Key, MouseButton};
use std::path::PathBuf;
use winit::event::{ElementState, MouseButton as WinitButton, MouseScrollDelta, WindowEvent};
use winit::keyboard::{Key as WinitKey, NamedKey};
use winit::platform::modifier_supplement::KeyEventExtModifierSupplement;

/// One thing the user did. Positions are pixels of the window.
#[derive(Clone, Debug)]
pub enum Input {
    Move(Vec2),
    Button(MouseButton, bool),
    /// Notches, away from the user above 0.
    Wheel(f32),
    Key(Key, bool),
    Modifiers {
        shift: bool,
        control: bool,
    },
    Drop(PathBuf),
    /// The window lost the keyboard: nothing is held any more.
    Blur,
}

impl Input {
    /// From the window system. imgui hears of the same event through imgui-winit-support.
    pub fn of(event: &WindowEvent) -> Option<Input> {
        Some(match event {
            WindowEvent::CursorMoved { position, .. } => {
                Input::Move(Vec2::new(position.x as f32, position.y as f32))
            }
            WindowEvent::MouseInput { state, button, .. } => {
                let button = match button {
                    WinitButton::Left => MouseButton::Left,
                    WinitButton::Right => MouseButton::Right,
                    WinitButton::Middle => MouseButton::Middle,
                    _ => return None,
                };
                Input::Button(button, *state == ElementState::Pressed)
            }
            WindowEvent::MouseWheel { delta, .. } => Input::Wheel(match delta {
                MouseScrollDelta::LineDelta(_, y) => *y,
                MouseScrollDelta::PixelDelta(p) => p.y as f32 / 50.0,
            }),
            WindowEvent::ModifiersChanged(modifiers) => {
                let state = modifiers.state();
                Input::Modifiers { shift: state.shift_key(), control: state.control_key() }
            }
            WindowEvent::KeyboardInput { event, .. } => {
                let down = event.state == ElementState::Pressed;
                match key_of(&event.key_without_modifiers()) {
                    _ if event.repeat => return None,
                    Some(key) => Input::Key(key, down),
                    // A layout with `?` on a key of its own.
                    None if event.logical_key == WinitKey::Character("?".into()) => {
                        Input::Key(Key::Slash, down)
                    }
                    None => return None,
                }
            }
            WindowEvent::DroppedFile(path) => Input::Drop(path.clone()),
            WindowEvent::Focused(false) => Input::Blur,
            _ => return None,
        })
    }

    /// Tells imgui, for input that did not come through the window system.
    pub fn tell(&self, io: &mut Io) {
        match *self {
            Input::Move(at) => io.add_mouse_pos_event(at.to_array()),
            Input::Button(button, down) => io.add_mouse_button_event(button, down),
            Input::Wheel(notches) => io.add_mouse_wheel_event([0.0, notches]),
            Input::Key(key, down) => io.add_key_event(key, down),
            Input::Modifiers { shift, control } => {
                io.add_key_event(Key::ModShift, shift);
                io.add_key_event(Key::ModCtrl, control);
            }
            Input::Drop(_) => {}
            Input::Blur => io.app_focus_lost = true,
        }
    }
}

/// The keys that mean something here.
fn key_of(key: &WinitKey) -> Option<Key> {
    Some(match key {
        WinitKey::Named(named) => match named {
            NamedKey::Space => Key::Space,
            NamedKey::PageUp => Key::PageUp,
            NamedKey::PageDown => Key::PageDown,
            NamedKey::Delete => Key::Delete,
            NamedKey::Escape => Key::Escape,
            NamedKey::Tab => Key::Tab,
            NamedKey::Home => Key::Home,
            NamedKey::F1 => Key::Slash,
            NamedKey::F5 => Key::F5,
            NamedKey::F8 => Key::F8,
            NamedKey::F9 => Key::F9,
            NamedKey::F10 => Key::F10,
            NamedKey::F12 => Key::F12,
            _ => return None,
        },
        WinitKey::Character(text) => super::keys::by_name(text)?,
        _ => return None,
    })
}
