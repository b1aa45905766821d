//! For tests that need a device: one of them at a time, and a word where there is none.

use crate::vulkan::device::{INSTALL, failed};
use parking_lot::{Mutex, MutexGuard};
use std::cell::RefCell;
use std::fmt::Display;

static TURN: Mutex<()> = Mutex::new(());

thread_local! {
    static MINE: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// What `open` gives, or `None` where there is no device and `MOTES_REQUIRE_VULKAN` is not 1.
///
/// The first call of a thread waits until no other thread that called it is left. A test has a
/// thread of its own, so tests take turns, and all that one opens is closed before the next: the
/// validation layer (1.3.239) finds a call's device in a table without a lock, and crashes when
/// another thread makes or drops one meanwhile.
pub fn opened<T, E: Display>(open: impl FnOnce() -> Result<T, E>) -> Option<T> {
    MINE.with_borrow_mut(|mine| _ = mine.get_or_insert_with(|| TURN.lock()));
    match open() {
        Ok(found) => Some(found),
        Err(why) if std::env::var("MOTES_REQUIRE_VULKAN").is_ok_and(|v| v == "1") => {
            panic!("MOTES_REQUIRE_VULKAN=1, but {why}")
        }
        Err(why) => {
            eprintln!("skipped: no Vulkan device ({why})");
            None
        }
    }
}

/// The numbers of the devices that the engine can use; at least one, or `None` as above.
pub fn usable() -> Option<Vec<usize>> {
    opened(|| {
        let found = crate::vulkan::devices()?;
        let usable: Vec<_> =
            found.iter().filter(|d| d.refused.is_none()).map(|d| d.number).collect();
        if usable.is_empty() {
            return Err(failed(format!("none of {found:?} will do"), INSTALL));
        }
        Ok(usable)
    })
}
