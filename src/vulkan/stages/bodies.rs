//! Stages of the passes over bodies, and the layout of `bodies`, `links`, `body_sums`, `body_pushes`,
//! `impulse_rows`, `body_fields`, `body_pairs`, `pair_rows` and `touches`.
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
//!
//! `body_fields` begins with a word for each body: where its field stands, or 0 where it has none. Bodies
//! of one shape share one field: 0 the place of the first node, 3 from node to node, 4 how many nodes
//! along x, y and z, 7 the middle of the box and 10 half of its sides, 13 the smallest radius, 14 how far
//! it reaches, 15 how many particles are at its surface, 16 where their numbers stand, 17 where the owners
//! of nodes stand, then the nodes, four words each.
//!
//! Words of `body_pairs`: 0 how many pairs, 1 how many colours they have. From 4 on so many pairs as there
//! is room for, as `BodyPair` has them; behind these eight words for each body: the box around it, its
//! pairs with bodies of higher numbers (later, its colours), and the first of these. `pair_rows` has 54
//! rows for each of these pairs, as `BodyRow` has them.
//!
//! Words of `touches`: 0 how many pairs of bodies press on each other, 1 for how many there is room. From 4
//! on four words for each of these: the bodies, the first of their touches and how many; then the touches,
//! as `Touch` has them. A device begins those of each pair at a multiple of 54.

use super::{Groups, Stage};
use crate::cpu::Scratch;
use crate::cpu::shape::body_row::ROW_WORDS;
use crate::cpu::shape::pair::{BodyPair, ROOM};
use crate::cpu::shape::{BODY_WORDS, Matched, SUMS};
use crate::cpu::solve_bodies::ROUNDS;
use crate::pass::Buffer;
use crate::step::{Dispatch, Pass};
use crate::vulkan::layout::bodies as words;
use crate::vulkan::plan::Plan;
use crate::world::{BodyField, Pressing, Touch, Touches, World};
use glam::Vec3;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use words::{BODIES, CHUNK_WORDS, ENTRY_WORDS, LINK_WORDS, LINKS};

// The shaders take a state apart by these words.
const _: () = assert!(BODY_WORDS == words::BODY_WORDS && SUMS == words::SUM_WORDS);
const _: () = assert!(ROW_WORDS == words::ROW_WORDS && ROOM == words::PAIR_ROOM);
const _: () = assert!(size_of::<BodyPair>() == 4 * words::PAIR_WORDS);

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
        Pass::BodyPairs => out.extend([
            Stage::new("box", bodies),
            Stage::new("count", bodies),
            Stage::new("lay", Groups::One),
            Stage::new("fill", bodies),
        ]),
        Pass::BodyContacts => {
            let pairs = Groups::Items(plan.room[Buffer::BodyPairs]);
            out.push(Stage::new("main", pairs));
        }
        Pass::ColorBodies => out.push(Stage::new("main", Groups::One)),
        // Several kernels: some devices end the loops of one after so many turns in all.
        Pass::SolveBodies => {
            let rounds = |entry| [entry; ROUNDS];
            let rounds = ["part", "rest", "bounce"].map(rounds);
            let [part, rest, bounce] = rounds.each_ref().map(|rounds| &rounds[..]);
            let entries = [&["begin"], part, &["gaps"], rest, &["slide"], bounce, &["end"]];
            let each = entries.into_iter().flatten();
            out.extend(each.map(|entry| Stage::new(entry, Groups::One)));
        }
        Pass::ShapeRotation => out.push(Stage::new("main", bodies)),
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

/// Words of `body_fields`.
pub(crate) fn field_words(plan: &Plan) -> usize {
    plan.field_words
}

/// Pairs of bodies there is room for.
fn pair_cap(plan: &Plan) -> usize {
    if plan.pairs { plan.room[Buffer::BodyPairs] } else { 0 }
}

/// Words of `body_pairs`.
pub(crate) fn pair_words(plan: &Plan) -> usize {
    let behind = if plan.pairs { words::NEAR_BODY_WORDS * plan.bodies } else { 0 };
    words::PAIRS + words::PAIR_WORDS * pair_cap(plan) + behind
}

/// Words of `pair_rows`.
pub(crate) fn pair_row_words(plan: &Plan) -> usize {
    ROW_WORDS * ROOM * pair_cap(plan)
}

/// Words of `touches`.
pub(crate) fn touch_words(plan: &Plan) -> usize {
    words::TOUCHING + (words::TOUCHING_WORDS + ROOM * words::TOUCH_WORDS) * pair_cap(plan)
}

/// The words of `touches` that are in use, of which these are the first; those where it says how many,
/// before they are known.
pub(crate) fn touches_in_use(plan: &Plan, head: Option<&[u32]>) -> usize {
    let Some(head) = head else { return words::TOUCHING };
    let pairs = head[words::TOUCHING_COUNT] as usize;
    let each = words::TOUCHING_WORDS * pair_cap(plan) + ROOM * words::TOUCH_WORDS * pairs;
    touch_words(plan).min(words::TOUCHING + each)
}

/// Where the fields of bodies stand.
pub(crate) struct Fields<'a> {
    /// For each body; 0 where it has none.
    of: Vec<u32>,
    /// Each field once, in order.
    all: Vec<&'a BodyField>,
    /// Words in all.
    pub words: usize,
}

/// Lays out the fields of the bodies of a world.
pub(crate) fn fields(world: &World) -> Fields<'_> {
    let rows = &world.bodies.rows;
    let mut fields = Fields { of: Vec::new(), all: Vec::new(), words: rows.len() };
    let mut known = HashMap::new();
    for body in rows {
        let at = body.field.0.as_ref().map_or(0, |field| {
            *known.entry(Arc::as_ptr(field)).or_insert_with(|| {
                let at = fields.words;
                fields.all.push(field);
                fields.words += words::FIELD_NODES + 5 * field.nodes.len() + field.surface.len();
                at
            })
        });
        fields.of.push(at as u32);
    }
    fields
}

fn encode_fields(world: &World, out: &mut [u32]) {
    let fields = fields(world);
    put(&fields.of, out);
    let mut at = fields.of.len();
    for field in fields.all {
        let owners = at + words::FIELD_NODES + 4 * field.nodes.len();
        let surface = owners + field.owners.len();
        let head = &mut out[at..];
        let mut vector = |word: usize, v: Vec3| {
            head[word..word + 3].copy_from_slice(&v.to_array().map(f32::to_bits));
        };
        vector(words::FIELD_LOW, field.low);
        vector(words::FIELD_MIDDLE, field.middle);
        vector(words::FIELD_HALF, field.half);
        head[words::FIELD_SIZE..][..3].copy_from_slice(&field.size.to_array());
        head[words::FIELD_SPACING] = field.spacing.to_bits();
        head[words::FIELD_RADIUS] = field.radius.to_bits();
        head[words::FIELD_EXTENT] = field.extent.to_bits();
        head[words::FIELD_SURFACE_COUNT] = field.surface.len() as u32;
        head[words::FIELD_SURFACE] = surface as u32;
        head[words::FIELD_OWNERS] = owners as u32;
        put(bytemuck::cast_slice(&field.nodes), &mut out[at + words::FIELD_NODES..]);
        put(&field.owners, &mut out[owners..]);
        put(&field.surface, &mut out[surface..]);
        at = surface + field.surface.len();
    }
}

/// `touches` as the world has them.
pub(crate) fn encode_touches(touches: &Touches, plan: &Plan, out: &mut [u32]) {
    let room = pair_cap(plan);
    out[words::TOUCHING_COUNT] = touches.pairs.len() as u32;
    out[words::TOUCHING_ROOM] = room as u32;
    let (heads, rows) = out[words::TOUCHING..].split_at_mut(words::TOUCHING_WORDS * room);
    for (head, pair) in heads.chunks_exact_mut(words::TOUCHING_WORDS).zip(&touches.pairs) {
        head.copy_from_slice(&[pair.bodies[0], pair.bodies[1], pair.first, pair.count]);
    }
    for (row, touch) in rows.chunks_exact_mut(words::TOUCH_WORDS).zip(&touches.rows) {
        let mut number = |word: usize, v: f32| row[word] = v.to_bits();
        number(words::TOUCH_PUSH, touch.push);
        number(words::TOUCH_FRICTION, touch.friction);
        let vectors = [
            (words::TOUCH_HELD, touch.held),
            (words::TOUCH_NORMAL, touch.normal),
            (words::TOUCH_PLACE, touch.place),
        ];
        for (word, v) in vectors {
            v.to_array().into_iter().zip(word..).for_each(|(v, word)| number(word, v));
        }
        row[words::TOUCH_KEY] = touch.key;
    }
}

/// What the words of `touches` say that are in use.
pub(crate) fn decode_touches(from: &[u32]) -> Touches {
    let mut touches = Touches::default();
    let room = from[words::TOUCHING_ROOM] as usize;
    let (heads, rows) = from[words::TOUCHING..].split_at(words::TOUCHING_WORDS * room);
    let pairs = heads.chunks_exact(words::TOUCHING_WORDS);
    for head in pairs.take(from[words::TOUCHING_COUNT] as usize) {
        let (first, count) = (head[2] as usize, head[3]);
        let pressing =
            Pressing { bodies: [head[0], head[1]], first: touches.rows.len() as u32, count };
        touches.pairs.push(pressing);
        let rows = rows[words::TOUCH_WORDS * first..].chunks_exact(words::TOUCH_WORDS);
        touches.rows.extend(rows.take(count as usize).map(|row| {
            let number = |word: usize| f32::from_bits(row[word]);
            let vector = |at: usize| Vec3::new(number(at), number(at + 1), number(at + 2));
            Touch {
                key: row[words::TOUCH_KEY],
                push: number(words::TOUCH_PUSH),
                held: vector(words::TOUCH_HELD),
                friction: number(words::TOUCH_FRICTION),
                normal: vector(words::TOUCH_NORMAL),
                place: vector(words::TOUCH_PLACE),
            }
        }));
    }
    touches
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
        Buffer::BodyFields if plan.pairs => encode_fields(world, out),
        Buffer::Touches if plan.pairs => encode_touches(&world.bodies.touches, plan, out),
        Buffer::BodyPairs => {
            let pairs = &matched.pairs[..matched.pairs.len().min(pair_cap(plan))];
            let colors = pairs.iter().filter(|pair| pair.rows > 0).map(|pair| pair.color + 1);
            out[words::PAIR_COUNT] = pairs.len() as u32;
            out[words::COLOR_COUNT] = colors.max().unwrap_or(0);
            put(bytemuck::cast_slice(pairs), &mut out[words::PAIRS..]);
        }
        Buffer::PairRows => {
            let rows: &[u32] = bytemuck::cast_slice(&matched.pair_rows);
            put(&rows[..rows.len().min(out.len())], out);
        }
        Buffer::BodyFields | Buffer::Touches => {}
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
