//! Acceleration never makes a scene worse: with `acceleration = "chebyshev"` every built-in scene
//! keeps its promises. Where anything can touch, the schedule leaves it out, and so is the same.

use motes::{Backend, Checker, Engine, Pass, Scene};
use std::collections::BTreeSet;

/// Scenes where nothing can touch: these are accelerated, and must pass their checks.
const ACCELERATED: [&str; 2] = ["cloth_hang", "cloth_stretch"];

fn engine(scene: &Scene) -> Engine {
    Engine::new(scene.build().unwrap(), Backend::Cpu { threads: 1 }).unwrap()
}

fn accelerated(spec: &str) -> Scene {
    Scene::load_with(spec, &["acceleration=chebyshev".into()]).unwrap()
}

#[test]
fn the_schedule_differs_only_where_nothing_can_touch() {
    let mut found = BTreeSet::new();
    for name in Scene::builtin_names() {
        let lines = |scene: &Scene| -> Vec<String> {
            engine(scene).schedule().to_string().lines().map(Into::into).collect()
        };
        let (mut with, without) = (lines(&accelerated(name)), lines(&Scene::load(name).unwrap()));
        let before = with.len();
        with.retain(|line| !line.contains(Pass::Accelerate.name()));
        if with.len() < before {
            found.insert(name);
        }
        assert_eq!(with, without, "{name}");
    }
    assert_eq!(found, BTreeSet::from(ACCELERATED), "these are run below");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn accelerated_scenes_keep_their_promises() {
    for name in ACCELERATED {
        let scene = accelerated(name);
        let mut engine = engine(&scene);
        let mut checker = Checker::new(&scene, engine.world());
        let mut calls = 0;
        for _ in 0..scene.steps() {
            let report = engine.step(scene.params().dt).unwrap();
            calls += report.passes.calls(Pass::Accelerate);
            checker.observe(engine.world());
        }
        assert!(calls > 0, "{name} was not accelerated");
        let results = checker.finish(engine.world());
        let failed: Vec<_> = results.iter().filter(|r| !r.passed).map(|r| &r.message).collect();
        assert!(failed.is_empty(), "{name}: {failed:#?}");
    }
}
