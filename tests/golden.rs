//! Golden hashes: what every built-in scene came to when `tests/golden.txt` was written.
//!
//! A change of shape (names, tables, schedules, another place for the same arithmetic) leaves every
//! line as it is. The file may be rewritten only by a change that is meant to change the physics or
//! the order of its sums, and the commit says which change and why. The command that writes it:
//! `MOTES_GOLDEN=write cargo test --release --test golden`. `MOTES_GOLDEN=small` leaves out worlds of
//! more than 3000 particles: enough to see that a build with other features gives the same bits.

use motes::{Backend, Engine, Scene, World};
use std::fmt::Write;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.txt");
/// The first lines of the file.
const HEAD: &str = "# scene, changed keys, steps, hash of all positions and velocities by id.
# Rewritten only when the physics is meant to change, in a commit that says why:
# MOTES_GOLDEN=write cargo test --release --test golden
";
const SOLVERS: [&str; 3] = ["colored", "seidel", "jacobi"];
/// What the scenes alone do not reach: other methods, acceleration, bounces.
const OTHERS: [(&str, &str); 6] = [
    ("cloth_hang", "params.acceleration=chebyshev"),
    ("cloth_hang", "params.method=pbd"),
    ("tear", "params.method=pbd"),
    ("stairs", "params.restitution=0.5"),
    ("sand_heap:small", "params.restitution=0.5"),
    ("curtain", "params.integrator=verlet"),
];

/// Every run: scene, changed keys.
fn runs() -> Vec<(String, String)> {
    let mut runs = Vec::new();
    for name in Scene::builtin_names() {
        runs.extend(SOLVERS.map(|solver| (name.to_string(), format!("params.solver={solver}"))));
        let scene = Scene::load(name).unwrap();
        let variants = scene.variants().iter().map(|v| (format!("{name}:{v}"), String::new()));
        runs.extend(variants);
    }
    runs.extend(OTHERS.map(|(scene, set)| (scene.to_string(), set.to_string())));
    runs
}

/// Short, but long enough for things to have met and broken.
fn steps_for(world: &World) -> u32 {
    match world.particles().len() {
        0..3_000 => 150,
        3_000..30_000 => 40,
        _ => 8,
    }
}

fn load(scene: &str, set: &str) -> World {
    let sets: Vec<String> = [set].iter().filter(|s| !s.is_empty()).map(|s| s.to_string()).collect();
    Scene::load_with(scene, &sets).unwrap().build().unwrap()
}

fn line(scene: &str, set: &str) -> String {
    let world = load(scene, set);
    let (steps, dt) = (steps_for(&world), world.params.dt);
    let mut engine = Engine::new(world, Backend::default()).unwrap();
    for _ in 0..steps {
        engine.step(dt).unwrap();
    }
    let set = if set.is_empty() { "-" } else { set };
    format!("{scene} {set} {steps} {:016x}", engine.world().hash())
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn every_scene_gives_the_bits_it_gave() {
    let asked = std::env::var("MOTES_GOLDEN").unwrap_or_default();
    let is_small = asked == "small";
    let mut text = String::from(HEAD);
    for (scene, set) in runs() {
        if !is_small || load(&scene, &set).particles().len() <= 3000 {
            writeln!(text, "{}", line(&scene, &set)).unwrap();
        }
    }
    if asked == "write" {
        std::fs::write(FILE, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(FILE).unwrap();
    let differ: Vec<_> = text.lines().filter(|line| !kept.lines().any(|k| k == *line)).collect();
    assert!(text.lines().count() > 20, "hardly anything was run");
    assert!(differ.is_empty(), "not in tests/golden.txt:\n{}", differ.join("\n"));
    assert!(
        is_small || text == kept,
        "tests/golden.txt has lines that nothing makes, or another order"
    );
}

/// The comparison must be able to fail: a scene that differs by one key gives another line.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn a_changed_scene_is_noticed() {
    let kept = std::fs::read_to_string(FILE).unwrap();
    let plain = line("stairs", "params.solver=colored");
    assert!(kept.lines().any(|k| k == plain), "{plain}");
    let changed = line("stairs", "params.friction=0.31");
    let hash = changed.rsplit(' ').next().unwrap();
    assert!(!kept.contains(hash), "{changed}");
}
