//! Cloth against the points of meshes: `collide_points` and `solve_points`. Lists must have the same
//! contacts in the same order.

use super::particles::{Random, unnoticed};
use super::{Close, assert_floats, compare, saying, sides};
use glam::{Quat, Vec3};
use motes::pass::Buffer;
use motes::shape::mesh::TriangleMesh;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from};
use motes::vulkan::layout::state::STATE;
use motes::world::collider::{Keyframe, Pose, Shape};
use motes::{Backend, Cloth, Collider, Dispatch, Engine, Grains, Pass, Solver, World};

/// Words of an entry: two slots, nine numbers, the collider, whether the vertex is passed.
const WORDS: usize = 13;

fn ours(dispatch: &Dispatch) -> bool {
    matches!(dispatch.pass, Pass::CollidePoints | Pass::SolvePoints)
}

fn state(outcome: &Outcome, side: usize, name: &str) -> u32 {
    let (_, at) = STATE.iter().find(|(word, _)| *word == name).unwrap();
    outcome.state[side][*at]
}

/// The lists of all particles.
fn lists(words: &[u32], particles: usize) -> Vec<Vec<[u32; WORDS]>> {
    let list = |i: usize| {
        let (first, length) = (words[2 * i] as usize, words[2 * i + 1] as usize);
        let entry = |e: usize| words[2 * particles + WORDS * e..][..WORDS].try_into().unwrap();
        (first..first + length).map(entry).collect()
    };
    (0..particles).map(list).collect()
}

/// Compares lists; returns how many contacts there are, and how many are passed.
fn judge_lists(outcome: &Outcome) -> [usize; 2] {
    for word in ["s_overflow_points", "s_gave_up"] {
        assert_eq!(state(outcome, 2, word), 0, "{word}");
    }
    let words = outcome.of(Buffer::PointContacts);
    let n = outcome.particles;
    let (cpu, device) = (lists(&words.cpu, n), lists(&words.device, n));
    // A height over a triangle takes a root and a quotient, a time and the shares there more quotients;
    // each may be off by some units in the last place, of lengths of up to some metres.
    let close = Close::Within { absolute: 1e-5, relative: 1e-5 };
    let (mut count, mut passed) = (0, 0);
    for (i, (a, b)) in cpu.iter().zip(&device).enumerate() {
        assert_eq!(a.len(), b.len(), "{}: contacts of {i}", outcome.dispatch);
        for (a, b) in a.iter().zip(b) {
            let whole = |e: &[u32; WORDS]| [e[0], e[1], e[11], e[12]];
            assert_eq!(whole(a), whole(b), "{}: a contact of {i}", outcome.dispatch);
            for k in 2..11 {
                let [x, y] = [a[k], b[k]].map(f32::from_bits);
                assert!(close.holds(x, y), "{}: {i}, word {k}: {x}, {y}", outcome.dispatch);
            }
            count += 1;
            passed += a[12] as usize;
        }
    }
    let used = [1, 2].map(|side| state(outcome, side, "s_points_used"));
    assert_eq!(used, [count as u32; 2], "counted");
    [count, passed]
}

fn judge(outcome: &Outcome) {
    if outcome.dispatch.pass == Pass::CollidePoints {
        judge_lists(outcome);
    } else {
        // Friction takes a root and a quotient, shares and means are quotients; of moves of some cm.
        let close = Close::Within { absolute: 2e-7, relative: 1e-6 };
        saying("roots and quotients", || {
            assert_floats(outcome, Buffer::Predicted, close);
        });
    }
    let stirred = [1, 2].map(|side| state(outcome, side, "s_points_stirred"));
    assert_eq!(stirred[0], stirred[1], "{}: somebody was moved", outcome.dispatch);
}

/// Points of any kind: a mesh of spikes, every second of which is turned down.
fn spikes(count: u32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for k in 0..count {
        let at = Vec3::new((k % 4) as f32 * 0.13 - 0.2, 0.0, (k / 4) as f32 * 0.11 - 0.2);
        let tip = if k % 2 == 0 { Vec3::Y * 0.1 } else { Vec3::new(0.01, -0.1, 0.02) };
        let first = mesh.vertices.len() as u32;
        let base = [Vec3::X, Vec3::Z, -Vec3::X - Vec3::Z].map(|v| at + v * 0.02);
        mesh.vertices.extend(base);
        mesh.vertices.push(at + tip);
        let sides = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]];
        // Outside is outside.
        let turn = |[a, b, c]: [u32; 3]| if k % 2 == 0 { [a, b, c] } else { [a, c, b] };
        mesh.triangles.extend(sides.map(|t| turn(t.map(|v| first + v))));
    }
    mesh
}

/// Two crumpled cloths that fly through each other and through two meshes, one of which is thick and
/// moves and turns; some particles are held or very light, some triangles are gone, and grains have
/// none.
pub fn world(columns: u32, solver: Solver) -> World {
    let mut world = World::new();
    world.params.substeps = 2;
    world.params.iterations = 3;
    world.params.solver = solver;
    let mut random = Random(11);
    for (down, height) in [(-1.0, 0.14), (1.0, -0.14)] {
        let cloth = Cloth {
            columns,
            rows: 9,
            spacing: 0.06,
            radius: 0.02,
            mass: if down < 0.0 { 0.01 } else { 1e-4 },
            origin: Vec3::new(-0.3, height, -0.25),
            ..Cloth::default()
        };
        let ids = world.add_cloth(&cloth).unwrap();
        for (k, &id) in ids.iter().enumerate() {
            let at = world.position(id).unwrap();
            world.set_position(id, at + random.vector(0.01)).unwrap();
            let fast = if k % 3 == 0 { 14.0 } else { 6.0 };
            world.set_velocity(id, Vec3::Y * down * fast + random.vector(1.0)).unwrap();
            if k % 13 == 3 {
                world.pin(id).unwrap();
            }
        }
        world.remove_particles(&[ids[2]]).unwrap();
    }
    world.add_grains(&Grains { counts: [3; 3], ..Grains::default() }).unwrap();
    world
        .colliders
        .push(Collider::fixed(Shape::Plane { normal: Vec3::Y }, Pose::from_translation(-Vec3::Y)));
    let fixed = Pose::new(Vec3::new(0.01, 0.0, 0.02), Quat::from_rotation_y(0.3));
    world.colliders.push(Collider::fixed(Shape::mesh(spikes(12), true, 0.0).unwrap(), fixed));
    let mut moving = Collider::fixed(
        Shape::mesh(spikes(9), false, 0.02).unwrap(),
        Pose::from_translation(Vec3::new(0.05, 0.02, 0.03)),
    );
    let turned = Pose::new(Vec3::new(0.02, 0.25, 0.06), Quat::from_rotation_x(0.3));
    moving.path.push(Keyframe { time: 3.0 / 60.0, pose: turned });
    world.colliders.push(moving);
    world
}

/// Steps a world; returns how many contacts were listed, how many of them passed, and how many numbers
/// changed.
pub fn run(sides: &mut SideBySide, world: World, steps: usize) -> [usize; 3] {
    let [mut contacts, mut passed, mut changed] = [0; 3];
    compare(sides, world, steps, ours, |outcome| {
        judge(outcome);
        if outcome.dispatch.pass == Pass::CollidePoints {
            let [count, through] = judge_lists(outcome);
            (contacts, passed) = (contacts + count, passed + through);
        } else {
            let words = outcome.of(Buffer::Predicted);
            changed += words.before.iter().zip(&words.cpu).filter(|(a, b)| a != b).count();
        }
    });
    [contacts, passed, changed]
}

#[test]
fn cloth_flies_into_spikes() {
    let Some(mut sides) = sides() else { return };
    for &solver in Solver::ALL {
        let [contacts, passed, changed] = run(&mut sides, world(11, solver), 3);
        println!("{solver}: {contacts} contacts, {passed} passed, {changed} numbers changed");
        assert!(contacts > 500 && passed > 20 && changed > 500, "{contacts} {passed} {changed}");
    }
}

#[test]
fn any_count_and_workgroup() {
    if sides().is_none() {
        return;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/spirv");
    for workgroup in [1, 48, 256] {
        let mut sides = SideBySide::with(shaders_from(folder), workgroup).unwrap();
        for columns in [2, 7] {
            run(&mut sides, world(columns, Solver::Colored), 1);
        }
    }
}

/// A cloth among very many points.
fn crowded(count: u32) -> World {
    let mut world = world(6, Solver::Colored);
    let mut many = TriangleMesh::default();
    let mut random = Random(3);
    for k in 0..count {
        let at = random.vector(0.25) * Vec3::new(1.0, 0.1, 1.0) + Vec3::Y * 0.14;
        many.vertices.extend([at, at + Vec3::X * 1e-3, at + Vec3::Z * 1e-3]);
        many.triangles.push([3 * k, 3 * k + 1, 3 * k + 2]);
    }
    world.colliders = vec![Collider::fixed(Shape::mesh(many, false, 0.0).unwrap(), Pose::IDENTITY)];
    world
}

fn looks(dispatch: &Dispatch) -> bool {
    dispatch.pass == Pass::CollidePoints
}

/// Far more vertices than there is room for at first: what is missing is counted, and the pass done
/// again.
#[test]
fn lists_outgrow_their_room() {
    let Some(mut sides) = sides() else { return };
    let mut most = 0;
    compare(&mut sides, crowded(150), 1, looks, |outcome| {
        most = most.max(outcome.attempts);
        judge_lists(outcome);
    });
    assert!(most > 1, "{most} attempts");
}

/// A device may end loops that take long. Then it says so; else the lists are right.
#[test]
fn a_loop_that_was_cut_short_is_told() {
    let Some(mut sides) = sides() else { return };
    let mut cut = 0;
    compare(&mut sides, crowded(3000), 1, looks, |outcome| {
        if state(outcome, 2, "s_gave_up") == 0 {
            judge_lists(outcome);
        } else {
            cut += 1;
        }
    });
    println!("cut short {cut} times");
}

/// The control: a shader that is wrong in any one sum fails the comparison.
#[test]
fn a_wrong_shader_is_noticed() {
    if sides().is_none() {
        return;
    }
    for pass in [Pass::CollidePoints, Pass::SolvePoints] {
        let (sums, missed) = unnoticed(pass, |sides| {
            compare(sides, world(11, Solver::Jacobi), 3, |d| d.pass == pass, judge);
        });
        println!("{}: {sums} sums", pass.name());
        assert!(sums >= 7 && missed.is_empty(), "{}: of {sums} sums {missed:?}", pass.name());
    }
}

/// Whole steps: what the CPU's tests say of a needle holds on a device.
#[test]
fn a_needle_does_not_pierce_on_a_device() {
    if sides().is_none() {
        return;
    }
    let tip = Vec3::new(0.003, 0.0, 0.005);
    let needle = TriangleMesh {
        vertices: vec![
            tip,
            tip + Vec3::new(0.02, -0.5, 0.0),
            tip + Vec3::new(-0.01, -0.5, 0.017),
            tip + Vec3::new(-0.01, -0.5, -0.017),
        ],
        triangles: vec![[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]],
    };
    for (speed, substeps) in [(0.5, 2), (2.0, 1), (4.0, 4)] {
        let mut world = World::new();
        let cloth = Cloth {
            columns: 15,
            rows: 15,
            spacing: 0.03,
            radius: 0.015,
            origin: Vec3::new(-0.21, 0.1, -0.21),
            ..Cloth::default()
        };
        for id in world.add_cloth(&cloth).unwrap().iter() {
            world.set_velocity(*id, Vec3::NEG_Y * speed).unwrap();
        }
        world
            .colliders
            .push(Collider::fixed(Shape::mesh(needle.clone(), true, 0.0).unwrap(), Pose::IDENTITY));
        world.params.substeps = substeps;
        let backend = Backend::Vulkan { device: None, from: None };
        let mut engine = Engine::new(world, backend).unwrap();
        for _ in 0..60 {
            engine.step(1.0 / 60.0).unwrap();
        }
        let top = engine.positions().iter().map(|p| p.y).fold(f32::MIN, f32::max);
        assert!(top > 0.0, "at {speed} m/s: it hangs on the tip, {top}");
        // One that fell would be 5 m deeper. With one substep it stretches to twice its size.
        let low = engine.positions().iter().map(|p| p.y).fold(f32::MAX, f32::min);
        assert!(low > -1.0, "at {speed} m/s: the cloth did not fall, {low}");
    }
}
