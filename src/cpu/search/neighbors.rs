//! Neighbours of each particle, in order of slot whatever found them.

use super::broad::{Accept, SearchTools};
use super::joined::Joined;
use super::lists::Lists;
use crate::cpu::Scratch;
use crate::cpu::team::{BLOCK, Shared, Team};
use crate::error::Result;
use crate::simd::{LANES, Simd};
use crate::step::Pass;
use crate::world::{ListFilter, ListId, ListPairs, Particles, Phase, Solver, Who, World};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A neighbour: in a list of what may touch, with the distance of the centres at which it does, m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Neighbor {
    pub slot: u32,
    pub contact: f32,
}

/// Neighbours of each particle. Every pair stands in the list of its lower slot, and in the other too
/// where the list is full, as for a solver that gathers.
#[derive(Default)]
pub(crate) struct Neighbors {
    pub lists: Lists<Neighbor, SearchTools>,
    /// The slots alone, where the list keeps everything: half as many bytes to go through. `lists` is
    /// empty then.
    pub slots: Lists<u32, SearchTools>,
    pub traits: Vec<Traits>,
    pub both: bool,
    /// False until the lists have been made by this backend.
    pub built: bool,
    /// How often this backend has made them.
    pub builds: u64,
}

/// Lists that were added to a world, as they were made.
#[derive(Default)]
pub(crate) struct Added(Vec<(ListId, Neighbors)>);

impl Added {
    /// What there is of a list, empty at first.
    pub fn of(&mut self, id: ListId) -> &mut Neighbors {
        let at = self.0.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
            self.0.push((id, Neighbors::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
    /// A list that was made.
    pub fn get(&self, id: ListId) -> Option<&Neighbors> {
        self.0.iter().find(|(known, list)| *known == id && list.built).map(|(_, list)| list)
    }
    /// Drops the lists that the world no longer has.
    pub fn forget_removed(&mut self, world: &World) {
        self.0.retain(|(id, _)| world.lists.get(*id).is_some());
    }
}

/// Makes the list that passes are about now, with the structure over its points.
pub(crate) fn find(team: &Team, pass: Pass, world: &World, scratch: &mut Scratch) -> Result<()> {
    let Scratch { broad, neighbors, added, joined, list, rows_are_known, .. } = scratch;
    let (particles, params) = (&world.particles, &world.params);
    let added_list = world.lists.get(*list).map(|list| &list.description);
    let full = match added_list {
        Some(list) => list.pairs == ListPairs::Full,
        None => params.solver == Solver::Jacobi,
    };
    let neighbors = match added_list {
        Some(_) => added.of(*list),
        None => {
            // What contacts hold is by entry of the old list.
            *rows_are_known = false;
            neighbors
        }
    };
    let Neighbors { lists, slots, traits, both, built, builds } = neighbors;
    let chosen = added_list.filter(|list| list.chooses()).map(|list| (list.asks, list.found));
    (*both, *built) = (full, false);
    if added_list.is_some_and(|list| list.filter == ListFilter::Everything) {
        let filter = Everything { phase: &particles.phase, both: full, chosen };
        broad.find(team, pass, params, &filter, slots)?;
    } else {
        joined.update(&world.sets.distance, particles.len());
        let mut filter = Filter::new(team, particles, joined, traits, full);
        filter.chosen = chosen;
        broad.find(team, pass, params, &filter, lists)?;
    }
    *built = true;
    *builds += 1;
    Ok(())
}

/// Keeps every pair of those who ask and those who may be found.
struct Everything<'a> {
    phase: &'a [u32],
    both: bool,
    /// Who asks and who may be found, unless all do and may.
    chosen: Option<(Who, Who)>,
}

impl Accept for Everything<'_> {
    type Entry = u32;
    #[inline(always)]
    fn floor(&self, i: usize) -> Option<i32> {
        (!self.both).then_some(i as i32)
    }
    #[inline(always)]
    fn room<'a>(_: &'a mut Vec<u32>, hits: &'a mut Vec<u32>) -> &'a mut Vec<u32> {
        hits
    }
    #[inline(always)]
    fn keep<S: Simd>(&self, i: usize, hits: &mut Vec<u32>, out: &mut Vec<u32>) {
        if let Some(chosen) = self.chosen {
            choose(self.phase, i, chosen, hits);
        }
        out.extend_from_slice(in_order::<S>(hits, &mut [0; FEW]));
        hits.clear();
    }
}

/// Leaves out of the slots found those that particle i does not ask for.
#[inline(never)]
fn choose(phase: &[u32], i: usize, (asks, found): (Who, Who), hits: &mut Vec<u32>) {
    if !asks.has(Phase(phase[i])) {
        hits.clear();
    } else if found != Who::ALL {
        hits.retain(|&slot| found.has(Phase(phase[slot as usize])));
    }
}

/// The slots in order, so that every structure gives the same lists.
#[inline(always)]
fn in_order<'a, S: Simd>(hits: &'a mut Vec<u32>, sorted: &'a mut [u32; FEW]) -> &'a [u32] {
    if hits.len() <= FEW {
        return sort_few::<S>(hits, sorted);
    }
    hits.sort_unstable();
    hits
}

/// What the filter asks of every particle found, in one place of memory.
#[derive(Clone, Copy, Default)]
pub(crate) struct Traits {
    radius: f32,
    phase: Phase,
}

/// Marks a particle that nothing moves, in a bit that phases leave free.
const PINNED: u32 = 1 << 31;

/// Decides which pairs within reach are listed.
pub(crate) struct Filter<'a> {
    particles: &'a Particles,
    joined: &'a Joined,
    traits: &'a [Traits],
    both: bool,
    /// Where all are the same and may touch, the contact distance of each pair, m.
    common_contact: Option<f32>,
    /// Who asks and who may be found, unless all do and may.
    chosen: Option<(Who, Who)>,
}

impl<'a> Filter<'a> {
    /// A filter over the particles as they are now; `traits` is room to work in. `both`: a pair
    /// stands in both lists.
    fn new(
        team: &Team,
        particles: &'a Particles,
        joined: &'a Joined,
        traits: &'a mut Vec<Traits>,
        both: bool,
    ) -> Self {
        let Particles { position, radius, phase, .. } = particles;
        traits.resize(particles.len(), Traits::default());
        let rows = (Shared::new(traits), &position[..], &radius[..], &phase[..]);
        let first = (radius.first().copied(), phase.first().copied());
        let differ = AtomicBool::new(!joined.is_empty());
        team.rows(rows, BLOCK, |_, (traits, position, radius, phase)| {
            let mut same = true;
            for (i, traits) in traits.iter_mut().enumerate() {
                let pinned = if position[i].w == 0.0 { PINNED } else { 0 };
                same &= (Some(radius[i]), Some(phase[i] | pinned)) == first;
                *traits = Traits { radius: radius[i], phase: Phase(phase[i] & !PINNED | pinned) };
            }
            if !same {
                differ.store(true, Relaxed);
            }
        });
        let common_contact = match first {
            (Some(radius), Some(phase)) if !differ.into_inner() => {
                let deciding = Phase::SELF_COLLIDE | Phase::SHAPED | Phase::RIGID;
                let simple = phase & deciding == Phase::SELF_COLLIDE;
                simple.then_some(radius + radius)
            }
            _ => None,
        };
        Filter { particles, joined, traits, both, common_contact, chosen: None }
    }
}

impl Accept for Filter<'_> {
    type Entry = Neighbor;
    #[inline(always)]
    fn floor(&self, i: usize) -> Option<i32> {
        (!self.both).then_some(i as i32)
    }
    #[inline(always)]
    fn room<'a>(_: &'a mut Vec<Neighbor>, hits: &'a mut Vec<u32>) -> &'a mut Vec<u32> {
        hits
    }
    #[inline(always)]
    fn keep<S: Simd>(&self, i: usize, hits: &mut Vec<u32>, out: &mut Vec<Neighbor>) {
        if let Some(chosen) = self.chosen {
            choose(&self.particles.phase, i, chosen, hits);
        }
        self.filter(i, in_order::<S>(hits, &mut [0; FEW]), out);
        hits.clear();
    }
}

impl Filter<'_> {
    /// Appends those of the slots that may touch particle i.
    #[inline(always)]
    fn filter(&self, i: usize, slots: &[u32], out: &mut Vec<Neighbor>) {
        if let Some(contact) = self.common_contact {
            out.extend(slots.iter().map(|&slot| Neighbor { slot, contact }));
            return;
        }
        let (a, partners) = (self.traits[i], self.joined.of(i));
        out.reserve(slots.len());
        let mut len = out.len();
        for &slot in slots {
            let b = self.traits[slot as usize];
            let both = a.phase.0 & b.phase.0;
            let mut contact = a.radius + b.radius;
            // Pairs that rest closer than their radii keep their rest distance, so a folded cloth
            // is not blown apart.
            if both & Phase::SHAPED != 0 && a.phase.group_number() == b.phase.group_number() {
                let rest = &self.particles.rest;
                contact = contact.min((rest[i] - rest[slot as usize]).truncate().length());
            }
            let kept = a.phase.meets(b.phase) & (both & PINNED == 0) & !partners.contains(&slot);
            // SAFETY: room for all slots was reserved; written whether kept or not, so that the
            // processor need not guess.
            unsafe { out.as_mut_ptr().add(len).write(Neighbor { slot, contact }) };
            len += usize::from(kept);
        }
        // SAFETY: so many were written.
        unsafe { out.set_len(len) };
    }
}

/// Most slots that are sorted by counting.
const FEW: usize = 64;
/// Above every slot, and a finite number when its bits are taken for one.
const ABOVE: u32 = 0x7f7f_ffff;
/// The least normal float.
const NORMAL: u32 = 1 << 23;

/// Sorts a few slots, all different, by counting how many are at most each: comparisons eight at a
/// time and no branches, where an insertion sort mispredicts at every step. Slots are compared as
/// floats of the same bits, whose order is the same; raised by 2^23, so that none is denormal and
/// a host that flushes those to zero changes nothing.
#[inline(always)]
fn sort_few<'a, S: Simd>(slots: &mut Vec<u32>, sorted: &'a mut [u32; FEW]) -> &'a [u32] {
    let count = slots.len();
    assert!(count <= FEW);
    slots.reserve(LANES);
    // SAFETY: there is room for LANES more; whole vectors from 0 on end before that.
    unsafe { S::splat(f32::from_bits(ABOVE)).store(slots.as_mut_ptr().add(count).cast()) };
    for slot in &mut slots[..] {
        *slot += NORMAL;
    }
    for &slot in &slots[..] {
        let this = S::splat(f32::from_bits(slot));
        let mut rank = 0;
        let mut j = 0;
        while j < count {
            // SAFETY: as above.
            let others = unsafe { S::load(slots.as_ptr().add(j).cast()) };
            rank += others.at_most(this).count_ones() as usize;
            j += LANES;
        }
        // One of those at most it is itself.
        sorted[rank - 1] = slot - NORMAL;
    }
    &sorted[..count]
}

/// The entries of a list, whatever it keeps.
pub(crate) fn whole<'a>(
    (slots, touching): (&'a [u32], &'a [Neighbor]),
) -> impl ExactSizeIterator<Item = Neighbor> + 'a {
    (0..slots.len() + touching.len()).map(move |k| match slots.get(k) {
        Some(&slot) => Neighbor { slot, contact: 0.0 },
        None => touching[k - slots.len()],
    })
}

impl Neighbors {
    /// How many particles have a list.
    #[cfg(feature = "vulkan")]
    pub fn particles(&self) -> usize {
        self.lists.particles().max(self.slots.particles())
    }
    /// Entries in all, of either kind.
    pub fn len(&self) -> usize {
        self.lists.len() + self.slots.len()
    }
    /// The entries of particle i: slots alone, or with distances.
    pub fn parts(&self, i: usize) -> (&[u32], &[Neighbor]) {
        let slots = if i < self.slots.particles() { self.slots.of(i) } else { &[] };
        let touching = if i < self.lists.particles() { self.lists.of(i) } else { &[] };
        (slots, touching)
    }
    /// Candidates of particle i.
    #[inline]
    pub fn of(&self, i: usize) -> &[Neighbor] {
        self.lists.of(i)
    }
    /// Candidates of particle i in slots above it: each pair once.
    #[inline]
    pub fn above(&self, i: usize) -> &[Neighbor] {
        let list = self.of(i);
        if !self.both {
            return list;
        }
        &list[list.partition_point(|n| n.slot as usize <= i)..]
    }
    /// Listed pairs.
    pub fn pair_count(&self) -> usize {
        if self.both { self.lists.len() / 2 } else { self.lists.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, Level};
    use proptest::prelude::*;

    struct Sort<'a>(&'a mut Vec<u32>);
    impl Kernel for Sort<'_> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self) {
            let mut sorted = [0; FEW];
            *self.0 = sort_few::<S>(self.0, &mut sorted).to_vec();
        }
    }

    proptest! {
        #[test]
        fn slots_are_sorted_by_every_level(
            slots in prop::collection::hash_set(0u32..1 << 30, 0..=FEW), shift in 0u32..29,
        ) {
            let mut slots: Vec<u32> = slots.into_iter().map(|s| s >> shift).collect();
            slots.sort();
            slots.dedup();
            let expected = slots.clone();
            slots.sort_by_key(|s| s.wrapping_mul(2_654_435_761));
            for level in Level::all() {
                let mut found = slots.clone();
                level.run(Sort(&mut found));
                prop_assert_eq!(&found, &expected, "{:?}", level);
            }
        }
    }
}
