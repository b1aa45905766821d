//! Medians and percentiles of measured times.

/// Smallest, middle and 95th percentile of some times; zeros when there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Spread {
    pub median: f64,
    pub p95: f64,
    pub min: f64,
}

impl Spread {
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(&min) = sorted.first() else { return Spread::default() };
        let last = sorted.len() - 1;
        let middle = (sorted[last / 2] + sorted[sorted.len() / 2]) / 2.0;
        // Nearest rank: the smallest value that 95 % do not exceed.
        let rank = (sorted.len() * 95).div_ceil(100).clamp(1, sorted.len());
        Spread { median: middle, p95: sorted[rank - 1], min }
    }
}

/// The median alone.
pub fn median(values: &[f64]) -> f64 {
    Spread::of(values).median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_of_few_and_many() {
        assert_eq!(Spread::of(&[]), Spread::default());
        assert_eq!(Spread::of(&[3.0]), Spread { median: 3.0, p95: 3.0, min: 3.0 });
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(Spread::of(&hundred), Spread { median: 50.5, p95: 95.0, min: 1.0 });
    }
}
