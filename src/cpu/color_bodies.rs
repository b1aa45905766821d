//! Gives pairs of bodies that touch colours: those of one colour share no body, so that workers can
//! take them side by side (docs/physics.md, section 7).
//! Each pair, in order, takes the first colour that neither of its bodies has; when both have them all,
//! it has its turn alone, behind the others.
//! Reads: body_pairs. Writes: body_pairs. Order: the pairs one by one; deterministic.

use super::Scratch;
use super::shape;

/// So many colours are told apart.
pub(crate) const COLORS: u32 = 32;

pub(crate) fn run(scratch: &mut Scratch) {
    let shape::Matched { states, pairs, taken, .. } = &mut scratch.matched;
    taken.clear();
    taken.resize(states.len(), 0u32);
    let mut alone = COLORS;
    for pair in pairs.iter_mut().filter(|pair| pair.rows > 0) {
        let [a, b] = pair.bodies.map(|number| number as usize);
        let color = (taken[a] | taken[b]).trailing_ones();
        if color < COLORS {
            taken[a] |= 1 << color;
            taken[b] |= 1 << color;
            pair.color = color;
        } else {
            pair.color = alone;
            alone += 1;
        }
    }
}
