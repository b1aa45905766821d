//! The kernel of fluids, and its gradient (Wendland 1995, C2).
//! W = 21 / (2 pi H³) (1 - q)⁴ (1 + 4 q) and grad W = -210 / (pi H⁵) (1 - q)³ d, with q = |d| / H.
//! H is twice the sum of the two radii, so it is the same for both particles of a pair.
//! Density and pushes come from the one kernel: where the pushes are not the gradient of what is measured,
//! as with poly6 and spiky, they do work that nobody gives, and water at rest heats up.

use crate::simd::{Number, Simd, Vector};
use crate::world::VOLUME_PER_RADIUS_CUBED;

/// 21 / (2 pi).
pub(crate) const WENDLAND: f32 = 3.342_253_8;
/// 210 / pi.
pub(crate) const STEEPEST: f32 = 66.845_08;
/// What a particle adds to its own density ratio: its volume times W at no distance, H being four
/// radii.
pub(crate) const OWN: f32 = VOLUME_PER_RADIUS_CUBED * (WENDLAND / 64.0);
/// The sum of w |grad C|² on a lattice at rest is this times w / r².
pub(crate) const AT_REST: f32 = 0.111_290_55;
/// What the gradient makes of a slope of 1, on a lattice at rest.
pub(crate) const SLOPE: f32 = 0.950_149;
/// Nearer than this part of H there is no direction.
const LEAST: f32 = 1e-6;
/// One over (1 - q)⁴ (1 + 4 q) where the artificial pressure has its full strength: q = 0.2.
const PER_NEAR: f32 = 1.356_336_8;

/// What the kernels of a pair are scaled by, which follows from the sum of its radii.
#[derive(Clone, Copy)]
pub(crate) struct Scale<L> {
    /// 1 / H², 1/m².
    pub per_area: L,
    /// What (1 - q)⁴ (1 + 4 q) is multiplied by, 1/m³.
    pub value: L,
    /// What (1 - q)³ and a distance are multiplied by, 1/m⁵.
    pub slope: L,
    /// What (1 - q)³ q is multiplied by, 1/m⁴.
    pub size: L,
}

impl<L: Number> Scale<L> {
    #[inline(always)]
    pub fn of(radii: L) -> Self {
        let per_length = L::splat(1.0) / (radii + radii);
        let per_area = per_length * per_length;
        let per_volume = per_area * per_length;
        Scale {
            per_area,
            value: L::splat(WENDLAND) * per_volume,
            slope: L::splat(-STEEPEST) * (per_volume * per_area),
            size: L::splat(-STEEPEST) * (per_area * per_area),
        }
    }
}

/// What a pair of particles is to each other.
#[derive(Clone, Copy)]
pub(crate) struct Pair<L> {
    /// From the other to this one, m; zero where they do not see each other.
    pub apart: Vector<L>,
    /// 1/m³.
    pub value: L,
    /// The gradient is this times `apart`, 1/m⁵.
    pub slope: L,
    /// How long the gradient is, negated, 1/m⁴.
    pub size: L,
    /// (1 - q)⁴ (1 + 4 q); zero where they do not see each other.
    shape: L,
}

/// The kernels of a pair; zero where the other is not `there`. `apart` need not be finite.
#[inline(always)]
pub(crate) fn pair<L: Number>(apart: Vector<L>, radii: L, there: L::Mask) -> Pair<L> {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let scale = Scale::of(radii);
    let q_sq = apart.length_sq() * scale.per_area;
    // Not for NaN either.
    let sees = L::both(one.above(q_sq), there);
    let nothing = Vector { x: zero, y: zero, z: zero };
    let bare = bare(L::select(sees, q_sq, one));
    Pair {
        apart: Vector::select(sees, apart, nothing),
        value: scale.value * bare.shape,
        slope: scale.slope * bare.steep,
        size: scale.size * bare.size,
        shape: bare.shape,
    }
}

impl<L: Number> Pair<L> {
    /// 1 + k (W / W(0.2 H))⁴, which makes pressure between near particles greater.
    #[inline(always)]
    pub fn stiffened(&self, artificial: L) -> L {
        let c = self.shape * L::splat(PER_NEAR);
        L::splat(1.0) + artificial * ((c * c) * (c * c))
    }
}

/// The kernel of a pair without what a [`Scale`] has: what is left to do in the inner loops where all
/// particles are equally large. Who is not there, too far away or nowhere gets zeros, but may well be
/// infinitely far away: a sum of what that is multiplied by is then no number.
#[derive(Clone, Copy)]
pub(crate) struct Bare<L> {
    /// (1 - q)⁴ (1 + 4 q).
    pub shape: L,
    /// (1 - q)³.
    pub steep: L,
    /// (1 - q)³ q.
    pub size: L,
}

/// q², but 1 for who is not there, too far away or nowhere.
#[inline(always)]
pub(crate) fn seen<S: Simd>(apart: Vector<S>, per_area: S, there: S::Mask) -> S {
    let one = S::splat(1.0);
    S::select(there, apart.length_sq() * per_area, one).min(one)
}

/// The kernel of a pair, from what [`seen`] says of it.
#[inline(always)]
pub(crate) fn bare<L: Number>(q_sq: L) -> Bare<L> {
    let one = L::splat(1.0);
    let q = q_sq.sqrt();
    let left = one - q;
    let left_sq = left * left;
    let steep = left_sq * left;
    Bare { shape: (left_sq * left_sq) * (one + L::splat(4.0) * q), steep, size: steep * q }
}

/// What `artificial` is multiplied by where (1 - q)⁴ (1 + 4 q), to the fourth, stands for
/// (W / W(0.2 H))⁴.
#[inline(always)]
pub(crate) fn of_near(artificial: f32) -> f32 {
    artificial * ((PER_NEAR * PER_NEAR) * (PER_NEAR * PER_NEAR))
}

/// The volume of a particle, m³.
#[inline(always)]
pub(crate) fn volume<L: Number>(radius: L) -> L {
    L::splat(VOLUME_PER_RADIUS_CUBED) * ((radius * radius) * radius)
}

/// The kernel alone, 1/m³; zero where the other is not `there`.
#[inline(always)]
pub(crate) fn smoothed<L: Number>(apart: Vector<L>, radii: L, there: L::Mask) -> L {
    let one = L::splat(1.0);
    let scale = Scale::of(radii);
    let q_sq = apart.length_sq() * scale.per_area;
    // Not for NaN either.
    scale.value * bare(L::select(L::both(one.above(q_sq), there), q_sq, one)).shape
}

/// How strongly two particles of fluid are drawn to each other: 32 / pi times 1 / (4 I), with I the integral
/// of q⁴ C over q, where a tension of 1 is to come from it.
const DRAWN: f32 = 3_414.704;
/// 30 over the integral of the square of what a plane's slope is: a tension of 1 from the other half.
const LEVELLED: f32 = 27.929_688;
/// 8 / pi over the integral of q⁴ A over q, where an adhesion of 1 is to come from it.
const HELD: f32 = 21.842_233;
/// Half of the tension is cohesion, half is the area.
const HALF: f32 = 0.5;

/// What surface tension and adhesion of 1 N/m do between two particles, over the product of their volumes.
#[derive(Clone, Copy)]
pub(crate) struct Hold<L> {
    /// From the other to this one over the distance; zero where they do not see each other.
    pub direction: Vector<L>,
    /// How a fluid draws itself together, 1/m⁵.
    pub cohesion: L,
    /// How it makes its normals alike, 1/m⁴.
    pub level: L,
    /// How a solid holds it, 1/m⁵.
    pub adhesion: L,
}

/// The kernels of Akinci 2013: cohesion is C = 2 (1 - q)³ q³ - 1/64, without the 2 and the 1/64 beyond q = 1/2,
/// and adhesion A = (4 (q - 1/2) (1 - q))^(1/4) beyond q = 1/2. Zero where the other is not `there`.
#[inline(always)]
pub(crate) fn hold<L: Number>(apart: Vector<L>, radii: L, there: L::Mask) -> Hold<L> {
    let (zero, one, half) = (L::splat(0.0), L::splat(1.0), L::splat(0.5));
    let per_length = one / (radii + radii);
    let per_area = per_length * per_length;
    let q_sq = apart.length_sq() * per_area;
    // Not for NaN either, and not where there is no direction.
    let sees = L::both(L::both(one.above(q_sq), q_sq.above(L::splat(LEAST * LEAST))), there);
    let nothing = Vector { x: zero, y: zero, z: zero };
    let apart = Vector::select(sees, apart, nothing);
    let q = L::select(sees, q_sq, one).sqrt();
    let left = one - q;
    let per_volume = per_area * per_length;
    let product = left * q;
    let cubed = (product * product) * product;
    let far = q.above(half);
    let drawn = L::select(far, cubed, (cubed + cubed) - L::splat(1.0 / 64.0));
    let per_fifth = per_volume * per_area;
    let left_sq = left * left;
    let shape = (left_sq * left_sq) * (one + L::splat(4.0) * q);
    let smooth = (L::splat(WENDLAND) * per_volume) * shape;
    let arch = L::select(far, L::splat(4.0) * ((q - half) * left), zero);
    Hold {
        direction: apart * (per_length / q),
        cohesion: (L::splat(HALF * DRAWN) * per_fifth) * drawn,
        level: (L::splat((1.0 - HALF) * LEVELLED) * per_length) * smooth,
        adhesion: (L::splat(HELD) * per_fifth) * arch.sqrt().sqrt(),
    }
}

/// How an adhesion of 1 N/m pulls a particle to a plane at distance q H, over its volume, times H²: the
/// integral of A over what is behind the plane, beyond q = 1/2 by a fit to 0.03 % of the largest.
pub(crate) fn drawn_to_plane(q: f32) -> f32 {
    let pull = if q < 0.5 {
        0.563_405_65 - 0.970_791_3 * (q * q)
    } else {
        let left = 2.0 * (1.0 - q);
        (left * left) * left.sqrt().sqrt() * (0.553_849 - 0.233_176_9 * left)
    };
    HELD * pull
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, LANES, Level};
    use glam::{DVec3, Vec3};

    /// The kernels of a pair of radius 1/4, whose length is 1.
    fn at(distance: f32) -> Pair<f32> {
        let apart = Vec3::new(distance, 0.0, 0.0);
        pair(apart.into(), 0.5, true)
    }

    /// The integral over space, by shells.
    fn integral(of: impl Fn(f32) -> f64) -> f64 {
        let steps = 2000;
        let shell = |k: u32| {
            let r = (f64::from(k) + 0.5) / f64::from(steps);
            4.0 * std::f64::consts::PI * r * r * of(r as f32) / f64::from(steps)
        };
        (0..steps).map(shell).sum()
    }

    #[test]
    fn the_kernel_integrates_to_one() {
        let value = integral(|r| f64::from(at(r).value));
        assert!((value - 1.0).abs() < 1e-3, "{value}");
        // By parts, so is that of -r/3 times its derivative.
        let slope = integral(|r| -f64::from(r) / 3.0 * f64::from(at(r).slope * r));
        assert!((slope - 1.0).abs() < 1e-3, "{slope}");
        for k in 0..=10 {
            let r = k as f32 / 10.0;
            let alone = smoothed(Vec3::new(r, 0.0, 0.0).into(), 0.5, true);
            assert_eq!(alone, at(r).value, "{r}");
        }
    }

    /// The slope is the derivative of the kernel itself, so pushes are the gradient of the density.
    #[test]
    fn gradients_are_differences() {
        let kernel = |r: f64| {
            let left = (1.0 - r).max(0.0);
            10.5 / std::f64::consts::PI * left.powi(4) * (1.0 + 4.0 * r)
        };
        for k in 1..40 {
            let r = f64::from(k) / 40.0;
            let difference = (kernel(r + 1e-5) - kernel(r - 1e-5)) / 2e-5;
            let seen = at(r as f32);
            let slope = f64::from(seen.slope) * r;
            assert!((slope - difference).abs() < 1e-3 * difference.abs() + 1e-4, "{r}");
            assert!((f64::from(seen.value) - kernel(r)).abs() < 1e-5, "{r}");
            assert!((f64::from(seen.size) - slope).abs() < 1e-5 * slope.abs(), "{r}");
        }
        let far = at(1.0);
        assert!(far.value == 0.0 && far.slope == 0.0 && far.size == 0.0);
        let nearest = at(0.0);
        assert!(nearest.slope == -STEEPEST && nearest.size == 0.0);
    }

    /// A lattice with two radii as its spacing has the rest density, and the sum that `AT_REST` is.
    #[test]
    fn a_lattice_is_at_rest() {
        for r in [0.003f32, 0.01, 2.0] {
            let (mut ratio, mut squares, mut third) = (f64::from(OWN), 0.0, 0.0);
            let mut gradient = DVec3::ZERO;
            for k in 0..125 {
                let cell = Vec3::new((k % 5) as f32, (k / 5 % 5) as f32, (k / 25) as f32);
                let apart = (cell - 2.0) * (2.0 * r);
                if apart == Vec3::ZERO {
                    continue;
                }
                let seen = pair(apart.into(), r + r, true);
                let steep = f64::from(volume(r) * seen.slope);
                let size = f64::from(volume(r) * seen.size);
                ratio += f64::from(volume(r) * seen.value);
                squares += size * size;
                gradient += apart.as_dvec3() * steep;
                third += apart.as_dvec3().length_squared() * steep;
            }
            assert!((ratio - 1.0).abs() < 1e-5, "{ratio}");
            let slope = -third / 3.0;
            assert!((slope - f64::from(SLOPE)).abs() < 1e-5, "{slope}");
            let at_rest = squares * f64::from(r * r);
            assert!((at_rest / f64::from(AT_REST) - 1.0).abs() < 1e-4, "{at_rest}");
            assert!(gradient.length() * f64::from(r) < 1e-5);
        }
    }

    /// The kernels of tension and adhesion give the work that they are named after: for a force f
    /// between volumes, parting two halves takes pi / 4 times the integral of r⁴ f.
    #[test]
    fn tension_and_adhesion_are_work_over_area() {
        let steps = 4000;
        let part = |k: u32| (f64::from(k) + 0.5) / f64::from(steps);
        let work = |of: fn(&Hold<f32>) -> f32| {
            let slice = |k: u32| {
                let hold = hold(Vec3::new(part(k) as f32, 0.0, 0.0).into(), 0.5, true);
                part(k).powi(4) * f64::from(of(&hold)) / f64::from(steps)
            };
            std::f64::consts::PI / 4.0 * (0..steps).map(slice).sum::<f64>()
        };
        let cohesion = work(|hold| hold.cohesion);
        assert!((cohesion - 2.0 * f64::from(HALF)).abs() < 2e-3, "{cohesion}");
        let adhesion = work(|hold| hold.adhesion);
        assert!((adhesion - 2.0).abs() < 2e-3, "{adhesion}");
        // A plane pulls as what is behind it does.
        for tenth in 0..10 {
            let q = f64::from(tenth) / 10.0;
            let slice = |k: u32| {
                let r = q + (1.0 - q) * part(k);
                let hold = hold(Vec3::new(r as f32, 0.0, 0.0).into(), 0.5, true);
                let ring = std::f64::consts::PI * (r * r - q * q) * (1.0 - q) / f64::from(steps);
                f64::from(hold.adhesion) * ring
            };
            let pull: f64 = (0..steps).map(slice).sum();
            let found = f64::from(drawn_to_plane(q as f32));
            assert!((found - pull).abs() < 1e-3 * f64::from(HELD), "{q}: {found} {pull}");
        }
    }

    #[test]
    fn what_is_no_number_is_not_seen() {
        let nowhere = pair(Vec3::splat(f32::NAN).into(), 0.5, true);
        assert_eq!([nowhere.value, nowhere.slope, nowhere.size, nowhere.apart.x], [0.0; 4]);
        assert_eq!(smoothed(Vec3::splat(f32::INFINITY).into(), 0.5, true), 0.0);
    }

    /// Eight pairs at once: what is bare, scaled, is what a pair has, for every level.
    struct Eight([[f32; LANES]; 3]);

    impl Kernel for Eight {
        type Output = [[f32; LANES]; 4];
        #[inline(always)]
        fn run<S: Simd>(self) -> Self::Output {
            let scale = Scale::of(0.5f32);
            let [x, y, z] = &self.0;
            let apart = Vector { x: S::read(x), y: S::read(y), z: S::read(z) };
            let there = S::splat(6.5).above(S::read(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]));
            let bare = bare(seen(apart, S::splat(scale.per_area), there));
            let c2 = bare.shape * bare.shape;
            let mut out = [[0.0; LANES]; 4];
            (bare.shape * scale.value).write(&mut out[0]);
            (bare.steep * scale.slope).write(&mut out[1]);
            (bare.size * scale.size).write(&mut out[2]);
            ((c2 * c2) * of_near(0.3) + 1.0).write(&mut out[3]);
            out
        }
    }

    #[test]
    fn what_is_bare_is_what_a_pair_has() {
        let x = [0.0, 0.3, -0.7, 0.1, f32::NAN, f32::INFINITY, 2.0, 0.2];
        let y = [0.0, 0.2, 0.1, 1e-8, 0.0, f32::NAN, 0.0, 0.2];
        let z = [0.0, -0.4, 0.6, 0.1, 0.0, 0.0, 0.0, 0.2];
        let mut first = None;
        for level in Level::all() {
            let found = level.run(Eight([x, y, z]));
            for k in 0..LANES {
                let known = pair(Vec3::new(x[k], y[k], z[k]).into(), 0.5, k < 7);
                let known = [known.value, known.slope, known.size, known.stiffened(0.3)];
                for (row, known) in found.iter().zip(known) {
                    let close = (row[k] - known).abs() <= 2e-6 * known.abs();
                    assert!(close, "{level:?} lane {k}: {} {known}", row[k]);
                }
            }
            let bits = found.map(|row| row.map(f32::to_bits));
            assert_eq!(*first.get_or_insert(bits), bits, "{level:?}");
        }
    }
}
