//! Stages of the passes over contacts: pairs by tile, by slot or gathered, planes by particle; and the
//! layout of what contacts hold.
//!
//! `grips`: 8 words for each pair of `contact_rows`, or for each entry of `neighbors` where the solver
//! goes by those: how far it is pressed, what was given, the anchor, the reach. `wall_grips`: the same
//! for each entry of `environment_contacts`, with the floor in the end.
//!
//! `contact_memory`, with room for P grips, n particles and E contacts with obstacles:
//!
//! | from word | words | |
//! |---|---|---|
//! | 0 | 6 P | pairs that press: a, b, how far, the anchor |
//! | 6 P | n | the first pair of the chain of each particle: scratch |
//! | 6 P + n | P | the pair behind each in its chain: scratch |
//! | 7 P + n | 2 n | where the contacts of each particle with obstacles begin, and how many they are |
//! | 7 P + 3 n | 12 E | those: the obstacle, the words of the grip, the normal |

use super::{Groups, Stage};
use crate::cpu::contact::listed::Held;
use crate::pass::Buffer;
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::encode::Encoder;
use crate::vulkan::layout::memory as words;
use crate::vulkan::plan::Plan;
use crate::world::{ContactMemory, Kept, Partner, Solver};
use glam::Vec3;

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
        (Pass::Restitution, part) if plan.solver == Solver::Jacobi => {
            let walls = u32::from(part != Part::Pairs);
            out.push(each("gather").with([walls, 0, 0]));
        }
        (Pass::Restitution, Part::Walls) => out.push(each("walls")),
        (pass, _) => pairs(plan.solver, pass == Pass::SolveContacts, out),
    }
}

/// The pairs in the solver's order; only contacts may `race`.
fn pairs(solver: Solver, race: bool, out: &mut Vec<Stage>) {
    match solver {
        Solver::Colored => {
            let tiles = |c| Stage::new("tiles", Groups::TilesOfColor(c)).with([c, 0, 0]);
            out.extend((0..COLORS).map(tiles));
            out.push(Stage::new("far_pairs", Groups::Exactly(1)));
        }
        Solver::Lockfree if race => out.push(Stage::new("lockfree", Groups::Particles)),
        Solver::Seidel | Solver::Lockfree => out.push(Stage::new("serial", Groups::Exactly(1))),
        Solver::Jacobi if race => {
            out.extend(["acting", "gather"].map(|entry| Stage::new(entry, Groups::Particles)));
        }
        Solver::Jacobi => out.push(Stage::new("gather", Groups::Particles)),
    }
}

/// The entry point that goes through all pairs in any order.
fn by_pair(plan: &Plan) -> &'static str {
    if plan.solver == Solver::Colored { "pairs" } else { "lists" }
}

/// Words of a contact with an obstacle in `contact_memory`.
const WALL: usize = 12;

/// Grips of pairs there is room for.
pub(crate) fn grip_cap(plan: &Plan) -> usize {
    plan.room[if plan.solver == Solver::Colored { Buffer::ContactRows } else { Buffer::Neighbors }]
}

/// Words of `grips`.
pub(crate) fn grip_words(plan: &Plan) -> usize {
    8 * grip_cap(plan)
}

/// Words of `wall_grips`.
pub(crate) fn wall_words(plan: &Plan) -> usize {
    8 * plan.room[Buffer::EnvironmentContacts]
}

/// Words of `contact_memory`.
pub(crate) fn memory_words(plan: &Plan) -> usize {
    walls_at(plan) + 2 * plan.particles + WALL * plan.room[Buffer::EnvironmentContacts]
}

/// Where the places of contacts with obstacles begin in `contact_memory`.
fn walls_at(plan: &Plan) -> usize {
    (words::WORDS + 1) * grip_cap(plan) + plan.particles
}

/// `grips` and `wall_grips` as the CPU has them.
pub(crate) fn encode_grips(buffer: Buffer, from: &Encoder, out: &mut [u32]) {
    let Encoder { scratch, plan, .. } = *from;
    let mut rows = out.chunks_exact_mut(8);
    let mut put = |grip: [f32; 8]| {
        if let Some(row) = rows.next() {
            row.copy_from_slice(bytemuck::cast_slice(&grip));
        }
    };
    let numbers = |pressed: f32, given: Vec3, anchor: Vec3, kept: f32| {
        let [a, b, c] = given.to_array();
        let [d, e, f] = anchor.to_array();
        [pressed, a, b, c, d, e, f, kept]
    };
    if buffer == Buffer::WallGrips {
        let lists = (0..scratch.environment.particles()).map(|i| scratch.environment.of(i));
        lists.flatten().for_each(|c| put(numbers(c.pressed, c.given, c.anchor, c.floor)));
    } else if plan.solver == Solver::Colored {
        let grips = scratch.contact_rows.grips(plan.particles);
        super::lists::for_each_pair(from, |_, _, pair, _| {
            let held = grips.get(&pair).copied().unwrap_or(Held::NOTHING);
            put(numbers(held.pressed, held.given, held.anchor, held.reach));
        });
    } else {
        let lists = &scratch.neighbors.lists;
        for i in 0..lists.particles() {
            for held in scratch.held.get(lists.range(i)).unwrap_or_default() {
                put(numbers(held.pressed, held.given, held.anchor, held.reach));
            }
        }
    }
}

/// `contact_memory` as the world has it.
pub(crate) fn encode_memory(memory: &ContactMemory, plan: &Plan, out: &mut [u32]) {
    let (n, cap) = (plan.particles, grip_cap(plan));
    let bits = |v: Vec3| v.to_array().map(f32::to_bits);
    let (heads, nexts) = (words::WORDS * cap, words::WORDS * cap + n);
    out[heads..nexts].fill(u32::MAX);
    let (places, walls) = (walls_at(plan), walls_at(plan) + 2 * n);
    let (mut pairs, mut contacts) = (0, 0);
    for i in 0..n {
        out[places + 2 * i] = contacts as u32;
        for kept in memory.of(i) {
            let [x, y, z] = bits(kept.anchor);
            match kept.with() {
                Partner::Particle(other) if pairs < cap => {
                    let row = [i as u32, other, kept.pressed.to_bits(), x, y, z];
                    out[words::WORDS * pairs..][..words::WORDS].copy_from_slice(&row);
                    out[nexts + pairs] = std::mem::replace(&mut out[heads + i], pairs as u32);
                    pairs += 1;
                }
                Partner::Obstacle(number) => {
                    let row: [u32; WALL] =
                        [number, kept.pressed.to_bits(), 0, 0, 0, x, y, z, 0, 0, 0, 0];
                    if let Some(place) = out.get_mut(walls + WALL * contacts..walls + WALL * (contacts + 1))
                    {
                        place.copy_from_slice(&row);
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
    let vector = |row: &[u32]| Vec3::from_slice(bytemuck::cast_slice(&row[..3]));
    let mut kept: Vec<(u32, Kept)> = memory
        .chunks_exact(words::WORDS)
        .take(pairs.min(grip_cap(plan)))
        .map(|row| {
            let (with, pressed) = (Partner::Particle(row[1]), f32::from_bits(row[2]));
            (row[0], Kept::new(with, pressed, vector(&row[3..])))
        })
        .collect();
    // In the order of the world's: a device adds them in any.
    kept.sort_by_key(|(slot, kept)| (*slot, kept.with()));
    let (places, walls) = (walls_at(plan), walls_at(plan) + 2 * plan.particles);
    for i in 0..plan.particles {
        let (first, count) = (memory[places + 2 * i] as usize, memory[places + 2 * i + 1] as usize);
        let rows = memory.get(walls + WALL * first..walls + WALL * (first + count));
        for row in rows.unwrap_or_default().chunks_exact(WALL) {
            let pressed = f32::from_bits(row[1]);
            if pressed > 0.0 {
                let wall = Partner::Obstacle(row[0]);
                kept.push((i as u32, Kept::new(wall, pressed, vector(&row[5..]))));
            }
        }
    }
    kept.retain(|(_, kept)| kept.pressed.is_finite() && kept.anchor.is_finite());
    ContactMemory::gather(plan.particles, kept)
}
