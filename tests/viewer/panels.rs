//! Panels in a real window: borders that are dragged, colours that are explained, steps that are told.

use super::picture::{numbers, says};
use super::scene::SCENE;
use super::session::Session;
use serde_json::Value;

fn area(report: &Value, panel: &str) -> Vec<f64> {
    numbers(&report["panels"][panel])
}

pub fn borders_are_dragged_and_kept() {
    let Some(session) = Session::start() else { return };
    // The left column, the right one, the strip below, and the borders within the columns.
    let script = "report a.json\ndrag 276 300 346 300\ndrag 1028 500 998 500\ndrag 700 512 700 432\n\
        drag 100 385 100 355\ndrag 1200 302 1200 402\nwait 5\nreport b.json\nscreenshot b.png\n";
    session.run("tear", script);
    session.run("tear", "report c.json\n");
    let [a, b, c] = ["a.json", "b.json", "c.json"].map(|name| session.report(name));
    assert_eq!((area(&a, "run"), area(&a, "view")[2]), (vec![0.0, 0.0, 276.0, 385.0], 752.0));
    let near = |found: f64, wanted: f64| (found - wanted).abs() <= 2.0;
    for report in [&b, &c] {
        let (run, scenes, graphs) =
            (area(report, "run"), area(report, "scenes"), area(report, "graphs"));
        assert!(near(run[2], 346.0) && near(run[3], 355.0), "{run:?}");
        assert!(near(scenes[0], 998.0) && near(scenes[3], 402.0), "{scenes:?}");
        assert!(near(graphs[1], 432.0) && near(graphs[2], 998.0 - 346.0), "{graphs:?}");
    }
    assert_eq!(b["eye"], a["eye"], "a border is no part of the scene");
    assert!(!says(&b, "thrown"));
}

/// A sheet that hangs by two corners is stretched there; the legend says what red means.
pub fn strain_is_measured_told_and_seen() {
    let Some(session) = Session::start() else { return };
    let scene = session.write("scene.toml", SCENE);
    let script = "key K\nset iterations 2\nsteps 30\ncolor strain\nwait 3\nreport a.json\n\
        screenshot strain.png\ncolor object\nwait 3\nreport b.json\nscreenshot object.png\n";
    session.run(scene.to_str().unwrap(), script);
    let (a, b) = (session.report("a.json"), session.report("b.json"));
    assert_eq!(a["color_range"][1], "%");
    let strain = |id: u64| {
        let all = a["particles"].as_array().unwrap();
        let of = |p: &&Value| p["id"].as_u64() == Some(id);
        all.iter().find(of).unwrap()["strain"].as_f64().unwrap()
    };
    // Particle 0 is the pinned corner, 95 is in the middle of the lower edge.
    assert!(strain(0) > 5.0 * strain(95).abs().max(0.01), "{} and {} %", strain(0), strain(95));
    assert!(b["particles"][0]["strain"].is_null() && b["color_range"].is_null());
    // Red at the upper end of the bar and blue at the lower one, where objects have only names.
    let view = area(&a, "view");
    let right = view[0] + view[2] - 10.0;
    let bar = |top: f64| [right - 12.0, view[1] + top, 10.0, 12.0];
    let red = |p: [u8; 3]| p[0] > 150 && p[0] > p[2] + 60;
    let blue = |p: [u8; 3]| p[2] > 150 && p[2] > p[0] + 60;
    let (strain, object) = (session.picture("strain.png"), session.picture("object.png"));
    assert!(strain.share(bar(30.0), red) > 0.9 && strain.share(bar(122.0), blue) > 0.9);
    assert!(object.share(bar(122.0), blue) < 0.1);
}
