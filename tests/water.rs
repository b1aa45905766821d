//! Water over a longer time: what the pressure in a tank is, how dense a breaking dam gets, steps of any length,
//! and cloth that holds water. Three seconds of the tank here, ten of them with
//! `MOTES_LONG=1 cargo test --release --test water -- --nocapture`.

use glam::Vec3;
use motes::snapshot::{from_bytes, to_bytes};
use motes::world::collider::{Pose, Shape};
use motes::{
    Backend, Checker, Cloth, Collider, Engine, Fluid, FluidRegion, ParticleId, Scene, World,
};

fn is_long() -> bool {
    std::env::var("MOTES_LONG").is_ok_and(|v| v == "1")
}

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 2 }).unwrap()
}

fn heights(world: &World) -> Vec<f64> {
    world.particles().positions().iter().map(|x| f64::from(x.y)).collect()
}

fn kinetic(world: &World) -> f64 {
    let p = world.particles();
    let each = p.positions().iter().zip(p.velocities());
    each.map(|(x, v)| 0.5 / f64::from(x.w) * f64::from(v.truncate().length_squared())).sum()
}

/// The level below which 99 % of the particles are, m.
fn surface(world: &World) -> f64 {
    let mut heights = heights(world);
    heights.sort_by(f64::total_cmp);
    heights[heights.len() * 99 / 100]
}

/// By slot, the sum of the multipliers of a substep: each of its iterations is the last one of a step with as
/// many, and what iterations give does not depend on those that follow.
fn summed_multipliers(world: &World) -> Vec<f64> {
    let h = world.params.dt / world.params.substeps as f32;
    let mut sums = vec![0.0; world.particles().len()];
    for iterations in 1..=world.params.iterations {
        let mut world = world.clone();
        (world.params.substeps, world.params.iterations) = (1, iterations);
        let ids = world.particles().ids().to_vec();
        let mut engine = engine(world);
        engine.step(h).unwrap();
        assert_eq!(engine.world().particles().ids(), ids, "nobody was sorted");
        for (sum, lambda) in sums.iter_mut().zip(engine.fluid_multipliers()) {
            *sum += f64::from(lambda);
        }
    }
    sums
}

/// How well a line explains what it goes through, and its slope.
fn line(points: &[[f64; 2]]) -> (f64, f64) {
    let count = points.len() as f64;
    let mean = |k: usize| points.iter().map(|p| p[k]).sum::<f64>() / count;
    let (x, y) = (mean(0), mean(1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| of(p[0] - x, p[1] - y)).sum::<f64>();
    let both = sum(&|dx, dy| dx * dy);
    let across = sum(&|dx, _| dx * dx);
    (both * both / (across * sum(&|_, dy| dy * dy)), both / across)
}

/// The scene `hydrostatic`, for three seconds or for ten.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn pressure_grows_with_depth_and_nothing_stirs() {
    let scene = Scene::load("hydrostatic").unwrap();
    let world = scene.build().unwrap();
    let (dt, radius) = (world.params.dt, f64::from(world.particles().radii()[0]));
    let mut engine = engine(world);
    let halves = if is_long() { 20 } else { 6 };
    let (mut calm, mut level) = (f64::INFINITY, None);
    let least = {
        let p = engine.world().particles().positions();
        1e-6 * p.iter().map(|x| 9.81 / f64::from(x.w) * f64::from(x.y)).sum::<f64>()
    };
    for half in 1..=halves {
        for _ in 0..(0.5 / dt) as usize {
            engine.step(dt).unwrap();
        }
        let dense = engine.quality().unwrap().compression.unwrap();
        let (energy, top) = (kinetic(engine.world()), surface(engine.world()));
        println!(
            "{} s: {:.3} % too dense, {:.3} % at most, {energy:.2e} J, surface at {top:.5} m",
            0.5 * f64::from(half),
            100.0 * dense.mean,
            100.0 * dense.largest
        );
        assert!(dense.mean < 0.01 && dense.largest < 0.05, "{dense:?}");
        // It decays, and what is left does not come back. Below a millionth of what it could fall by, that
        // is where its particles move by a millimetre a second or two, some may slip now and then.
        assert!(energy < calm.max(least), "{energy} J after {calm} J");
        calm = energy;
        if half >= 2 {
            let first = *level.get_or_insert(top);
            assert!((top - first).abs() < radius, "{top} m, and {first} m after a second");
        }
    }
    let world = engine.world();
    let top = surface(world);
    let sums = summed_multipliers(world);
    // Where no side wall is in reach, which carries, too.
    let inside = |c: f32| (0.04..0.28).contains(&c);
    let p = world.particles().positions();
    let points = p.iter().zip(sums).filter(|(x, _)| inside(x.x) && inside(x.z));
    let points: Vec<[f64; 2]> = points.map(|(x, sum)| [top - f64::from(x.y), -sum]).collect();
    let (explained, slope) = line(&points);
    // What balances gravity: a sum over pairs makes 0.950 of a slope of 1, so w times that is g h².
    let h = f64::from(dt) / f64::from(world.params.substeps);
    let w = f64::from(world.particles().positions()[0].w);
    let expected = 9.81 * h * h / (0.950_149 * w);
    println!(
        "multipliers of {} particles against depth: R² {explained:.4}, {:.4} of what carries",
        points.len(),
        slope / expected
    );
    assert!(calm < least, "{calm} J");
    assert!(explained > 0.95, "{explained}");
    assert!((slope / expected - 1.0).abs() < 0.05, "{slope} {expected}");
}

/// The dam of the scene, coarse: 2000 particles.
fn dam() -> Scene {
    Scene::load_with("dam_break", &["fluid.0.radius=0.05".to_string()]).unwrap()
}

/// The tank is 4 x 1 m, and water that has fallen 2 m has 6.3 m/s.
#[test]
fn nobody_leaves_the_tank_however_long_the_steps() {
    for rate in [120.0f32, 60.0, 30.0] {
        let mut engine = engine(dam().build().unwrap());
        let count = engine.world().particles().len();
        let (mut fastest, mut densest) = (0.0f32, 0.0f32);
        for step in 0..(2.5 * rate) as usize {
            engine.step(1.0 / rate).unwrap();
            let world = engine.world();
            let speeds = world.particles().velocities().iter().map(|v| v.truncate().length());
            fastest = speeds.fold(fastest, f32::max);
            for x in world.particles().positions() {
                // Centres, and so a fiftieth of a particle through the wall.
                let inside =
                    x.y > 0.049 && x.x > 0.049 && x.x < 3.951 && x.z > 0.049 && x.z < 0.951;
                assert!(inside, "1/{rate} s, step {step}: {x}");
            }
            if step % 10 == 0 {
                densest = densest.max(engine.quality().unwrap().compression.unwrap().mean);
            }
        }
        println!("1/{rate} s: {fastest} m/s at most, {:.2} % too dense", 100.0 * densest);
        assert_eq!((engine.world().particles().len(), engine.world().quarantined()), (count, 0));
        assert!(fastest < 15.0, "1/{rate} s: {fastest} m/s");
        assert!(densest < 0.03, "1/{rate} s: {densest}");
    }
}

#[test]
fn water_that_is_saved_in_the_middle_goes_on_alike() {
    let mut whole = engine(dam().build().unwrap());
    let steps = |engine: &mut Engine| (0..30).for_each(|_| _ = engine.step(1.0 / 60.0).unwrap());
    steps(&mut whole);
    let bytes = to_bytes("", whole.world()).unwrap();
    let mut resumed = engine(from_bytes("saved", &bytes).unwrap().world);
    let halfway = whole.world().hash();
    steps(&mut whole);
    steps(&mut resumed);
    assert_eq!(whole.world().hash(), resumed.world().hash());
    assert_ne!(whole.world().hash(), halfway);
}

/// How many of some particles of water that lie on a level cloth are below it after a while. All of the cloth
/// is pinned. A row of cells as wide as its spacing goes through it where the water is.
fn fallen_through(spacing: f32) -> usize {
    let (of_cloth, of_water) = (0.01f32, 0.012f32);
    let mut world = World::new();
    let columns = (0.5 / spacing) as u32;
    let half = 0.5 * spacing * (columns - 1) as f32;
    let cloth = Cloth {
        origin: Vec3::new(-half, 0.0, -half),
        columns,
        rows: columns,
        spacing,
        radius: of_cloth,
        ..Cloth::default()
    };
    let cloth = world.add_cloth(&cloth).unwrap();
    for &id in cloth.iter() {
        world.pin(id).unwrap();
    }
    let side = 0.1;
    let low = Vec3::new(-side, 0.5 * (of_cloth + of_water), -side);
    let region = FluidRegion::Box { low, high: Vec3::new(side, 0.1, side) };
    let water = world.add_fluid(&Fluid { region, radius: of_water, ..Fluid::default() }).unwrap();
    for normal in [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z] {
        let pose = Pose::from_translation(-normal * side);
        world.colliders.push(Collider::fixed(Shape::Plane { normal }, pose));
    }
    world.params.substeps = 8;
    let mut engine = engine(world);
    for _ in 0..60 {
        engine.step(1.0 / 60.0).unwrap();
    }
    let below = |&&id: &&ParticleId| engine.world().position(id).unwrap().y < -0.05;
    assert!(water.len() > 150, "{}", water.len());
    water.iter().filter(below).count()
}

/// Four particles of a cloth leave a way through that is spacing / sqrt(2) from each of them. A particle of water
/// goes through if that is more than the sum of the radii. (`docs/water.md`)
#[test]
fn cloth_holds_water_if_its_meshes_are_narrow() {
    let limit = 2f32.sqrt() * (0.01 + 0.012);
    let [narrow, wide] = [0.93, 1.07].map(|share| fallen_through(share * limit));
    println!("below the cloth: {narrow} of narrow meshes, {wide} of wide ones");
    assert_eq!(narrow, 0);
    assert!(wide > 100, "{wide}");
}

/// The scene's cloth holds all of it, and that with wide meshes nothing. (Its checks have no lower bound for what
/// goes through.)
#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimisation")]
fn a_sieve_lets_water_through() {
    let scene = Scene::load("wet_cloth:sieve").unwrap();
    let world = scene.build().unwrap();
    let mut checker = Checker::new(&scene, &world);
    let mut engine = engine(world);
    let mut came = 0;
    for _ in 0..scene.steps() {
        came += engine.step(scene.params().dt).unwrap().emitted;
        checker.observe(engine.world());
    }
    let results = checker.finish(engine.world());
    assert!(results.iter().all(|result| result.passed), "{results:#?}");
    let through = results.iter().find(|result| result.name == "particles_tunnelled").unwrap();
    assert!(came > 100 && through.value == came as f64, "{} of {came}", through.value);
}

/// A fluid fills what another one leaves free; where that is nothing, the message says what to do. A scene names
/// file, line and field.
#[test]
fn fluids_in_one_place_are_told_apart() {
    let text = |high: f32, more: &str| {
        format!(
            "[[fluid]]\nlow = [0, 0, 0]\nhigh = [0.2, 0.2, 0.2]\nradius = 0.01\n\
             [[fluid]]\nlow = [0, 0, 0]\nhigh = [0.2, {high}, 0.2]\nradius = 0.01\n{more}\n"
        )
    };
    let built = |text: &str| Scene::parse("s.toml", text, None, &[])?.build();
    let world = built(&text(0.4, "density = 700")).unwrap();
    assert_eq!(world.particles().len(), 2000, "twice as high, once the water");
    for (text, words) in [
        (text(0.1, ""), ["fluid.1.radius", "nothing of it is free"]),
        (text(0.4, "density = 0"), ["s.toml:9: fluid.1.density", "above 0"]),
        (
            text(0.4, "").replace("radius = 0.01\n[[", "radius = 0\n[["),
            ["s.toml:4: fluid.0.radius", "1e-6"],
        ),
        (text(0.4, "").replace("0.01\n[[", "1e-6\n[["), ["s.toml:1: fluid.0", "use fewer"]),
    ] {
        let Err(said) = built(&text) else { panic!("{text} is built") };
        let said = said.to_string();
        println!("{said}");
        assert!(words.iter().all(|word| said.contains(word)), "{words:?} are not in `{said}`");
    }
}
