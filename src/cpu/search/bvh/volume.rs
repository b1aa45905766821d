//! What bounds the particles of a subtree: boxes or spheres.
//!
//! A pair is listed when, in f32, |a - b|² <= (reach a + reach b)². A volume must never miss such a
//! pair, so each holds its particles with a reach that is larger by a hair.

use crate::simd::Simd;
use glam::{DVec3, Vec3, Vec4};

/// A bounding volume, two of which fill the twelve words of a node.
pub(crate) trait Volume: Copy + Send + Sync {
    /// Holds nothing, touches nothing.
    const EMPTY: Self;
    /// What is asked of a node's two volumes at once.
    type Query<S: Simd>: Copy;
    /// Around a finite particle [x, y, z, reach].
    fn around(point: Vec4) -> Self;
    /// Around both. The order does not matter to what is held, but may to the last bit.
    fn join(self, other: Self) -> Self;
    /// Where the words of the left (0) and right (1) volume lie in a node, and their values.
    fn words(&self, side: usize) -> impl Iterator<Item = (usize, f32)>;
    /// The left (0) or right (1) volume of a node.
    fn unpack(words: &[f32; 12], side: usize) -> Self;
    fn query<S: Simd>(&self) -> Self::Query<S>;
    /// Bit 0 when the left volume touches the query, bit 1 when the right one does.
    fn near<S: Simd>(query: &Self::Query<S>, words: &[f32; 12]) -> u32;

    /// Around a particle; nothing when its place is not finite, for then it is near nothing.
    #[inline(always)]
    fn of(point: Vec4) -> Self {
        if point.truncate().is_finite() { Self::around(point) } else { Self::EMPTY }
    }
}

/// A reach that is larger than what rounding can hide. Differences, sums and squares in f32 are off
/// by a few 2^-24 each; squares below 1e-38 vanish, which hides up to 1.2e-19 m; squares beyond
/// 3e38 are all alike, so what reaches that far reaches everything.
#[inline(always)]
fn safe(reach: f32) -> f32 {
    if reach < 9e18 { reach * 1.000_001 + 1.2e-19 } else { f32::INFINITY }
}

/// A box along the axes: the low corner, and the high one negated, so that a join is six minima.
/// Rounding is monotone: where the boxes of two particles overlap before it they do after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aabb([f32; 6]);

impl Aabb {
    /// The corners.
    pub fn corners(&self) -> [Vec3; 2] {
        let [a, b, c, d, e, f] = self.0;
        [Vec3::new(a, b, c), -Vec3::new(d, e, f)]
    }
}

/// Words of a node: low corners left and right, then high ones negated. Two overlapping loads of
/// eight cover them.
const LEFT: u32 = 0b0001_1100_0111;
const RIGHT: u32 = LEFT << 3;

impl Volume for Aabb {
    const EMPTY: Self = Aabb([f32::INFINITY; 6]);
    type Query<S: Simd> = (S, S);

    #[inline(always)]
    fn around(point: Vec4) -> Self {
        let (at, reach) = (point.truncate(), safe(point.w));
        let (low, high) = (at - reach, at + reach);
        Aabb([low.x, low.y, low.z, -high.x, -high.y, -high.z])
    }
    #[inline(always)]
    fn join(self, other: Self) -> Self {
        let least = |k: usize| if self.0[k] < other.0[k] { self.0[k] } else { other.0[k] };
        Aabb(std::array::from_fn(least))
    }
    #[inline(always)]
    fn words(&self, side: usize) -> impl Iterator<Item = (usize, f32)> {
        let word = move |k: usize| k % 3 + 3 * side + 6 * (k / 3);
        self.0.into_iter().enumerate().map(move |(k, v)| (word(k), v))
    }
    #[inline(always)]
    fn unpack(w: &[f32; 12], side: usize) -> Self {
        let s = 3 * side;
        Aabb([w[s], w[s + 1], w[s + 2], w[s + 6], w[s + 7], w[s + 8]])
    }
    #[inline(always)]
    fn query<S: Simd>(&self) -> (S, S) {
        // Against every low corner our high one, against every negated high one our negated low.
        let [a, b, c, d, e, f] = self.0.map(|v| -v);
        let words = [d, e, f, d, e, f, a, b, c, a, b, c];
        // SAFETY: twelve values, read from 0 to 8 and from 4 to 12.
        unsafe { (S::load(words.as_ptr()), S::load(words.as_ptr().add(4))) }
    }
    #[inline(always)]
    fn near<S: Simd>(query: &(S, S), words: &[f32; 12]) -> u32 {
        // SAFETY: twelve values, read from 0 to 8 and from 4 to 12.
        let (a, b) = unsafe { (S::load(words.as_ptr()), S::load(words.as_ptr().add(4))) };
        let mask = a.at_most(query.0) | b.at_most(query.1) << 4;
        u32::from(mask & LEFT == LEFT) | u32::from(mask & RIGHT == RIGHT) << 1
    }
}

/// A sphere [x, y, z, radius]; the radius of an empty one is NaN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sphere(Vec4);

impl Volume for Sphere {
    const EMPTY: Self = Sphere(Vec4::new(0.0, 0.0, 0.0, f32::NAN));
    type Query<S: Simd> = Vec4;

    #[inline(always)]
    fn around(point: Vec4) -> Self {
        Sphere(point.truncate().extend(safe(point.w)))
    }
    /// The smallest around both, in f64. The radius comes after the centre was rounded, and is
    /// itself rounded up by more than the test of two spheres can lose.
    #[inline(always)]
    fn join(self, other: Self) -> Self {
        let (Sphere(a), Sphere(b)) = (self, other);
        if a.w.is_nan() || b.w.is_infinite() {
            return other;
        }
        if b.w.is_nan() || a.w.is_infinite() {
            return self;
        }
        let (at_a, at_b) = (a.truncate().as_dvec3(), b.truncate().as_dvec3());
        let (radius_a, radius_b) = (f64::from(a.w), f64::from(b.w));
        let apart = (at_b - at_a).length();
        if apart + radius_b <= radius_a {
            return self;
        }
        if apart + radius_a <= radius_b {
            return other;
        }
        let share = 0.5 * (apart + radius_b - radius_a) / apart;
        let center = (at_a + (at_b - at_a) * share).as_vec3();
        let holds = |at: DVec3, radius: f64| (center.as_dvec3() - at).length() + radius;
        let radius = holds(at_a, radius_a).max(holds(at_b, radius_b));
        Sphere(center.extend((radius * 1.000_001) as f32))
    }
    #[inline(always)]
    fn words(&self, side: usize) -> impl Iterator<Item = (usize, f32)> {
        self.0.to_array().into_iter().enumerate().map(move |(k, v)| (k + 4 * side, v))
    }
    #[inline(always)]
    fn unpack(w: &[f32; 12], side: usize) -> Self {
        let s = 4 * side;
        Sphere(Vec4::new(w[s], w[s + 1], w[s + 2], w[s + 3]))
    }
    #[inline(always)]
    fn query<S: Simd>(&self) -> Vec4 {
        self.0
    }
    #[inline(always)]
    fn near<S: Simd>(query: &Vec4, words: &[f32; 12]) -> u32 {
        let near = |side: usize| {
            let Sphere(other) = Self::unpack(words, side);
            let d = other - *query;
            let reach = other.w + query.w;
            u32::from(d.x * d.x + d.y * d.y + d.z * d.z <= reach * reach)
        };
        near(0) | near(1) << 1
    }
}
