//! Every pass by its name: what it takes for one particle, pair or constraint, with one worker and
//! two. `cargo bench --bench passes`, with `-- NAME` only those whose name has that in it.
//!
//! The times are those of step reports, on worlds that make each pass work; the least of several
//! steps counts. `tests/mirror.rs` sees to it that no pass is missing here.

mod worlds;

use On::*;
use Per::*;
use glam::Vec3;
use motes::pass::{PASSES, PassInfo};
use motes::world::collider::{Pose, Shape};
use motes::world::{Acceleration, BroadPhase};
use motes::{
    Backend, Body, BodyShape, Bond, Engine, Kind, Particle, Pass, Phase, Scene, Solver, StepReport,
    World,
};
use worlds::{breakable, cube, listed_pairs, machine, settled};

/// What a pass is timed on.
#[derive(Clone, Copy, PartialEq, Debug)]
enum On {
    /// 9 000 grains at rest in a box, their neighbours found by each structure, ...
    Grid,
    Octree,
    Bvh,
    Brute,
    /// ... or solved by averaging.
    Jacobi,
    /// A stretched cloth of 100 x 100 with hinges that may break, a thousand particles held.
    Cloth,
    /// A flag of 160 x 100 in gusts.
    Flag,
    /// A cloth of 100 x 100 that comes to rest on the rabbit.
    Draped,
    /// A thousand rigid boxes of 6 particles a side that turn in free fall.
    Boxes,
    /// A hundred of them side by side on a floor.
    Landed,
    /// A hundred on a floor, in stacks of five.
    Stacked,
    /// 10 000 particles of water in a tank.
    Dam,
    /// A cube of 20 particles a side.
    Cube,
    /// That cube with rows of a kind that neither it nor the cloth has.
    Rows(Kind),
}

/// What its time is divided by.
#[derive(Clone, Copy, Debug)]
enum Per {
    Particle,
    Pair,
    Constraint,
    Of(Kind),
    Call,
}

/// Every pass but those that solve a kind of constraint: [`benches`] has these from the table of
/// kinds.
const BENCHES: &[(&str, On, Per)] = &[
    ("break_constraints", Cloth, Constraint),
    ("sort_particles", Grid, Particle),
    ("catch_wind", Flag, Particle),
    ("predict", Grid, Particle),
    ("body_predict", Boxes, Particle),
    ("bounds", Grid, Particle),
    ("remember_contacts", Grid, Pair),
    ("grid_count", Grid, Particle),
    ("grid_scan", Grid, Call),
    ("grid_sort", Grid, Particle),
    ("morton_codes", Octree, Particle),
    ("radix_count", Octree, Particle),
    ("radix_scan", Octree, Call),
    ("radix_scatter", Octree, Particle),
    ("octree_build", Octree, Particle),
    ("bvh_build", Bvh, Particle),
    ("bvh_boxes", Bvh, Particle),
    ("find_neighbors_grid", Grid, Particle),
    ("find_neighbors_octree", Octree, Particle),
    ("find_neighbors_bvh", Bvh, Particle),
    ("find_neighbors_brute", Brute, Particle),
    ("color_contacts", Grid, Pair),
    ("collide_environment", Grid, Particle),
    ("restitution", Grid, Pair),
    ("anchor_contacts", Grid, Pair),
    ("collide_points", Draped, Particle),
    ("fluid_normals", Dam, Particle),
    ("fluid_cohesion", Dam, Particle),
    ("solve_contacts", Grid, Pair),
    ("apply_deltas", Jacobi, Particle),
    ("solve_environment", Grid, Particle),
    ("solve_points", Draped, Particle),
    ("density_lambda", Dam, Particle),
    ("density_delta", Dam, Particle),
    ("shape_moments", Boxes, Particle),
    ("shape_rotation", Boxes, Particle),
    ("shape_apply", Boxes, Particle),
    ("accelerate", Cloth, Particle),
    ("body_walls", Landed, Particle),
    ("body_pairs", Stacked, Particle),
    ("body_contacts", Stacked, Particle),
    ("color_bodies", Stacked, Call),
    ("solve_bodies", Stacked, Particle),
    ("place_bodies", Landed, Particle),
    ("update_velocity", Grid, Particle),
    ("body_velocity", Boxes, Particle),
    ("fluid_curls", Dam, Particle),
    ("fluid_vorticity", Dam, Particle),
    ("fluid_viscosity", Dam, Particle),
    ("sleep", Grid, Particle),
    ("rebase", Grid, Particle),
];

/// Steps of a run, after some that make lists and memory; enough for particles to be sorted anew.
const STEPS: u32 = 80;
const WARM: u32 = 5;
/// Numbers of workers compared.
const TEAMS: [usize; 2] = [1, 2];

/// What each pass is timed on, in the order of a step.
fn benches() -> Vec<(Pass, On, Per)> {
    let worlds = [Cloth, Cube].map(|on| (on, stage(on, &World::new())));
    let bench = |info: &PassInfo| match Kind::solved_by(info.pass) {
        Some(kind) => {
            let with_rows = worlds.iter().find(|(_, world)| world.count(kind) > 0);
            (info.pass, with_rows.map_or(Rows(kind), |(on, _)| *on), Of(kind))
        }
        None => {
            let row = BENCHES.iter().find(|(name, ..)| *name == info.name);
            let (_, on, per) = *row.expect("a row of BENCHES");
            (info.pass, on, per)
        }
    };
    PASSES.iter().map(bench).collect()
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if !args.iter().any(|a| a == "--bench") {
        return println!("this is a bench: cargo bench --bench passes");
    }
    let filter = args.iter().find(|a| !a.starts_with('-')).map_or("", String::as_str);
    println!("{}\n", machine());
    println!("| pass | on | calls a step | ns per | 1 thread | 2 threads |");
    println!("|---|---|---|---|---|---|");
    let (pile, _) = settled("grains_box:small", 300, 0);
    let mut benches = benches();
    benches.retain(|(pass, ..)| pass.name().contains(filter));
    let mut stages: Vec<On> = Vec::new();
    for (_, on, _) in &benches {
        if !stages.contains(on) {
            stages.push(*on);
        }
    }
    for on in stages {
        let world = stage(on, &pile);
        let [one, two] = TEAMS.map(|threads| least(&world, threads));
        for &(pass, _, per) in benches.iter().filter(|(_, o, _)| *o == on) {
            let (name, items) = (pass.name(), items(per, &world) as f64);
            let ns = |ms: &[(u32, f64)]| ms[pass as usize].1 * 1e6 / items;
            let calls = one[pass as usize].0;
            assert!(calls > 0, "{name} did not run on {on:?}");
            let per = match per {
                Of(kind) => kind.to_string(),
                per => format!("{per:?}").to_lowercase(),
            };
            println!("| `{name}` | {on:?} | {calls} | {per} | {:.2} | {:.2} |", ns(&one), ns(&two));
        }
    }
}

/// The world of a stage.
fn stage(on: On, pile: &World) -> World {
    match on {
        Cloth => {
            let mut world = breakable();
            world.params.acceleration = Acceleration::Chebyshev;
            for id in (0..1000).map(|i| motes::ParticleId(i * 10)) {
                let at = world.position(id).expect("there");
                world.drag(id, at, 1e-3).expect("legal");
            }
            world
        }
        Boxes => {
            let mut world = World::new();
            let shape = BodyShape::block([6; 3], 0.15, 1000.0).expect("legal");
            for k in 0..1000 {
                let place = Vec3::new((k % 10) as f32, (k / 10 % 10) as f32, (k / 100) as f32);
                let body = Body { spin: Vec3::Y, ..Body::rigid(place * 2.0) };
                world.add_body(&shape, &body).expect("legal");
            }
            world
        }
        Landed | Stacked => {
            let mut world = World::new();
            let shape = BodyShape::block([6; 3], 0.15, 1000.0).expect("legal");
            let floors = if on == Stacked { 5 } else { 1 };
            for k in 0..100 {
                let (stack, floor) = (k / floors, k % floors);
                let (x, z) = (2 * (stack % 10), 2 * (stack / 10));
                let place = Vec3::new(x as f32, 0.46 + 0.91 * floor as f32, z as f32);
                world.add_body(&shape, &Body::rigid(place)).expect("legal");
            }
            let floor = Shape::Plane { normal: Vec3::Y };
            world.colliders.push(motes::Collider::fixed(floor, Pose::IDENTITY));
            world
        }
        Flag => {
            let large = ["cloth.0.columns=160", "cloth.0.rows=100"].map(String::from);
            Scene::load_with("flag", &large).and_then(|flag| flag.build()).expect("legal")
        }
        Draped => {
            let mut world = World::new();
            let cloth = motes::Cloth {
                columns: 100,
                rows: 100,
                spacing: 0.015,
                radius: 0.01,
                origin: Vec3::new(-0.75, 0.75, -0.75),
                ..motes::Cloth::default()
            };
            world.add_cloth(&cloth).expect("legal");
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/meshes/rabbit.obj");
            let (mesh, _) = motes::shape::mesh::TriangleMesh::load_obj(path).expect("a mesh");
            let shape = Shape::mesh(mesh, true, 0.0).expect("legal");
            world.colliders.push(motes::Collider::fixed(shape, Pose::IDENTITY));
            world
        }
        Dam => Scene::load("dam_break").and_then(|dam| dam.build()).expect("legal"),
        Cube => cube(),
        Rows(kind) => {
            let mut world = cube();
            let ids: Vec<_> = (0..world.particles().len() as u64).map(motes::ParticleId).collect();
            for particles in ids.chunks_exact(kind.corners()) {
                world.add_constraint(kind, particles, None, &Bond::default()).expect("legal");
            }
            world
        }
        Grid | Octree | Bvh | Brute | Jacobi => {
            let mut world = pile.clone();
            world.params.restitution = 0.1;
            world.params.broad_phase = match on {
                Octree => BroadPhase::Octree,
                Bvh => BroadPhase::Bvh,
                Brute => BroadPhase::Brute,
                _ => BroadPhase::Grid,
            };
            if on == Jacobi {
                world.params.solver = Solver::Jacobi;
            }
            world
        }
    }
}

fn items(per: Per, world: &World) -> usize {
    match per {
        Particle => world.particles().len(),
        Pair => listed_pairs(world),
        Constraint => world.constraint_count() - world.pins().len(),
        Of(kind) => world.count(kind),
        Call => 1,
    }
}

/// By pass: calls a step, and the least ms that going once over all its items took.
fn least(world: &World, threads: usize) -> Vec<(u32, f64)> {
    let mut world = world.clone();
    // One grain above the pile, moved between steps: then lists are made in each.
    let lone = (!world.colliders.is_empty()).then(|| {
        let grain = Particle {
            position: Vec3::new(0.1, 1.0, 0.1),
            velocity: Vec3::ZERO,
            mass: 0.01,
            radius: world.particles().radii()[0],
            phase: Phase::group(world.new_group()),
        };
        world.add_particle(&grain).expect("legal")
    });
    let dt = world.params.dt;
    let mut engine = Engine::new(world, Backend::Cpu { threads }).expect("legal");
    let mut least = vec![(0, f64::INFINITY); Pass::COUNT];
    for step in 0..WARM + STEPS {
        if let Some(lone) = lone {
            let to = Vec3::new(0.1, 1.0 + 0.1 * (step % 2) as f32, 0.1);
            let world = engine.world_mut();
            world.set_position(lone, to).expect("legal");
            world.set_velocity(lone, Vec3::ZERO).expect("legal");
        }
        let report = engine.step(dt).expect("legal");
        for (pass, calls, ms) in report.passes.ran().filter(|_| step >= WARM) {
            let (seen, best) = &mut least[pass as usize];
            *seen = calls;
            *best = best.min(ms / f64::from(rounds(report, pass, calls)));
        }
    }
    least
}

/// How often a step went over all items of a pass: a call of a coloured sweep is one colour.
fn rounds(report: &StepReport, pass: Pass, calls: u32) -> u32 {
    match Kind::solved_by(pass) {
        Some(_) => report.iterations,
        None => calls,
    }
}
