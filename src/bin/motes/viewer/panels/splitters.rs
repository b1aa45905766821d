//! The borders between panels, which can be dragged. Where they are is kept in the settings.

use super::{Kit, Layout};
use crate::viewer::settings::Splits;
use imgui::{Condition, MouseButton, MouseCursor, StyleColor, StyleVar, WindowFlags};

/// Width of what can be taken at 100 % [px].
const GRIP: f32 = 6.0;

/// A border: where it is, and which panel it makes larger.
struct Border {
    name: &'static str,
    /// Left, top, width, height [px]; the border runs along the longer side.
    area: super::Area,
    /// The size that it gives its panel now [px].
    shown: f32,
    /// Which size that is.
    size: fn(&mut Splits) -> &mut f32,
    /// What a move of the pointer along x and y adds to it.
    grows: [f32; 2],
}

fn borders(layout: &Layout, grip: f32) -> Vec<Border> {
    let Layout { view, run, scenes, inspector, graphs, .. } = *layout;
    let upright = |x: f32, top: f32, height: f32| [x - grip * 0.5, top, grip, height];
    let flat = |left: f32, y: f32, width: f32| [left, y - grip * 0.5, width, grip];
    let all = [
        Border {
            name: "##left",
            area: upright(run[2], 0.0, view[3] + graphs[3]),
            shown: run[2],
            size: |splits| &mut splits.left,
            grows: [1.0, 0.0],
        },
        Border {
            name: "##right",
            area: upright(scenes[0], 0.0, scenes[3] + inspector[3]),
            shown: scenes[2],
            size: |splits| &mut splits.right,
            grows: [-1.0, 0.0],
        },
        Border {
            name: "##bottom",
            area: flat(graphs[0], graphs[1], graphs[2]),
            shown: graphs[3],
            size: |splits| &mut splits.bottom,
            grows: [0.0, -1.0],
        },
        Border {
            name: "##run",
            area: flat(0.0, run[3], run[2]),
            shown: run[3],
            size: |splits| &mut splits.run,
            grows: [0.0, 1.0],
        },
        Border {
            name: "##scenes",
            area: flat(scenes[0], scenes[3], scenes[2]),
            shown: scenes[3],
            size: |splits| &mut splits.scenes,
            grows: [0.0, 1.0],
        },
    ];
    let here = |border: &Border| match border.name {
        "##left" | "##run" => run[2] > 0.0,
        "##bottom" => graphs[3] > 0.0,
        _ => scenes[2] > 0.0,
    };
    all.into_iter().filter(here).collect()
}

pub fn draw(kit: &Kit, splits: &mut Splits, layout: &Layout) {
    let ui = kit.ui;
    let _small = ui.push_style_var(StyleVar::WindowMinSize([1.0, 1.0]));
    let _bare = ui.push_style_var(StyleVar::WindowPadding([0.0, 0.0]));
    let _open = ui.push_style_var(StyleVar::WindowBorderSize(0.0));
    let flags = WindowFlags::NO_DECORATION
        | WindowFlags::NO_MOVE
        | WindowFlags::NO_BACKGROUND
        | WindowFlags::NO_SAVED_SETTINGS
        | WindowFlags::NO_FOCUS_ON_APPEARING
        | WindowFlags::NO_NAV;
    for Border { name, area, shown, size, grows } in borders(layout, kit.px(GRIP).round()) {
        let [left, top, width, height] = area;
        ui.window(name)
            .position([left, top], Condition::Always)
            .size([width, height], Condition::Always)
            .flags(flags)
            .build(|| {
                ui.invisible_button("grip", [width.max(1.0), height.max(1.0)]);
                if !(ui.is_item_hovered() || ui.is_item_active()) {
                    return;
                }
                let upright = width < height;
                ui.set_mouse_cursor(Some(match upright {
                    true => MouseCursor::ResizeEW,
                    false => MouseCursor::ResizeNS,
                }));
                let color = ui.style_color(StyleColor::SeparatorActive);
                let end = [left + width, top + height];
                ui.get_window_draw_list().add_rect([left, top], end, color).filled(true).build();
                if ui.is_item_active() && ui.is_mouse_down(MouseButton::Left) {
                    let (scale, moved) = (kit.scale.max(0.1), ui.io().mouse_delta);
                    let now = size(splits);
                    // A window that is too small, or that chooses itself, shows another size.
                    if (*now - shown / scale).abs() > 1.0 {
                        *now = shown / scale;
                    }
                    *now += (moved[0] * grows[0] + moved[1] * grows[1]) / scale;
                    let [width, height] = ui.io().display_size.map(|side| side / kit.scale);
                    splits.fit(width, height);
                }
            });
    }
}
