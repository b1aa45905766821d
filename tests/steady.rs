//! A steady step allocates nothing.

use glam::Vec3;
use motes::world::collider::{Pose, Shape};
use motes::{
    Backend, Body, BodyShape, Bond, Cloth, Collider, Emitter, Engine, Fluid, FluidRegion, Grains,
    Nozzle, Sink, Solver, Stream, World,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands every request to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_steady_step_allocates_nothing() {
    streams();
    (1..=2).for_each(pool);
    for &solver in Solver::ALL {
        for threads in [1, 2] {
            steps(solver, Backend::Cpu { threads }, 0);
        }
        // Rayon keeps each invitation on the heap until it is answered: one a step here, and none
        // that piles up.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        steps(solver, Backend::CpuPool { pool: pool.into() }, 1);
    }
}

/// Two fluids with tension in a tank, and a body that floats in them: all passes of fluids.
fn pool(threads: usize) {
    let mut world = World::new();
    let params = &mut world.params;
    (params.fluid_tension, params.fluid_adhesion, params.fluid_vorticity) = (0.1, 0.1, 1.0);
    let shape = BodyShape::block([3; 3], 0.02, 500.0).unwrap();
    world.add_body(&shape, &Body::rigid(Vec3::new(0.1, 0.15, 0.1))).unwrap();
    for (low, density) in [(0.0, 1000.0), (0.1, 700.0)] {
        let low = Vec3::Y * low;
        let region = FluidRegion::Box { low, high: low + Vec3::new(0.2, 0.1, 0.2) };
        let fluid = Fluid { region, radius: 0.01, density, ..Fluid::default() };
        world.add_fluid(&fluid).unwrap();
    }
    for (normal, away) in
        [(Vec3::Y, 0.0), (Vec3::X, 0.0), (-Vec3::X, 0.2), (Vec3::Z, 0.0), (-Vec3::Z, 0.2)]
    {
        let pose = Pose::from_translation(-normal * away);
        world.colliders.push(Collider::fixed(Shape::Plane { normal }, pose));
    }
    let mut engine = Engine::new(world, Backend::Cpu { threads }).unwrap();
    for _ in 0..60 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let before = ALLOCATIONS.load(Relaxed);
    for _ in 0..20 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let made = ALLOCATIONS.load(Relaxed) - before;
    assert!(made <= 2, "{threads} threads: {made} allocations in 20 steps of water");
}

/// Particles that come and go are no reason to allocate: who comes takes the place of who went.
fn streams() {
    let mut world = World::new();
    let nozzle = Nozzle::Disc { radius: 0.05 };
    let water =
        Emitter { nozzle, direction: Vec3::Y, speed: 1.0, radius: 0.01, ..Emitter::default() };
    world.add_emitter(&water).unwrap();
    let stream = Stream::Grains { mass: 0.1 };
    let above = Vec3::new(0.3, 0.5, 0.0);
    let sand = Emitter { position: above, rate: Some(50.0), stream, ..water };
    world.add_emitter(&sand).unwrap();
    let slab = Shape::Box { half: Vec3::new(0.1, 0.05, 0.1) };
    world.colliders.push(Collider::fixed(slab, Pose::from_translation(Vec3::new(0.3, -0.1, 0.0))));
    let below = Shape::Plane { normal: Vec3::Y };
    world.sinks.push(Sink::fixed(below, Pose::from_translation(Vec3::NEG_Y)));
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    for _ in 0..300 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let (before, sunk) = (ALLOCATIONS.load(Relaxed), engine.world().sunk());
    for _ in 0..60 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let made = ALLOCATIONS.load(Relaxed) - before;
    assert!(engine.world().sunk() > sunk + 100 && engine.world().particles().len() > 100);
    // Lists grow now and then to the longest there was. Anything that is done in every step would make 60.
    // (14 when this was written.)
    assert!(made <= 20, "{made} allocations in 60 steps");
}

/// Twenty steady steps, each of which may make so many allocations.
fn steps(solver: Solver, backend: Backend, each: usize) {
    let mut world = World::new();
    world.params.solver = solver;
    world.params.restitution = 0.2;
    let floor = Shape::Plane { normal: Vec3::Y };
    world.colliders.push(Collider::fixed(floor, Pose::from_translation(Vec3::NEG_Y * 0.1)));
    let weak = Bond { break_at: 100.0, ..Bond::default() };
    let cloth = Cloth {
        bend: Some(Bond::compliant(1e-3)),
        stretch: weak,
        self_collide: true,
        ..Cloth::default()
    };
    let ids = world.add_cloth(&cloth).unwrap();
    world.pin(ids[0]).unwrap();
    world.add_grains(&Grains { origin: Vec3::new(0.2, 0.3, 0.2), ..Grains::default() }).unwrap();
    let shape = BodyShape::block([4; 3], 0.1, 1000.0).unwrap();
    world.add_body(&shape, &Body::rigid(Vec3::new(3.0, 0.3, 0.0))).unwrap();
    let mut engine = Engine::new(world, backend.clone()).unwrap();
    for _ in 0..200 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let before = ALLOCATIONS.load(Relaxed);
    for _ in 0..20 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let made = ALLOCATIONS.load(Relaxed) - before;
    // Lists may still grow by a hair as the heap settles; they never shrink.
    let most = 20 * each + 2;
    assert!(made <= most, "{solver} on {backend:?}: {made} allocations in 20 steady steps");
}
