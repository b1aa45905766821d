//! What holds for both painters.

use super::picture::{assert_panel, numbers, says, seen_in_place};
use super::scene::{PANELS, SCENE, particle, step};
use super::session::Session;
use serde_json::Value;

pub fn every_scene_opens_and_moves(session: &Session) {
    let names: Vec<&str> = motes::Scene::builtin_names().collect();
    let mut script = String::new();
    for name in &names {
        script += &format!("open {name}\nsteps 3\nreport {name}.json\nscreenshot {name}.png\n");
    }
    session.run("cloth_hang", &script);
    for name in &names {
        let report = session.report(&format!("{name}.json"));
        assert_eq!((report["scene"].as_str(), step(&report)), (Some(*name), 3), "{name}");
        let picture = session.picture(&format!("{name}.png"));
        assert_eq!((picture.width, picture.height), (1280, 720));
        PANELS.iter().for_each(|panel| assert_panel(&report, &picture, panel, true));
        // Something coloured is in view.
        let view: [f64; 4] = numbers(&report["panels"]["view"]).try_into().unwrap();
        let vivid = |p: [u8; 3]| p.iter().max().unwrap() - p.iter().min().unwrap() > 50;
        assert!(picture.share(view, vivid) > 0.004, "{name} is not to be seen");
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
