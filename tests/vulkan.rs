//! Whole scenes on a Vulkan device beside the CPU: the first steps by positions, up to sixty by what
//! must hold, and what a user may do to a world in between. Needs a device, as `tests/parity.rs` does.
//!
//! A device in software takes a fifth of a second for a step of most scenes, so in the suite most of
//! them take twelve. Sixty steps of all: `MOTES_LONG=1 cargo test --release --test vulkan`.
#![cfg(feature = "vulkan")]

#[path = "vulkan/device.rs"]
mod device;

use device::{device, on_device};
use glam::Vec3;
use motes::{
    Backend, Cloth, Engine, Grains, Kind, Particle, ParticleId, Pass, Phase, Scene, Solver, World,
};

/// Where the tests run scenes too large for them.
const LARGE: [&str; 4] = ["boxes_216k", "grains_box", "granular_216k", "sand_heap"];

fn specs() -> impl Iterator<Item = String> {
    Scene::builtin_names().map(|name| {
        let small = if LARGE.contains(&name) { ":small" } else { "" };
        format!("{name}{small}")
    })
}

fn on_cpu(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 2 }).unwrap()
}

fn quiet(engine: &Engine) {
    let messages = engine.vulkan().map(|v| v.messages()).unwrap_or_default();
    assert!(messages.is_empty(), "the validation layer says: {messages:#?}");
}

/// Largest distance between the same particles of two worlds, in radii.
fn apart(a: &World, b: &World) -> f32 {
    let (p, q) = (a.particles(), b.particles());
    let slots = p.slots_by_id().zip(q.slots_by_id());
    let far = |(i, j): (usize, usize)| {
        let d = (p.positions()[i] - q.positions()[j]).truncate().length() / p.radii()[i];
        if d.is_nan() { f32::INFINITY } else { d }
    };
    slots.map(far).fold(0.0, f32::max)
}

struct Facts {
    energy: f64,
    /// Mean place of the free particles.
    center: Vec3,
    fastest: f32,
    residual: f64,
}

fn facts(world: &World) -> Facts {
    let p = world.particles();
    let free: Vec<usize> = (0..p.len()).filter(|&i| p.positions()[i].w > 0.0).collect();
    let sum: Vec3 = free.iter().map(|&i| p.positions()[i].truncate()).sum();
    let speed = |&i: &usize| p.velocities()[i].truncate().length();
    Facts {
        energy: world.energy(),
        center: sum / free.len().max(1) as f32,
        fastest: free.iter().map(speed).fold(0.0, f32::max),
        residual: Kind::ALL.iter().map(|&kind| world.residual(kind)).sum(),
    }
}

/// Positions of the first steps. The passes agree to rounding; where particles touch, tiles are laid
/// in f32 on the device and in f64 on the CPU, so pairs may be swept in another order, and a pile
/// differs by what an iteration leaves over: a few thousandths of a radius.
#[test]
fn the_first_steps_are_the_same() {
    for spec in specs() {
        let scene = Scene::load(&spec).unwrap();
        let Some(mut gpu) = on_device(scene.build().unwrap()) else { return };
        let mut cpu = on_cpu(scene.build().unwrap());
        for step in 1..=3 {
            cpu.step(scene.params().dt).unwrap();
            gpu.step(scene.params().dt).unwrap_or_else(|e| panic!("{spec}: {e}"));
            let off = apart(cpu.world(), gpu.world());
            assert!(off < 1e-2, "{spec}: {off} radii apart after {step} steps");
        }
        quiet(&gpu);
    }
}

/// Where nothing touches nobody is put in order of place, however many there are.
#[test]
fn a_large_cloth_is_the_same() {
    let size = ["cloth.0.columns=100".into(), "cloth.0.rows=100".into()];
    let world = Scene::load_with("cloth_hang", &size).and_then(|s| s.build()).unwrap();
    let Some(mut gpu) = on_device(world.clone()) else { return };
    let mut cpu = on_cpu(world);
    for engine in [&mut cpu, &mut gpu] {
        (0..3).for_each(|_| _ = engine.step(1.0 / 60.0).unwrap());
    }
    let off = apart(cpu.world(), gpu.world());
    assert!(off < 1e-2, "{off} radii apart");
}

/// What meets late or breaks, and what is soon done, take their sixty steps in the suite, too.
const SIXTY: [&str; 4] = ["cloth_hang", "cloth_stretch", "spike", "tear"];

fn is_long() -> bool {
    std::env::var("MOTES_LONG").is_ok_and(|v| v == "1")
}

#[test]
fn scenes_keep_what_must_hold() {
    for spec in specs() {
        let steps = if is_long() || SIXTY.contains(&spec.as_str()) { 60 } else { 12 };
        let scene = Scene::load(&spec).unwrap();
        let Some(mut gpu) = on_device(scene.build().unwrap()) else { return };
        let mut cpu = on_cpu(scene.build().unwrap());
        let size = {
            let p = cpu.world().particles().positions();
            let low = p.iter().fold(Vec3::MAX, |m, x| m.min(x.truncate()));
            let high = p.iter().fold(Vec3::MIN, |m, x| m.max(x.truncate()));
            (high - low).length()
        };
        for _ in 0..steps {
            cpu.step(scene.params().dt).unwrap();
            gpu.step(scene.params().dt).unwrap_or_else(|e| panic!("{spec}: {e}"));
        }
        let (c, g) = (facts(cpu.world()), facts(gpu.world()));
        assert_eq!(gpu.world().quarantined(), 0, "{spec}");
        assert!(g.center.distance(c.center) < 0.01 * size, "{spec}: {} {}", c.center, g.center);
        assert!(g.fastest < 1.5 * c.fastest + 0.5, "{spec}: {} {} m/s", c.fastest, g.fastest);
        let (some, energy) = (0.03 * c.energy.abs() + 1e-3, (g.energy - c.energy).abs());
        assert!(energy < some, "{spec}: {} {} J", c.energy, g.energy);
        assert!(g.residual < 1.2 * c.residual + 1e-3, "{spec}: {} {}", c.residual, g.residual);
        let (broke, breaks) = (cpu.world().broken(), gpu.world().broken());
        assert!(breaks.abs_diff(broke) <= 2 + broke / 20, "{spec}: broken {broke} {breaks}");
        quiet(&gpu);
    }
}

/// Balls in one place have more neighbours than there was room for.
#[test]
fn lists_that_overflow_are_made_again() {
    let crowd = || {
        let mut world = World::new();
        world.params.iterations = 2;
        for k in 0..300 {
            let (x, y) = ((k % 7) as f32, (k / 7 % 7) as f32);
            let position = Vec3::new(x, y, (k / 49) as f32) * 1e-2;
            let phase = Phase::group(1).self_colliding();
            let particle =
                Particle { position, velocity: Vec3::ZERO, mass: 1.0, radius: 0.5, phase };
            world.add_particle(&particle).unwrap();
        }
        world
    };
    let Some(mut gpu) = on_device(crowd()) else { return };
    let mut cpu = on_cpu(crowd());
    cpu.step(1e-3).unwrap();
    gpu.step(1e-3).unwrap();
    assert_eq!(cpu.report().listed, 300 * 299 / 2);
    assert_eq!(gpu.report().listed, cpu.report().listed);
    quiet(&gpu);
}

/// Adding, pinning, moving, removing, new parameters: between any two steps.
#[test]
fn worlds_are_edited_between_steps() {
    let build = || {
        let mut world = World::new();
        let cloth = Cloth { columns: 12, rows: 12, ..Cloth::default() };
        let ids = world.add_cloth(&cloth).unwrap();
        world.pin(ids[0]).unwrap();
        (world, ids)
    };
    let (world, ids) = build();
    let Some(gpu) = on_device(world) else { return };
    let mut engines = [on_cpu(build().0), gpu];
    for engine in &mut engines {
        let step = |engine: &mut Engine| engine.step(1.0 / 60.0).map(|_| ()).unwrap();
        (0..3).for_each(|_| step(engine));
        let world = engine.world_mut();
        world.pin(ids[11]).unwrap();
        world.set_position(ids[60], Vec3::new(0.0, 0.3, 0.0)).unwrap();
        (0..3).for_each(|_| step(engine));
        engine.world_mut().params.iterations = 5;
        engine.world_mut().params.solver = Solver::Jacobi;
        (0..3).for_each(|_| step(engine));
        engine.world_mut().remove_particles(&ids[24..36]).unwrap();
        let grains = Grains { counts: [3, 3, 3], ..Grains::default() };
        engine.world_mut().add_grains(&grains).unwrap();
        engine.world_mut().params.solver = Solver::Colored;
        (0..3).for_each(|_| step(engine));
    }
    let [cpu, gpu] = &engines;
    assert_eq!(cpu.world().particles().len(), gpu.world().particles().len());
    let off = apart(cpu.world(), gpu.world());
    assert!(off < 1e-2, "{off} radii apart");
    quiet(gpu);
}

/// Grains enough to be put in order of place, on the move, so that their lists never hold.
fn flock() -> World {
    let mut world = World::new();
    world.params.iterations = 1;
    world.params.substeps = 1;
    let grains = Grains { counts: [24, 24, 24], spacing: 0.05, ..Grains::default() };
    world.add_grains(&Grains { velocity: Vec3::new(9.0, 0.0, 3.0), ..grains }).unwrap();
    world
}

/// What nobody asks for stays on the device, and is the same when it comes.
#[test]
fn a_world_may_stay_on_the_device() {
    let scene = |spec: &str| Scene::load(spec).and_then(|s| s.build()).unwrap();
    let worlds = [scene("cloth_hang"), scene("stairs"), scene("tear"), scene("curtain"), flock()];
    for (k, world) in worlds.into_iter().enumerate() {
        let Some(mut kept) = on_device(world.clone()) else { return };
        let Some(mut shown) = on_device(world.clone()) else { return };
        kept.keep_on_device(true);
        let steps = if k == 4 { 70 } else { 6 };
        for _ in 0..steps {
            for engine in [&mut kept, &mut shown] {
                engine.step(1.0 / 60.0).unwrap();
            }
            assert_eq!(kept.report().broken, shown.report().broken);
        }
        let fetched = |engine: &Engine| engine.vulkan().unwrap().fetched();
        assert_eq!(fetched(&shown), steps);
        if shown.world().broken() == 0 {
            assert_eq!(fetched(&kept), 0, "world {k}");
            assert_eq!(apart(kept.world(), &world), 0.0, "world {k}");
            assert_ne!(kept.world().hash(), shown.world().hash(), "world {k} does not move");
        }
        kept.fetch().unwrap();
        assert_eq!(kept.world().hash(), shown.world().hash(), "world {k}");
        // An edit and another step length bring it back by themselves.
        for engine in [&mut kept, &mut shown] {
            (0..2).for_each(|_| _ = engine.step(1.0 / 60.0).unwrap());
            let id = ParticleId(engine.world().particles().ids()[0]);
            engine.world_mut().set_velocity(id, Vec3::Y).unwrap();
            (0..2).for_each(|_| _ = engine.step(1.0 / 60.0).unwrap());
            (0..2).for_each(|_| _ = engine.step(1.0 / 120.0).unwrap());
            engine.fetch().unwrap();
        }
        assert_eq!(kept.world().hash(), shown.world().hash(), "world {k}, edited");
        quiet(&kept);
    }
}

/// The bound of the plan: what a step costs in dispatches.
#[test]
fn a_step_takes_no_more_dispatches_than_promised() {
    for spec in specs() {
        let scene = Scene::load(&spec).unwrap();
        let Some(mut gpu) = on_device(scene.build().unwrap()) else { return };
        gpu.step(scene.params().dt).unwrap_or_else(|e| panic!("{spec}: {e}"));
        let world = gpu.world();
        let touching = gpu.report().broad_phase.is_some();
        // The 27 colours of tiles are colours, too.
        let colors = world.distance().color_count()
            + world.bend().color_count()
            + world.volume().color_count()
            + if touching { 27 } else { 0 };
        let p = &world.params;
        let sweeps = p.iterations as usize;
        // Fluid has a list of its own, and two passes in every sweep.
        let fluid = world.particles().phases().iter().any(|phase| phase & Phase::FLUID != 0);
        let (lists, passes) =
            (usize::from(touching) + usize::from(fluid), 4 + 2 * usize::from(fluid));
        let per_substep = sweeps * (colors + passes) + 40 + 60 * lists;
        let most = p.substeps as usize * per_substep;
        let used = gpu.vulkan().unwrap().dispatches();
        assert!(used <= most, "{spec}: {used} dispatches, {most} promised");
    }
}

/// From any pass on, the rest of the step on the device.
#[test]
fn a_step_can_be_bisected() {
    let build = || {
        let mut world = World::new();
        world.add_cloth(&Cloth { columns: 8, rows: 8, ..Cloth::default() }).unwrap();
        let grains = Grains { counts: [3, 3, 3], ..Grains::default() };
        world.add_grains(&grains).unwrap();
        world
    };
    let mut cpu = on_cpu(build());
    (0..4).for_each(|_| _ = cpu.step(1.0 / 60.0).unwrap());
    for from in [Pass::Predict, Pass::Bounds, Pass::SolveContacts, Pass::SolveDistance, Pass::Sleep]
    {
        if on_device(World::new()).is_none() {
            return;
        }
        let backend = Backend::Vulkan { device: None, from: Some(from) };
        let mut gpu = Engine::new(build(), backend).unwrap();
        (0..4).for_each(|_| _ = gpu.step(1.0 / 60.0).unwrap());
        let off = apart(cpu.world(), gpu.world());
        assert!(off < 1e-2, "from {}: {off} radii apart", from.name());
    }
    let backend = Backend::Vulkan { device: None, from: Some(Pass::SolveVolume) };
    let error = Engine::new(build(), backend).unwrap().step(1.0 / 60.0).unwrap_err().to_string();
    assert!(error.contains("solve_volume is not among the passes"), "{error}");
}

/// Beside a device, the processor has nothing to share out unless passes stay on it.
#[test]
fn workers_start_only_for_passes_that_stay_on_the_cpu() {
    let Some(gpu) = on_device(World::new()) else { return };
    assert_eq!(gpu.threads(), 1);
    let backend = Backend::Vulkan { device: None, from: Some(Pass::Bounds) };
    let both = Engine::new(World::new(), backend).unwrap();
    assert_eq!(both.threads(), std::thread::available_parallelism().unwrap().get());
}

#[test]
fn a_device_that_is_not_there_is_an_error_with_a_remedy() {
    if on_device(World::new()).is_none() {
        return;
    }
    for name in ["99", "no such card"] {
        let backend = Backend::Vulkan { device: Some(name.into()), from: None };
        let Err(error) = Engine::new(World::new(), backend) else { panic!("{name} was found") };
        let said = error.to_string();
        assert!(said.contains(name) && said.contains("there are: 0 "), "{said}");
    }
    let mut world = World::new();
    world.params.until_residual = 1e-3;
    let error = Engine::new(world, device()).unwrap().step(1e-3).unwrap_err().to_string();
    assert!(error.contains("set both to 0"), "{error}");
}

/// Lavapipe ends long loops without a word: a sweep row by row that it would not finish is refused.
#[test]
fn a_loop_that_would_be_cut_short_is_an_error() {
    let size = ["cloth.0.columns=140".into(), "cloth.0.rows=140".into()];
    let mut world = Scene::load_with("cloth_hang", &size).and_then(|s| s.build()).unwrap();
    world.params.solver = Solver::Seidel;
    world.params.iterations = 1;
    assert!(world.distance().len() > 65_535, "{}", world.distance().len());
    let Some(mut gpu) = on_device(world) else { return };
    let step = gpu.step(1.0 / 60.0).map(|_| ());
    if gpu.device().is_some_and(|name| name.contains("llvmpipe")) {
        let error = step.unwrap_err().to_string();
        assert!(error.contains("such as colored"), "{error}");
        // It did not happen: the CPU and the device go on from the same world.
        let mut cpu = on_cpu(gpu.world().clone());
        for engine in [&mut cpu, &mut gpu] {
            engine.world_mut().params.solver = Solver::Colored;
            engine.step(1.0 / 60.0).unwrap();
        }
        assert!(apart(cpu.world(), gpu.world()) < 1e-2);
    } else {
        step.unwrap();
    }
}
