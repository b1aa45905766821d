//! From flags to an engine that is ready to step: a scene or a snapshot, tuned.

use crate::cli::{BackendName, Structures, Target, Tuning};
use crate::failure::Failure;
use motes::scene::Scene;
use motes::{Backend, Engine, World, snapshot};
use std::io::Write;
use std::path::Path;

/// A world before its first step, and where it came from.
pub struct Setup {
    /// What reports call it.
    pub name: String,
    /// The scene, if one was named.
    pub scene: Option<Scene>,
    pub world: World,
}

/// Why a device is refused where there can be none.
#[cfg(not(feature = "vulkan"))]
pub const NO_VULKAN: &str = "--backend vulkan: this build has no Vulkan; build with --features vulkan, or use --backend cpu";

/// Steps of a run when nobody says how many.
const STEPS: u32 = 300;

impl Setup {
    /// Builds a scene.
    pub fn of_scene(spec: &str, tuning: &Tuning) -> Result<Setup, Failure> {
        let scene = load_scene(spec, tuning)?;
        let mut world = scene.build()?;
        tune(&mut world, tuning)?;
        Ok(Setup { name: spec.into(), scene: Some(scene), world })
    }

    /// Goes on from a snapshot. `spec` names the scene whose checks and camera count; without it,
    /// the one the snapshot was made from, if it is still there.
    pub fn of_snapshot(path: &Path, spec: Option<&str>, tuning: &Tuning) -> Result<Setup, Failure> {
        if tuning.seed.is_some() {
            return Err(Failure::Usage(
                "--seed: a snapshot is built already; give the seed to the run that makes it"
                    .into(),
            ));
        }
        let saved = snapshot::load(path)?;
        let mut world = saved.world;
        let scene = match spec {
            Some(spec) => Some(Scene::load(spec)?),
            None => Scene::load(&saved.scene).ok(),
        };
        for set in &tuning.set {
            set_param(&mut world, set)?;
        }
        tune(&mut world, tuning)?;
        let name = spec.map_or(saved.scene, Into::into);
        Ok(Setup { name, scene, world })
    }

    /// Says on standard error what the scene says without effect.
    pub fn warn(&self) {
        for warning in self.scene.iter().flat_map(|scene| scene.warnings(&self.world)) {
            // A closed standard error is no reason to stop.
            let _ = writeln!(std::io::stderr(), "warning: {warning}");
        }
    }

    /// Steps to run: as asked, or as the scene wants.
    pub fn steps(&self, asked: Option<u32>) -> u32 {
        asked.or(self.scene.as_ref().map(Scene::steps)).unwrap_or(STEPS)
    }

    /// The scene, if this world has the objects its checks speak of.
    pub fn scene_of_checks(&self) -> Result<&Scene, Failure> {
        let Some(scene) = &self.scene else {
            return Err(Failure::Usage(format!(
                "--check: the scene `{}` of this snapshot is not here; name the scene as well",
                self.name
            )));
        };
        // A world that was built from another scene has other objects in their places.
        let names = |world: &World| -> Vec<String> {
            world.objects().map(|(_, object)| object.name.clone()).collect()
        };
        if names(&scene.build()?) != names(&self.world) {
            return Err(Failure::Usage(format!(
                "--check: this world was not built from `{}`; name the scene it comes from",
                scene.name()
            )));
        }
        Ok(scene)
    }
}

fn load_scene(spec: &str, tuning: &Tuning) -> Result<Scene, Failure> {
    let mut sets = tuning.set.clone();
    if let Some(seed) = tuning.seed {
        sets.push(format!("seed={seed}"));
    }
    Ok(Scene::load_with(spec, &sets)?)
}

/// Lays the flags over the scene's parameters.
fn tune(world: &mut World, tuning: &Tuning) -> Result<(), Failure> {
    let real = |v: f32| toml::Value::Float(f64::from(v));
    let whole = |v: u32| toml::Value::Integer(i64::from(v));
    let text = |v: &str| toml::Value::String(v.into());
    let broad_phase = match tuning.broad_phase {
        Some(Structures::One(structure)) => Some(structure),
        Some(Structures::All) => {
            let why = "--broad-phase all compares structures, which only `motes bench` does";
            return Err(Failure::Usage(why.into()));
        }
        None => None,
    };
    let flags = [
        ("dt", tuning.dt.map(real)),
        ("substeps", tuning.substeps.map(whole)),
        ("iterations", tuning.iterations.map(whole)),
        ("solver", tuning.solver.map(|v| text(v.word()))),
        ("method", tuning.method.map(|v| text(v.word()))),
        ("broad_phase", broad_phase.map(|v| text(v.word()))),
        ("until_residual", tuning.until_residual.map(real)),
        ("budget_ms", tuning.budget_ms.map(real)),
    ];
    for (name, value) in flags {
        let Some(value) = value else { continue };
        let flag = name.replace('_', "-");
        world.params.set(name, &value).map_err(|e| Failure::Usage(format!("--{flag}: {e}")))?;
    }
    Ok(())
}

/// `--set` on a snapshot: only parameters are left to set.
pub fn set_param(world: &mut World, set: &str) -> Result<(), Failure> {
    let refuse = |why: String| Failure::Usage(format!("--set {set}: {why}"));
    let (path, value) = set.split_once('=').ok_or_else(|| refuse("expected PATH=VALUE".into()))?;
    let path = path.trim();
    let name = path.strip_prefix("params.").unwrap_or(path);
    if world.params.get(name).is_none() {
        return Err(refuse(
            "a snapshot is built already; only parameters such as iterations can be set".into(),
        ));
    }
    let value = value.trim();
    let parsed = value.parse().unwrap_or_else(|_| toml::Value::String(value.into()));
    world.params.set(name, &parsed).map_err(|e| refuse(e.to_string()))
}

/// Takes a world to the backend that was asked for.
pub fn engine(world: World, target: &Target) -> Result<Engine, Failure> {
    if target.backend == BackendName::Cpu && target.gpu_from.is_some() {
        let why = "--gpu-from: the later passes need a device; add --backend vulkan";
        return Err(Failure::Usage(why.into()));
    }
    Ok(Engine::new(world, backend(target)?)?)
}

fn backend(target: &Target) -> Result<Backend, Failure> {
    match target.backend {
        BackendName::Cpu => Ok(Backend::Cpu { threads: target.threads.unwrap_or(0) }),
        #[cfg(feature = "vulkan")]
        BackendName::Vulkan => {
            Ok(Backend::Vulkan { device: target.device.clone(), from: target.gpu_from })
        }
        #[cfg(not(feature = "vulkan"))]
        BackendName::Vulkan => Err(Failure::Usage(NO_VULKAN.into())),
    }
}
