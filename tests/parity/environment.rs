//! `collide_environment`: the planes each particle may touch.

use super::{compare, twin};
use glam::{Quat, Vec3};
use motes::pass::Buffer;
use motes::shape::mesh::TriangleMesh;
use motes::vulkan::parity::Outcome;
use motes::world::collider::{Keyframe, Pose, Shape};
use motes::{Collider, Dispatch, Particle, Pass, Phase, World};

fn ours(dispatch: &Dispatch) -> bool {
    dispatch.pass == Pass::CollideEnvironment
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Contact {
    plane: [f32; 4],
    motion: [f32; 3],
    collider: u32,
}

/// The lists of all particles.
fn lists(words: &[u32], particles: usize) -> Vec<Vec<Contact>> {
    let contact = |at: usize| {
        let float = |k: usize| f32::from_bits(words[at + k]);
        Contact {
            plane: std::array::from_fn(float),
            motion: std::array::from_fn(|k| float(4 + k)),
            collider: words[at + 7],
        }
    };
    let list = |i: usize| {
        let (first, length) = (words[2 * i] as usize, words[2 * i + 1] as usize);
        (first..first + length).map(|e| contact(2 * particles + 8 * e)).collect()
    };
    (0..particles).map(list).collect()
}

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }
    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|_| (2.0 * self.next() - 1.0) * size))
    }
    fn turn(&mut self) -> Quat {
        Quat::from_array(std::array::from_fn(|_| 2.0 * self.next() - 1.0))
    }
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.next() * of.len() as f32) as usize % of.len()]
    }
}

fn primitives() -> Vec<Shape> {
    vec![
        Shape::Plane { normal: Vec3::new(0.3, 1.0, -2.0) },
        Shape::Sphere { radius: 0.5 },
        Shape::Box { half: Vec3::new(0.5, 0.01, 0.4) },
        Shape::Capsule { radius: 0.2, half_height: 0.3 },
        Shape::Cylinder { radius: 0.3, half_height: 0.2 },
        Shape::Cone { radius: 0.4, height: 0.6 },
    ]
}

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

fn meshes() -> Vec<Shape> {
    let mut out = vec![Shape::mesh(hills(10, 2.2), false, 0.01).unwrap()];
    for name in ["axe", "ledge", "spike", "stairs", "torus"] {
        out.push(Shape::mesh(asset(name), true, 0.0).unwrap());
        out.push(Shape::mesh(asset(name), false, 0.02).unwrap());
    }
    out.push(Shape::mesh(asset("bowl"), false, 0.0).unwrap());
    out
}

#[derive(Clone, Copy, Debug)]
struct Throw {
    position: Vec3,
    velocity: Vec3,
    radius: f32,
    pinned: bool,
}

fn throws(dice: &mut Dice, count: usize) -> Vec<Throw> {
    let mut one = || Throw {
        position: dice.vector(1.2),
        velocity: { let speed = dice.pick(&[0.0, 0.5, 5.0, 60.0, 200.0]); dice.vector(speed) },
        radius: dice.pick(&[1e-4, 0.01, 0.05, 0.3]),
        pinned: dice.next() < 0.02,
    };
    (0..count).map(|_| one()).collect()
}

const DT: f32 = 1.0 / 60.0;

fn world(colliders: &[Collider], throws: &[Throw]) -> World {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    world.params.substeps = 1;
    world.params.dt = DT;
    world.colliders = colliders.to_vec();
    for throw in throws {
        let mass = if throw.pinned { f32::INFINITY } else { 1.0 };
        let Throw { position, velocity, radius, .. } = *throw;
        let particle = Particle { position, velocity, mass, radius, phase: Phase::group(0) };
        world.add_particle(&particle).unwrap();
    }
    world
}

fn moving(shape: Shape, dice: &mut Dice) -> Collider {
    let mut collider = Collider::fixed(shape, Pose::new(dice.vector(0.3), dice.turn()));
    let first = collider.path[0].pose;
    let turn = Quat::from_array([0.01, 0.02, -0.01, 1.0]);
    let pose = Pose::new(first.translation + dice.vector(0.2), first.rotation * turn);
    collider.path.push(Keyframe { time: f64::from(DT), pose });
    collider
}

#[test]
fn measure() {
    let Some(mut twin) = twin() else { return };
    let mut dice = Dice(1);
    for shape in primitives().into_iter().chain(meshes()) {
        for moves in [false, true] {
            let collider = if moves { moving(shape.clone(), &mut dice) } else { Collider::fixed(shape.clone(), Pose::new(dice.vector(0.1), dice.turn())) };
            let throws = throws(&mut dice, 3000);
            let world = world(&[collider], &throws);
            let what = match &shape { Shape::Mesh { closed, mesh, .. } => format!("mesh {closed} {}", mesh.triangles.len()), s => format!("{s:?}") };
            let started = std::time::Instant::now();
            compare(&mut twin, world, 1, ours, |outcome: &Outcome| {
                let words = outcome.of(Buffer::EnvironmentContacts);
                let (cpu, device) = (lists(&words.cpu, outcome.particles), lists(&words.device, outcome.particles));
                let total: usize = cpu.iter().map(Vec::len).sum();
                let (mut lengths, mut bits) = (0, 0);
                let (mut worst_n, mut worst_d) = (0.0f32, 0.0f32);
                let mut shown = 0;
                for ((a, b), t) in cpu.iter().zip(&device).zip(&throws) {
                    if a.len() != b.len() {
                        lengths += 1;
                        if shown < 2 { shown += 1; println!("  {t:?}\n   {a:?}\n   {b:?}"); }
                        continue;
                    }
                    for (a, b) in a.iter().zip(b) {
                        if a != b { bits += 1; }
                        let p = t.position + t.velocity * DT;
                        let n = |c: &Contact| Vec3::new(c.plane[0], c.plane[1], c.plane[2]);
                        let dn = n(a).distance(n(b));
                        if dn > worst_n { worst_n = dn; }
                        let dd = (n(a).dot(p) + a.plane[3] - n(b).dot(p) - b.plane[3]).abs();
                        if dd > worst_d { worst_d = dd; }
                    }
                }
                println!("{what} moves {moves}: {total} contacts, {lengths} lists differ in length, {bits} contacts in bits, worst n {worst_n} d {worst_d}, gave up {}, overflow {}, used {} in {:?}", outcome.state[2][82], outcome.state[2][9], outcome.state[2][13], started.elapsed());
            });
        }
    }
}
