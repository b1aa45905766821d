//! Objects: the named parts of a world, each a set of particles.

use super::{Kind, Outline, ParticleId, Particles, World};
use crate::error::{Error, Result};
use crate::shape::skin::MeshSkin;
use crate::table::give_back;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The handle of an object. It stays the same for the life of the object and is never given to
/// another one: the handle of a removed object is an error, also when its place is taken again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectId {
    place: u32,
    /// How many objects had this place before.
    generation: u32,
}

impl ObjectId {
    /// The handle of the object that was added to a new world as number `place`, counted from 0.
    pub(crate) fn nth(place: usize) -> Self {
        ObjectId { place: place as u32, generation: 0 }
    }
}

/// What a builder added: the object and its particles. It can be used as the list of particles.
///
/// ```
/// use motes::{Cloth, World};
/// let mut world = World::new();
/// let cloth = world.add_cloth(&Cloth::default())?;
/// world.pin(cloth[0])?;
/// assert_eq!(world.object(cloth.object)?.name, "cloth");
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The handle of the object.
    pub object: ObjectId,
    /// Its particles, in the order in which the builder made them.
    pub particles: Vec<ParticleId>,
}

impl std::ops::Deref for Built {
    type Target = [ParticleId];
    fn deref(&self) -> &[ParticleId] {
        &self.particles
    }
}

impl IntoIterator for Built {
    type Item = ParticleId;
    type IntoIter = std::vec::IntoIter<ParticleId>;
    fn into_iter(self) -> Self::IntoIter {
        self.particles.into_iter()
    }
}

impl<'a> IntoIterator for &'a Built {
    type Item = &'a ParticleId;
    type IntoIter = std::slice::Iter<'a, ParticleId>;
    fn into_iter(self) -> Self::IntoIter {
        self.particles.iter()
    }
}

/// The triangles that show an object as a surface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surface {
    /// Corners of each triangle. All of them are particles of the object.
    pub(crate) triangles: Vec<[ParticleId; 3]>,
    /// Whether the surface was made with an inside.
    pub(crate) closed: bool,
    /// The shape it was cut out as, where that is not a box.
    pub(crate) outline: Option<Outline>,
    /// The mesh that follows its particles.
    pub(crate) skin: Option<Arc<MeshSkin>>,
}

impl Surface {
    /// Corners of each triangle. A triangle goes when one of its particles is removed.
    pub fn triangles(&self) -> &[[ParticleId; 3]] {
        &self.triangles
    }
    /// Whether the surface was made with an inside: that of a soft body was, that of a cloth was
    /// not. Holes that come later do not change it.
    pub fn is_closed(&self) -> bool {
        self.closed
    }
    /// Whether it is that of a ball, a ring or a cylinder cut out of a lattice. The steps of the
    /// lattice are then no part of the shape, so whoever draws the surface may smooth it.
    pub fn is_round(&self) -> bool {
        self.outline.is_some()
    }
    /// That ball, ring or cylinder, and where it was when the body was made.
    pub fn outline(&self) -> Option<&Outline> {
        self.outline.as_ref()
    }
    /// The mesh that it is drawn as, for a body that was made from one, and for a block; its particles are counted in
    /// the order in which the object was made. [`World::skin`] has it as it is now.
    pub fn skin(&self) -> Option<&MeshSkin> {
        self.skin.as_deref()
    }
}

/// Particles with ids in sequence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    first: u64,
    count: u32,
}

/// A named part of the world: a set of particles, and the surface they span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Name given by the scene or the builder. Two objects may have the same.
    pub name: String,
    /// A number for the host program; the engine never looks at it.
    pub user_data: u64,
    /// Whether the object is drawn. A hidden one is simulated as any other.
    pub visible: bool,
    /// Its particles in order. Builders make ids in sequence, so most objects are one run; an
    /// object made of a list may have as many runs as particles.
    runs: Vec<Run>,
    /// How many particles it had when it was made.
    made_of: u32,
    /// The id of the first of them; builders give ids in sequence.
    first: u64,
    surface: Surface,
}

impl Object {
    fn new(name: &str, particles: &[ParticleId], surface: Surface) -> Self {
        Object {
            name: name.into(),
            user_data: 0,
            visible: true,
            runs: runs(particles.iter().copied()),
            made_of: particles.len() as u32,
            first: particles.first().map_or(0, |id| id.0),
            surface,
        }
    }

    /// Its particles, in the order in which they were given.
    pub fn particles(&self) -> impl Iterator<Item = ParticleId> + Clone + '_ {
        let ids = |run: &Run| run.first..run.first + u64::from(run.count);
        self.runs.iter().flat_map(move |run| ids(run).map(ParticleId))
    }
    /// How many particles it has.
    pub fn len(&self) -> usize {
        self.runs.iter().map(|run| run.count as usize).sum()
    }
    /// True when all its particles have been removed.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
    /// The particle of this index in the order of [`Object::particles`].
    pub fn particle(&self, index: usize) -> Option<ParticleId> {
        let mut left = u32::try_from(index).ok()?;
        for run in &self.runs {
            if left < run.count {
                return Some(ParticleId(run.first + u64::from(left)));
            }
            left -= run.count;
        }
        None
    }
    /// How many particles it had when it was made; of an emitter, how many came out of it. Those that
    /// a sink took are not counted.
    pub fn made_of(&self) -> usize {
        self.made_of as usize
    }
    /// The slot of each particle that it was made of, in that order; none for those that are gone.
    pub(crate) fn slots_of_all(&self, all: &Particles) -> Vec<Option<usize>> {
        let ids = (0..u64::from(self.made_of)).map(|k| ParticleId(self.first.saturating_add(k)));
        ids.map(|id| all.slot(id)).collect()
    }
    /// The triangles that show it as a surface; none for grains and lists.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Takes a particle that was just made.
    fn grow(&mut self, id: ParticleId) {
        if self.made_of == 0 {
            self.first = id.0;
        }
        self.made_of = self.made_of.saturating_add(1);
        match self.runs.last_mut() {
            Some(run) if run.first + u64::from(run.count) == id.0 => run.count += 1,
            _ => self.runs.push(Run { first: id.0, count: 1 }),
        }
    }

    /// Drops those of its particles that are among `ids`, which are in order, as if it had been made
    /// without them. `room` is memory that changes places with that of the object.
    fn shrink(&mut self, ids: &[u64], room: &mut Vec<Run>) {
        let before = self.len();
        room.clear();
        for run in &self.runs {
            let mut first = run.first;
            let end = run.first + u64::from(run.count);
            let from = ids.partition_point(|&id| id < first);
            let gone = ids[from..].iter().copied().take_while(|&id| id < end);
            for next in gone.chain([end]) {
                if next > first {
                    room.push(Run { first, count: (next - first) as u32 });
                }
                first = next + 1;
            }
        }
        std::mem::swap(&mut self.runs, room);
        self.made_of -= (before - self.len()) as u32;
    }

    /// Drops the particles that are gone, and the triangles on them.
    fn forget(&mut self, all: &Particles) {
        if self.runs.iter().all(|run| all.all_live(run.first, run.count)) {
            return;
        }
        let lives = |id: ParticleId| all.slot(id).is_some();
        self.runs = runs(self.particles().filter(|&id| lives(id)));
        self.surface.triangles.retain(|corners| corners.iter().all(|&id| lives(id)));
        give_back(&mut self.surface.triangles);
    }
}

/// Ids as runs, in their order.
fn runs(ids: impl Iterator<Item = ParticleId>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for ParticleId(id) in ids {
        match runs.last_mut() {
            Some(run) if run.first + u64::from(run.count) == id => run.count += 1,
            _ => runs.push(Run { first: id, count: 1 }),
        }
    }
    runs
}

/// The objects of a world by place. A place whose object was removed is taken again, with the next
/// generation, so that a world which adds and removes objects for ever does not grow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Objects {
    places: Vec<Place>,
    free: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Place {
    generation: u32,
    object: Option<Object>,
}

impl Objects {
    fn add(&mut self, object: Object) -> ObjectId {
        if let Some(place) = self.free.pop() {
            let there = &mut self.places[place as usize];
            there.object = Some(object);
            return ObjectId { place, generation: there.generation };
        }
        self.places.push(Place { generation: 0, object: Some(object) });
        ObjectId::nth(self.places.len() - 1)
    }

    fn place(&mut self, id: ObjectId) -> Option<&mut Place> {
        self.places.get_mut(id.place as usize).filter(|there| there.generation == id.generation)
    }

    fn remove(&mut self, id: ObjectId) -> Option<Object> {
        let there = self.place(id)?;
        let object = there.object.take()?;
        // A place that has run out of generations is never taken again.
        if let Some(next) = there.generation.checked_add(1) {
            there.generation = next;
            self.free.push(id.place);
        }
        Some(object)
    }

    fn iter(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        self.places.iter().enumerate().filter_map(|(place, there)| {
            let id = ObjectId { place: place as u32, generation: there.generation };
            Some((id, there.object.as_ref()?))
        })
    }

    /// A particle that was just made is one of an object's.
    pub(super) fn grow(&mut self, object: ObjectId, id: ParticleId) {
        if let Some(object) = self.place(object).and_then(|there| there.object.as_mut()) {
            object.grow(id);
        }
    }

    /// Sinks took the particles of these ids, which are in order.
    pub(super) fn shrink(&mut self, ids: &[u64], room: &mut Vec<Run>) {
        for object in self.places.iter_mut().filter_map(|there| there.object.as_mut()) {
            object.shrink(ids, room);
        }
    }

    /// Follows the removal of particles.
    pub(super) fn forget(&mut self, particles: &Particles) {
        for object in self.places.iter_mut().filter_map(|there| there.object.as_mut()) {
            object.forget(particles);
        }
    }

    /// Checks what a snapshot may have broken. The ids of the particles are sound already.
    pub(super) fn are_sound(&self, particles: &Particles) -> bool {
        let mut freed = vec![false; self.places.len()];
        let free_are_sound = self.free.iter().all(|&place| {
            self.places.get(place as usize).is_some_and(|there| there.object.is_none())
                && !std::mem::replace(&mut freed[place as usize], true)
        });
        // By slot, the last object that a particle was seen in; one past the last for none.
        let mut seen = vec![self.places.len(); particles.len()];
        free_are_sound
            && self.places.iter().enumerate().all(|(k, there)| {
                there.object.as_ref().is_none_or(|object| object.is_sound(k, &mut seen, particles))
            })
    }
}

impl Object {
    /// Whether its particles live, each is named once, and its triangles are on them.
    fn is_sound(&self, number: usize, seen: &mut [usize], all: &Particles) -> bool {
        let lives = |run: &Run| run.count > 0 && all.all_live(run.first, run.count);
        let slot = |id: &ParticleId| all.slot(*id);
        self.runs.iter().all(lives)
            && self
                .particles()
                .filter_map(|id| slot(&id))
                .all(|slot| std::mem::replace(&mut seen[slot], number) != number)
            && self.len() <= self.made_of()
            && self.surface.skin.as_ref().is_none_or(|skin| {
                let ids = self.first..self.first.saturating_add(u64::from(self.made_of));
                skin.particles() == self.made_of()
                    && skin.is_sound()
                    && self.particles().all(|id| ids.contains(&id.0))
            })
            && self
                .surface
                .triangles
                .iter()
                .flatten()
                .all(|id| slot(id).is_some_and(|slot| seen[slot] == number))
    }
}

#[cfg(test)]
mod tests;

fn no_such(id: ObjectId) -> Error {
    let ObjectId { place, generation } = id;
    Error::value("object", format!("there is no object {place}.{generation} (removed?)"))
}

impl World {
    /// The parts that the world was built from, each with its handle.
    ///
    /// ```
    /// use motes::{Cloth, Grains, World};
    /// let mut world = World::new();
    /// world.add_cloth(&Cloth::default())?;
    /// world.add_grains(&Grains::default())?;
    /// for (id, object) in world.objects() {
    ///     println!("{id:?}: {} of {} particles", object.name, object.len());
    /// }
    /// let names: Vec<&str> = world.objects().map(|(_, object)| object.name.as_str()).collect();
    /// assert_eq!(names, ["cloth", "grains"]);
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        self.objects.iter()
    }

    /// An object by its handle.
    ///
    /// ```
    /// use motes::{Grains, World};
    /// let mut world = World::new();
    /// let sand = world.add_grains(&Grains::default())?;
    /// let object = world.object(sand.object)?;
    /// assert_eq!(object.particles().count(), 1000);
    /// assert!(object.particles().eq(sand.iter().copied()));
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn object(&self, id: ObjectId) -> Result<&Object> {
        let there = self.objects.places.get(id.place as usize);
        there
            .filter(|there| there.generation == id.generation)
            .and_then(|there| there.object.as_ref())
            .ok_or_else(|| no_such(id))
    }

    /// An object by its handle, to change its name, its user data or whether it is drawn.
    ///
    /// ```
    /// use motes::{Lattice, World};
    /// let mut world = World::new();
    /// let body = world.add_lattice(&Lattice::default())?;
    /// let object = world.object_mut(body.object)?;
    /// object.user_data = 42;
    /// object.visible = false;
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn object_mut(&mut self, id: ObjectId) -> Result<&mut Object> {
        self.objects.place(id).and_then(|there| there.object.as_mut()).ok_or_else(|| no_such(id))
    }

    /// Makes an object of particles that are there already. Two objects may share particles.
    ///
    /// ```
    /// use motes::{Cloth, World};
    /// let mut world = World::new();
    /// let cloth = world.add_cloth(&Cloth::default())?;
    /// let hem = world.add_object("hem", &cloth[..32])?;
    /// assert_eq!(world.object(hem)?.len(), 32);
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn add_object(&mut self, name: &str, particles: &[ParticleId]) -> Result<ObjectId> {
        let mut sorted = particles.to_vec();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("particle {} is named twice", pair[0].0);
            return Err(Error::value("particles", message));
        }
        if let Some(id) = particles.iter().find(|&&id| self.particles.slot(id).is_none()) {
            let message = format!("there is no particle {} (removed?)", id.0);
            return Err(Error::value("particles", message));
        }
        Ok(self.objects.add(Object::new(name, particles, Surface::default())))
    }

    /// Registers what a builder made.
    pub(crate) fn built(
        &mut self,
        name: &str,
        particles: Vec<ParticleId>,
        surface: Surface,
    ) -> Built {
        let object = self.objects.add(Object::new(name, &particles, surface));
        Built { object, particles }
    }

    /// Removes an object with its particles and every constraint and pin on them. Particles that
    /// another object holds as well stay. An emitter goes with its object.
    ///
    /// ```
    /// use motes::{Cloth, World};
    /// let mut world = World::new();
    /// let cloth = world.add_cloth(&Cloth::default())?;
    /// world.remove_object(cloth.object)?;
    /// assert_eq!((world.particles().len(), world.constraint_count()), (0, 0));
    /// assert!(world.object(cloth.object).is_err(), "its handle leads nowhere now");
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn remove_object(&mut self, id: ObjectId) -> Result<()> {
        let object = self.objects.remove(id).ok_or_else(|| no_such(id))?;
        self.taps.retain(|tap| tap.object() != id);
        let slot = |id: ParticleId| self.particles.slot(id);
        let mut shared = vec![false; self.particles.len()];
        for slot in self.objects.iter().flat_map(|(_, other)| other.particles()).filter_map(slot) {
            shared[slot] = true;
        }
        let is_own = |id: &ParticleId| slot(*id).is_some_and(|slot| !shared[slot]);
        let own: Vec<_> = object.particles().filter(is_own).collect();
        self.remove_particles(&own)
    }

    /// The constraints of a kind whose particles all belong to an object: rows of
    /// [`World::distance`], [`World::bend`] and [`World::volume`], places in [`World::pins`]. They
    /// hold until the world is changed or stepped. It looks at every particle and at every
    /// constraint of the kind.
    ///
    /// ```
    /// use motes::{Cloth, Kind, World};
    /// let mut world = World::new();
    /// let small = Cloth { columns: 2, rows: 2, ..Cloth::default() };
    /// world.add_cloth(&small)?;
    /// let second = world.add_cloth(&small)?;
    /// let edges = world.constraints_of(second.object, Kind::Distance)?;
    /// let longest = edges.iter().map(|&row| world.distance().rest()[row]).fold(0.0, f32::max);
    /// assert_eq!(edges.len(), 6);
    /// assert!((longest - 0.05 * 2f32.sqrt()).abs() < 1e-6, "a diagonal");
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn constraints_of(&self, id: ObjectId, kind: Kind) -> Result<Vec<usize>> {
        let mut inside = vec![false; self.particles.len()];
        for slot in self.object(id)?.particles().filter_map(|p| self.particles.slot(p)) {
            inside[slot] = true;
        }
        let within = |slot: u32| inside[slot as usize];
        let numbers = 0..self.count(kind);
        Ok(match self.rows(kind) {
            Some(rows) => numbers.filter(|&i| rows.slots(i).all(within)).collect(),
            None => numbers.filter(|&i| within(self.pins[i].particle)).collect(),
        })
    }
}
