//! Every knob of the engine, from the table that the engine itself checks against.

use super::Desk;
use crate::viewer::physics::Command;
use crate::viewer::state::Viewer;
use imgui::Drag;
use motes::Params;
use motes::world::ParamInfo;
use toml::Value;

pub fn draw(desk: &Desk, viewer: &mut Viewer) {
    if desk.ui.button_with_size("as the scene has them", [-1.0, 0.0]) {
        viewer.physics.send(Command::SceneParams);
    }
    let scene = std::sync::Arc::clone(&viewer.frame.scene);
    for info in Params::TABLE {
        let (Some(now), Some(before)) =
            (viewer.frame.params.get(info.name), scene.params.get(info.name))
        else {
            continue;
        };
        let _id = desk.ui.push_id(info.name);
        if let Some(value) = row(desk, info, &now, &before) {
            viewer.physics.send(Command::Param(info.name, value));
        }
    }
}

/// One knob: its name, its value, and a button to put it back. Gives the new value.
fn row(desk: &Desk, info: &ParamInfo, now: &Value, before: &Value) -> Option<Value> {
    let ui = desk.ui;
    ui.align_text_to_frame_padding();
    ui.text(info.name);
    desk.hint(&explain(info, before));
    ui.same_line_with_pos(desk.px(134.0));
    ui.set_next_item_width(desk.px(96.0));
    let mut changed = widget(desk, info, now);
    desk.hint(&explain(info, before));
    if now != before {
        ui.same_line_with_pos(desk.px(236.0));
        if ui.small_button("x") {
            changed = Some(before.clone());
        }
        desk.hint("as the scene has it");
    }
    changed
}

fn widget(desk: &Desk, info: &ParamInfo, now: &Value) -> Option<Value> {
    let (min, max) = (info.min as f32, info.max as f32);
    // A hundred pixels to double a value, whatever its size.
    let pace = |value: f32| (value.abs() * 0.01).max((max - min).min(1.0) * 1e-3);
    match now {
        Value::String(word) => {
            desk.choice("##value", word, info.choices).map(|w| Value::String(w.into()))
        }
        Value::Integer(value) => {
            let mut value = *value as i32;
            let legal = (info.min as i32, info.max as i32);
            Drag::new("##value")
                .range(legal.0, legal.1)
                .speed((value as f32 * 0.01).max(0.1))
                .flags(imgui::SliderFlags::ALWAYS_CLAMP)
                .build(desk.ui, &mut value)
                .then(|| Value::Integer(i64::from(value.clamp(legal.0, legal.1))))
        }
        Value::Float(value) => {
            let mut value = *value as f32;
            Drag::new("##value")
                .range(min, max)
                .speed(pace(value))
                .display_format("%.4g")
                .flags(imgui::SliderFlags::ALWAYS_CLAMP | imgui::SliderFlags::NO_ROUND_TO_FORMAT)
                .build(desk.ui, &mut value)
                .then(|| Value::Float(f64::from(value.clamp(min, max))))
        }
        Value::Array(parts) => {
            let mut values: Vec<f32> =
                parts.iter().map(|v| v.as_float().unwrap_or(0.0) as f32).collect();
            Drag::new("##value")
                .range(min, max)
                .speed(0.05)
                .display_format("%.1f")
                .build_array(desk.ui, &mut values)
                .then(|| {
                    let legal = |v: f32| Value::Float(f64::from(v.clamp(min, max)));
                    Value::Array(values.iter().map(|&v| legal(v)).collect())
                })
        }
        _ => None,
    }
}

/// What it does, its unit, what is legal, and what the scene says.
fn explain(info: &ParamInfo, before: &Value) -> String {
    let legal = match info.choices.is_empty() {
        true => format!("{} to {}", info.min, info.max),
        false => info.choices.join(", "),
    };
    let unit = if info.unit == "1" { String::new() } else { format!(" [{}]", info.unit) };
    format!("{}{unit}\n{}\nlegal: {legal}\nscene: {before}", info.name, info.doc)
}
