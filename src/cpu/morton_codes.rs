//! Gives each particle its place on a curve that keeps near ones together: 10 bits an axis.
//! code = the bits of the cell's x, y and z in turn, in a box of 1024^3 cells around the particles.
//! A few that flew off must not squeeze all others into one cell, so the box ends 8 mean deviations
//! from the mean; what lies outside gets the nearest cell. Trees over the codes hold exact boxes,
//! so a code decides how fast a pair is found, never whether.
//! Reads: points [x, y, z, reach] m, their extent. Writes: (code, slot) of each particle.
//! Order: sums by block of particles, blocks in order; deterministic.

use super::search::broad::Broad;
use super::team::{BLOCK, Shared, Team};
use glam::{DVec3, Vec3, Vec4};

/// Mean deviations from the mean to the sides of the box.
const SPREAD: f64 = 8.0;
/// Cells along each side of the box.
const CELLS: f32 = 1024.0;

pub(crate) fn run(team: &Team, broad: &mut Broad) {
    let Broad { points, extent, radix, .. } = broad;
    let count = points.len();
    let sums = &mut radix.sums;
    let mean = average(team, points, sums, |at| at);
    let deviation = average(team, points, sums, |at| (at - mean).abs());
    let low = extent.low.max((mean - deviation * SPREAD).as_vec3());
    let high = extent.high.min((mean + deviation * SPREAD).as_vec3());
    let side = (high - low).max_element();
    let scale = if side > 0.0 { CELLS / side } else { 0.0 };

    radix.frame = (low, scale);
    let [pairs, _] = &mut radix.pairs;
    pairs.resize(count, [0; 2]);
    team.rows((Shared::new(pairs), &points[..]), BLOCK, |range, (pairs, points)| {
        for ((slot, pair), point) in range.zip(pairs).zip(points) {
            *pair = [code((point.truncate() - low) * scale), slot as u32];
        }
    });
}

/// Mean of `value` over the finite points.
fn average(
    team: &Team,
    points: &[Vec4],
    sums: &mut Vec<(DVec3, f64)>,
    value: impl Fn(DVec3) -> DVec3 + Sync,
) -> DVec3 {
    sums.clear();
    sums.resize(points.len().div_ceil(BLOCK), (DVec3::ZERO, 0.0));
    team.rows(Shared::new(sums), 1, |range, sums| {
        for (block, sum) in range.zip(sums) {
            let end = ((block + 1) * BLOCK).min(points.len());
            for point in &points[block * BLOCK..end] {
                let at = point.truncate();
                if at.is_finite() {
                    sum.0 += value(at.as_dvec3());
                    sum.1 += 1.0;
                }
            }
        }
    });
    let (sum, count) = sums.iter().fold((DVec3::ZERO, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    sum / f64::max(count, 1.0)
}

/// The code of a point in cells; outside and NaN go to the nearest cell.
#[inline]
fn code(at: Vec3) -> u32 {
    let axis = |v: f32| spread((v as i32).clamp(0, CELLS as i32 - 1) as u32);
    axis(at.x) | axis(at.y) << 1 | axis(at.z) << 2
}

/// Moves bit k of a 10-bit number to bit 3 k.
#[inline]
fn spread(v: u32) -> u32 {
    let v = (v | v << 16) & 0x0300_00ff;
    let v = (v | v << 8) & 0x0300_f00f;
    let v = (v | v << 4) & 0x030c_30c3;
    (v | v << 2) & 0x0924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_interleave_the_bits_of_the_axes() {
        for v in 0..1024u32 {
            let slow = (0..10).fold(0, |sum, k| sum | (v >> k & 1) << (3 * k));
            assert_eq!(spread(v), slow);
        }
        assert_eq!(code(Vec3::new(1.5, 2.0, 1e9)), 0b1 | 0b10_000 | spread(1023) << 2);
        assert_eq!(code(Vec3::new(f32::NAN, -5.0, -0.0)), 0);
    }

    #[test]
    fn one_far_particle_does_not_squeeze_the_rest_into_a_cell() {
        let team = Team::new(2).unwrap();
        let mut broad = Broad::default();
        broad.load(&team, 30_000, |i| match i {
            77 => Vec4::new(1e6, -1e6, 0.0, 0.1),
            _ => Vec4::new((i % 100) as f32, (i / 100 % 30) as f32, (i / 3000) as f32, 0.1),
        });
        run(&team, &mut broad);
        let mut codes: Vec<u32> = broad.radix.pairs[0].iter().map(|p| p[0]).collect();
        codes.sort_unstable();
        codes.dedup();
        assert!(codes.len() > 1000, "{}", codes.len());
    }
}
