//! Places of a surface that are too far from every sample.

use glam::Vec3;
use rayon::prelude::*;

use super::cells::Cells;
use super::{Sample, Surface, kept_apart};

/// A place farther than this from every sample is near a hole, and is moved to its middle. In a
/// honeycomb no place is farther than 0.58.
const NEAR: f32 = 0.63;
/// Steps to the middle.
const STEPS: usize = 4;

/// New samples in the middle of every hole whose radius is above `radius`, the widest first and no two
/// nearer to each other than that. `tried` are places all over the surface that look for holes.
pub(super) fn fill(
    surface: &Surface,
    samples: &[Sample],
    tried: &[Sample],
    radius: f32,
    spacing: f32,
) -> Vec<Sample> {
    let cells = Cells::of(samples.iter().map(|sample| sample.position), spacing);
    let near = NEAR * spacing;
    let search = |place: &Sample| {
        let mut nearest = three_nearest(&cells, place.position);
        if nearest[0].0 <= near * near {
            return None;
        }
        let mut middle = *place;
        for _ in 0..STEPS {
            // With fewer than three samples around there is no middle, and any place is a good one.
            let [a, b, c] = nearest.map(|(_, point)| point);
            let Some(centre) = circumcentre(a, b, c).filter(|_| nearest[2].0 < f32::INFINITY)
            else {
                break;
            };
            let step = (centre - middle.position).clamp_length_max(0.3 * spacing);
            let moved = surface.nearest(middle.position + step, middle);
            let around = three_nearest(&cells, moved.position);
            if around[0].0 <= nearest[0].0 {
                break;
            }
            (middle, nearest) = (moved, around);
        }
        (nearest[0].0 > radius * radius).then_some((nearest[0].0, middle))
    };
    let mut holes: Vec<(f32, Sample)> =
        tried.par_iter().with_min_len(1024).filter_map(search).collect();
    // Stable, so that places that are equally far come in their order.
    holes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let places: Vec<Sample> = holes.into_iter().map(|(_, place)| place).collect();
    kept_apart(&places, radius)
}

/// The three nearest samples with their squared distances, nearest first; infinite where there are
/// fewer within the width of a cell.
fn three_nearest(cells: &Cells, point: Vec3) -> [(f32, Vec3); 3] {
    let mut found = [(f32::INFINITY, Vec3::ZERO); 3];
    cells.visit(point, |other, _| {
        let distance_sq = other.distance_squared(point);
        if distance_sq < found[2].0 {
            found[2] = (distance_sq, other);
            for k in [2, 1] {
                if found[k].0 < found[k - 1].0 {
                    found.swap(k, k - 1);
                }
            }
        }
    });
    found
}

/// The place in the plane of three points that is equally far from all; none when they are in line.
fn circumcentre(a: Vec3, b: Vec3, c: Vec3) -> Option<Vec3> {
    let (ab, ac) = (b - a, c - a);
    let normal = ab.cross(ac);
    let to_centre = normal.cross(ab) * ac.length_squared() + ac.cross(normal) * ab.length_squared();
    Some(a + to_centre / (2.0 * normal.length_squared())).filter(|centre| centre.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_circumcentre_is_equally_far_from_all() {
        let (a, b, c) = (Vec3::new(0.3, 1.0, -2.0), Vec3::new(1.5, 0.2, 0.4), Vec3::ZERO);
        let centre = circumcentre(a, b, c).unwrap();
        let away = [a, b, c].map(|point| point.distance(centre));
        assert!(away.iter().all(|d| (d - away[0]).abs() < 1e-5), "{away:?}");
        assert_eq!(circumcentre(Vec3::ZERO, Vec3::X, Vec3::X), None);
    }
}
