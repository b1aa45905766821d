//! The programs of `examples/` run, and print what a reader expects of them.

use std::path::Path;
use std::process::Command;

/// What an example prints. `cargo test` builds the examples along with the tests, and puts them
/// beside the folder this test lies in.
fn printed(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap();
    let program = built.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{name}.rs"));
    let written = |path: &Path| path.metadata().and_then(|m| m.modified());
    assert!(
        written(&program).is_ok_and(|built| built >= written(&source).unwrap()),
        "{name} is not built as it stands; `cargo build --examples` in this test's profile helps",
    );
    let out = Command::new(&program).output().unwrap();
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && errors.is_empty(), "{name}: {} {errors}", out.status);
    String::from_utf8(out.stdout).unwrap()
}

/// The numbers in a line, in order.
fn numbers(line: &str) -> Vec<f64> {
    let words = line.split(|c: char| !(c.is_ascii_digit() || ".-".contains(c)));
    words.filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn the_cloth_hangs() {
    let text = printed("cloth");
    let [seconds, down] = numbers(&text)[..] else { panic!("{text}") };
    assert_eq!(seconds, 2.0);
    // It is 0.95 m long, began level, and still swings.
    assert!((0.4..1.0).contains(&down), "{text}");
}

#[test]
fn the_sheet_tears() {
    let text = printed("tearing");
    let lines: Vec<&str> = text.lines().collect();
    let (last, broken) = lines.split_last().unwrap();
    let broken: Vec<f64> = broken.iter().map(|line| numbers(line)[1]).collect();
    assert!(broken.len() == 4 && broken.is_sorted(), "{text}");
    let broken = broken[3];
    let [left, whole] = numbers(last)[..] else { panic!("{last}") };
    assert_eq!(left + broken, whole, "{text}");
    // A tear across the sheet takes a bond and two diagonals of each column, but not all there is.
    assert!(broken >= 30.0 && left > 0.5 * whole, "{text}");
}

#[test]
fn the_flag_is_dragged_cut_and_taken_back() {
    let text = printed("custom_loop");
    let [dragged, cut, whole] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    let [x, y, z] = numbers(dragged)[..] else { panic!("{dragged}") };
    let aim = [0.9, 0.23, 0.49];
    assert!([x, y, z].iter().zip(aim).all(|(at, aim)| (at - aim).abs() < 0.1), "{dragged}");
    let [bonds, _, fallen, _] = numbers(cut)[..] else { panic!("{cut}") };
    // One bond and two diagonals for each row; then a second of free fall.
    assert!(bonds >= 16.0 && fallen < -3.0, "{cut}");
    let [_, swung, _] = numbers(whole)[..] else { panic!("{whole}") };
    assert!((-1.5..0.0).contains(&swung), "{whole}");
}
