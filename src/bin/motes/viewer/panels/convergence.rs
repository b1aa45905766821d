//! Residual per kind of constraint over the iterations of the running scene.

use super::Kit;
use crate::painter::palette;
use crate::viewer::convergence::Curve;
use crate::viewer::state::Viewer;
use std::time::Duration;

/// How often the curve is measured while it is looked at.
const EVERY: Duration = Duration::from_millis(500);

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    let ui = kit.ui;
    ui.set_next_item_width(kit.px(150.0));
    let iterations = &mut viewer.convergence.iterations;
    let text = format!("{iterations} iterations");
    kit.count("iterations", (5, 500), iterations, &text);
    ui.same_line();
    ui.checkbox("live", &mut viewer.convergence.live);
    kit.hint("measured anew twice a second, on a copy of the world");
    ui.same_line();
    let now = ui.button("measure");
    if let Some(curve) = &viewer.convergence.curve {
        ui.same_line();
        let Curve { solver, step, ms, .. } = &**curve;
        ui.text_disabled(format!("{solver} at step {step}, {ms:.3} ms an iteration"));
        kit.hint(
            "summed |C| of each kind over the iterations of the next substep, with one worker; \
             contacts are left out",
        );
    }
    let due = viewer.convergence.due(EVERY);
    if now || (viewer.convergence.live && due) {
        viewer.ask_convergence();
    }
    match &viewer.convergence.curve {
        Some(curve) if !curve.kinds.is_empty() => plot(kit, curve),
        Some(_) => ui.text_disabled("this scene has no constraints"),
        None => ui.text_disabled("measuring ..."),
    }
}

/// Curves on a logarithmic scale.
fn plot(kit: &Kit, curve: &Curve) {
    let ui = kit.ui;
    let [left, top] = ui.cursor_screen_pos();
    let [width, height] = ui.content_region_avail();
    let (gap, foot) = (kit.px(52.0), ui.text_line_height());
    let (x0, x1) = (left + gap, left + width - kit.px(110.0));
    let (y0, y1) = (top + kit.px(4.0), top + height - foot - kit.px(2.0));
    if x1 - x0 < 20.0 || y1 - y0 < 20.0 {
        return;
    }
    let values = || curve.kinds.iter().flat_map(|(_, r)| r.iter().copied()).filter(|r| *r > 0.0);
    let high = values().fold(f64::MIN_POSITIVE, f64::max).log10().ceil();
    // Six decades tell enough; below lies rounding.
    let low = values().fold(f64::INFINITY, f64::min).log10().floor().clamp(high - 6.0, high - 1.0);
    let list = ui.get_window_draw_list();
    let grey = ui.style_color(imgui::StyleColor::TextDisabled);
    let frame = ui.style_color(imgui::StyleColor::FrameBg);
    list.add_rect([x0, y0], [x1, y1], frame).filled(true).build();
    let y_of = |r: f64| {
        let share = ((r.max(1e-300).log10() - low) / (high - low)).clamp(0.0, 1.0);
        y1 - share as f32 * (y1 - y0)
    };
    let mut decade = low;
    while decade <= high {
        let y = y_of(10f64.powf(decade));
        list.add_line([x0, y], [x1, y], [grey[0], grey[1], grey[2], 0.25]).build();
        list.add_text([left, y - foot * 0.5], grey, format!("1e{decade:.0}"));
        decade += ((high - low) / 3.0).ceil().max(1.0);
    }
    for (k, (kind, residuals)) in curve.kinds.iter().enumerate() {
        let [r, g, b] = palette::group(k as u32).map(|c| f32::from(c) / 255.0);
        let color = [r, g, b, 1.0];
        let last = (residuals.len().max(2) - 1) as f32;
        let point = |(i, r): (usize, &f64)| [x0 + (x1 - x0) * i as f32 / last, y_of(*r)];
        let points: Vec<[f32; 2]> = residuals.iter().enumerate().map(point).collect();
        list.add_polyline(points, color).thickness(kit.px(1.6)).build();
        let at = [x1 + kit.px(8.0), y0 + k as f32 * foot * 2.1];
        list.add_text(at, color, kind.name());
        let end = residuals.last().copied().unwrap_or(0.0);
        list.add_text([at[0], at[1] + foot], grey, format!("{end:.2e} {}", kind.unit()));
    }
    list.add_text([x0, y1 + 1.0], grey, "0");
    let count = curve.kinds.first().map_or(0, |(_, r)| r.len().saturating_sub(1));
    let label = format!("{count} iterations");
    let [wide, _] = ui.calc_text_size(&label);
    list.add_text([x1 - wide, y1 + 1.0], grey, label);
    hover(kit, curve, [x0, y0, x1, y1]);
}

fn hover(kit: &Kit, curve: &Curve, [x0, y0, x1, y1]: [f32; 4]) {
    let ui = kit.ui;
    if !ui.is_mouse_hovering_rect([x0, y0], [x1, y1]) {
        return;
    }
    let count = curve.kinds.first().map_or(0, |(_, r)| r.len());
    let share = (ui.io().mouse_pos[0] - x0) / (x1 - x0);
    let i = (share * count.saturating_sub(1) as f32).round().max(0.0) as usize;
    ui.tooltip(|| {
        ui.text(format!("iteration {i}"));
        for (kind, residuals) in &curve.kinds {
            if let Some(r) = residuals.get(i) {
                ui.text(format!("{} {r:.3e} {}", kind.name(), kind.unit()));
            }
        }
    });
}
