//! The panel Messages, newest first. Unread errors are also drawn over the scene.

use super::Kit;
use crate::viewer::state::Viewer;
use imgui::{SliderFlags, StyleColor};

const RED: [f32; 4] = [0.95, 0.40, 0.38, 1.0];

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    viewer.messages.unread_errors = 0;
    if kit.ui.button("Clear") {
        viewer.messages.clear();
    }
    kit.ui.same_line();
    let width = kit.ui.push_item_width(kit.px(90.0));
    let every = kit.ui.slider_config("steps a picture of a film", 1, 60);
    every.flags(SliderFlags::LOGARITHMIC).build(&mut viewer.settings.record_every);
    kit.hint("F9 records a film: one picture every so many steps, however fast frames are drawn");
    width.end();
    let _child = kit.ui.child_window("lines").size([0.0, 0.0]).begin();
    for message in viewer.messages.lines().rev() {
        let color = message.is_error.then(|| kit.ui.push_style_color(StyleColor::Text, RED));
        match message.times {
            1 => kit.ui.text_wrapped(&message.text),
            times => kit.ui.text_wrapped(format!("{} ({times} times)", message.text)),
        }
        if let Some(color) = color {
            color.end();
        }
    }
}

/// Writes the title of the scene at its top, and the last error at its bottom while it is unread.
pub fn overlay(kit: &Kit, viewer: &Viewer) {
    let view = &viewer.view;
    // Before the list is taken below: there can be one of it at a time.
    if let Some(device) = viewer.starts() {
        middle(kit, viewer, &format!("starting {device} ..."));
    }
    let list = kit.ui.get_background_draw_list();
    let left = view.corner[0] as f32 + kit.px(10.0);
    let line = kit.ui.text_line_height();
    let mut top = (view.corner[1] + view.size[1]) as f32 - kit.px(10.0) - line;
    let unread = viewer.messages.unread_errors > 0;
    let error = viewer.messages.lines().rev().find(|m| m.is_error).filter(|_| unread);
    if let Some(error) = error {
        let room = view.size[0] as f32 - kit.px(20.0);
        let lines: Vec<String> =
            error.text.lines().flat_map(|line| kit.wrap(line, room, 4)).collect();
        for text in lines.iter().rev() {
            let [width, height] = kit.ui.calc_text_size(text);
            let pad = kit.px(4.0);
            list.add_rect(
                [left - pad, top - pad],
                [left + width + pad, top + height + pad],
                [0.1, 0.02, 0.02, 0.85],
            )
            .filled(true)
            .build();
            list.add_text([left, top], RED, text);
            top -= line + kit.px(4.0);
        }
    }
    let head = view.corner[1] as f32 + kit.px(8.0);
    let grey = kit.ui.style_color(StyleColor::TextDisabled);
    list.add_text([left, head], grey, &viewer.moment.scene.title);
    if let Some(recording) = &viewer.recording {
        let at = [left, head + line + kit.px(4.0)];
        list.add_text(at, RED, format!("recording, {} frames (F9 stops)", recording.count));
    }
}

/// Writes a line on a plate in the middle of the scene.
fn middle(kit: &Kit, viewer: &Viewer, text: &str) {
    let view = &viewer.view;
    let list = kit.ui.get_background_draw_list();
    let [width, height] = kit.ui.calc_text_size(text);
    let at = [
        view.corner[0] as f32 + (view.size[0] as f32 - width) * 0.5,
        view.corner[1] as f32 + (view.size[1] as f32 - height) * 0.5,
    ];
    let pad = kit.px(10.0);
    let back = kit.ui.style_color(StyleColor::PopupBg);
    let end = [at[0] + width + pad, at[1] + height + pad];
    list.add_rect([at[0] - pad, at[1] - pad], end, back).filled(true).rounding(pad * 0.5).build();
    list.add_text(at, kit.ui.style_color(StyleColor::Text), text);
}
