//! The desktop viewer: a window with the running scene, panels around it, and the simulation on a
//! thread of its own. Everything the user does becomes an [`action::Action`] or a command to the
//! physics; the window only shows.

mod action;
mod answers;
mod app;
mod backends;
mod bitmap;
mod catalog;
mod colors;
mod comparison;
mod convergence;
mod fonts;
mod history;
mod input;
mod interface;
mod keys;
mod messages;
mod names;
pub mod painter;
mod panels;
mod physics;
mod pictures;
mod pointer;
mod recorder;
mod scenery;
mod script;
mod settings;
mod shown;
mod state;
mod thumbnails;
mod view;

pub use app::{End, open};
pub use script::Script;
