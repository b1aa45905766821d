//! Every level of instructions and every team gives the bits of the plain loop, whatever the input.

use super::law::{Choice, Compliant, Law, Rigid, Stiff};
use super::{Cache, Moved, Projection, colored, corners, jacobi, seidel};
use crate::cpu::team::Team;
use crate::kind::Distance;
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

/// A third of the seeds is well-behaved: odd rows must not hide a fault in ordinary ones.
fn rarity(seed: u64) -> usize {
    if seed.is_multiple_of(3) { usize::MAX } else { 20 }
}

/// Random particles, some pinned, some on top of each other, some not finite.
fn particles(dice: &mut Dice, count: usize, rarity: usize) -> Vec<Vec4> {
    let mut at: Vec<Vec4> = Vec::new();
    for i in 0..count {
        let mut row = Vec4::ZERO;
        for k in 0..3 {
            row[k] = dice.odd(rarity, &ODD, -2.0, 2.0);
        }
        row.w = dice.odd(8, &[0.0, 0.0, 1e-12, 1e12], 0.1, 10.0);
        if i > 0 && dice.below(8) == 0 {
            let sides = at[dice.below(i)];
            row = sides.truncate().extend(row.w);
        }
        at.push(row);
    }
    at
}

fn constraint<const N: usize>(dice: &mut Dice, corners: [u32; N], rarity: usize) -> Constraint<N> {
    let rest = dice.odd(rarity, &[0.0, -0.0, 1e30, 1e-30], 0.0, 2.0);
    Constraint {
        compliance: dice.odd(2, &[0.0], 0.0, 1e-3),
        stiffness: dice.odd(4, &[0.0, 1.0], 0.0, 1.0),
        ..Constraint::rigid(corners, rest)
    }
}

/// Random particles and `count` random constraints; a third of them around one particle, so that
/// colours run out.
fn adversarial<const N: usize>(seed: u64, count: usize) -> (Vec<Vec4>, ConstraintSet<N>) {
    let mut dice = Dice(seed);
    let rarity = rarity(seed);
    let at = particles(&mut dice, (count / 2).max(2 * N + 1), rarity);
    let mut set = ConstraintSet::default();
    let star = if seed.is_multiple_of(2) { count / 3 } else { 0 };
    for i in 0..count {
        let mut corners = [0; N];
        for k in 0..N {
            corners[k] = loop {
                let slot = dice.below(at.len()) as u32;
                if i >= star || k > 0 {
                    if !corners[..k].contains(&slot) {
                        break slot;
                    }
                } else {
                    break 0;
                }
            };
        }
        set.add(&constraint(&mut dice, corners, rarity));
    }
    set.commit();
    for lambda in &mut set.lambda {
        *lambda = dice.odd(rarity, &ODD, -1.0, 1.0);
    }
    assert!(set.colors_are_sound());
    (at, set)
}

/// Random particles in rows, and constraints in colours whose corners run along them: side by side
/// or every other one, in stretches of any length, so that vectors of all sorts and tails occur.
fn meshed<const N: usize>(seed: u64, count: usize) -> (Vec<Vec4>, ConstraintSet<N>) {
    let mut dice = Dice(seed);
    let rarity = rarity(seed);
    let mut set = ConstraintSet::default();
    let mut top = 0;
    for color in 0..4 {
        let (mut row, mut next) = (0, dice.below(3) as u32);
        while row < count / 4 + 1 {
            let stretch = (1 + dice.below(60)).min(count / 4 + 1 - row) as u32;
            // Even and odd ones in turn, or N runs one after the other.
            let (step, apart) = if color % 2 == 0 { (1, stretch) } else { (N as u32, 1) };
            for i in 0..stretch {
                let corners = std::array::from_fn(|k| next + i * step + k as u32 * apart);
                let constraint = constraint(&mut dice, corners, rarity);
                set.add(&Constraint { color_hint: Some(color), ..constraint });
            }
            row += stretch as usize;
            next += N as u32 * stretch + dice.below(3) as u32;
        }
        top = top.max(next as usize);
    }
    set.commit();
    for lambda in &mut set.lambda {
        *lambda = dice.odd(rarity, &ODD, -1.0, 1.0);
    }
    assert!(set.colors_are_sound());
    (particles(&mut dice, top + 1, rarity), set)
}

/// Where the step began: ordinary places, so that what is odd about the moves shows.
fn bases(count: usize) -> Vec<Vec4> {
    let mut dice = Dice(7);
    let mut place = || Vec4::from([(); 4].map(|()| dice.between(-1.0, 1.0)));
    (0..count).map(|_| place()).collect()
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
    for (at, mut set) in [adversarial::<N>(seed, count), meshed::<N>(seed, count)] {
        same_by::<P, Stiff, N>(&at, &set, Method::Pbd, Choice::Stiff, teams);
        // One alone makes a set compliant.
        set.compliance[0] = 1e-3;
        same_by::<P, Compliant, N>(&at, &set, Method::Xpbd, Choice::Compliant, teams);
        set.compliance.fill(0.0);
        same_by::<P, Rigid, N>(&at, &set, Method::Xpbd, Choice::Rigid, teams);
    }
}

fn same_by<P: Projection<N>, M: Law, const N: usize>(
    at: &[Vec4],
    set: &ConstraintSet<N>,
    method: Method,
    law: Choice,
    teams: &mut [Team],
) {
    let params = Params { method, ..Params::default() };
    let omega = 1.2;
    let mut cache = Cache::default();
    cache.update(set, &params, params.dt);
    cache.take_bases(&teams[0], set, &bases(at.len()));
    assert_eq!(cache.law, law);

    let (mut plain, mut plain_set) = (at.to_vec(), set.clone());
    for i in 0..set.len() {
        seidel::row::<P, M, N>(&mut plain, &mut plain_set, &cache, omega, i);
    }
    let expected = state(&plain, &plain_set);
    assert!(set.len() < 100 || expected != state(at, set), "nothing moved");
    if !M::KEEPS_LAMBDA {
        assert_eq!(expected.1, state(at, set).1, "a multiplier that nobody reads was written");
    }

    same_jacobi::<P, M, N>(at, set, &mut cache, omega, teams);
    for team in &mut *teams {
        for level in Level::all() {
            team.simd = level;
            let (mut at, mut set) = (at.to_vec(), set.clone());
            for color in 0..set.color_count() {
                colored::sweep::<P, M, N>(team, &mut at, &mut set, &cache, omega, color);
            }
            assert!(
                state(&at, &set) == expected,
                "{} of {} rows, {law:?}, {level:?}, {} threads",
                std::any::type_name::<P>(),
                set.len(),
                team.threads(),
            );
        }
    }
}

/// The corrections of a Jacobi sweep, row by row.
fn plain_corrections<P: Projection<N>, M: Law, const N: usize>(
    at: &[Vec4],
    set: &mut ConstraintSet<N>,
    cache: &Cache,
    omega: f32,
) -> Vec<f32> {
    let mut around = vec![0u32; at.len()];
    set.corner[..N].iter().flatten().for_each(|&p| around[p as usize] += 1);
    let mut out = Vec::new();
    for (i, &soft) in cache.soft.iter().enumerate() {
        let slots = set.particles(i);
        let busiest = slots.iter().map(|&s| around[s as usize]).max().unwrap();
        let omega = if M::SHARES { omega / busiest as f32 } else { omega };
        let p = corners(&slots.map(|s| Moved::from(at[s as usize])), cache.base(i));
        let answer = P::project::<f32, M>(&p, set.rest[i], soft, set.lambda[i], omega);
        if answer.valid && M::KEEPS_LAMBDA {
            set.lambda[i] += answer.change;
        }
        for v in answer.push {
            out.extend(if answer.valid { [v.x, v.y, v.z, 0.0] } else { [0.0; 4] });
        }
    }
    out
}

fn same_jacobi<P: Projection<N>, M: Law, const N: usize>(
    at: &[Vec4],
    set: &ConstraintSet<N>,
    cache: &mut Cache,
    omega: f32,
    teams: &mut [Team],
) {
    let mut plain = set.clone();
    let expected = bits(plain_corrections::<P, M, N>(at, &mut plain, cache, omega));
    for team in teams {
        for level in Level::all() {
            team.simd = level;
            let mut set = set.clone();
            jacobi::sweep::<P, M, N>(team, at, &mut set, cache, omega);
            let corrections = bits(cache.corrections.iter().flat_map(|v| v.to_array()));
            assert!(corrections == expected, "{} {level:?}", std::any::type_name::<P>());
            assert!(state(at, &set) == state(at, &plain), "{level:?}");
        }
    }
}

/// What the file of every kind tests: each level of instructions and each team gives the bits of the
/// plain loop.
pub(crate) fn same_bits<P: Projection<N>, const N: usize>() {
    let mut alone = [Team::new(1).unwrap()];
    for count in (1..40).chain([128, 200]) {
        for seed in 0..12 {
            same_everywhere::<P, N>(seed, count, &mut alone);
        }
    }
    let mut teams = [1, 2, 3, 8].map(|threads| Team::new(threads).unwrap());
    for seed in 0..6 {
        same_everywhere::<P, N>(seed, 20_000, &mut teams);
    }
}

/// How many vectors lie side by side, every other one, and apart.
fn sorts<const N: usize>(set: &ConstraintSet<N>) -> [usize; 3] {
    let mut plans = super::runs::Plans::default();
    let size = colored::BLOCK / N;
    plans.update(set, size);
    let mut counts = [0; 3];
    for color in 0..set.color_count() {
        let rows = set.color_range(color);
        for first in (0..rows.len()).step_by(size) {
            let plan = plans.of::<N>(color, &rows, first, size);
            let sorts = [plan.beside, plan.skipping, plan.apart];
            let vectors = (rows.len() - first).min(size) / 8;
            assert_eq!(sorts.iter().map(|runs| runs.row.len()).sum::<usize>(), vectors);
            for (count, runs) in counts.iter_mut().zip(sorts) {
                *count += runs.row.len();
                for (&row, slot) in runs.row.iter().zip(runs.slot) {
                    let row = rows.start + first + row as usize;
                    assert_eq!(set.particles(row), *slot);
                }
            }
        }
    }
    counts
}

#[test]
fn vectors_of_all_sorts_occur() {
    let [beside, skipping, apart] = sorts(&meshed::<2>(0, 20_000).1);
    assert!(beside > 500 && skipping > 500 && apart > 100, "{beside} {skipping} {apart}");
    assert!(sorts(&meshed::<4>(0, 20_000).1)[0] > 500);
    let [_, _, apart] = sorts(&adversarial::<2>(0, 20_000).1);
    assert!(apart > 1000);
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
    cache.take_bases(&team, &set, &at);
    let at = &mut at[..20].to_vec();
    colored::sweep::<Distance, Rigid, 2>(&team, at, &mut set, &cache, 1.0, 0);
}
