//! Finds the vertices of meshes that the triangles of cloth meet, so that no point pierces them.
//! m = the sum of b p over the corners of a triangle; C = u.m + d >= 0, where u leads off the vertex
//! and d keeps m a radius away from it. A vertex counts when it is within reach over the triangle where
//! the substep ends, or when the triangle passes it on the way (docs/physics.md, section 4).
//! A particle's contacts are counted from where its own step began.
//! Reads: position, start x, predicted p [m, 1/kg], rest [m], radius [m], surfaces, colliders and where they
//! are during the substep. Writes: point contacts of every particle that physics moves; who has any.
//! Part: all; start: another look, if anybody was moved since the last one.
//! Order: collider, then vertex in the order of the hierarchy, then triangle of the fan; each particle
//! alone, so any thread may do it.

use super::collide_environment::Posed;
use super::team::Team;
use super::{Moment, Scratch};
use crate::error::Result;
use crate::shape::triangle_bvh::TriangleBvh;
use crate::step::Part;
use crate::world::collider::Shape;
use crate::world::{Fans, World};
use glam::{Vec3, Vec4};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Triangles whose sides span less, squared, m⁴, have no normal.
const LEAST_SIZE_SQ: f32 = 1e-24;
/// How far beside a triangle a vertex still counts, as a share of the triangle's height: where two
/// triangles meet both see it, so that none slips through between them.
const BESIDE: f32 = 0.05;
/// A vertex that is nearer than the radius is pushed off by at most this share of the radius in a
/// substep: it may have come in from the side, and a sudden push would be a blow.
const RECOVERED: f32 = 0.1;
/// Corners that carry less of a contact are not moved by it.
const LEAST_SHARE: f32 = 1e-3;

/// Parts of the way that are looked at one by one.
const PARTS: u32 = 4;

/// Particles that a block holds.
const BLOCK: usize = 256;

/// A vertex that a triangle of cloth must stay off, as one of the corners of the triangle sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PointContact {
    /// The other two corners, by slot.
    pub corners: [u32; 2],
    /// How much of the point that meets the vertex is theirs; the rest is this corner's.
    pub shares: [f32; 2],
    /// `u`, `d`: C = u.m + d >= 0 at the end of the substep, m counted from where the step of this
    /// corner began.
    pub plane: Vec4,
    /// Displacement of the vertex during the substep, m.
    pub motion: Vec3,
    /// The number of the collider.
    pub collider: u32,
    /// 1 when the triangle passes the vertex on its way, else 0.
    pub passed: u32,
}

/// A triangle over the substep, in the frame of a collider. The corners follow their particle.
#[derive(Clone, Copy, Debug)]
struct Swept {
    corners: [u32; 2],
    x: [Vec3; 3],
    p: [Vec3; 3],
}

/// The triangles around a particle that are not torn, as a worker takes them in hand.
#[derive(Debug, Default)]
pub(crate) struct Fan {
    triangles: Vec<Swept>,
}

/// What a triangle and a vertex come to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Met {
    /// Unit vector off the vertex, in the frame of the collider.
    away: Vec3,
    /// How far the triangle must stay away, m.
    gap: f32,
    shares: [f32; 3],
    /// The triangle passes the vertex on its way.
    passed: bool,
}

/// Lists the contacts of every particle that physics moves.
pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch, at: &Moment) -> Result<()> {
    if at.part == Part::Start && scratch.stirred == 0 {
        return Ok(()); // nobody was moved since the last look, so all is as it was
    }
    scratch.fans.update(world);
    let (p, h) = (&world.particles, f64::from(at.h));
    let posed: Vec<Posed> = world.colliders.iter().map(|c| Posed::new(c, at.time, h)).collect();
    let (fans, torn_sq) = (&scratch.fans, world.torn_sq());
    let mut cloth = Cloth { world, fans, posed: &posed, torn_sq, width: 0.0 };
    scratch.stirred = 0;
    if !cloth.look(team) {
        if scratch.point_contacts.len() > 0 {
            scratch.point_contacts.clear(p.len());
            scratch.pricked.clear();
        }
        return Ok(());
    }
    let passed = AtomicU32::new(0);
    scratch.point_contacts.fill(team, p.len(), (p.len(), BLOCK), |range, desk| {
        for i in range {
            if p.position[i].w > 0.0 && !fans.around(i).is_empty() {
                let (out, fan) = desk.parts();
                if cloth.find(i, fan, out) {
                    passed.store(1, Relaxed);
                }
            }
            desk.end(i);
        }
    })?;
    scratch.stirred = passed.into_inner();
    scratch.point_contacts.collect_filled(&mut scratch.pricked);
    Ok(())
}

/// Cloth among colliders.
struct Cloth<'a> {
    world: &'a World,
    fans: &'a Fans,
    posed: &'a [Posed],
    torn_sq: f32,
    /// No side of a triangle is longer, m.
    width: f32,
}

impl Cloth<'_> {
    /// A first look at all cloth at once: false when no mesh can be met.
    fn look(&mut self, team: &Team) -> bool {
        let (p, margin) = (&self.world.particles, self.world.params.margin);
        // All four numbers at once: the last of them does no harm.
        let (mut low, mut high, mut radius) = (Vec4::MAX, Vec4::MIN, 0.0f32);
        let is_cloth = |i: &usize| !self.fans.around(*i).is_empty();
        for i in (0..p.len()).filter(is_cloth) {
            let (x, to) = (p.position[i] + p.start[i], p.position[i] + p.predicted[i]);
            (low, high) = (low.min(x).min(to), high.max(x).max(to));
            radius = radius.max(p.radius[i]);
        }
        let middle = ((low + high) * 0.5).truncate();
        let reach = (high.truncate() - middle).length() + radius * margin;
        let mut meshes = self.world.colliders.iter().zip(self.posed);
        let near = meshes.any(|(collider, posed)| match &collider.shape {
            Shape::Mesh { thickness, .. } => {
                !posed.guard.is_far(middle, middle, reach + thickness * margin)
            }
            _ => false,
        });
        if !near {
            return false;
        }
        let way = |i: usize| (p.predicted[i] - p.start[i]).truncate().length_squared();
        let longest_sq = (0..p.len()).filter(is_cloth).map(way).fold(0.0, f32::max);
        // Two particles are further apart in the end by no more than they have moved.
        self.width = (self.longest_side(team) + 2.0 * longest_sq.sqrt()) * 1.001;
        true
    }

    /// The longest side of a triangle where the way begins, m.
    fn longest_side(&self, team: &Team) -> f32 {
        let at = self.world.particles.now();
        // Numbers that are not negative are in the order of their bits.
        let longest = AtomicU32::new(0);
        team.blocks(at.len(), BLOCK, |_, range| {
            let mut most = 0.0f32;
            for i in range {
                // Each side of a triangle leads on from one of its ends.
                for &[next, _] in self.fans.around(i) {
                    most = most.max(at.between(next as usize, i).length_squared());
                }
            }
            longest.fetch_max(most.to_bits(), Relaxed);
        });
        f32::from_bits(longest.into_inner()).sqrt()
    }

    /// Appends the contacts of a particle; true when a triangle passes a vertex.
    fn find(&self, i: usize, fan: &mut Fan, out: &mut Vec<PointContact>) -> bool {
        let (margin, p) = (self.world.params.margin, &self.world.particles);
        let known = out.len();
        for (index, (collider, posed)) in self.world.colliders.iter().zip(self.posed).enumerate() {
            let Shape::Mesh { bvh, closed, thickness, .. } = &collider.shape else { continue };
            let keep = p.radius[i] + if *closed { 0.0 } else { 0.5 * thickness };
            let reach = keep * margin;
            let posed = &posed.seen_from(p.position[i].truncate());
            let x = posed.start.inverse_point(p.start[i].truncate());
            let to = posed.end.inverse_point(p.predicted[i].truncate());
            let meets = |width: f32| {
                let around = Vec3::splat(width + reach);
                bvh.has_vertex(x.min(to) - around, x.max(to) + around)
            };
            // The longest side of all costs nothing to look at, that of the fan a little.
            if meets(self.width) && meets(self.width_of(i)) {
                self.gather(i, posed, fan);
                At { posed, index: index as u32, keep, reach }.find(bvh, fan, out);
            }
        }
        out[known..].iter().any(|contact| contact.passed != 0)
    }

    /// How far the triangles around a particle reach, m: a little more than that.
    fn width_of(&self, i: usize) -> f32 {
        let particles = &self.world.particles;
        let (before, after) = (particles.now(), particles.predictions());
        let mut width_sq = 0.0f32;
        for slot in self.fans.around(i).iter().flatten().map(|&slot| slot as usize) {
            width_sq = width_sq.max(before.between(slot, i).length_squared());
            width_sq = width_sq.max(after.between(slot, i).length_squared());
        }
        width_sq.sqrt() * 1.001
    }

    /// Takes the triangles around a particle in hand, in the frame of a collider whose pose is seen
    /// from where the particle's step began.
    fn gather(&self, i: usize, posed: &Posed, fan: &mut Fan) {
        let p = &self.world.particles;
        let from = |slot: usize, moved: &[Vec4]| {
            (p.position[slot] - p.position[i] + moved[slot]).truncate()
        };
        let start = |slot: usize| posed.start.inverse_point(from(slot, &p.start));
        let end = |slot: usize| posed.end.inverse_point(from(slot, &p.predicted));
        let rest = |slot: usize| p.rest[slot].truncate();
        let (x, to) = (start(i), end(i));
        fan.triangles.clear();
        for &corners in self.fans.around(i) {
            let [b, c] = corners.map(|slot| slot as usize);
            let swept = Swept { corners, x: [x, start(b), start(c)], p: [to, end(b), end(c)] };
            let (size, whole) = (across(&swept.x), across(&[rest(i), rest(b), rest(c)]));
            if size.dot(size) <= whole.dot(whole) * self.torn_sq {
                fan.triangles.push(swept);
            }
        }
    }
}

/// A mesh and how far cloth keeps off it.
struct At<'a> {
    posed: &'a Posed,
    index: u32,
    /// The distance that is kept, m.
    keep: f32,
    /// The distance from which on a vertex counts, m.
    reach: f32,
}

impl At<'_> {
    fn find(&self, bvh: &TriangleBvh, fan: &Fan, out: &mut Vec<PointContact>) {
        let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
        for point in fan.triangles.iter().flat_map(|t| t.x.into_iter().chain(t.p)) {
            (low, high) = (low.min(point), high.max(point));
        }
        let reach = Vec3::splat(self.reach);
        bvh.visit_vertices(low - reach, high + reach, |vertex| {
            for triangle in &fan.triangles {
                if let Some(met) = triangle.meet(vertex, self.keep, self.reach)
                    && (met.passed || met.shares[0] >= LEAST_SHARE)
                {
                    out.extend(self.contact(triangle, vertex, &met));
                }
            }
        });
    }

    /// The contact in the world; none where numbers overflow.
    fn contact(&self, triangle: &Swept, vertex: Vec3, met: &Met) -> Option<PointContact> {
        let (start, end) = (&self.posed.start, &self.posed.end);
        let away = end.apply_vector(met.away);
        let point = end.apply_point(vertex);
        let motion = point - start.apply_point(vertex);
        let plane = away.extend(-away.dot(point) - met.gap);
        let contact = PointContact {
            corners: triangle.corners,
            shares: [met.shares[1], met.shares[2]],
            plane,
            motion,
            collider: self.index,
            passed: u32::from(met.passed),
        };
        (plane.is_finite() && motion.is_finite()).then_some(contact)
    }
}

impl Swept {
    /// Whether the triangle meets a vertex.
    fn meet(&self, vertex: Vec3, keep: f32, reach: f32) -> Option<Met> {
        let after = height(&self.p, vertex)?;
        let before = height(&self.x, vertex).unwrap_or(after);
        // What came in from the side is not sent back at once.
        let gap = keep.min(before.abs() + RECOVERED * keep);
        if let Some((away, shares)) = self.pass(vertex, before) {
            return Some(Met { away, gap, shares, passed: true });
        }
        if after.abs() >= reach {
            return None;
        }
        let (normal, shares) = under(&self.p, vertex)?;
        let away = if after > 0.0 { -normal } else { normal };
        Some(Met { away, gap, shares, passed: false })
    }

    /// Where the triangle passes a vertex on its way, if it does: the way back, and the shares of the
    /// corners.
    ///
    /// Corners move straight. In each part of the way the height of the vertex over the triangle is
    /// taken to change evenly: where the triangle turns by an angle a in that part, it is off by
    /// a^2 / 8 of the triangle's size.
    fn pass(&self, vertex: Vec3, before: f32) -> Option<(Vec3, [f32; 3])> {
        let moved = |k: usize| self.p[k] - self.x[k];
        let longest = moved(0).length_squared();
        let longest = longest.max(moved(1).length_squared()).max(moved(2).length_squared());
        // No point of the triangle goes further than a corner.
        if before * before > longest {
            return None;
        }
        let at = |t: f32| -> [Vec3; 3] { std::array::from_fn(|k| self.x[k] + moved(k) * t) };
        let mut last = before;
        for part in 0..PARTS {
            let from = part as f32 * (1.0 / PARTS as f32);
            let now = height(&at(from + 1.0 / PARTS as f32), vertex).unwrap_or(last);
            if last * now < 0.0 {
                let t = from + last / (last - now) * (1.0 / PARTS as f32);
                if let Some((normal, shares)) = under(&at(t), vertex) {
                    return Some((if last > 0.0 { -normal } else { normal }, shares));
                }
            }
            last = now;
        }
        None
    }
}

/// The height of a point over the plane of a triangle, m; none where the triangle has no area.
fn height(corners: &[Vec3; 3], point: Vec3) -> Option<f32> {
    let size = across(corners);
    let size_sq = size.dot(size);
    (size_sq > LEAST_SIZE_SQ).then(|| size.dot(point - corners[0]) / size_sq.sqrt())
}

/// The unit normal of a triangle and where on it a point lies over or under it, as shares of its
/// corners; none where that is beside the triangle.
fn under(corners: &[Vec3; 3], point: Vec3) -> Option<(Vec3, [f32; 3])> {
    let [a, b, c] = *corners;
    let size = across(corners);
    let size_sq = size.dot(size);
    if size_sq.is_nan() || size_sq <= LEAST_SIZE_SQ {
        return None;
    }
    let off = point - a;
    let share_b = size.dot(off.cross(c - a)) / size_sq;
    let share_c = size.dot((b - a).cross(off)) / size_sq;
    let share_a = 1.0 - share_b - share_c;
    if !(share_a >= -BESIDE && share_b >= -BESIDE && share_c >= -BESIDE) {
        return None;
    }
    let [a, b, c] = [share_a, share_b, share_c].map(|share| if share > 0.0 { share } else { 0.0 });
    let sum = a + b + c;
    Some((size * (1.0 / size_sq.sqrt()), [a / sum, b / sum, c / sum]))
}

/// The cross product of two sides of a triangle: twice its area, along its normal.
fn across(corners: &[Vec3; 3]) -> Vec3 {
    let [a, b, c] = *corners;
    (b - a).cross(c - a)
}
