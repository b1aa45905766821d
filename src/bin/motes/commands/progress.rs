//! A progress bar, which is drawn only when standard error is a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// No bar.
pub fn hidden() -> ProgressBar {
    ProgressBar::hidden()
}

/// A bar over `steps` on standard error, hidden when that is not a terminal.
pub fn bar(steps: u32, what: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return hidden();
    }
    let bar = ProgressBar::new(u64::from(steps)).with_message(what.to_string());
    match ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {per_sec} {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
