use super::*;

#[test]
fn every_row_is_visited_once_for_any_team() {
    // As many cores as workers, or a few, whatever this machine has.
    for (threads, cores) in [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (8, 1), (8, 3), (8, 8)] {
        let team = Team::on_cores(threads, cores).unwrap();
        let mut hits = vec![0u32; 10_001];
        let index: Vec<u32> = (0..10_001).collect();
        for round in 1..=2000 {
            team.rows((Shared::new(&mut hits), &index[..]), 64, |range, (hits, index)| {
                assert_eq!(range.start as u32, index[0]);
                hits.iter_mut().for_each(|h| *h += 1);
            });
            assert!(hits.iter().all(|&h| h == round));
            if round % 500 == 0 {
                // Long enough for every helper to park.
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        }
    }
}

#[test]
fn regions_of_every_size_are_run_whole() {
    for cores in [2, 8] {
        let team = Team::on_cores(8, cores).unwrap();
        for round in 0..20_000usize {
            let count = 1 + round % 23;
            let sum = AtomicUsize::new(0);
            team.blocks(count, 1, |b, _| {
                sum.fetch_add(b + 1, Relaxed);
            });
            assert_eq!(sum.into_inner(), count * (count + 1) / 2);
        }
    }
}

static HOLDING_UP: AtomicBool = AtomicBool::new(false);

/// Gives the core away at one place in four, each worker at others.
pub(super) fn hold_up() {
    thread_local!(static TURN: std::cell::Cell<u64> = {
        static SEED: AtomicU64 = AtomicU64::new(1);
        std::cell::Cell::new(SEED.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed))
    });
    if HOLDING_UP.load(Relaxed) {
        // A step of a linear congruential generator; its upper bits are random enough.
        let turn = TURN.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        TURN.set(turn);
        if turn >> 62 == 0 {
            std::thread::yield_now();
        }
    }
}

/// A worker may be held up between reading a queue, reading what the region is, and claiming
/// from it, while the region ends and others begin: every block is run once all the same.
#[test]
fn whoever_is_late_claims_nothing_of_a_later_region() {
    HOLDING_UP.store(true, Relaxed);
    for cores in [2, 8] {
        let team = Team::on_cores(8, cores).unwrap();
        for round in 0..10_000usize {
            let mut runs = [const { AtomicU64::new(0) }; 23];
            let count = 2 + (round * 7) % 22;
            team.blocks(count, 1, |b, _| {
                runs[b].fetch_add(1, Relaxed);
            });
            let once = |(b, run): (usize, &mut AtomicU64)| *run.get_mut() == (b < count) as u64;
            assert!(runs.iter_mut().enumerate().all(once), "round {round} on {cores} cores");
        }
    }
    HOLDING_UP.store(false, Relaxed);
}

/// Region upon region: whoever has no core must go to sleep all the same, and stay asleep.
#[test]
fn no_more_are_awake_than_there_are_cores() {
    let team = Team::on_cores(8, 2).unwrap();
    let region = || {
        team.blocks(16, 1, |_, _| (0..300).for_each(|_| std::hint::spin_loop()));
    };
    let began = Instant::now();
    while team.inner.awake() > 2 {
        region();
        assert!(began.elapsed() < Duration::from_secs(10), "{} awake", team.inner.awake());
    }
    for _ in 0..2000 {
        region();
        assert!(team.inner.awake() <= 2);
    }
}

#[test]
fn a_panic_in_a_block_reaches_the_caller_and_the_team_lives_on() {
    let team = Team::new(3).unwrap();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        team.blocks(100, 1, |b, _| assert!(b != 57));
    }));
    assert!(caught.is_err());
    let sum = AtomicUsize::new(0);
    team.blocks(100, 1, |b, _| {
        sum.fetch_add(b, Relaxed);
    });
    assert_eq!(sum.into_inner(), 4950);
}
