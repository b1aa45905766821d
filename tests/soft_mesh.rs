//! Soft bodies of the voxels of meshes: who is joined, what they weigh, how they move, and how the
//! mesh that they wear follows them and tears.

use glam::{Quat, Vec3};
use motes::export::{Format, write_skins};
use motes::shape::mesh::TriangleMesh;
use motes::shape::solid::{Recipe, Solid};
use motes::snapshot::{from_bytes, to_bytes};
use motes::{Backend, Bond, Built, Engine, Kind, Lattice, Scene, SoftMesh, World};
use std::collections::BTreeSet;

fn load(name: &str) -> TriangleMesh {
    TriangleMesh::from_obj_bytes(name, Scene::builtin_mesh(name).unwrap()).unwrap().0
}

fn solid(mesh: &TriangleMesh, resolution: usize, merge: Option<f32>) -> Solid {
    Solid::of(mesh, &Recipe { merge, ..Recipe::new(resolution) }).unwrap()
}

fn body(name: &str, resolution: usize, soft: &SoftMesh) -> (World, Built, TriangleMesh) {
    let mesh = load(name);
    let mut world = World::new();
    let built = world.add_mesh(&mesh, &solid(&mesh, resolution, None), soft).unwrap();
    (world, built, mesh)
}

/// The pairs that edges join, and how many edges there are.
fn pairs(world: &World) -> (BTreeSet<[u32; 2]>, usize) {
    let set = world.distance();
    let pair = |k: usize| {
        let [a, b] = set.particles(k);
        [a.min(b), a.max(b)]
    };
    ((0..set.len()).map(pair).collect(), set.len())
}

/// Every pair within the diagonal of a voxel is joined, once, at the length it has; no other is.
#[test]
fn edges_reach_as_far_as_the_diagonal_of_a_cell() {
    let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.4, 1.0, -0.7);
    for (name, resolution) in [("rabbit", 14), ("torus", 12), ("cube", 5), ("trefoil", 18)] {
        let soft = SoftMesh { rotation: turn, position: Vec3::ONE, ..SoftMesh::default() };
        let (world, built, mesh) = body(name, resolution, &soft);
        let diagonal = 3f64.sqrt() * solid(&mesh, resolution, None).voxels.grid().edge();
        let p = world.particles().positions();
        let far = |a: usize, b: usize| f64::from(p[a].truncate().distance(p[b].truncate()));
        let mut expected = BTreeSet::new();
        for b in 0..built.len() {
            let near = (0..b).filter(|&a| far(a, b) < 1.001 * diagonal);
            expected.extend(near.map(|a| [a as u32, b as u32]));
        }
        let (joined, count) = pairs(&world);
        assert_eq!(joined, expected, "{name}");
        assert_eq!(joined.len(), count, "{name}: a pair is joined twice");
        for k in 0..count {
            let [a, b] = world.distance().particles(k).map(|slot| slot as usize);
            let off = f64::from(world.distance().rest()[k]) - far(a, b);
            assert!(off.abs() < 1e-6, "{name}: {off}");
        }
        println!("{name}: {} particles, {count} edges", built.len());
    }
}

/// Merged cubes are joined where they touch, once; volume and mass are those of the voxels.
#[test]
fn merged_cubes_are_joined_where_they_touch() {
    for (name, resolution) in [("cube", 12), ("sphere", 20), ("rabbit", 24)] {
        let mesh = load(name);
        let merged = solid(&mesh, resolution, Some(-2.0));
        assert!(merged.cubes.len() < merged.voxels.count(), "{name}: nothing was merged");
        let mut world = World::new();
        world.add_mesh(&mesh, &merged, &SoftMesh::default()).unwrap();
        let low = |k: usize| merged.cubes[k].low.map(u32::from);
        let high = |k: usize| low(k).map(|c| c + merged.cubes[k].width() as u32);
        let mut expected = BTreeSet::new();
        for b in 0..merged.cubes.len() {
            for a in 0..b {
                if (0..3).all(|k| low(a)[k] <= high(b)[k] && low(b)[k] <= high(a)[k]) {
                    expected.insert([a as u32, b as u32]);
                }
            }
        }
        let (joined, count) = pairs(&world);
        assert_eq!(joined, expected, "{name}");
        assert_eq!(joined.len(), count, "{name}: a pair is joined twice");
        let mass: f64 = world.particles().positions().iter().map(|p| 1.0 / f64::from(p.w)).sum();
        let exact = 1000.0 * merged.voxels.count() as f64 * merged.voxels.grid().edge().powi(3);
        assert!((mass / exact - 1.0).abs() < 1e-5, "{name}: {mass} kg, not {exact}");
        // It stands: a merged body is as good as any other.
        let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
        engine.world_mut().params.gravity = Vec3::ZERO;
        (0..10).for_each(|_| _ = engine.step(1.0 / 60.0).unwrap());
        let largest = engine.quality().unwrap();
        println!("{name}: {} cubes, {count} edges, {largest:?}", merged.cubes.len());
    }
}

/// A block of a mesh is a lattice of as many particles: both fall, hit the floor and come back alike.
#[test]
fn a_cube_of_a_mesh_moves_as_a_lattice_does() {
    let turn = Quat::from_rotation_x(0.4) * Quat::from_rotation_z(0.3);
    let (at, stretch) = (Vec3::new(0.0, 1.2, 0.0), Bond::compliant(1e-5));
    let soft = SoftMesh { position: at, rotation: turn, stretch, ..SoftMesh::default() };
    let (mut of_mesh, _, mesh) = body("cube", 6, &soft);
    let (low, high) = mesh.bounds().unwrap();
    let spacing = (high - low).max_element() / 6.0;
    let mut lattice = World::new();
    let (counts, radius, rotation) = ([6; 3], 0.5 * spacing, turn);
    let mass = 1000.0 * spacing.powi(3);
    let center = at + turn * low.midpoint(high);
    let block =
        Lattice { center, rotation, counts, spacing, mass, radius, stretch, ..Lattice::default() };
    lattice.add_lattice(&block).unwrap();
    assert_eq!(of_mesh.distance().rest().len(), lattice.distance().rest().len());
    let floor = "[[collider]]\nshape = \"plane\"\n[[granular]]\ncounts = [1, 1, 1]\nspacing = 1\n";
    let floor = Scene::parse("floor.toml", floor, None, &[]).unwrap().build().unwrap().colliders;
    of_mesh.colliders = floor.clone();
    lattice.colliders = floor;
    let run = |world: World| {
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        (0..60).for_each(|_| _ = engine.step(1.0 / 60.0).unwrap());
        engine.world().particles().positions().to_vec()
    };
    let (a, b) = (run(of_mesh), run(lattice));
    let off = a.iter().zip(&b).map(|(a, b)| a.truncate().distance(b.truncate()));
    let off = off.fold(0.0, f32::max);
    println!("farthest apart after a second: {off:.1e} m");
    // Both start from places that differ by roundings of 1e-7 m; seen: 1e-5 m or less.
    assert!(off < 1e-3, "{off}");
    let fell = a.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
    assert!(fell < 0.15, "it has met the floor: {fell}");
}

/// How far the skin is from the mesh in another place.
fn off(world: &World, body: &Built, mesh: &TriangleMesh, place: impl Fn(Vec3) -> Vec3) -> f32 {
    let skin = world.skin_mesh(body.object).unwrap().unwrap();
    let near = |v: &Vec3| {
        let to = place(*v);
        skin.vertices.iter().map(|s| s.distance(to)).fold(f32::INFINITY, f32::min)
    };
    mesh.vertices.iter().map(near).fold(0.0, f32::max)
}

#[test]
fn the_skin_is_the_mesh_and_goes_where_the_body_goes() {
    let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.5, -1.0, 2.0);
    let stretch = Vec3::new(1.3, 0.8, 1.1);
    for (name, resolution) in [("rabbit", 20), ("torus", 16), ("cube", 4), ("trefoil", 24)] {
        let soft = SoftMesh { position: Vec3::splat(3.0), ..SoftMesh::default() };
        let (mut world, built, mesh) = body(name, resolution, &soft);
        assert!(off(&world, &built, &mesh, |v| v + 3.0) < 1e-5, "{name} at rest");
        let skin = world.skin_mesh(built.object).unwrap().unwrap();
        assert!(skin.is_closed(), "{name}");
        let place = |v: Vec3| turn * (v * stretch) - 2.0;
        for &id in &built {
            let at = world.position(id).unwrap() - 3.0;
            world.set_position(id, place(at)).unwrap();
        }
        let far = off(&world, &built, &mesh, place);
        println!("{name}: {far:.1e} m off when it is turned and stretched");
        // A vertex that hangs on three particles keeps its height, which stretching would change.
        assert!(far < 0.05, "{name}: {far}");
    }
}

/// The longest side of a triangle of the skin.
fn longest(skin: &TriangleMesh) -> f32 {
    let side = |[a, b]: [u32; 2]| skin.vertices[a as usize].distance(skin.vertices[b as usize]);
    let sides = skin.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    sides.map(side).fold(0.0, f32::max)
}

/// Where a body was cut the skin is open, and each half keeps its own: when they are moved apart, no
/// triangle is drawn from one to the other. Without the cut there are such triangles.
#[test]
fn a_cut_opens_the_skin_and_nothing_hangs_between_the_halves() {
    for (name, resolution) in [("torus", 24), ("rabbit", 20), ("cube", 7)] {
        let (world, built, mesh) = body(name, resolution, &SoftMesh::default());
        let edge = solid(&mesh, resolution, None).voxels.grid().edge() as f32;
        // Between two layers of voxels, whichever number there is.
        let middle = mesh.bounds().map(|(low, high)| low.midpoint(high).x).unwrap() + 0.01 * edge;
        let before = world.skin_mesh(built.object).unwrap().unwrap();
        for cuts in [false, true] {
            let mut world = world.clone();
            if cuts {
                world.cut(Kind::Distance, |ends| (ends[0].x < middle) != (ends[1].x < middle));
            }
            for &id in &built {
                let at = world.position(id).unwrap();
                let far = if at.x < middle { Vec3::ZERO } else { Vec3::X * 5.0 };
                world.set_position(id, at + far).unwrap();
            }
            let worn = world.skin(built.object).unwrap().unwrap();
            let after = world.skin_mesh(built.object).unwrap().unwrap();
            let share = after.triangles.len() as f32 / before.triangles.len() as f32;
            if !cuts {
                let far = longest(&after);
                assert!(!worn.is_torn() && far > 10.0 * edge, "{name}: the control, {far}");
                continue;
            }
            println!("{name}: {:.1} % of the triangles are left", 100.0 * share);
            assert!(worn.is_torn() && longest(&after) < 2.0 * edge, "{name}: {}", longest(&after));
            assert!((0.75..1.0).contains(&share), "{name}: {share}");
            // Away from the cut the halves are as they were.
            let kept = after
                .vertices
                .iter()
                .zip(&before.vertices)
                .enumerate()
                .filter(|(k, _)| after.triangles.iter().flatten().any(|&v| v as usize == *k));
            for (_, (now, then)) in kept {
                let went = if now.x > middle + 2.5 { Vec3::X * 5.0 } else { Vec3::ZERO };
                let off = now.distance(*then + went);
                assert!(off < 0.6 * edge, "{name}: {then} is at {now}");
            }
        }
    }
}

/// What is removed takes its triangles with it, and what is left is whole.
#[test]
fn a_skin_outlives_removals_and_snapshots() {
    let (mut world, built, _) = body("rabbit", 16, &SoftMesh::default());
    let all = world.skin(built.object).unwrap().unwrap().triangles().len();
    let ears: Vec<_> =
        built.iter().copied().filter(|&id| world.position(id).unwrap().y > 0.1).collect();
    assert!(ears.len() > 10);
    world.remove_particles(&ears).unwrap();
    world.validate().unwrap();
    let left = world.skin_mesh(built.object).unwrap().unwrap();
    assert!(left.triangles.len() < all && !left.triangles.is_empty());
    let top = left.triangles.iter().flatten().map(|&v| left.vertices[v as usize].y);
    assert!(top.fold(f32::MIN, f32::max) < 0.2);
    let bytes = to_bytes("rabbit", &world).unwrap();
    let back = from_bytes("rabbit", &bytes).unwrap().world;
    assert_eq!(back, world);
    assert_eq!(back.skin_mesh(built.object).unwrap().unwrap(), left);
    let rest: Vec<_> = world.object(built.object).unwrap().particles().collect();
    world.remove_particles(&rest).unwrap();
    assert!(world.skin(built.object).unwrap().unwrap().triangles().is_empty());
}

/// It tears while it runs, whole steps and in any order of slots, and the skin is exported open.
#[test]
fn a_body_that_breaks_is_exported_open() {
    let weak = Bond { break_at: 0.1, ..Bond::compliant(1e-3) };
    let (mut world, built, mesh) =
        body("torus", 24, &SoftMesh { stretch: weak, ..SoftMesh::default() });
    world.params.gravity = Vec3::ZERO;
    for &id in &built {
        let x = world.position(id).unwrap().x;
        world.set_velocity(id, Vec3::X * if x < 0.0 { -30.0 } else { 30.0 }).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
    (0..30).for_each(|_| _ = engine.step(1.0 / 60.0).unwrap());
    assert!(engine.world().broken() > 50);
    assert!(write_skins(folder.path(), Format::Obj, engine.world()).unwrap());
    let (torn, report) = TriangleMesh::load_obj(folder.path().join("skin_000030.obj")).unwrap();
    let left = torn.triangles.len();
    println!("{left} triangles are left, {} edges are open", report.open_edges);
    assert!(report.open_edges > 20 && left > mesh.triangles.len() / 2);
    let plain = Scene::load("stairs").unwrap().build().unwrap();
    assert!(!write_skins(folder.path(), Format::Obj, &plain).unwrap(), "no meshes, no file");
}

#[test]
fn nonsense_is_refused_by_name() {
    let mesh = load("cube");
    let good = solid(&mesh, 4, None);
    let mut world = World::new();
    let mut says = |mesh: &TriangleMesh, solid: &Solid, soft: SoftMesh, word: &str| {
        let error = world.add_mesh(mesh, solid, &soft).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        assert_eq!(world.particles().len(), 0);
    };
    let usual = SoftMesh::default;
    says(&mesh, &good, SoftMesh { density: 0.0, ..usual() }, "mesh.density");
    says(&mesh, &good, SoftMesh { position: Vec3::NAN, ..usual() }, "mesh.position");
    says(&mesh, &good, SoftMesh { velocity: Vec3::INFINITY, ..usual() }, "mesh.velocity");
    says(
        &mesh,
        &good,
        SoftMesh { rotation: Quat::from_xyzw(1.0, 1.0, 0.0, 0.0), ..usual() },
        "rot",
    );
    let stretch = Bond { break_at: -1.0, ..Bond::default() };
    says(&mesh, &good, SoftMesh { stretch, ..usual() }, "mesh.stretch.break_at");
    let large = mesh.transformed(Vec3::splat(9.0), Quat::IDENTITY, Vec3::ZERO);
    says(&large, &good, usual(), "another mesh");
    says(&TriangleMesh::default(), &good, usual(), "mesh.triangles");
}
