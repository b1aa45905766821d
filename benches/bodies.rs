//! Finding neighbours among bodies of equal and of many sizes: the tables 6.4 to 6.7 of [J]. 125 boxes
//! of 12 x 12 x 12 voxels of 75 mm radius stand in a pile of 5 x 5 x 5, each turned a little; then the
//! same with merged voxels, and as free grains. `cargo bench --bench bodies` prints every structure and
//! every way through the tree of volumes, with two threads and the least of several lists, in some
//! minutes. `benches/runs/bodies.txt` holds its output.

use glam::{EulerRot, Quat, Vec3};
use motes::shape::mesh::TriangleMesh;
use motes::shape::solid::{Recipe, Solid};
use motes::world::{BroadPhase, BvhStart, BvhVolume, BvhWalk};
use motes::{Backend, Engine, Params, Particle, Pass, Phase, Scene, World};

const LISTS: usize = 7;
/// Boxes along each side of the pile, and voxels along each side of a box.
const PILE: u32 = 5;
const ACROSS: u16 = 12;
/// m.
const RADIUS: f32 = 0.075;

fn main() {
    if !std::env::args().any(|a| a == "--bench") {
        return println!("this is a bench: cargo bench --bench bodies");
    }
    println!("two threads, least of {LISTS} lists; ms\n");
    println!("| particles | structure | start | walk | volume | build | find | both | listed |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let worlds = [
        ("216 000 of rigid boxes", pile(None, Who::Bodies)),
        ("the same, own body not left out", pile(None, Who::SelfColliding)),
        ("153 000 merged", pile(Some(-2.0), Who::Bodies)),
        ("the same, own body not left out", pile(Some(-2.0), Who::SelfColliding)),
        ("216 000 free grains", pile(None, Who::Grains)),
    ];
    for (name, world) in &worlds {
        structures(name, world);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Who {
    /// Particles of one body do not meet.
    Bodies,
    /// They do: so the search must look into its own body, too.
    SelfColliding,
    /// There are no bodies.
    Grains,
}

fn pile(merge: Option<f32>, who: Who) -> World {
    let text = Scene::builtin_mesh("cube").expect("it is built in");
    let (mesh, _) = TriangleMesh::from_obj_bytes("cube", text).expect("a mesh");
    let (low, high) = mesh.bounds().expect("it has vertices");
    let edge = 2.0 * RADIUS * f32::from(ACROSS);
    let scale = Vec3::splat(edge / (high - low).x);
    let mesh = mesh.transformed(scale, Quat::IDENTITY, -low.midpoint(high) * scale);
    let recipe = Recipe { merge, ..Recipe::new(usize::from(ACROSS)) };
    let solid = Solid::of(&mesh, &recipe).expect("a solid");
    let grid = solid.voxels.grid();
    let mut world = World::new();
    // Lists are made, and nothing moves.
    world.params =
        Params { gravity: Vec3::ZERO, push_out: 0.0, substeps: 1, iterations: 1, ..world.params };
    let mut seed = 7u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    for k in 0..PILE.pow(3) {
        let cell = [k % PILE, k / PILE % PILE, k / PILE / PILE].map(|c| c as f32);
        let turn = Quat::from_euler(EulerRot::XYZ, 0.05 * random(), random(), 0.05 * random());
        let shift = Vec3::new(random(), 0.0, random()) * 0.2;
        let centre = Vec3::from(cell) * Vec3::new(1.35, 1.0, 1.35) * edge + shift;
        let phase = match who {
            Who::Bodies => Phase::group(world.new_group()),
            Who::SelfColliding => Phase::group(world.new_group()).self_colliding(),
            Who::Grains => Phase::group(1).self_colliding(),
        };
        for cube in &solid.cubes {
            let particle = Particle {
                position: centre + turn * cube.centre(grid),
                velocity: Vec3::ZERO,
                mass: 1.0,
                radius: cube.radius(grid),
                phase,
            };
            world.add_particle(&particle).expect("a particle");
        }
    }
    world
}

fn structures(name: &str, world: &World) {
    let usual = Params::default();
    for structure in [BroadPhase::Auto, BroadPhase::Grid, BroadPhase::Octree, BroadPhase::Bvh] {
        let found = least(world, Params { broad_phase: structure, ..world.params.clone() });
        let word = match structure {
            BroadPhase::Auto => format!("auto: {}", found.used),
            other => other.to_string(),
        };
        let [start, walk, volume] = match structure {
            BroadPhase::Bvh => {
                [usual.bvh_start.word(), usual.bvh_walk.word(), usual.bvh_volume.word()]
            }
            _ => [""; 3],
        };
        found.row(name, &word, start, walk, volume);
    }
    for &start in BvhStart::ALL {
        for &walk in BvhWalk::ALL {
            for &volume in BvhVolume::ALL {
                let found = least(
                    world,
                    Params {
                        broad_phase: BroadPhase::Bvh,
                        bvh_start: start,
                        bvh_walk: walk,
                        bvh_volume: volume,
                        ..world.params.clone()
                    },
                );
                found.row(name, "bvh", start.word(), walk.word(), volume.word());
            }
        }
    }
}

struct Found {
    used: BroadPhase,
    build: f64,
    find: f64,
    listed: usize,
}

impl Found {
    fn row(&self, name: &str, structure: &str, start: &str, walk: &str, volume: &str) {
        let Found { build, find, listed, .. } = self;
        let both = build + find;
        println!(
            "| {name} | {structure} | {start} | {walk} | {volume} | {build:.1} | {find:.1} | \
             {both:.1} | {listed} |"
        );
    }
}

fn least(world: &World, params: Params) -> Found {
    let mut world = world.clone();
    world.params = params;
    let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).expect("legal");
    let mut best: Option<Found> = None;
    for turn in 0..=LISTS {
        // Another margin asks for another list; this one is as wide as the default but for a hair.
        let hair = if turn % 2 == 0 { 0.0 } else { 1e-6 };
        engine.world_mut().params.margin = Params::default().margin + hair;
        let report = engine.step(1.0 / 60.0).expect("a step");
        assert!(report.list_builds > 0, "no list was made");
        let mut ms = [0.0; 2];
        for (pass, _, took) in report.passes.ran() {
            if pass.finds_neighbors() {
                ms[1] += took;
            } else if builds(pass) {
                ms[0] += took;
            }
        }
        let used = report.broad_phase.expect("something can touch");
        let found = Found { used, build: ms[0], find: ms[1], listed: report.listed };
        let is_better = best.as_ref().is_none_or(|b| found.build + found.find < b.build + b.find);
        // The first step also gives arrays their size.
        if turn > 0 && is_better {
            best = Some(found);
        }
    }
    best.expect("there were lists")
}

/// Whether a pass makes the structure that is searched.
fn builds(pass: Pass) -> bool {
    use Pass::*;
    matches!(
        pass,
        Bounds
            | GridCount
            | GridScan
            | GridSort
            | MortonCodes
            | RadixCount
            | RadixScan
            | RadixScatter
            | OctreeBuild
            | BvhBuild
            | BvhBoxes
    )
}
