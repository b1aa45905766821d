//! The surfaces of objects as they are now: where a body tore, its surface is open.

use super::{Object, ObjectId, ParticleId, World};
use crate::error::Result;
use std::collections::HashSet;

impl World {
    /// The triangles of an object's surface that still hold together. A triangle holds while at
    /// least two of its sides are distance constraints: so a cut, which crosses two sides of every
    /// triangle on its way, opens the surface, and lattices without diagonals have one. An object
    /// whose surface has no constraints along its sides at all keeps its triangles until something
    /// in the world breaks.
    ///
    /// ```
    /// use motes::{Cloth, Kind, World};
    /// let mut world = World::new();
    /// let cloth = world.add_cloth(&Cloth::default())?;
    /// let before = world.surface(cloth.object)?.len();
    /// assert_eq!(before, world.object(cloth.object)?.surface().triangles().len());
    /// world.cut(Kind::Distance, |ends| (ends[0].x < 0.32) != (ends[1].x < 0.32));
    /// assert!(world.surface(cloth.object)?.len() < before);
    /// # Ok::<(), motes::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such object.
    pub fn surface(&self, object: ObjectId) -> Result<Vec<[ParticleId; 3]>> {
        Ok(self.joined().whole_triangles(self, self.object(object)?).collect())
    }

    /// The surfaces of all objects, each as [`World::surface`] gives it, in the order of
    /// [`World::objects`]. The constraints are looked at once, and not once for each object.
    pub fn surfaces(&self) -> Vec<(ObjectId, Vec<[ParticleId; 3]>)> {
        let joined = self.joined();
        let whole = |object| joined.whole_triangles(self, object).collect();
        self.objects().map(|(id, object)| (id, whole(object))).collect()
    }

    /// Which particles distance constraints join; to be asked for many objects.
    pub(crate) fn joined(&self) -> Joined {
        let (set, id) = (self.distance(), self.particles.ids());
        let pair = |[a, b]: [u32; 2]| sorted(id[a as usize], id[b as usize]);
        Joined((0..set.len()).map(|i| pair(set.particles(i))).collect())
    }
}

/// Pairs of ids, the lower one first.
pub(crate) struct Joined(HashSet<[u64; 2]>);

fn sorted(a: u64, b: u64) -> [u64; 2] {
    [a.min(b), a.max(b)]
}

impl Joined {
    /// The triangles of an object that hold together.
    pub fn whole_triangles<'a>(
        &'a self,
        world: &'a World,
        object: &'a Object,
    ) -> impl Iterator<Item = [ParticleId; 3]> + 'a {
        let triangles = object.surface().triangles();
        let sides = |&[a, b, c]: &[ParticleId; 3]| {
            let held = |[a, b]: &[ParticleId; 2]| self.0.contains(&sorted(a.0, b.0));
            [[a, b], [b, c], [c, a]].iter().filter(|side| held(side)).count()
        };
        let is_free = world.broken() == 0 && triangles.iter().all(|t| sides(t) == 0);
        triangles.iter().filter(move |t| is_free || sides(t) >= 2).copied()
    }
}
