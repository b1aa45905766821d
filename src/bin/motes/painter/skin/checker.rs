//! The checker on the front of a cloth: fields of whole cells.

use glam::Vec3;

/// Fields of the checker along the longest side of a cloth.
const FIELDS: f32 = 12.0;

/// Which triangles lie on dark fields: squares of whole cells, where the cloth was when it was made.
pub fn checker(triangles: &[[usize; 3]], rest: impl Fn(usize) -> Vec3) -> Vec<bool> {
    let Some(first) = triangles.first() else { return Vec::new() };
    // The sides of the first cell are those of its triangle that are not its diagonal: they meet in
    // the corner across from the longest side.
    let corners = first.map(&rest);
    let across = |k: usize| corners[(k + 1) % 3].distance(corners[(k + 2) % 3]);
    let middle = (0..3).max_by(|&a, &b| across(a).total_cmp(&across(b))).unwrap_or(0);
    let sides = [1, 2].map(|k| corners[(middle + k) % 3] - corners[middle]);
    // Along each side of the cells: how many cells a triangle is away from the first one.
    let cells = |corners: &[usize; 3]| {
        let from = corners.iter().map(|&slot| rest(slot)).sum::<Vec3>() / 3.0 - rest(first[middle]);
        sides.map(|side| (from.dot(side) / side.length_squared().max(f32::MIN_POSITIVE)).floor())
    };
    let ends = triangles
        .iter()
        .map(cells)
        .fold([0.0f32; 2], |[u, v], [a, b]| [u.max(a.abs()), v.max(b.abs())]);
    let field = (ends[0].max(ends[1]) / FIELDS).round().max(1.0);
    let is_dark = |corners: &[usize; 3]| {
        let [u, v] = cells(corners).map(|cell| (cell / field).floor() as i64);
        (u + v) % 2 != 0
    };
    triangles.iter().map(is_dark).collect()
}
