//! How large everything on the device is: counts of a world, and room for what is only known later.

use super::layout::state as s;
use super::layout::{COUNTED, PIN_HEADER, SET_COLUMNS, SET_HEADER};
use super::stages;
use crate::cpu::Scratch;
use crate::pass::Buffer;
use crate::world::{Acceleration, ConstraintSet, Solver, World};
use std::ops::Range;

/// Room for lists. Grown when a step runs out of it; the step is then done again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Room {
    pub neighbors: usize,
    pub environment: usize,
    pub pairs: usize,
    pub nodes: usize,
}

/// Rows of a kind of constraint as they lie on the device.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    /// Rows in all when they were loaded: the stride of a column.
    pub cap: usize,
    pub corners: usize,
    pub colors: Vec<Range<usize>>,
}

/// Counts that sizes and dispatches depend on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub particles: usize,
    /// Distance, bend, volume.
    pub rows: [Rows; 3],
    pub pins: usize,
    pub substeps: usize,
    pub solver: Solver,
    /// Whether iterates are carried further.
    pub accelerated: bool,
    pub forces: usize,
    pub room: Room,
    /// Words the obstacles take.
    pub collider_words: usize,
    pub colliders: usize,
    /// Whether particles bounce off each other.
    pub pairs_bounce: bool,
    /// Workgroup size.
    pub workgroup: u32,
}

impl Room {
    fn of(particles: usize) -> Self {
        Room {
            neighbors: 16 * particles + 64,
            environment: 2 * particles + 64,
            pairs: 8 * particles + 64,
            nodes: 2 * particles + 64,
        }
    }
}

impl Room {
    /// With what a step counted where there was too little, and half more.
    pub fn grown(self, state: &[u32]) -> Self {
        let more = |room: usize, at: usize| {
            let needed = state[at] as usize;
            if needed > room { needed + needed / 2 } else { room }
        };
        Room {
            neighbors: more(self.neighbors, s::OVERFLOW_NEIGHBORS),
            environment: more(self.environment, s::OVERFLOW_ENVIRONMENT),
            pairs: more(self.pairs, s::OVERFLOW_PAIRS),
            nodes: more(self.nodes, s::OVERFLOW_NODES),
        }
    }
    /// With room for the lists that the CPU made.
    fn holding(self, scratch: &Scratch) -> Self {
        Room {
            neighbors: self.neighbors.max(scratch.neighbors.lists.len()),
            environment: self.environment.max(scratch.environment.len()),
            pairs: self.pairs.max(scratch.neighbors.pair_count()),
            nodes: self.nodes.max(scratch.broad.octree.nodes.len()),
        }
    }
}

impl Rows {
    fn of<const N: usize>(set: &ConstraintSet<N>) -> Self {
        let colors = (0..set.color_count()).map(|c| set.color_range(c)).collect();
        Rows { cap: set.len(), corners: N, colors }
    }
    /// Words of the buffer for `particles` particles.
    fn words(&self, particles: usize) -> usize {
        let Rows { cap, corners, .. } = *self;
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
        let particles = world.particles.len();
        Plan {
            particles,
            rows: [Rows::of(&world.distance), Rows::of(&world.bend), Rows::of(&world.volume)],
            pins: world.pins.len(),
            substeps: world.params.substeps as usize,
            solver: world.params.solver,
            accelerated: world.params.acceleration == Acceleration::Chebyshev,
            forces: world.forces.len(),
            room: room.unwrap_or(Room::of(particles)),
            collider_words: stages::environment::words(world),
            colliders: world.colliders.len(),
            pairs_bounce: world.params.restitution > 0.0 && world.may_touch(),
            workgroup,
        }
    }

    /// With room for the lists that the CPU made.
    pub fn holding(mut self, scratch: &Scratch) -> Self {
        self.room = self.room.holding(scratch);
        self
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

    /// Words of a buffer.
    pub fn words(&self, buffer: Buffer) -> usize {
        let (n, room) = (self.particles, &self.room);
        match buffer {
            Buffer::Position
            | Buffer::Predicted
            | Buffer::Velocity
            | Buffer::VelocityPrior
            | Buffer::Rest
            | Buffer::Start
            | Buffer::ListReference
            | Buffer::Points
            | Buffer::Codes
            | Buffer::Delta => 4 * n,
            Buffer::Radius | Buffer::Phase | Buffer::GridBucket => n,
            Buffer::Sorted => 5 * n,
            Buffer::GridStart => self.buckets() + 1,
            Buffer::RadixNext => n.div_ceil(COUNTED) * 1024,
            Buffer::Neighbors => 2 * n + 2 * room.neighbors,
            Buffer::EnvironmentContacts => 2 * n + 8 * room.environment,
            Buffer::ContactRows => {
                4 * n + 69 * self.tiles() + 1 + 3 * room.pairs + stages::lists::pair_scratch(self)
            }
            Buffer::GridSlab => stages::lists::slab_words(self),
            Buffer::OctreeNodes => stages::trees::octree_words(self),
            Buffer::BvhNodes => stages::trees::bvh_words(self),
            Buffer::Distance => self.rows[0].words(n),
            Buffer::Bend => self.rows[1].words(n),
            Buffer::Volume => self.rows[2].words(n),
            Buffer::Pins => PIN_HEADER + 3 * self.pins + 4 * self.substeps * self.pins,
            Buffer::Colliders => self.collider_words,
            Buffer::Corrections => {
                4 * self.rows.iter().map(|rows| rows.corners * rows.cap).max().unwrap_or(0)
            }
            Buffer::Iterates => stages::constraints::iterate_words(self),
        }
    }
}
