//! Snapshots: what is saved comes back bit for bit, and nothing else comes in. Longer, with two workers
//! and debug assertions, since it is no release build:
//! `PROPTEST_CASES=2000 cargo test --no-default-features --test snapshot`.

use glam::Vec3;
use motes::snapshot::{self, from_bytes, to_bytes};
use motes::world::collider::{Collider, Pose, Shape};
use motes::{Backend, Bond, Cloth, Engine, Grains, Lattice, Pass, Solver, World};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, remembering the largest piece anyone asked for.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// A world with something of everything, in the middle of a run.
fn busy_world() -> World {
    let mut world = World::new();
    let tearing = Bond { break_at: 0.4, ..Bond::compliant(1e-6) };
    let cloth =
        Cloth { columns: 12, rows: 12, bend: Some(tearing), stretch: tearing, ..Cloth::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    world.pin(ids[0]).unwrap();
    world.drag(ids[11], Vec3::new(0.6, 0.2, 0.0), 1e-4).unwrap();
    let soft = Lattice {
        center: Vec3::new(0.3, 0.4, 0.3),
        counts: [3; 3],
        volume: Some(Bond::default()),
        ..Lattice::default()
    };
    world.add_lattice(&soft).unwrap();
    let grains = Grains {
        origin: Vec3::new(0.0, 1.0, 0.0),
        counts: [4; 3],
        jitter: 0.1,
        ..Grains::default()
    };
    world.add_grains(&grains).unwrap();
    let ground = Shape::Plane { normal: Vec3::Y };
    world.colliders.push(Collider::fixed(ground, Pose::from_translation(Vec3::NEG_Y)));
    world
}

static SAVED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut engine = Engine::new(busy_world(), Backend::Cpu { threads: 1 }).unwrap();
    for _ in 0..5 {
        engine.step(1.0 / 60.0).unwrap();
    }
    to_bytes("busy", engine.world()).unwrap()
});

#[test]
fn a_resumed_run_gives_the_same_bits() {
    for solver in [Solver::Colored, Solver::Seidel, Solver::Jacobi] {
        let mut world = busy_world();
        world.params.solver = solver;
        let mut whole = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
        for _ in 0..17 {
            whole.step(1.0 / 60.0).unwrap();
        }
        let bytes = to_bytes("busy", whole.world()).unwrap();
        let back = from_bytes("memory", &bytes).unwrap();
        assert_eq!(back.scene, "busy");
        assert_eq!(&back.world, whole.world());
        let mut resumed = Engine::new(back.world, Backend::Cpu { threads: 1 }).unwrap();
        for _ in 0..23 {
            whole.step(1.0 / 60.0).unwrap();
            resumed.step(1.0 / 60.0).unwrap();
        }
        assert_eq!(whole.world().hash(), resumed.world().hash(), "{solver}");
    }
}

/// Enough grains to be put in order of place, a cloth and a held particle among them.
fn sorted_world() -> World {
    let mut world = World::new();
    world.params.substeps = 4;
    let ids = world.add_cloth(&Cloth { columns: 10, rows: 10, ..Cloth::default() }).unwrap();
    world.pin(ids[0]).unwrap();
    world.drag(ids[9], Vec3::new(0.6, 0.2, 0.0), 1e-4).unwrap();
    let heap = Grains {
        origin: Vec3::new(-0.2, 0.3, -0.2),
        counts: [24, 15, 24],
        jitter: 0.3,
        ..Grains::default()
    };
    world.add_grains(&heap).unwrap();
    let ground = Shape::Plane { normal: Vec3::Y };
    world.colliders.push(Collider::fixed(ground, Pose::from_translation(Vec3::NEG_Y * 0.1)));
    world
}

#[test]
fn a_run_resumed_between_two_sorts_gives_the_same_bits() {
    for solver in [Solver::Colored, Solver::Jacobi] {
        let mut world = sorted_world();
        world.params.solver = solver;
        let ids = world.particles().ids().to_vec();
        let mut whole = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
        let mut resumed: Option<Engine> = None;
        let mut sorts = 0;
        for step in 0..60 {
            if step == 10 {
                let bytes = to_bytes("sorted", whole.world()).unwrap();
                let back = from_bytes("memory", &bytes).unwrap();
                resumed = Some(Engine::new(back.world, Backend::Cpu { threads: 1 }).unwrap());
            }
            sorts += whole.step(1.0 / 60.0).unwrap().passes.calls(Pass::SortParticles);
            if let Some(resumed) = &mut resumed {
                resumed.step(1.0 / 60.0).unwrap();
                assert_eq!(whole.world().hash(), resumed.world().hash(), "{solver}, step {step}");
            }
        }
        assert!(sorts >= 2, "{solver}: sorted {sorts} times");
        assert_ne!(whole.world().particles().ids(), ids, "slots have changed");
    }
}

#[test]
fn files_go_there_and_back_and_bad_ones_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.motes");
    let world = busy_world();
    snapshot::save(&path, "busy", &world).unwrap();
    assert_eq!(snapshot::load(&path).unwrap().world, world);

    let good = std::fs::read(&path).unwrap();
    let with = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    let longer = [&good[..], b"x"].concat();
    for (bytes, expected) in [
        (Vec::new(), "is not a snapshot"),
        (b"v 0 0 0\n".to_vec(), "is not a snapshot"),
        (good[..20].to_vec(), "ends too early"),
        (good[..good.len() - 1].to_vec(), "ends too early"),
        (longer, "goes on after its end"),
        (with(8, 99), "has format version 99"),
        (with(13, !good[13]), "laid out differently"),
        (with(60, !good[60]), "is damaged"),
    ] {
        std::fs::write(&path, &bytes).unwrap();
        let error = snapshot::load(&path).unwrap_err();
        assert!(error.is_usage());
        let text = error.to_string();
        assert!(text.contains(expected) && text.contains("a.motes"), "{text}");
    }
    let missing = snapshot::load(folder.path().join("none")).unwrap_err();
    assert!(missing.to_string().contains("none"));
    assert!(snapshot::load(folder.path()).unwrap_err().is_usage());
}

#[cfg(target_os = "linux")]
#[test]
fn an_endless_file_is_not_read_to_its_end() {
    assert!(snapshot::load("/dev/zero").unwrap_err().to_string().contains("is not a snapshot"));
}

/// Gives damaged payload a header that fits it: only decoding and validation are left to refuse.
fn resealed(payload: &[u8]) -> Vec<u8> {
    // The empty name and world differ only in the payload; borrow the rest of the header.
    let mut bytes = SAVED[..20].to_vec();
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(checksum(payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// The file's checksum, written down a second time so that a change of it is noticed.
fn checksum(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 32
    };
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b));
    let chunks = bytes.chunks_exact(8);
    let tail = word(chunks.remainder());
    let start = mix(0xcbf2_9ce4_8422_2325, bytes.len() as u64);
    mix(chunks.fold(start, |hash, chunk| mix(hash, word(chunk))), tail)
}

/// Whatever comes out of damaged bytes must be an error or a world that can be stepped, by two
/// workers.
fn never_panics(bytes: &[u8]) {
    if let Ok(back) = from_bytes("damaged", bytes) {
        // Steps of a made-up world may take long; the shape of the arrays shows in one.
        let mut world = back.world;
        world.params.substeps = 1;
        world.params.iterations = world.params.iterations.min(2);
        if let Ok(mut engine) = Engine::new(world, Backend::Cpu { threads: 2 }) {
            let _ = engine.step(1.0 / 60.0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(from_bytes("random", &bytes).is_err());
    }

    #[test]
    fn any_flipped_bit_is_found(at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = SAVED.clone();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(from_bytes("flipped", &bytes).is_err());
    }

    #[test]
    fn any_cut_is_found(at in any::<prop::sample::Index>()) {
        let end = at.index(SAVED.len());
        prop_assert!(from_bytes("cut", &SAVED[..end]).is_err());
    }

    #[test]
    fn damage_under_a_good_checksum_never_panics(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut payload = SAVED[36..].to_vec();
        for (at, value) in edits {
            let at = at.index(payload.len());
            payload[at] = value;
        }
        never_panics(&resealed(&payload));
    }

    #[test]
    fn hostile_lengths_do_not_allocate(
        at in any::<prop::sample::Index>(),
        length in prop::sample::select(vec![u64::MAX, 1 << 62, 1 << 40, 1 << 32, u64::from(u32::MAX)]),
    ) {
        let mut payload = SAVED[36..].to_vec();
        let at = at.index(payload.len());
        let mut varint = Vec::new();
        let mut rest = length;
        while rest >= 0x80 {
            varint.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        varint.push(rest as u8);
        payload.splice(at..at, varint);
        never_panics(&resealed(&payload));
        // serde's own limit is 1 MiB; the worlds of these tests take less than that.
        let largest = LARGEST.load(Relaxed);
        prop_assert!(largest < 16 << 20, "{largest} bytes at once");
    }
}
