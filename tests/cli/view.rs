//! `motes view` where there is no display.

use super::{Folder, text};
use std::process::{Command, Output};

#[test]
fn without_a_viewer_the_first_command_shows_something() {
    let folder = Folder::new();
    for args in [&["view", "mixture.toml"][..], &[]] {
        let output = Command::new(env!("CARGO_BIN_EXE_motes"))
            .args(args)
            .current_dir(folder.folder.path())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .output()
            .unwrap();
        let printed = text(&output.stdout);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(printed.contains("no display") && printed.contains("motes.png"), "{printed}");
        assert_eq!(folder.names(), ["mixture.toml", "motes.png"]);
        std::fs::remove_file(folder.folder.path().join("motes.png")).unwrap();
    }
}

/// `motes view` where there is no display.
fn view(folder: &Folder, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_motes"));
    command.arg("view").args(args).current_dir(folder.folder.path());
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").output().unwrap()
}

/// Who asks for a painter or a backend wants a window, not a picture of the end.
#[test]
fn a_painter_without_a_window_is_an_error() {
    for flag in [["--painter", "vulkan"], ["--backend", "cpu"]] {
        let output = view(&Folder::new(), &["cloth_hang", flag[0], flag[1]]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let begins = format!("error: {}", flag[0]);
        assert!(said.starts_with(&begins) && !said.contains("panicked"), "{said}");
    }
}

#[test]
fn view_takes_keys_and_threads_and_refuses_what_is_not_there() {
    let folder = Folder::new();
    let output = view(&folder, &["mixture.toml", "--set", "params.iterations=3", "--threads", "1"]);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(printed.contains("3 iterations") && printed.contains("on 1 thread"), "{printed}");
    for args in [&["missing.motes"][..], &["mixture.toml", "--set", "nothing.0=1"]] {
        let output = view(&folder, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
    }
}
