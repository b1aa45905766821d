//! What holds for both painters.

use super::picture::{assert_panel, numbers, says, seen_in_place};
use super::scene::{PANELS, SCENE, particle, step};
use super::session::Session;
use serde_json::Value;
use std::time::Duration;

pub fn scenes_open_and_move(session: &Session, names: &[&str]) {
    let mut script = String::new();
    for name in names {
        script += &format!("open {name}\nsteps 3\nreport {name}.json\nscreenshot {name}.png\n");
    }
    session.run("cloth_hang", &script);
    for name in names {
        let report = session.report(&format!("{name}.json"));
        assert_eq!((report["scene"].as_str(), step(&report)), (Some(*name), 3), "{name}");
        let picture = session.picture(&format!("{name}.png"));
        assert_eq!((picture.width, picture.height), (1280, 720));
        PANELS.iter().for_each(|panel| assert_panel(&report, &picture, panel, true));
        // Something coloured is in view: wood and pale cloth are, the ground is not (20 at most).
        let view: [f64; 4] = numbers(&report["panels"]["view"]).try_into().unwrap();
        let vivid = |p: [u8; 3]| p.iter().max().unwrap() - p.iter().min().unwrap() > 30;
        // The water of `fountain` is still to come.
        let has_come = report["particle_count"].as_u64() > Some(100);
        assert!(!has_come || picture.share(view, vivid) > 0.004, "{name} is not to be seen");
    }
}

pub fn particles_are_where_they_should_be(session: &Session) {
    let scene = session.write("scene.toml", SCENE);
    let script = "key K\nsteps 40\nreport a.json\nscreenshot a.png\n\
        key T\nwheel 3\ndrag 640 480 700 440\nreport b.json\nscreenshot b.png\n";
    session.run(scene.to_str().unwrap(), script);
    for (name, dark) in [("a", true), ("b", false)] {
        let report = session.report(&format!("{name}.json"));
        let picture = session.picture(&format!("{name}.png"));
        let (right, wrong) =
            (seen_in_place(&report, &picture, 0.0), seen_in_place(&report, &picture, 90.0));
        assert!(right > 0.9, "{name}: {right} of the particles have their colour");
        // The control: elsewhere the colours are not found.
        assert!(wrong < 0.6, "{name}: {wrong} of the places beside them have it as well");
        PANELS.iter().for_each(|panel| assert_panel(&report, &picture, panel, dark));
    }
    assert_ne!(session.report("a.json")["eye"], session.report("b.json")["eye"]);
}

pub fn a_dragged_particle_follows_and_a_cut_cuts(session: &Session) {
    let scene = session.write("scene.toml", SCENE);
    // The middle of the sheet's lower edge is pulled aside, then the sheet is cut below its top.
    let script = "steps 20\nplay\nreport a.json\nmove @95\nwait 2\nmove @95\npress left\n\
        move 525 262\nwait 60\nreport b.json\nrelease left\nwait 30\nreport c.json\n\
        cut 300 240 760 240\nwait 5\nreport d.json\n";
    session.run(scene.to_str().unwrap(), script);
    let [before, pulled, free, cut] =
        ["a.json", "b.json", "c.json", "d.json"].map(|name| session.report(name));
    let id = pulled["selected"].as_u64().expect("the press selects");
    let apart = |report: &Value| {
        let pixel = numbers(&particle(report, id)["pixel"]);
        (pixel[0] - 525.0).hypot(pixel[1] - 262.0)
    };
    assert!(apart(&before) > 50.0 && apart(&pulled) < 20.0, "it is {} px away", apart(&pulled));
    assert!(apart(&free) > 2.0 * apart(&pulled), "it was not let go");
    let constraints = |report: &Value| report["constraints"].as_u64().unwrap();
    // The pull adds a pin, and lets it go.
    assert_eq!(constraints(&pulled), constraints(&before) + 1);
    assert_eq!(constraints(&free), constraints(&before));
    assert!(constraints(&cut) + 8 < constraints(&free), "nothing was cut");
    assert!(says(&cut, "constraints cut"));
}

/// The largest screen that is common, and as many columns in the profile as it has room for. A frame
/// of that size takes a device in software seconds, so only the first `pictured` tabs are looked at;
/// the others up to `opened` are opened, and the window has to survive that. `frames` are drawn to fill
/// the profile.
pub fn tabs_fit_a_wide_window(session: &Session, frames: u32, pictured: usize, opened: usize) {
    session.write("config/motes/viewer.toml", "size = [3840, 2160]\nprofile_seconds = 0.5\n");
    // The tabs of the graphs, from the left, and then those of the inspector.
    let tabs = [
        ("profile", 310, 1991),
        ("compare", 372, 1991),
        ("convergence", 456, 1991),
        ("messages", 540, 1991),
        ("particle", 3620, 946),
        ("place", 3684, 946),
    ];
    let mut script = format!("speed 0\nplay\nwait {frames}\nkey Z\npause\nreport a.json\n");
    for (k, (name, x, y)) in tabs.into_iter().enumerate().take(opened) {
        script += &format!("move {x} {y}\npress left\nwait 1\nrelease left\n");
        if k < pictured {
            script += &format!("screenshot {name}.png\n");
        }
    }
    let output = session.try_run("tear", &script, Duration::from_secs(900));
    Session::check(&output, &script);
    let report = session.report("a.json");
    assert_eq!(numbers(&report["size"]), [3840.0, 2160.0]);
    let area = |panel: &str| -> [f64; 4] { numbers(&report["panels"][panel]).try_into().unwrap() };
    let pictures: Vec<_> =
        tabs[..pictured].iter().map(|(name, ..)| session.picture(&format!("{name}.png"))).collect();
    let first = &pictures[0];
    assert_eq!((first.width, first.height), (3840, 2160));
    // A large window has large empty panels; most parameters are folded away.
    for panel in ["run", "scenes"] {
        assert_panel(&report, first, panel, true);
    }
    // The columns reach from one end of the graph to the other. How high they are depends on the
    // slowest step.
    let [left, top, width, height] = area("graphs");
    let vivid = |p: [u8; 3]| p.iter().max().unwrap() - p.iter().min().unwrap() > 30;
    for part in 0..4 {
        let wide = (width - 220.0) / 4.0;
        let piece = [left + 10.0 + f64::from(part) * wide, top + 80.0, wide, height - 90.0];
        let share = first.share(piece, vivid);
        assert!(share > 0.002, "{share} of the profile's quarter {part} is coloured");
    }
    // Each tab shows something else than the one before.
    let panels = ["graphs", "graphs", "graphs", "graphs", "inspector", "inspector"];
    for k in 1..pictured {
        let [left, top, width, height] = area(panels[k]);
        let below = [left, top + 60.0, width, height - 60.0];
        let new = pictures[k].differs(&pictures[k - 1], below);
        // The inspector shows the tab Particle from the start.
        let (least, name) = (if tabs[k].0 == "particle" { 0.0 } else { 0.001 }, tabs[k].0);
        assert!(new >= least, "{name}: {new} of it is new");
    }
}

/// F12 takes the scene and Shift+F12 the window. A film has a picture every so many steps, however
/// slowly frames are drawn. F10 writes everything of one step.
pub fn pictures_and_films_show_the_scene(session: &Session) {
    session.write("config/motes/viewer.toml", "record_every = 3\n");
    // The second film is one of the window.
    let script = "steps 1\nkey F12\nwait 90\nkey Shift+F12\nwait 90\nscreenshot window.png\n\
        report a.json\nkey F9\nsteps 12\nwait 2\nkey F9\nkey Shift+F9\nsteps 2\nwait 2\nkey F9\n\
        key F10\nwait 5\nreport b.json\n";
    session.run("tear", script);
    let (a, b) = (session.report("a.json"), session.report("b.json"));
    let [left, top, width, height] = numbers(&a["panels"]["view"])[..] else { panic!("four") };
    let (alone, all) = (session.picture("tear_000001.png"), session.picture("tear_000001_1.png"));
    assert_eq!([alone.width, alone.height].map(f64::from), [width, height]);
    assert_eq!(numbers(&a["size"]), [all.width, all.height].map(f64::from));
    assert_eq!(all.differs(&session.picture("window.png"), [0.0, 0.0, 200.0, 50.0]), 0.0);
    // In the middle nothing lies over the scene; its title does at the top.
    let (mut same, mut title) = (true, false);
    for y in 0..alone.height {
        for x in 0..alone.width {
            let [x, y] = [x, y].map(f64::from);
            let equal = alone.at(x, y) == all.at(x + left, y + top);
            same &= equal || y < 40.0;
            title |= !equal && y < 40.0;
        }
    }
    assert!(same && title, "the scene is the same, its title is left out: {same} {title}");
    let film = |folder: &str| -> Vec<[u32; 2]> {
        let picture = |k: u32| format!("{folder}/frame_{k:06}.png");
        let names = (1..).map(picture).take_while(|name| session.exists(name));
        names.map(|name| session.picture(&name)).map(|p| [p.width, p.height]).collect()
    };
    assert_eq!(film("tear_000001.frames"), [[alone.width, alone.height]; 4], "3, 6, 9 and 12");
    assert_eq!(film("tear_000013.frames"), [[all.width, all.height]; 1], "15");
    let steps: Vec<_> = [1, 2, 3].map(|k| format!("tear_000001.frames/frame_{k:06}.png")).into();
    let [first, second] = [0, 1].map(|k| session.picture(&steps[k]));
    assert!(first.differs(&second, [0.0, 0.0, width, height]) > 0.001, "it moves");
    let said = b["messages"].to_string();
    for ending in ["ply", "obstacles.ply", "motes"] {
        let name = format!("tear_000015.{ending}");
        assert!(session.exists(&name), "{name}");
        let whole = session.path(&name).canonicalize().unwrap();
        assert!(said.contains(&whole.display().to_string()), "{said}");
    }
    assert!(said.contains("tear, step 15"), "{said}");
}
