//! A model of how workers claim blocks (`src/cpu/team/claim.rs`): a caller opens one region after
//! the other, and a helper claims along. loom runs them in every order, and with every value that a
//! load may see. Each block is run once, by the work of its own region, while that is alive.

#![cfg(test)]

macro_rules! model {
    ($name:ident) => {
        mod $name {
            mod atomic {
                pub use loom::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
                /// loom holds workers up by itself.
                pub fn hold_up() {}
            }
            #[allow(dead_code)]
            mod claim {
                include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
            }
            use claim::Share;
            use loom::cell::UnsafeCell;
            use loom::sync::Arc;
            use loom::sync::atomic::{AtomicUsize, Ordering::SeqCst};

            // One: shares know nothing of each other.
            const SHARES: usize = 1;
            const REGIONS: u64 = 2;
            const BLOCKS: usize = 2;

            /// The work of a region.
            struct Work {
                alive: UnsafeCell<bool>,
                runs: [AtomicUsize; BLOCKS],
            }

            /// Claims and runs what is left of a region; tells how many blocks that was.
            fn work(shares: &[Share], region: u64) -> usize {
                let mut mine = 0;
                for place in 0..SHARES {
                    while let Some(claim) = shares[place].claim(region, place, SHARES) {
                        assert!(!claim.work.is_null());
                        let work = unsafe { &*claim.work.cast::<Work>() };
                        assert!(work.alive.with(|alive| unsafe { *alive }));
                        work.runs[claim.block].fetch_add(1, SeqCst);
                        mine += 1;
                    }
                }
                mine
            }

            pub fn check() {
                let shares: Arc<[Share; SHARES]> = Arc::new(std::array::from_fn(|_| Share::new()));
                let done = Arc::new(AtomicUsize::new(0));
                let works: Arc<[Work; REGIONS as usize]> = Arc::new(std::array::from_fn(|_| Work {
                    alive: UnsafeCell::new(true),
                    runs: std::array::from_fn(|_| AtomicUsize::new(0)),
                }));
                let helper = {
                    let (shares, done) = (Arc::clone(&shares), Arc::clone(&done));
                    loom::thread::spawn(move || {
                        for _ in 0..REGIONS {
                            let region = shares[0].region();
                            done.fetch_add(work(&*shares, region), SeqCst);
                        }
                    })
                };
                let mut expected = 0;
                for (region, of) in (1..).zip(works.iter()) {
                    let pointer = std::ptr::from_ref(of).cast_mut().cast();
                    for share in shares.iter().rev() {
                        share.open(region, BLOCKS, pointer);
                    }
                    expected += BLOCKS - work(&*shares, region);
                    while done.load(SeqCst) != expected {
                        loom::thread::yield_now();
                    }
                    of.alive.with_mut(|alive| unsafe { *alive = false });
                    assert!(of.runs.iter().all(|runs| runs.load(SeqCst) == 1));
                }
                helper.join().unwrap();
            }
        }
    };
}

model!(intact);
model!(not_closed);
model!(opened_relaxed);
model!(looked_relaxed);
model!(claimed_by_a_store);

mod tests {
    fn model(check: fn()) {
        let mut builder = loom::model::Builder::new();
        // Enough for every mutant to be caught, and few enough to end within seconds.
        builder.preemption_bound = Some(2);
        builder.check(check);
    }

    #[test]
    fn every_block_is_run_once_while_its_region_is_open() {
        model(super::intact::check);
    }

    /// A share that stays open while its values change.
    #[test]
    #[should_panic]
    fn not_closed_is_noticed() {
        model(super::not_closed::check);
    }

    /// A helper that sees the new region, and what the last one was.
    #[test]
    #[should_panic]
    fn opened_relaxed_is_noticed() {
        model(super::opened_relaxed::check);
    }

    #[test]
    #[should_panic]
    fn looked_relaxed_is_noticed() {
        model(super::looked_relaxed::check);
    }

    /// Two workers that claim the same block.
    #[test]
    #[should_panic]
    fn claimed_by_a_store_is_noticed() {
        model(super::claimed_by_a_store::check);
    }
}
