//! The panel Run: play, pause and speed, the backend and the solver, and how the scene is drawn.

use super::Kit;
use crate::cli::PainterName;
use crate::commands::machine;
use crate::viewer::action::Action;
use crate::viewer::backends;
use crate::viewer::colors::ColorBy;
use crate::viewer::painter;
use crate::viewer::physics::Command;
use crate::viewer::state::Viewer;
use motes::world::{BroadPhase, Method, Solver};

/// Width of a slider that has its value beside it, at 100 % [px].
const SLIDER: f32 = 104.0;

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    buttons(kit, viewer);
    facts(kit, viewer);
    kit.ui.separator();
    let width = kit.ui.push_item_width(kit.px(142.0));
    speed(kit, viewer);
    threads(kit, viewer);
    backend(kit, viewer);
    words(kit, viewer);
    painter_choice(kit, viewer);
    kit.ui.separator();
    looks(kit, viewer);
    width.end();
}

fn buttons(kit: &Kit, viewer: &mut Viewer) {
    let size = [kit.px(80.0), kit.px(26.0)];
    let label = if viewer.playing { "Pause" } else { "Play" };
    for (label, action, hint) in [
        (label, Action::PlayPause, "Space"),
        ("Step", Action::Step, "N: one step, then pause"),
        ("Reset", Action::Reset, "R: the scene from its beginning; parameters stay"),
    ] {
        if kit.ui.button_with_size(label, size) {
            viewer.act(action);
        }
        kit.hint(hint);
        kit.ui.same_line();
    }
    kit.ui.new_line();
}

fn facts(kit: &Kit, viewer: &Viewer) {
    let moment = &viewer.moment;
    let (steps, ms, share) = viewer.history.pace();
    match &viewer.loading {
        Some(spec) => kit.ui.text(format!("loading {spec} ...")),
        None => kit.ui.text(&moment.scene.spec),
    }
    kit.ui.same_line();
    kit.ui.text_disabled(format!("step {}, {:.2} s", moment.step, moment.time));
    let [particles, contacts] = [moment.positions.len(), moment.contacts].map(short);
    kit.ui.text_disabled(format!("{particles} particles, {contacts} contacts"));
    let constraints = moment.constraints;
    kit.hint(&format!("at the end of the last step; {constraints} constraints hold them together"));
    kit.ui.text(format!("{} frames/s", viewer.rate.fps()));
    kit.hint(&format!("{:.1} ms to draw a frame", viewer.rate.ms));
    kit.ui.same_line();
    kit.ui.text(format!("{steps:.0} steps/s of {ms:.2} ms"));
    kit.hint(&format!(
        "mean of the last second; the simulation takes {:.0} % of the time",
        share * 100.0
    ));
}

/// A count in at most five characters.
fn short(count: usize) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{:.1}k", count as f32 / 1e3),
        _ => format!("{:.1}M", count as f32 / 1e6),
    }
}

fn speed(kit: &Kit, viewer: &mut Viewer) {
    let mut speed = viewer.settings.speed;
    if speed > 0.0 {
        kit.ui.set_next_item_width(kit.px(SLIDER));
        let text = format!("{speed:.2} x speed");
        if kit.slider("speed", (0.05, 4.0), &mut speed, &text) {
            viewer.set_speed(speed);
        }
        kit.hint("simulated seconds a second; [ and ]");
    } else {
        kit.ui.text("as fast as it goes");
    }
    kit.ui.same_line_with_pos(kit.px(206.0));
    let mut full = speed == 0.0;
    if kit.ui.checkbox("max", &mut full) {
        viewer.set_speed(if full { 0.0 } else { 1.0 });
    }
    kit.hint("as fast as it goes");
}

fn threads(kit: &Kit, viewer: &mut Viewer) {
    let mut threads = viewer.moment.threads.max(1) as u32;
    let most = (machine::cores() as u32 * 2).max(threads);
    let text = if threads == 1 { "1 thread".into() } else { format!("{threads} threads") };
    kit.ui.set_next_item_width(kit.px(SLIDER));
    if kit.count("threads", (1, most), &mut threads, &text) {
        viewer.settings.threads = threads as usize;
        viewer.physics.send(Command::Threads(threads as usize));
    }
    let busy: Vec<String> =
        viewer.moment.busy.iter().map(|share| format!("{:.0} %", share * 100.0)).collect();
    kit.hint(&format!("workers; busy in the last step: {}", busy.join(", ")));
}

/// The list of backends. One that this machine lacks is listed too, greyed, with the reason.
fn backend(kit: &Kit, viewer: &mut Viewer) {
    let now = viewer.moment.backend;
    if let Some(_open) = kit.ui.begin_combo("backend", now) {
        for choice in backends::all() {
            let why_not = choice.make.as_ref().err().map(String::as_str);
            let chosen = greyed(kit, &choice.name, now, why_not);
            if chosen && choice.name != now {
                viewer.physics.send(Command::Backend(&choice.name));
            }
        }
    }
    let absent = backends::all().iter();
    let absent = absent.filter_map(|c| Some(format!("{}: {}", c.name, c.make.as_ref().err()?)));
    let absent: Vec<String> = absent.collect();
    kit.hint(&format!("what computes\n{}", absent.join("\n")));
}

fn painter_choice(kit: &Kit, viewer: &mut Viewer) {
    let painting = &viewer.painting;
    let mut chosen = None;
    let now = painting.label(painting.used);
    if let Some(_open) = kit.ui.begin_combo("painter", &now) {
        for painter in [PainterName::Software, PainterName::Vulkan] {
            let absent = painting.device.as_ref().err().map(String::as_str);
            let why_not = absent.filter(|_| painter == PainterName::Vulkan);
            if greyed(kit, &painting.label(painter), &now, why_not) {
                chosen = Some(painter);
            }
        }
    }
    let why = match painting.used == PainterName::Software {
        true => painting.device.as_ref().err().cloned().or(painter::auto().err()),
        false => None,
    };
    kit.hint(&format!("what paints this window\n{}", why.unwrap_or_default()));
    if let Some(painter) = chosen {
        viewer.choose_painter(painter);
    }
}

/// A word of a list, not to be chosen where there is a reason against it. True when it is chosen.
fn greyed(kit: &Kit, word: &str, now: &str, why_not: Option<&str>) -> bool {
    let mut chosen = false;
    kit.ui.disabled(why_not.is_some(), || {
        chosen = kit.ui.selectable_config(word).selected(word == now).build();
    });
    if let Some(why) = why_not {
        let wrap = kit.ui.push_text_wrap_pos_with_pos(kit.px(320.0));
        kit.ui.text_disabled(why);
        wrap.end();
    }
    chosen
}

fn words(kit: &Kit, viewer: &mut Viewer) {
    let params = viewer.moment.params.clone();
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
        if let Some(word) = kit.choice(label, now, &words) {
            viewer.set_word(name, word);
        }
        kit.hint(hint);
    }
}

fn looks(kit: &Kit, viewer: &mut Viewer) {
    kit.pick("colour", &mut viewer.settings.color, &ColorBy::ALL);
    let now = viewer.settings.color;
    kit.hint(match now {
        ColorBy::Object => "one colour an object; C",
        ColorBy::Material => "one colour a material; C",
        ColorBy::Phase => "one colour a collision group; C",
        ColorBy::Worker => "one colour for the range of memory a worker begins with; C",
        ColorBy::Density => "mass around each particle, within 4 mean radii; violet to yellow; C",
        ColorBy::Strain => "of the most strained edge: blue compressed, red stretched; C",
        ColorBy::Speed | ColorBy::Size => "from dark violet to bright yellow; C",
    });
    kit.ui.checkbox("lines", &mut viewer.settings.lines);
    kit.hint("distance constraints: blue compressed, pale at rest, red stretched; L");
    kit.ui.same_line();
    kit.ui.checkbox("skins", &mut viewer.settings.skins);
    kit.hint("surfaces of cloth, bodies and fluids instead of their particles; K");
    kit.ui.same_line();
    kit.ui.checkbox("dark", &mut viewer.settings.dark);
    kit.hint("T");
    kit.ui.same_line();
    if kit.ui.button("?") {
        viewer.act(Action::Help);
    }
    kit.hint("every key");
}
