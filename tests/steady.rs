//! A steady step allocates nothing.

use glam::Vec3;
use motes::world::collider::{Pose, Shape};
use motes::{Backend, Cloth, Collider, Engine, Grains, Material, Solver, World};
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
    let runs = Solver::ALL.iter().flat_map(|&solver| [(solver, 1), (solver, 2)]);
    for (solver, threads) in runs {
        let mut world = World::new();
        world.params.solver = solver;
        world.params.restitution = 0.2;
        let floor = Shape::Plane { normal: Vec3::Y };
        world.colliders.push(Collider::fixed(floor, Pose::from_translation(Vec3::NEG_Y * 0.1)));
        let weak = Material { break_at: 100.0, ..Material::default() };
        let cloth = Cloth {
            bend: Some(Material::compliant(1e-3)),
            stretch: weak,
            self_collide: true,
            ..Cloth::default()
        };
        let ids = world.add_cloth(&cloth).unwrap();
        world.pin(ids[0]).unwrap();
        world
            .add_grains(&Grains { origin: Vec3::new(0.2, 0.3, 0.2), ..Grains::default() })
            .unwrap();
        let mut engine = Engine::new(world, Backend::Cpu { threads }).unwrap();
        for _ in 0..200 {
            engine.step(1.0 / 60.0).unwrap();
        }
        let before = ALLOCATIONS.load(Relaxed);
        for _ in 0..20 {
            engine.step(1.0 / 60.0).unwrap();
        }
        let made = ALLOCATIONS.load(Relaxed) - before;
        // Lists may still grow by a hair as the heap settles; they never shrink.
        assert!(made <= 2, "{solver} x {threads}: {made} allocations in 20 steady steps");
    }
}
