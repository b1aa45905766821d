//! How much memory water takes: not more than 600 bytes a particle, with its lists and all that a step needs.
//! `cargo bench --bench speed -- water` prints what the system says of it.

use motes::{Backend, Engine, Scene};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Counting;
static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands every request to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_add(size, Relaxed);
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_particle_of_water_takes_at_most_600_bytes() {
    let scene = Scene::load("dam_break:37k").unwrap();
    let before = HELD.load(Relaxed);
    let world = scene.build().unwrap();
    let particles = world.particles().len();
    let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
    for _ in 0..4 {
        engine.step(scene.params().dt).unwrap();
    }
    let each = (HELD.load(Relaxed) - before) as f64 / particles as f64;
    println!("{each:.0} bytes a particle");
    assert!(particles > 30_000 && each > 100.0, "all of it is seen: {each}");
    assert!(each <= 600.0, "{each} bytes a particle");
}
