//! Every level of instructions and every team gives the bits of the plain loop, whatever the input.

use super::{Cache, Projection, Rule, colored, seidel};
use crate::cpu::team::Team;
use crate::cpu::{solve_bend::Bend, solve_distance::Distance, solve_volume::Volume};
use crate::simd::Level;
use crate::world::constraints::{Constraint, ConstraintSet, OVERFLOW_COLOR};
use crate::world::{Method, Params};
use glam::Vec4;

/// Numbers from a seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    fn below(&mut self, end: usize) -> usize {
        (self.roll() % end as u64) as usize
    }
    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.roll() >> 40) as f32 / (1 << 24) as f32
    }
    /// One in `n` of the odd ones, else an ordinary one.
    fn odd(&mut self, n: usize, odd: &[f32], low: f32, high: f32) -> f32 {
        if self.below(n) == 0 { odd[self.below(odd.len())] } else { self.between(low, high) }
    }
}

const ODD: [f32; 10] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    3e38,
    -3e38,
    1e-20,
    1e-40,
    0.0,
    -0.0,
    f32::from_bits(0xffc0_1234), // a NaN that says where it came from
];

/// Random particles, some pinned, some on top of each other, some not finite, and `count` random
/// constraints; `star` of them around one particle, so that colours run out.
fn adversarial<const N: usize>(seed: u64, count: usize) -> (Vec<Vec4>, ConstraintSet<N>) {
    let mut dice = Dice(seed);
    let particles = (count / 2).max(2 * N + 1);
    // A third of the seeds is well-behaved: odd rows must not hide a fault in ordinary ones.
    let rarity = if seed.is_multiple_of(3) { usize::MAX } else { 20 };
    let mut at: Vec<Vec4> = Vec::new();
    for i in 0..particles {
        let mut row = Vec4::ZERO;
        for k in 0..3 {
            row[k] = dice.odd(rarity, &ODD, -2.0, 2.0);
        }
        row.w = dice.odd(8, &[0.0, 0.0, 1e-12, 1e12], 0.1, 10.0);
        if i > 0 && dice.below(8) == 0 {
            let twin = at[dice.below(i)];
            row = twin.truncate().extend(row.w);
        }
        at.push(row);
    }
    let mut set = ConstraintSet::default();
    let star = if seed.is_multiple_of(2) { count / 3 } else { 0 };
    for i in 0..count {
        let mut corners = [0; N];
        for k in 0..N {
            corners[k] = loop {
                let slot = dice.below(particles) as u32;
                if i >= star || k > 0 {
                    if !corners[..k].contains(&slot) {
                        break slot;
                    }
                } else {
                    break 0;
                }
            };
        }
        let rest = dice.odd(rarity, &[0.0, -0.0, 1e30, 1e-30], 0.0, 2.0);
        set.add(&Constraint {
            compliance: dice.odd(2, &[0.0], 0.0, 1e-3),
            stiffness: dice.odd(4, &[0.0, 1.0], 0.0, 1.0),
            ..Constraint::rigid(corners, rest)
        });
    }
    set.commit();
    for lambda in &mut set.lambda {
        *lambda = dice.odd(rarity, &ODD, -1.0, 1.0);
    }
    assert!(set.colors_are_sound());
    (at, set)
}

/// As bits, but for which NaN it is: the one thing that IEEE leaves open.
fn bits(values: impl IntoIterator<Item = f32>) -> Vec<u32> {
    let canonical = |v: f32| if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() };
    values.into_iter().map(canonical).collect()
}

fn state<const N: usize>(at: &[Vec4], set: &ConstraintSet<N>) -> (Vec<u32>, Vec<u32>) {
    (bits(at.iter().flat_map(|p| p.to_array())), bits(set.lambda.iter().copied()))
}

fn same_everywhere<P: Projection<N>, const N: usize>(seed: u64, count: usize, teams: &mut [Team]) {
    for method in [Method::Pbd, Method::Xpbd] {
        let (at, set) = adversarial::<N>(seed, count);
        let params = Params { method, ..Params::default() };
        let rule = Rule { method, omega: 1.2 };
        let mut cache = Cache::default();
        cache.update(&set, &params, params.dt);

        let (mut plain, mut plain_set) = (at.clone(), set.clone());
        for i in 0..set.len() {
            seidel::row::<P, N>(&mut plain, &mut plain_set, &cache.soft, rule, i);
        }
        let expected = state(&plain, &plain_set);
        assert!(count < 100 || expected != state(&at, &set), "nothing moved");

        for team in &mut *teams {
            for level in Level::all() {
                team.simd = level;
                let (mut at, mut set) = (at.clone(), set.clone());
                for color in 0..set.color_count() {
                    colored::sweep::<P, N>(team, &mut at, &mut set, &cache, rule, color);
                }
                assert!(
                    state(&at, &set) == expected,
                    "{} of {count} rows, seed {seed}, {method}, {level:?}, {} threads",
                    std::any::type_name::<P>(),
                    team.threads(),
                );
            }
        }
    }
}

#[test]
fn every_level_and_team_gives_the_bits_of_the_plain_loop() {
    let mut alone = [Team::new(1).unwrap()];
    for count in (1..40).chain([128, 200]) {
        for seed in 0..12 {
            same_everywhere::<Distance, 2>(seed, count, &mut alone);
            same_everywhere::<Bend, 4>(seed, count, &mut alone);
            same_everywhere::<Volume, 4>(seed, count, &mut alone);
        }
    }
    let mut teams = [1, 2, 3, 8].map(|threads| Team::new(threads).unwrap());
    for seed in 0..6 {
        same_everywhere::<Distance, 2>(seed, 20_000, &mut teams);
        same_everywhere::<Bend, 4>(seed, 20_000, &mut teams);
        same_everywhere::<Volume, 4>(seed, 20_000, &mut teams);
    }
}

#[test]
fn the_adversary_does_what_it_should() {
    let (at, set) = adversarial::<2>(2, 600);
    assert_eq!(set.color_count(), OVERFLOW_COLOR + 1, "colours do not run out");
    assert!(!set.color_range(OVERFLOW_COLOR).is_empty());
    assert!(at.iter().any(|p| p.x.is_nan()) && at.iter().any(|p| p.w == 0.0));
    assert!(set.lambda.iter().any(|l| !l.is_finite()));
    let over = |seed| {
        let (_, set) = adversarial::<2>(seed, 200);
        (0..set.color_count()).map(move |c| set.color_range(c).len() % 8).collect::<Vec<_>>()
    };
    let sizes: Vec<_> = (0..12).flat_map(over).collect();
    assert!((0..8).all(|rest| sizes.contains(&rest)), "{sizes:?}");
}

#[test]
#[should_panic(expected = "a particle that is not there")]
fn a_constraint_on_a_missing_particle_is_no_undefined_behaviour() {
    let (at, mut set) = adversarial::<2>(0, 100);
    let mut cache = Cache::default();
    cache.update(&set, &Params::default(), 0.01);
    let team = Team::new(1).unwrap();
    let rule = Rule { method: Method::Xpbd, omega: 1.0 };
    colored::sweep::<Distance, 2>(&team, &mut at[..20].to_vec(), &mut set, &cache, rule, 0);
}
