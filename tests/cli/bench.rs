//! `motes bench` and `motes converge`: tables, files and plots.

use super::{Folder, good, json};
use std::path::Path;

#[test]
fn bench_writes_json_and_csv() {
    let folder = Folder::new();
    let (as_json, as_csv) = (folder.path("b.json"), folder.path("b.csv"));
    let printed = good(&[
        "bench",
        &folder.scene,
        "--threads",
        "1,2",
        "--backend",
        "cpu",
        "--steps",
        "5",
        "--repeat",
        "2",
        "--json",
        &as_json,
        "--csv",
        &as_csv,
    ]);
    assert!(printed.contains("cpu x1 ms") && printed.contains("cpu x2 ms"), "{printed}");
    let list = json(Path::new(&as_json));
    assert_eq!(list.as_array().unwrap().len(), 2);
    assert_eq!(list[0]["hash"], list[1]["hash"]);
    let csv = std::fs::read_to_string(&as_csv).unwrap();
    assert!(csv.lines().all(|l| l.split(',').count() == 8), "{csv}");
    assert_eq!(csv.lines().filter(|l| l.contains(",step,")).count(), 2);
}

#[test]
fn converge_prints_draws_and_writes() {
    let folder = Folder::new();
    let (as_json, svg, png) = (folder.path("c.json"), folder.path("c.svg"), folder.path("c.png"));
    let printed = good(&[
        "converge",
        "--size",
        "12",
        "--iterations",
        "400",
        "--threads",
        "1,2",
        "--omega",
        "1,1.9",
        "--json",
        &as_json,
        "--plot",
        &svg,
    ]);
    assert!(printed.contains("not reached") && printed.contains("jacobi"), "{printed}");
    let report = json(Path::new(&as_json));
    assert_eq!(report["constraints"], 2 * 12 * 11 + 2 * 11 * 11);
    let curves = report["curves"].as_array().unwrap();
    assert_eq!(curves.len(), 2 + 3 * 2 * 2);
    for curve in curves {
        let lengths = ["residual", "ms"].map(|k| curve[k].as_array().unwrap().len());
        assert_eq!(lengths[0], lengths[1]);
    }
    assert!(std::fs::read_to_string(&svg).unwrap().ends_with("</svg>\n"));
    good(&["converge", "--size", "6", "--iterations", "5", "--plot", &png]);
    assert_eq!(&std::fs::read(&png).unwrap()[..4], b"\x89PNG");
}

/// The rows of passes and of what is between them add up to the mean step, in every column.
#[test]
fn the_table_of_bench_adds_up() {
    let folder = Folder::new();
    let few = ["--steps", "9", "--repeat", "1", "--backend", "cpu", "--threads", "1,2"];
    let printed = good(&[&["bench", folder.scene.as_str()], &few[..]].concat());
    for column in [1, 2] {
        let number = |line: &str| -> Option<f64> {
            // From the right: names have blanks.
            line.split_whitespace().rev().nth(2 - column)?.replace(',', "").parse().ok()
        };
        let mut lines = printed.lines().skip_while(|line| !line.contains("predict"));
        let parts: Vec<f64> = lines
            .by_ref()
            .take_while(|line| !line.contains("(between passes)"))
            .map(|line| number(line).unwrap_or(0.0))
            .collect();
        assert!(parts.len() > 5, "{printed}");
        let value = |name: &str| {
            number(printed.lines().find(|line| line.contains(name)).expect(name)).unwrap()
        };
        let (sum, step) =
            (parts.iter().sum::<f64>() + value("(between passes)"), value("step, mean"));
        // Three digits of each are shown.
        assert!((sum / step - 1.0).abs() < 0.02, "{sum} {step}\n{printed}");
    }
}
