//! How far the kernels are from what one core can do: `cargo bench --bench roofline` measures the
//! machine's limits and the kernels in the same run and prints them as Markdown, in a minute.
//!
//! Bytes and operations of a kernel are counted by hand from its formula: what one item loads and
//! stores, wherever that comes from, and what it adds, multiplies, divides and takes roots of.

mod worlds;

use motes::{Backend, Engine, Kind, Pass, World};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;
use worlds::{bent, cube, listed_pairs, machine, settled, stretched};

fn main() {
    if !std::env::args().any(|a| a == "--bench") {
        return println!("this is a bench: cargo bench --bench roofline");
    }
    println!("{}\n", machine());
    let peak = peak_gflops();
    println!("One core: {peak:.0} GFLOP/s (products and sums, none fused); it reads and writes");
    let sizes =
        [("16 KiB", 1 << 14), ("512 KiB", 1 << 19), ("8 MiB", 1 << 23), ("256 MiB", 1 << 28)];
    let rates = sizes.map(|(name, bytes)| format!("{:.0} GB/s in {name}", copied_gbs(bytes)));
    println!("{}.\n", rates.join(", "));

    println!("| item | bytes | operations | ns | GB/s | GFLOP/s | of the peak |");
    println!("|---|---|---|---|---|---|---|");
    let row = |item: &str, bytes: f64, operations: f64, ns: f64| {
        let (gbs, gflops) = (bytes / ns, operations / ns);
        let share = 100.0 * gflops / peak;
        println!(
            "| {item} | {bytes:.0} | {operations:.0} | {ns:.2} | {gbs:.0} | {gflops:.0} | {share:.0} % |"
        );
    };
    // Two rows of positions read and written, a rest length, the plan of its vector.
    row(
        "distance, rigid, 100 x 100 cloth",
        70.0,
        29.0,
        sweep_ns(&stretched(100), Pass::SolveDistance),
    );
    row("same, 500 x 500", 70.0, 29.0, sweep_ns(&stretched(500), Pass::SolveDistance));
    // Four rows read and written, four slots, rest, softness, multiplier; an arctangent.
    row("hinge, compliant, 100 x 100 cloth", 155.0, 200.0, sweep_ns(&bent(), Pass::SolveBend));
    row("tetrahedron, rigid, cube 20^3", 145.0, 125.0, sweep_ns(&cube(), Pass::SolveVolume));
    grains(row);
}

/// ns per constraint and iteration with one worker, the least of many turns.
fn sweep_ns(world: &World, pass: Pass) -> f64 {
    let kind = Kind::solved_by(pass).expect("the pass of a kind");
    let count = world.count(kind) as f64;
    let mut engine = Engine::new(world.clone(), Backend::Cpu { threads: 1 }).expect("legal");
    let turns = (40_000_000.0 / (5.0 * count)).clamp(10.0, 100.0) as u32;
    let ns = (0..turns).map(|_| {
        engine.iterate(5, |_, _| ControlFlow::Continue(())).expect("legal");
        engine.report().passes.ms(pass) * 1e6 / (5.0 * count)
    });
    ns.fold(f64::INFINITY, f64::min)
}

/// Contacts of a small pile, inside the second cache, and of a large one, and the search.
fn grains(row: impl Fn(&str, f64, f64, f64)) {
    for (scene, settle, turns) in [("grains_box:small", 400, 100), ("grains_box:stones", 900, 30)] {
        let (pile, _) = settled(scene, settle, 0);
        let pairs = listed_pairs(&pile) as f64;
        let params = pile.params.clone();
        let sweeps = f64::from(params.substeps * params.iterations);
        let mut engine = Engine::new(pile, Backend::Cpu { threads: 1 }).expect("legal");
        let (mut contact, mut search, mut color) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let mut touching = 0.0;
        for _ in 0..turns {
            let report = engine.step(params.dt).expect("legal");
            let ns = |pass| report.passes.ms(pass) * 1e6;
            contact = contact.min(ns(Pass::SolveContacts) / (pairs * sweeps));
            touching = report.contacts as f64 / pairs;
            if report.list_builds > 0 {
                let builds = f64::from(report.list_builds) * pairs;
                search = search.min(ns(Pass::FindNeighborsGrid) / builds);
                color = color.min(ns(Pass::ColorContacts) / builds);
            }
        }
        // Listed: slots, distance, two rows. Touching: two rows more, and two written.
        let (bytes, operations) = (44.0 + 64.0 * touching, 9.0 + 62.0 * touching);
        let item = format!("contact, `{scene}`, {:.0} % touch", 100.0 * touching);
        row(&item, bytes, operations, contact);
        // 76 candidates of 16 bytes a particle are tested with 8 operations each; five are listed.
        row(&format!("neighbour, `{scene}`"), 251.0, 122.0, search);
        // Two slots, a distance, two points, two masks; a row of 16 bytes and its place in a batch.
        row(&format!("pair into its batch, `{scene}`"), 112.0, 9.0, color);
    }
}

/// Products and sums a second on eight lanes, as many chains as hide their latency.
fn peak_gflops() -> f64 {
    const CHAINS: usize = 6;
    const ROUNDS: usize = 2_000_000;
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn chains(seed: f32) -> f32 {
        use std::arch::x86_64::*;
        let (scale, step) = (_mm256_set1_ps(seed), _mm256_set1_ps(1e-9));
        let mut products = [_mm256_set1_ps(1.0); CHAINS];
        let mut sums = [_mm256_set1_ps(0.0); CHAINS];
        for _ in 0..ROUNDS {
            for k in 0..CHAINS {
                products[k] = _mm256_mul_ps(products[k], scale);
                sums[k] = _mm256_add_ps(sums[k], step);
            }
        }
        products.iter().chain(&sums).map(|&v| _mm256_cvtss_f32(v)).sum()
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        let least = (0..20).map(|_| {
            let began = Instant::now();
            // SAFETY: the machine has the instructions.
            black_box(unsafe { chains(black_box(0.999_999_9)) });
            began.elapsed().as_secs_f64()
        });
        let operations = (2 * CHAINS * ROUNDS * 8) as f64;
        return operations / least.fold(f64::INFINITY, f64::min) / 1e9;
    }
    f64::NAN
}

/// Bytes read and written a second while a block of this size is copied over another.
fn copied_gbs(bytes: usize) -> f64 {
    let from = vec![1u8; bytes / 2];
    let mut to = vec![0u8; bytes / 2];
    let rounds = ((1 << 28) / bytes).max(1);
    let least = (0..20).map(|_| {
        let began = Instant::now();
        for _ in 0..rounds {
            black_box(&mut to).copy_from_slice(black_box(&from));
        }
        began.elapsed().as_secs_f64() / rounds as f64
    });
    bytes as f64 / least.fold(f64::INFINITY, f64::min) / 1e9
}
