//! Whether particles of one object went through the surface of another: not around it, through it.

use super::measure;
use crate::world::{ObjectId, World};
use glam::DVec3;

/// Where things were at the last look, and how many went through since the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Tunnels {
    /// Ids and places in order of id: slots may be sorted anew between two looks.
    last: Vec<(u64, DVec3)>,
    pub count: usize,
}

/// A point or a corner at the last look and now.
type Way = [DVec3; 2];

impl Tunnels {
    /// Counts the particles of `of` that met a triangle of `through` since the last look, both
    /// taken to have gone straight.
    pub fn see(&mut self, world: &World, of: Option<ObjectId>, through: ObjectId) {
        let p = &world.particles;
        let place = |slot: usize| p.positions()[slot].truncate().as_dvec3();
        let now = p.slots_by_id().map(|slot| (p.id[slot], place(slot))).collect();
        let mut last = std::mem::replace(&mut self.last, now).into_iter().peekable();
        // By slot; one that came since has not gone anywhere yet.
        let mut before: Vec<Option<DVec3>> = vec![None; p.len()];
        for slot in p.slots_by_id() {
            while last.next_if(|&(id, _)| id < p.id[slot]).is_some() {}
            before[slot] = last.next_if(|&(id, _)| id == p.id[slot]).map(|(_, place)| place);
        }
        let way = |slot: usize| before[slot].map(|before| [before, place(slot)]);
        let Ok(object) = world.object(through) else { return };
        let triangles: Vec<[Way; 3]> = object
            .surface()
            .triangles()
            .iter()
            .filter_map(|ids| {
                let [a, b, c] = ids.map(|id| p.slot(id));
                Some([way(a?)?, way(b?)?, way(c?)?])
            })
            .collect();
        let boxes: Vec<[DVec3; 2]> = triangles.iter().map(|t| bounds(t.as_flattened())).collect();
        for slot in measure::slots(world, of) {
            let Some(point) = way(slot) else { continue };
            let [low, high] = bounds(&point);
            let crossed = triangles.iter().zip(&boxes).any(|(triangle, [from, to])| {
                low.cmple(*to).all() && high.cmpge(*from).all() && meets(point, triangle)
            });
            self.count += usize::from(crossed);
        }
    }
}

fn bounds(points: &[DVec3]) -> [DVec3; 2] {
    points
        .iter()
        .fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[low, high], &p| [low.min(p), high.max(p)])
}

/// Whether the point changes its side of the triangle while over it.
fn meets(point: Way, triangle: &[Way; 3]) -> bool {
    let at = |way: &Way, s: f64| way[0].lerp(way[1], s);
    let corners = |s: f64| [at(&triangle[0], s), at(&triangle[1], s), at(&triangle[2], s)];
    let side = |s: f64| {
        let [a, b, c] = corners(s);
        (b - a).cross(c - a).dot(at(&point, s) - a)
    };
    let above = side(0.0) > 0.0;
    if above == (side(1.0) > 0.0) {
        return false;
    }
    let (mut before, mut after) = (0.0, 1.0);
    for _ in 0..30 {
        let middle = 0.5 * (before + after);
        if (side(middle) > 0.0) == above { before = middle } else { after = middle }
    }
    let [a, b, c] = corners(before);
    let p = at(&point, before);
    let normal = (b - a).cross(c - a);
    // A hair more than the triangle, so that nothing slips between two of them.
    let least = -1e-6 * normal.length_squared();
    [(a, b), (b, c), (c, a)].iter().all(|&(q, r)| (r - q).cross(p - q).dot(normal) >= least)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAT: [DVec3; 3] = [DVec3::ZERO, DVec3::X, DVec3::Y];

    #[test]
    fn through_is_through_and_around_is_not() {
        let still = FLAT.map(|p| [p, p]);
        let moving = FLAT.map(|p| [p - DVec3::Z, p + DVec3::Z]);
        let (inside, outside) = (DVec3::new(0.2, 0.2, 0.0), DVec3::new(0.8, 0.8, 0.0));
        let pass = |p: DVec3| [p + DVec3::Z, p - DVec3::Z];
        assert!(meets(pass(inside), &still));
        assert!(!meets(pass(outside), &still));
        assert!(meets([inside, inside], &moving), "the triangle came to the point");
        assert!(
            !meets([inside - DVec3::Z * 1.1, inside + DVec3::Z * 0.9], &moving),
            "side by side"
        );
    }
}
