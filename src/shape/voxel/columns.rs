//! Where columns of voxel centres pass through the triangles of a mesh.
//!
//! A triangle is projected along an axis; each centre of a column that it covers is a crossing
//! (Schwarz and Seidel 2010, [J 4.3]). All is done in whole numbers: a centre on an edge or a corner
//! belongs to exactly one of the triangles that meet there, so a mesh that lies on the grid is right
//! as well.

use rayon::prelude::*;

use super::grid::VoxelGrid;
use super::snapped::{Corner, Snapped};

/// A crossing: twice the place of the first voxel beyond it, plus one where the column leaves the
/// solid. Places are counted with the axis of the columns fastest.
pub(super) type Crossing = u64;

/// What a crossing adds to the winding number of the voxels beyond it.
pub(super) fn step(crossing: Crossing) -> i32 {
    1 - 2 * (crossing & 1) as i32
}

/// The place of the first voxel beyond a crossing.
pub(super) fn place(crossing: Crossing) -> usize {
    (crossing >> 1) as usize
}

/// The grid with the axis of the columns first; turning the axes in a ring keeps what is clockwise.
pub(super) fn turned<T: Copy>([x, y, z]: [T; 3], axis: usize) -> [T; 3] {
    match axis {
        0 => [x, y, z],
        1 => [y, z, x],
        _ => [z, x, y],
    }
}

/// Most crossings there can be, without finding them: the columns below each triangle's box.
pub(super) fn most(mesh: &Snapped, axis: usize) -> u64 {
    let below = |index: usize| {
        let [_, rows, slices] = spans(mesh.triangle(index).map(|c| turned(c, axis)), mesh.unit);
        (rows.end - rows.start) as u64 * (slices.end - slices.start) as u64
    };
    (0..mesh.triangles.len()).into_par_iter().with_min_len(1024).map(below).sum()
}

/// All crossings of the columns along an axis, in order.
pub(super) fn crossings(mesh: &Snapped, grid: &VoxelGrid, axis: usize) -> Vec<Crossing> {
    let size = turned(grid.size, axis);
    let find = |mut found: Vec<Crossing>, index: usize| {
        let triangle = mesh.triangle(index).map(|corner| turned(corner, axis));
        cover(triangle, mesh.unit, |at: [i64; 3], leaves: bool| {
            let [u, v, w] = at.map(|c| c as usize);
            let place = u + size[0] * (v + size[1] * w);
            found.push((place as u64) << 1 | u64::from(leaves));
        });
        found
    };
    let mut found: Vec<Crossing> = (0..mesh.triangles.len())
        .into_par_iter()
        .with_min_len(512)
        .fold(Vec::new, find)
        .reduce(Vec::new, |mut all, mut more| {
            all.append(&mut more);
            all
        });
    found.par_sort_unstable();
    found
}

/// The voxels whose centres lie within the box of a triangle, along each axis.
fn spans(triangle: [Corner; 3], unit: i64) -> [std::ops::Range<i64>; 3] {
    let [a, b, c] = triangle;
    std::array::from_fn(|k| {
        let low = i64::from(a[k].min(b[k]).min(c[k]));
        let high = i64::from(a[k].max(b[k]).max(c[k]));
        first_at(low, unit)..first_at(high + 1, unit)
    })
}

/// The first voxel whose centre is at `c` or beyond.
fn first_at(c: i64, unit: i64) -> i64 {
    // Units are a power of two, so this is a shift that rounds up.
    (c + unit / 2 - 1).div_euclid(unit)
}

/// Calls `hit` with the first voxel beyond the triangle in each column that it covers, and whether
/// the column leaves the solid there.
fn cover(triangle: [Corner; 3], unit: i64, mut hit: impl FnMut([i64; 3], bool)) {
    let [_, rows, slices] = spans(triangle, unit);
    if rows.is_empty() || slices.is_empty() {
        return;
    }
    let [a, b, c] = triangle.map(|corner| corner.map(i64::from));
    let area = edge(a, b, c[1], c[2]);
    if area == 0 {
        return;
    }
    let leaves = area > 0;
    let (b, c) = if leaves { (b, c) } else { (c, b) };
    let sides = [(b, c), (c, a), (a, b)].map(|(from, to)| Side::new(from, to));
    let heights = [a, b, c].map(|corner| corner[0] as f64);
    let per_area = 1.0 / area.abs() as f64;
    for w in slices {
        for v in rows.clone() {
            let at = [v, w].map(|k| k * unit + unit / 2);
            let weights = [0, 1, 2].map(|k| edge(sides[k].from, sides[k].to, at[0], at[1]));
            if (0..3).all(|k| weights[k] >= sides[k].least) {
                // Rounded to whole units, since what lies on a centre must be found there.
                let sum: f64 = (0..3).map(|k| weights[k] as f64 * heights[k]).sum();
                let height = (sum * per_area).round() as i64;
                hit([first_at(height, unit), v, w], leaves);
            }
        }
    }
}

/// Twice the area of the triangle of an edge and a point, positive when the point is on its left.
fn edge(from: [i64; 3], to: [i64; 3], v: i64, w: i64) -> i64 {
    (to[1] - from[1]) * (w - from[2]) - (to[2] - from[2]) * (v - from[1])
}

/// A side of a triangle that runs counter-clockwise.
struct Side {
    from: [i64; 3],
    to: [i64; 3],
    /// A centre with this on its left, or more, is inside. A side owns the centres on it when it goes
    /// down, or level to the left; of the two triangles that meet at a side exactly one does.
    least: i64,
}

impl Side {
    fn new(from: [i64; 3], to: [i64; 3]) -> Self {
        let (right, up) = (to[1] - from[1], to[2] - from[2]);
        let owns = up < 0 || (up == 0 && right < 0);
        Side { from, to, least: i64::from(!owns) }
    }
}
