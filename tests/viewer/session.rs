//! The viewer in a real window, driven by a script, in a folder of its own.

use super::display::Display;
use super::picture::Picture;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

pub struct Session {
    pub display: Display,
    folder: tempfile::TempDir,
    scale: &'static str,
    painter: Option<&'static str>,
    environment: Vec<(&'static str, &'static str)>,
}

impl Session {
    pub fn start() -> Option<Session> {
        Display::start().map(Session::on)
    }

    /// A session on a display of the test's own choice.
    pub fn on(display: Display) -> Session {
        let folder = tempfile::tempdir().unwrap();
        let (painter, environment) = (Some("software"), Vec::new());
        Session { display, folder, scale: "1", painter, environment }
    }

    /// The same folder and settings on another display.
    pub fn moved_to(mut self, display: Display) -> Self {
        self.display = display;
        self
    }

    /// Another painter from now on; none leaves it to the viewer. A Vulkan painter is watched by
    /// the validation layer.
    pub fn painted(mut self, painter: Option<&'static str>) -> Self {
        self.painter = painter;
        self.with("MOTES_VALIDATION", "1")
    }

    /// A variable of the environment.
    pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.environment.push((name, value));
        self
    }

    /// The window system asks for this scale from now on.
    pub fn scaled(mut self, scale: &'static str) -> Self {
        self.scale = scale;
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Starts a script.
    pub fn begin(&self, scene: &str, script: &str) -> Child {
        let script = self.write("script", &format!("{script}\nquit\n"));
        Command::new(env!("CARGO_BIN_EXE_motes"))
            .args(["view", scene, "--script"])
            .arg(script)
            .args(self.painter.iter().flat_map(|name| ["--painter", name]))
            .current_dir(self.folder.path())
            .env("DISPLAY", &self.display.name)
            .env_remove("WAYLAND_DISPLAY")
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("WINIT_X11_SCALE_FACTOR", self.scale)
            .envs(self.environment.iter().copied())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Waits for the end of a script, whatever that is. A window that freezes fails the test.
    pub fn end(&self, mut child: Child, limit: Duration) -> Output {
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if started.elapsed() > limit {
                child.kill().unwrap();
                panic!("the viewer did not end within {limit:?}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        child.wait_with_output().unwrap()
    }

    /// Runs a script to its end, whatever that is.
    pub fn try_run(&self, scene: &str, script: &str, limit: Duration) -> Output {
        self.end(self.begin(scene, script), limit)
    }

    /// Runs a script that must succeed.
    pub fn run(&self, scene: &str, script: &str) {
        let output = self.try_run(scene, script, Duration::from_secs(300));
        Self::check(&output, script);
    }

    pub fn check(output: &Output, script: &str) {
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{errors}");
        assert!(!errors.contains("panicked"), "{errors}");
        // Without the layer nobody listens, and that is all that is said.
        let said = |line: &str| line.starts_with("validation: ") && !line.contains("not installed");
        assert!(!errors.lines().any(said), "{script}\n{errors}");
    }

    pub fn report(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(name)).unwrap()).unwrap()
    }

    pub fn picture(&self, name: &str) -> Picture {
        Picture::read(&self.path(name))
    }

    pub fn exists(&self, name: &str) -> bool {
        Path::exists(&self.path(name))
    }
}
