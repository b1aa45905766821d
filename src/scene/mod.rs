//! Scene files.
mod build;
mod builtin;
mod check;
mod document;
mod file;
mod keys;
mod load;
mod names;
mod size;
mod value;

pub use check::{CheckResult, Checker};

use crate::world::{MemoryNeed, Params};
use file::SceneFile;
use glam::Vec3;
use load::Source;

/// Where the scene wants to be looked at from; what is not given is up to the viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Camera {
    /// Position of the eye, m.
    pub eye: Option<Vec3>,
    /// Point looked at, m.
    pub target: Option<Vec3>,
    /// Vertical angle of view, degrees.
    pub fov: Option<f32>,
}

/// A scene that has been read and checked, ready to be built any number of times.
///
/// ```
/// use motes::scene::{Checker, Scene};
/// use motes::{Backend, Engine};
///
/// let text = r#"
///     title = "a block falls on the floor"
///     [[box]]
///     name = "block"
///     counts = [3, 3, 3]
///     spacing = 0.1
///     center = [0, 0.5, 0]
///     [[collider]]
///     shape = "plane"
///     [[check]]
///     name = "nothing_below"
///     of = "block"
///     bound = 0.0
/// "#;
/// let scene = Scene::parse("block.toml", text, None, &["iterations=20".into()])?;
/// let mut engine = Engine::new(scene.build()?, Backend::Cpu { threads: 1 })?;
/// let mut checker = Checker::new(&scene, engine.world());
/// for _ in 0..30 {
///     engine.step(scene.params().dt)?;
///     checker.observe(engine.world());
/// }
/// assert!(checker.finish(engine.world()).iter().all(|r| r.passed));
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scene {
    source: Source,
    file: SceneFile,
    name: String,
    variants: Vec<String>,
    params: Params,
    checks: Vec<check::Check>,
    need: MemoryNeed,
}

/// Steps a scene is run for when it does not say.
const DEFAULT_STEPS: u32 = 300;

impl Scene {
    /// The name it says it has, or else the one of its file; with the variant, if any.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// What it shows, in one line.
    pub fn title(&self) -> &str {
        &self.file.title
    }
    /// Where it comes from.
    pub fn source(&self) -> &str {
        &self.file.source
    }
    /// Seed of everything random.
    pub fn seed(&self) -> u64 {
        self.file.seed.map_or(1, |s| s.0)
    }
    /// Steps after which its checks are meant to hold.
    pub fn steps(&self) -> u32 {
        self.file.steps.map_or(DEFAULT_STEPS, |s| u32::try_from(s.0).unwrap_or(u32::MAX))
    }
    /// The parameters, as the built world has them.
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// Where it wants to be looked at from.
    pub fn camera(&self) -> Camera {
        let camera = &self.file.camera;
        Camera {
            eye: camera.eye.map(|v| v.0),
            target: camera.target.map(|v| v.0),
            fov: camera.fov.map(|a| a.0),
        }
    }
    /// Names of its variants.
    pub fn variants(&self) -> &[String] {
        &self.variants
    }
    /// How many checks it carries.
    pub fn check_count(&self) -> usize {
        self.checks.len()
    }
    /// What the built world will hold at most.
    pub fn need(&self) -> MemoryNeed {
        self.need
    }
}
