//! Every built-in scene keeps its promises: small ones in full, large ones in a small variant. The
//! large ones in full: `cargo test --release --test scene_checks -- --ignored`.

use motes::{Backend, CheckResult, Checker, Engine, Scene, World};
use std::collections::BTreeSet;

/// Scenes too large for the tests, which have a small variant.
const LARGE: [&str; 4] = ["boxes_216k", "grains_box", "granular_216k", "sand_heap"];

fn specs() -> impl Iterator<Item = String> {
    Scene::builtin_names().map(|name| {
        let small = if LARGE.contains(&name) { ":small" } else { "" };
        format!("{name}{small}")
    })
}

fn run(scene: &Scene, steps: u32) -> (World, Vec<CheckResult>) {
    let world = scene.build().unwrap();
    let mut checker = Checker::new(scene, &world);
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    for _ in 0..steps {
        engine.step(scene.params().dt).unwrap();
        checker.observe(engine.world());
    }
    let results = checker.finish(engine.world());
    (engine.into_world(), results)
}

/// What failed of a scene's checks.
fn failures(spec: &str, sets: &[&str]) -> Vec<String> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scene = Scene::load_with(spec, &sets).unwrap();
    let (_, results) = run(&scene, scene.steps());
    let failed = results.into_iter().filter(|r| !r.passed);
    failed.map(|r| format!("{spec}: {}", r.message)).collect()
}

macro_rules! keeps_its_promises {
    ($($test:ident: $spec:literal;)+) => {
        const TESTED: &[&str] = &[$($spec),+];
        $(
            #[test]
            #[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
            fn $test() {
                let failed = failures($spec, &[]);
                assert!(failed.is_empty(), "{failed:#?}");
            }
        )+
    };
}

keeps_its_promises! {
    axe: "axe";
    bodies: "bodies";
    bowl: "bowl";
    boxes_216k: "boxes_216k:small";
    buoyancy: "buoyancy";
    cape: "cape";
    cloth_hang: "cloth_hang";
    cloth_stretch: "cloth_stretch";
    curtain: "curtain";
    dam_break: "dam_break";
    dominoes: "dominoes";
    droplets: "droplets";
    flag: "flag";
    fountain: "fountain";
    grains_box: "grains_box:small";
    granular_216k: "granular_216k:small";
    hydrostatic: "hydrostatic";
    ledge: "ledge";
    mud: "mud";
    push_through: "push_through";
    rabbit: "rabbit";
    sand_heap: "sand_heap:small";
    spike: "spike";
    splash: "splash";
    stack: "stack";
    stairs: "stairs";
    tear: "tear";
    trampoline: "trampoline";
    two_fluids: "two_fluids";
    wade: "wade";
    walk_through: "walk_through";
    wet_cloth: "wet_cloth";
}

#[test]
fn every_scene_is_tested() {
    let tested: BTreeSet<String> = TESTED.iter().map(ToString::to_string).collect();
    assert_eq!(tested, specs().collect());
}

/// The variant of voxels keeps what the scene promises.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn a_torus_of_a_mesh_is_cut_in_two() {
    let failed = failures("tear:mesh", &[]);
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Neither a sheet of triangles nor a body of voxels lets water out, for twenty seconds.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn a_bowl_of_voxels_holds_water() {
    let failed = failures("bowl:voxels", &[]);
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn the_papers_numbers() {
    let grains = |spec: &str| Scene::load(spec).unwrap().build().unwrap().particles().len();
    assert_eq!(grains("granular_216k"), 216_000);
    assert_eq!(grains("boxes_216k"), 216_000);
    assert_eq!(grains("grains_box"), 100_000);
    assert_eq!(grains("grains_box:small"), 9_000);
}

/// Thirty steps with every solver and method: softer perhaps, but nothing flies apart.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn no_solver_explodes() {
    for spec in specs() {
        for set in ["solver=seidel", "solver=jacobi", "method=pbd"] {
            let scene = Scene::load_with(&spec, &[set.to_string()]).unwrap();
            let (world, _) = run(&scene, 30);
            assert_eq!(world.quarantined(), 0, "{spec} {set}");
            let fastest = world
                .particles()
                .velocities()
                .iter()
                .map(|v| v.truncate().length())
                .fold(0.0f32, f32::max);
            // The cloth let go from four times its size is the fastest there is.
            let limit = if spec == "cloth_stretch" { 1000.0 } else { 20.0 };
            assert!(fastest < limit, "{spec} {set}: {fastest} m/s");
        }
    }
}

/// More friction, steeper.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn friction_makes_the_heap_steeper() {
    let slope = |friction: f32| {
        let sets = ["friction", "static_friction"].map(|name| format!("{name}={friction}"));
        let scene = Scene::load_with("sand_heap:small", &sets).unwrap();
        let (_, results) = run(&scene, 150);
        results.iter().find(|r| r.name == "slope_at_least").unwrap().value
    };
    let slopes = [0.05, 0.3, 0.8].map(slope);
    assert!(slopes.windows(2).all(|s| s[1] > s[0] + 2.0), "{slopes:?}");
}
