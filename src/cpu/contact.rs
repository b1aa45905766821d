//! What one contact does to a particle: shared by the passes that solve contacts.

use super::Scratch;
use super::team::Team;
use crate::world::World;
use glam::{Vec3, Vec4};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Centres closer than this have no direction; the lower slot goes up, the other down.
const MIN_DISTANCE: f32 = 1e-9;

/// Static and kinetic friction coefficients.
#[derive(Clone, Copy)]
pub(crate) struct Friction {
    pub fixed: f32,
    pub kinetic: f32,
}

impl Friction {
    /// What to take off the tangential displacement `t` under an overlap of `depth` [J 3.39].
    #[inline]
    pub fn of(self, t: Vec3, depth: f32) -> Vec3 {
        let slip = t.length();
        if slip < self.fixed * depth {
            t
        } else if slip > 0.0 {
            t * (self.kinetic * depth / slip).min(1.0)
        } else {
            Vec3::ZERO
        }
    }
}

/// The normal from b to a and the overlap of a touching pair, or `None`.
#[inline]
pub(crate) fn overlap(a: Vec3, b: Vec3, contact: f32, a_is_lower: bool) -> Option<(Vec3, f32)> {
    let d = a - b;
    let distance_sq = d.length_squared();
    // Written so that NaN is no contact either.
    let touching = distance_sq < contact * contact;
    if !touching {
        return None;
    }
    let distance = distance_sq.sqrt();
    let normal = if distance > MIN_DISTANCE {
        d / distance
    } else if a_is_lower {
        Vec3::Y
    } else {
        Vec3::NEG_Y
    };
    Some((normal, contact - distance))
}

/// How far the pair's relative move must be corrected, to be shared by the inverse masses: the
/// overlap along the normal, less friction against the tangential slip of this substep.
#[inline]
pub(crate) fn correction(
    normal: Vec3,
    depth: f32,
    move_a: Vec3,
    move_b: Vec3,
    friction: Friction,
) -> Vec3 {
    let slip = move_a - move_b;
    let tangential = slip - normal * normal.dot(slip);
    normal * depth - friction.of(tangential, depth)
}

/// Pairs that touch at the end of the step.
pub(crate) fn count_touching(team: &Team, world: &World, scratch: &Scratch) -> usize {
    let at: &[Vec4] = &world.particles.position;
    let total = AtomicUsize::new(0);
    team.blocks(at.len(), super::team::BLOCK, |_, range| {
        let count: usize = range
            .map(|i| {
                let touches = |n: &&super::neighbors::Neighbor| {
                    let d = (at[i] - at[n.slot as usize]).truncate();
                    n.slot as usize > i && d.length_squared() < n.contact * n.contact
                };
                scratch.neighbors.of(i).iter().filter(touches).count()
            })
            .sum();
        total.fetch_add(count, Relaxed);
    });
    total.into_inner()
}

/// Environment planes that are touched at the end of the step.
pub(crate) fn count_environment(world: &World, scratch: &Scratch) -> usize {
    let p = &world.particles;
    (0..p.len())
        .map(|i| {
            // Touching exactly is the rule after a solve, so allow for rounding.
            let reach = p.radius[i] * 1.001;
            let x = p.position[i].truncate();
            let touches = |c: &&super::EnvironmentContact| c.plane.dot(x.extend(1.0)) < reach;
            scratch.environment.of(i).iter().filter(touches).count()
        })
        .sum()
}
