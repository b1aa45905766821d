//! Stages of the passes over bodies, and the layout of `bodies`, `links`, `body_sums`, `body_pushes` and
//! `impulse_rows`.
//!
//! Words of `bodies`: 0 how many bodies, 1 how many chunks of links. From 4 on a body each, as
//! `BodyState` has it.
//!
//! Words of `links`, n particles and l links: 0 how many links. From 4 on where the entries of each
//! particle begin, behind these how many it has; then l entries of two words: the link and its body;
//! then l links of six words: 0 the slot, 1 the place at rest, 4 the part of the mass of the body, 5
//! the share of the mass of the particle; then the chunks, three words each: the body, the first link
//! and how many. A sort moves the first two with their particle, and gives the slots anew.
//!
//! `body_sums` has 16 words a chunk, and `body_pushes` 4 an entry. `impulse_rows` has a row for each contact
//! of a rigid body with an obstacle, as `BodyRow` has it, body by body.

use super::{Groups, Stage};
use crate::cpu::Scratch;
use crate::cpu::shape::body_row::ROW_WORDS;
use crate::cpu::shape::{BODY_WORDS, Matched, SUMS};
use crate::pass::Buffer;
use crate::step::{Dispatch, Pass};
use crate::vulkan::layout::bodies as words;
use crate::vulkan::plan::Plan;
use crate::world::World;
use std::borrow::Cow;
use words::{BODIES, CHUNK_WORDS, ENTRY_WORDS, LINK_WORDS, LINKS};

// The shaders take a state apart by these words.
const _: () = assert!(BODY_WORDS == words::BODY_WORDS && SUMS == words::SUM_WORDS);
const _: () = assert!(ROW_WORDS == words::ROW_WORDS);

pub(super) fn stages(dispatch: &Dispatch, plan: &Plan, out: &mut Vec<Stage>) {
    let (bodies, chunks) = (Groups::Items(plan.bodies), Groups::Items(plan.chunks));
    let each = |entry| Stage::new(entry, Groups::Particles);
    match dispatch.pass {
        Pass::BodyPredict => {
            out.extend([Stage::new("add", chunks), Stage::new("turn", bodies), each("swing")]);
        }
        Pass::ShapeMoments => out.push(Stage::new("main", chunks)),
        Pass::BodyWalls => out.extend([
            Stage::new("count", bodies),
            Stage::new("lay", Groups::One),
            Stage::new("fill", bodies),
        ]),
        Pass::SolveBodies | Pass::ShapeRotation => out.push(Stage::new("main", bodies)),
        _ => out.push(each("main")),
    }
}

/// Words of `bodies`.
pub(crate) fn body_words(plan: &Plan) -> usize {
    BODIES + BODY_WORDS * plan.bodies
}

/// Words of `links`.
pub(crate) fn link_words(plan: &Plan) -> usize {
    match plan.links {
        0 => LINKS,
        links => {
            let each = ENTRY_WORDS + LINK_WORDS;
            LINKS + 2 * plan.particles + each * links + CHUNK_WORDS * plan.chunks
        }
    }
}

/// Words of `body_sums`.
pub(crate) fn sum_words(plan: &Plan) -> usize {
    SUMS * plan.chunks
}

/// Words of `body_pushes`.
pub(crate) fn push_words(plan: &Plan) -> usize {
    4 * plan.links
}

/// Words of `impulse_rows`.
pub(crate) fn row_words(plan: &Plan) -> usize {
    if plan.links == 0 { 0 } else { ROW_WORDS * plan.room[Buffer::EnvironmentContacts] }
}

/// One of these buffers, as the passes of the CPU left them, or else as a step begins.
pub(crate) fn encode(
    buffer: Buffer,
    world: &World,
    scratch: &Scratch,
    plan: &Plan,
    out: &mut [u32],
) {
    if plan.links == 0 {
        return;
    }
    let matched = match scratch.matched.is_of(world) {
        true => Cow::Borrowed(&scratch.matched),
        false => Cow::Owned(Matched::of(world)),
    };
    match buffer {
        Buffer::Bodies => {
            (out[0], out[1]) = (plan.bodies as u32, plan.chunks as u32);
            put(bytemuck::cast_slice(&matched.states), &mut out[BODIES..]);
        }
        Buffer::BodySums => put(bytemuck::cast_slice(&matched.sums), out),
        Buffer::ImpulseRows => put(bytemuck::cast_slice(&matched.rows), out),
        Buffer::BodyPushes => put(bytemuck::cast_slice(&matched.pushes), out),
        _ => encode_links(world, &matched, plan, out),
    }
}

fn put(words: &[u32], out: &mut [u32]) {
    out[..words.len()].copy_from_slice(words);
}

fn encode_links(world: &World, matched: &Matched, plan: &Plan, out: &mut [u32]) {
    let (n, links) = (plan.particles, &world.bodies.links);
    out[0] = plan.links as u32;
    let (heads, rest) = out[LINKS..].split_at_mut(2 * n);
    for slot in 0..n {
        let entries = matched.around.range(slot);
        (heads[slot], heads[n + slot]) = (entries.start as u32, entries.len() as u32);
    }
    let (entries, rest) = rest.split_at_mut(ENTRY_WORDS * plan.links);
    for (k, entry) in entries.chunks_exact_mut(ENTRY_WORDS).enumerate() {
        let (link, body) = matched.around.entry(k);
        entry.copy_from_slice(&[link as u32, body as u32]);
    }
    let (rows, chunks) = rest.split_at_mut(LINK_WORDS * plan.links);
    for (k, row) in rows.chunks_exact_mut(LINK_WORDS).enumerate() {
        row[0] = links.particle[k];
        row[1..5].copy_from_slice(&links.rest[k].to_array().map(f32::to_bits));
        row[5] = links.share[k].to_bits();
    }
    for (row, chunk) in chunks.chunks_exact_mut(CHUNK_WORDS).zip(&matched.chunks) {
        row.copy_from_slice(&[chunk.body, chunk.first, chunk.count]);
    }
}

/// Takes back how bodies are turned.
pub(crate) fn decode(words: &[u32], world: &mut World) {
    let rows = words[BODIES..].chunks_exact(BODY_WORDS);
    for (body, row) in world.bodies.rows.iter_mut().zip(rows) {
        let turn: [f32; 4] = std::array::from_fn(|k| f32::from_bits(row[words::TURN + k]));
        body.turn = turn.into();
    }
}
