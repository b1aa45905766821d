//! Any edits in any order, with steps between them: positions stay finite, the world stays legal,
//! and what is saved comes back with the same bits and goes on with the same bits.

use glam::{Quat, Vec3};
use motes::snapshot::{from_bytes, to_bytes};
use motes::world::Method;
use motes::world::collider::{Collider, Pose, Shape};
use motes::{
    Backend, Bond, Cloth, Engine, Force, ForceKind, Grains, Kind, Lattice, Particle, ParticleId,
    Phase, Solver, SurfaceWind, World,
};
use proptest::prelude::*;

/// One edit, or some steps. Numbers choose among what is there; the edit may be refused, but never
/// leave something illegal behind.
#[derive(Clone, Debug)]
enum Edit {
    AddParticle { at: Vec3, mass: f32, radius: f32 },
    AddCloth { at: Vec3, columns: u32, break_at: f32 },
    AddBody { at: Vec3, counts: [u32; 3] },
    AddGrains { at: Vec3, counts: [u32; 3] },
    Remove { which: Vec<usize> },
    RemoveObject { which: usize },
    Move { which: usize, to: Vec3 },
    Push { which: usize, velocity: Vec3 },
    Pin { which: usize },
    Unpin { which: usize },
    Drag { which: usize, to: Vec3, compliance: f32 },
    Release { which: usize },
    Join { kind: usize, which: [usize; 4], rest: Option<f32> },
    Cut { kind: usize, below: f32 },
    Obstacle { at: Vec3, size: f32 },
    MoveObstacle { which: usize, to: Vec3 },
    Wind { velocity: Vec3, drag: f32 },
    SurfaceWind { velocity: Vec3, drag: f32, gust: f32, length: f32 },
    Tune { solver: usize, method: usize, mass_scale: f32, substeps: u32 },
    Step { count: usize, dt: f32 },
}

/// Mostly what people do, now and then what nobody should.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -2.0f32..2.0,
        1 => prop_oneof![Just(0.0), Just(1e-30), Just(1e8), Just(-1e20), Just(3e38)],
        1 => prop_oneof![Just(f32::NAN), Just(f32::INFINITY)],
    ]
}

fn vector() -> impl Strategy<Value = Vec3> {
    [number(), number(), number()].prop_map(Vec3::from)
}

fn edit() -> impl Strategy<Value = Edit> {
    let which = || 0usize..1000;
    let counts = || [1u32..4, 1u32..4, 1u32..4];
    prop_oneof![
        (vector(), number(), number()).prop_map(|(at, mass, radius)| Edit::AddParticle {
            at,
            mass,
            radius
        }),
        (vector(), 2u32..6, number()).prop_map(|(at, columns, break_at)| Edit::AddCloth {
            at,
            columns,
            break_at
        }),
        (vector(), counts()).prop_map(|(at, counts)| Edit::AddBody { at, counts }),
        (vector(), counts()).prop_map(|(at, counts)| Edit::AddGrains { at, counts }),
        prop::collection::vec(which(), 1..5).prop_map(|which| Edit::Remove { which }),
        which().prop_map(|which| Edit::RemoveObject { which }),
        (which(), vector()).prop_map(|(which, to)| Edit::Move { which, to }),
        (which(), vector()).prop_map(|(which, velocity)| Edit::Push { which, velocity }),
        which().prop_map(|which| Edit::Pin { which }),
        which().prop_map(|which| Edit::Unpin { which }),
        (which(), vector(), number()).prop_map(|(which, to, compliance)| Edit::Drag {
            which,
            to,
            compliance
        }),
        which().prop_map(|which| Edit::Release { which }),
        (0usize..4, [which(), which(), which(), which()], prop::option::of(number()))
            .prop_map(|(kind, which, rest)| Edit::Join { kind, which, rest }),
        (0usize..4, number()).prop_map(|(kind, below)| Edit::Cut { kind, below }),
        (vector(), number()).prop_map(|(at, size)| Edit::Obstacle { at, size }),
        (which(), vector()).prop_map(|(which, to)| Edit::MoveObstacle { which, to }),
        (vector(), number()).prop_map(|(velocity, drag)| Edit::Wind { velocity, drag }),
        (vector(), number(), number(), number()).prop_map(|(velocity, drag, gust, length)| {
            Edit::SurfaceWind { velocity, drag, gust, length }
        }),
        (0usize..4, 0usize..2, prop_oneof![0.0f32..1.5, number()], 1u32..4).prop_map(
            |(solver, method, mass_scale, substeps)| Edit::Tune {
                solver,
                method,
                mass_scale,
                substeps
            }
        ),
        (1usize..4, prop_oneof![Just(1.0f32 / 60.0), Just(1.0), number()])
            .prop_map(|(count, dt)| Edit::Step { count, dt }),
    ]
}

/// The particle that a number means; one that is not there when the world is empty.
fn particle(world: &World, which: usize) -> Option<ParticleId> {
    let ids = world.particles().ids();
    ids.get(which % ids.len().max(1)).map(|&id| ParticleId(id))
}

/// Does the edit. Whether it was refused is its own affair.
fn apply(engine: &mut Engine, edit: &Edit) -> Option<()> {
    if let Edit::Step { count, dt } = *edit {
        for _ in 0..count {
            engine.step(dt).ok()?;
        }
        return Some(());
    }
    let world = engine.world_mut();
    match *edit {
        Edit::AddParticle { at, mass, radius } => {
            let phase = Phase::group(1).self_colliding();
            let ball = Particle { position: at, velocity: Vec3::ZERO, mass, radius, phase };
            world.add_particle(&ball).ok()?;
        }
        Edit::AddCloth { at, columns, break_at } => {
            let stretch = Bond { break_at, ..Bond::compliant(1e-6) };
            let bend = Some(Bond::compliant(1e-2));
            let cloth = Cloth { origin: at, columns, rows: 3, stretch, bend, ..Cloth::default() };
            world.add_cloth(&cloth).ok()?;
        }
        Edit::AddBody { at, counts } => {
            let volume = Some(Bond::default());
            let body = Lattice { center: at, counts, volume, ..Lattice::default() };
            world.add_lattice(&body).ok()?;
        }
        Edit::AddGrains { at, counts } => {
            world.add_grains(&Grains { origin: at, counts, ..Grains::default() }).ok()?;
        }
        Edit::Remove { ref which } => {
            let ids: Vec<_> = which.iter().filter_map(|&k| particle(world, k)).collect();
            world.remove_particles(&ids).ok()?;
        }
        Edit::RemoveObject { which } => {
            let ids: Vec<_> = world.objects().map(|(id, _)| id).collect();
            world.remove_object(*ids.get(which % ids.len().max(1))?).ok()?;
        }
        Edit::Move { which, to } => world.set_position(particle(world, which)?, to).ok()?,
        Edit::Push { which, velocity } => {
            world.set_velocity(particle(world, which)?, velocity).ok()?;
        }
        Edit::Pin { which } => world.pin(particle(world, which)?).ok()?,
        Edit::Unpin { which } => world.unpin(particle(world, which)?).ok()?,
        Edit::Drag { which, to, compliance } => {
            world.drag(particle(world, which)?, to, compliance).ok()?;
        }
        Edit::Release { which } => drop(world.release(particle(world, which)?)),
        Edit::Join { kind, which, rest } => {
            let kind = Kind::ALL[kind % Kind::ALL.len()];
            let ids: Option<Vec<_>> =
                which[..kind.corners()].iter().map(|&k| particle(world, k)).collect();
            world.add_constraint(kind, &ids?, rest, &Bond::default()).ok()?;
        }
        Edit::Cut { kind, below } => {
            let kind = Kind::ALL[kind % Kind::ALL.len()];
            world.cut(kind, |ends| ends.iter().any(|p| p.y < below));
        }
        Edit::Obstacle { at, size } => {
            let pose = Pose::new(at, Quat::IDENTITY);
            let obstacle = Collider::fixed(Shape::Sphere { radius: size }, pose);
            world.colliders.push(obstacle);
        }
        Edit::MoveObstacle { which, to } => {
            let (now, count) = (world.time(), world.colliders.len());
            let obstacle = world.colliders.get_mut(which % count.max(1))?;
            obstacle.move_to(Pose::from_translation(to), now, 1.0 / 60.0).ok()?;
        }
        Edit::Wind { velocity, drag } => {
            world.forces.push(Force { kind: ForceKind::Wind { velocity, drag }, region: None });
        }
        Edit::SurfaceWind { velocity, drag, gust, length } => {
            let (drag_coefficient, gust_length) = (drag, length);
            let usual = SurfaceWind::default();
            let wind = SurfaceWind { velocity, drag_coefficient, gust, gust_length, ..usual };
            world.forces.push(Force { kind: ForceKind::SurfaceWind(wind), region: None });
        }
        Edit::Tune { solver, method, mass_scale, substeps } => {
            world.params.solver = Solver::ALL[solver];
            world.params.method = Method::ALL[method];
            world.params.mass_scale = mass_scale;
            world.params.substeps = substeps;
        }
        Edit::Step { .. } => {}
    }
    Some(())
}

/// Takes back what a step refuses: the public fields may be set to anything.
fn mend(engine: &mut Engine) {
    let world = engine.world_mut();
    world.colliders.retain(|collider| collider.validate("collider").is_ok());
    world.forces.retain(|force| force.validate("force").is_ok());
    if world.params.check().is_err() {
        world.params.mass_scale = 0.0;
    }
}

proptest! {
    #[test]
    fn any_edits_leave_a_legal_world_that_comes_back_from_a_snapshot(
        edits in prop::collection::vec(edit(), 1..40)
    ) {
        let mut engine = Engine::new(World::new(), Backend::Cpu { threads: 2 }).unwrap();
        for edit in &edits {
            apply(&mut engine, edit);
            // What is illegal is refused by the next step, which then changes nothing.
            let before = engine.world().hash();
            if engine.step(1.0 / 60.0).is_err() {
                prop_assert_eq!(engine.world().hash(), before);
                mend(&mut engine);
            }
            let world = engine.world();
            prop_assert!(world.validate().is_ok(), "{edit:?}: {:?}", world.validate());
            prop_assert!(world.particles().positions().iter().all(|p| p.is_finite()), "{edit:?}");
        }
        let world = engine.world();
        let loaded = from_bytes("saved", &to_bytes("", world).unwrap()).unwrap().world;
        prop_assert_eq!(loaded.hash(), world.hash());
        let mut resumed = Engine::new(loaded, Backend::Cpu { threads: 1 }).unwrap();
        if engine.world().params.solver != Solver::Lockfree {
            engine.step(1.0 / 60.0).unwrap();
            resumed.step(1.0 / 60.0).unwrap();
            prop_assert_eq!(resumed.world().hash(), engine.world().hash());
        }
    }
}
