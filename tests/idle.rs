//! An engine that is not stepped uses no CPU: its workers park.
#![cfg(target_os = "linux")]

use motes::{Backend, Cloth, Engine, World};
use std::time::{Duration, Instant};

/// Processor time this process has used, over all its threads. The kernel counts it in ticks,
/// 100 a second on every Linux.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The second field is a name in brackets, which may hold anything; user and system time are
    // the 14th and 15th.
    let after_name = &text[text.rfind(')').unwrap() + 2..];
    let fields: Vec<&str> = after_name.split(' ').collect();
    let ticks = |field: usize| fields[field - 3].parse::<u64>().unwrap();
    Duration::from_millis(10 * (ticks(14) + ticks(15)))
}

/// As many workers as a small machine has cores, and more: waiting is another way then.
#[test]
fn an_idle_engine_uses_no_cpu() {
    for threads in [2, 4, 64] {
        idles(Backend::Cpu { threads });
    }
}

/// The threads of a pool that lends them for a step have gone back to it, and sleep there.
#[test]
fn an_idle_engine_on_a_shared_pool_uses_no_cpu() {
    for threads in [1, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        idles(Backend::CpuPool { pool: pool.into() });
    }
}

fn idles(backend: Backend) {
    // One at a time: the clock is that of the whole process.
    static CLOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _mine = CLOCK.lock().unwrap_or_else(|e| e.into_inner());
    let mut world = World::new();
    world.add_cloth(&Cloth { columns: 100, rows: 100, ..Cloth::default() }).unwrap();
    let mut engine = Engine::new(world, backend.clone()).unwrap();
    let before = cpu_time();
    let busy = Instant::now();
    while busy.elapsed() < Duration::from_millis(200) {
        engine.step(1.0 / 60.0).unwrap();
    }
    assert!(cpu_time() > before, "the clock does not tell work");

    let before = cpu_time();
    let idle = Duration::from_millis(500);
    std::thread::sleep(idle);
    let used = cpu_time() - before;
    // Helpers wait awake for some microseconds, then park; a tick is 2 % of the half second.
    assert!(used <= idle / 20, "{backend:?}: idle workers used {used:?} in {idle:?}");
}
