//! The viewer painted by a Vulkan device, in a real window under Xvfb, with the validation layer
//! listening: whatever it says fails the test. Needs a device, as `tests/vulkan.rs` does.

use super::acts;
use super::display::Display;
use super::hand::Hand;
use super::picture::{assert_panel, numbers, says, seen_in_place};
use super::scene::{GRAINS, PANELS, SCENE, step};
use super::session::Session;
use motes::vulkan::harness::trial::usable;
use serde_json::Value;
use std::time::Duration;

fn start() -> Option<Session> {
    usable()?;
    Session::start().map(|session| session.painted(Some("vulkan")))
}

fn painter(report: &Value) -> &str {
    report["painter"].as_str().unwrap()
}

fn by_vulkan(report: &Value) -> bool {
    painter(report).starts_with("vulkan: ")
}

fn is_long() -> bool {
    std::env::var("MOTES_LONG").is_ok_and(|v| v == "1")
}

/// Cloth, bodies, grains, and all of them with obstacles; the other painter shows every scene.
#[test]
fn scenes_open_and_move() {
    let Some(session) = start() else { return };
    let all = motes::Scene::builtin_names();
    let some = ["cloth_hang", "curtain", "sand_heap", "tear"];
    let names: Vec<&str> = all.filter(|name| is_long() || some.contains(name)).collect();
    acts::scenes_open_and_move(&session, &names);
    assert!(by_vulkan(&session.report("tear.json")));
}

#[test]
fn particles_are_where_they_should_be() {
    let Some(session) = start() else { return };
    acts::particles_are_where_they_should_be(&session);
    assert!(by_vulkan(&session.report("b.json")));
}

#[test]
fn a_dragged_particle_follows_and_a_cut_cuts() {
    let Some(session) = start() else { return };
    acts::a_dragged_particle_follows_and_a_cut_cuts(&session);
}

#[test]
fn pictures_and_films_show_the_scene() {
    let Some(session) = start() else { return };
    acts::pictures_and_films_show_the_scene(&session);
    assert!(by_vulkan(&session.report("b.json")));
}

/// Backend and painter on one device: the painter draws from the positions there while they move,
/// and has them here when somebody looks, or when it stops.
#[test]
fn positions_stay_on_the_device_they_are_drawn_by() {
    let Some(session) = start() else { return };
    let script = "report 0.json\nplay\nwait 12\nreport 1.json\nbackend vulkan\nwait 40\n\
        report 2.json\npainter software\nwait 3\nreport software.json\nwait 20\nreport 3.json\n\
        painter vulkan\nwait 40\n\
        report 4.json\npause\nwait 5\nmove 640 100\nwait 2\nreport 5.json\nscreenshot 5.png\n\
        color speed\nplay\nwait 20\nreport 6.json\n";
    let scene = session.write("grains.toml", GRAINS);
    session.run(scene.to_str().unwrap(), script);
    let reports = [0, 1, 2, 3, 4, 5, 6].map(|k| session.report(&format!("{k}.json")));
    let steps: Vec<u64> = reports.iter().map(step).collect();
    assert!(steps[..5].windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}: the state was lost");
    assert!(steps[5] < steps[6], "{steps:?}");
    let straight = reports.each_ref().map(|r| r["straight"].as_u64().unwrap());
    assert_eq!(straight[1], 0, "the backend was the CPU");
    assert!(straight[2] > 5, "{straight:?}");
    // What the device was at when the painter changed is shown until the next step is done.
    let software = session.report("software.json")["straight"].as_u64().unwrap();
    assert!(straight[3] <= software + 1, "software needs them here: {software}, {straight:?}");
    assert!(straight[4] > straight[3] + 5, "{straight:?}");
    // A pointer in the scene and a colour that measures both need them here.
    assert!(straight[6] <= straight[5] + 1, "{straight:?}");
    assert!(seen_in_place(&reports[5], &session.picture("5.png"), 0.0) > 0.9);
}

/// Painter, backend and solver change while it runs: the state stays, and both painters show it.
#[test]
fn painters_follow_each_other_while_it_runs() {
    let Some(session) = start() else { return };
    let scene = session.write("scene.toml", SCENE);
    let script = "key K\nclick @50\nplay\nwait 10\nreport 0.json\nkey 2\nbackend vulkan\nwait 20\n\
        report 1.json\npainter software\nwait 10\nreport 2.json\npainter vulkan\nkey 3\nwait 10\n\
        report 3.json\nbackend cpu\nwait 10\npause\nwait 5\nmove 640 100\nscreenshot vulkan.png\n\
        report 4.json\npainter software\nscreenshot software.png\nreport 5.json\n\
        key T\nscreenshot light.png\npainter vulkan\nscreenshot light_vulkan.png\n";
    session.run(scene.to_str().unwrap(), script);
    let reports = [0, 1, 2, 3, 4, 5].map(|k| session.report(&format!("{k}.json")));
    let steps: Vec<u64> = reports.iter().map(step).collect();
    assert!(steps[..5].windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}: the state was lost");
    assert_eq!(steps[4], steps[5]);
    assert_eq!(reports[4]["particles"], reports[5]["particles"]);
    let vulkan: Vec<bool> = reports.iter().map(by_vulkan).collect();
    assert_eq!(vulkan, [true, true, false, true, true, false]);
    assert!(reports[1]["backend"].as_str().unwrap().starts_with("vulkan"));
    assert_eq!(
        (&reports[1]["solver"], &reports[3]["solver"]),
        (&"lockfree".into(), &"colored".into())
    );
    assert!(reports.iter().all(|r| r["selected"] == reports[0]["selected"]));
    // The same panels, to a level of rounding, and the same scene, but for how it is lit.
    let picture = |name: &str| session.picture(name);
    let (vulkan, software) = (picture("vulkan.png"), picture("software.png"));
    let area =
        |name: &str| -> [f64; 4] { numbers(&reports[4]["panels"][name]).try_into().unwrap() };
    for panel in ["parameters", "scenes", "inspector"] {
        let apart = vulkan.apart(&software, area(panel));
        assert!(apart < 0.5, "{panel}: {apart} levels apart");
        assert!(picture("light.png").apart(&picture("light_vulkan.png"), area(panel)) < 0.5);
        // The control: two themes are two pictures.
        assert!(vulkan.apart(&picture("light.png"), area(panel)) > 50.0);
    }
    assert!(seen_in_place(&reports[4], &vulkan, 0.0) > 0.9);
    assert!(seen_in_place(&reports[5], &software, 0.0) > 0.9);
    assert!(seen_in_place(&reports[4], &vulkan, 90.0) < 0.6);
    let apart = vulkan.apart(&software, area("view"));
    let control = vulkan.apart(&picture("light.png"), area("view"));
    assert!(apart < 0.1 * control, "the scene: {apart} levels apart, another theme {control}");
}

#[test]
fn sizes_scales_and_recordings() {
    let Some(session) = start() else { return };
    let mut script = String::new();
    let sizes = [(320, 240), (2500, 1400), (640, 480), (1000, 640)];
    for (width, height) in sizes {
        script +=
            &format!("resize {width} {height}\nscreenshot {width}.png\nreport {width}.json\n");
    }
    script += "key Tab\nscreenshot bare.png\nkey Tab\nkey F8\nkey F9\nsteps 6\nkey F9\nsteps 1\n\
        wait 30\nreport last.json\n";
    session.run("tear", &script);
    for (width, height) in sizes {
        let picture = session.picture(&format!("{width}.png"));
        assert_eq!((picture.width, picture.height), (width, height));
    }
    // A large window has large empty panels.
    for (width, panels) in [(2500, &PANELS[..3]), (1000, &PANELS)] {
        let report = session.report(&format!("{width}.json"));
        assert!(by_vulkan(&report), "{}", report["messages"]);
        let picture = session.picture(&format!("{width}.png"));
        panels.iter().for_each(|panel| assert_panel(&report, &picture, panel, true));
    }
    let report = session.report("1000.json");
    let run: [f64; 4] = numbers(&report["panels"]["run"]).try_into().unwrap();
    let written = |p: [u8; 3]| p.iter().all(|c| *c > 190);
    let (panels, bare) = (session.picture("1000.png"), session.picture("bare.png"));
    assert!(panels.share(run, written) > 0.005 && bare.share(run, written) < 0.001);
    assert!(session.exists("tear_000000.profile.png"));
    assert!(session.exists("tear_000000.frames/frame_000001.png"), "recorded");
    assert!(says(&session.report("last.json"), "frames recorded"));
    let Some(session) = start().map(|s| s.scaled("2")) else { return };
    session.run("tear", "resize 2560 1440\nsteps 5\nreport a.json\nscreenshot a.png\n");
    let (report, picture) = (session.report("a.json"), session.picture("a.png"));
    PANELS.iter().for_each(|panel| assert_panel(&report, &picture, panel, true));
}

#[test]
fn tabs_fit_a_wide_window() {
    if usable().is_none() {
        return;
    }
    let Some(display) = Display::sized(3840, 2160) else { return };
    let session = Session::on(display).painted(Some("vulkan"));
    acts::tabs_fit_a_wide_window(&session, 4, 1, if is_long() { 6 } else { 1 });
    assert!(by_vulkan(&session.report("a.json")));
}

/// What is lost comes back, or software takes over; the simulation does not notice.
#[test]
fn a_lost_surface_and_a_lost_device() {
    let Some(session) = start() else { return };
    let script = "play\nwait 10\nreport a.json\nlose surface\nwait 10\nreport b.json\n\
        screenshot b.png\nlose device\nwait 10\nreport c.json\nscreenshot c.png\n\
        painter vulkan\nwait 5\nreport d.json\n";
    session.run("tear", script);
    let [a, b, c, d] = ["a.json", "b.json", "c.json", "d.json"].map(|name| session.report(name));
    assert!(by_vulkan(&a) && by_vulkan(&b), "{}", b["messages"]);
    assert!(by_vulkan(&d), "a device that was lost can be opened again: {}", d["messages"]);
    assert_eq!(painter(&c), "software");
    assert!(says(&c, "gave up on the device") && !says(&b, "gave up"));
    assert!(step(&a) < step(&b) && step(&b) < step(&c), "the state was lost");
    for (name, report) in [("b.png", &b), ("c.png", &c)] {
        assert_panel(report, &session.picture(name), "run", true);
    }
}

/// What the screen shows is what a screenshot says, also after the window was away and came back.
#[test]
fn the_screen_shows_it() {
    if usable().is_none() {
        return;
    }
    let Some(mut hand) = Hand::open("stairs", "vulkan") else { return };
    std::thread::sleep(Duration::from_millis(500));
    hand.tool("key space");
    let all = [0.0, 0.0, 1280.0, 720.0];
    // The line of figures goes on changing.
    let still = [0.0, 120.0, 1280.0, 380.0];
    let (step, picture) = hand.screenshot();
    let screen = hand.display.screen();
    assert!(step > 0, "it ran");
    assert_eq!(picture.differs(&screen, still), 0.0);
    hand.tool("search --name motes windowunmap");
    std::thread::sleep(Duration::from_millis(300));
    assert!(picture.apart(&hand.display.screen(), all) > 20.0, "the window is still there");
    hand.tool("search --name motes windowmap");
    hand.tool("search --sync --onlyvisible --name motes windowfocus");
    hand.tool("search --name motes windowsize 900 600");
    hand.tool("key t");
    let (_, light) = hand.screenshot();
    assert_eq!((light.width, light.height), (900, 600));
    let area = [0.0, 120.0, 900.0, 250.0];
    assert_eq!(light.differs(&hand.display.screen(), area), 0.0);
    assert!(light.apart(&screen, area) > 20.0, "the control");
    assert!(hand.alive());
}

#[test]
fn the_painter_is_kept_in_the_settings() {
    let Some(session) = start() else { return };
    let session = session.painted(None);
    session.run("tear", "report a.json\npainter vulkan\nwait 5\n");
    session.run("tear", "report b.json\npainter software\nwait 5\n");
    session.run("tear", "report c.json\n");
    assert!(by_vulkan(&session.report("b.json")));
    assert_eq!(painter(&session.report("c.json")), "software");
}

/// A machine without a driver: `auto` paints in software and says why, Vulkan is greyed, and who
/// insists on it gets an error.
#[test]
fn without_a_driver_software_paints() {
    let Some(session) = Session::start() else { return };
    let session = session.painted(None);
    let session = session
        .with("VK_ICD_FILENAMES", "/no/driver.json")
        .with("VK_DRIVER_FILES", "/no/driver.json");
    // The list of painters is opened, and its second line clicked; then the list of backends.
    let script = "steps 3\nreport a.json\nclick 75 281\nwait 5\nmove 60 326\nwait 5\n\
        screenshot painters.png\nclick 60 326\nwait 5\nreport b.json\nscreenshot b.png\n\
        click 600 300\nwait 5\nclick 75 181\nwait 5\nscreenshot backends.png\n";
    session.run("tear", script);
    let [a, b] = ["a.json", "b.json"].map(|name| session.report(name));
    assert_eq!((painter(&a), painter(&b)), ("software", "software"));
    assert!(says(&a, "painted in software"), "{}", a["messages"]);
    assert_panel(&b, &session.picture("b.png"), "run", true);
    // What is here is written in full light, Vulkan below it is greyed, and so is the reason.
    for (list, first) in [("painters.png", 300.0), ("backends.png", 200.0)] {
        let picture = session.picture(list);
        let lit = |y: f64, least: u8| {
            picture.share([12.0, y, 48.0, 13.0], |p| p.iter().all(|&c| c > least)) > 0.0
        };
        assert!(lit(first, 200), "{list}");
        for line in [19.0, 38.0] {
            assert!(lit(first + line, 110) && !lit(first + line, 180), "{list}, {line} px below");
        }
    }
    let session = session.painted(Some("vulkan"));
    let output = session.try_run("tear", "wait 5\n", Duration::from_secs(60));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("--painter vulkan") && said.contains("install"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

/// A device in software paints a few frames a second.
#[test]
fn a_monkey_does_no_harm() {
    let Some(session) = start() else { return };
    super::monkey::does_no_harm(&session, "backend vulkan\nplay\nwait 40\n", "vulkan", 5.0);
}
