//! Stages of `collide_points` and `solve_points`, and the layout of `point_contacts`.
//!
//! Words of `point_contacts`, n particles: where the list of each begins and how long it is; behind
//! these the entries, 13 words each: 0 the other two corners of the triangle, by slot, 2 their shares
//! of the point that meets the vertex, 4 u and d, counted from the particle's `position`, 8 how far
//! the vertex moves in the substep, 11 the collider, 12 whether the triangle passes the vertex on its
//! way.

use super::{Groups, Stage};
use crate::cpu::Scratch;
use crate::pass::Buffer;
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::layout::points as words;
use crate::vulkan::plan::Plan;

pub(super) fn stages(dispatch: &Dispatch, _: &Plan, out: &mut Vec<Stage>) {
    let each = |entry| Stage::new(entry, Groups::Particles);
    match (dispatch.pass, dispatch.part) {
        (Pass::CollidePoints, part) => {
            // Looked at again only where somebody was moved.
            let push = [u32::from(part == Part::Start), 0, 0];
            out.extend([Stage::new("begin", Groups::One).with(push), each("find").with(push)]);
        }
        (_, Part::Start) => out.push(each("back")),
        _ => out.extend([each("gather"), each("apply")]),
    }
}

/// Words of `point_contacts`.
pub(crate) fn contact_words(plan: &Plan) -> usize {
    2 * plan.particles + words::WORDS * plan.room[Buffer::PointContacts]
}

/// `point_contacts` as the CPU listed them, however many there are.
pub(crate) fn encode(scratch: &Scratch, plan: &Plan, out: &mut Vec<u32>) {
    let (n, lists) = (plan.particles, &scratch.point_contacts);
    out.resize((2 * n + words::WORDS * lists.len()).max(out.len()), 0);
    let mut next = 0;
    for i in 0..n.min(lists.particles()) {
        let list = lists.of(i);
        (out[2 * i], out[2 * i + 1]) = (next as u32, list.len() as u32);
        for contact in list {
            let row = &mut out[2 * n + words::WORDS * next..][..words::WORDS];
            row[words::CORNERS..][..2].copy_from_slice(&contact.corners);
            row[words::SHARES..][..2].copy_from_slice(&contact.shares.map(f32::to_bits));
            row[words::PLANE..][..4].copy_from_slice(&contact.plane.to_array().map(f32::to_bits));
            row[words::MOTION..][..3].copy_from_slice(&contact.motion.to_array().map(f32::to_bits));
            (row[words::COLLIDER], row[words::PASSED]) = (contact.collider, contact.passed);
            next += 1;
        }
    }
}
