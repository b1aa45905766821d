//! A display of our own: Xvfb on a free number, gone with the test.

use super::picture::Picture;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

pub struct Display {
    server: Child,
    /// Where the server keeps what is on the screen.
    folder: tempfile::TempDir,
    /// For the environment variable DISPLAY.
    pub name: String,
}

impl Display {
    /// Starts one that has room for any window that a test asks for by the way.
    pub fn start() -> Option<Display> {
        Display::sized(2600, 1500)
    }

    /// Starts one with a screen of this size [px]. Without Xvfb the test is skipped, unless
    /// `MOTES_REQUIRE_DISPLAY` is 1.
    pub fn sized(width: u32, height: u32) -> Option<Display> {
        let folder = tempfile::tempdir().unwrap();
        let started = Command::new("Xvfb")
            // A server that starts anew when a window closes refuses the next one for a moment.
            .args(["-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0"])
            .arg(format!("{width}x{height}x24"))
            .arg("-fbdir")
            .arg(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut server = match started {
            Ok(server) => server,
            Err(error) => {
                let required = std::env::var("MOTES_REQUIRE_DISPLAY").is_ok_and(|v| v == "1");
                assert!(!required, "no Xvfb: {error}; install the package xvfb");
                eprintln!("skipped: no Xvfb");
                return None;
            }
        };
        let mut number = String::new();
        let mut told = BufReader::new(server.stdout.take().unwrap());
        told.read_line(&mut number).unwrap();
        assert!(!number.trim().is_empty(), "Xvfb did not start");
        Some(Display { server, folder, name: format!(":{}", number.trim()) })
    }

    /// What is on the screen now.
    pub fn screen(&self) -> Picture {
        Picture::of_screen(&std::fs::read(self.folder.path().join("Xvfb_screen0")).unwrap())
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
