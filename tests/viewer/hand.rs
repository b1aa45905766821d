//! A real mouse and keyboard, by xdotool: what scripts leave out is the way through the window
//! system.

use super::display::Display;
use super::picture::Picture;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Hand {
    pub display: Display,
    pub folder: tempfile::TempDir,
    viewer: Child,
    seen: Vec<String>,
}

/// Whether there is a hand. Without xdotool the test is skipped, unless `MOTES_REQUIRE_DISPLAY` is 1.
pub fn is_here() -> bool {
    let here = Command::new("xdotool").arg("version").output().is_ok();
    let required = std::env::var("MOTES_REQUIRE_DISPLAY").is_ok_and(|v| v == "1");
    assert!(here || !required, "no xdotool; install the package xdotool");
    if !here {
        eprintln!("skipped: no xdotool");
    }
    here
}

/// Runs xdotool with the words of a line.
pub fn tool(display: &Display, line: &str) {
    let words = line.split_whitespace();
    let done = Command::new("xdotool").args(words).env("DISPLAY", &display.name).output().unwrap();
    assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    // A frame, so that what was done is seen.
    std::thread::sleep(Duration::from_millis(120));
}

impl Hand {
    /// Opens the viewer and gives it the keyboard. Skipped without Xvfb or xdotool.
    pub fn open(scene: &str, painter: &str) -> Option<Hand> {
        let display = Display::start()?;
        if !is_here() {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let viewer = Command::new(env!("CARGO_BIN_EXE_motes"))
            .args(["view", scene, "--painter", painter])
            .current_dir(folder.path())
            .env("DISPLAY", &display.name)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_CONFIG_HOME", folder.path().join("config"))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let hand = Hand { display, folder, viewer, seen: Vec::new() };
        hand.tool("search --sync --onlyvisible --name motes windowfocus");
        std::thread::sleep(Duration::from_millis(500));
        Some(hand)
    }

    pub fn tool(&self, line: &str) {
        tool(&self.display, line);
    }

    /// Presses Shift+F12 and waits for the picture of the window. Gives the step in its name, too.
    pub fn screenshot(&mut self) -> (u64, Picture) {
        self.tool("key shift+F12");
        let started = Instant::now();
        loop {
            if let Some(path) = self.new_picture() {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let digits = name.split(['_', '.']).find_map(|part| part.parse().ok());
                self.seen.push(name);
                return (digits.unwrap(), Picture::read(&path));
            }
            assert!(started.elapsed() < Duration::from_secs(20), "no screenshot came");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn new_picture(&self) -> Option<PathBuf> {
        let files = std::fs::read_dir(self.folder.path()).unwrap().filter_map(|f| f.ok());
        files.map(|f| f.path()).find(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.ends_with(".png") && !self.seen.contains(&name)
        })
    }

    /// Whether the viewer is still there.
    pub fn alive(&mut self) -> bool {
        self.viewer.try_wait().unwrap().is_none()
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        let _ = self.viewer.kill();
        let _ = self.viewer.wait();
    }
}
