//! How large everything on the device is. That follows from the counts of a world, and from the room
//! that lists have whose length only a step finds out.

use super::layout::{PIN_HEADER, SET_COLUMNS, SET_HEADER, materials};
use super::stages;
use crate::cpu::Scratch;
use crate::cpu::shape::CHUNK;
use crate::pass::Buffer;
use crate::table::{Domain, Mark};
use crate::world::material::MaterialPairs;
use crate::world::{Acceleration, ConstraintRows, Kind, ListId, Solver, World};
use std::ops::{Index, Range};

/// The least room for pins and for force fields.
const SPARE: usize = 8;

/// Room for the lists that grow, in entries, by buffer. When a step runs out of it the room grows and
/// the step is done again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Room {
    own: [usize; Buffer::COUNT],
    /// Entries of the neighbour lists that were added to the world.
    lists: Vec<(ListId, usize)>,
}

/// How the rows of a kind of constraint lie on the device.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SetPlan {
    /// How many rows were loaded: the stride of a column.
    pub cap: usize,
    pub corners: usize,
    pub colors: Vec<Range<usize>>,
}

/// Counts that sizes and dispatches depend on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub particles: usize,
    /// Particles there is room for: more than there are where emitters send some.
    pub most: usize,
    /// One for each stored kind.
    pub sets: [SetPlan; Kind::SETS.len()],
    /// Pins there is room for.
    pub pins: usize,
    pub substeps: usize,
    pub solver: Solver,
    /// Whether iterates are carried further.
    pub accelerated: bool,
    /// Force fields there is room for.
    pub forces: usize,
    pub room: Room,
    /// Words that materials take in pairs and on obstacles.
    pub material_words: usize,
    /// Words the obstacles take.
    pub collider_words: usize,
    pub colliders: usize,
    /// Triangles of open surfaces, counted by corner; 0 where no pass goes over them.
    pub fans: usize,
    /// Whether there is any fluid.
    pub fluid: bool,
    /// Winds that blow on surfaces.
    pub winds: usize,
    /// Bodies that keep their shape, their links, and chunks of these.
    pub bodies: usize,
    pub links: usize,
    pub chunks: usize,
    /// Whether two bodies may touch as a whole, and the words of what they feel of each other.
    pub pairs: bool,
    pub field_words: usize,
    /// Workgroup size.
    pub workgroup: u32,
}

impl Index<Buffer> for Room {
    type Output = usize;
    fn index(&self, buffer: Buffer) -> &usize {
        &self.own[buffer as usize]
    }
}

impl Room {
    fn of(particles: usize, bodies: usize) -> Self {
        let room = |buffer: Buffer| match buffer.domain() {
            Domain::Body => first_room(buffer, bodies).min(bodies * bodies.saturating_sub(1) / 2),
            _ => first_room(buffer, particles),
        };
        let own = std::array::from_fn(|at| room(Buffer::ALL[at]));
        Room { own, lists: Vec::new() }
    }
    /// With room for each list of the world, and for no other; and for what bodies press.
    fn with_lists_of(mut self, world: &World, particles: usize) -> Self {
        let pairs = &mut self.own[Buffer::BodyPairs as usize];
        *pairs = world.bodies.touches.pairs.len().max(*pairs);
        let first = first_room(Buffer::Neighbors, particles);
        let known = |id| self.lists.iter().find(|(list, _)| *list == id).map(|(_, room)| *room);
        let lists = world.lists.iter().map(|list| (list.id, known(list.id).unwrap_or(first)));
        self.lists = lists.collect();
        self
    }
    /// The lists that were added.
    pub fn lists(&self) -> impl Iterator<Item = ListId> {
        self.lists.iter().map(|(id, _)| *id)
    }
    /// The room of a buffer, as passes have it that are about a list.
    fn of_list(&mut self, list: ListId, buffer: Buffer) -> &mut usize {
        let own = &mut self.own[buffer as usize];
        if !buffer.is(Mark::OfList) {
            return own;
        }
        self.lists.iter_mut().find(|(id, _)| *id == list).map_or(own, |(_, room)| room)
    }
    /// Where passes that were about a list counted more than there was room for: room for that, and
    /// half more.
    pub fn grown(mut self, list: ListId, state: &[u32]) -> Self {
        for &buffer in Buffer::ALL {
            let needed = buffer.overflow().map_or(0, |word| state[word] as usize);
            let room = self.of_list(list, buffer);
            if needed > *room {
                *room = needed + needed / 2;
            }
        }
        self
    }
    /// With room for the lists that the CPU made.
    fn holding(mut self, scratch: &Scratch) -> Self {
        for &buffer in Buffer::ALL.iter().filter(|buffer| buffer.first_room().is_some()) {
            let listed = match buffer {
                Buffer::Neighbors => scratch.neighbors.lists.len(),
                Buffer::EnvironmentContacts => scratch.environment.len(),
                Buffer::PointContacts => scratch.point_contacts.len(),
                Buffer::ContactRows => scratch.neighbors.pair_count(),
                Buffer::OctreeNodes => scratch.broad.octree.nodes.len(),
                Buffer::BodyPairs => scratch.matched.pairs.len(),
                _ => 0,
            };
            let room = &mut self.own[buffer as usize];
            *room = listed.max(*room);
        }
        for (id, room) in &mut self.lists {
            *room = scratch.added.get(*id).map_or(0, |made| made.len()).max(*room);
        }
        self
    }
}

/// Room that a buffer of lists begins with, for so many particles or bodies; 0 for one that does not
/// grow.
fn first_room(buffer: Buffer, items: usize) -> usize {
    buffer.first_room().map_or(0, |each| each * items + 64)
}

impl SetPlan {
    fn of(rows: &ConstraintRows) -> Self {
        let colors = (0..rows.color_count()).map(|c| rows.color_range(c)).collect();
        SetPlan { cap: rows.len(), corners: rows.corners(), colors }
    }
    /// Words of the buffer with room for `particles` particles.
    fn words(&self, particles: usize) -> usize {
        let SetPlan { cap, corners, .. } = *self;
        SET_HEADER
            + (corners + SET_COLUMNS) * cap
            + (particles + 1)
            + corners * cap
            + particles
            + cap
    }
}

impl Plan {
    pub fn of(world: &World, room: Option<Room>, workgroup: u32) -> Self {
        Self::for_at_most(world.particles_at_most(), world, room, workgroup)
    }

    /// With room for so many particles.
    pub fn for_at_most(most: usize, world: &World, room: Option<Room>, workgroup: u32) -> Self {
        let (particles, winds) = (world.particles.len(), world.surface_winds().count());
        let pairs = world.rigid_bodies_may_touch();
        let touching = if pairs { world.bodies.rows.len() } else { 0 };
        Plan {
            particles,
            most,
            sets: world.sets.all().map(SetPlan::of),
            pins: with_spare(world.pins.len()),
            substeps: world.params.substeps as usize,
            solver: world.params.solver,
            accelerated: world.params.acceleration == Acceleration::Chebyshev,
            forces: with_spare(world.forces.len()),
            room: room.unwrap_or_else(|| Room::of(most, touching)).with_lists_of(world, most),
            material_words: 2 * materials::WORDS * MaterialPairs::rows_of(world),
            collider_words: stages::environment::words(world),
            colliders: world.colliders.len(),
            fans: if winds > 0 || world.meets_points() {
                3 * world.open_triangle_count()
            } else {
                0
            },
            fluid: world.has_fluid(),
            winds,
            bodies: world.bodies.rows.len(),
            links: world.bodies.links.len(),
            chunks: world.bodies.rows.iter().map(|body| body.links().len().div_ceil(CHUNK)).sum(),
            pairs,
            field_words: if pairs { stages::bodies::fields(world).words } else { 0 },
            workgroup,
        }
    }

    /// With room for the lists that the CPU made.
    pub fn holding(mut self, scratch: &Scratch) -> Self {
        self.room = self.room.holding(scratch);
        self
    }

    /// As passes see it that are about a list: what each list has of its own is that list's.
    pub fn for_list(&self, list: ListId) -> Plan {
        let mut plan = self.clone();
        for &buffer in Buffer::ALL {
            plan.room.own[buffer as usize] = *plan.room.of_list(list, buffer);
        }
        plan
    }

    /// Buckets there is room for: dense cells, or hashed ones.
    pub fn buckets(&self) -> usize {
        let n = self.particles;
        (8 * n + 4096).max((2 * n).next_power_of_two()).max(64)
    }
    /// Tiles there is room for (see `cpu/tiles.rs`).
    pub fn tiles(&self) -> usize {
        let most = ((self.particles as f64 / 8.0).cbrt() as usize / 3 * 3).max(3);
        most.pow(3)
    }
    /// With as much spare room for pins and forces as another plan has.
    pub fn with_spare_of(mut self, other: &Plan) -> Self {
        self.pins = self.pins.max(other.pins);
        self.forces = self.forces.max(other.forces);
        self
    }

    /// The same with as many particles as there is room for. Buffers are made and steps are recorded
    /// for that many, so that particles which come and go change neither. The last invocations then
    /// find that there is nobody for them.
    pub fn full(&self) -> Plan {
        Plan { particles: self.most, ..self.clone() }
    }

    /// Words of a buffer.
    pub fn words(&self, buffer: Buffer) -> usize {
        buffer.words(self)
    }
}

/// Room for so many that are edited one by one: some are spare, so that one more changes no buffer.
fn with_spare(count: usize) -> usize {
    (count + 1).next_power_of_two().max(SPARE)
}

/// Words of a buffer with rows of a kind.
pub(crate) fn set_words(plan: &Plan, kind: Kind) -> usize {
    plan.sets.get(kind as usize).map_or(0, |set| set.words(plan.most))
}
pub(crate) fn pin_words(plan: &Plan) -> usize {
    PIN_HEADER + 3 * plan.pins + 4 * plan.substeps * plan.pins
}
pub(crate) fn correction_words(plan: &Plan) -> usize {
    4 * plan.sets.iter().map(|set| set.corners * set.cap).max().unwrap_or(0)
}
pub(crate) fn material_words(plan: &Plan) -> usize {
    plan.material_words
}
pub(crate) fn collider_words(plan: &Plan) -> usize {
    plan.collider_words
}
