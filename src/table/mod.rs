//! What is declared once, and what follows from it.
//!
//! - [`Buffer`]: every array that passes share, one row each: what it is counted by, how wide it is,
//!   where it lives, and what must be done with it. Sizes on the device, what is loaded, fetched,
//!   kept for another attempt, what grows and what follows particles to new slots come from here.
//! - `columns!`: the parallel arrays of a table on the host.
//! - `Changes`: which rows of which buffer an edit changed.

mod changes;
mod columns;

pub(crate) use changes::Changes;
pub(crate) use columns::{Column, Item, columns, give_back};

use crate::world::Kind;

/// What the items of a buffer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Particles, by slot.
    Particle,
    /// Constraints of a kind.
    Rows(Kind),
    /// Corners of constraints, of one kind at a time.
    Corner,
    /// Pins.
    Pin,
    /// Entries of lists by particle.
    List,
    /// Tiles of space with their pairs.
    Tile,
    /// Cells of the grid.
    Bucket,
    /// Blocks of particles that the radix sort counts together.
    Block,
    /// Nodes of a tree.
    Node,
    /// Pairs of materials, and of a material and an obstacle.
    MaterialPair,
    /// Obstacles.
    Collider,
    /// Force fields.
    Field,
    /// Bodies that keep their shape.
    Body,
    /// Particles of bodies: one that is in several bodies is there several times.
    Link,
}

/// Where the contents of a buffer come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// They are part of the world.
    World,
    /// Passes make them, and can make them again.
    Scratch,
}

/// What must be done with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is in snapshots.
    Saved,
    /// A device has it from the world before its first step, and after an edit.
    Loaded,
    /// The host writes it in place before every step, where it changed.
    Written,
    /// A step changes it: an attempt that ran out of room must give it back.
    Restored,
    /// The world takes it back from a device. Rows of constraints come only when they can break.
    Fetched,
    /// It names particles by slot: a sort or a removal must give the names anew.
    Slots,
    /// Every neighbour list has one of its own. The world's and the table's is that of the contacts.
    OfList,
}

macro_rules! width {
    (Each($words:literal)) => {
        Some($words)
    };
    ($laid:ident($($function:tt)+)) => {
        None
    };
}

#[cfg(feature = "vulkan")]
macro_rules! words {
    ($plan:ident, Each($words:literal)) => {
        $words * $plan.particles
    };
    ($plan:ident, Laid($($function:tt)+)) => {
        $($function)+($plan)
    };
    ($plan:ident, OfKind($($kind:tt)+)) => {
        crate::vulkan::plan::set_words($plan, $($kind)+)
    };
}

macro_rules! buffers {
    ($(
        $(#[$doc:meta])*
        $name:ident by $domain:expr, $width:ident($($words:tt)+), $home:ident [$($mark:ident)*]
        $(from $column:ident)?
        $(grows from $first:literal at $counter:ident)?;
    )+) => {
        /// A named array that passes share.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Buffer { $($(#[$doc])* $name),+ }

        impl Buffer {
            /// Every buffer, in order.
            pub const ALL: &'static [Buffer] = &[$(Buffer::$name),+];

            /// What its items are.
            pub fn domain(self) -> Domain {
                match self { $(Buffer::$name => $domain),+ }
            }
            /// Words for each particle, where that is all; `None` where a function lays it out.
            pub fn width(self) -> Option<usize> {
                match self { $(Buffer::$name => width!($width($($words)+))),+ }
            }
            /// Where its contents come from.
            pub fn home(self) -> Home {
                match self { $(Buffer::$name => Home::$home),+ }
            }
            /// What must be done with it.
            pub fn marks(self) -> &'static [Mark] {
                match self { $(Buffer::$name => &[$(Mark::$mark),*]),+ }
            }
            /// For a list that may run out of room: entries for each particle that it has at first, or
            /// for each body.
            pub fn first_room(self) -> Option<usize> {
                match self { $(Buffer::$name => [$($first,)?].first().copied()),+ }
            }
        }

        #[cfg(feature = "vulkan")]
        impl Buffer {
            /// Words on a device.
            pub(crate) fn words(self, of: &crate::vulkan::plan::Plan) -> usize {
                use crate::vulkan::plan;
                use crate::vulkan::stages::{
                    bodies, constraints, contacts, environment, fluids, lists, points, surfaces, trees,
                };
                match self { $(Buffer::$name => words!(of, $width($($words)+))),+ }
            }
            /// The word of `state` in which a step tells how much room it would have needed.
            pub(crate) fn overflow(self) -> Option<usize> {
                use crate::vulkan::layout::state;
                match self { $(Buffer::$name => [$(state::$counter,)?].first().copied()),+ }
            }
            /// The array of the particles that it is, as words.
            pub(crate) fn column(self, particles: &crate::world::Particles) -> Option<&[u32]> {
                match self {
                    $($(Buffer::$name => Some(bytemuck::cast_slice(&particles.$column)),)?)+
                    _ => None,
                }
            }
            /// The same, to be filled.
            pub(crate) fn column_mut(
                self,
                particles: &mut crate::world::Particles,
            ) -> Option<&mut [u32]> {
                match self {
                    $($(Buffer::$name => Some(bytemuck::cast_slice_mut(&mut particles.$column)),)?)+
                    _ => None,
                }
            }
        }
    };
}

use Domain::*;

buffers! {
    /// [x, y, z, inverse mass] where the step begins, m and 1/kg. It stays while a step runs: all
    /// that moves is counted from here.
    Position by Particle, Each(4), World [Saved Loaded Restored Fetched] from position;
    /// [x, y, z, inverse mass]: how far from `position` the solver has moved it, m.
    Predicted by Particle, Each(4), World [Saved Loaded] from predicted;
    /// [x, y, z, 0], m/s.
    Velocity by Particle, Each(4), World [Saved Loaded Restored Fetched] from velocity;
    /// Who takes whom in a round of impacts: the highest closing speed, in this round and in the one
    /// before by turns, and the partner.
    Impacts by Particle, Each(3), Scratch [];
    /// m.
    Radius by Particle, Each(1), World [Saved Loaded] from radius;
    /// Group and flags.
    Phase by Particle, Each(1), World [Saved Loaded] from phase;
    /// The number of the material.
    Material by Particle, Each(1), World [Saved Loaded] from material;
    /// Undeformed [x, y, z, 1/kg when not pinned].
    Rest by Particle, Each(4), World [Saved Loaded] from rest;
    /// How far from `position` the substep began, m, and the inverse mass. Between
    /// steps it is what rounding left over.
    Start by Particle, Each(4), World [Saved Loaded Restored Fetched] from start;
    /// Where each particle was when the lists were made. A device makes its own with its lists.
    ListReference by Particle, Each(4), World [Saved OfList] from list_reference;
    /// [x, y, z, reach] of what the broad phase sorts.
    Points by Particle, Each(4), Scratch [];
    /// The grid cell of each particle.
    GridBucket by Particle, Each(1), Scratch [];
    /// Counts of cells, then places; slots in order of cell; sums of the scan.
    GridSlab by Bucket, Laid(lists::slab_words), Scratch [];
    /// The first place of each cell, and the end.
    GridStart by Bucket, Laid(lists::start_words), Scratch [];
    /// Morton codes with their slots, twice.
    Codes by Particle, Each(4), Scratch [];
    /// Counts of the digits of a radix sort, then places.
    RadixNext by Block, Laid(trees::radix_words), Scratch [];
    /// Points in order, then their slots.
    Sorted by Particle, Each(5), Scratch [];
    /// The octree.
    OctreeNodes by Node, Laid(trees::octree_words), Scratch [] grows from 2 at OVERFLOW_NODES;
    /// The tree of volumes.
    BvhNodes by Node, Laid(trees::bvh_words), Scratch [];
    /// Neighbour lists: where each begins and how long it is, then slots with contact distances.
    Neighbors by List, Laid(lists::neighbor_words), Scratch [OfList] grows from 16 at OVERFLOW_NEIGHBORS;
    /// Pairs in contact, by tile and batch.
    ContactRows by Tile, Laid(lists::row_words), Scratch [] grows from 8 at OVERFLOW_PAIRS;
    /// What contacts hold, by pair in `contact_rows`, or by entry in `neighbors`.
    Grips by List, Laid(contacts::grip_words), Scratch [];
    /// The same of contacts with obstacles, by entry in `environment_contacts`.
    WallGrips by List, Laid(contacts::wall_words), Scratch [];
    /// Contacts that press: how far, and from where slip is counted.
    ContactMemory by List, Laid(contacts::memory_words), World [Saved Loaded Restored Slots];
    /// Planes of obstacles near each particle.
    EnvironmentContacts by List, Laid(environment::contact_words), Scratch []
        grows from 2 at OVERFLOW_ENVIRONMENT;
    /// Vertices of meshes that the triangles around each particle meet.
    PointContacts by List, Laid(points::contact_words), Scratch [] grows from 1 at OVERFLOW_POINTS;
    /// Where fluid, and who is in it, is predicted in an iteration: [x, y, z] as in `predicted`, and
    /// its multiplier, kg m².
    Lambdas by Particle, Laid(fluids::rows), Scratch [];
    /// The gradient of what walls add to the density ratio of fluid, 1/m, and how much of that ratio
    /// comes from before the substep.
    Shores by Particle, Laid(fluids::rows), Scratch [];
    /// How fluid turns: the curl of its velocity [x, y, z] and the length of that, 1/s.
    Curls by Particle, Laid(fluids::rows), Scratch [];
    /// Where the inside of a fluid is: the gradient of how much of the same fluid is there, 1/m.
    Normals by Particle, Laid(fluids::rows), Scratch [];
    /// Gathered corrections [x, y, z, how many].
    Delta by Particle, Each(4), Scratch [];
    /// Distance constraints: header, columns, who is on which.
    Distance by Rows(Kind::Distance), OfKind(Kind::Distance), World
        [Saved Loaded Restored Fetched Slots];
    /// Bending hinges, likewise.
    Bend by Rows(Kind::Bend), OfKind(Kind::Bend), World
        [Saved Loaded Restored Fetched Slots];
    /// Tetrahedra, likewise.
    Volume by Rows(Kind::Volume), OfKind(Kind::Volume), World
        [Saved Loaded Restored Fetched Slots];
    /// Pins: header, columns, targets by substep.
    Pins by Pin, Laid(plan::pin_words), World [Saved Loaded Written Slots];
    /// Corrections of a Jacobi sweep, by row and corner.
    Corrections by Corner, Laid(plan::correction_words), Scratch [];
    /// The last two iterates, for acceleration.
    Iterates by Particle, Laid(constraints::iterate_words), Scratch [];
    /// Friction and restitution of each material on each material, then on each obstacle.
    Materials by MaterialPair, Laid(plan::material_words), World [Saved Loaded Written];
    /// The triangles of open surfaces around each particle: where they begin, how many they are, then
    /// the other two corners of each.
    Surfaces by List, Laid(surfaces::fan_words), World [Saved Loaded Slots];
    /// Bodies: what they are, how they lie, and where their particles are to go.
    Bodies by Body, Laid(bodies::body_words), World [Saved Loaded Restored];
    /// Where the links of each particle begin and how many they are; then by link who it is of, its
    /// place at rest, and its part of the mass.
    Links by Link, Laid(bodies::link_words), World [Saved Loaded Slots];
    /// What the links of bodies are summed up to, by chunks of 64.
    BodySums by Link, Laid(bodies::sum_words), Scratch [];
    /// How far each link was pushed in this substep, m.
    BodyPushes by Link, Laid(bodies::push_words), Scratch [];
    /// Where rigid bodies meet obstacles: a row each, body by body.
    ImpulseRows by List, Laid(bodies::row_words), Scratch [];
    /// How far places are from the surface of rigid bodies: grids in their frames. What is saved of bodies
    /// tells them.
    BodyFields by Body, Laid(bodies::field_words), World [Saved Loaded];
    /// Rigid bodies that are near each other, and behind them what is known of each body meanwhile.
    BodyPairs by Body, Laid(bodies::pair_words), Scratch [] grows from 4 at OVERFLOW_BODY_PAIRS;
    /// Where they touch: so many rows for each pair there is room for in `body_pairs`.
    PairRows by Body, Laid(bodies::pair_row_words), Scratch [];
    /// What they press on each other, from substep to substep: so many for each of these pairs.
    Touches by Body, Laid(bodies::touch_words), World [Saved Loaded Restored Fetched];
    /// Winds that blow on surfaces: their numbers, then their gusts by substep.
    Winds by Field, Laid(surfaces::wind_words), World [Saved Loaded Written];
    /// Obstacles: shapes, poses by substep, meshes.
    Colliders by Collider, Laid(plan::collider_words), World [Saved Loaded Written];
}

impl Buffer {
    /// How many buffers there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Whether this must be done with it.
    pub fn is(self, mark: Mark) -> bool {
        self.marks().contains(&mark)
    }
    /// Whether it must follow when particles change their slots: it is indexed by slot or names
    /// slots, and no pass makes it anew.
    pub fn follows_particles(self) -> bool {
        self.is(Mark::Loaded) && (self.domain() == Domain::Particle || self.is(Mark::Slots))
    }
    /// The name in shaders: `list_reference` for `ListReference`.
    pub fn name(self) -> String {
        let mut name = String::new();
        for (at, c) in format!("{self:?}").chars().enumerate() {
            if c.is_uppercase() && at > 0 {
                name.push('_');
            }
            name.extend(c.to_lowercase());
        }
        name
    }
}

#[cfg(test)]
mod tests;
