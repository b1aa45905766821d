//! What a newcomer gets who sets no parameter: ropes, chains and cloth that hang as their springs say, a
//! cloth that folds without crossing itself, light things that carry heavy ones. (Piles: `tests/piles.rs`.)
//!
//! What no local sweep converges quickly, a long stiff bar, is reported instead.

use glam::{DVec3, IVec3, Vec3};
use motes::world::collider::{Pose, Shape};
use motes::{
    Backend, Bond, Cloth, Collider, Engine, Kind, Particle, ParticleId, Phase, Scene, World,
};
use std::collections::{HashMap, HashSet};

/// m/N.
const COMPLIANCE: f32 = 1e-3;

fn particle(position: Vec3, mass: f32, radius: f32, group: u32) -> Particle {
    Particle { position, velocity: Vec3::ZERO, mass, radius, phase: Phase::group(group) }
}

/// Damped, so that it hangs still in the end.
fn damped() -> World {
    let mut world = World::new();
    world.params.damping = 2.0;
    world
}

fn run(world: World, steps: u32) -> Engine {
    let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
    let dt = engine.world().params.dt;
    for _ in 0..steps {
        engine.step(dt).unwrap();
    }
    engine
}

/// 40 links of 5 cm with 10 g at each end, from the origin along a direction.
fn links(world: &mut World, along: Vec3) -> Vec<ParticleId> {
    let place = |k: usize| particle(along * (0.05 * k as f32), 0.01, 0.01, 1);
    let ids: Vec<_> = (0..=40).map(|k| world.add_particle(&place(k)).unwrap()).collect();
    for pair in ids.windows(2) {
        world.add_distance(pair[0], pair[1], None, &Bond::compliant(COMPLIANCE)).unwrap();
    }
    world.pin(ids[0]).unwrap();
    ids
}

#[test]
fn a_chain_hangs_as_long_as_its_springs_say() {
    let mut world = damped();
    let ids = links(&mut world, -Vec3::Y);
    let engine = run(world, 600);
    // Link k carries 40 - k weights: 820 in all.
    let exact = f64::from(COMPLIANCE) * 0.01 * 9.81 * 820.0;
    let longer = -f64::from(engine.world().position(ids[40]).unwrap().y) - 2.0;
    println!("chain: {} of exact", longer / exact);
    assert!((longer / exact - 1.0).abs() < 0.15, "{longer} instead of {exact}");
}

/// How far the middle of the rope hangs below its ends, from the forces alone: the horizontal one is the
/// same in all links, the vertical one grows by a weight from link to link.
fn exact_sag() -> f64 {
    let across = |pull: f64| -> (f64, f64) {
        let (mut width, mut deep) = (0.0, 0.0);
        for k in 0..20 {
            let down = (19.5 - f64::from(k)) * 0.01 * 9.81;
            let force = pull.hypot(down);
            let length = 0.05 + f64::from(COMPLIANCE) * force;
            width += pull / force * length;
            deep += down / force * length;
        }
        (width, deep)
    };
    let (mut low, mut high) = (1e-6, 1e6);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if across(middle).0 < 1.0 { low = middle } else { high = middle }
    }
    across(low).1
}

#[test]
fn a_rope_sags_as_its_springs_say() {
    let mut world = damped();
    let ids = links(&mut world, Vec3::X);
    world.pin(ids[40]).unwrap();
    let engine = run(world, 600);
    let sag = -f64::from(engine.world().position(ids[20]).unwrap().y);
    println!("rope: {} of exact ({})", sag / exact_sag(), exact_sag());
    assert!((sag / exact_sag() - 1.0).abs() < 0.15, "{sag} instead of {}", exact_sag());
}

/// Where the edges of a new world come to rest as springs, in f64, by letting them swing with damping: independent of
/// the engine's solvers.
fn at_rest(world: &World) -> Vec<DVec3> {
    let particles = world.particles();
    let mut at: Vec<DVec3> =
        particles.positions().iter().map(|p| p.truncate().as_dvec3()).collect();
    let weight: Vec<f64> = particles.positions().iter().map(|p| f64::from(p.w)).collect();
    let rows = world.rows(Kind::Distance).unwrap();
    let springs: Vec<_> = (0..rows.len())
        .map(|i| {
            let [a, b] = [0, 1].map(|k| rows.slots(i).nth(k).unwrap() as usize);
            (a, b, at[a].distance(at[b]))
        })
        .collect();
    let heaviest = weight.iter().copied().fold(0.0, f64::max);
    // Twelve springs at most pull at a particle.
    let h = 0.5 / (12.0 / f64::from(COMPLIANCE) * heaviest).sqrt();
    let mut speed = vec![DVec3::ZERO; at.len()];
    for _ in 0..40_000 {
        let mut force = vec![DVec3::ZERO; at.len()];
        for &(a, b, rest) in &springs {
            let d = at[a] - at[b];
            let pull = d * ((1.0 - rest / d.length()) / f64::from(COMPLIANCE));
            force[a] -= pull;
            force[b] += pull;
        }
        for i in 0..at.len() {
            if weight[i] > 0.0 {
                speed[i] = (speed[i] + (force[i] * weight[i] - DVec3::Y * 9.81) * h) * 0.999;
                at[i] += speed[i] * h;
            }
        }
    }
    at
}

#[test]
fn a_hung_cloth_stretches_as_its_springs_say() {
    let mut world = damped();
    let soft = Bond::compliant(COMPLIANCE);
    let (across, columns, rows) = (-Vec3::Y, 30, 30);
    let cloth = Cloth { across, columns, rows, stretch: soft, shear: soft, ..Cloth::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    for &id in &ids[..30] {
        world.pin(id).unwrap();
    }
    let lowest = 29 * 30 + 15;
    // Ids count up with slots in a new world.
    let exact = -at_rest(&world)[lowest].y - 29.0 * f64::from(cloth.spacing);
    let engine = run(world, 600);
    let y = f64::from(engine.world().position(ids[lowest]).unwrap().y);
    let longer = -y - 29.0 * f64::from(cloth.spacing);
    println!("cloth: {} of exact ({exact})", longer / exact);
    assert!((longer / exact - 1.0).abs() < 0.15, "{longer} instead of {exact}");
}

/// A bar of 21 x 4 x 4 particles that is held at one end: no sweep from neighbour to neighbour converges
/// here with few iterations, so the engine says so.
#[test]
fn a_bar_that_is_not_solved_is_told_of() {
    let text = "[params]\ndamping = 3.0\n[[box]]\nname = \"bar\"\ncounts = [21, 4, 4]\n\
                spacing = 0.05\nmass = 0.001\nradius = 0.02\ncompliance = 1e-4\npin = [\"left\"]\n";
    let world = Scene::parse("bar.toml", text, None, &[]).unwrap().build().unwrap();
    let mut engine = run(world, 300);
    let heights = engine.positions().iter().map(|p| f64::from(p.y));
    let sag = -heights.sum::<f64>() / engine.positions().len() as f64;
    let quality = engine.quality().unwrap();
    let advice = quality.advice(&engine.world().params);
    println!("bar: sinks by {sag} m in the mean, 0.0036855 when solved; {quality:?} {advice:?}");
    assert!(sag > 0.006, "it is solved after all: {sag}");
    assert!(advice.iter().any(|words| words.contains("substeps")), "{advice:?}");
}

/// A cloth of 60 x 60 falls on its edge and folds. Nothing crosses, looked at four times a second.
#[test]
fn a_cloth_folds_without_crossing_itself() {
    let text = "[[cloth]]\norigin = [-0.4425, 0.935, 0]\nalong = [1, 0, 0]\nacross = [0.05, -1, 0.08]\n\
                columns = 60\nrows = 60\nspacing = 0.015\nradius = 0.0075\narea_density = 0.2\n\
                self_collide = true\nbend_compliance = 1e4\n[[collider]]\nshape = \"plane\"\n";
    let world = Scene::parse("fold.toml", text, None, &[]).unwrap().build().unwrap();
    let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
    for _ in 0..8 {
        for _ in 0..15 {
            engine.step(1.0 / 60.0).unwrap();
        }
        let time = engine.world().time();
        assert_eq!(crossings(engine.world(), 60), 0, "at {time:.2} s");
    }
    let top = engine.positions().iter().map(|p| p.y).fold(0.0, f32::max);
    assert!(top < 0.2, "it has not folded: {top} m");
}

/// How many sides of a square cloth go through its triangles.
fn crossings(world: &World, n: usize) -> usize {
    let particles = world.particles();
    let at: Vec<DVec3> = particles
        .slots_by_id()
        .map(|slot| particles.positions()[slot].truncate().as_dvec3())
        .collect();
    let (mut triangles, mut sides) = (Vec::new(), Vec::new());
    for k in 0..n * n {
        let (more_columns, more_rows) = (k % n + 1 < n, k / n + 1 < n);
        sides.extend(more_columns.then_some([k, k + 1]));
        sides.extend(more_rows.then_some([k, k + n]));
        if more_columns && more_rows {
            triangles.extend([[k, k + 1, k + n], [k + 1, k + n + 1, k + n]]);
        }
    }
    let cell = |x: DVec3| -> IVec3 { (x / 0.02).floor().as_ivec3() };
    let cells = |points: &[DVec3]| {
        let low = cell(points.iter().copied().reduce(DVec3::min).unwrap());
        let high = cell(points.iter().copied().reduce(DVec3::max).unwrap());
        let along = move |x: i32| (low.y..=high.y).map(move |y| (x, y));
        let plane = (low.x..=high.x).flat_map(along);
        plane.flat_map(move |(x, y)| (low.z..=high.z).map(move |z| IVec3::new(x, y, z)))
    };
    let mut grid: HashMap<IVec3, Vec<usize>> = HashMap::new();
    for (t, triangle) in triangles.iter().enumerate() {
        for cell in cells(&triangle.map(|k| at[k])) {
            grid.entry(cell).or_default().push(t);
        }
    }
    let crossed = |side: &[usize; 2]| -> usize {
        let mut seen = HashSet::new();
        let near = cells(&side.map(|k| at[k])).filter_map(|cell| grid.get(&cell)).flatten();
        near.filter(|&&t| {
            let corners = triangles[t];
            !side.iter().any(|k| corners.contains(k))
                && seen.insert(t)
                && goes_through(side.map(|k| at[k]), corners.map(|k| at[k]))
        })
        .count()
    };
    sides.iter().map(crossed).sum()
}

/// Whether a line from end to end goes through a triangle.
fn goes_through([from, to]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> bool {
    let normal = (b - a).cross(c - a);
    let (above, below) = (normal.dot(from - a), normal.dot(to - a));
    if above * below >= 0.0 {
        return false;
    }
    let at = from + (to - from) * (above / (above - below));
    [(a, b), (b, c), (c, a)].iter().all(|&(p, q)| normal.dot((q - p).cross(at - p)) >= 0.0)
}

/// A ball of a cloth particle's own weight, and one ten times as heavy, fall on a cloth that is held all
/// around.
#[test]
fn a_cloth_holds_a_ball() {
    for mass in [0.0002, 0.002] {
        let mut world = World::new();
        let (columns, rows, spacing) = (30, 30, 0.02);
        let origin = Vec3::new(-0.29, 0.0, -0.29);
        let cloth = Cloth {
            origin,
            columns,
            rows,
            spacing,
            radius: 0.01,
            mass: 0.0002,
            ..Cloth::default()
        };
        let ids = world.add_cloth(&cloth).unwrap();
        for k in 0..30 {
            for i in [k, 30 * k, 30 * k + 29, 29 * 30 + k] {
                world.pin(ids[i]).unwrap();
            }
        }
        let ball = particle(Vec3::new(0.003, 0.3, 0.002), mass, 0.03, 9);
        let ball = world.add_particle(&ball).unwrap();
        let mut engine = run(world, 300);
        let y = engine.world().position(ball).unwrap().y;
        let overlap = engine.quality().unwrap().overlap;
        assert!(y > -0.05, "{mass} kg: the ball is at {y} m");
        assert!(overlap < 0.1, "{mass} kg: overlap by {overlap} of a radius");
    }
}

/// A ball a hundred times as heavy as each of the four that it lies on.
#[test]
fn a_hundred_to_one_stands() {
    let mut world = World::new();
    world.colliders.push(Collider::fixed(Shape::Plane { normal: Vec3::Y }, Pose::IDENTITY));
    let r = 0.05;
    for (k, (x, z)) in [(-r, -r), (r, -r), (-r, r), (r, r)].into_iter().enumerate() {
        world.add_particle(&particle(Vec3::new(x, r, z), 0.01, r, 1 + k as u32)).unwrap();
    }
    let high = r + r * 2f32.sqrt();
    let ball = world.add_particle(&particle(Vec3::Y * high, 1.0, r, 9)).unwrap();
    let mut engine = run(world, 180);
    let y = engine.world().position(ball).unwrap().y;
    let overlap = engine.quality().unwrap().overlap;
    println!("100 : 1: at {y} of {high} m, overlap {overlap} of a radius");
    assert!(y > 0.95 * high && overlap < 0.15, "{y} of {high} m, overlap {overlap}");
}
