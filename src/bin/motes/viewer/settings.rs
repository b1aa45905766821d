//! The settings that the viewer keeps between runs, in the platform's folder for settings.

use super::colors::ColorBy;
use crate::cli::PainterName;
use motes::file::write_atomically;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Choices of the user. Unknown or missing keys are no error: versions differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Size of the window, physical pixels.
    pub size: [u32; 2],
    /// Size of texts and widgets; 1 is the size that the display asks for.
    pub scale: f32,
    pub dark: bool,
    /// Whether the panels are shown.
    pub panels: bool,
    pub color: ColorBy,
    pub lines: bool,
    /// Draw cloth, bodies and fluids as surfaces, not as particles.
    pub skins: bool,
    pub painter: PainterName,
    /// Simulated seconds for each second of the clock; 0 means as fast as possible.
    pub speed: f32,
    /// Worker threads; 0 for one per core.
    pub threads: usize,
    /// Radius of a thrown ball, in shares of the scene's size.
    pub ball_size: f32,
    /// Speed of a thrown ball, in sizes of the scene a second.
    pub ball_speed: f32,
    /// Mass of a thrown ball, kg; 0 means a fifth of the mass of the scene.
    pub ball_mass: f32,
    /// A recorded film has a picture every so many steps.
    pub record_every: u32,
    /// How many seconds the profile shows.
    pub profile_seconds: f32,
    pub splits: Splits,
    /// Files that were opened, the last one first.
    pub recent: Vec<String>,
}

/// Files that are remembered.
const RECENT: usize = 8;

/// How large the panels are, pixels at 100 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Splits {
    /// Width of the left column.
    pub left: f32,
    /// Width of the right column.
    pub right: f32,
    /// Height of the graphs.
    pub bottom: f32,
    /// Height of the panel Run.
    pub run: f32,
    /// Height of the panel Scenes; 0 leaves it to the window.
    pub scenes: f32,
}

impl Default for Splits {
    fn default() -> Self {
        Splits { left: 276.0, right: 252.0, bottom: 208.0, run: 385.0, scenes: 0.0 }
    }
}

impl Splits {
    /// Keeps every panel large enough to be read and to be made larger again, and leaves room for
    /// the scene in a window of this size.
    pub fn fit(&mut self, width: f32, height: f32) {
        let usual = Splits::default();
        let within = |value: f32, low: f32, high: f32, other: f32| {
            if value.is_finite() { value.clamp(low, high.max(low)) } else { other }
        };
        let side = (width - 280.0) * 0.5;
        self.left = within(self.left, 200.0, side.max(usual.left), usual.left);
        self.right = within(self.right, 180.0, side.max(usual.right), usual.right);
        self.bottom = within(self.bottom, 90.0, (height - 200.0).max(usual.bottom), usual.bottom);
        self.run = within(self.run, 80.0, height - 80.0, usual.run);
        if self.scenes != 0.0 {
            self.scenes = within(self.scenes, 80.0, height - 80.0, 0.0);
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            size: [1280, 720],
            scale: 1.0,
            dark: true,
            panels: true,
            color: ColorBy::Object,
            lines: false,
            skins: true,
            painter: PainterName::Auto,
            speed: 1.0,
            threads: 0,
            ball_size: 0.05,
            ball_speed: 3.0,
            ball_mass: 0.0,
            record_every: 1,
            profile_seconds: 6.0,
            splits: Splits::default(),
            recent: Vec::new(),
        }
    }
}

impl Settings {
    /// Whether fluids are drawn as surfaces, which cannot show what colours measure.
    pub fn shows_water(&self) -> bool {
        self.skins && self.color == ColorBy::Object
    }

    /// Puts a file in front of those that were opened.
    pub fn remember(&mut self, path: String) {
        self.recent.retain(|known| *known != path);
        self.recent.insert(0, path);
        self.recent.truncate(RECENT);
    }

    /// Values from a file may be anything.
    fn legal(mut self) -> Self {
        let within = |v: f32, low: f32, high: f32, other: f32| {
            if v.is_finite() { v.clamp(low, high) } else { other }
        };
        self.size = self.size.map(|side| side.clamp(320, 8192));
        self.scale = within(self.scale, 0.5, 3.0, 1.0);
        self.speed = within(self.speed, 0.0, 10.0, 1.0);
        self.threads = self.threads.min(1024);
        self.ball_size = within(self.ball_size, 0.005, 0.5, 0.05);
        self.ball_speed = within(self.ball_speed, 0.1, 20.0, 3.0);
        self.ball_mass = within(self.ball_mass, 0.0, 1e6, 0.0);
        self.record_every = self.record_every.clamp(1, 1000);
        self.profile_seconds = within(self.profile_seconds, 0.5, 30.0, 6.0);
        self.splits.fit(8192.0, 8192.0);
        self.recent.truncate(RECENT);
        self
    }

    /// Reads the settings. A file that cannot be read is set aside, with a word on it.
    pub fn load() -> (Self, Option<String>) {
        let Some(path) = file() else { return (Self::default(), None) };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return (Self::default(), None);
            }
            Err(error) => return (Self::default(), Some(set_aside(&path, &error.to_string()))),
        };
        match toml::from_str::<Settings>(&text) {
            Ok(settings) => (settings.legal(), None),
            Err(error) => (Self::default(), Some(set_aside(&path, error.message()))),
        }
    }

    /// Writes the settings.
    pub fn save(&self) -> Result<(), String> {
        let Some(path) = file() else { return Ok(()) };
        let fail = |e: &dyn std::fmt::Display| format!("settings were not kept: {e}");
        let text = toml::to_string(self).map_err(|e| fail(&e))?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| fail(&e))?;
        }
        write_atomically(&path, |out| out.write_all(text.as_bytes())).map_err(|e| fail(&e))
    }
}

fn set_aside(path: &std::path::Path, why: &str) -> String {
    let aside = path.with_extension("broken.toml");
    let moved = match std::fs::rename(path, &aside) {
        Ok(()) => format!("it is now {}", aside.display()),
        Err(error) => format!("it could not be moved away: {error}"),
    };
    format!("settings were not read ({}); {moved}; the viewer starts with its own", why.trim())
}

/// Where the settings are.
fn file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        folder("APPDATA")?
    } else if cfg!(target_os = "macos") {
        folder("HOME")?.join("Library/Application Support")
    } else {
        folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))?
    };
    Some(base.join("motes").join("viewer.toml"))
}
