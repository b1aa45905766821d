use super::*;

/// Every operation on a pair of groups, as bits.
struct All<'a>(&'a [f32; LANES], &'a [f32; LANES]);

impl Kernel for All<'_> {
    type Output = Vec<[u32; LANES]>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let (a, b) = (L::load(self.0), L::load(self.1));
        let mut all = vec![];
        for result in [
            a + b,
            a - b,
            a * b,
            a / b,
            -a,
            a + 2.0,
            a - 2.0,
            a * 2.0,
            a.abs().sqrt(),
            a.at_least(b),
            a.at_most(b),
            a.above(b),
            a.reaches(b),
            a.above(b).both(b.above(L::splat(0.0))),
            a.above(b).select(a, b),
            a.rounded(),
            a.within_one(),
        ] {
            let mut bits = [0; LANES];
            result.store_words(&mut bits);
            // Which not-a-number it is does not matter, where it is one does; masks are one as well.
            all.push(bits.map(|bits| match f32::from_bits(bits) {
                value if value.is_nan() && bits != u32::MAX => f32::NAN.to_bits(),
                _ => bits,
            }));
        }
        all.push(a.nearest().map(|i| i as u32));
        all.push([a.above(b).any() as u32; LANES]);
        all
    }
}

#[test]
fn every_machine_gives_the_same() {
    let a = [0.0, -0.0, 1.5, -7.25, 1e6, 0.3, -0.7, 4e6];
    let b = [1.0, 0.0, 1.5, 3.0, -2.0, f32::NAN, f32::INFINITY, 0.1];
    for (a, b) in [(a, b), (a, a), (b.map(|x| x.clamp(-9.0, 9.0).max(0.0)), a)] {
        let portable = All(&a, &b).run::<portable::Portable>();
        assert_eq!(fastest(All(&a, &b)), portable);
    }
}

/// What `Lanes` promises, lane by lane.
struct Plain<'a>(&'a [f32; LANES], &'a [f32; LANES]);

impl Kernel for Plain<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (a, b) = (L::load(self.0), L::load(self.1));
        let check = |lanes: L, plain: &dyn Fn(f32, f32) -> f32| {
            let mut values = [0.0; LANES];
            lanes.store(&mut values);
            for (value, (&a, &b)) in values.into_iter().zip(self.0.iter().zip(self.1)) {
                let expected = plain(a, b);
                assert!(value == expected || value.is_nan() && expected.is_nan());
            }
        };
        check(a + b, &|a, b| a + b);
        check(a / b, &|a, b| a / b);
        check(a.at_least(b), &|a, b| if a > b { a } else { b });
        check(a.at_most(b), &|a, b| if a < b { a } else { b });
        check(a.above(b).select(b, a), &|a, b| if a > b { b } else { a });
        check(a.reaches(b).select(b, a), &|a, b| if a >= b { b } else { a });
        check(a.rounded(), &|a, _| a.round_ties_even());
        check(a.within_one(), &|a, _| if a.is_nan() { 0.0 } else { a.clamp(0.0, 1.0) });
        assert_eq!(a.nearest(), self.0.map(|a| a.round_ties_even() as i32));
    }
}

#[test]
fn lanes_are_eight_numbers() {
    let a = [0.0, -0.4, 1.5, -7.25, 1e6, 0.3, -0.7, 4e6];
    let b = [1.0, 0.0, 1.5, 3.0, -2.0, f32::NAN, f32::INFINITY, 0.1];
    fastest(Plain(&a, &b));
    Plain(&a, &b).run::<portable::Portable>();
}
