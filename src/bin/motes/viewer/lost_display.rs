//! A window system that goes away while the window is open: the connection is cut from outside
//! (`xdotool windowkill`), or the display ends. The window library answers that with a panic, and
//! the library below it ends the program with words of its own; here both become a message.

#[cfg(target_os = "linux")]
use crate::failure::Failure;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// What is said when the window is taken away.
pub const GONE: &str = "the window is gone: the window system closed it or ended";

/// Runs something that talks to the window system. An error when that went away; any other panic
/// goes its way.
pub fn guard<R>(run: impl FnOnce() -> R) -> Result<R, String> {
    #[cfg(target_os = "linux")]
    xlib::speak_plainly();
    let lost: Arc<Mutex<Option<String>>> = Arc::default();
    let keep = |lost: &Mutex<Option<String>>, why| {
        *lost.lock().unwrap_or_else(PoisonError::into_inner) = why;
    };
    let usual: Arc<dyn Fn(&std::panic::PanicHookInfo) + Send + Sync> =
        std::panic::take_hook().into();
    let (theirs, before) = (Arc::clone(&lost), Arc::clone(&usual));
    std::panic::set_hook(Box::new(move |info| {
        let of_window = info.location().is_some_and(|at| is_of_window(at.file()));
        match of_window {
            true => keep(&theirs, Some(info.payload_as_str().unwrap_or_default().to_string())),
            false => before(info),
        }
    }));
    let done = catch_unwind(AssertUnwindSafe(run));
    std::panic::set_hook(Box::new(move |info| usual(info)));
    let why = lost.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (done, why) {
        (Ok(done), _) => Ok(done),
        (Err(_), Some(why)) => Err(why),
        (Err(panic), None) => resume_unwind(panic),
    }
}

/// Xlib ends the program itself when its connection is cut, and offers one function to hear of it.
#[cfg(target_os = "linux")]
mod xlib {
    use std::ffi::{CStr, c_char, c_int, c_void};

    /// Binds every symbol at once (`RTLD_NOW`).
    const NOW: c_int = 2;

    unsafe extern "C" {
        fn dlopen(file: *const c_char, how: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    }

    type Handler = unsafe extern "C" fn(*mut c_void) -> c_int;
    type SetHandler = unsafe extern "C" fn(Option<Handler>) -> Option<Handler>;

    /// Xlib does not expect this to come back.
    unsafe extern "C" fn gone(_: *mut c_void) -> c_int {
        let _ = super::Failure::Failed(super::GONE.into()).report();
        std::process::exit(1)
    }

    /// Says so in the words of this program. Where there is no Xlib, nobody needs it.
    pub fn speak_plainly() {
        let (library, name): (&CStr, &CStr) = (c"libX11.so.6", c"XSetIOErrorHandler");
        // SAFETY: both names end in 0. The library stays loaded, as the window library has it open
        // anyway. The function has had this type for as long as there is a libX11.so.6, and it may
        // be called at any time.
        unsafe {
            let library = dlopen(library.as_ptr(), NOW);
            if library.is_null() {
                return;
            }
            let found = dlsym(library, name.as_ptr());
            if !found.is_null() {
                std::mem::transmute::<*mut c_void, SetHandler>(found)(Some(gone));
            }
        }
    }
}

/// Whether a source file belongs to the window library.
fn is_of_window(file: &str) -> bool {
    file.split(['/', '\\']).any(|part| part == "winit" || part.starts_with("winit-0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_window_library_is_meant() {
        assert!(is_of_window("registry/winit-0.30.13/src/platform_impl/linux/x11/window.rs"));
        assert!(is_of_window("vendor\\winit\\src\\window.rs"));
        assert!(!is_of_window("src/bin/motes/viewer/app.rs"));
        assert!(!is_of_window("registry/imgui-winit-support-0.13.0/src/lib.rs"));
        assert_eq!(guard(|| 7), Ok(7));
        assert!(catch_unwind(|| guard(|| panic!("our own"))).is_err());
    }
}
