//! XPBD's promise: how far a cloth sags depends on neither the iterations nor the substeps. PBD
//! makes no such promise. Every figure is printed (`--nocapture`).

use motes::{Backend, Engine, Scene};

/// How far below its pinned corners the lowest particle of `cloth_hang` comes to hang, m.
fn sag(substeps: u32, iterations: u32, material: &[String]) -> f32 {
    let mut sets = vec![
        format!("params.substeps={substeps}"),
        format!("params.iterations={iterations}"),
        // Hung as a curtain and damped: it is at rest after a second.
        "params.damping=4".to_string(),
        "cloth.0.across=[0,-1,0]".to_string(),
    ];
    sets.extend_from_slice(material);
    let scene = Scene::load_with("cloth_hang", &sets).unwrap();
    let mut engine = Engine::new(scene.build().unwrap(), Backend::default()).unwrap();
    for _ in 0..60 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let heights = engine.positions().iter().map(|p| p.y);
    let (low, high) = heights.fold((f32::MAX, f32::MIN), |(l, h), y| (l.min(y), h.max(y)));
    high - low
}

fn pbd(stiffness: f32) -> Vec<String> {
    vec![
        "params.method=\"pbd\"".to_string(),
        format!("cloth.0.stretch_stiffness={stiffness}"),
        format!("cloth.0.shear_stiffness={stiffness}"),
    ]
}

fn change(a: f32, b: f32) -> f32 {
    (a / b - 1.0).abs()
}

#[test]
fn the_sag_of_cloth_hang_does_not_depend_on_the_iterations_with_xpbd() {
    let xpbd = ["params.method=\"xpbd\"".to_string()];
    let by_iterations = change(sag(8, 20, &xpbd), sag(8, 160, &xpbd));
    println!("xpbd, 8 substeps, 20 against 160 iterations: sag changes by {by_iterations:.4}");
    let same = change(sag(8, 20, &pbd(0.1)), sag(8, 160, &pbd(0.1)));
    println!("pbd, stiffness 0.1 with Müller's exponent, the same: sag changes by {same:.4}");
    assert!(by_iterations < 0.01, "xpbd: {by_iterations}");
}

#[test]
fn the_sag_of_cloth_hang_does_depend_on_iterations_and_step_with_pbd() {
    // A stiffness of 0.01 in every iteration, as PBD is usually written: over n iterations that is
    // 1 - 0.99^n in all.
    let raw = |n: i32| pbd(1.0 - 0.99f32.powi(n));
    let (few, many) = (sag(8, 20, &raw(20)), sag(8, 160, &raw(160)));
    println!("pbd, 0.01 an iteration, 20 against 160: sag changes by {:.4}", change(few, many));
    assert!(change(few, many) > 0.05 && few > many, "pbd gets stiffer: {few} m, {many} m");
    // Müller's exponent takes the iterations out, but not the length of the step.
    let (coarse, fine) = (sag(4, 20, &pbd(0.1)), sag(8, 20, &pbd(0.1)));
    println!(
        "pbd, 0.1 a substep, 4 against 8 substeps: sag changes by {:.4}",
        change(coarse, fine)
    );
    assert!(change(coarse, fine) > 0.05, "pbd depends on the step: {coarse} m, {fine} m");
}
