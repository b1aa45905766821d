//! Backends side by side on the scene as it is now: median times per pass as bars, on a logarithmic
//! scale, since passes differ by factors of a thousand.

use super::Kit;
use crate::painter::palette;
use crate::viewer::comparison::Comparison;
use crate::viewer::physics::Command;
use crate::viewer::state::Viewer;
use imgui::{ProgressBar, StyleColor};

/// Width of the names at 100 % [px].
const NAMES: f32 = 168.0;
/// Decades shown at most: what is shorter costs nothing.
const DECADES: i32 = 5;

const ABOUT: &str = "copies of the scene as it is now, one after the other: on one worker, on all, \
    and on every Vulkan device; pause the scene for steady figures";

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    let ui = kit.ui;
    let steps = &mut viewer.compare.steps;
    ui.set_next_item_width(kit.px(110.0));
    let text = format!("{steps} steps");
    kit.count("steps", (10, 300), steps, &text);
    ui.same_line();
    let (label, command, hint) = match viewer.compare.runs {
        false => ("run on copies###compare", Command::Compare(viewer.compare.steps), ABOUT),
        true => ("stop###compare", Command::StopCompare, "keeps those that are done"),
    };
    if ui.button(label) {
        viewer.compare.runs |= matches!(command, Command::Compare(_));
        viewer.physics.send(command);
    }
    kit.hint(hint);
    ui.same_line();
    progress(kit, viewer);
    if let Some(result) = &viewer.compare.result {
        bars(kit, result);
    }
}

/// How far it is, or what the bars below are.
fn progress(kit: &Kit, viewer: &Viewer) {
    let ui = kit.ui;
    let compare = &viewer.compare;
    match (&compare.going, &compare.result) {
        (Some(going), _) => {
            let share = going.step as f32 / compare.steps.max(1) as f32;
            let text = format!("{} of {}", going.done + 1, going.of);
            ProgressBar::new(share).size([kit.px(90.0), 0.0]).overlay_text(text).build(ui);
            ui.same_line();
            ui.text_disabled(&going.name);
        }
        (None, _) if compare.runs => ui.text_disabled("begins ..."),
        (None, None) => ui.text_disabled("nothing compared yet"),
        (None, Some(result)) => {
            ui.text_disabled(format!("{}, medians of {} steps", result.scene, result.steps));
        }
    }
}

fn color(run: usize) -> [f32; 4] {
    let [r, g, b] = palette::group(run as u32).map(|c| f32::from(c) / 255.0);
    [r, g, b, 1.0]
}

/// Whole decades from below the shortest time to above the longest.
struct Scale {
    low: i32,
    high: i32,
}

impl Scale {
    fn of(times: impl Iterator<Item = f32> + Clone) -> Self {
        let known = times.filter(|ms| *ms > 0.0);
        let high = known.clone().fold(1e-4, f32::max).log10().ceil() as i32;
        let low = known.fold(f32::MAX, f32::min).log10().floor() as i32;
        Scale { low: low.clamp(high - DECADES, high - 1), high }
    }

    /// Where a time stands, from 0 to 1.
    fn share(&self, ms: f32) -> f32 {
        let decades = (self.high - self.low) as f32;
        ((ms.max(1e-9).log10() - self.low as f32) / decades).clamp(0.0, 1.0)
    }
}

/// A group of bars: its name, and a time for each run [ms].
struct Row {
    name: &'static str,
    ms: Vec<f32>,
}

fn rows(result: &Comparison) -> Vec<Row> {
    let whole = result.runs.iter().map(|run| run.wall_ms).collect();
    let whole = Row { name: "whole step", ms: whole };
    let passes = result.passes().into_iter().map(|pass| Row {
        name: pass.name(),
        ms: result.runs.iter().map(|run| run.ms[pass as usize]).collect(),
    });
    std::iter::once(whole).chain(passes).collect()
}

fn bars(kit: &Kit, result: &Comparison) {
    let ui = kit.ui;
    let Some(_child) = ui.child_window("bars").size([0.0, 0.0]).begin() else { return };
    legend(kit, result);
    let rows = rows(result);
    let scale = Scale::of(rows.iter().flat_map(|row| row.ms.iter().copied()));
    let values = |row: &Row| -> String {
        let words: Vec<String> = row.ms.iter().map(|ms| format!("{ms:.3}")).collect();
        format!("{} ms", words.join(" / "))
    };
    let widest = rows.iter().map(|row| ui.calc_text_size(values(row))[0]).fold(0.0, f32::max);
    let start = ui.cursor_screen_pos()[0] + kit.px(NAMES);
    let room = (ui.content_region_avail()[0] - kit.px(NAMES + 12.0) - widest).max(kit.px(40.0));
    let ink = ui.style_color(StyleColor::Text);
    let grey = ui.style_color(StyleColor::TextDisabled);
    decades(kit, &scale, start, room);
    let tall = kit.px(9.0);
    for row in &rows {
        let [left, top] = ui.cursor_screen_pos();
        let height = (tall * row.ms.len() as f32).max(ui.text_line_height());
        let list = ui.get_window_draw_list();
        list.add_text([left, top], ink, row.name);
        for (k, &ms) in row.ms.iter().enumerate() {
            let y = top + tall * k as f32;
            let end = start + (room * scale.share(ms)).max(1.0);
            list.add_rect([start, y + 1.0], [end, y + tall - 1.0], color(k)).filled(true).build();
        }
        list.add_text([start + room + kit.px(6.0), top], grey, values(row));
        drop(list);
        ui.dummy([1.0, height + kit.px(2.0)]);
        if ui.is_mouse_hovering_rect([left, top], [left + ui.window_size()[0], top + height]) {
            let lines =
                result.runs.iter().zip(&row.ms).map(|(r, ms)| format!("{}: {ms:.4} ms", r.name));
            let text: Vec<String> = lines.collect();
            ui.tooltip_text(format!("{}\n{}", row.name, text.join("\n")));
        }
    }
}

/// The names of the runs in their colours, as many on a line as fit.
fn legend(kit: &Kit, result: &Comparison) {
    let ui = kit.ui;
    let right = ui.cursor_screen_pos()[0] + ui.content_region_avail()[0];
    for (k, run) in result.runs.iter().enumerate() {
        let text = format!("{}: {:.2} ms a step", run.name, run.wall_ms);
        let gap = ui.clone_style().item_spacing[0];
        if k > 0 && ui.item_rect_max()[0] + gap + ui.calc_text_size(&text)[0] <= right {
            ui.same_line();
        }
        ui.text_colored(color(k), text);
    }
}

/// A line a decade, with its time.
fn decades(kit: &Kit, scale: &Scale, start: f32, room: f32) {
    let ui = kit.ui;
    let list = ui.get_window_draw_list();
    let grey = ui.style_color(StyleColor::TextDisabled);
    let faint = [grey[0], grey[1], grey[2], 0.3];
    let top = ui.cursor_screen_pos()[1];
    let bottom = ui.window_pos()[1] + ui.window_size()[1];
    for decade in scale.low..=scale.high {
        let ms = 10f32.powi(decade);
        let x = start + room * scale.share(ms);
        list.add_line([x, top + ui.text_line_height()], [x, bottom], faint).build();
        let label = format!("{ms} ms");
        let wide = ui.calc_text_size(&label)[0];
        list.add_text([x - wide * 0.5, top], grey, label);
    }
    drop(list);
    ui.dummy([1.0, ui.text_line_height()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_are_equal_lengths() {
        let scale = Scale::of([0.02, 3.0, 0.0, 40.0].into_iter());
        assert_eq!((scale.low, scale.high), (-2, 2));
        let lengths = [0.01, 0.1, 1.0, 10.0, 100.0].map(|ms| scale.share(ms));
        for (k, length) in lengths.into_iter().enumerate() {
            assert!((length - 0.25 * k as f32).abs() < 1e-5, "{lengths:?}");
        }
        // What costs nothing stretches no scale, and nothing at all is a scale, too.
        assert_eq!(Scale::of([1e-9, 5.0].into_iter()).low, 1 - DECADES);
        let empty = Scale::of(std::iter::empty());
        assert!(empty.low < empty.high && empty.share(0.0) == 0.0);
    }
}
