//! What a scene says without effect, or hardly means: keys that count under another method or
//! structure only, winds that meet no cloth, values that are legal but of little use, and a world
//! with nothing in it.

use super::Scene;
use super::file::ForceWord;
use super::objects::Site;
use crate::world::{Acceleration, BroadPhase, Method, Solver, World};

impl Scene {
    /// What the author of the scene should know: each key that has no effect on `world`, which was
    /// built from it and perhaps tuned since, with its file and line; wind on surfaces where there are
    /// none; and that the world is empty.
    ///
    /// ```
    /// use motes::Scene;
    /// let text = "[params]\nmethod = 'pbd'\n[[cloth]]\ncolumns = 4\nrows = 4\nspacing = 0.1
    /// stretch_compliance = 1e-6\n";
    /// let scene = Scene::parse("flag.toml", text, None, &[])?;
    /// let warnings = scene.warnings(&scene.build()?);
    /// assert!(warnings[0].starts_with("flag.toml:7: cloth.0.stretch_compliance: "), "{warnings:?}");
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn warnings(&self, world: &World) -> Vec<String> {
        let Ok(document) = self.source.document() else { return Vec::new() };
        let mut warnings = Vec::new();
        if world.particles().is_empty() && world.taps().is_empty() {
            let message = "the scene has no particles; add an object such as [[cloth]] or [[box]]";
            warnings.push(format!("{}: {message}", self.source.file));
        }
        let mut softness = Vec::new();
        document.visit_numbers(&mut |path, value| softness.push((path.to_string(), value)));
        for (path, value) in &softness {
            if let Some(why) = idle_softness(world.params.method, path, *value, &softness) {
                warnings.push(document.error_at(path, why).to_string());
            }
        }
        for entry in self.file.objects() {
            let site = Site { seed: self.seed(), folder: self.source.folder.as_deref() };
            if let Some((key, why)) = entry.object.doubt(&site) {
                let path = format!("{}.{key}", entry.path);
                warnings.push(document.error_at(&path, why).to_string());
            }
        }
        for (i, force) in self.file.force.iter().enumerate() {
            if force.kind == ForceWord::SurfaceWind && world.open_triangle_count() == 0 {
                let why = "blows on cloth alone, and the scene has none; add a [[cloth]], or choose \
                    kind = \"wind\", which every particle feels";
                warnings.push(document.error_at(&format!("force.{i}.kind"), why).to_string());
            }
        }
        for name in self.file.params.keys() {
            if let Some(why) = idle_param(name, world) {
                warnings.push(document.error_at(&format!("params.{name}"), why).to_string());
            }
        }
        warnings
    }
}

/// Why a stiffness or compliance has no effect, if it has none. Nothing is said of rigid ones, nor
/// where the other one stands beside it, since then either method has its own.
fn idle_softness(method: Method, path: &str, value: f64, all: &[(String, f64)]) -> Option<String> {
    let (mine, other, counts, is_rigid) = match method {
        Method::Pbd => ("compliance", "stiffness", "xpbd", value == 0.0),
        Method::Xpbd => ("stiffness", "compliance", "pbd", value == 1.0),
    };
    // Bodies give way by their compliance under every method.
    if path.starts_with("body.") {
        return None;
    }
    let start = path.strip_suffix(mine)?;
    if !(start.ends_with(['.', '_'])) || is_rigid {
        return None;
    }
    let beside = format!("{start}{other}");
    if all.iter().any(|(path, _)| *path == beside) {
        return None;
    }
    let key = beside.rsplit('.').next().unwrap_or(other);
    Some(format!(
        "has no effect with method = \"{}\"; give `{key}`, or choose method = \"{counts}\"",
        method.word()
    ))
}

/// Why a parameter has no effect, if it has none.
fn idle_param(name: &str, world: &World) -> Option<String> {
    let params = &world.params;
    let only = |holds: bool, what: &str| (!holds).then(|| format!("has no effect without {what}"));
    let is_accelerated = params.acceleration == Acceleration::Chebyshev;
    let structure = |wanted: BroadPhase| {
        let chosen = params.broad_phase;
        only(
            chosen == wanted || chosen == BroadPhase::Auto,
            &format!("broad_phase = \"{}\"", wanted.word()),
        )
    };
    match name {
        "rho" => only(is_accelerated, "acceleration = \"chebyshev\""),
        "acceleration" if is_accelerated => {
            let solver = matches!(params.solver, Solver::Colored | Solver::Jacobi);
            only(solver, "solver = \"colored\" or \"jacobi\"").or_else(|| {
                let free = !world.may_touch() && world.colliders.is_empty();
                (!free).then(|| "has no effect where something can touch".into())
            })
        }
        "octree_leaf" | "octree_depth" => structure(BroadPhase::Octree),
        "bvh_leaf" | "bvh_volume" | "bvh_start" | "bvh_walk" => structure(BroadPhase::Bvh),
        "restitution_threshold" => {
            only(world.pairs_may_bounce() || world.walls_may_bounce(), "restitution")
        }
        "static_friction" if params.static_friction < params.friction => {
            Some("is below `friction`, which counts instead; give at least as much".into())
        }
        _ => None,
    }
}
