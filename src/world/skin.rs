//! The meshes of bodies that were made from meshes, as they are now.

use super::{ObjectId, World};
use crate::error::Result;
use crate::shape::mesh::TriangleMesh;
use crate::shape::skin::{Bonds, Worn};

impl World {
    /// The particles that distance constraints join with each.
    pub fn bonds(&self) -> Bonds {
        let set = self.distance();
        Bonds::new(self.particles.len(), || (0..set.len()).map(|k| set.particles(k)))
    }

    /// The mesh of an object as it is worn now: open where constraints broke or particles were
    /// removed. It is by slot, and holds until the world is changed or stepped. Objects that were not
    /// made from a mesh have none.
    ///
    /// # Errors
    /// When there is no such object.
    pub fn skin(&self, object: ObjectId) -> Result<Option<Worn>> {
        let object = self.object(object)?;
        let slots = || object.slots_of_all(&self.particles);
        Ok(object.surface().skin().map(|skin| skin.worn(&slots(), &self.bonds())))
    }

    /// The meshes of all objects that have one, in the order of [`World::objects`]. The constraints
    /// are looked at once, and not once for each object.
    pub fn skins(&self) -> Vec<(ObjectId, Worn)> {
        if self.objects().all(|(_, object)| object.surface().skin().is_none()) {
            return Vec::new();
        }
        let bonds = self.bonds();
        let worn = |(id, object): (_, &super::Object)| {
            let skin = object.surface().skin()?;
            Some((id, skin.worn(&object.slots_of_all(&self.particles), &bonds)))
        };
        self.objects().filter_map(worn).collect()
    }

    /// The same as a mesh, where it is now.
    ///
    /// # Errors
    /// When there is no such object.
    pub fn skin_mesh(&self, object: ObjectId) -> Result<Option<TriangleMesh>> {
        let now = self.particles.now();
        Ok(self.skin(object)?.map(|worn| TriangleMesh {
            vertices: worn.vertices(|slot| now.of(slot)),
            triangles: worn.triangles().to_vec(),
        }))
    }
}
