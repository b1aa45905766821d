//! The triangles around each particle, for passes that sum over them: a particle gathers what its
//! triangles give it, so that no two threads write to the same one.

use super::World;
use super::collider::{Collider, Shape};

/// For each particle, by slot, the triangles of open surfaces that it is a corner of: the other two
/// corners of each, in the order in which they follow it. A fan is in the order of the objects and
/// their triangles, so its sums do not depend on the order of the slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fans {
    /// Where the fan of each particle begins, and the end.
    start: Vec<u32>,
    corners: Vec<[u32; 2]>,
    /// The revision of the particles that they were made for.
    made_for: Option<u64>,
}

impl Fans {
    /// Those of a world.
    #[cfg(any(test, feature = "vulkan"))]
    pub fn of(world: &World) -> Self {
        let mut fans = Fans::default();
        fans.update(world);
        fans
    }

    /// Makes them again if particles came, went or changed their slots.
    pub fn update(&mut self, world: &World) {
        if self.made_for == Some(world.particle_revision) {
            return;
        }
        let count = world.particles.len();
        self.made_for = Some(world.particle_revision);
        self.start.clear();
        self.start.resize(count + 1, 0);
        for slot in open_triangles(world).flatten() {
            self.start[slot as usize + 1] += 1;
        }
        for slot in 0..count {
            self.start[slot + 1] += self.start[slot];
        }
        let mut next = self.start.clone();
        self.corners.clear();
        self.corners.resize(self.start[count] as usize, [0; 2]);
        for [a, b, c] in open_triangles(world) {
            for [at, ahead, behind] in [[a, b, c], [b, c, a], [c, a, b]] {
                let place = &mut next[at as usize];
                self.corners[*place as usize] = [ahead, behind];
                *place += 1;
            }
        }
    }

    /// The fan of a particle.
    pub fn around(&self, slot: usize) -> &[[u32; 2]] {
        &self.corners[self.start[slot] as usize..self.start[slot + 1] as usize]
    }

    /// How many triangles all fans have.
    #[cfg(feature = "vulkan")]
    pub fn len(&self) -> usize {
        self.corners.len()
    }
}

/// The triangles of open surfaces, by slot.
fn open_triangles(world: &World) -> impl Iterator<Item = [u32; 3]> + '_ {
    let slot = |id| world.particles.slot(id).map(|slot| slot as u32);
    let open = world.objects().filter(|(_, object)| !object.surface().is_closed());
    let triangles = open.flat_map(|(_, object)| object.surface().triangles());
    triangles.filter_map(move |&[a, b, c]| Some([slot(a)?, slot(b)?, slot(c)?]))
}

impl World {
    /// How many triangles open surfaces have.
    pub(crate) fn open_triangle_count(&self) -> usize {
        let surfaces = self.objects().map(|(_, object)| object.surface());
        surfaces.filter(|surface| !surface.is_closed()).map(|s| s.triangles().len()).sum()
    }

    /// From how many times its rest area on a triangle counts as torn where it meets points; as the
    /// square of that. Nothing is torn where nothing breaks, however far it is stretched.
    pub(crate) fn torn_sq(&self) -> f32 {
        if self.broken > 0 || self.has_breakable() { 16.0 } else { f32::INFINITY }
    }

    /// Whether triangles of cloth may meet vertices of meshes.
    pub(crate) fn meets_points(&self) -> bool {
        let is_mesh = |collider: &Collider| matches!(collider.shape, Shape::Mesh { .. });
        self.colliders.iter().any(is_mesh) && self.open_triangle_count() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cloth, Lattice};

    /// Every triangle is in the fan of each of its corners, whatever was sorted or removed, and soft
    /// bodies have none.
    #[test]
    fn every_corner_knows_its_triangles() {
        let mut world = World::new();
        world.add_lattice(&Lattice { counts: [3; 3], ..Lattice::default() }).unwrap();
        let cloth = Cloth { columns: 5, rows: 4, ..Cloth::default() };
        let cloth = world.add_cloth(&cloth).unwrap();
        let check = |world: &World, expected: usize| {
            let fans = Fans::of(world);
            let mut found = 0;
            for slot in 0..world.particles.len() {
                for &[b, c] in fans.around(slot) {
                    found += 1;
                    let turned = |t: &[u32; 3]| {
                        (0..3)
                            .any(|k| [t[k], t[(k + 1) % 3], t[(k + 2) % 3]] == [slot as u32, b, c])
                    };
                    assert_eq!(open_triangles(world).filter(turned).count(), 1, "{slot} {b} {c}");
                }
            }
            assert_eq!((found, world.open_triangle_count()), (3 * expected, expected));
            fans
        };
        let before = check(&world, 24);
        let count = world.particles.len() as u32;
        let order: Vec<u32> = (0..count).map(|k| k * 7 % count).collect();
        assert!(!count.is_multiple_of(7), "every slot once");
        world.reorder(&order);
        let after = check(&world, 24);
        // The fan of a particle is in the same order, wherever the particle is.
        for (now, &then) in order.iter().enumerate() {
            let now = after.around(now).iter().map(|pair| pair.map(|slot| order[slot as usize]));
            assert!(now.eq(before.around(then as usize).iter().copied()));
        }
        world.remove_particles(&[cloth[0]]).unwrap();
        check(&world, 22);
        world.remove_object(cloth.object).unwrap();
        check(&world, 0);
    }
}
