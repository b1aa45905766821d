//! The desktop viewer: a window with the running scene, panels around it, and the simulation on a
//! thread of its own. Everything the user does becomes an [`action::Action`] or a command to the
//! physics; the window only shows.

mod action;
mod aim;
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
mod legend;
mod lost_display;
mod messages;
mod names;
mod outline;
pub mod painter;
mod panels;
mod pass_colors;
mod physics;
mod pictures;
mod pointer;
mod queue;
mod recorder;
mod scenery;
mod script;
mod settings;
mod shown;
mod state;
mod thumbnails;
mod view;
mod watch;

pub use app::{End, open};
pub use script::Script;
