//! The batches hold every pair once, and are solved alike by every level and team.

use super::*;
use crate::cpu::contact::Friction;
use crate::cpu::contact::block::Mixed;
use crate::cpu::contact::lift::Lift;
use crate::cpu::contact::listed::Pairs;
use crate::simd::Level;
use crate::world::material::MaterialPairs;
use crate::{Backend, Coefficients, Engine, Grains, Material, Particle, Phase, World};
use glam::Vec3;
use std::collections::{HashMap, HashSet};

/// A shaken heap, stepped once, with balls of these sizes (in radii) in the middle.
fn heap(balls: &[f32]) -> Engine {
    let mut world = World::new();
    // One long substep: so the lists are long.
    (world.params.substeps, world.params.iterations) = (1, 8);
    let heap = Grains { counts: [19, 18, 17], jitter: 0.3, ..Grains::default() };
    let radius = heap.radius;
    let ids = world.add_grains(&heap).unwrap();
    let middle = world.position(ids[3000]).unwrap();
    for (k, size) in balls.iter().enumerate() {
        world
            .add_particle(&Particle {
                position: middle + Vec3::X * (k as f32 * radius),
                velocity: Vec3::ZERO,
                mass: 1.0,
                radius: size * radius,
                phase: Phase::group(77 + k as u32),
            })
            .unwrap();
    }
    let mut engine = Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
    engine.step(1.0 / 60.0).unwrap();
    engine
}

#[test]
fn batches_share_no_particle_nor_do_tiles_of_a_color_and_every_pair_is_there_once() {
    for balls in [&[][..], &[4.0], &[4.0, 25.0]] {
        let engine = heap(balls);
        let scratch = engine.scratch();
        let rows = &scratch.contact_rows;
        let mut pairs = HashSet::new();
        let mut add = |a, b| assert!(a < b && pairs.insert((a, b)), "{a} {b} again");
        for color in 0..COLORS {
            let mut owner = HashMap::new();
            for &tile in rows.tiles.of_color(color) {
                for batch in rows.batches.of(tile as usize) {
                    let mut seen = HashSet::new();
                    for (a, b, _) in batch.rows() {
                        assert!(seen.insert(a) && seen.insert(b), "colour {color}");
                        add(a, b);
                    }
                    for slot in seen {
                        assert_eq!(*owner.entry(slot).or_insert(tile), tile);
                    }
                }
            }
        }
        let far = rows.batches.of(rows.tiles.len());
        for (a, b, _) in far.iter().flat_map(Batch::rows) {
            add(a, b);
        }
        assert!(pairs.len() > 5000);
        assert_eq!(pairs.len(), scratch.neighbors.pair_count());
        assert_eq!(far.is_empty(), balls.len() < 2, "a ball wider than tiles");
    }
}

/// What the device is given, and compared with, is what the CPU solves.
#[cfg(feature = "vulkan")]
#[test]
fn colored_pairs_stand_in_the_order_of_the_batches() {
    let engine = heap(&[4.0, 25.0]);
    let scratch = engine.scratch();
    let rows = &scratch.contact_rows;
    let mut colored = vec![Vec::new(); rows.tiles.len()];
    rows.for_each_colored_pair(&scratch.neighbors, &scratch.broad, |tile, _, [a, b], contact| {
        colored[tile].push((a, b, contact));
    });
    for (tile, colored) in colored.into_iter().enumerate() {
        let batches = rows.batches.of(tile).iter();
        assert_eq!(batches.flat_map(Batch::rows).collect::<Vec<_>>(), colored);
    }
}

#[test]
fn touching_pairs_are_counted_as_one_by_one() {
    let engine = heap(&[4.0, 25.0]);
    let scratch = engine.scratch();
    let at = engine.world().particles.now();
    let touches = |i: usize, n: &&Neighbor| {
        let d = at.between(i, n.slot as usize);
        d.length_squared() < n.contact * n.contact
    };
    let of = |i: usize| scratch.neighbors.above(i).iter().filter(|n| touches(i, n)).count();
    let expected: usize = (0..at.len()).map(of).sum();
    assert!(expected > 100, "{expected}");
    for level in Level::all() {
        let mut team = Team::new(2).unwrap();
        team.simd = level;
        let (particles, mut rows) = (&engine.world().particles, ContactRows::default());
        rows.fill(&team, &scratch.neighbors, &scratch.broad).unwrap();
        rows.take_bases(&team, &particles.position);
        assert_eq!(rows.count_touching(&team, &particles.start), expected, "{level:?}");
    }
}

/// The batches in the order in which they are solved, with what they hold.
fn in_order(rows: &ContactRows) -> impl Iterator<Item = (&Batch, &Grips)> {
    let tiles = (0..COLORS).flat_map(|color| rows.tiles.of_color(color));
    let tiles = tiles.map(|&tile| tile as usize).chain([rows.tiles.len()]);
    let places = tiles.flat_map(|tile| rows.batches.range(tile));
    places.map(|at| (&rows.batches.all()[at], &rows.grips[at]))
}

/// What a contact held before: every third did. Some slipped further than friction draws back.
fn held_before(pairs: &Pairs, a: u32, b: u32) -> Option<Held> {
    let pair = [a as usize, b as usize];
    let at = pairs.apart(pair, pairs.start[pair[0]], pairs.start[pair[1]]);
    let slip = Vec3::new(1e-4, -2e-4, 3e-4) * (b % 7) as f32;
    // Some of them met just before.
    let share = if b % 4 == 3 { -0.5 } else { 0.5 };
    // Some of them slid.
    let given = Vec3::new(1e-3, 2e-4 * (b % 5) as f32, 0.0);
    let held = Held { pressed: 1e-3, given, anchor: at - slip, limit: 0.5, share, ..Held::NOTHING };
    (a + b).is_multiple_of(3).then_some(held)
}

/// Every level and team gives the bits of the formula applied row by row, of the positions and of
/// what contacts hold; large balls among small ones use up the colours and reach beyond the
/// tiles.
#[test]
fn rows_are_solved_alike_by_every_level_and_team() {
    let engine = heap(&[4.0, 25.0]);
    let Scratch { neighbors, broad, .. } = engine.scratch();
    let particles = engine.world().particles();
    // Squeezed, so that most touch; some coincide, some are held, one is nowhere.
    // Half of the way is counted from where the step began, half is moved.
    let base: Vec<Vec4> = particles.positions().iter().map(|v| *v * 0.5).collect();
    let squeezed = |k: usize, v: &Vec4| match k % 50 {
        7 => (Vec3::new(0.01, 0.02, 0.03) - base[k].truncate()).extend(v.w),
        _ if k == 123 => Vec4::splat(f32::NAN),
        _ => (v.truncate() * 0.3).extend(v.w),
    };
    let predicted: Vec<Vec4> =
        particles.positions().iter().enumerate().map(|(k, v)| squeezed(k, v)).collect();
    let weight = |k: usize| if k.is_multiple_of(11) { 0.0 } else { 1.0 + k as f32 };
    let positions = particles.positions().iter().enumerate();
    let start: Vec<Vec4> = positions.map(|(k, v)| (v.truncate() * 0.4).extend(weight(k))).collect();
    // Three materials, none of which slides on itself as on the others.
    let mut of_three = World::new();
    for mu in [0.2, 0.9] {
        let coefficients = Coefficients { friction_kinetic: Some(mu), ..Coefficients::default() };
        of_three.add_material(&Material { name: String::new(), coefficients }).unwrap();
    }
    let mut material_pairs = MaterialPairs::default();
    material_pairs.update(&of_three, 1e-3);
    let mixed: Vec<u32> = (0..predicted.len() as u32).map(|k| k % 3).collect();
    let alike = vec![0; predicted.len()];
    let (omega, push_out) = (0.9, 1e-3);
    // Three of four are loose grains.
    let flag = |k: u32| if k % 4 == 1 { Phase::SHAPED } else { Phase::SELF_COLLIDE };
    let phases: Vec<u32> = (0..predicted.len() as u32).map(flag).collect();
    let lift = Lift { up: Vec3::new(0.1, 0.3, -0.2), phases: &phases };
    for materials in [&alike, &mixed] {
        let (position, start, material_pairs) = (&base[..], &start[..], &material_pairs);
        let pairs = Pairs { position, start, materials, material_pairs, push_out, lift };
        let rubs = match materials[1] {
            0 => Rubs::Alike(Friction::between(material_pairs.pair(0, 0))),
            _ => Rubs::Mixed(Mixed { pairs: material_pairs, materials }),
        };
        // Row by row.
        let mut p = predicted.clone();
        let mut rows = ContactRows::default();
        let alone = Team::new(1).unwrap();
        rows.fill(&alone, neighbors, broad).unwrap();
        rows.recall(&alone, |_, _| None);
        let listed = in_order(&rows).flat_map(|(batch, _)| batch.rows());
        let mut all: Vec<_> = listed
            .map(|(a, b, contact)| {
                let mut held = Held::NOTHING;
                if let Some(before) = held_before(&pairs, a, b) {
                    held = before;
                }
                pairs.begin([a as usize, b as usize], contact, &mut held);
                ([a as usize, b as usize], contact, held)
            })
            .collect();
        let went_on = all.iter().filter(|(.., held)| held.pressed >= 0.0);
        let plain = |[a, b]: [usize; 2]| start[a].w / (start[a].w + start[b].w);
        let lifted = went_on.clone().filter(|(pair, _, held)| held.share != plain(*pair));
        let (went_on, lifted) = (went_on.count(), lifted.count());
        assert!(
            went_on > 2000 && lifted > went_on / 5 && lifted < went_on,
            "{lifted} of {went_on}"
        );
        for _ in 0..3 {
            let mut moved = 0;
            for ([a, b], contact, held) in &mut all {
                let at = pairs.apart([*a, *b], p[*a], p[*b]);
                if pairs.acts(*contact, at, held) {
                    let (push, share) = pairs.solve([*a, *b], *contact, at, held, omega);
                    p[*a] += (push * share).extend(0.0);
                    p[*b] += (push * (share - 1.0)).extend(0.0);
                    moved += u32::from(push != Vec3::ZERO);
                }
            }
            assert!(moved > 5000, "{moved}");
        }
        let nowhere = p.iter().filter(|p| !p.is_finite()).count();
        assert_eq!(nowhere, 1, "who is nowhere draws nobody along");
        for level in Level::all() {
            for threads in [1, 3] {
                let mut team = Team::new(threads).unwrap();
                team.simd = level;
                let mut rows = ContactRows::default();
                rows.fill(&team, neighbors, broad).unwrap();
                rows.recall(&team, |a, b| held_before(&pairs, a, b));
                rows.take_bases(&team, position);
                let mut q = predicted.clone();
                let work = Work::Begin { push_out, lift };
                rows.work(&team, &mut q, start, rubs, work);
                for _ in 0..3 {
                    let work = Work::Solve { omega, push_out };
                    rows.work(&team, &mut q, start, rubs, work);
                }
                let what = format!("{level:?}, {threads} threads");
                let bits = |v: &[Vec4]| -> Vec<[u32; 4]> {
                    v.iter().map(|v| v.to_array().map(f32::to_bits)).collect()
                };
                assert!(bits(&q) == bits(&p), "{what}");
                let mut expected = all.iter();
                for (batch, grips) in in_order(&rows) {
                    for k in batch.lanes() {
                        let ([a, b], _, held) = expected.next().unwrap();
                        assert_eq!([batch.a[k] as usize, batch.b[k] as usize], [*a, *b]);
                        let got = batch.held(grips, k);
                        assert_eq!(got.pressed, held.pressed, "{what} {a} {b}");
                        if got.pressed > 0.0 {
                            assert_eq!(got, *held, "{what} {a} {b}");
                        }
                    }
                }
                assert!(expected.next().is_none());
            }
        }
    }
}
