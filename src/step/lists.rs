//! Which structure finds neighbours, and which passes that takes.

use super::{Dispatch, Part, Pass};
use crate::cpu::radix_count::DIGITS;
use crate::world::{AddedList, BroadPhase, ListReach, World};

/// Fewer particles than this are quickest found by testing every pair.
const FEW: usize = 64;
/// A largest radius above this many times the mean is too much for a grid, whose cells must fit it.
const WIDE_SPREAD: f32 = 2.5;

impl BroadPhase {
    /// The structure itself: what `auto` means for particles of these radii.
    pub fn resolve(self, radii: impl ExactSizeIterator<Item = f32>) -> BroadPhase {
        if self != BroadPhase::Auto {
            return self;
        }
        let count = radii.len();
        if count < FEW {
            return BroadPhase::Brute;
        }
        let (mut largest, mut sum) = (0.0f32, 0.0f64);
        for r in radii {
            largest = largest.max(r);
            sum += f64::from(r);
        }
        let mean = (sum / count as f64) as f32;
        if largest > WIDE_SPREAD * mean { BroadPhase::Octree } else { BroadPhase::Grid }
    }
}

/// Whether a list is to be kept up to date. Those of fluids are not where nobody stands in them.
pub(crate) fn is_needed(list: &AddedList, fluid: bool, shore: bool) -> bool {
    match &list.description.name[..] {
        World::FLUID_LIST => fluid,
        World::SHORE_LIST => shore,
        _ => true,
    }
}

/// What finds the neighbours of a list that reaches so far.
pub(crate) fn structure(world: &World, reach: ListReach) -> BroadPhase {
    let equal = matches!(reach, ListReach::Length(_));
    let reaches = world.particles.radius.iter().map(|&r| if equal { 1.0 } else { r });
    world.params.broad_phase.resolve(reaches)
}

/// The passes that sort the points along a curve that keeps near ones together.
pub(crate) fn morton_order() -> impl Iterator<Item = Dispatch> {
    let digits = (0..DIGITS).flat_map(|digit| {
        let part = move |pass| Dispatch { pass, part: Part::Digit(digit) };
        [Pass::RadixCount, Pass::RadixScan, Pass::RadixScatter].map(part)
    });
    std::iter::once(Dispatch { pass: Pass::MortonCodes, part: Part::All }).chain(digits)
}

/// The passes that make neighbour lists with a structure, once `bounds` has loaded the points.
pub(crate) fn passes(structure: BroadPhase) -> Vec<Dispatch> {
    let all = |pass| Dispatch { pass, part: Part::All };
    let mut list = Vec::new();
    if matches!(structure, BroadPhase::Octree | BroadPhase::Bvh) {
        list.extend(morton_order());
    }
    let rest: &[Pass] = match structure {
        BroadPhase::Auto | BroadPhase::Grid => {
            &[Pass::GridCount, Pass::GridScan, Pass::GridSort, Pass::FindNeighborsGrid]
        }
        BroadPhase::Octree => &[Pass::OctreeBuild, Pass::FindNeighborsOctree],
        BroadPhase::Bvh => &[Pass::BvhBuild, Pass::BvhBoxes, Pass::FindNeighborsBvh],
        BroadPhase::Brute => &[Pass::FindNeighborsBrute],
    };
    list.extend(rest.iter().map(|&pass| all(pass)));
    list
}
