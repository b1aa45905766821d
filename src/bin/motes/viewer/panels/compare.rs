//! Backends side by side on the scene as it is now: median times per pass as bars.

use super::Kit;
use crate::painter::palette;
use crate::viewer::comparison::Comparison;
use crate::viewer::physics::Command;
use crate::viewer::state::Viewer;
use imgui::StyleColor;

/// Width of the names at 100 % [px].
const NAMES: f32 = 168.0;

const ABOUT: &str = "copies of the scene as it is now, one after the other: on one worker, on all, \
    and on every Vulkan device; pause the scene for steady figures";

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    let ui = kit.ui;
    let steps = &mut viewer.compare.steps;
    ui.set_next_item_width(kit.px(110.0));
    ui.slider("steps", 10, 300, steps);
    *steps = (*steps).clamp(1, 10_000);
    ui.same_line();
    let (label, command, hint) = match viewer.compare.runs {
        false => ("run on copies###compare", Command::Compare(viewer.compare.steps), ABOUT),
        true => ("stop###compare", Command::StopCompare, "shows those that are done"),
    };
    if ui.button(label) {
        viewer.compare.runs |= matches!(command, Command::Compare(_));
        viewer.physics.send(command);
    }
    kit.hint(hint);
    ui.same_line();
    match (&viewer.compare.result, viewer.compare.runs) {
        (_, true) => ui.text_disabled("running ..."),
        (None, _) => ui.text_disabled("nothing compared yet"),
        (Some(result), _) => {
            ui.text_disabled(format!("{}, medians of {} steps, ms", result.scene, result.steps));
        }
    }
    if let Some(result) = &viewer.compare.result {
        bars(kit, result);
    }
}

fn color(run: usize) -> [f32; 4] {
    let [r, g, b] = palette::group(run as u32).map(|c| f32::from(c) / 255.0);
    [r, g, b, 1.0]
}

fn bars(kit: &Kit, result: &Comparison) {
    let ui = kit.ui;
    let Some(_child) = ui.child_window("bars").size([0.0, 0.0]).begin() else { return };
    let right = ui.cursor_screen_pos()[0] + ui.content_region_avail()[0];
    for (k, run) in result.runs.iter().enumerate() {
        let text = format!("{}: {:.2} a step", run.name, run.wall_ms);
        let gap = ui.clone_style().item_spacing[0];
        if k > 0 && ui.item_rect_max()[0] + gap + ui.calc_text_size(&text)[0] <= right {
            ui.same_line();
        }
        ui.text_colored(color(k), text);
    }
    let passes = result.passes();
    let of = |k: usize, pass: motes::Pass| result.runs[k].ms[pass as usize];
    let most = passes
        .iter()
        .flat_map(|&pass| (0..result.runs.len()).map(move |k| of(k, pass)))
        .fold(1e-6, f32::max);
    let ink = ui.style_color(StyleColor::Text);
    let grey = ui.style_color(StyleColor::TextDisabled);
    let tall = kit.px(9.0);
    let values = |pass: motes::Pass| -> Vec<String> {
        (0..result.runs.len()).map(|k| format!("{:.3}", of(k, pass))).collect()
    };
    let widest = |pass: &motes::Pass| ui.calc_text_size(values(*pass).join(" / "))[0];
    let numbers = passes.iter().map(widest).fold(0.0, f32::max);
    for pass in passes {
        let [left, top] = ui.cursor_screen_pos();
        let room = ui.content_region_avail()[0] - kit.px(NAMES + 12.0) - numbers;
        let values = values(pass);
        let height = (tall * result.runs.len() as f32).max(ui.text_line_height());
        let list = ui.get_window_draw_list();
        list.add_text([left, top], ink, pass.name());
        for k in 0..result.runs.len() {
            let ms = of(k, pass);
            let y = top + tall * k as f32;
            let x = left + kit.px(NAMES);
            let end = x + (room * ms / most).max(1.0);
            list.add_rect([x, y + 1.0], [end, y + tall - 1.0], color(k)).filled(true).build();
        }
        let longest = (0..result.runs.len()).map(|k| of(k, pass)).fold(0.0, f32::max);
        let end = left + kit.px(NAMES + 6.0) + room * longest / most;
        list.add_text([end, top], grey, values.join(" / "));
        ui.dummy([1.0, height + kit.px(2.0)]);
        if ui.is_mouse_hovering_rect([left, top], [left + ui.window_size()[0], top + height]) {
            let lines = result.runs.iter().zip(&values).map(|(r, v)| format!("{}: {v} ms", r.name));
            let text: Vec<String> = lines.collect();
            ui.tooltip_text(format!("{}\n{}", pass.name(), text.join("\n")));
        }
    }
}
