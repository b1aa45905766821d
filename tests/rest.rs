//! What rests stays at rest: friction remembers where a contact took hold. Nothing sleeps here.
//!
//! These are short runs. In full, 60 s of simulated time and heaps of 20 000 grains, which takes
//! half an hour: `MOTES_LONG=1 cargo test --release --test rest -- --nocapture`.
//!
//! Without that memory friction could only take back what slipped in the same substep, and what was
//! left over added up: the heap went from 22.3 to 18.5 degrees between 4 and 20 s, the slab crept at
//! 1.3 mm/s, and the block turned by 8.7 degrees.

use glam::{DVec3, Vec3};
use motes::snapshot::{from_bytes, to_bytes};
use motes::world::collider::{Pose, Shape};
use motes::{
    Backend, Checker, Collider, Engine, Grains, Particle, ParticleId, Phase, Scene, Solver, World,
};

fn is_long() -> bool {
    std::env::var("MOTES_LONG").is_ok_and(|v| v == "1")
}

/// The time until which a run is watched, s.
fn until(short: f64) -> f64 {
    if is_long() { 60.0 } else { short }
}

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 1 }).unwrap()
}

/// A scene in which nothing sleeps, with these settings.
fn scene(text: &str, sets: &[&str]) -> World {
    let sets: Vec<String> = sets.iter().chain(&["sleeping=0"]).map(|s| s.to_string()).collect();
    Scene::parse("rest.toml", text, None, &sets).unwrap().build().unwrap()
}

fn run_until(engine: &mut Engine, time: f64) {
    let dt = engine.world().params.dt;
    while engine.world().time() < time - 1e-6 {
        engine.step(dt).unwrap();
    }
}

/// Places in order of id.
fn places(world: &World) -> Vec<DVec3> {
    let at = world.particles().positions();
    world.particles().slots_by_id().map(|slot| at[slot].truncate().as_dvec3()).collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The mean speed is next to nothing, and what the positions do in a step says the same.
fn is_at_rest(engine: &mut Engine, what: &str) {
    let (before, dt) = (places(engine.world()), engine.world().params.dt);
    engine.step(dt).unwrap();
    let moved = places(engine.world());
    let moves = before.iter().zip(&moved).map(|(x, y)| x.distance(*y) / f64::from(dt));
    let speeds = engine.world().particles().velocities().iter();
    let (told, done) = (mean(speeds.map(|v| f64::from(v.truncate().length()))), mean(moves));
    println!("{what}: mean speed {told:.7} m/s, positions moved at {done:.7} m/s");
    assert!(told < 1e-3 && done < 1e-3, "{what}: {told} m/s, in truth {done} m/s");
    assert!((told - done).abs() < 1e-4, "{what}: {told} m/s, in truth {done} m/s");
}

/// The angles of a heap at 4 s and in the end, degrees: as its scene measures it.
fn angles(spec: &str, sets: &[&str]) -> [f64; 2] {
    let sets: Vec<String> = sets.iter().chain(&["sleeping=0"]).map(|s| s.to_string()).collect();
    let scene = Scene::load_with(spec, &sets).unwrap();
    let world = scene.build().unwrap();
    let count = world.particles().len();
    let checker = Checker::new(&scene, &world);
    let mut engine = engine(world);
    let [early, late] = [4.0, until(10.0)].map(|time| {
        run_until(&mut engine, time);
        let results = checker.finish(engine.world());
        results.iter().find(|r| r.name == "slope_at_least").expect("a check of the slope").value
    });
    println!("{spec}, {count} grains: {early:.2} degrees at 4 s, {late:.2} at {} s", until(10.0));
    is_at_rest(&mut engine, spec);
    [early, late]
}

/// In the short run the column has 3 500 grains, as in `sand_heap:small`.
#[test]
fn heaps_keep_their_angle_and_more_friction_is_steeper() {
    let small = ["granular.0.origin=[-0.21, 0.02, -0.21]", "granular.0.counts=[18, 16, 18]"];
    let sets = if is_long() { &[][..] } else { &small };
    let [plain, rough] = ["sand_heap", "sand_heap:rough"].map(|spec| angles(spec, sets));
    for [early, late] in [plain, rough] {
        assert!((late - early).abs() < 0.5, "from {early} to {late} degrees");
    }
    for (plain, rough) in plain.into_iter().zip(rough) {
        assert!(rough > plain + 2.0, "{rough} degrees rough, {plain} plain");
    }
}

/// Where static friction is larger, contacts must not let go and take hold by turns while the solver
/// iterates: that alone kept a heap moving at 1 mm/s.
#[test]
fn a_heap_is_calm_where_static_friction_is_larger() {
    let sets = ["friction=0.4", "static_friction=0.5"];
    let [early, late] = angles("sand_heap:small", &sets);
    assert!((late - early).abs() < 0.1, "from {early} to {late} degrees");
}

/// A box 0.215 m wide with 4000 grains of 1 cm, about 35 layers.
const BOX: &str = r#"
    [params]
    substeps = 4
    iterations = 6
    friction = 0.5
    static_friction = 0.5
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

#[test]
fn grains_in_the_corners_of_a_box_do_not_climb() {
    let (wide, radius) = (0.215, 0.01);
    for (layers, scale) in [(12, "mass_scale=0"), (12, "mass_scale=0.4"), (40, "mass_scale=0.4")] {
        let counts = format!("granular.0.counts=[10, {layers}, 10]");
        let mut engine = engine(scene(BOX, &[scale, &counts]));
        run_until(&mut engine, 5.0);
        let before = places(engine.world());
        run_until(&mut engine, if is_long() { 55.0 } else { 10.0 });
        let after = places(engine.world());
        // Those whose centres are within a diameter of two walls.
        let at_wall = |x: f64| x.min(wide - x) < 2.0 * radius;
        let corners = before.iter().zip(&after).filter(|(x, _)| at_wall(x.x) && at_wall(x.z));
        let climbs: Vec<f64> = corners.map(|(x, y)| (y.y - x.y) / radius).collect();
        let most = climbs.iter().copied().fold(f64::MIN, f64::max);
        let what = format!("{layers} layers, {scale}");
        println!("{what}: {} grains in corners climbed {most:.4} r at most", climbs.len());
        assert!(climbs.len() > 30, "{}", climbs.len());
        assert!(most < 0.2, "{what}: climbed {most} r");
    }
}

/// 10 x 2 x 10 particles on a slope of 20 degrees.
const SLAB: &str = r#"
    [params]
    friction = 0.4
    static_friction = 0.5
    [[box]]
    counts = [10, 2, 10]
    spacing = 0.1
    mass = 0.1
    radius = 0.05
    center = [0.03420201433256688, 0.09396926207859084, 0]
    rotation = { axis = [0, 0, 1], degrees = -20 }
    compliance = 1e-6
    [[collider]]
    shape = "plane"
    normal = [0.34202014332566877, 0.9396926207859083, 0]
"#;

/// How far the middle has come down the slope of 20 degrees, m.
fn down_the_slope(world: &World) -> f64 {
    let slope = 20f64.to_radians();
    let along = DVec3::new(slope.cos(), -slope.sin(), 0.0);
    mean(places(world).iter().map(|x| x.dot(along)))
}

#[test]
fn a_slab_holds_on_a_slope_with_every_solver() {
    for &solver in Solver::ALL {
        let mut engine = engine(scene(SLAB, &[&format!("solver={solver}")]));
        run_until(&mut engine, 2.0);
        let before = down_the_slope(engine.world());
        run_until(&mut engine, until(10.0));
        let slipped = (down_the_slope(engine.world()) - before).abs() * 1e3;
        println!("{solver}: {slipped:.4} mm from 2 to {} s", until(10.0));
        assert!(slipped < 0.1, "{solver}: slipped {slipped} mm");
    }
}

#[test]
fn a_slab_slides_with_the_exact_acceleration() {
    let slope = 20f64.to_radians();
    let exact = 9.81 * (slope.sin() - 0.3 * slope.cos());
    for &solver in Solver::ALL {
        let less = ["friction=0.3", "static_friction=0.3", &format!("solver={solver}")];
        let mut engine = engine(scene(SLAB, &less));
        // x = a t²/2 from where it stood: so the second difference over whole seconds is a.
        let [x0, x1, x2] = [1.0, 2.0, 3.0].map(|time| {
            run_until(&mut engine, time);
            down_the_slope(engine.world())
        });
        let share = (x2 - 2.0 * x1 + x0) / exact;
        println!("{solver}: {share:.4} of the exact acceleration");
        assert!((share - 1.0).abs() < 0.02, "{solver}: {share} of the exact acceleration");
    }
}

/// Static friction is more than enough for 20 degrees, kinetic friction is not: what stands holds, and
/// what was pushed slides on, ever faster. (Under `jacobi` the slab is soft, bounces a little as it
/// lands, lets go and slides.)
#[test]
fn a_slab_that_was_pushed_slides_on_where_one_that_stands_holds() {
    let slope = 20f64.to_radians();
    let exact = 9.81 * (slope.sin() - 0.3 * slope.cos());
    for solver in [Solver::Seidel, Solver::Colored, Solver::Lockfree] {
        let sets = ["friction=0.3", "static_friction=0.5", &format!("solver={solver}")];
        let mut engine = engine(scene(SLAB, &sets));
        run_until(&mut engine, 2.0);
        let stood = down_the_slope(engine.world());
        run_until(&mut engine, 4.0);
        let slipped = (down_the_slope(engine.world()) - stood).abs() * 1e3;
        let push = Vec3::new(slope.cos() as f32, -slope.sin() as f32, 0.0);
        for id in engine.world().particles().ids().to_vec() {
            engine.world_mut().set_velocity(ParticleId(id), push).unwrap();
        }
        let [x0, x1, x2] = [5.0, 6.0, 7.0].map(|time| {
            run_until(&mut engine, time);
            down_the_slope(engine.world())
        });
        let share = (x2 - 2.0 * x1 + x0) / exact;
        println!("{solver}: stood within {slipped:.4} mm, then {share:.4} of the acceleration");
        assert!(slipped < 0.1, "{solver}: slipped {slipped} mm");
        assert!((share - 1.0).abs() < 0.02, "{solver}: {share} of the exact acceleration");
    }
}

/// A soft block of 8 x 8 x 8 particles.
const BLOCK: &str = r#"
    [params]
    damping = 1
    substeps = 8
    iterations = 20
    [[box]]
    counts = [8, 8, 8]
    spacing = 0.05
    center = [0, 0.2, 0]
    mass = 0.02
    radius = 0.025
    compliance = 1e-4
    volume_compliance = 1e-9
    [[collider]]
    shape = "plane"
"#;

/// How a body moved between two moments: its middle, m, and by how many degrees about each axis.
fn motion(before: &[DVec3], after: &[DVec3]) -> (f64, f64) {
    let middle = |at: &[DVec3]| at.iter().sum::<DVec3>() / at.len() as f64;
    let (old, new) = (middle(before), middle(after));
    let turn = |axis: DVec3| {
        let flat = |x: &DVec3, middle: DVec3| (*x - middle).reject_from_normalized(axis);
        let pairs = before.iter().map(|x| flat(x, old)).zip(after.iter().map(|x| flat(x, new)));
        let (sine, cosine) =
            pairs.fold((0.0, 0.0), |(s, c), (x, y)| (s + axis.dot(x.cross(y)), c + x.dot(y)));
        f64::atan2(sine, cosine).to_degrees().abs()
    };
    (old.distance(new), DVec3::AXES.map(turn).into_iter().fold(0.0, f64::max))
}

#[test]
fn a_soft_block_neither_creeps_nor_turns_with_any_solver() {
    for &solver in Solver::ALL {
        let mut engine = engine(scene(BLOCK, &[&format!("solver={solver}")]));
        run_until(&mut engine, 2.0);
        let before = places(engine.world());
        // All of it takes long; the default solver shows it for longer.
        let end = until(if solver == Solver::Colored { 10.0 } else { 4.0 });
        run_until(&mut engine, end);
        let (moved, turned) = motion(&before, &places(engine.world()));
        let moved = moved * 1e3;
        println!("{solver}: {moved:.4} mm and {turned:.5} degrees from 2 to {end} s");
        assert!(moved < 0.1 && turned < 0.05, "{solver}: {moved} mm, {turned} degrees");
        is_at_rest(&mut engine, &format!("block, {solver}"));
    }
}

/// A heap of 500 grains on rough ground, at rest.
fn heap(solver: Solver) -> Engine {
    let mut world = World::new();
    world.params.solver = solver;
    (world.params.substeps, world.params.iterations) = (8, 10);
    let floor = Shape::Plane { normal: Vec3::Y };
    world.colliders.push(Collider::fixed(floor, Pose::IDENTITY));
    let grains = Grains {
        origin: Vec3::new(-0.4, 0.06, -0.4),
        counts: [8; 3],
        spacing: 0.11,
        jitter: 0.2,
        ..Grains::default()
    };
    world.add_grains(&grains).unwrap();
    let mut engine = engine(world);
    run_until(&mut engine, 8.0);
    engine
}

/// A run that was saved and loaded goes on with the same bits: contacts hold on.
#[test]
fn a_heap_that_was_saved_goes_on_as_one_that_was_not() {
    for &solver in Solver::ALL {
        let mut one = heap(solver);
        is_at_rest(&mut one, &format!("heap, {solver}"));
        let bytes = to_bytes("heap", one.world()).unwrap();
        let mut other = engine(from_bytes("heap", &bytes).unwrap().world);
        for _ in 0..60 {
            one.step(1.0 / 60.0).unwrap();
            other.step(1.0 / 60.0).unwrap();
        }
        assert_eq!(one.world().hash(), other.world().hash(), "{solver}");
    }
}

/// The upper half is taken away. Nobody of the others leaves faster than a free fall, and most stay
/// where they are.
#[test]
fn what_is_left_of_a_heap_does_not_jump() {
    for &solver in Solver::ALL {
        let mut engine = heap(solver);
        let world = engine.world_mut();
        let mut ids: Vec<ParticleId> =
            world.particles().ids().iter().map(|&id| ParticleId(id)).collect();
        let height = |id: &ParticleId| world.position(*id).unwrap().y;
        ids.sort_by(|a, b| height(b).total_cmp(&height(a)));
        let (upper, lower) = ids.split_at(ids.len() / 2);
        world.remove_particles(upper).unwrap();
        let before = places(engine.world());
        engine.step(1.0 / 60.0).unwrap();
        let speeds = engine.world().particles().velocities().iter();
        let fastest = speeds.map(|v| v.truncate().length()).fold(0.0, f32::max);
        for _ in 1..120 {
            engine.step(1.0 / 60.0).unwrap();
        }
        let after = places(engine.world());
        assert_eq!(after.len(), lower.len());
        let mut moves: Vec<f64> =
            before.iter().zip(&after).map(|(x, y)| x.distance(*y) * 1e3).collect();
        moves.sort_by(f64::total_cmp);
        let (median, most) = (moves[moves.len() / 2], moves[moves.len() - 1]);
        println!(
            "{solver}: {fastest:.4} m/s at first; {median:.5} mm, {most:.3} mm at most in 2 s"
        );
        assert!(fastest < 9.81 / 60.0, "{solver}: {fastest} m/s");
        assert!(median < 0.1, "{solver}: {median} mm");
    }
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

/// Steps a world without gravity, and compares its momentum.
fn keeps_momentum(world: World, what: &str) {
    let (before, sizes) = momentum(&world);
    let energy = world.energy();
    let mut engine = engine(world);
    let mut worst = 0f64;
    for _ in 0..120 {
        engine.step(1.0 / 60.0).unwrap();
        worst = worst.max((momentum(engine.world()).0 - before).length() / sizes);
    }
    println!("{what}: off by {worst:.1e} of the sum of |m v|");
    assert!(worst < 1e-5, "{what}: off by {worst} of the sum of |m v|");
    assert!(engine.world().energy() < 0.95 * energy, "{what}: they did not meet");
}

fn weightless(solver: Solver) -> World {
    let mut world = World::new();
    world.params.solver = solver;
    world.params.gravity = Vec3::ZERO;
    world
}

#[test]
fn grains_that_collide_keep_their_momentum_with_every_solver() {
    for &solver in Solver::ALL {
        // Two of different mass, beside the line through their centres, so that they rub.
        let mut pair = weightless(solver);
        for (side, mass) in [(1.0f32, 0.1), (-1.0, 0.3)] {
            pair.add_particle(&Particle {
                position: Vec3::new(0.3, 0.03, 0.01) * side,
                velocity: Vec3::X * -side,
                mass,
                radius: 0.05,
                phase: Phase::group(if side > 0.0 { 1 } else { 2 }),
            })
            .unwrap();
        }
        keeps_momentum(pair, &format!("two grains, {solver}"));
        // 54 that fly into each other.
        let mut cluster = weightless(solver);
        for (side, seed, mass) in [(1.0f32, 1, 0.1), (-1.0, 2, 0.25)] {
            let grains = Grains {
                origin: Vec3::new(0.3 * side - 0.11, -0.11 + 0.02 * side, -0.11),
                counts: [3; 3],
                spacing: 0.11,
                jitter: 0.2,
                velocity: Vec3::new(-2.0 * side, 0.1, 0.0),
                mass,
                seed,
                ..Grains::default()
            };
            cluster.add_grains(&grains).unwrap();
        }
        keeps_momentum(cluster, &format!("54 grains, {solver}"));
    }
}
