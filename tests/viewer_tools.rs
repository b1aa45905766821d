//! The viewer's tools in a real window, under Xvfb: what is placed lies where it was put, what is
//! measured is right, and a real hand is answered at once.
#![cfg(all(feature = "viewer", target_os = "linux"))]

#[allow(dead_code)] // what the screen itself shows is looked at in tests/viewer.rs
#[path = "viewer/display.rs"]
mod display;
#[allow(dead_code)] // each test uses its part of these
#[path = "viewer/hand.rs"]
mod hand;
#[path = "viewer/panels.rs"]
mod panels;
#[allow(dead_code)]
#[path = "viewer/picture.rs"]
mod picture;
#[allow(dead_code)]
#[path = "viewer/scene.rs"]
mod scene;
#[path = "viewer/scenes_work.rs"]
mod scenes_work;
#[allow(dead_code)]
#[path = "viewer/session.rs"]
mod session;

use picture::{numbers, says, seen_in_place};
use scenes_work::count;
use serde_json::Value;
use session::Session;
use std::time::{Duration, Instant};

/// A block of 8 x 8 x 8 particles 0.1 m apart, 800 kg/m³, that floats.
const BLOCK: &str = r#"
    title = "a block"
    [params]
    gravity = [0, 0, 0]
    [[box]]
    counts = [8, 8, 8]
    spacing = 0.1
    radius = 0.05
    mass = 0.8
    center = [0, 1, 0]
    [[collider]]
    shape = "plane"
"#;

/// A cube with corners at ±0.5 m.
const CUBE: &str = "\
    v -.5 -.5 -.5\nv .5 -.5 -.5\nv .5 .5 -.5\nv -.5 .5 -.5\n\
    v -.5 -.5 .5\nv .5 -.5 .5\nv .5 .5 .5\nv -.5 .5 .5\n\
    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// Of the particles a report names: the smallest value of something.
fn least(report: &Value, of: impl Fn(&Value) -> f64) -> f64 {
    report["particles"].as_array().unwrap().iter().map(of).fold(f64::INFINITY, f64::min)
}

#[test]
fn density_is_measured_told_and_seen() {
    let Some(session) = Session::start() else { return };
    let scene = session.write("block.toml", BLOCK);
    let script = "key K\nsteps 1\nreport before.json\ncolor density\nreport a.json\n\
        screenshot a.png\nsteps 3\nreport b.json\n";
    session.run(scene.to_str().unwrap(), script);
    let before = session.report("before.json");
    assert!(before["particles"][0]["density"].is_null(), "nobody asked for it yet");
    for name in ["a.json", "b.json"] {
        let report = session.report(name);
        let particles = report["particles"].as_array().unwrap();
        let inside = |p: &&Value| {
            let at = numbers(&p["position"]);
            [at[0], at[1] - 1.0, at[2]].iter().all(|v| v.abs() < 0.2)
        };
        let density = |p: &Value| p["density"].as_f64().unwrap();
        let middle: Vec<f64> = particles.iter().filter(inside).map(density).collect();
        assert!(middle.len() > 5, "{} particles are told of", middle.len());
        assert!(middle.iter().all(|d| (d / 800.0 - 1.0).abs() < 0.03), "{name}: {middle:?}");
        // The control: at the surface there is less around.
        assert!(least(&report, density) < 500.0);
        let range = &report["color_range"];
        assert_eq!(range[1], "kg/m³");
        let high = range[0][1].as_f64().unwrap();
        assert!((high / 800.0 - 1.0).abs() < 0.03, "the legend ends at {high}");
    }
    let (report, picture) = (session.report("a.json"), session.picture("a.png"));
    assert!(seen_in_place(&report, &picture, 0.0) > 0.9);
}

#[test]
fn a_mesh_is_placed_by_its_file_and_carries() {
    let Some(session) = Session::start() else { return };
    let floats = "gravity = [0, 0, 0]";
    let falls = BLOCK.replace(floats, "substeps = 4").replace("8, 8, 8", "3, 3, 3");
    let scene = session.write("block.toml", &falls.replace("[0, 1, 0]", "[0, 3, 0]"));
    let cube = session.write("cube.obj", CUBE);
    let bad = session.write("bad.obj", "v 0 0 0\nv 1 0 0\nv 0 one 0\nf 1 2 3\n");
    // Twice its size it reaches from 0.2 to 2.2 m. The control runs without it.
    let script = format!(
        "steps 1\nscreenshot a.png\nplace {} 0.1 1.2 0 2\nreport placed.json\nscreenshot b.png\n\
         steps 150\nreport rest.json\nopen {}\nsteps 151\nreport control.json\n\
         place {} 0 0 0 1\nreport bad.json\n",
        cube.display(),
        scene.display(),
        bad.display()
    );
    session.run(scene.to_str().unwrap(), &script);
    let placed = session.report("placed.json");
    assert_eq!(placed["colliders"], 2);
    let place = numbers(&placed["collider_places"][1]);
    let apart = place.iter().zip([0.1, 1.2, 0.0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-6, "{place:?}");
    assert!(says(&placed, "an obstacle of 12 triangles"));
    let view: [f64; 4] = numbers(&placed["panels"]["view"]).try_into().unwrap();
    let seen = session.picture("a.png").differs(&session.picture("b.png"), view);
    assert!(seen > 0.02, "{seen} of the picture shows it");
    let height = |p: &Value| p["position"][1].as_f64().unwrap();
    let (rest, control) = (
        least(&session.report("rest.json"), height),
        least(&session.report("control.json"), height),
    );
    assert!((rest - 2.25).abs() < 0.01, "its lowest particle is at {rest} m");
    assert!((control - 0.05).abs() < 0.01, "without the mesh at {control} m");
    let bad = session.report("bad.json");
    assert_eq!(bad["colliders"], 1);
    assert!(says(&bad, "bad.obj:3") && says(&bad, "give metres"), "{}", bad["messages"]);
}

#[test]
fn a_mesh_is_placed_as_a_rigid_body() {
    let Some(session) = Session::start() else { return };
    let scene = session.write("block.toml", BLOCK);
    let cube = session.write("cube.obj", CUBE);
    let script = format!(
        "steps 1\nreport a.json\nscreenshot a.png\nplace rigid-mesh 0.1 3 0 0.5\nreport b.json\n\
         screenshot b.png\nplace rigid-block 1 3 0 0.1\nreport c.json\nsteps 30\nreport d.json\n\
         key Escape\nclick 645 300\nwait 6\nkey Shift+Delete\nwait 6\nreport gone.json\n\
         drop {}\nwait 5\nreport e.json\n",
        cube.display()
    );
    session.run(scene.to_str().unwrap(), &script);
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|n| session.report(&format!("{n}.json")));
    assert!(says(&b, "placed a rigid mesh of"), "{}", b["messages"]);
    assert!(says(&c, "placed a rigid block of 216 particles"), "{}", c["messages"]);
    assert!(count(&b) > count(&a) + 300 && count(&c) == count(&b) + 216);
    assert_eq!(count(&d), count(&c));
    let gone = session.report("gone.json");
    assert!(says(&gone, "removed, 512 particles"), "{}", gone["messages"]);
    assert_eq!(count(&gone), count(&d) - 512);
    // A file goes by what is chosen under Place, which the script's words do not change.
    assert_eq!(e["colliders"].as_u64(), a["colliders"].as_u64().map(|n| n + 1));
    let view: [f64; 4] = numbers(&b["panels"]["view"]).try_into().unwrap();
    let seen = session.picture("a.png").differs(&session.picture("b.png"), view);
    assert!(seen > 0.005, "{seen} of the picture shows it");
}

#[test]
fn a_path_is_typed_into_the_panel() {
    let Some(session) = Session::start() else { return };
    let cube = session.write("cube.obj", CUBE);
    // Dropped, so the panel has it; then the tab Place, a click behind the path, and the button.
    let script = format!(
        "drop {}\nwait 4\nreport dropped.json\nclick 1118 340\nwait 3\nscreenshot place.png\n\
         click 1055 516\nwait 6\nreport again.json\nclick 1160 416\nwait 3\ntype .old\nwait 3\n\
         click 1055 516\nwait 6\nreport typed.json\n",
        cube.display()
    );
    session.run("tear", &script);
    let [dropped, again, typed] =
        ["dropped.json", "again.json", "typed.json"].map(|name| session.report(name));
    let count = |report: &Value| report["colliders"].as_u64().unwrap();
    assert!(says(&dropped, "an obstacle of 12 triangles"), "{}", dropped["messages"]);
    let last = numbers(&dropped["collider_places"][count(&dropped) as usize - 1]);
    assert_eq!(last, [0.0, 0.0, 0.0], "where the file has it");
    assert_eq!(count(&again), count(&dropped) + 1, "the button places it once more");
    let last = numbers(&again["collider_places"][count(&again) as usize - 1]);
    assert!(last[1] > 1.0, "above the scene: {last:?}");
    assert_eq!(count(&typed), count(&again));
    assert!(says(&typed, ".old") && says(&typed, "check the spelling"), "{}", typed["messages"]);
}

/// Keys, drags, clicks and the wheel of a real hand while a step takes a good part of a second:
/// every picture that an input changes comes within two frames. That the count can be larger is
/// shown beside it (`viewer/answers.rs`).
#[test]
fn a_hand_is_answered_within_two_frames() {
    let Some(session) = Session::start() else { return };
    if !hand::is_here() {
        return;
    }
    let script = "set iterations 30000\nspeed 0\nplay\nwait 5\nreport ready.json\nhand done\n\
        report end.json\n";
    let viewer = session.begin("cloth_hang", script);
    let started = Instant::now();
    while !session.exists("ready.json") {
        assert!(started.elapsed() < Duration::from_secs(120), "no window came");
        std::thread::sleep(Duration::from_millis(20));
    }
    let tool = |line: &str| hand::tool(&session.display, line);
    tool("search --sync --onlyvisible --name motes windowfocus sleep 0.5");
    let keys = ["t", "l", "k", "c", "question", "Escape", "z", "z", "equal", "minus", "t"];
    keys.iter().for_each(|key| tool(&format!("key {key}")));
    // The camera turns with every move; the wheel; flying for a while.
    tool("mousemove 900 440 sleep 0.2 mousedown 1");
    (1..8).for_each(|k| tool(&format!("mousemove {} {}", 900 - 9 * k, 440 - 3 * k)));
    tool("mouseup 1");
    tool("click 4");
    tool("keydown w sleep 0.3 keyup w");
    // Buttons act when they are let go.
    for at in ["47 41", "47 41", "16 355"] {
        tool(&format!("mousemove {at} sleep 0.3 mousedown 1 sleep 0.3 mouseup 1 sleep 0.3"));
    }
    session.write("done", "");
    Session::check(&session.end(viewer, Duration::from_secs(120)), script);
    let (ready, end) = (session.report("ready.json"), session.report("end.json"));
    let drawn = end["frames"].as_u64().unwrap() - ready["frames"].as_u64().unwrap();
    let steps = end["step"].as_u64().unwrap() - ready["step"].as_u64().unwrap();
    assert!(drawn > 6 * steps, "{steps} steps in {drawn} frames: the scene is not heavy");
    let inputs = &end["inputs"];
    println!("{inputs}, {drawn} frames, {steps} steps");
    assert!(inputs["answered"].as_u64().unwrap() >= keys.len() as u64 + 12, "{inputs}");
    let most = inputs["frames_most"].as_u64().unwrap();
    assert!((1..=2).contains(&most), "{inputs}");
}

/// A hand that types faster than frames are drawn: 100 000 stones are painted while they fall.
/// Everything arrives, in order, and soon; what is written goes nowhere else.
#[test]
fn typing_is_faster_than_frames() {
    let Some(session) = Session::start() else { return };
    if !hand::is_here() {
        return;
    }
    let cube = session.write("cube.obj", CUBE);
    // The tab Place is opened, a hand writes into its field, and the button places what is written.
    let script = format!(
        "drop {}\nwait 4\nclick 1118 340\nwait 3\nplay\nwait 3\nreport ready.json\nhand done\n\
         report end.json\nclick 1055 516\nwait 8\nreport placed.json\n",
        cube.display()
    );
    let viewer = session.begin("grains_box", &script);
    let started = Instant::now();
    while !session.exists("ready.json") {
        assert!(started.elapsed() < Duration::from_secs(120), "no window came");
        std::thread::sleep(Duration::from_millis(20));
    }
    let tool = |line: &str| hand::tool(&session.display, line);
    tool("search --sync --onlyvisible --name motes windowfocus sleep 0.5");
    // The press and the first letters may fall into one frame.
    tool("mousemove 1160 416 click 1 type --delay 1 _is_replaced_by");
    tool("key --delay 1 ctrl+a");
    tool("type --delay 1 meshes/one_of_many_rabbitss");
    tool("key --delay 1 BackSpace");
    tool("type --delay 1 .obj");
    std::thread::sleep(Duration::from_millis(400));
    session.write("done", "");
    Session::check(&session.end(viewer, Duration::from_secs(120)), &script);
    let [ready, end, placed] =
        ["ready.json", "end.json", "placed.json"].map(|name| session.report(name));
    assert_eq!(end["place_file"], "meshes/one_of_many_rabbits.obj");
    let looks = ["threads", "solver", "painter", "size", "particle_count"];
    looks.iter().for_each(|key| assert_eq!(ready[key], end[key], "{key} was not meant"));
    assert!(says(&placed, "meshes/one_of_many_rabbits.obj"), "{}", placed["messages"]);
}

#[test]
fn a_comparison_can_be_stopped() {
    let Some(session) = Session::start() else { return };
    // Some tenths of a second a step, 60 of them on each backend; the second click ends it.
    let script = "set iterations 200\nset substeps 10\nclick 372 551\nwait 3\nclick 480 576\n\
        wait 5\nreport a.json\nclick 480 576\nwait 200\nreport b.json\n";
    session.run("cloth_hang", script);
    let (a, b) = (session.report("a.json"), session.report("b.json"));
    assert_eq!((a["comparing"].as_bool(), b["comparing"].as_bool()), (Some(true), Some(false)));
    assert!(b["compared"].is_null(), "none of them was done: {}", b["compared"]);
}

#[test]
fn a_file_is_read_again_and_the_camera_stays() {
    scenes_work::a_file_is_read_again_and_the_camera_stays();
}

#[test]
fn a_mesh_that_changes_is_read_again() {
    scenes_work::a_mesh_that_changes_is_read_again();
}

#[test]
fn a_file_that_fails_leaves_the_scene() {
    scenes_work::a_file_that_fails_leaves_the_scene();
}

#[test]
fn files_that_were_opened_are_kept() {
    scenes_work::files_that_were_opened_are_kept();
}

#[test]
fn edits_are_taken_back_and_done_again() {
    scenes_work::edits_are_taken_back_and_done_again();
}

#[test]
fn drags_and_parameters_are_taken_back() {
    scenes_work::drags_and_parameters_are_taken_back();
}

#[test]
fn things_are_placed_with_the_mouse() {
    scenes_work::things_are_placed_with_the_mouse();
}

#[test]
fn borders_are_dragged_and_kept() {
    panels::borders_are_dragged_and_kept();
}

#[test]
fn strain_is_measured_told_and_seen() {
    panels::strain_is_measured_told_and_seen();
}
