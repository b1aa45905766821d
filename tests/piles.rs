//! Deep piles keep their height and come to rest, with no parameter set: of two grains that lie on each
//! other the upper counts as lighter. Nothing sleeps here.
//!
//! 60 layers take longer: `MOTES_LONG=1 cargo test --release --test piles -- --nocapture`.

use glam::{DVec3, Vec3};
use motes::{Backend, Engine, Particle, Phase, Scene, Solver, World};

/// A box 0.215 m wide with a loose lattice of grains of 1 cm.
const BOX: &str = r#"
    [[granular]]
    origin = [0.01075, 0.01075, 0.01075]
    counts = [10, 40, 10]
    spacing = 0.0215
    radius = 0.01
    density = 2500
    jitter = 0.2
    [[collider]]
    shape = "plane"
    [[collider]]
    shape = "plane"
    normal = [1, 0, 0]
    [[collider]]
    shape = "plane"
    normal = [-1, 0, 0]
    position = [0.215, 0, 0]
    [[collider]]
    shape = "plane"
    normal = [0, 0, 1]
    [[collider]]
    shape = "plane"
    normal = [0, 0, -1]
    position = [0, 0, 0.215]
"#;

/// So many layers after 6 s, with these settings.
fn settled(layers: u32, sets: &[&str]) -> Engine {
    let counts = format!("granular.0.counts=[10, {layers}, 10]");
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).chain([counts]).collect();
    let world = Scene::parse("pile.toml", BOX, None, &sets).unwrap().build().unwrap();
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    for _ in 0..360 {
        engine.step(1.0 / 60.0).unwrap();
    }
    engine
}

/// Twice the mean height, m.
fn height(engine: &Engine) -> f64 {
    let at = engine.positions();
    2.0 * at.iter().map(|p| f64::from(p.y)).sum::<f64>() / at.len() as f64
}

fn mean_speed(engine: &Engine) -> f64 {
    let speeds = engine.world().particles().velocities().iter();
    let count = speeds.len() as f64;
    speeds.map(|v| f64::from(v.truncate().length())).sum::<f64>() / count
}

/// The heights to compare with are those of 8 substeps with 30 iterations and the true masses.
#[test]
fn deep_piles_keep_their_height_and_come_to_rest() {
    let long = std::env::var("MOTES_LONG").is_ok_and(|v| v == "1");
    let piles = [(20, 0.3681, 0.1), (40, 0.7326, 0.1), (60, 1.0902, 0.15)];
    for (layers, exact, off) in piles.into_iter().take(if long { 3 } else { 2 }) {
        let mut engine = settled(layers, &[]);
        let (height, speed) = (height(&engine) / exact, mean_speed(&engine));
        let overlap = engine.quality().unwrap().overlap;
        println!("{layers} layers: {height:.4} of their height, {overlap:.4} r, {speed:.7} m/s");
        assert!((height - 1.0).abs() < off, "{layers} layers: {height} of their height");
        assert!(overlap < 0.15, "{layers} layers: overlap by {overlap} r");
        assert!(speed < 1e-4, "{layers} layers: {speed} m/s");
    }
    // The control: by the true masses these iterations are far too few.
    let mut sinks = settled(40, &["mass_scale=0"]);
    assert!(sinks.quality().unwrap().overlap > 0.5 && mean_speed(&sinks) > 1e-3);
}

/// Two that fall and meet on the way, one above the other.
fn falling_pair(solver: Solver, masses: [f32; 2]) -> World {
    let mut world = World::new();
    (world.params.substeps, world.params.iterations) = (4, 6);
    world.params.solver = solver;
    for (side, mass) in [1.0f32, -1.0].into_iter().zip(masses) {
        let particle = Particle {
            position: Vec3::new(0.001, 0.0105, -0.0005) * side,
            velocity: Vec3::new(0.05, -0.5, 0.02) * side,
            mass,
            radius: 0.01,
            phase: Phase::group(1).self_colliding(),
        };
        world.add_particle(&particle).unwrap();
    }
    world
}

/// The sum of m v, and of |m v|.
fn momentum(world: &World) -> (DVec3, f64) {
    let p = world.particles();
    let each = p.positions().iter().zip(p.velocities());
    each.fold((DVec3::ZERO, 0.0), |(sum, sizes), (x, v)| {
        let part = v.truncate().as_dvec3() / f64::from(x.w);
        (sum + part, sizes + part.length())
    })
}

/// A collision is solved by the true masses, in the substep in which the two meet and in the next.
#[test]
fn grains_that_collide_in_free_fall_keep_their_momentum() {
    for &solver in Solver::ALL {
        for masses in [[0.01, 0.01], [0.01, 0.03]] {
            let world = falling_pair(solver, masses);
            let total: f64 = masses.iter().map(|&m| f64::from(m)).sum();
            let (before, sizes) = momentum(&world);
            let apart = |world: &World| {
                let v = world.particles().velocities();
                (v[0] - v[1]).truncate().length()
            };
            let met = apart(&world);
            let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
            engine.step(1.0 / 60.0).unwrap();
            assert!(apart(engine.world()) < 0.5 * met, "{solver}: they did not meet");
            let fell = DVec3::Y * (-9.81 / 60.0 * total);
            let off = (momentum(engine.world()).0 - before - fell).length() / sizes;
            println!("{solver}, {masses:?} kg: off by {off:.1e} of the sum of |m v|");
            assert!(off < 1e-6, "{solver}, {masses:?} kg: off by {off} of the sum of |m v|");
        }
    }
}
