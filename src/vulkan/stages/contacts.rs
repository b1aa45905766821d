//! Stages of the passes over contacts: pairs by tile, by slot or gathered, planes by particle; and the
//! layout of what contacts hold.
//!
//! `grips`: the 10 words of a grip ([`Held`]) for each pair of `contact_rows`, or for each entry of
//! `neighbors` where the solver goes by those: how far it is pressed, what was given, the anchor, the
//! floor, the coefficient of friction in force, the share of the first. `wall_grips`: the same for each
//! entry of `environment_contacts`. Anchors on obstacles count from the particle's `position` there, and
//! in `contact_memory`, which outlasts the step, from where the particle is.
//!
//! `contact_memory`, with room for P grips, n particles and E contacts with obstacles:
//!
//! | from word | words | |
//! |---|---|---|
//! | 0 | 12 P | pairs that press: a, b, the words of the grip |
//! | 12 P | n | the first pair of the chain of each particle: scratch |
//! | 12 P + n | P | the pair behind each in its chain: scratch |
//! | 13 P + n | 2 n | where the contacts of each particle with obstacles begin, and how many they are |
//! | 13 P + 3 n | 14 E | those: the obstacle, the words of the grip, the normal |

use super::{Groups, Stage};
use crate::cpu::restitution::ROUNDS;
use crate::pass::Buffer;
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::encode::Encoder;
use crate::vulkan::layout::memory as words;
use crate::vulkan::plan::Plan;
use crate::world::{ContactMemory, Held, Kept, Partner, Solver};
use std::ops::Range;

/// Colours of tiles (`cpu/tiles.rs`).
const COLORS: u32 = 27;

pub(super) fn stages(dispatch: &Dispatch, plan: &Plan, out: &mut Vec<Stage>) {
    let each = |entry| Stage::new(entry, Groups::Particles);
    match (dispatch.pass, dispatch.part) {
        (_, Part::Count) => out.push(each("touching")),
        (Pass::AnchorContacts, _) => out.push(each(by_pair(plan))),
        (Pass::RememberContacts, part) => {
            out.extend([Stage::new("begin", Groups::One), each(by_pair(plan))]);
            if plan.colliders > 0 {
                out.push(each("walls"));
            }
            if part == Part::Lists {
                out.extend([each("clear"), each("link")]);
            }
            out.push(Stage::new("end", Groups::One));
        }
        (Pass::SolveEnvironment, _) => out.push(each("main")),
        (Pass::Restitution, part) => {
            let (pairs, walls) = (part != Part::Walls, part != Part::Pairs);
            out.push(each("begin"));
            for round in 0..ROUNDS {
                let stage = |entry| each(entry).with([round, pairs.into(), walls.into()]);
                out.extend(["fastest", "take", "bounce"].map(stage));
            }
        }
        _ => pairs(plan.solver, out),
    }
}

/// The pairs in the solver's order.
fn pairs(solver: Solver, out: &mut Vec<Stage>) {
    match solver {
        Solver::Colored => {
            let tiles = |c| Stage::new("tiles", Groups::TilesOfColor(c)).with([c, 0, 0]);
            out.extend((0..COLORS).map(tiles));
            out.push(Stage::new("far_pairs", Groups::Exactly(1)));
        }
        Solver::Lockfree => out.push(Stage::new("lockfree", Groups::Particles)),
        Solver::Seidel => out.push(Stage::new("serial", Groups::Exactly(1))),
        Solver::Jacobi => {
            out.extend(["acting", "gather"].map(|entry| Stage::new(entry, Groups::Particles)));
        }
    }
}

/// The entry point that goes through all pairs in any order.
fn by_pair(plan: &Plan) -> &'static str {
    if plan.solver == Solver::Colored { "pairs" } else { "lists" }
}

/// Grips of pairs there is room for.
pub(crate) fn grip_cap(plan: &Plan) -> usize {
    plan.room[if plan.solver == Solver::Colored { Buffer::ContactRows } else { Buffer::Neighbors }]
}

/// Words of `grips`.
pub(crate) fn grip_words(plan: &Plan) -> usize {
    words::GRIP * grip_cap(plan)
}

/// Words of `wall_grips`.
pub(crate) fn wall_words(plan: &Plan) -> usize {
    words::GRIP * plan.room[Buffer::EnvironmentContacts]
}

/// Words of `contact_memory`.
pub(crate) fn memory_words(plan: &Plan) -> usize {
    walls_at(plan) + 2 * plan.particles + words::WALL * plan.room[Buffer::EnvironmentContacts]
}

/// Where the places of contacts with obstacles begin in `contact_memory`.
fn walls_at(plan: &Plan) -> usize {
    (words::WORDS + 1) * grip_cap(plan) + plan.particles
}

/// The words of `contact_memory` that are in use with so many pairs, and so many entries of
/// `environment_contacts`.
pub(crate) fn in_use(plan: &Plan, pairs: usize, entries: usize) -> [Range<usize>; 2] {
    let pairs = words::WORDS * pairs.min(grip_cap(plan));
    let entries = words::WALL * entries.min(plan.room[Buffer::EnvironmentContacts]);
    let walls = walls_at(plan);
    [0..pairs, walls..walls + 2 * plan.particles + entries]
}

/// `grips` and `wall_grips` as the CPU has them.
pub(crate) fn encode_grips(buffer: Buffer, from: &Encoder, out: &mut [u32]) {
    let Encoder { scratch, plan, .. } = *from;
    let mut rows = out.chunks_exact_mut(words::GRIP);
    let mut put = |held: &Held| {
        if let Some(row) = rows.next() {
            row.copy_from_slice(&bits(held));
        }
    };
    if buffer == Buffer::WallGrips {
        let lists = (0..scratch.environment.particles()).map(|i| scratch.environment.of(i));
        lists.flatten().for_each(|contact| put(&contact.held));
    } else if plan.solver == Solver::Colored {
        let grips = scratch.contact_rows.grips(plan.particles);
        super::lists::for_each_pair(from, |_, _, pair, _| {
            put(grips.get(&pair).unwrap_or(&Held::NOTHING));
        });
    } else {
        let lists = &scratch.neighbors.lists;
        for i in 0..lists.particles() {
            scratch.held.get(lists.range(i)).unwrap_or_default().iter().for_each(&mut put);
        }
    }
}

/// `contact_memory` as the world has it.
pub(crate) fn encode_memory(memory: &ContactMemory, plan: &Plan, out: &mut [u32]) {
    let (n, cap) = (plan.particles, grip_cap(plan));
    let (heads, nexts) = (words::WORDS * cap, words::WORDS * cap + n);
    out[heads..nexts].fill(u32::MAX);
    let (places, walls) = (walls_at(plan), walls_at(plan) + 2 * n);
    let (mut pairs, mut contacts) = (0, 0);
    for i in 0..n {
        out[places + 2 * i] = contacts as u32;
        for kept in memory.of(i) {
            let held = bits(&kept.held);
            match kept.with() {
                Partner::Particle(other) if pairs < cap => {
                    let row = &mut out[words::WORDS * pairs..][..words::WORDS];
                    row[..2].copy_from_slice(&[i as u32, other]);
                    row[2..].copy_from_slice(&held);
                    out[nexts + pairs] = std::mem::replace(&mut out[heads + i], pairs as u32);
                    pairs += 1;
                }
                Partner::Obstacle(number) => {
                    let first = walls + words::WALL * contacts;
                    if let Some(row) = out.get_mut(first..first + words::WALL) {
                        row[0] = number;
                        row[1..][..words::GRIP].copy_from_slice(&held);
                        contacts += 1;
                    }
                }
                Partner::Particle(_) => {}
            }
        }
        out[places + 2 * i + 1] = contacts as u32 - out[places + 2 * i];
    }
}

/// What the words of `contact_memory` say, with so many pairs in it.
pub(crate) fn decode_memory(plan: &Plan, memory: &[u32], pairs: usize) -> ContactMemory {
    let mut kept: Vec<(u32, Kept)> = memory
        .chunks_exact(words::WORDS)
        .take(pairs.min(grip_cap(plan)))
        .map(|row| (row[0], Kept::new(Partner::Particle(row[1]), held(&row[2..]))))
        .collect();
    // In the order of the world's: a device adds them in any.
    kept.sort_by_key(|(slot, kept)| (*slot, kept.with()));
    let (places, walls) = (walls_at(plan), walls_at(plan) + 2 * plan.particles);
    for i in 0..plan.particles {
        let (first, count) = (memory[places + 2 * i] as usize, memory[places + 2 * i + 1] as usize);
        let rows = memory.get(walls + words::WALL * first..walls + words::WALL * (first + count));
        for row in rows.unwrap_or_default().chunks_exact(words::WALL) {
            kept.push((i as u32, Kept::new(Partner::Obstacle(row[0]), held(&row[1..]))));
        }
    }
    kept.retain(|(_, kept)| kept.held.presses());
    ContactMemory::gather(plan.particles, kept)
}

/// The words of a grip.
fn bits(held: &Held) -> [u32; Held::NUMBERS] {
    held.numbers().map(f32::to_bits)
}

/// The grip that begins there.
fn held(words: &[u32]) -> Held {
    Held::from_numbers(std::array::from_fn(|k| f32::from_bits(words[k])))
}
