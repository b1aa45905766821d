//! The list of keys.

use super::Kit;
use crate::viewer::keys::{BINDINGS, MOUSE};
use crate::viewer::state::Viewer;
use imgui::{Condition, WindowFlags};

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    if !viewer.help {
        return;
    }
    let ui = kit.ui;
    let [width, height] = ui.io().display_size;
    let mut open = true;
    ui.window("Keys and mouse")
        .opened(&mut open)
        .position([width * 0.5, height * 0.5], Condition::Always)
        .position_pivot([0.5, 0.5])
        .size([kit.px(720.0).min(width), kit.px(540.0).min(height)], Condition::Always)
        .flags(WindowFlags::NO_COLLAPSE | WindowFlags::NO_RESIZE | WindowFlags::NO_MOVE)
        .build(|| {
            ui.columns(2, "keys", false);
            let row = |key: &str, does: &str, gap: f32| {
                ui.text(key);
                // Counted from the left of the column.
                ui.same_line_with_pos(kit.px(gap));
                ui.text_disabled(does);
            };
            let half = BINDINGS.len().div_ceil(2) + 5;
            BINDINGS.iter().take(half).for_each(|b| row(b.name, b.does, 84.0));
            ui.next_column();
            BINDINGS.iter().skip(half).for_each(|b| row(b.name, b.does, 84.0));
            ui.spacing();
            for (what, does) in MOUSE {
                ui.text(what);
                ui.same_line();
                ui.text_disabled(does);
            }
        });
    viewer.help = open;
}
