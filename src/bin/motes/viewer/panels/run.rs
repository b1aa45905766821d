//! Play, pause, speed; what computes, and how; what is shown.

use super::Desk;
use crate::cli::PainterName;
use crate::machine;
use crate::viewer::action::Action;
use crate::viewer::backends;
use crate::viewer::colors::{ColorBy, Colors};
use crate::viewer::painter;
use crate::viewer::physics::Command;
use crate::viewer::state::Viewer;
use motes::world::{BroadPhase, Method, Solver};

pub fn draw(desk: &Desk, viewer: &mut Viewer) {
    buttons(desk, viewer);
    facts(desk, viewer);
    desk.ui.separator();
    let width = desk.ui.push_item_width(desk.px(142.0));
    speed(desk, viewer);
    threads(desk, viewer);
    backend(desk, viewer);
    words(desk, viewer);
    painter_choice(desk, viewer);
    desk.ui.separator();
    looks(desk, viewer);
    width.end();
}

fn buttons(desk: &Desk, viewer: &mut Viewer) {
    let size = [desk.px(80.0), desk.px(26.0)];
    let label = if viewer.playing { "Pause" } else { "Play" };
    for (label, action, hint) in [
        (label, Action::PlayPause, "Space"),
        ("Step", Action::Step, "N: one step, then pause"),
        ("Reset", Action::Reset, "R: the scene from its beginning; parameters stay"),
    ] {
        if desk.ui.button_with_size(label, size) {
            viewer.act(action);
        }
        desk.hint(hint);
        desk.ui.same_line();
    }
    desk.ui.new_line();
}

fn facts(desk: &Desk, viewer: &Viewer) {
    let frame = &viewer.frame;
    let (steps, ms, share) = viewer.history.pace();
    match &viewer.loading {
        Some(spec) => desk.ui.text(format!("loading {spec} ...")),
        None => desk.ui.text(&frame.scene.spec),
    }
    desk.ui.same_line();
    desk.ui.text_disabled(format!("step {}, {:.2} s", frame.step, frame.time));
    let [particles, constraints, contacts] =
        [frame.positions.len(), frame.constraints, frame.contacts].map(short);
    desk.ui.text_disabled(format!("{particles} particles, {constraints} constraints"));
    desk.ui.same_line();
    desk.ui.text_disabled(format!("{contacts} c."));
    desk.hint(&format!("{} contacts at the end of the last step", frame.contacts));
    desk.ui.text(format!("{} fps", viewer.rate.fps()));
    desk.hint(&format!("{:.1} ms to draw a frame", viewer.rate.ms));
    desk.ui.same_line();
    desk.ui.text(format!("{steps:.0} steps/s"));
    desk.ui.same_line();
    desk.ui.text(format!("{ms:.2} ms"));
    desk.hint("mean time of a step in the last second");
    desk.ui.same_line();
    desk.ui.text(format!("{:.0} %", share * 100.0));
    desk.hint("share of the time that the simulation takes");
}

/// A count in at most five characters.
fn short(count: usize) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{:.1}k", count as f32 / 1e3),
        _ => format!("{:.1}M", count as f32 / 1e6),
    }
}

fn speed(desk: &Desk, viewer: &mut Viewer) {
    let mut speed = viewer.settings.speed;
    if speed > 0.0 {
        let slider = desk.ui.slider_config("speed", 0.05, 4.0).display_format("%.2f x");
        if slider.flags(imgui::SliderFlags::LOGARITHMIC).build(&mut speed) {
            viewer.set_speed(speed);
        }
        desk.hint("simulated seconds a second; [ and ]");
    } else {
        desk.ui.text("as fast as it goes");
    }
    desk.ui.same_line_with_pos(desk.px(206.0));
    let mut full = speed == 0.0;
    if desk.ui.checkbox("max", &mut full) {
        viewer.set_speed(if full { 0.0 } else { 1.0 });
    }
    desk.hint("as fast as it goes");
}

fn threads(desk: &Desk, viewer: &mut Viewer) {
    let mut threads = viewer.frame.threads.max(1) as u32;
    let most = (machine::cores() as u32 * 2).max(threads);
    if desk.ui.slider("threads", 1, most, &mut threads) {
        viewer.settings.threads = threads as usize;
        viewer.physics.send(Command::Threads(threads as usize));
    }
    let busy: Vec<String> =
        viewer.frame.busy.iter().map(|share| format!("{:.0} %", share * 100.0)).collect();
    desk.hint(&format!("workers; busy in the last step: {}", busy.join(", ")));
}

/// What is not here is shown all the same, with the reason.
fn backend(desk: &Desk, viewer: &mut Viewer) {
    let now = viewer.frame.backend;
    if let Some(_open) = desk.ui.begin_combo("backend", now) {
        for choice in backends::all() {
            let why_not = choice.make.as_ref().err().map(String::as_str);
            let chosen = greyed(desk, &choice.name, now, why_not);
            if chosen && choice.name != now {
                viewer.physics.send(Command::Backend(&choice.name));
            }
        }
    }
    let absent = backends::all().iter();
    let absent = absent.filter_map(|c| Some(format!("{}: {}", c.name, c.make.as_ref().err()?)));
    let absent: Vec<String> = absent.collect();
    desk.hint(&format!("what computes\n{}", absent.join("\n")));
}

fn painter_choice(desk: &Desk, viewer: &mut Viewer) {
    let painting = &viewer.painting;
    let mut chosen = None;
    let now = painting.label(painting.used);
    if let Some(_open) = desk.ui.begin_combo("painter", &now) {
        for painter in [PainterName::Software, PainterName::Vulkan] {
            let absent = painting.device.as_ref().err().map(String::as_str);
            let why_not = absent.filter(|_| painter == PainterName::Vulkan);
            if greyed(desk, &painting.label(painter), &now, why_not) {
                chosen = Some(painter);
            }
        }
    }
    let why = match painting.used == PainterName::Software {
        true => painting.device.as_ref().err().cloned().or(painter::auto().err()),
        false => None,
    };
    desk.hint(&format!("what paints this window\n{}", why.unwrap_or_default()));
    if let Some(painter) = chosen {
        viewer.choose_painter(painter);
    }
}

/// A word of a list, not to be chosen where there is a reason against it. True when it is chosen.
fn greyed(desk: &Desk, word: &str, now: &str, why_not: Option<&str>) -> bool {
    let mut chosen = false;
    desk.ui.disabled(why_not.is_some(), || {
        chosen = desk.ui.selectable_config(word).selected(word == now).build();
    });
    if let Some(why) = why_not {
        let wrap = desk.ui.push_text_wrap_pos_with_pos(desk.px(320.0));
        desk.ui.text_disabled(why);
        wrap.end();
    }
    chosen
}

fn words(desk: &Desk, viewer: &mut Viewer) {
    let params = viewer.frame.params.clone();
    let solvers: Vec<&str> = Solver::ALL.iter().map(|s| s.word()).collect();
    let methods: Vec<&str> = Method::ALL.iter().map(|s| s.word()).collect();
    let structures: Vec<&str> = BroadPhase::ALL.iter().map(|s| s.word()).collect();
    let rows = [
        ("solver", "solver", params.solver.word(), solvers, "how constraints are swept; 1 to 4"),
        ("method", "method", params.method.word(), methods, "what stiffness means; M"),
        (
            "broad phase",
            "broad_phase",
            params.broad_phase.word(),
            structures,
            "which structure finds neighbours; V",
        ),
    ];
    for (label, name, now, words, hint) in rows {
        if let Some(word) = desk.choice(label, now, &words) {
            viewer.set_word(name, word);
        }
        desk.hint(hint);
    }
}

fn looks(desk: &Desk, viewer: &mut Viewer) {
    desk.pick("colour", &mut viewer.settings.color, &ColorBy::ALL);
    let now = viewer.settings.color;
    let (low, high) = Colors::new(&viewer.frame, now).range();
    desk.hint(match now {
        ColorBy::Material => "one colour an object; C",
        ColorBy::Phase => "one colour a collision group; C",
        ColorBy::Worker => "one colour for the range of memory a worker begins with; C",
        ColorBy::Density => "mass around each particle, within 4 mean radii; violet to yellow; C",
        ColorBy::Speed | ColorBy::Size => "from dark violet to bright yellow; C",
    });
    if let Some(unit) = now.unit() {
        let digits = if high < 100.0 { 3 } else { 0 };
        desk.ui.text_disabled(format!("from {low:.digits$} to {high:.digits$} {unit}"));
    }
    desk.ui.checkbox("lines", &mut viewer.settings.lines);
    desk.hint("distance constraints: blue compressed, pale at rest, red stretched; L");
    desk.ui.same_line();
    desk.ui.checkbox("skins", &mut viewer.settings.skins);
    desk.hint("surfaces of cloth and bodies instead of their particles; K");
    desk.ui.same_line();
    desk.ui.checkbox("dark", &mut viewer.settings.dark);
    desk.hint("T");
    desk.ui.same_line();
    if desk.ui.button("?") {
        viewer.act(Action::Help);
    }
    desk.hint("every key");
}
