//! Puts particles in the order of their Morton codes, so that particles that are near in space are
//! near in memory. Their ids stay.
//! Reads: the order that the radix sort found. Writes: every column of the particles, and the slots
//! in constraints and pins; `Buffer::follows_particles` says the same for the device. Lists are made
//! anew.
//! Order: the sort is stable, so the result is deterministic. The pass is serial and takes 4 ms for
//! 100 000 particles, once in many steps.

use super::Scratch;
use crate::world::World;

pub(crate) fn run(world: &mut World, scratch: &Scratch) {
    let sorted = &scratch.broad.sorted;
    world.reorder(sorted.slots());
}

#[cfg(test)]
mod tests {
    use crate::{Bond, Cloth, Grains, Kind, Lattice, Material, ParticleId, World};
    use glam::Vec3;

    /// Everything said by id stays as it was, whatever the order.
    #[test]
    fn a_new_order_changes_slots_and_nothing_else() {
        let mut world = World::new();
        let bend = Some(Bond::compliant(1e-3));
        let cloth =
            world.add_cloth(&Cloth { columns: 7, rows: 9, bend, ..Cloth::default() }).unwrap();
        let soft = Lattice { counts: [3; 3], volume: Some(Bond::default()), ..Lattice::default() };
        world.add_lattice(&soft).unwrap();
        let sand = world.add_grains(&Grains { counts: [5, 4, 3], ..Grains::default() }).unwrap();
        let stuff = world.add_material(&Material::default()).unwrap();
        world.set_material(sand.object, stuff).unwrap();
        world.pin(cloth[3]).unwrap();
        world.drag(cloth[5], Vec3::Y, 1e-3).unwrap();
        world.remove_particles(&[cloth[20], ParticleId(100)]).unwrap();
        world.commit();
        let before = world.clone();
        let count = world.particles.len() as u32;
        let order: Vec<u32> = (0..count).map(|k| k * 61 % count).collect();
        assert!(!count.is_multiple_of(61), "every slot once");
        world.reorder(&order);

        assert_eq!(world.hash(), before.hash());
        for kind in Kind::ALL {
            assert_eq!(world.count(kind), before.count(kind));
            assert_eq!(world.residual(kind), before.residual(kind), "{}", kind.name());
        }
        for (kind, rows) in Kind::SETS.into_iter().zip(world.sets.all()) {
            assert!(rows.is_sound(kind.corners(), count as usize), "{kind}");
        }
        for id in (0..world.particles.next_id).map(ParticleId) {
            let (now, then) = (world.particles.slot(id), before.particles.slot(id));
            assert_eq!(now.is_some(), then.is_some());
            let (Some(now), Some(then)) = (now, then) else { continue };
            assert_eq!(order[now] as usize, then);
            let (p, q) = (&world.particles, &before.particles);
            assert_eq!((p.radius[now], p.phase[now]), (q.radius[then], q.phase[then]));
            assert_eq!(p.material[now], q.material[then]);
            assert_eq!((p.rest[now], p.position[now]), (q.rest[then], q.position[then]));
        }
        let held = |w: &World| w.particles.id[w.pins[0].particle as usize];
        assert_eq!(held(&world), held(&before));
        world.validate().unwrap();
    }
}
