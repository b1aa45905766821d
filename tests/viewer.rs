//! The viewer in a real window, under Xvfb: what a user does, and what is on the screen after it.
//!
//! A painter on a device in software is slow, so the suite shows it a choice of scenes and tabs. All of
//! them, as for the other painter: `MOTES_LONG=1 cargo test --release --test viewer`.
#![cfg(all(feature = "viewer", target_os = "linux"))]

#[path = "viewer/acts.rs"]
mod acts;
#[path = "viewer/display.rs"]
mod display;
#[path = "viewer/gone.rs"]
mod gone;
#[path = "viewer/hand.rs"]
mod hand;
#[path = "viewer/monkey.rs"]
mod monkey;
#[path = "viewer/picture.rs"]
mod picture;
#[path = "viewer/scene.rs"]
mod scene;
#[path = "viewer/session.rs"]
mod session;
#[cfg(feature = "vulkan")]
#[path = "viewer/vulkan.rs"]
mod vulkan;

use display::Display;
use hand::Hand;
use picture::{assert_panel, numbers, says, seen_in_place};
use scene::{GRAINS, PANELS, SCENE, particle, step};
use serde_json::Value;
use session::Session;
use std::time::Duration;

#[test]
fn every_scene_opens_and_moves() {
    let Some(session) = Session::start() else { return };
    let names: Vec<&str> = motes::Scene::builtin_names().collect();
    acts::scenes_open_and_move(&session, &names);
}

#[test]
fn particles_are_where_they_should_be() {
    let Some(session) = Session::start() else { return };
    acts::particles_are_where_they_should_be(&session);
}

#[test]
fn a_dragged_particle_follows_and_a_cut_cuts() {
    let Some(session) = Session::start() else { return };
    acts::a_dragged_particle_follows_and_a_cut_cuts(&session);
}

#[test]
fn pictures_and_films_show_the_scene() {
    let Some(session) = Session::start() else { return };
    acts::pictures_and_films_show_the_scene(&session);
}

#[test]
fn everything_can_be_switched_while_it_runs() {
    let Some(session) = Session::start() else { return };
    let mut script = String::from("play\nwait 10\n");
    for (k, solver) in ["seidel", "lockfree", "colored", "jacobi"].iter().enumerate() {
        script += &format!("key {}\nwait 8\nreport {solver}.json\n", k + 1);
    }
    script += "threads 1\nwait 8\nreport one.json\nthreads 3\nkey M\nkey V\nset iterations 17\n\
        wait 8\nreport three.json\nspeed 0\nwait 5\nkey Space\nwait 5\nreport still.json\n\
        wait 20\nreport later.json\nkey R\nwait 10\nreport reset.json\nkey N\nwait 10\n\
        report single.json\n";
    // A scene that a device in software has compared within a second or two.
    let few = session.write("few.toml", &GRAINS.replace("[8, 6, 4]", "[3, 2, 2]"));
    script += &format!("open {}\nclick 372 551\nwait 3\nclick 490 576\nwait 500\n", few.display());
    script += "screenshot bars.png\nreport bars.json\n";
    session.run("stairs", &script);
    let mut last = 0;
    for solver in ["seidel", "lockfree", "colored", "jacobi"] {
        let report = session.report(&format!("{solver}.json"));
        assert_eq!(report["solver"], solver);
        assert!(step(&report) > last, "{solver}: the state was lost");
        last = step(&report);
    }
    let (one, three) = (session.report("one.json"), session.report("three.json"));
    assert_eq!((one["threads"].as_u64(), three["threads"].as_u64()), (Some(1), Some(3)));
    assert!(step(&one) > last && step(&three) > step(&one));
    assert_eq!((three["method"].as_str(), three["iterations"].as_u64()), (Some("pbd"), Some(17)));
    assert_eq!(three["broad_phase"], "grid");
    let (still, later) = (session.report("still.json"), session.report("later.json"));
    assert_eq!((step(&still), still["playing"].as_bool()), (step(&later), Some(false)));
    let (reset, single) = (session.report("reset.json"), session.report("single.json"));
    assert_eq!((step(&reset), step(&single)), (0, 1));
    assert_eq!(reset["iterations"], 17, "a reset keeps the parameters");
    let compared = session.report("bars.json")["compared"].as_u64().unwrap() as usize;
    assert_eq!(compared, 2 + devices(), "one worker, all, and every device side by side");
}

/// Vulkan devices the viewer offers.
fn devices() -> usize {
    #[cfg(feature = "vulkan")]
    return motes::vulkan::harness::trial::usable().map_or(0, |found| found.len());
    #[cfg(not(feature = "vulkan"))]
    0
}

/// To a device and back: the state goes along, and a drag and a cut work there too.
#[test]
fn the_backend_is_switched_while_it_runs() {
    let Some(session) = Session::start() else { return };
    if devices() == 0 {
        return;
    }
    let scene = session.write("scene.toml", SCENE);
    let script = "key K\nplay\nwait 10\nreport cpu.json\nbackend vulkan\nwait 40\npause\nwait 10\n\
        report device.json\nscreenshot device.png\nplay\ndrag @95 525 262\ncut 300 240 760 240\nwait 20\n\
        pause\nwait 10\nreport cut.json\nplay\nbackend cpu\nwait 20\nreport back.json\n";
    session.run(scene.to_str().unwrap(), script);
    let [cpu, device, cut, back] =
        ["cpu.json", "device.json", "cut.json", "back.json"].map(|name| session.report(name));
    assert_eq!((cpu["backend"].as_str(), back["backend"].as_str()), (Some("cpu"), Some("cpu")));
    assert!(device["backend"].as_str().unwrap().starts_with("vulkan"), "{}", device["messages"]);
    let steps = [&cpu, &device, &cut, &back].map(step);
    assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}: the state was lost");
    let constraints = |report: &Value| report["constraints"].as_u64().unwrap();
    assert!(constraints(&cut) + 8 < constraints(&device), "nothing was cut on the device");
    let picture = session.picture("device.png");
    assert!(seen_in_place(&device, &picture, 0.0) > 0.9);
}

/// Two balls of two materials slide without friction until one material is given some, on every
/// backend. A reset keeps what was set, and a knob in the panel sets it too.
#[test]
fn materials_are_edited_while_it_runs() {
    const SLIDE: &str = "\
        [[material]]\nname = \"ice\"\nfriction = 0\n\
        [[material]]\nname = \"rubber\"\nfriction = 0\n\
        [[particles]]\npositions = [[0, 0.1, 0]]\nradius = 0.1\nvelocity = [1, 0, 0]\n\
        material = \"ice\"\n\
        [[particles]]\npositions = [[0, 0.1, 1]]\nradius = 0.1\nvelocity = [1, 0, 0]\n\
        material = \"rubber\"\n\
        [[collider]]\nshape = \"plane\"\n";
    let Some(session) = Session::start() else { return };
    let scene = session.write("slide.toml", SLIDE);
    let way = |report: &Value, id: u64| numbers(&particle(report, id)["position"])[0];
    let mut backends = vec!["cpu"];
    backends.extend((devices() > 0).then_some("vulkan"));
    for backend in backends {
        let script = format!(
            "backend {backend}\nsteps 12\nwait 20\nreport before.json\n\
             material rubber friction 4\nmaterial ice restitution 0.5\nsteps 48\nwait 40\n\
             report after.json\nkey R\nwait 120\nreport reset.json\nmove 140 600\nwheel -300\n\
             wait 10\ndrag 180 548 250 548\nwait 10\nreport dragged.json\n"
        );
        session.run(scene.to_str().unwrap(), &script);
        let [before, after, reset] =
            ["before.json", "after.json", "reset.json"].map(|name| session.report(name));
        assert!(after["backend"].as_str().unwrap().starts_with(backend), "{}", after["messages"]);
        assert_eq!([&before, &after, &reset].map(step), [12, 60, 0]);
        for ball in [0, 1] {
            assert!((way(&before, ball) - 0.2).abs() < 0.01, "{backend}: it slid freely");
        }
        assert!((way(&after, 0) - 1.0).abs() < 0.02, "{backend}: ice slides on");
        // mu = sqrt(4 x 0.4): it stops after v²/(2 mu g), some centimetres.
        assert!(way(&after, 1) < 0.3, "{backend}: rubber slid {} m", way(&after, 1));
        assert_eq!(before["materials"][1][1], 0.0, "{backend}");
        for report in [&after, &reset] {
            assert_eq!(report["materials"][1][1], 4.0, "{backend}");
            assert_eq!(report["materials"][0][2], 0.5, "{backend}");
        }
        // The sixth knob from the end of the panel is rubber's friction.
        let dragged = &session.report("dragged.json")["materials"];
        assert!(dragged[1][1].as_f64().unwrap() > 5.0, "{backend}: {dragged}");
    }
}

#[test]
fn keys_pins_balls_files_and_sizes() {
    let Some(session) = Session::start() else { return };
    let scene = session.write("scene.toml", SCENE);
    let other = session.write("other.toml", &SCENE.replace("columns = 10", "columns = 6"));
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n";
    let mesh = session.write("ramp.obj", triangle);
    let script = format!(
        "report a.json\nclick @50\nkey P\nwait 4\nreport pinned.json\nkey P\nwait 4\n\
         report free.json\nrightclick 640 250\nwait 4\nkey O\nwait 4\nreport more.json\n\
         drop {}\nwait 4\ndrop nothing.xyz\nreport mesh.json\ndrop {}\nwait 20\n\
         report other.json\nresize 1000 640\nreport size.json\nscreenshot size.png\n\
         key Tab\nscreenshot bare.png\nkey Tab\nkey F8\nkey F10\nkey F12\nwait 30\n\
         key F9\nsteps 6\nwait 2\nkey F9\nsteps 1\nreport last.json\n",
        mesh.display(),
        other.display()
    );
    session.run(scene.to_str().unwrap(), &script);
    let fixed = |name: &str| {
        let report = session.report(name);
        let id = report["selected"].as_u64().expect("a click selects");
        particle(&report, id)["fixed"].as_bool().unwrap()
    };
    assert!(fixed("pinned.json") && !fixed("free.json"));
    let count = |name: &str| session.report(name)["particle_count"].as_u64().unwrap();
    assert_eq!(count("a.json"), 164);
    assert_eq!(count("more.json"), 164 + 1 + 216, "a ball and a box of 6 x 6 x 6");
    let mesh = session.report("mesh.json");
    assert_eq!(mesh["colliders"], 2);
    assert!(says(&mesh, "drop a scene"), "what cannot be opened is said");
    assert_eq!(count("other.json"), 60 + 64);
    let report = session.report("size.json");
    let picture = session.picture("size.png");
    assert_eq!((picture.width, picture.height), (1000, 640));
    PANELS.iter().for_each(|panel| assert_panel(&report, &picture, panel, true));
    let bare = session.picture("bare.png");
    let run: [f64; 4] = numbers(&report["panels"]["run"]).try_into().unwrap();
    let written = |p: [u8; 3]| p.iter().all(|c| *c > 190);
    assert!(picture.share(run, written) > 0.005 && bare.share(run, written) < 0.001);
    for file in ["other_000000.profile.csv", "other_000000.profile.png", "other_000000.ply"] {
        assert!(session.exists(file), "{file}");
    }
    assert!(session.exists("other_000000.motes") && session.exists("other_000000.png"));
    assert!(says(&session.report("last.json"), "7 frames recorded"), "steps 0 to 6");
}

#[test]
fn the_mouse_and_the_keyboard_arrive() {
    let Some(mut hand) = Hand::open("cloth_hang", "software") else { return };
    hand.tool("key space");
    let (paused, first) = hand.screenshot();
    let (later, same) = hand.screenshot();
    assert!(paused > 0 && paused == later, "it ran before, and Space stopped it");
    let view = [276.0, 0.0, 752.0, 512.0];
    assert_eq!(first.differs(&same, view), 0.0);
    // The button Step, then a turn of the camera, the wheel, and the other theme.
    hand.tool("mousemove 134 41 sleep 0.2 click 1");
    let (stepped, after) = hand.screenshot();
    assert_eq!(stepped, paused + 1);
    hand.tool("mousemove 900 450 sleep 0.1 mousedown 1");
    hand.tool("mousemove 820 430");
    hand.tool("mouseup 1 click 4");
    let (_, turned) = hand.screenshot();
    assert!(after.differs(&turned, view) > 0.05, "the camera did not turn");
    hand.tool("key t");
    let (_, light) = hand.screenshot();
    let bright = |p: [u8; 3]| p.iter().all(|c| *c > 200);
    assert!(light.share(view, bright) > 0.4 && turned.share(view, bright) < 0.1);
    assert!(hand.alive());
}

#[test]
fn twice_the_scale_is_readable_too() {
    let Some(session) = Session::start().map(|s| s.scaled("2")) else { return };
    let script = "resize 2560 1440\nsteps 5\nreport a.json\nscreenshot a.png\n";
    session.run("tear", script);
    let report = session.report("a.json");
    assert_eq!(report["scale"], 2.0);
    let picture = session.picture("a.png");
    assert_eq!((picture.width, picture.height), (2560, 1440));
    PANELS.iter().for_each(|panel| assert_panel(&report, &picture, panel, true));
}

#[test]
fn every_tab_fits_a_wide_window() {
    let Some(display) = Display::sized(3840, 2160) else { return };
    acts::tabs_fit_a_wide_window(&Session::on(display), 12, 6, 6);
}

/// The size is kept, but the next screen may be smaller.
#[test]
fn a_kept_size_is_cut_to_the_screen() {
    let Some(display) = Display::sized(1900, 1100) else { return };
    let session = Session::on(display);
    session.run("tear", "resize 1800 1000\nwait 5\n");
    session.run("tear", "report same.json\n");
    let Some(small) = Display::sized(1280, 800) else { return };
    let session = session.moved_to(small);
    session.run("tear", "report cut.json\n");
    let size = |name: &str| numbers(&session.report(name)["size"]);
    assert_eq!(size("same.json"), [1800.0, 1000.0]);
    assert_eq!(size("cut.json"), [1280.0, 800.0]);
}

#[test]
fn slow_physics_does_not_stop_the_window() {
    let Some(session) = Session::start() else { return };
    // Some hundred milliseconds a step.
    let script = "set iterations 1250\nspeed 0\nplay\nwait 3\nreport a.json\nwait 40\n\
        report b.json\nclick 456 551\nwait 60\nreport c.json\n";
    session.run("cloth_hang", script);
    let [a, b, c] = ["a.json", "b.json", "c.json"].map(|name| session.report(name));
    let frames = |r: &Value| r["frames"].as_u64().unwrap();
    let (drawn, stepped) = (frames(&b) - frames(&a), step(&b) - step(&a));
    assert!(drawn > 2 * stepped, "{drawn} frames while {stepped} steps were taken");
    assert!(c["convergence"].as_u64() == Some(1), "the convergence panel measured nothing");
}

#[test]
fn settings_are_kept_and_broken_ones_set_aside() {
    let Some(session) = Session::start() else { return };
    session.run("tear", "key T\nkey C\nresize 900 600\nwait 5\n");
    session.run("tear", "report a.json\nscreenshot a.png\n");
    let (report, picture) = (session.report("a.json"), session.picture("a.png"));
    assert_eq!((picture.width, picture.height), (900, 600));
    assert_panel(&report, &picture, "run", false);
    session.write("config/motes/viewer.toml", "size = \"no\"\n[[[");
    session.run("tear", "report b.json\n");
    assert!(says(&session.report("b.json"), "settings were not read"));
    assert!(session.exists("config/motes/viewer.broken.toml"));
}

#[test]
fn wrong_scripts_and_lost_displays_are_told() {
    let Some(session) = Session::start() else { return };
    let output = session.try_run("tear", "jump", Duration::from_secs(60));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 1"));
    let output = session.try_run("nonsense", "wait 1", Duration::from_secs(60));
    assert_eq!(output.status.code(), Some(2));
    let script = session.write("script", "quit\n");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_motes"))
        .args(["view", "tear", "--script"])
        .arg(script)
        .env("DISPLAY", ":9999")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no window") && !said.contains("panicked"), "{said}");
}

#[test]
fn a_window_that_is_killed_ends_with_a_message() {
    gone::ends_with_a_message("windowkill");
}

#[test]
fn a_window_that_is_destroyed_ends_with_a_message() {
    gone::ends_with_a_message("windowclose");
}

#[test]
fn a_monkey_does_no_harm() {
    let Some(session) = Session::start() else { return };
    // A driver stays in memory once it is loaded; that must not look like a leak when it comes late.
    let driver = if devices() > 0 { "backend vulkan\nplay\nwait 40\n" } else { "" };
    monkey::does_no_harm(&session, driver, "software", 20.0);
}
