//! Working with scenes in a real window: files that change, files that fail, edits that are taken
//! back, things that are placed with the mouse.

use super::display::Display;
use super::picture::{numbers, says};
use super::scene::{SCENE, particle, step};
use super::session::Session;
use serde_json::Value;
use std::time::{Duration, Instant};

pub fn count(report: &Value) -> u64 {
    report["particle_count"].as_u64().unwrap()
}

/// Waits for a file that a script writes.
fn wait_for(session: &Session, name: &str) {
    let started = Instant::now();
    while !session.exists(name) {
        assert!(started.elapsed() < Duration::from_secs(60), "no {name} came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn a_file_is_read_again_and_the_camera_stays() {
    let Some(session) = Session::start() else { return };
    let scene = session.write("scene.toml", SCENE);
    // The camera is turned; the file changes on disk; it is read again by hand; it is broken.
    let script = "steps 5\ndrag 640 480 700 440\nreport a.json\nhand changed\nwait 80\n\
        report b.json\nkey F5\nwait 20\nreport c.json\nhand broken\nwait 80\nreport d.json\n\
        key R\nwait 20\nreport e.json\n";
    let viewer = session.begin(scene.to_str().unwrap(), script);
    wait_for(&session, "a.json");
    session.write("scene.toml", &SCENE.replace("columns = 10", "columns = 6"));
    session.write("changed", "");
    wait_for(&session, "c.json");
    session.write("scene.toml", &SCENE.replace("columns = 10", "columns = \"six\""));
    session.write("broken", "");
    Session::check(&session.end(viewer, Duration::from_secs(120)), script);
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|n| session.report(&format!("{n}.json")));
    assert_eq!([&a, &b, &c, &d, &e].map(count), [164, 124, 124, 124, 124]);
    assert_eq!((step(&a), step(&b)), (5, 0));
    assert!(says(&b, "has changed and is read again"), "{}", b["messages"]);
    assert!([&b, &c, &d].iter().all(|report| report["eye"] == a["eye"]), "the camera moved");
    // What is broken is told, and the scene before it runs on.
    assert!(says(&d, "columns") && d["scene"] == a["scene"], "{}", d["messages"]);
}

/// The scene names the mesh; the file of the mesh alone is changed, and the scene shows it.
pub fn a_mesh_that_changes_is_read_again() {
    let Some(session) = Session::start() else { return };
    let ramp = |high: f64| format!("v -1 0 -1\nv 1 {high} -1\nv 0 {high} 1\nf 1 2 3\n");
    let mesh =
        "[[collider]]\nshape = 'mesh'\nmesh = 'ramp.obj'\nclosed = false\nthickness = 0.02\n";
    session.write("ramp.obj", &ramp(0.1));
    let scene = session.write("scene.toml", &format!("{SCENE}{mesh}"));
    let script = "steps 5\ndrag 640 480 700 440\nreport a.json\nscreenshot a.png\nhand changed\n\
        wait 80\nreport b.json\nscreenshot b.png\n";
    let viewer = session.begin(scene.to_str().unwrap(), script);
    wait_for(&session, "a.png");
    session.write("ramp.obj", &ramp(1.25));
    session.write("changed", "");
    Session::check(&session.end(viewer, Duration::from_secs(120)), script);
    let [a, b] = ["a", "b"].map(|n| session.report(&format!("{n}.json")));
    assert_eq!((step(&a), step(&b)), (5, 0), "{}", b["messages"]);
    assert!(says(&b, "ramp.obj has changed and is read again"), "{}", b["messages"]);
    assert!(!says(&a, "has changed") && a["eye"] == b["eye"]);
    let view: [f64; 4] = numbers(&b["panels"]["view"]).try_into().unwrap();
    let seen = session.picture("a.png").differs(&session.picture("b.png"), view);
    assert!(seen > 0.02, "{seen} of the picture shows it");
}

pub fn a_file_that_fails_leaves_the_scene() {
    let Some(session) = Session::start() else { return };
    let bad = session.write("bad.toml", "[[cloth]]\ncolumns = -3\n");
    let state = session.write("bad.motes", "not a state");
    let script = format!(
        "steps 7\nreport a.json\ndrop {}\nwait 5\nreport b.json\nclick 540 551\nwait 3\n\
         drop {}\nwait 5\nreport c.json\nsteps 1\nreport d.json\nkey R\nwait 20\nreport e.json\n",
        bad.display(),
        state.display()
    );
    session.run("stairs", &script);
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|n| session.report(&format!("{n}.json")));
    assert!(says(&b, "bad.toml") && says(&c, "bad.motes"), "{}", c["messages"]);
    for report in [&b, &c, &d, &e] {
        assert_eq!((&report["scene"], count(report)), (&a["scene"], count(&a)));
    }
    assert_eq!([&a, &b, &c, &d, &e].map(step), [7, 7, 7, 8, 0]);
}

pub fn files_that_were_opened_are_kept() {
    let Some(session) = Session::start() else { return };
    let [one, two] = ["one.toml", "two.toml"].map(|name| session.write(name, SCENE));
    session
        .run(one.to_str().unwrap(), &format!("drop {}\nwait 30\nreport a.json\n", two.display()));
    session.run(
        "tear",
        "report b.json\nkey G\nwait 30\nreport c.json\nkey G\nwait 30\nreport d.json\n",
    );
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|n| session.report(&format!("{n}.json")));
    let names = |report: &Value| -> Vec<String> {
        let all = report["recent"].as_array().unwrap().iter();
        all.map(|path| path.as_str().unwrap().rsplit('/').next().unwrap().into()).collect()
    };
    assert_eq!(names(&a), ["two.toml", "one.toml"]);
    assert_eq!(names(&b), names(&a), "built-in scenes are no files");
    assert!(c["scene"].as_str().unwrap().ends_with("two.toml"));
    assert!(d["scene"].as_str().unwrap().ends_with("one.toml"));
}

pub fn edits_are_taken_back_and_done_again() {
    let Some(session) = Session::start() else { return };
    let scene = session.write("scene.toml", SCENE);
    let script = "steps 5\nreport a.json\nrightclick 640 250\nwait 6\nreport ball.json\n\
        cut 300 240 760 240\nwait 6\nreport cut.json\nclick 900 470\nwait 6\nreport floor.json\n\
        key Delete\nwait 6\nreport gone.json\nkey U\nwait 12\nreport u1.json\nkey U\nwait 12\n\
        report u2.json\nkey U\nwait 12\nreport u3.json\nkey U\nwait 12\nreport u4.json\nkey Y\n\
        wait 12\nkey Y\nwait 12\nreport y2.json\nsteps 3\nreport end.json\n";
    session.run(scene.to_str().unwrap(), script);
    let report = |name: &str| session.report(&format!("{name}.json"));
    let held = |report: &Value| {
        ["particle_count", "constraints", "colliders"].map(|key| report[key].as_u64().unwrap())
    };
    let [a, ball, cut, floor, gone] = ["a", "ball", "cut", "floor", "gone"].map(report);
    assert_eq!(held(&ball)[0], held(&a)[0] + 1);
    assert!(held(&cut)[1] + 8 < held(&ball)[1], "nothing was cut");
    assert_eq!(floor["obstacle"], 0, "a click selects the floor");
    assert_eq!(held(&gone)[2], 0, "{}", gone["messages"]);
    let [u1, u2, u3, u4, y2, end] = ["u1", "u2", "u3", "u4", "y2", "end"].map(report);
    assert_eq!([&u1, &u2, &u3].map(held), [&cut, &ball, &a].map(held));
    assert_eq!(numbers(&u3["edits"]), [0.0, 3.0]);
    assert_eq!(held(&u4), held(&a));
    assert!(says(&u4, "no edit to take back"), "{}", u4["messages"]);
    assert_eq!(held(&y2), held(&cut));
    assert!(step(&end) == step(&y2) + 3 && end["eye"] == a["eye"]);
}

/// A drag gives back the world before it; a parameter goes back alone, and the scene goes on.
pub fn drags_and_parameters_are_taken_back() {
    let Some(session) = Session::start() else { return };
    let scene = session.write("scene.toml", SCENE);
    let pull = "move @95\nwait 2\nmove @95\npress left\nmove 525 262\nsteps 20\n";
    // The last drag is taken back and done again while the button is down.
    let script = format!(
        "steps 5\nreport a.json\n{pull}release left\nwait 6\nreport dragged.json\nkey U\nwait 12\n\
         report u1.json\nkey Y\nwait 12\nreport y1.json\nset iterations 33\nwait 3\n\
         set iterations 34\nsteps 2\nreport set.json\nkey U\nwait 12\nreport u2.json\nkey Y\n\
         wait 12\nreport y2.json\nkey U\nwait 12\nkey U\nwait 12\nreport u3.json\n\
         {pull}report held.json\nkey U\nwait 12\nkey Y\nwait 12\nrelease left\nwait 6\n\
         report free.json\n"
    );
    session.run(scene.to_str().unwrap(), &script);
    let report = |name: &str| session.report(&format!("{name}.json"));
    let [a, dragged, u1, y1] = ["a", "dragged", "u1", "y1"].map(report);
    let place = |report: &Value| numbers(&particle(report, 95)["position"]);
    assert_eq!([&a, &dragged, &u1, &y1].map(step), [5, 25, 5, 25]);
    assert_eq!(numbers(&dragged["edits"]), [1.0, 0.0], "a drag is one edit");
    assert!(place(&u1) == place(&a) && place(&y1) == place(&dragged) && place(&a) != place(&y1));
    let [set, u2, y2, u3] = ["set", "u2", "y2", "u3"].map(report);
    let edits = [&set, &u2, &y2, &u3].map(|report| numbers(&report["edits"]));
    assert_eq!(edits, [[2.0, 0.0], [1.0, 1.0], [2.0, 0.0], [0.0, 2.0]], "a knob is one edit");
    let iterations = [&a, &set, &u2, &y2].map(|report| report["iterations"].as_u64().unwrap());
    assert_eq!(iterations, [20, 34, 20, 34]);
    assert_eq!([&set, &u2, &y2, &u3].map(step), [27, 27, 27, 5]);
    // The mouse holds a particle with a constraint, which does not come back without the mouse.
    let [held, free] = ["held", "free"].map(report);
    let constraints = |report: &Value| report["constraints"].as_u64().unwrap();
    assert_eq!(constraints(&held), constraints(&a) + 1);
    assert_eq!((step(&free), constraints(&free)), (step(&held), constraints(&a)));
}

pub fn things_are_placed_with_the_mouse() {
    let Some(display) = Display::start() else { return };
    let session = Session::on(display);
    let scene = session.write("scene.toml", SCENE);
    // A box on the floor, and a mesh on the block; Escape ends it.
    let script = "place box 0 3 0 0.05\nkey U\nwait 12\nreport a.json\nkey X\nmove 900 440\nwait 3\n\
        report aim.json\nscreenshot aim.png\nclick 900 440\nwait 6\nreport b.json\n\
        key Escape\nclick 820 440\nwait 6\nreport c.json\nplace grains 0 2 0 0.05\nreport d.json\n";
    session.run(scene.to_str().unwrap(), script);
    let [a, aim, b, c, d] =
        ["a", "aim", "b", "c", "d"].map(|n| session.report(&format!("{n}.json")));
    assert_eq!([&a, &aim, &b, &c, &d].map(count), [164, 164, 380, 380, 596]);
    // Its lowest particles touch the floor: 5 spaces and two radii are 0.3 m.
    let at = numbers(&aim["place_at"]);
    assert!((at[1] - 0.15).abs() < 0.01, "{at:?}");
    let placed: Vec<Vec<f64>> = b["particles"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|p| p["id"].as_u64().unwrap() >= 164)
        .map(|p| numbers(&p["position"]))
        .collect();
    let least = placed.iter().map(|p| p[1]).fold(f64::MAX, f64::min);
    assert!((least - 0.025).abs() < 0.01, "its lowest particle is at {least} m");
    let middle = placed.iter().map(|p| p[0]).sum::<f64>() / placed.len() as f64;
    assert!((middle - at[0]).abs() < 0.05, "{middle} m, not {} m", at[0]);
    // The outline is seen where it is.
    let yellow = |p: [u8; 3]| p[0] > 180 && p[1] > 150 && p[2] < 120;
    let around = [840.0, 360.0, 120.0, 120.0];
    let [with, without] = [session.picture("aim.png").share(around, yellow), 0.0];
    assert!(with > without + 0.005, "{with} of it is outline");
}
