//! The legend of the colours, at the upper right of the scene.

use super::Kit;
use crate::viewer::legend::Legend;
use crate::viewer::state::Viewer;
use imgui::StyleColor;

/// Sizes at 100 % [px].
const EDGE: f32 = 10.0;
const BAR: [f32; 2] = [14.0, 110.0];

pub fn draw(kit: &Kit, viewer: &Viewer) {
    let view = &viewer.view;
    let right = (view.corner[0] + view.size[0]) as f32 - kit.px(EDGE);
    let top = view.corner[1] as f32 + kit.px(EDGE);
    // A small scene is not covered by its legend.
    if (view.size[1] as f32) < kit.px(BAR[1] * 2.0) || (view.size[0] as f32) < kit.px(240.0) {
        return;
    }
    match &viewer.scenery.legend {
        Legend::Bar { title, ends, unit, colors } => {
            heading(kit, title, right, top);
            bar(kit, *ends, unit, colors, right, top + kit.ui.text_line_height() + kit.px(4.0));
        }
        // A single name tells nothing apart.
        Legend::Names { names, .. } if names.len() < 2 => {}
        Legend::Names { title, names, more } => {
            heading(kit, title, right, top);
            list_names(kit, names, *more, right, top + kit.ui.text_line_height() + kit.px(4.0));
        }
    }
}

fn heading(kit: &Kit, title: &str, right: f32, top: f32) {
    let grey = kit.ui.style_color(StyleColor::TextDisabled);
    let wide = kit.ui.calc_text_size(title)[0];
    kit.ui.get_background_draw_list().add_text([right - wide, top], grey, title);
}

fn bar(kit: &Kit, ends: (f32, f32), unit: &str, colors: &[[u8; 3]], right: f32, top: f32) {
    let ui = kit.ui;
    let list = ui.get_background_draw_list();
    let [wide, tall] = BAR.map(|length| kit.px(length));
    let step = tall / colors.len() as f32;
    for (k, &color) in colors.iter().rev().enumerate() {
        let [r, g, b] = color.map(|c| f32::from(c) / 255.0);
        let y = top + step * k as f32;
        list.add_rect([right - wide, y], [right, y + step], [r, g, b, 1.0]).filled(true).build();
    }
    let ink = ui.style_color(StyleColor::Text);
    let line = ui.text_line_height();
    let middle = 0.5 * (ends.0 + ends.1);
    for (share, value) in [(0.0, ends.1), (0.5, middle), (1.0, ends.0)] {
        let text = format!("{} {unit}", short(value, ends.1));
        let x = right - wide - kit.px(6.0) - ui.calc_text_size(&text)[0];
        list.add_text([x, top + (tall - line) * share], ink, text);
    }
}

/// As many digits as tell the ends apart.
fn short(value: f32, most: f32) -> String {
    let digits = match most.abs() {
        m if m >= 100.0 => 0,
        m if m >= 10.0 => 1,
        m if m >= 0.1 => 2,
        _ => 4,
    };
    // Plus 0, since a middle of -0.00 is none.
    format!("{:.digits$}", value + 0.0)
}

fn list_names(kit: &Kit, names: &[([u8; 3], String)], more: usize, right: f32, top: f32) {
    let ui = kit.ui;
    let list = ui.get_background_draw_list();
    let ink = ui.style_color(StyleColor::Text);
    let line = ui.text_line_height() + kit.px(2.0);
    let square = kit.px(10.0);
    for (k, (color, name)) in names.iter().enumerate() {
        let [r, g, b] = color.map(|c| f32::from(c) / 255.0);
        let y = top + line * k as f32;
        let low = y + (line - square) * 0.5;
        list.add_rect([right - square, low], [right, low + square], [r, g, b, 1.0])
            .filled(true)
            .build();
        let wide = ui.calc_text_size(name)[0];
        list.add_text([right - square - kit.px(6.0) - wide, y], ink, name);
    }
    if more > 0 {
        let text = format!("and {more} more");
        let wide = ui.calc_text_size(&text)[0];
        let grey = ui.style_color(StyleColor::TextDisabled);
        list.add_text([right - wide, top + line * names.len() as f32], grey, text);
    }
}
