//! The window system takes the window away.

use super::hand;
use super::session::Session;
use std::time::{Duration, Instant};

/// Opens a window, does something to it from outside, and gives the exit code and what was said.
fn after(session: &Session, line: &str) -> (Option<i32>, String) {
    let viewer = session.begin("tear", "play\nwait 5\nreport ready.json\nhand never\n");
    let started = Instant::now();
    while !session.exists("ready.json") {
        assert!(started.elapsed() < Duration::from_secs(60), "no window came");
        std::thread::sleep(Duration::from_millis(20));
    }
    hand::tool(&session.display, line);
    let output = session.end(viewer, Duration::from_secs(20));
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Closing the connection and destroying the window both end the program with a message.
pub fn ends_with_a_message(kill: &str) {
    let Some(session) = Session::start() else { return };
    if !hand::is_here() {
        return;
    }
    let (code, said) = after(&session, &format!("search --sync --onlyvisible --name motes {kill}"));
    assert_eq!(code, Some(1), "{kill}: {said}");
    assert!(said.contains("the window is gone"), "{kill}: {said}");
    assert!(!said.contains("panicked"), "{kill}: {said}");
}
