//! Built-in scenes read, build alike twice and keep their promises for a short run; and each check
//! can fail.

use motes::{Backend, CheckResult, Checker, Engine, Phase, Scene};

fn run(scene: &Scene, steps: u32) -> Vec<CheckResult> {
    let world = scene.build().unwrap();
    let mut checker = Checker::new(scene, &world);
    let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
    for _ in 0..steps {
        engine.step(scene.params().dt).unwrap();
        checker.observe(engine.world());
    }
    checker.finish(engine.world())
}

#[test]
fn built_in_scenes_say_what_they_are_and_build_alike() {
    for name in Scene::builtin_names() {
        let scene = Scene::load(name).unwrap();
        assert_eq!(scene.name(), name);
        assert!(!scene.title().is_empty() && !scene.source().is_empty(), "{name}");
        assert!(scene.check_count() > 0, "{name} promises nothing");
        for variant in scene.variants().iter().map(Some).chain([None]) {
            let spec = variant.map_or(name.into(), |v| format!("{name}:{v}"));
            let scene = Scene::load(&spec).unwrap();
            let world = scene.build().unwrap();
            assert_eq!(world.hash(), scene.build().unwrap().hash(), "{spec}");
            // What is made of a mesh is counted when the mesh is read: bodies, and the water of `bowl`.
            let of_mesh = |(id, _): &(_, _)| world.object(*id).unwrap().len();
            let bodies: usize = world.skins().iter().map(of_mesh).sum();
            let phases = world.particles().phases().iter();
            let fluid = phases.filter(|&&phase| phase & Phase::FLUID != 0).count();
            let of_meshes = bodies + if name == "bowl" { fluid } else { 0 };
            let counted = (world.particles().len() - of_meshes) as u128;
            assert!(counted <= scene.need().particles, "{spec}");
        }
    }
}

#[test]
fn the_sizes_are_those_of_the_papers() {
    let edges = |spec: &str| Scene::load(spec).unwrap().build().unwrap().distance().len();
    assert_eq!(edges("cloth_hang:100"), 39_402);
    assert_eq!(edges("cloth_stretch"), 9_702);
    assert_eq!(edges("cloth_stretch:100"), 39_402);
    let grains = Scene::load("sand_heap").unwrap().build().unwrap().particles().len();
    assert!((19_000..21_000).contains(&grains), "{grains}");
}

#[test]
fn the_stretched_cloth_is_stretched() {
    let world = Scene::load("cloth_stretch").unwrap().build().unwrap();
    let at = world.particles().positions();
    let edges = world.distance();
    for i in 0..edges.len() {
        let [a, b] = edges.particles(i).map(|s| at[s as usize].truncate());
        assert!((a.distance(b) / edges.rest()[i] - 4.0).abs() < 1e-3);
    }
}

const BALL: &str = r#"
[params]
restitution = 0.9
dt = 0.005
[[box]]
name = "ball"
counts = [1, 1, 1]
spacing = 0.2
center = [0, 1, 0]
[[box]]
name = "pair"
counts = [2, 1, 1]
spacing = 0.2
center = [3, 0.1, 0]
[[collider]]
shape = "plane"
"#;

/// Value of a check on the bouncing ball after 400 steps of 5 ms, and whether it passed.
#[track_caller]
fn ball(check: &str) -> (f64, bool) {
    let text = format!("{BALL}[[check]]\n{check}\n");
    let scene = Scene::parse("ball.toml", &text, None, &[]).unwrap();
    let results = run(&scene, 400);
    println!("{}", results[0].message);
    (results[0].value, results[0].passed)
}

#[test]
fn each_check_holds_and_fails() {
    for (check, holds) in [
        ("name = 'mean_height'\nof = 'pair'\nmin = 0.09\nmax = 0.11", true),
        ("name = 'mean_height'\nof = 'pair'\nmin = 0.2", false),
        ("name = 'min_height'\nmin = 0.09", true),
        ("name = 'max_height'\nmax = 0.05", false),
        ("name = 'nothing_below'\nbound = 0.05", true),
        ("name = 'nothing_below'\nof = 'ball'\nbound = 0.5", false),
        ("name = 'max_overlap'\nbound = 0.01", true),
        ("name = 'max_speed'\nbound = 5", true),
        ("name = 'max_speed'\nof = 'ball'\nbound = 1", false),
        ("name = 'energy_not_above'\nbound = 0.02", true),
        ("name = 'energy_not_above'\nbound = -0.99", false),
        ("name = 'max_strain'\nof = 'pair'\nbound = 0.01", true),
        ("name = 'mean_strain'\nof = 'pair'\nbound = -1", false),
        ("name = 'broken_constraints_at_least'\nbound = 1", false),
        ("name = 'broken_constraints_at_most'\nbound = 0", true),
        ("name = 'connected_parts_at_least'\nof = 'pair'\nbound = 1", true),
        ("name = 'connected_parts_at_least'\nbound = 2", false),
        ("name = 'connected_parts_at_least'\nsize = 1\nbound = 2", true),
        ("name = 'connected_parts_at_most'\nsize = 1\nbound = 1", false),
        ("name = 'particles_accounted_for'", true),
        ("name = 'at_rest'\nof = 'pair'\nbound = 0.05", true),
        ("name = 'at_rest'\nof = 'ball'\nbound = 0.001", false),
        ("name = 'residual_below'\nkind = 'distance'\nbound = 0.01", true),
        ("name = 'bounces_at_least'\nof = 'ball'\nbound = 1", true),
        ("name = 'bounces_at_least'\nof = 'pair'\nbound = 1", false),
        ("name = 'no_particle_passed'\nof = 'ball'\nbound = 0.0", true),
        ("name = 'no_particle_passed'\nof = 'ball'\nbound = 0.5\ntolerance = 0.1", false),
        ("name = 'no_particle_passed'\nof = 'ball'\nthrough = 'pair'\ntolerance = 0.02", true),
        ("name = 'no_particle_passed'\nof = 'ball'\nthrough = 'pair'\naxis = [1, 0, 0]", false),
        ("name = 'slope_at_least'\nbound = 10", false),
        ("name = 'slope_at_most'\nbound = 10", true),
        ("name = 'quarantined_at_most'\nbound = 0", true),
        ("name = 'out_of_round_at_most'\nof = 'pair'\nbound = 1.1", false),
        ("name = 'volume_error_at_most'\nof = 'pair'\nbound = 1000", true),
        ("name = 'mixing_layer_at_most'\nof = 'ball'\nthrough = 'pair'\nbound = 100", true),
        ("name = 'mixing_layer_at_most'\nof = 'pair'\nthrough = 'ball'\nbound = -1", false),
        ("name = 'max_speed'\nbound = 5\nafter = 100", false),
    ] {
        assert_eq!(ball(check).1, holds, "{check}");
    }
}

#[test]
fn a_heap_piles_up_at_its_angle() {
    // A pile of 2 000 grains, small enough for the test suite.
    let sets = ["granular.0.counts=[10, 25, 10]".to_string()];
    let slope = |spec: &str| {
        let scene = Scene::load_with(spec, &sets).unwrap();
        let results = run(&scene, 200);
        for result in results.iter().filter(|r| !r.name.starts_with("slope")) {
            assert!(result.passed, "{}", result.message);
        }
        results.iter().find(|r| r.name == "slope_at_least").unwrap().value
    };
    let (rough, slippery) = (slope("sand_heap"), slope("sand_heap:slippery"));
    println!("rough {rough}, slippery {slippery}");
    assert!(rough > slippery, "{rough} and {slippery} degrees");
}
