//! Stages of bounds, grid, lists and contact colours, and the layout of what they leave.
//!
//! `grid_slab`, with room for C buckets: particles of each bucket, after the scan the place of its
//! first, after the sort that of its last plus one; from C on, slots in order of bucket, ties in any
//! order; from C + n on, a sum for each group of the scan.
//!
//! `contact_rows`, with room for T tiles and P pairs:
//!
//! | from word | words | |
//! |---|---|---|
//! | 0 | n | tile number of each particle |
//! | n | n | slots in order of tile number, ties in order of slot |
//! | 2 n | 68 T | tiles with members, by colour, then number: first pair of each of 64 pair colours and the end, first member, end of members, number |
//! | 2 n + 68 T | T + 1 | first place of every tile number, and the end |
//! | 2 n + 69 T + 1 | 2 n | pair colours in use around each particle, or who stands where: scratch |
//! | 4 n + 69 T + 1 | 3 P | pairs: a, b, contact distance; those of no tile last |
//! | then | | a mark for each entry of `neighbors`, members placed in each tile number: scratch |

use super::{Groups, Stage};
use crate::cpu::Scratch;
use crate::cpu::contact::tiles::{COLORS, Tiles};
use crate::cpu::grid_count::Grid;
use crate::cpu::search::broad::Broad;
use crate::cpu::search::neighbors::{Neighbors, whole};
use crate::pass::Buffer;
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::encode::Encoder;
use crate::vulkan::layout::{COUNTED, state as s, tile as words};
use crate::vulkan::plan::Plan;
use crate::world::{ListId, ListReach};
use glam::Vec4;

pub(super) fn stages(dispatch: &Dispatch, _: &Plan, out: &mut Vec<Stage>) {
    use Groups::{Buckets, One, Particles, TilesOfColor};
    let mut add = |entry, groups| out.push(Stage::new(entry, groups));
    match dispatch.pass {
        Pass::Bounds if dispatch.part == Part::Start => {
            for (entry, groups) in [("reset", One), ("load", Particles), ("lay", One)] {
                out.push(Stage::new(entry, groups).with([1, 0, 0]));
            }
        }
        Pass::Bounds => {
            add("reset", One);
            add("moved", Particles);
            add("load", Particles);
            add("lay", One);
        }
        Pass::GridCount => {
            add("clear", Buckets);
            add("count", Particles);
        }
        Pass::GridScan => {
            add("sum", Buckets);
            add("blocks", One);
            add("place", Buckets);
        }
        Pass::GridSort => {
            add("starts", Buckets);
            add("scatter", Particles);
            add("settle", Particles);
        }
        Pass::ColorContacts => {
            add("clear", Particles);
            add("tile", Particles);
            add("place", One);
            add("scatter", Particles);
            add("settle", Particles);
            add("list", One);
            for color in 0..COLORS as u32 {
                out.push(Stage::new("color_pairs", TilesOfColor(color)).with([color, 0, 0]));
            }
            out.push(Stage::new("far_pairs", One));
        }
        _ => add("main", Particles),
    }
}

/// Words of `grid_slab`.
pub(crate) fn slab_words(plan: &Plan) -> usize {
    let buckets = plan.buckets();
    buckets + plan.particles + (buckets + 1).div_ceil(plan.workgroup as usize)
}

/// Words of `contact_rows` behind the pairs.
fn pair_scratch(plan: &Plan) -> usize {
    plan.room[Buffer::Neighbors] + plan.tiles()
}

/// Words of `grid_start`.
pub(crate) fn start_words(plan: &Plan) -> usize {
    plan.buckets() + 1
}

/// Words of `neighbors`.
pub(crate) fn neighbor_words(plan: &Plan) -> usize {
    2 * plan.particles + 2 * plan.room[Buffer::Neighbors]
}

/// Words of `contact_rows`.
pub(crate) fn row_words(plan: &Plan) -> usize {
    let pairs = 3 * plan.room[Buffer::ContactRows] + pair_scratch(plan);
    4 * plan.particles + 69 * plan.tiles() + 1 + pairs
}

/// `grid_bucket`, `grid_start`, `grid_slab`, `neighbors`, `contact_rows` from what the CPU has.
pub(crate) fn encode(buffer: Buffer, from: &Encoder, out: &mut [u32]) {
    let Encoder { scratch, plan, .. } = *from;
    let n = plan.particles;
    match buffer {
        Buffer::Neighbors => encode_neighbors(from, out),
        Buffer::ContactRows => encode_rows(from, out),
        _ if scratch.broad.grid.bucket.len() != n || scratch.broad.points.len() != n => {}
        Buffer::GridBucket => out.copy_from_slice(&buckets(&scratch.broad)),
        Buffer::GridStart => {
            let starts = starts(&scratch.broad);
            out[..starts.len()].copy_from_slice(&starts);
        }
        // Counts until the scan, then places.
        Buffer::GridSlab => {
            let starts = starts(&scratch.broad);
            let scanned = !scratch.broad.grid.slab_start.is_empty();
            for (out, pair) in out.iter_mut().zip(starts.windows(2)) {
                *out = if scanned { pair[0] } else { pair[1] - pair[0] };
            }
        }
        other => unreachable!("{other:?} is not of the lists"),
    }
}

/// The grid the CPU lays over the points.
fn grid(broad: &Broad) -> Grid {
    let mut grid = Grid::default();
    grid.lay(&broad.extent, broad.points.len());
    grid
}

/// Hashed cells a metre: the device has f32 only, and cells a quarter wider for it.
fn hashed_per_metre(broad: &Broad) -> f32 {
    1.0 / (2.0 * broad.extent.largest * 1.25)
}

/// The device's bucket of a point in a hashed grid (`hash_of` in spirv/shared/grid_cells.spvasm). The CPU finds
/// hashed cells in f64, so its buckets are others; a dense grid is the same on both.
fn hashed_bucket(point: Vec4, per_metre: f32, mask: u32) -> u32 {
    const FAR: f32 = (1 << 20) as f32;
    let axis = |v: f32| {
        let cell = (v * per_metre).floor();
        let cell = if cell > -FAR { cell } else { -FAR };
        (if cell < FAR { cell } else { FAR }) as i32 as u32
    };
    let mixed = axis(point.x).wrapping_mul(0x8da6_b343)
        ^ axis(point.y).wrapping_mul(0xd816_3841)
        ^ axis(point.z).wrapping_mul(0xcb1a_b31f);
    (mixed ^ (mixed >> 15)) & mask
}

/// The device's bucket of every particle.
fn buckets(broad: &Broad) -> Vec<u32> {
    match grid(broad).hash_mask {
        None => broad.grid.bucket.clone(),
        Some(mask) => {
            let per_metre = hashed_per_metre(broad);
            broad.points.iter().map(|&p| hashed_bucket(p, per_metre, mask)).collect()
        }
    }
}

/// The first place of each of the device's buckets, and the end.
fn starts(broad: &Broad) -> Vec<u32> {
    let mut starts = vec![0; bucket_count(&grid(broad)) + 1];
    for bucket in buckets(broad) {
        // Until the particles are counted, they are in cells of the list that was made before.
        if let Some(count) = starts.get_mut(bucket as usize + 1) {
            *count += 1;
        }
    }
    for b in 1..starts.len() {
        starts[b] += starts[b - 1];
    }
    starts
}

fn bucket_count(grid: &Grid) -> usize {
    let dense = grid.counts.as_uvec3().element_product() as usize;
    grid.hash_mask.map_or(dense, |mask| mask as usize + 1)
}

/// Slots in the order of the device's hashed grid, when that is what the next dispatch is about.
pub(crate) fn hashed_order(scratch: &Scratch, before: Option<&Dispatch>) -> Option<Vec<u32>> {
    let broad = &scratch.broad;
    let asked = |d: &Dispatch| matches!(d.pass, Pass::GridSort | Pass::FindNeighborsGrid);
    if !before.is_some_and(asked) || grid(broad).hash_mask.is_none() {
        return None;
    }
    let buckets = buckets(broad);
    let mut order: Vec<u32> = (0..buckets.len() as u32).collect();
    order.sort_by_key(|&slot| buckets[slot as usize]);
    Some(order)
}

/// What the CPU made of a list.
fn neighbors<'a>(from: &Encoder<'a>) -> Option<&'a Neighbors> {
    let scratch = from.scratch;
    match from.list {
        ListId::CONTACTS => Some(&scratch.neighbors),
        list => scratch.added.get(list),
    }
}

fn encode_neighbors(from: &Encoder, out: &mut [u32]) {
    let Some(neighbors) = neighbors(from) else { return };
    let plan = from.plan;
    let n = plan.particles;
    let mut next = 0;
    for i in 0..n.min(neighbors.particles()) {
        let list = whole(neighbors.parts(i));
        (out[2 * i], out[2 * i + 1]) = (next as u32, list.len() as u32);
        for entry in list {
            if next < plan.room[Buffer::Neighbors] {
                let at = 2 * (n + next);
                (out[at], out[at + 1]) = (entry.slot, entry.contact.to_bits());
            }
            next += 1;
        }
    }
}

/// Tiles by colour as the CPU has them, unless its rows are of another world.
fn tiles_by_color<'a>(scratch: &'a Scratch, plan: &Plan) -> Option<(&'a Tiles, Vec<usize>)> {
    let tiles = scratch.contact_rows.tiles(plan.particles)?;
    let of_color = |color| tiles.of_color(color).iter().map(|&t| t as usize);
    Some((tiles, (0..COLORS).flat_map(of_color).collect()))
}

/// The points of the contacts' list. The broad phase has them until another list is made.
fn contact_points(from: &Encoder) -> Broad {
    let (p, span) = (&from.world.particles, ListReach::Contact.span(0.0, from.world.params.margin));
    let points = p.list_reference.iter().zip(&p.radius);
    Broad::of_points(points.map(|(at, &radius)| at.truncate().extend(span.of(radius))))
}

fn encode_rows(from: &Encoder, out: &mut [u32]) {
    let Encoder { scratch, plan, .. } = *from;
    let Some((tiles, by_color)) = tiles_by_color(scratch, plan) else { return };
    let (n, room) = (plan.particles, plan.tiles());
    out[..n].copy_from_slice(&tiles.tile);
    out[n..2 * n].copy_from_slice(&tiles.order);
    let mut row = vec![0; tiles.len()];
    for (k, &tile) in by_color.iter().enumerate() {
        row[tile] = 2 * n + words::WORDS * k;
        let (first, end) = tiles.range(tile);
        out[row[tile] + words::MEMBERS] = first;
        out[row[tile] + words::MEMBERS_END] = end;
        out[row[tile] + words::NUMBER] = tiles.tile[tiles.order[first as usize] as usize];
    }
    let starts = 2 * n + words::WORDS * room;
    for &tile in &tiles.tile {
        out[starts + tile as usize + 1] += 1;
    }
    for number in 0..tiles.counts.element_product() as usize {
        out[starts + number + 1] += out[starts + number];
    }
    // The ends of the pair colours stand one word on until they are summed up.
    let pairs = 4 * n + 69 * room + 1;
    let mut next = 0;
    let mut put = |out: &mut [u32], [a, b]: [u32; 2], contact: f32| {
        // What has no room is left out, as on the device.
        if next < plan.room[Buffer::ContactRows] {
            out[pairs + 3 * next..][..3].copy_from_slice(&[a, b, contact.to_bits()]);
        }
        next += 1;
        next as u32
    };
    let mut begun = vec![false; tiles.len()];
    for_each_pair(from, |tile, pair_color, pair, contact| {
        let end = put(out, pair, contact);
        let Some(tile) = tile else { return };
        let ends = &mut out[row[tile]..][..=words::PAIR_COLORS];
        if !std::mem::replace(&mut begun[tile], true) {
            ends.fill(end - 1);
        }
        ends[pair_color as usize + 1..].fill(end);
    });
}

/// Calls `visit` with the pairs of `contact_rows` in their order: the tile, unless no tile holds it, the
/// pair's colour there, a, b and the contact distance, m.
pub(super) fn for_each_pair(
    from: &Encoder,
    mut visit: impl FnMut(Option<usize>, u32, [u32; 2], f32),
) {
    let Encoder { scratch, plan, .. } = *from;
    if scratch.contact_rows.tiles(plan.particles).is_none() {
        return;
    }
    scratch.contact_rows.for_each_colored_pair(
        &scratch.neighbors,
        &contact_points(from),
        |tile, pair_color, pair, contact| visit(Some(tile), pair_color, pair, contact),
    );
    for (a, b, contact) in scratch.contact_rows.far_pairs() {
        visit(None, 0, [a, b], contact);
    }
}

/// What `state` holds of these passes: box, grid, tiles, indirect arguments.
pub(crate) fn encode_state(from: &Encoder, out: &mut [u32]) {
    let Encoder { scratch, plan, .. } = *from;
    let broad = &scratch.broad;
    if broad.points.len() != plan.particles || broad.points.is_empty() {
        return;
    }
    let extent = &broad.extent;
    let numbers = |out: &mut [u32], at: usize, values: [f32; 3]| {
        out[at..at + 3].copy_from_slice(&values.map(f32::to_bits));
    };
    let groups = |out: &mut [u32], slot: u32, count: usize| {
        let at = s::ARGUMENTS + 3 * slot as usize;
        out[at..at + 3].copy_from_slice(&[count as u32, 1, 1]);
    };
    let each = |items: usize| items.div_ceil(plan.workgroup as usize);
    out[s::STALE] = scratch.stale.into();
    if let Some(made) = neighbors(from).filter(|made| made.built) {
        out[s::NEIGHBORS_USED] = made.len() as u32;
    }
    numbers(out, s::LOW, extent.low.to_array());
    numbers(out, s::HIGH, extent.high.to_array());
    if scratch.stale {
        groups(out, s::slot::PARTICLES, each(plan.particles));
        groups(out, s::slot::ONE, 1);
        groups(out, s::slot::BLOCKS, plan.particles.div_ceil(COUNTED));
    }

    let grid = grid(broad);
    let buckets = bucket_count(&grid);
    numbers(out, s::GRID_LOW, grid.low.truncate().to_array());
    let hashed = || hashed_per_metre(broad);
    let per_metre = if grid.hash_mask.is_some() { hashed() } else { grid.per_metre };
    out[s::GRID_PER_METRE] = per_metre.to_bits();
    out[s::GRID_COUNT..s::GRID_COUNT + 3].copy_from_slice(&grid.counts.as_uvec3().to_array());
    out[s::GRID_HASH_MASK] = grid.hash_mask.unwrap_or(0);
    out[s::GRID_BUCKETS] = buckets as u32;
    groups(out, s::slot::BUCKETS, each(buckets + 1));

    let mut laid = Tiles::default();
    laid.lay(extent, plan.particles);
    numbers(out, s::TILE_LOW, laid.low.truncate().to_array());
    out[s::TILE_PER_METRE] = laid.per_metre.to_bits();
    out[s::TILE_COUNT..s::TILE_COUNT + 3].copy_from_slice(&laid.counts.as_uvec3().to_array());
    out[s::TILES_HOLD_PAIRS] = laid.hold_every_pair(extent).into();

    let Some((tiles, by_color)) = tiles_by_color(scratch, plan) else { return };
    out[s::TILES] = by_color.len() as u32;
    let mut first = 0;
    for color in 0..COLORS {
        let count = tiles.of_color(color).len();
        out[s::TILE_FIRST + color] = first;
        first += count as u32;
        groups(out, s::slot::TILE_COLOR + color as u32, count);
    }
    out[s::TILE_FIRST + COLORS] = first;
    let (pairs, far_pairs) =
        (scratch.neighbors.pair_count(), scratch.contact_rows.far_pairs().count());
    out[s::PAIRS_USED] = pairs as u32;
    out[s::FAR_PAIRS] = far_pairs as u32;
    out[s::FAR_PAIRS_FIRST] = (pairs - far_pairs) as u32;
}
