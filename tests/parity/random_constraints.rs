//! Random worlds full of constraints, made to be hard on sweeps.

use glam::Vec3;
use motes::world::Method;
use motes::{Bond, Kind, Particle, ParticleId, Path, Phase, Solver, World};

/// Numbers from a seed.
pub struct Dice(pub u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 ^ self.0 >> 29) >> 17
    }
    fn below(&mut self, end: usize) -> usize {
        (self.roll() % end as u64) as usize
    }
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.below(1 << 24) as f32 / (1 << 24) as f32
    }
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    pub fn point(&mut self) -> Vec3 {
        Vec3::new(self.between(-2.0, 2.0), self.between(-2.0, 2.0), self.between(-2.0, 2.0))
    }
    fn distinct(&mut self, ids: &[ParticleId], count: usize) -> Vec<ParticleId> {
        let mut chosen: Vec<ParticleId> = Vec::new();
        while chosen.len() < count {
            let id = ids[self.below(ids.len())];
            if !chosen.contains(&id) {
                chosen.push(id);
            }
        }
        chosen
    }
}

/// What kind of random world is wanted.
#[derive(Clone, Copy)]
pub struct Wish {
    pub seed: u64,
    pub particles: usize,
    pub solver: Solver,
    pub method: Method,
    /// Half of the constraints give way, some yield or break.
    pub soft: bool,
    pub breaks: bool,
    pub place: Place,
}

/// Where the particles of a random world are.
#[derive(Clone, Copy, PartialEq)]
pub enum Place {
    Spread,
    /// All at one point: no direction, no normal, no volume.
    Gathered,
    /// Within a few millionths: next to what counts as no normal and no gradient.
    Tiny,
    /// Some fly so fast that their squares overflow, and differences of infinities are no numbers.
    Flying,
}

impl Wish {
    /// How far it is from the middle to the rim, m, by halves.
    fn size(&self) -> f32 {
        if self.place == Place::Tiny { 1e-6 } else { 1.0 }
    }
}

pub const PLACES: [Place; 4] = [Place::Spread, Place::Gathered, Place::Tiny, Place::Flying];

pub const PLAIN: Wish = Wish {
    seed: 1,
    particles: 65,
    solver: Solver::Colored,
    method: Method::Xpbd,
    soft: true,
    breaks: false,
    place: Place::Spread,
};

/// Particles in disorder, some pinned, some on top of each other, some a million times heavier than
/// others; constraints of every kind between them, so many around the first that colours run out.
pub fn random(wish: Wish) -> World {
    let mut dice = Dice(wish.seed);
    let mut world = World::new();
    let ids = random_particles(&mut dice, &mut world, wish);
    let material = |dice: &mut Dice| Bond {
        stiffness: if dice.one_in(4) { 1.0 } else { dice.between(0.0, 1.0) },
        compliance: if wish.soft && dice.one_in(2) { dice.between(0.0, 1e-3) } else { 0.0 },
        break_at: if wish.breaks && dice.one_in(3) {
            dice.between(0.05, 2.0)
        } else {
            f32::INFINITY
        },
        yield_at: if wish.breaks && dice.one_in(2) {
            dice.between(0.01, 1.0)
        } else {
            f32::INFINITY
        },
    };
    // Half as many of the larger kinds, which touch more particles each.
    let every = |kind: Kind| if kind.corners() > 2 { 2 } else { 1 };
    for i in 0..2 * ids.len() {
        for kind in Kind::SETS {
            if ids.len() < kind.corners() || i % every(kind) != 0 {
                continue;
            }
            let mut corners = dice.distinct(&ids, kind.corners());
            if i % 3 == 0 && !corners.contains(&ids[0]) {
                corners[i % kind.corners()] = ids[0];
            }
            let rest = (kind == Kind::Distance && !dice.one_in(3))
                .then(|| wish.size() * dice.between(0.0, 3.0));
            world.add_constraint(kind, &corners, rest, &material(&mut dice)).unwrap();
        }
    }
    // They are pulled out of the shapes that they keep.
    for &id in ids.iter().filter(|_| wish.place != Place::Gathered) {
        let from = world.position(id).unwrap();
        world.set_position(id, from + 0.3 * wish.size() * dice.point()).unwrap();
    }
    if wish.place == Place::Tiny {
        world.params.gravity = Vec3::ZERO;
    }
    world.params.solver = wish.solver;
    world.params.method = wish.method;
    world.params.omega = 1.2;
    world.params.iterations = 2;
    world.params.substeps = 2;
    world
}

fn random_particles(dice: &mut Dice, world: &mut World, wish: Wish) -> Vec<ParticleId> {
    let mut ids: Vec<ParticleId> = Vec::new();
    for i in 0..wish.particles {
        let sides = i > 0 && (wish.place == Place::Gathered || dice.one_in(8));
        let position = if sides {
            world.position(ids[dice.below(i)]).unwrap()
        } else {
            wish.size() * dice.point()
        };
        let mass = if dice.one_in(8) { 1e6 } else { dice.between(0.1, 10.0) };
        let velocity = match wish.place {
            Place::Gathered => Vec3::ZERO,
            Place::Flying if dice.one_in(6) => 1e21 * dice.point(),
            _ => wish.size() * dice.point(),
        };
        let phase = Phase::group(1);
        let particle = Particle { position, velocity, mass, radius: 0.01, phase };
        let id = world.add_particle(&particle).unwrap();
        match dice.below(8) {
            0 => world.pin(id).unwrap(),
            1 => {
                world.drag(id, wish.size() * dice.point(), dice.between(0.0, 1e-3)).unwrap();
                if dice.one_in(3) {
                    world.pin(id).unwrap();
                }
            }
            2 => world.drag(id, position, 0.0).unwrap(),
            3 => {
                let path = Path {
                    keys: vec![(0.0, position), (0.1, wish.size() * dice.point())],
                    looped: true,
                };
                world.hold_on_path(id, path, wish.size() * Vec3::Y, 0.0).unwrap();
            }
            _ => {}
        }
        ids.push(id);
    }
    ids
}
