//! The time of every pass over the last seconds, stacked: where a step's time goes.

use super::{Area, Kit};
use crate::viewer::action::Action;
use crate::viewer::pass_colors::of as color;
use crate::viewer::physics::Sample;
use crate::viewer::state::Viewer;
use motes::Pass;
use motes::pass::PASSES;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Width of a column of the graph at 100 % [px].
const COLUMN: f32 = 2.0;
/// Width of the legend at 100 % [px].
const LEGEND: f32 = 196.0;

/// Passes of a step that are told of one by one.
const TOLD: usize = 14;

/// The panel's state.
#[derive(Default)]
pub struct Profile {
    /// Where a picture of the graph is to go.
    pub picture: Option<PathBuf>,
    /// Where the graph was drawn.
    area: Area,
    /// Top of the scale [ms]; it follows slowly, so that the graph does not jump.
    top: f32,
}

impl Profile {
    /// A picture that is wanted, and which part of the window it is.
    pub fn take_picture(&mut self) -> Option<(PathBuf, [u32; 4])> {
        let [_, _, width, height] = self.area;
        let path = if width >= 1.0 && height >= 1.0 { self.picture.take() } else { None };
        path.map(|path| (path, self.area.map(|v| v.max(0.0) as u32)))
    }
}

/// Mean milliseconds of each pass in each column of the graph; none where no step ended.
struct Columns {
    ms: Vec<Option<[f32; Pass::COUNT]>>,
}

impl Columns {
    fn new(samples: &VecDeque<Sample>, now: Instant, seconds: f32, count: usize) -> Self {
        let mut sums = vec![([0.0f32; Pass::COUNT], 0u32); count];
        for sample in samples {
            let age = now.saturating_duration_since(sample.at).as_secs_f32() / seconds;
            if age >= 1.0 {
                continue;
            }
            let column = ((1.0 - age) * count as f32) as usize;
            if let Some((sum, steps)) = sums.get_mut(column.min(count.saturating_sub(1))) {
                sum.iter_mut().zip(&sample.ms).for_each(|(sum, ms)| *sum += ms);
                *steps += 1;
            }
        }
        let mut ms: Vec<Option<[f32; Pass::COUNT]>> = sums
            .into_iter()
            .map(|(sum, steps)| (steps > 0).then(|| sum.map(|ms| ms / steps as f32)))
            .collect();
        fill_gaps(&mut ms, samples.len(), count);
        Columns { ms }
    }

    fn highest(&self) -> f32 {
        self.ms.iter().flatten().map(|ms| ms.iter().sum()).fold(0.0, f32::max)
    }

    /// Whether a step is drawn at this share of the width.
    fn is_filled(&self, share: f32) -> bool {
        let column = (share.clamp(0.0, 1.0) * self.ms.len() as f32) as usize;
        self.ms.get(column.min(self.ms.len().saturating_sub(1))).is_some_and(Option::is_some)
    }

    /// Mean over the columns that have steps.
    fn mean(&self, pass: Pass) -> f32 {
        let count = self.ms.iter().flatten().count().max(1) as f32;
        self.ms.iter().flatten().map(|ms| ms[pass as usize]).sum::<f32>() / count
    }
}

/// Steps that are fewer than columns leave holes, which are filled with the step after; a pause is
/// longer than the usual distance of two steps and stays open.
fn fill_gaps(columns: &mut [Option<[f32; Pass::COUNT]>], samples: usize, count: usize) {
    let usual = (count / samples.max(1)).max(1) * 4;
    let mut next: Option<(usize, [f32; Pass::COUNT])> = None;
    for i in (0..columns.len()).rev() {
        match columns[i] {
            Some(ms) => next = Some((i, ms)),
            None => columns[i] = next.filter(|(at, _)| at - i <= usual).map(|(_, ms)| ms),
        }
    }
}

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    controls(kit, viewer);
    let ui = kit.ui;
    let [left, top] = ui.cursor_screen_pos();
    let [width, height] = ui.content_region_avail();
    let graph = [left, top, width - kit.px(LEGEND), height];
    if graph[2] < kit.px(40.0) || height < kit.px(30.0) {
        return;
    }
    viewer.profile.area = [left, top, width, height];
    ui.invisible_button("graph", [graph[2], height]);
    let hovered = ui.is_item_hovered();
    let wheel = ui.io().mouse_wheel;
    if hovered && wheel != 0.0 {
        let seconds = viewer.settings.profile_seconds * 0.85_f32.powf(wheel);
        viewer.settings.profile_seconds = seconds.clamp(0.5, 30.0);
    }
    let count = (graph[2] / kit.px(COLUMN)) as usize;
    let history = &viewer.history;
    let columns =
        Columns::new(history.shown(), history.now(), viewer.settings.profile_seconds, count);
    let goal = (columns.highest() * 1.1).max(0.05);
    let profile = &mut viewer.profile;
    // Up at once, down slowly.
    profile.top = if goal > profile.top { goal } else { profile.top * 0.97 + goal * 0.03 };
    let under = hovered.then(|| ui.io().mouse_pos);
    let pass = paint(kit, graph, &columns, profile.top, under);
    scale(kit, graph, profile.top, viewer.settings.profile_seconds);
    if let Some(pass) = legend(kit, [left + graph[2], top, kit.px(LEGEND), height], &columns) {
        tell(kit, pass, &columns);
    }
    let share = under.map(|[x, _]| (x - left) / graph[2]);
    let seconds = viewer.settings.profile_seconds;
    let step = share.and_then(|share| step_at(history.shown(), history.now(), seconds, share));
    if let (Some(step), true) = (step, share.is_some_and(|share| columns.is_filled(share))) {
        tell_step(kit, step, pass);
    }
}

fn controls(kit: &Kit, viewer: &mut Viewer) {
    let ui = kit.ui;
    let mut frozen = viewer.history.is_frozen();
    if ui.checkbox("freeze", &mut frozen) {
        viewer.act(Action::Freeze);
    }
    kit.hint("Z");
    ui.same_line();
    ui.set_next_item_width(kit.px(120.0));
    let text = format!("{:.1} s", viewer.settings.profile_seconds);
    kit.slider("seconds", (0.5, 30.0), &mut viewer.settings.profile_seconds, &text);
    kit.hint("seconds shown; the wheel over the graph zooms");
    ui.same_line();
    if ui.button("save") {
        viewer.act(Action::SaveProfile);
    }
    kit.hint("every step as CSV and the graph as PNG; F8");
}

/// Draws the columns; gives the pass under the pointer.
fn paint(
    kit: &Kit,
    [left, top, width, height]: Area,
    columns: &Columns,
    scale: f32,
    under: Option<[f32; 2]>,
) -> Option<Pass> {
    let list = kit.ui.get_window_draw_list();
    let back = kit.ui.style_color(imgui::StyleColor::FrameBg);
    list.add_rect([left, top], [left + width, top + height], back).filled(true).build();
    let wide = width / columns.ms.len().max(1) as f32;
    let mut found = None;
    let mut start = 0;
    // Columns that one step fills are drawn as one.
    for run in columns.ms.chunk_by(PartialEq::eq) {
        let [x0, x1] = [start, start + run.len()].map(|i| left + i as f32 * wide);
        start += run.len();
        let Some(ms) = &run[0] else { continue };
        let mut y = top + height;
        for_each_piece(ms, height / scale, |pass, tall| {
            let up = (y - tall).max(top);
            list.add_rect([x0, up], [x1, y], color(pass)).filled(true).build();
            if let Some([px, py]) = under
                && (x0..x1).contains(&px)
                && (up..y).contains(&py)
            {
                found = Some(pass);
            }
            y = up;
        });
    }
    found
}

/// The pieces of a column, from below: a pass and a height [px]. Passes that are thinner than a
/// pixel go together, and the costliest of them stands for all, so that a column never has more
/// pieces than pixels.
fn for_each_piece(ms: &[f32; Pass::COUNT], px_per_ms: f32, mut piece: impl FnMut(Pass, f32)) {
    let (mut tall, mut most, mut costliest) = (0.0, 0.0, None);
    for info in PASSES {
        let one = ms[info.pass as usize] * px_per_ms;
        tall += one;
        if one > most {
            (most, costliest) = (one, Some(info.pass));
        }
        if tall >= 1.0
            && let Some(pass) = costliest.take()
        {
            piece(pass, tall);
            (tall, most) = (0.0, 0.0);
        }
    }
    if let Some(pass) = costliest {
        piece(pass, tall);
    }
}

/// Lines and numbers over the graph.
fn scale(kit: &Kit, [left, top, width, height]: Area, most: f32, seconds: f32) {
    let list = kit.ui.get_window_draw_list();
    let ink = kit.ui.style_color(imgui::StyleColor::Text);
    let faint = [ink[0], ink[1], ink[2], 0.16];
    let step = nice(most / 3.0);
    let mut ms = step;
    while ms < most {
        let y = top + height * (1.0 - ms / most);
        list.add_line([left, y], [left + width, y], faint).build();
        list.add_text([left + kit.px(3.0), y], ink, format!("{ms} ms"));
        ms += step;
    }
    let label = format!("last {seconds:.1} s");
    let [wide, _] = kit.ui.calc_text_size(&label);
    list.add_text([left + width - wide - kit.px(4.0), top + kit.px(2.0)], ink, label);
}

/// 1, 2 or 5 times a power of ten.
fn nice(value: f32) -> f32 {
    let power = 10f32.powf(value.max(1e-6).log10().floor());
    let lead = value / power;
    power
        * if lead < 1.5 {
            1.0
        } else if lead < 3.5 {
            2.0
        } else {
            5.0
        }
}

/// The costliest passes with their mean; gives the one under the pointer.
fn legend(kit: &Kit, [left, top, width, height]: Area, columns: &Columns) -> Option<Pass> {
    let ui = kit.ui;
    let list = ui.get_window_draw_list();
    let mut means: Vec<(Pass, f32)> =
        PASSES.iter().map(|info| (info.pass, columns.mean(info.pass))).collect();
    means.retain(|(_, ms)| *ms > 0.0);
    means.sort_by(|a, b| b.1.total_cmp(&a.1));
    let ink = ui.style_color(imgui::StyleColor::Text);
    let line = ui.text_line_height() + kit.px(2.0);
    let mut found = None;
    for (k, (pass, ms)) in means.iter().take((height / line) as usize).enumerate() {
        let (x, y) = (left + kit.px(8.0), top + k as f32 * line);
        let square = kit.px(9.0);
        let low = y + (line - square) * 0.5;
        list.add_rect([x, low], [x + square, low + square], color(*pass)).filled(true).build();
        list.add_text([x + kit.px(14.0), y], ink, pass.name());
        let value = format!("{ms:.3}");
        let [wide, _] = ui.calc_text_size(&value);
        list.add_text([left + width - wide, y], ink, value);
        if ui.is_mouse_hovering_rect([x, y], [left + width, y + line]) {
            found = Some(*pass);
        }
    }
    found
}

/// The step that is drawn at a share of the graph's width: the first that ended then or later, as
/// gaps are filled with the step after them.
fn step_at(samples: &VecDeque<Sample>, now: Instant, seconds: f32, share: f32) -> Option<&Sample> {
    let age = Duration::from_secs_f32(seconds * (1.0 - share.clamp(0.0, 1.0)));
    let then = now.checked_sub(age)?;
    // What ended after the last look is at the right edge.
    samples.iter().find(|sample| sample.at >= then).or(samples.back())
}

/// What one step took, pass by pass; the one under the pointer stands out.
fn tell_step(kit: &Kit, step: &Sample, under: Option<Pass>) {
    let ui = kit.ui;
    let mut passes: Vec<(Pass, f32)> =
        PASSES.iter().map(|info| (info.pass, step.ms[info.pass as usize])).collect();
    passes.retain(|(_, ms)| *ms > 0.0);
    passes.sort_by(|a, b| b.1.total_cmp(&a.1));
    ui.tooltip(|| {
        ui.text(format!("step {}: {:.3} ms", step.step, step.wall_ms));
        ui.text_disabled(format!("{} iterations, {} contacts", step.iterations, step.contacts));
        for (pass, ms) in passes.iter().take(TOLD) {
            let ([x, y], side) = (ui.cursor_screen_pos(), kit.px(9.0));
            let low = y + (ui.text_line_height() - side) * 0.5;
            let square = ([x, low], [x + side, low + side]);
            ui.get_window_draw_list()
                .add_rect(square.0, square.1, color(*pass))
                .filled(true)
                .build();
            ui.dummy([side, 1.0]);
            ui.same_line_with_pos(kit.px(24.0));
            match under == Some(*pass) {
                true => ui.text(pass.name()),
                false => ui.text_disabled(pass.name()),
            }
            ui.same_line_with_pos(kit.px(190.0));
            ui.text(format!("{ms:.3} ms"));
        }
        let rest: f32 = passes.iter().skip(TOLD).map(|(_, ms)| ms).sum();
        if rest > 0.0 {
            ui.text_disabled(format!("{} others: {rest:.3} ms", passes.len() - TOLD));
        }
        if let Some(pass) = under {
            ui.text_disabled(format!("{}: {}", pass.name(), pass.info().doc));
        }
    });
}

/// What a pass does and costs.
fn tell(kit: &Kit, pass: Pass, columns: &Columns) {
    let ui = kit.ui;
    let total: f32 = PASSES.iter().map(|info| columns.mean(info.pass)).sum();
    let ms = columns.mean(pass);
    ui.tooltip(|| {
        ui.text_colored(color(pass), pass.name());
        ui.text(pass.info().doc);
        let share = 100.0 * ms / total.max(1e-9);
        ui.text(format!("{ms:.3} ms a step, {share:.1} %, the mean of what is shown"));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_under_the_pointer_is_told() {
        let now = Instant::now();
        let sample = |step: u64, age: f32| Sample {
            at: now - Duration::from_secs_f32(age),
            step,
            wall_ms: step as f32,
            ms: [0.0; Pass::COUNT],
            iterations: 1,
            contacts: 0,
        };
        let samples: VecDeque<Sample> =
            [sample(1, 3.0), sample(2, 2.0), sample(3, 1.0)].into_iter().collect();
        // The graph shows four seconds, so a second is a quarter of it.
        let at = |share: f32| step_at(&samples, now, 4.0, share).map(|s| (s.step, s.wall_ms));
        assert_eq!(at(0.2), Some((1, 1.0)));
        assert_eq!(at(0.3), Some((2, 2.0)));
        assert_eq!(at(0.7), Some((3, 3.0)));
        assert_eq!(at(1.0), Some((3, 3.0)), "the last step stands for what is not known yet");
        assert!(step_at(&VecDeque::new(), now, 4.0, 0.5).is_none());
        let columns = Columns::new(&samples, now, 4.0, 8);
        assert!(columns.is_filled(0.3) && !columns.is_filled(1.0));
    }

    fn pieces(ms: &[f32; Pass::COUNT]) -> Vec<(Pass, f32)> {
        let mut found = Vec::new();
        for_each_piece(ms, 1.0, |pass, tall| found.push((pass, tall)));
        found
    }

    #[test]
    fn a_column_has_no_more_pieces_than_pixels_and_keeps_its_height() {
        let thin = [0.3; Pass::COUNT];
        let found = pieces(&thin);
        let total: f32 = found.iter().map(|(_, tall)| tall).sum();
        assert!((total - 0.3 * Pass::COUNT as f32).abs() < 1e-3, "{total} px");
        assert!(found.len() <= total.ceil() as usize, "{} pieces in {total} px", found.len());
        assert!(pieces(&[0.0; Pass::COUNT]).is_empty());
    }

    #[test]
    fn the_costliest_stands_for_those_it_goes_with() {
        let [first, second, third] = [0, 1, 2].map(|k| PASSES[k].pass);
        let mut ms = [0.0; Pass::COUNT];
        ms[first as usize] = 0.25;
        ms[second as usize] = 8.0;
        ms[third as usize] = 2.0;
        assert_eq!(pieces(&ms), [(second, 8.25), (third, 2.0)]);
    }
}
