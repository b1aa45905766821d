//! What it costs to call in the threads of a shared pool each step, beside threads that stay:
//! `cargo bench --bench pool`.

use motes::{Backend, Engine, Scene, World};
use std::sync::Arc;
use std::time::Instant;

/// Steps of a run, and runs of each engine.
const STEPS: usize = 20;
const RUNS: usize = 40;

/// The least time each step of a run took so far, us.
type Least = [f64; STEPS];

fn run(world: &World, backend: Backend, least: &mut Least) {
    let mut engine = Engine::new(world.clone(), backend).expect("legal");
    for least in least {
        let started = Instant::now();
        engine.step(world.params.dt).expect("legal");
        *least = least.min(started.elapsed().as_secs_f64() * 1e6);
    }
}

fn main() {
    let helpers = std::thread::available_parallelism().map_or(1, |n| n.get() - 1).max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(helpers).build().expect("threads");
    let pool = Arc::new(pool);
    println!(
        "us a step, with {helpers} helpers: the least of {RUNS} runs for each of {STEPS} steps"
    );
    println!("{:12} {:>18} {:>14} {:>8}", "scene", "threads that stay", "a shared pool", "more");
    for name in ["stairs", "cloth_hang", "spike", "trampoline"] {
        let world = Scene::load(name).and_then(|scene| scene.build()).expect("legal");
        let mut least = [[f64::INFINITY; STEPS]; 2];
        // In turns, so that both meet the same machine.
        for _ in 0..RUNS {
            run(&world, Backend::Cpu { threads: helpers + 1 }, &mut least[0]);
            run(&world, Backend::CpuPool { pool: Arc::clone(&pool) }, &mut least[1]);
        }
        let [stay, shared] = least.map(|least| least.iter().sum::<f64>() / STEPS as f64);
        let more = 100.0 * (shared / stay - 1.0);
        println!("{name:12} {stay:18.1} {shared:14.1} {more:6.1} %");
    }
}
