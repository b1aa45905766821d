//! `collide_environment`: the planes each particle may touch. Lists must have the same planes of the
//! same colliders in the same order; how close the planes are is said below. Among the planes of one
//! mesh the order is free: they go by triangle, and to which of two triangles a shared edge belongs is
//! decided by the last digits of doubles on the CPU.

use super::{assembler, can_assemble, compare, scene, sides};
use glam::{Quat, Vec3};
use motes::pass::Buffer;
use motes::shape::mesh::TriangleMesh;
use motes::vulkan::harness::parity::{Outcome, SideBySide, shaders_from, shaders_with};
use motes::vulkan::layout::state::STATE;
use motes::world::collider::{Keyframe, Pose, Shape};
use motes::{Backend, Collider, Dispatch, Engine, Particle, Pass, Phase, World};

/// How close planes must be, and why. Offsets follow the normal's error over the size of these
/// worlds, some metres.
#[derive(Clone, Copy, Debug)]
struct Close {
    /// Of unit normals.
    normal: f32,
    /// Of offsets and motions, m, and as a share of large ones.
    offset: f32,
}

/// Sums and products are the CPU's. Directions divide by a root, the search for the first touch
/// divides in each step: Vulkan allows 2.5 units in the last place, 3 for roots.
const CONVEX: Close = Close { normal: 2e-6, offset: 4e-6 };

/// Single precision, relative to the particle, where the CPU has double: the closest point of a
/// triangle is off by 1e-7 of its size (up to 2 m here), its direction by that over the distance
/// (down to 1 cm).
const TRIANGLES: Close = Close { normal: 5e-5, offset: 5e-6 };

/// A slide goes on from where planes of triangles sent the particle, and meets round shapes there: what
/// those planes are off, over the radius of what is met (down to 1 cm).
const SLID: Close = Close { normal: 5e-4, offset: 2e-5 };

const METRES: f32 = 4.0;

fn close_of(collider: &Collider) -> Close {
    if matches!(collider.shape, Shape::Mesh { .. }) { TRIANGLES } else { CONVEX }
}

#[derive(Clone, Copy, Debug)]
struct Contact {
    normal: Vec3,
    d: f32,
    motion: Vec3,
    collider: usize,
}

impl Contact {
    fn is_close(&self, other: &Contact, close: Close) -> bool {
        let apart = self.normal.distance(other.normal);
        let offset = |a: f32, b: f32| {
            (a - b).abs() <= close.offset * (1.0 + a.abs()) + METRES * apart || a == b
        };
        self.collider == other.collider
            && apart <= close.normal
            && offset(self.d, other.d)
            && (0..3).all(|k| offset(self.motion[k], other.motion[k]))
    }
}

fn ours(dispatch: &Dispatch) -> bool {
    dispatch.pass == Pass::CollideEnvironment
}

fn state(outcome: &Outcome, name: &str) -> usize {
    let (_, at) = STATE.iter().find(|(word, _)| *word == name).unwrap();
    outcome.state[2][*at] as usize
}

/// The lists of all particles.
fn lists(words: &[u32], particles: usize) -> Vec<Vec<Contact>> {
    let contact = |at: usize| {
        let float = |k: usize| f32::from_bits(words[at + k]);
        Contact {
            normal: Vec3::new(float(0), float(1), float(2)),
            d: float(3),
            motion: Vec3::new(float(4), float(5), float(6)),
            collider: words[at + 7] as usize,
        }
    };
    let list = |i: usize| {
        let (first, length) = (words[2 * i] as usize, words[2 * i + 1] as usize);
        (first..first + length).map(|e| contact(2 * particles + 8 * e)).collect()
    };
    (0..particles).map(list).collect()
}

/// How two lists compare.
#[derive(PartialEq)]
enum Alike {
    No,
    Yes,
    /// The planes of a mesh stand in another order. A slide goes from plane to plane, so it goes
    /// elsewhere from there: what it found was not compared.
    UpToASlide,
}

fn alike(cpu: &[Contact], device: &[Contact], close: impl Fn(usize) -> Close) -> Alike {
    let (mut a, mut b) = (cpu, device);
    while !(a.is_empty() && b.is_empty()) {
        // Each look goes over the colliders in their order.
        let look = |list: &[Contact]| list.is_sorted_by_key(|c| c.collider);
        let count = (1..=a.len()).take_while(|&n| look(&a[..n])).count();
        let Some((in_a, in_b)) = a.get(..count).zip(b.get(..count)) else { return Alike::No };
        let is_close = |a: &Contact, b: &Contact| a.is_close(b, close(a.collider));
        let mut left: Vec<&Contact> = in_b.iter().collect();
        let mut has = |a: &Contact| {
            let found = left.iter().position(|b| is_close(a, b));
            found.map(|at| left.remove(at)).is_some()
        };
        if !look(in_b) || !in_a.iter().all(&mut has) {
            return Alike::No;
        }
        (a, b) = (&a[count..], &b[count..]);
        let same_order = in_a.iter().zip(in_b).all(|(a, b)| is_close(a, b));
        if !(same_order || a.is_empty() && b.is_empty()) {
            return Alike::UpToASlide;
        }
    }
    Alike::Yes
}

/// Contacts in all, or what differs.
fn judge(outcome: &Outcome, close: impl Fn(usize) -> Close) -> Result<usize, String> {
    let words = outcome.of(Buffer::EnvironmentContacts);
    let n = outcome.particles;
    let (cpu, device) = (lists(&words.cpu, n), lists(&words.device, n));
    for word in ["s_overflow_environment", "s_gave_up"] {
        if state(outcome, word) > 0 {
            return Err(format!("{word} is {}", state(outcome, word)));
        }
    }
    let mut elsewhere = 0;
    for (i, (a, b)) in cpu.iter().zip(&device).enumerate() {
        match alike(a, b, &close) {
            Alike::Yes => {}
            Alike::UpToASlide => elsewhere += 1,
            Alike::No => {
                return Err(format!("particle {i}: {a:#?} on the CPU, {b:#?} on the device"));
            }
        }
    }
    if elsewhere > n / 100 {
        return Err(format!("{elsewhere} of {n} slid elsewhere"));
    }
    let listed = cpu.iter().map(Vec::len).sum();
    let counted = state(outcome, "s_environment_listed");
    if counted != device.iter().map(Vec::len).sum::<usize>() {
        return Err(format!("{counted} counted on the device, which lists others"));
    }
    if counted != listed && elsewhere == 0 {
        return Err(format!("{listed} on the CPU, {counted} counted on the device"));
    }
    Ok(listed)
}

/// Steps a world once; contacts in all, or what differs.
pub fn run(sides: &mut SideBySide, world: World) -> Result<usize, String> {
    let close: Vec<Close> = world.colliders.iter().map(close_of).collect();
    run_with(sides, world, |collider| close[collider])
}

fn run_with(
    sides: &mut SideBySide,
    world: World,
    close: impl Fn(usize) -> Close,
) -> Result<usize, String> {
    let mut found = Ok(0);
    compare(sides, world, 1, ours, |outcome| found = judge(outcome, &close));
    found
}

/// Numbers that look random and are always the same.
pub struct Dice(pub u64);

impl Dice {
    fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }
    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|_| (2.0 * self.number() - 1.0) * size))
    }
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.number() * of.len() as f32) as usize % of.len()]
    }
    fn pose(&mut self, size: f32) -> Pose {
        let turn = std::array::from_fn(|_| 2.0 * self.number() - 1.0);
        Pose::new(self.vector(size), Quat::from_array(turn))
    }
}

pub fn convex() -> Vec<Shape> {
    vec![
        Shape::Plane { normal: Vec3::new(0.3, 1.0, -2.0) },
        Shape::Sphere { radius: 0.5 },
        Shape::Box { half: Vec3::new(0.5, 0.01, 0.4) },
        Shape::Capsule { radius: 0.2, half_height: 0.3 },
        Shape::Cylinder { radius: 0.3, half_height: 0.2 },
        Shape::Cone { radius: 0.4, height: 0.6 },
    ]
}

/// A sheet of hills and valleys.
fn hills(n: u32, size: f32) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    for i in 0..=n {
        for j in 0..=n {
            let (x, z) = ((i as f32 / n as f32 - 0.5) * size, (j as f32 / n as f32 - 0.5) * size);
            let y = 0.1 * libm::sinf(6.0 * x) * libm::cosf(5.0 * z);
            mesh.vertices.push(Vec3::new(x, y, z));
        }
    }
    for i in 0..n {
        for j in 0..n {
            let a = i * (n + 1) + j;
            let (b, c, d) = (a + 1, a + n + 1, a + n + 2);
            mesh.triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    mesh
}

fn asset(name: &str) -> TriangleMesh {
    let path = format!("{}/assets/meshes/{name}.obj", env!("CARGO_MANIFEST_DIR"));
    TriangleMesh::load_obj(path).unwrap().0
}

/// Meshes with the largest radius that is thrown at them: some thousand triangles within reach are
/// more than some devices can look through.
fn meshes() -> Vec<(Shape, f32)> {
    let mut out = vec![(Shape::mesh(hills(10, 2.2), false, 0.01).unwrap(), 0.3)];
    for (name, radius) in [("axe", 0.3), ("ledge", 0.3), ("spike", 0.3), ("stairs", 0.3)] {
        out.push((Shape::mesh(asset(name), true, 0.0).unwrap(), radius));
        out.push((Shape::mesh(asset(name), false, 0.02).unwrap(), radius));
    }
    out.push((Shape::mesh(asset("torus"), true, 0.0).unwrap(), 0.05));
    out.push((Shape::mesh(asset("bowl"), false, 0.0).unwrap(), 0.05));
    out
}

/// A particle on its way.
#[derive(Clone, Copy, Debug)]
pub struct Throw {
    position: Vec3,
    velocity: Vec3,
    radius: f32,
    pinned: bool,
}

pub fn throws(dice: &mut Dice, count: usize, largest: f32) -> Vec<Throw> {
    let one = |_| {
        let speed = dice.pick(&[0.0, 0.5, 5.0, 60.0, 200.0]);
        Throw {
            position: dice.vector(1.2),
            velocity: dice.vector(speed),
            radius: dice.pick(&[1e-4, 0.01, 0.05, 0.3f32]).min(largest),
            pinned: dice.number() < 0.02,
        }
    };
    (0..count).map(one).collect()
}

/// A slide asks for overlaps of a thousandth of the radius: for dust that is below a rounding.
pub fn not_dust(throws: Vec<Throw>) -> Vec<Throw> {
    throws.into_iter().map(|t| Throw { radius: t.radius.max(0.01), ..t }).collect()
}

const DT: f32 = 1.0 / 60.0;

pub fn world(colliders: Vec<Collider>, throws: &[Throw]) -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    world.params.substeps = 1;
    world.params.dt = DT;
    world.colliders = colliders;
    for &Throw { position, velocity, radius, pinned } in throws {
        let mass = if pinned { f32::INFINITY } else { 1.0 };
        let particle = Particle { position, velocity, mass, radius, phase: Phase::group(0) };
        world.add_particle(&particle).unwrap();
    }
    world
}

/// Moves and turns in the first step.
pub fn moving(shape: Shape, dice: &mut Dice) -> Collider {
    let mut collider = Collider::fixed(shape, dice.pose(0.3));
    let first = collider.path[0].pose;
    let turn = first.rotation * Quat::from_array([0.01, 0.02, -0.01, 1.0]);
    let pose = Pose::new(first.translation + dice.vector(0.2), turn);
    collider.path.push(Keyframe { time: f64::from(DT), pose });
    collider
}

/// Every shape alone, at rest and moving.
#[test]
fn each_shape() {
    let Some(mut sides) = sides() else { return };
    let mut dice = Dice(1);
    for (shape, largest) in convex().into_iter().map(|s| (s, 0.3)).chain(meshes()) {
        for moves in [false, true] {
            let collider = match moves {
                true => moving(shape.clone(), &mut dice),
                false => Collider::fixed(shape.clone(), dice.pose(0.1)),
            };
            let found = run(&mut sides, world(vec![collider], &throws(&mut dice, 2000, largest)));
            let count = found.unwrap_or_else(|why| panic!("{why}\nwith {shape:?}, moves {moves}"));
            assert!(count > 50, "{count} contacts with {shape:?}");
        }
    }
}

/// Fast particles in a crowd of obstacles slide from one into the next.
#[test]
fn many_shapes_at_once() {
    let Some(mut sides) = sides() else { return };
    let mut dice = Dice(2);
    for round in 0..10 {
        let mut colliders: Vec<Collider> = Vec::new();
        for shape in convex().into_iter().chain(meshes().into_iter().map(|(shape, _)| shape)) {
            if dice.number() < 0.5 {
                colliders.push(moving(shape.clone(), &mut dice));
            }
            colliders.push(Collider::fixed(shape, dice.pose(1.0)));
        }
        let grains = not_dust(throws(&mut dice, 500, 0.05));
        let found = run_with(&mut sides, world(colliders, &grains), |_| SLID);
        let count = found.unwrap_or_else(|why| panic!("round {round}: {why}"));
        assert!(count > 500, "{count}");
    }
}

/// Workgroups of any size, particles that do not fill them.
#[test]
fn any_count_and_workgroup() {
    if sides().is_none() {
        return;
    }
    let shaders = shaders_from(concat!(env!("CARGO_MANIFEST_DIR"), "/spirv"));
    for workgroup in [1, 96] {
        let mut sides = SideBySide::with(shaders.clone(), workgroup).unwrap();
        let mut dice = Dice(3);
        for count in [0, 1, 63, 64, 65, 200] {
            let stairs = Shape::mesh(asset("stairs"), true, 0.0).unwrap();
            let floor = Shape::Plane { normal: Vec3::Y };
            let colliders = vec![moving(stairs, &mut dice), Collider::fixed(floor, Pose::IDENTITY)];
            let grains = not_dust(throws(&mut dice, count, 0.3));
            let found = run(&mut sides, world(colliders, &grains));
            found.unwrap_or_else(|why| panic!("{count} in workgroups of {workgroup}: {why}"));
        }
    }
}

/// Where directions are not unique and numbers end: centres, axes, corners, flyers, giants, dust,
/// triangles without area.
#[test]
fn special_places() {
    let Some(mut sides) = sides() else { return };
    let mut places = vec![Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(0.25, 0.0, 0.25)];
    for y in [-1.0, -0.6, -0.4, -0.2, 0.0, 0.01, 0.2, 0.4, 0.5, 0.6, 1.0] {
        places.push(Vec3::new(0.0, y, 0.0));
        for x in [1e-38, 1e-20, 1e-5, 0.3, 0.4, 0.5, 0.8] {
            places.extend([Vec3::new(x, y, 0.0), Vec3::new(-x, y, 0.4), Vec3::new(0.0, y, -x)]);
        }
    }
    let speeds = [Vec3::ZERO, Vec3::Y, -Vec3::Y * 60.0, Vec3::new(-30.0, -30.0, 0.0)];
    let throws: Vec<Throw> = places
        .iter()
        .flat_map(|&position| speeds.map(|velocity| (position, velocity)))
        .flat_map(|(position, velocity)| {
            [1e-6, 0.05, 5.0].map(|radius| Throw { position, velocity, radius, pinned: false })
        })
        .chain([1e10, 1e15, 1e19].map(|far| Throw {
            position: Vec3::splat(far),
            velocity: Vec3::splat(-far),
            radius: 0.1,
            pinned: false,
        }))
        .collect();
    let no_area = TriangleMesh {
        vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Z],
        triangles: vec![[0, 0, 0], [0, 1, 1], [0, 1, 2]],
    };
    // Squares of distances below 1e-19 m are 0 in single precision, and not on the CPU.
    let tiny = |c: f32| c != 0.0 && c.abs() < 1e-19;
    let seen = |t: &&Throw| !t.position.to_array().into_iter().any(tiny);
    let larger: Vec<Throw> = throws.iter().filter(seen).copied().collect();
    let sheet = Shape::mesh(no_area, false, 0.01).unwrap();
    let cases = convex().into_iter().map(|shape| (shape, &throws));
    for (shape, throws) in cases.chain([(sheet, &larger)]) {
        let collider = Collider::fixed(shape.clone(), Pose::IDENTITY);
        let found = run(&mut sides, world(vec![collider], throws));
        found.unwrap_or_else(|why| panic!("{why}\nwith {shape:?}"));
    }
}

/// Far more planes than there is room for at first: what is missing is counted, and the pass done
/// again.
#[test]
fn lists_outgrow_their_room() {
    let Some(mut sides) = sides() else { return };
    let mut dice = Dice(4);
    let shape = || Shape::Sphere { radius: 0.5 };
    let colliders: Vec<_> = (0..100).map(|_| Collider::fixed(shape(), dice.pose(0.1))).collect();
    let throws: Vec<Throw> = throws(&mut dice, 100, 0.3)
        .into_iter()
        .map(|t| Throw { position: t.position.normalize() * 0.5, pinned: false, ..t })
        .collect();
    let count = compare(&mut sides, world(colliders, &throws), 1, ours, |outcome| {
        assert!(outcome.attempts > 1);
        let listed = judge(outcome, |_| CONVEX).unwrap_or_else(|why| panic!("{why}"));
        assert!(listed > 1000, "{listed}");
    });
    assert_eq!(count, 1);
}

/// A device may end loops that take long. Then it says so; else the lists are right.
#[test]
fn a_loop_that_was_cut_short_is_told() {
    let Some(mut sides) = sides() else { return };
    let mut dice = Dice(5);
    let torus = Shape::mesh(asset("torus"), false, 0.0).unwrap();
    let colliders = vec![Collider::fixed(torus, Pose::IDENTITY)];
    let giants = throws(&mut dice, 500, 0.3).into_iter().map(|t| Throw { radius: 0.3, ..t });
    let world = world(colliders, &giants.collect::<Vec<_>>());
    match run(&mut sides, world) {
        Ok(count) => assert!(count > 0),
        Err(why) => assert!(why.starts_with("s_gave_up"), "{why}"),
    }
}

/// Scenes with obstacles, and when something has reached them.
const SCENES: &[(&str, usize)] = &[
    ("axe", 60),
    ("curtain", 30),
    ("grains_box:small", 60),
    ("granular_216k:small", 60),
    ("ledge", 60),
    ("push_through", 60),
    ("sand_heap", 40),
    ("spike", 60),
    ("stairs", 60),
    ("tear", 60),
    ("trampoline", 60),
];

#[test]
fn every_scene() {
    let Some(mut sides) = sides() else { return };
    let mut none = Vec::new();
    for &(spec, start) in SCENES {
        let world = scene(spec);
        let dt = world.params.dt;
        let close: Vec<Close> = world.colliders.iter().map(close_of).collect();
        let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
        let mut listed = 0;
        for at in [0, start, 2 * start] {
            while engine.world().step_count() < at as u64 {
                engine.step(dt).unwrap();
            }
            let judged = |outcome: &Outcome| match judge(outcome, |collider| close[collider]) {
                Ok(count) => listed += count,
                Err(why) => panic!("{spec} at step {at}: {why}"),
            };
            sides.step(&mut engine, dt, ours, judged).unwrap();
        }
        if listed == 0 {
            none.push(spec);
        }
    }
    // Their floors are out of reach by then.
    assert_eq!(none, ["curtain", "trampoline"]);
}

/// Of each, the instruction that is changed and what it becomes.
const CONTROLS: &[(&str, &str)] = &[
    ("%sphere_distance = OpFSub", "%sphere_distance = OpFAdd"),
    ("%rotate_turned = OpFAdd", "%rotate_turned = OpFSub"),
    ("%ft_t_next = OpFSub", "%ft_t_next = OpFAdd"),
    ("%emit_d = OpFSub", "%emit_d = OpFAdd"),
    ("%nr_point = OpFAdd", "%nr_point = OpFSub"),
    ("%po_edge_under = OpFOrdLessThanEqual", "%po_edge_under = OpFOrdGreaterThan"),
    ("%fc_end = OpFAdd", "%fc_end = OpFSub"),
    ("%ap_higher = OpUGreaterThan", "%ap_higher = OpULessThan"),
    ("%fi_several = OpUGreaterThan", "%fi_several = OpULessThan"),
];

/// A shader with one wrong instruction fails.
#[test]
fn a_wrong_shader_is_noticed() {
    if sides().is_none() || !can_assemble() {
        return;
    }
    let shader = Pass::CollideEnvironment.name();
    let source = assembler::expanded(&assembler::folder(), shader).unwrap().text;
    let scratch = tempfile::tempdir().unwrap();
    for (right, wrong) in CONTROLS {
        assert_eq!(source.matches(right).count(), 1, "{right}");
        let wrong_text = source.replace(right, wrong);
        let module = assembler::module_of(shader, &wrong_text, scratch.path()).expect(wrong);
        let shaders = shaders_with(Pass::CollideEnvironment, module);
        let mut sides = SideBySide::with(shaders, 64).unwrap();
        let mut dice = Dice(6);
        let shapes = [
            (Shape::Sphere { radius: 0.5 }, 0.3),
            (Shape::mesh(hills(10, 2.2), false, 0.01).unwrap(), 0.3),
        ];
        let mut alone = |(shape, largest): (Shape, f32)| {
            let collider = Collider::fixed(shape, dice.pose(0.1));
            run(&mut sides, world(vec![collider], &throws(&mut dice, 2000, largest))).is_err()
        };
        let noticed = shapes.map(&mut alone).contains(&true) || {
            let walls = convex().into_iter().map(|s| Collider::fixed(s, dice.pose(0.5)));
            run(&mut sides, world(walls.collect(), &throws(&mut dice, 2000, 0.05))).is_err()
        };
        assert!(noticed, "{wrong} was not noticed");
    }
}
