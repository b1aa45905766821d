//! Puts particles in the order of their Morton codes, so that those near in space are near in
//! memory; ids stay.
//! Reads: the order that the radix sort found. Writes: every array by slot, and slots in constraints
//! and pins. Lists are made anew.
//! Order: the sort is stable; deterministic. Serial, 4 ms for 100 000, once in many steps.

use super::Scratch;
use crate::world::World;

pub(crate) fn run(world: &mut World, scratch: &Scratch) {
    let sorted = &scratch.broad.sorted;
    world.reorder(sorted.slots());
}
