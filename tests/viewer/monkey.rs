//! Random input for `MOTES_MONKEY_SECONDS` (10), from a seed, `MOTES_MONKEY_SEED` (1): no panic, no
//! frozen window, no memory that only grows.

use super::session::Session;
use serde_json::Value;
use std::time::Duration;

/// Four quarters after a start, each under this painter and of so many frames at least.
pub fn does_no_harm(session: &Session, start: &str, painter: &str, least: f64) {
    let number = |name: &str, other: f64| {
        std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(other)
    };
    let (seconds, seed) = (number("MOTES_MONKEY_SECONDS", 10.0), number("MOTES_MONKEY_SEED", 1.0));
    // A mesh it may place.
    session.write("cube.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 3\nf 1 4 2\n");
    // The same scene on the same backend each time, so that what is left over is compared.
    let quarter = |k: u32| {
        let (seed, seconds) = (seed + 1000.0 * f64::from(k), seconds / 4.0);
        format!(
            "painter {painter}\nmonkey {seed} {seconds}\npainter software\nbackend cpu\nopen tear\n\
            report {k}.json\n"
        )
    };
    let script: String = std::iter::once(start.into()).chain((0..4).map(quarter)).collect();
    let output = session.try_run("tear", &script, Duration::from_secs_f64(seconds + 240.0));
    Session::check(&output, &script);
    let reports: Vec<Value> = (0..4).map(|k| session.report(&format!("{k}.json"))).collect();
    let told =
        |key: &str| -> Vec<f64> { reports.iter().map(|r| r[key].as_f64().unwrap()).collect() };
    let (memory, frames) = (told("memory_mib"), told("frames"));
    println!("MiB {memory:?}, frames {frames:?}, longest gap in ms {:?}", told("longest_gap_ms"));
    let warm = memory[0].max(memory[1]);
    assert!(memory[3] < warm * 1.2 + 40.0, "{memory:?} MiB");
    assert!(frames.windows(2).all(|pair| pair[1] > pair[0] + least), "{frames:?} frames");
}
