//! What the window sees of the world: a copy of the arrays that are drawn, filled again and again.

use super::straight::OnDevice;
use super::topology::Topology;
use glam::Vec4;
use motes::world::{BroadPhase, Params};
use motes::{Character, Collider, Engine, Material, MaterialId, Pass, StepReport};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// A moment of the simulation.
#[derive(Default)]
pub struct Moment {
    /// Rises with every scene that is loaded or reset.
    pub generation: u64,
    pub scene: Arc<SceneInfo>,
    pub playing: bool,
    /// Whether a film that is being taken shows it.
    pub recorded: bool,
    pub step: u64,
    /// Simulated, s.
    pub time: f64,
    /// By slot, as the library has them. Where there are newer ones `on_device`, positions and
    /// velocities are a few frames old.
    pub positions: Vec<Vec4>,
    pub velocities: Vec<Vec4>,
    /// The positions on the painter's device, when they were not brought here.
    pub on_device: Option<OnDevice>,
    pub radii: Vec<f32>,
    pub phases: Vec<u32>,
    /// What each particle is made of, by slot.
    pub made_of: Vec<MaterialId>,
    /// The materials of the world; the default one is `params`.
    pub materials: Vec<(MaterialId, Material)>,
    pub ids: Vec<u64>,
    /// kg/m³; empty until the window measures them.
    pub densities: Vec<f32>,
    pub topology: Arc<Topology>,
    pub colliders: Arc<Vec<Collider>>,
    /// Each knows where it is at any time.
    pub characters: Vec<Character>,
    pub params: Params,
    pub threads: usize,
    pub backend: &'static str,
    pub constraints: usize,
    pub contacts: usize,
    pub broad_phase: Option<BroadPhase>,
    pub broken: u64,
    pub quarantined: u64,
    /// How many edits can be taken back, and how many done again.
    pub edits: [usize; 2],
    /// Share of the last step each worker was busy.
    pub busy: Vec<f32>,
}

/// What does not change while a scene runs.
#[derive(Default)]
pub struct SceneInfo {
    /// As it was asked for.
    pub spec: String,
    /// The files that it was read from; a scene that is built in has none.
    pub files: Vec<PathBuf>,
    pub title: String,
    pub camera: Option<motes::scene::Camera>,
    /// The same file was read again: the camera stays where it is.
    pub reloaded: bool,
    /// The parameters and materials as the scene has them.
    pub params: Params,
    pub materials: Vec<(MaterialId, Material)>,
}

impl Moment {
    /// Copies what is drawn; memory is kept from the moment before.
    pub fn fill(&mut self, engine: &Engine) {
        let world = engine.world();
        let p = world.particles();
        self.step = world.step_count();
        self.time = world.time();
        self.positions.clone_from_slice_of(p.positions());
        self.velocities.clone_from_slice_of(p.velocities());
        self.radii.clone_from_slice_of(p.radii());
        self.phases.clone_from_slice_of(p.phases());
        self.ids.clone_from_slice_of(p.ids());
        self.made_of.clear();
        self.made_of.extend((0..p.len()).map(|slot| p.material(slot)));
        self.materials.clear();
        self.materials.extend(world.materials().map(|(id, material)| (id, material.clone())));
        self.characters.clear();
        self.characters.extend(world.skeletons().map(|(_, character)| character.clone()));
        self.densities.clear();
        self.params.clone_from(&world.params);
        self.threads = engine.threads();
        self.constraints = world.constraint_count();
        self.broken = world.broken();
        self.quarantined = world.quarantined();
        self.report(engine.report());
    }

    fn report(&mut self, report: &StepReport) {
        self.contacts = report.contacts;
        self.broad_phase = report.broad_phase;
        let workers = &report.workers;
        let wall = report.wall_ms.max(1e-9);
        self.busy.clear();
        self.busy.extend((0..workers.len()).map(|w| (workers.busy_ms(w) / wall) as f32));
    }

    /// Whether the positions here are those of this moment.
    pub fn is_here(&self) -> bool {
        self.on_device.is_none()
    }

    /// Where a particle lies in the arrays now.
    pub fn slot(&self, id: u64) -> Option<usize> {
        // Few particles are looked up by name, a map of all of them would cost more.
        self.ids.iter().position(|&i| i == id)
    }
}

/// Copying into memory that is there already.
trait Refill<T> {
    fn clone_from_slice_of(&mut self, from: &[T]);
}

impl<T: Copy> Refill<T> for Vec<T> {
    fn clone_from_slice_of(&mut self, from: &[T]) {
        self.clear();
        self.extend_from_slice(from);
    }
}

/// What one step cost.
#[derive(Clone, Copy)]
pub struct Sample {
    /// When it ended.
    pub at: Instant,
    pub step: u64,
    pub wall_ms: f32,
    /// By pass.
    pub ms: [f32; Pass::COUNT],
    pub iterations: u32,
    pub contacts: u32,
}

impl Sample {
    pub fn of(step: u64, report: &StepReport) -> Self {
        let mut ms = [0.0; Pass::COUNT];
        report.passes.ran().for_each(|(pass, _, time)| ms[pass as usize] = time as f32);
        Sample {
            at: Instant::now(),
            step,
            wall_ms: report.wall_ms as f32,
            ms,
            iterations: report.iterations,
            contacts: report.contacts as u32,
        }
    }
}
