//! Adding and removing for ever: memory and snapshots are bounded by what is alive, and the handles
//! of the dead lead nowhere. The suite adds 64 000 particles; the long run adds 1.28 million:
//!
//! ```sh
//! MOTES_SOAK=1280000 cargo test --release --test soak -- --nocapture
//! ```

use glam::Vec3;
use motes::snapshot::{from_bytes, to_bytes};
use motes::world::Path;
use motes::{
    Backend, Bond, Built, Cloth, Engine, Grains, Kind, Lattice, ObjectId, Particle, ParticleId,
    Phase, World,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator, counting the bytes that are taken.
struct Counted;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// One test at a time: they count the same bytes.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many particles the long test adds in all.
fn amount() -> usize {
    std::env::var("MOTES_SOAK").ok().and_then(|n| n.parse().ok()).unwrap_or(64_000)
}

fn ball(position: Vec3) -> Particle {
    let phase = Phase::group(0).self_colliding();
    Particle { position, velocity: Vec3::ZERO, mass: 0.1, radius: 0.02, phase }
}

/// What comes and goes in one round: something of every kind, 1280 particles in all.
struct Guests {
    cloth: Built,
    body: Built,
    sand: Built,
    loose: Vec<ParticleId>,
}

impl Guests {
    fn add(world: &mut World, round: usize) -> Self {
        let bend = Some(Bond::compliant(1e-3));
        let cloth = Cloth { columns: 16, rows: 16, bend, origin: Vec3::Y, ..Cloth::default() };
        let cloth = world.add_cloth(&cloth).unwrap();
        let volume = Some(Bond::default());
        let body = Lattice { center: Vec3::X * 3.0, counts: [8; 3], volume, ..Lattice::default() };
        let body = world.add_lattice(&body).unwrap();
        let sand = Grains { origin: Vec3::Z * 3.0, counts: [8, 8, 4], ..Grains::default() };
        let sand = world.add_grains(&sand).unwrap();
        let at = |k: usize| Vec3::new(k as f32 * 0.1, 5.0, -3.0);
        let loose: Vec<_> = (0..256).map(|k| world.add_particle(&ball(at(k))).unwrap()).collect();
        for pair in loose.windows(2) {
            world.add_distance(pair[0], pair[1], None, &Bond::compliant(1e-4)).unwrap();
        }
        world.pin(loose[0]).unwrap();
        world.drag(loose[9], Vec3::Y, 1e-3).unwrap();
        // A path that no other round has.
        let keys = vec![(0.0, Vec3::ZERO), (1.0 + round as f64, Vec3::Y)];
        let path = Path { keys, looped: true };
        world.hold_on_path(cloth[0], path, Vec3::Y, 0.0).unwrap();
        Guests { cloth, body, sand, loose }
    }

    /// They go in different ways.
    fn remove(&self, world: &mut World, round: usize) {
        world.remove_particles(&self.cloth[3..40]).unwrap();
        if round.is_multiple_of(2) {
            world.release(self.cloth[0]).unwrap();
            world.cut(Kind::Distance, |ends| ends[0].y > 4.0);
        }
        world.remove_object(self.cloth.object).unwrap();
        world.remove_particles(&self.loose).unwrap();
        world.remove_object(self.sand.object).unwrap();
        world.remove_object(self.body.object).unwrap();
    }

    fn count(&self) -> usize {
        self.cloth.len() + self.body.len() + self.sand.len() + self.loose.len()
    }
}

/// Every way to a particle or an object that is gone ends in an error, or in nothing.
fn lead_nowhere(world: &mut World, particle: ParticleId, object: ObjectId) {
    assert_eq!(world.particles().slot(particle), None);
    assert_eq!(world.position(particle), None);
    let before = world.hash();
    let error = world.set_position(particle, Vec3::ONE).unwrap_err().to_string();
    assert!(error.contains("removed"), "{error}");
    assert!(world.remove_particles(&[particle]).is_err());
    assert!(world.pin(particle).is_err() && world.release(particle).is_err());
    assert!(world.add_object("ghosts", &[particle]).is_err());
    assert!(world.object(object).is_err() && world.remove_object(object).is_err());
    assert_eq!(world.hash(), before);
}

/// The world that stays: it has something of everything, too.
fn hosts() -> (World, Built) {
    let mut world = World::new();
    (world.params.substeps, world.params.iterations) = (1, 2);
    let cloth = Cloth { columns: 10, rows: 10, bend: Some(Bond::default()), ..Cloth::default() };
    let stays = world.add_cloth(&cloth).unwrap();
    world.pin(stays[0]).unwrap();
    (world, stays)
}

#[test]
fn memory_and_snapshots_are_bounded_by_what_is_alive() {
    let _turn = alone();
    let (world, stays) = hosts();
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    let mut dead = Vec::with_capacity(2 * amount());
    let mut sizes = Vec::with_capacity(amount());
    let (mut added, mut round) = (0, 0);
    while added < amount() {
        let world = engine.world_mut();
        let guests = Guests::add(world, round);
        added += guests.count();
        assert_eq!(world.particles().len(), stays.len() + guests.count());
        engine.step(1.0 / 60.0).unwrap();
        let world = engine.world_mut();
        guests.remove(world, round);
        assert_eq!(world.particles().len(), stays.len());
        dead.push((guests.loose[17], guests.sand.object));
        dead.push((guests.cloth[17], guests.cloth.object));
        drop(guests);
        let snapshot = to_bytes("", world).unwrap().len();
        sizes.push((TAKEN.load(Relaxed), snapshot));
        round += 1;
    }
    engine.step(1.0 / 60.0).unwrap();
    let world = engine.world_mut();
    world.validate().unwrap();
    // The first rounds make the room that all others use.
    let (first, last) = (sizes[3], sizes[sizes.len() - 1]);
    println!("{added} particles in {round} rounds: {first:?} bytes after 4, {last:?} at the end");
    assert!(last.0 < first.0 + 32 * 1024, "memory grew from {} to {} bytes", first.0, last.0);
    assert!(last.1 < first.1 + 256, "snapshots grew from {} to {} bytes", first.1, last.1);
    for &(particle, object) in &dead {
        lead_nowhere(world, particle, object);
    }
    // Nor do they once their places are taken again, nor in a world that was saved.
    let guests = Guests::add(world, round);
    let mut loaded = from_bytes("soak", &to_bytes("", world).unwrap()).unwrap().world;
    for &(particle, object) in &dead {
        lead_nowhere(world, particle, object);
        lead_nowhere(&mut loaded, particle, object);
    }
    assert!(guests.loose.iter().chain(&stays).all(|&id| loaded.position(id).is_some()));
}

/// What was large once does not stay large.
#[test]
fn a_world_that_was_large_is_small_again() {
    let _turn = alone();
    let (mut world, stays) = hosts();
    let small = to_bytes("", &world).unwrap().len();
    let before = TAKEN.load(Relaxed);
    let first = Guests::add(&mut world, 0);
    let heap = Grains { counts: [50, 40, 50], ..Grains::default() };
    let heap = world.add_grains(&heap).unwrap();
    let sheet = Cloth { columns: 200, rows: 200, ..Cloth::default() };
    let sheet = world.add_cloth(&sheet).unwrap();
    // One of the latest stays, all before it go.
    let last = world.add_particle(&ball(Vec3::Y)).unwrap();
    world.remove_particles(&sheet).unwrap();
    world.remove_particles(&heap).unwrap();
    first.remove(&mut world, 0);
    assert_eq!(world.particles().len(), stays.len() + 1);
    assert!(world.position(last).is_some());
    let saved = to_bytes("", &world).unwrap().len();
    drop((first, heap, sheet));
    let grew = TAKEN.load(Relaxed).saturating_sub(before);
    assert!(grew < 64 * 1024, "{grew} bytes more than before");
    assert!(saved < small + 512, "{saved} bytes instead of {small}");
    world.validate().unwrap();
}

/// A world that came from a snapshot gives the same names to what is added, and the same bits.
#[test]
fn names_and_bits_are_the_same_after_a_snapshot() {
    let _turn = alone();
    let (world, stays) = hosts();
    let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
    for round in 0..3 {
        let guests = Guests::add(engine.world_mut(), round);
        engine.step(1.0 / 60.0).unwrap();
        guests.remove(engine.world_mut(), round);
    }
    engine.world_mut().remove_particles(&stays[40..43]).unwrap();
    let staying = Guests::add(engine.world_mut(), 3);
    engine.world_mut().remove_particles(&staying.body[100..300]).unwrap();
    engine.step(1.0 / 60.0).unwrap();
    let loaded = from_bytes("saved", &to_bytes("", engine.world()).unwrap()).unwrap().world;
    assert_eq!(&loaded, engine.world());
    let mut resumed = Engine::new(loaded, Backend::Cpu { threads: 1 }).unwrap();
    let mut next = [&mut engine, &mut resumed].map(|engine| {
        let guests = Guests::add(engine.world_mut(), 4);
        for _ in 0..5 {
            engine.step(1.0 / 60.0).unwrap();
        }
        (guests.cloth.object, guests.cloth.particles, guests.loose, engine.world().hash())
    });
    let [a, b] = &mut next;
    assert_eq!(a, b);
    // In order of age, whoever went in between.
    let ids: Vec<_> = engine
        .world()
        .particles()
        .slots_by_id()
        .map(|s| engine.world().particles().ids()[s])
        .collect();
    assert!(ids.is_sorted() && a.1.is_sorted());
}
