//! Angles by addition, multiplication and division alone: the same bits in one lane, in eight and, one day, in a shader; a
//! platform's `atan2` promises none of that, and a pure-Rust one takes 50 ns.

use super::Number;
use std::f32::consts::{FRAC_PI_2, PI};

/// (atan(t)/t - 1)/t² on 0..1 as a polynomial in t², lowest power first: least relative error of
/// atan (Remez), 1.1e-7.
const ATAN: [f32; 7] = [
    -0.333_323_93,
    0.199_742_14,
    -0.140_413_25,
    0.099_684_68,
    -0.060_203_06,
    0.024_734_017,
    -0.004_822_521_5,
];

/// Angle of the direction (x, y) from the x axis, -π..=π rad, to 5e-7; 0 for (0, 0), NaN where both
/// are infinite. The sign of a zero counts for nothing.
#[inline(always)]
pub(crate) fn atan2<L: Number>(y: L, x: L) -> L {
    let zero = L::splat(0.0);
    let (abs_x, abs_y) = (x.abs(), y.abs());
    // In the first octant, where the polynomial holds.
    let steep = abs_y.above(abs_x);
    let (top, bottom) = (L::select(steep, abs_x, abs_y), L::select(steep, abs_y, abs_x));
    // The sum is 0 where both are, and NaN where one is.
    let t = L::select(bottom.above(zero), top / bottom, top + bottom);
    let s = t * t;
    let mut sum = L::splat(ATAN[6]);
    for k in (0..6).rev() {
        sum = sum * s + L::splat(ATAN[k]);
    }
    let octant = t + t * s * sum;
    let quadrant = L::select(steep, L::splat(FRAC_PI_2) - octant, octant);
    let half = L::select(zero.above(x), L::splat(PI) - quadrant, quadrant);
    L::select(zero.above(y), -half, half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_right_to_half_a_millionth_all_around() {
        let mut worst = 0.0f64;
        for i in 0..200_000 {
            let angle = (f64::from(i) / 100_000.0 - 1.0) * std::f64::consts::PI;
            for size in [1e-12, 1.0, 1e12] {
                let (y, x) = ((angle.sin() * size) as f32, (angle.cos() * size) as f32);
                let exact = libm::atan2(f64::from(y), f64::from(x));
                worst = worst.max((f64::from(atan2(y, x)) - exact).abs());
            }
        }
        assert!(worst < 5e-7, "{worst}");
    }

    #[test]
    fn small_angles_keep_their_digits() {
        for k in 1..40 {
            let y = 0.7 * 10f32.powi(-k / 2);
            let (got, exact) = (f64::from(atan2(y, 1.0)), libm::atan2(f64::from(y), 1.0));
            assert!((got / exact - 1.0).abs() < 3e-7, "{y}: {got} {exact}");
        }
    }

    #[test]
    fn the_corners_are_defined() {
        assert_eq!(atan2(0.0, 0.0), 0.0f32);
        assert_eq!(atan2(-0.0, 0.0), 0.0f32);
        assert_eq!(atan2(0.0, -1.0), PI);
        assert_eq!(atan2(2.0, 0.0), FRAC_PI_2);
        assert_eq!(atan2(-2.0, 0.0), -FRAC_PI_2);
        assert_eq!(atan2(1.0, f32::INFINITY), 0.0);
        for (y, x) in [(f32::NAN, 0.0), (0.0, f32::NAN), (f32::INFINITY, f32::INFINITY)] {
            assert!(atan2(y, x).is_nan(), "{y} {x}");
        }
    }

    proptest! {
        #[test]
        fn it_is_odd_in_y(y in -1e3f32..1e3, x in -1e3f32..1e3) {
            prop_assume!(y != 0.0);
            prop_assert_eq!(atan2(y, x), -atan2(-y, x));
        }
    }
}
