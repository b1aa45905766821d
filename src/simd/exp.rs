//! The exponential function, of sums and products alone: the same bits on every machine.

use super::Number;

/// e^x for |x| <= 30, to 2e-4 of the value: e^x = (e^(x/64))^64, the inner one by
/// its series.
#[inline(always)]
pub(crate) fn exp<L: Number>(x: L) -> L {
    let y = x * L::splat(1.0 / 64.0);
    let mut sum = L::splat(1.0 / 720.0);
    for factor in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * y + L::splat(factor);
    }
    for _ in 0..6 {
        sum = sum * sum;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_follows_the_function() {
        let mut last = 0.0f32;
        for k in -30_000..=30_000 {
            let x = k as f32 * 1e-3;
            let (ours, exact) = (exp(x), f64::from(x).exp());
            assert!((f64::from(ours) / exact - 1.0).abs() < 2e-4, "{x}: {ours} {exact}");
            // Steps of 1e-3 are far above the rounding.
            assert!(ours > last, "{x}");
            last = ours;
        }
        assert_eq!(exp(0.0f32), 1.0);
    }
}
