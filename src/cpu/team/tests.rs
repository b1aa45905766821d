use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::time::Instant;

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
    while team.regions.awake() > 2 {
        region();
        assert!(began.elapsed() < Duration::from_secs(10), "{} awake", team.regions.awake());
    }
    for _ in 0..2000 {
        region();
        assert!(team.regions.awake() <= 2);
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

fn pool(threads: usize) -> Arc<ThreadPool> {
    Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
}

/// Waits for what other threads do in their own time.
fn eventually(what: &str, mut ready: impl FnMut() -> bool) {
    let began = Instant::now();
    while !ready() {
        assert!(began.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_micros(100));
    }
}

#[test]
fn every_row_is_visited_once_on_a_shared_pool_whoever_calls() {
    for (threads, cores) in [(1, 1), (1, 2), (2, 2), (3, 8), (8, 3), (8, 16)] {
        let pool = pool(threads);
        let team = Team::sharing(Arc::clone(&pool), cores).unwrap();
        let mut hits = vec![0u32; 5_001];
        let mut visits = |from: u32, to: u32| {
            for round in from..=to {
                let _visit = team.visit();
                // The first without a visit of helpers worth its name: one block.
                team.blocks(1, 1, |_, _| ());
                for _ in 0..3 {
                    team.rows(Shared::new(&mut hits), 64, |_, hits| {
                        hits.iter_mut().for_each(|h| *h += 1);
                    });
                }
                assert!(hits.iter().all(|&h| h == 3 * round));
            }
        };
        visits(1, 500);
        pool.install(|| visits(501, 1000));
    }
}

#[test]
fn threads_of_a_shared_pool_come_for_a_visit_and_leave_after_it() {
    let pool = pool(3);
    let team = Team::sharing(Arc::clone(&pool), 4).unwrap();
    let who = || {
        let seen = parking_lot::Mutex::new(std::collections::BTreeSet::new());
        team.blocks(64, 1, |_, _| {
            seen.lock().insert(rayon::current_thread_index());
            std::thread::sleep(Duration::from_millis(1));
        });
        seen.into_inner()
    };
    assert_eq!(who().into_iter().collect::<Vec<_>>(), [None], "nobody comes uninvited");
    for _ in 0..3 {
        let visit = team.visit();
        eventually("the whole pool helps", || who().len() == 4);
        drop(visit);
        eventually("everybody leaves", || team.regions.awake() == 1);
        // The pool is the host program's again: each of its threads answers.
        assert_eq!(pool.broadcast(|who| who.index()), [0, 1, 2]);
        assert_eq!(team.regions.invited(), 0);
    }
    // A panic ends a visit like anything else.
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _visit = team.visit();
        team.blocks(100, 1, |b, _| assert!(b != 57));
    }));
    assert!(caught.is_err());
    assert_eq!(pool.broadcast(|who| who.index()), [0, 1, 2]);
}

/// Threads that are busy for ever, or wait for the one that calls, hold up nobody; and what they
/// were invited to does not pile up.
#[test]
fn a_pool_whose_threads_never_come_holds_up_nobody() {
    let pool = pool(2);
    let team = Team::sharing(Arc::clone(&pool), 3).unwrap();
    let busy = Arc::new(parking_lot::Mutex::new(()));
    let held = busy.lock();
    for _ in 0..2 {
        let busy = Arc::clone(&busy);
        pool.spawn(move || drop(busy.lock()));
    }
    for _ in 0..1000 {
        let _visit = team.visit();
        let sum = AtomicUsize::new(0);
        team.blocks(100, 1, |b, _| {
            sum.fetch_add(b, Relaxed);
        });
        assert_eq!(sum.into_inner(), 4950);
        assert_eq!(team.regions.invited(), 2);
    }
    drop(held);
    eventually("the invitations are answered", || team.regions.invited() == 0);
}
