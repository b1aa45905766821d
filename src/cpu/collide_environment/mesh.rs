//! Contacts with triangle meshes: sheets with two sides, and closed solids.
//!
//! The centre's way is cut where it first passes through a triangle. Around the point `q` reached
//! so (the predicted centre, or where the sphere first touches what it would pass through) faces
//! give planes first, then edges and corners that no accepted plane already covers: a point on
//! or behind an accepted plane cannot be touched by a particle in front of it. That is what keeps
//! the inner edges of a floor from tripping anybody.

use glam::Vec3;

use super::inline_vec::InlineVec;
use super::{LocalPlane, Sweep};
use crate::shape::triangle_bvh::triangle::Crossing;
use crate::shape::triangle_bvh::{
    Feature, TriangleBvh, closest_point, segment_crossing, unit_normal,
};

/// Ways tried before the particle is stopped where it is: each adds one plane it would leak
/// through, so a corner needs three.
const ROUNDS: usize = 6;

/// Overlap, in reaches, from which on a hit is far. Two planes that are far behind send the
/// particle metres apart depending on which the solver takes first; one plane cannot.
const FAR: f32 = 4.0;

/// A surface is passed over when it is this near to an accepted plane, in reaches.
const COVERED: f32 = 1e-3;

type Planes = InlineVec<Accepted, 8>;

#[derive(Clone, Copy, Debug, Default)]
struct Accepted {
    plane: LocalPlane,
    triangle: u32,
}

/// How a mesh is looked at.
struct Skin<'a> {
    bvh: &'a TriangleBvh,
    /// Only the front of a triangle counts.
    closed: bool,
    /// Half the thickness, m.
    skin: f32,
    /// Distance the centre keeps from the triangles: radius and skin, m.
    reach: f32,
    margin: f32,
}

/// A sheet: the particle stays on the side it is on.
pub(super) fn find_sheet(
    bvh: &TriangleBvh,
    thickness: f32,
    sweep: &Sweep,
    emit: &mut impl FnMut(LocalPlane),
) {
    let skin = 0.5 * thickness;
    let look = Skin { bvh, closed: false, skin, reach: sweep.r + skin, margin: sweep.margin };
    find(&look, sweep, emit);
}

/// A solid: the particle stays outside, and leaves by the nearest way when it starts inside.
pub(super) fn find_closed(bvh: &TriangleBvh, sweep: &Sweep, emit: &mut impl FnMut(LocalPlane)) {
    if bvh.contains(sweep.x) {
        let exit = nearest_exit(bvh, sweep.x);
        let near = |plane: &LocalPlane| plane.height(sweep.p) < sweep.r + sweep.margin;
        if let Some(plane) = exit.filter(near) {
            emit(plane);
        }
        return;
    }
    let look = Skin { bvh, closed: true, skin: 0.0, reach: sweep.r, margin: sweep.margin };
    find(&look, sweep, emit);
}

fn nearest_exit(bvh: &TriangleBvh, x: Vec3) -> Option<LocalPlane> {
    let closest = bvh.closest(x)?;
    let face = unit_normal(&closest.corners).map(|n| n.as_vec3());
    let normal = match closest.feature {
        Feature::Face => face?,
        Feature::Edge(_) | Feature::Vertex(_) => (closest.point - x).try_normalize().or(face)?,
    };
    Some(LocalPlane { normal, point: closest.point, skin: 0.0 })
}

fn find(look: &Skin, sweep: &Sweep, emit: &mut impl FnMut(LocalPlane)) {
    let &Sweep { x, p, .. } = sweep;
    let mut planes = Planes::new();
    let Some(hit) = first_crossing(look, x, p) else {
        gather(look, x, p, &mut planes);
        return emit_sorted(&mut planes, emit);
    };
    let touch = hit.touch_point(look, x, p);
    let held = if is_far(look, &hit.plane, p) {
        hold_far(look, &hit, touch, p, &mut planes)
    } else {
        hold_near(look, hit, x, touch, p, &mut planes)
    };
    if held {
        emit_sorted(&mut planes, emit);
    } else {
        emit(stop_plane(look, back_off(look, x, touch), p));
    }
}

/// Collects planes until what the solver will make of them runs into no more triangles.
fn hold_near(look: &Skin, hit: Hit, x: Vec3, touch: Vec3, p: Vec3, planes: &mut Planes) -> bool {
    let (mut hit, mut from, mut q) = (hit, x, touch);
    for _ in 0..ROUNDS {
        if !is_known(look, planes, &hit.plane) {
            planes.push(Accepted { plane: hit.plane, triangle: hit.triangle });
        }
        gather(look, from, q, planes);
        sort(planes);
        let to = project(look, planes, p);
        from = q;
        let Some(next) = first_crossing(look, from, to) else {
            gather(look, from, to, planes);
            return true;
        };
        if is_far(look, &next.plane, p) {
            return false;
        }
        q = next.touch_point(look, from, to);
        hit = next;
    }
    false
}

/// Takes the plane that was hit if the particle can slide along it to the end, with those near
/// that end that are not far too.
fn hold_far(look: &Skin, hit: &Hit, touch: Vec3, p: Vec3, planes: &mut Planes) -> bool {
    let hit = Accepted { plane: hit.plane, triangle: hit.triangle };
    let mut around = Planes::new();
    around.push(hit);
    let slid = project(look, &around, p);
    if first_crossing(look, touch, slid).is_some() {
        return false;
    }
    gather(look, touch, slid, &mut around);
    planes.push(hit);
    for accepted in &around.as_slice()[1..] {
        if !is_far(look, &accepted.plane, p) {
            planes.push(*accepted);
        }
    }
    sort(planes);
    first_crossing(look, slid, project(look, planes, p)).is_none()
}

fn is_far(look: &Skin, plane: &LocalPlane, p: Vec3) -> bool {
    look.reach - plane.height(p) > FAR * look.reach
}

fn sort(planes: &mut Planes) {
    planes.as_mut_slice().sort_by_key(|accepted| accepted.triangle);
}

fn emit_sorted(planes: &mut Planes, emit: &mut impl FnMut(LocalPlane)) {
    sort(planes);
    planes.as_slice().iter().for_each(|accepted| emit(accepted.plane));
}

/// Across the way, at a point known to be free: alone, it takes `p` back to just that point.
fn stop_plane(look: &Skin, q: Vec3, p: Vec3) -> LocalPlane {
    let normal = (q - p).normalize_or(Vec3::Y);
    LocalPlane { normal, point: q - normal * look.reach, skin: look.skin }
}

/// From `q` back along the way until the sphere overlaps nothing it was moving into.
fn back_off(look: &Skin, from: Vec3, q: Vec3) -> Vec3 {
    let mut planes = Planes::new();
    gather(look, from, q, &mut planes);
    let back = from - q;
    let t = planes.as_slice().iter().fold(0.0f32, |t, Accepted { plane, .. }| {
        let (overlap, rise) = (look.reach - plane.height(q), plane.normal.dot(back));
        if rise > 0.0 && overlap > 0.0 { t.max(overlap / rise) } else { t }
    });
    q + back * t.min(1.0)
}

/// A triangle the centre would pass through.
struct Hit {
    triangle: u32,
    crossing: Crossing,
    /// Its plane, turned to the side the particle comes from.
    plane: LocalPlane,
}

impl Hit {
    /// The centre where the sphere first touches the plane.
    fn touch_point(&self, look: &Skin, from: Vec3, to: Vec3) -> Vec3 {
        let (start, end) = (self.crossing.start.abs(), self.crossing.end.abs());
        let t = (start - f64::from(look.reach)) / (start + end);
        if t > 0.0 { from.as_dvec3().lerp(to.as_dvec3(), t).as_vec3() } else { from }
    }
}

/// The first triangle the centre passes through, the lowest index among equals.
fn first_crossing(look: &Skin, from: Vec3, to: Vec3) -> Option<Hit> {
    let mut first: Option<(u32, Crossing)> = None;
    look.bvh.visit_box(from.min(to), from.max(to), |id, corners| {
        let Some(crossing) = segment_crossing(corners, from, to) else { return };
        // From outside, a closed mesh is entered through a front; a back on the way is the far
        // side of an edge that is only grazed.
        if look.closed && crossing.end >= crossing.start {
            return;
        }
        let better = first.as_ref().is_none_or(|(best_id, best)| {
            crossing.t < best.t || (crossing.t == best.t && id < *best_id)
        });
        if better {
            first = Some((id, crossing));
        }
    });
    let (triangle, crossing) = first?;
    let normal = if crossing.start < 0.0 { -crossing.normal } else { crossing.normal };
    let point = from.as_dvec3().lerp(to.as_dvec3(), crossing.t);
    let plane = LocalPlane { normal: normal.as_vec3(), point: point.as_vec3(), skin: look.skin };
    Some(Hit { triangle, crossing, plane })
}

/// The predicted centre after a few sweeps over the planes, as the solver will move it.
fn project(look: &Skin, planes: &Planes, p: Vec3) -> Vec3 {
    let mut p = p;
    for _ in 0..8 {
        for accepted in planes.as_slice() {
            let overlap = look.reach - accepted.plane.height(p);
            p += accepted.plane.normal * overlap.max(0.0);
        }
    }
    p
}

/// A triangle within reach of `q`.
#[derive(Clone, Copy, Debug, Default)]
struct Near {
    plane: LocalPlane,
    triangle: u32,
    is_face: bool,
    distance_sq: f64,
    corners: [Vec3; 3],
}

/// Adds the planes of what is near `q`, which was reached from `from` without a crossing.
fn gather(look: &Skin, from: Vec3, q: Vec3, planes: &mut Planes) {
    let reach = look.reach + look.margin;
    let reach_sq = f64::from(reach) * f64::from(reach);
    let mut near = InlineVec::<Near, 12>::new();
    look.bvh.visit_box(q - reach, q + reach, |triangle, corners| {
        if let Some(found) = near_triangle(look, from, q, reach_sq, corners) {
            near.push(Near { triangle, ..found });
        }
    });
    // Nearest first: what lies behind it, or beside it on the same surface, then adds nothing.
    near.as_mut_slice().sort_unstable_by(|a, b| {
        b.is_face
            .cmp(&a.is_face)
            .then(a.distance_sq.total_cmp(&b.distance_sq))
            .then(a.triangle.cmp(&b.triangle))
    });
    for found in near.as_slice() {
        let covered = COVERED * look.reach + 1e-6 * found.plane.point.abs().max_element();
        let hidden = planes.as_slice().iter().any(|accepted| {
            let height = accepted.plane.height(found.plane.point);
            // A face that only touches an accepted plane rises from it elsewhere.
            if found.is_face { height < -covered } else { height <= covered }
        });
        let free = !hidden && (found.is_face || is_nearest_around(found, near.as_slice(), covered));
        if free && !is_known(look, planes, &found.plane) {
            planes.push(Accepted { plane: found.plane, triangle: found.triangle });
        }
    }
}

fn near_triangle(
    look: &Skin,
    from: Vec3,
    q: Vec3,
    reach_sq: f64,
    corners: &[Vec3; 3],
) -> Option<Near> {
    let (point, feature) = closest_point(corners, q);
    let away = q.as_dvec3() - point;
    let distance_sq = away.length_squared();
    if distance_sq >= reach_sq {
        return None;
    }
    let face = unit_normal(corners);
    let over = |c: Vec3| face.map_or(0.0, |n| n.dot(c.as_dvec3() - corners[0].as_dvec3()));
    let height = over(q);
    // Seen from behind, a solid's triangle is covered by the fronts before it.
    if look.closed && height < 0.0 {
        return None;
    }
    // Straight over an edge or a corner the face's normal is the right one, and free of the
    // rounding in `away`. No way was crossed, so the side of `q` is the particle's side.
    let straight = height * height >= (1.0 - 1e-6) * distance_sq;
    let is_face = face.is_some() && (feature == Feature::Face || straight);
    let below = if height == 0.0 { over(from) < 0.0 } else { height < 0.0 };
    let normal =
        if is_face { face.map(|n| if below { -n } else { n }) } else { away.try_normalize() };
    let plane = LocalPlane { normal: normal?.as_vec3(), point: point.as_vec3(), skin: look.skin };
    Some(Near { plane, triangle: 0, is_face, distance_sq, corners: *corners })
}

/// Whether the surface around an edge or corner point comes no nearer to the particle: in a
/// hollow it does, on a neighbour that shares the edge. All that share it are in `near`, since
/// they are at least as near.
fn is_nearest_around(found: &Near, near: &[Near], covered: f32) -> bool {
    let covered_sq = f64::from(covered) * f64::from(covered);
    !near.iter().any(|other| {
        other.distance_sq < found.distance_sq * (1.0 - 1e-6) && {
            let point = found.plane.point;
            let (on_other, _) = closest_point(&other.corners, point);
            on_other.distance_squared(point.as_dvec3()) <= covered_sq
        }
    })
}

/// The same plane twice would count twice where corrections are averaged.
fn is_known(look: &Skin, planes: &Planes, plane: &LocalPlane) -> bool {
    let near = COVERED * look.reach + 1e-6 * plane.point.abs().max_element();
    planes.as_slice().iter().any(|accepted| {
        accepted.plane.normal.dot(plane.normal) > 1.0 - 1e-6
            && accepted.plane.height(plane.point).abs() <= near
    })
}
