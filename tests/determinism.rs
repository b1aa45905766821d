//! The same bits for any number of threads, on every built-in scene: 40 steps of the small ones,
//! 4 above 10 000 particles. The long versions are commands: 300 and 20 steps with
//! `MOTES_LONG=1 cargo test --release --test determinism`, and a whole scene with
//! `for n in 1 2 3 8; do motes run SCENE --threads $n --hash; done`.

use motes::{Backend, Engine, Scene, Solver};

fn hash(scene: &Scene, solver: Solver, threads: usize) -> u64 {
    let mut world = scene.build().unwrap();
    world.params.solver = solver;
    let dt = world.params.dt;
    let long = std::env::var("MOTES_LONG").is_ok_and(|v| v == "1");
    let steps = match (world.particles().len() > 10_000, long) {
        (true, false) => 4,
        (true, true) => 20,
        (false, false) => 40,
        (false, true) => 300,
    };
    let mut engine = Engine::new(world, Backend::Cpu { threads }).unwrap();
    for _ in 0..steps {
        engine.step(dt).unwrap();
    }
    engine.world().hash()
}

fn same_for_any_team(solver: Solver) {
    for name in Scene::builtin_names() {
        let scene = Scene::load(name).unwrap();
        let started = std::time::Instant::now();
        let alone = hash(&scene, solver, 1);
        for threads in [2, 3, 8] {
            assert_eq!(hash(&scene, solver, threads), alone, "{name}, {solver}, {threads} threads");
        }
        println!("{name} {solver}: {alone:016x} in {:.1} s", started.elapsed().as_secs_f64());
    }
}

#[test]
fn colored_is_the_same_for_any_team() {
    same_for_any_team(Solver::Colored);
}

#[test]
fn seidel_is_the_same_for_any_team() {
    same_for_any_team(Solver::Seidel);
}

#[test]
fn jacobi_is_the_same_for_any_team() {
    same_for_any_team(Solver::Jacobi);
}

/// A hash must be able to differ: one bit of one velocity changes it.
#[test]
fn the_hash_sees_a_single_bit() {
    let mut world = Scene::load("cloth_hang").unwrap().build().unwrap();
    let before = world.hash();
    let id = motes::ParticleId(1234);
    let v = world.velocity(id).unwrap();
    world.set_velocity(id, glam::Vec3::new(f32::from_bits(v.x.to_bits() ^ 1), v.y, v.z)).unwrap();
    assert_ne!(world.hash(), before);
}

/// Every structure finds the same pairs, so the hash of a scene does not depend on the broad phase.
#[test]
fn the_hash_does_not_depend_on_the_broad_phase() {
    use motes::world::BroadPhase;
    for name in Scene::builtin_names() {
        let scene = Scene::load(name).unwrap();
        let with = |broad_phase| {
            let mut world = scene.build().unwrap();
            world.params.broad_phase = broad_phase;
            let steps = if world.particles().len() > 10_000 { 3 } else { 40 };
            let mut engine = Engine::new(world, Backend::default()).unwrap();
            for _ in 0..steps {
                engine.step(1.0 / 60.0).unwrap();
            }
            (engine.world().hash(), engine.report().broad_phase)
        };
        let (expected, used) = with(BroadPhase::Auto);
        assert_ne!(used, Some(BroadPhase::Auto), "{name}: the report says what was chosen");
        let few = scene.build().unwrap().particles().len() <= 3000;
        for &structure in BroadPhase::ALL {
            if structure != BroadPhase::Brute || few {
                assert_eq!(with(structure).0, expected, "{name}, {structure}");
            }
        }
    }
}

/// Nor on the instructions used: every level gives the same bits.
#[cfg(feature = "cli")]
#[test]
fn the_hash_does_not_depend_on_the_instructions() {
    let hash = |level: Option<&str>, scene: &str| {
        let mut motes = std::process::Command::new(env!("CARGO_BIN_EXE_motes"));
        motes.args(["run", scene, "--steps", "30", "--hash"]).env_remove("MOTES_SIMD");
        if let Some(level) = level {
            motes.env("MOTES_SIMD", level);
        }
        let run = motes.output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let text = String::from_utf8(run.stdout).unwrap();
        text.lines().find(|l| l.contains("hash")).expect("a hash").to_string()
    };
    for scene in ["axe", "sand_heap:small", "tear", "two_fluids"] {
        let best = hash(None, scene);
        for level in ["scalar", "wide"] {
            assert_eq!(hash(Some(level), scene), best, "{scene}, {level}");
        }
    }
}
