//! What the viewer has to say: shown in a panel, never only printed.

use super::comparison::Comparison;
use super::convergence::Curve;
use std::collections::VecDeque;

/// Lines kept.
const MOST: usize = 500;

/// Something to tell, or to show elsewhere.
pub enum Note {
    Info(String),
    Error(String),
    /// An error that stopped the simulation.
    Stopped(String),
    /// A device is being opened, by its name; none when that is over.
    Starting(Option<String>),
    /// A measured convergence.
    Curve(Box<Curve>),
    /// Backends that run side by side as far as they are, or why one did not.
    Compared(Result<Box<Comparison>, String>),
}

impl Note {
    pub fn info(text: impl Into<String>) -> Self {
        Note::Info(text.into())
    }
    pub fn error(text: impl Into<String>) -> Self {
        Note::Error(text.into())
    }
}

/// One line of the panel.
pub struct Message {
    pub text: String,
    pub is_error: bool,
    /// How often it was said in a row.
    pub times: u32,
}

/// The latest messages.
#[derive(Default)]
pub struct Messages {
    lines: VecDeque<Message>,
    /// Errors since the panel was last looked at.
    pub unread_errors: u32,
}

impl Messages {
    pub fn say(&mut self, text: String, is_error: bool) {
        self.unread_errors += u32::from(is_error);
        match self.lines.back_mut() {
            Some(last) if last.text == text => last.times += 1,
            _ => self.lines.push_back(Message { text, is_error, times: 1 }),
        }
        if self.lines.len() > MOST {
            self.lines.pop_front();
        }
    }

    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.lines.iter()
    }

    pub fn clear(&mut self) {
        self.lines.clear();
    }
}
