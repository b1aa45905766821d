//! Every knob of the engine, from the table that the engine itself checks against: those that are
//! turned often in groups, then the materials, then the others below a fold. What the panel Run
//! shows is not shown again.

use super::Kit;
use super::groups::{GROUPS, Group, Shown};
use crate::viewer::physics::Command;
use crate::viewer::state::Viewer;
use imgui::Drag;
use motes::world::ParamInfo;
use std::time::{Duration, Instant};
use toml::Value;

/// How long a value that was set is shown before the simulation has it: a step may take long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Values that were set and are not in force yet. Without them a knob that is being turned would
/// jump back to the last moment's value.
#[derive(Default)]
pub struct Pending(Vec<(Knob, Value, Instant)>);

/// The number of a material (0 for the parameters themselves), and which of its numbers.
pub type Knob = (u32, &'static str);

impl Pending {
    pub fn set(&mut self, knob: Knob, value: Value) {
        self.0.retain(|(pending, ..)| *pending != knob);
        self.0.push((knob, value, Instant::now()));
    }

    /// The value to show, given the one in force.
    pub fn shown(&mut self, knob: Knob, now: Value) -> Value {
        self.0.retain(|(pending, value, at)| {
            *pending != knob || (*value != now && at.elapsed() < PATIENCE)
        });
        self.0.iter().find(|(pending, ..)| *pending == knob).map_or(now, |(_, v, _)| v.clone())
    }
}

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    if kit.ui.button_with_size("as the scene has them", [-1.0, 0.0]) {
        viewer.pending = Pending::default();
        viewer.physics.send(Command::SceneParams);
    }
    let of = |shown: Shown| GROUPS.iter().filter(move |group| group.shown == shown);
    of(Shown::Open).for_each(|group| draw_group(kit, viewer, group));
    super::materials::draw(kit, viewer);
    kit.ui.separator();
    let open = kit.ui.collapsing_header("Advanced", imgui::TreeNodeFlags::empty());
    kit.hint("how the solver sweeps, when it stops, how neighbours are found");
    if open {
        of(Shown::Advanced).for_each(|group| draw_group(kit, viewer, group));
    }
}

fn draw_group(kit: &Kit, viewer: &mut Viewer, group: &Group) {
    let scene = std::sync::Arc::clone(&viewer.moment.scene);
    kit.ui.text_disabled(group.title);
    for info in group.rows() {
        let (Some(now), Some(before)) =
            (viewer.moment.params.get(info.name), scene.params.get(info.name))
        else {
            continue;
        };
        let _id = kit.ui.push_id(info.name);
        let now = viewer.pending.shown((0, info.name), now);
        if let Some(value) = row(kit, info, &now, &before) {
            viewer.pending.set((0, info.name), value.clone());
            viewer.physics.send(Command::Param(info.name, value));
        }
    }
}

/// One knob: its name, its value, and a button to put it back. Gives the new value.
pub fn row(kit: &Kit, info: &ParamInfo, now: &Value, before: &Value) -> Option<Value> {
    let ui = kit.ui;
    ui.align_text_to_frame_padding();
    ui.text(info.name);
    kit.hint(&explain(info, before));
    if matches!(now, Value::Array(_)) {
        // Three numbers leave no room for it beside them.
        ui.same_line();
        ui.text_disabled(info.unit);
    }
    let right = ui.window_content_region_max()[0];
    ui.same_line_with_pos(kit.px(142.0));
    ui.set_next_item_width((right - kit.px(142.0 + 22.0)).max(kit.px(60.0)));
    let mut changed = widget(kit, info, now);
    kit.hint(&explain(info, before));
    if now != before {
        ui.same_line_with_pos((right - kit.px(17.0)).max(kit.px(142.0 + 64.0)));
        if ui.small_button("x") {
            changed = Some(before.clone());
        }
        kit.hint("as the scene has it");
    }
    changed
}

fn widget(kit: &Kit, info: &ParamInfo, now: &Value) -> Option<Value> {
    let (min, max) = (info.min as f32, info.max as f32);
    // A hundred pixels to double a value, whatever its size.
    let pace = |value: f32| (value.abs() * 0.01).max((max - min).min(1.0) * 1e-3);
    match now {
        Value::String(word) => {
            kit.choice("##value", word, info.choices).map(|w| Value::String(w.into()))
        }
        Value::Integer(value) => {
            let mut value = *value as i32;
            let legal = (info.min as i32, info.max as i32);
            Drag::new("##value")
                .range(legal.0, legal.1)
                .speed((value as f32 * 0.01).max(0.1))
                .flags(imgui::SliderFlags::ALWAYS_CLAMP)
                .build(kit.ui, &mut value)
                .then(|| Value::Integer(i64::from(value.clamp(legal.0, legal.1))))
        }
        Value::Float(value) => {
            let mut value = *value as f32;
            Drag::new("##value")
                .range(min, max)
                .speed(pace(value))
                .display_format(format!("%.4g{}", unit(info)))
                .flags(imgui::SliderFlags::ALWAYS_CLAMP | imgui::SliderFlags::NO_ROUND_TO_FORMAT)
                .build(kit.ui, &mut value)
                .then(|| real(value.clamp(min, max)))
        }
        Value::Array(parts) => {
            let mut values: Vec<f32> =
                parts.iter().map(|v| v.as_float().unwrap_or(0.0) as f32).collect();
            Drag::new("##value")
                .range(min, max)
                .speed(0.05)
                .display_format("%.1f")
                .build_array(kit.ui, &mut values)
                .then(|| Value::Array(values.iter().map(|v| real(v.clamp(min, max))).collect()))
        }
        _ => None,
    }
}

/// A number by its shortest decimal, as the engine gives it back.
pub fn real(value: f32) -> Value {
    Value::Float(value.to_string().parse().unwrap_or(f64::from(value)))
}

/// Behind a value; nothing for a pure number.
fn unit(info: &ParamInfo) -> String {
    if info.unit == "1" { String::new() } else { format!(" {}", info.unit) }
}

/// Tells what a parameter does, its unit, which values are legal, and which value the scene has.
fn explain(info: &ParamInfo, before: &Value) -> String {
    let legal = match info.choices.is_empty() {
        true => format!("{} to {}", info.min, info.max),
        false => info.choices.join(", "),
    };
    let unit = unit(info);
    format!("{}\n{}\nlegal: {legal}{unit}\nscene: {before}{unit}", info.name, info.doc.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use motes::Params;

    /// The panel goes through the table; here is shown that the table leaves no field out, and that
    /// each has a widget, a range and a word on it.
    #[test]
    fn every_knob_has_a_row() {
        let params = Params::default();
        let Value::Table(fields) = Value::try_from(&params).unwrap() else { panic!() };
        let listed: Vec<&str> = Params::TABLE.iter().map(|info| info.name).collect();
        assert_eq!(fields.len(), listed.len());
        for info in Params::TABLE {
            assert!(fields.contains_key(info.name), "{}", info.name);
            let value = params.get(info.name).unwrap();
            let is_word = matches!(value, Value::String(_));
            let is_number = matches!(value, Value::Integer(_) | Value::Float(_) | Value::Array(_));
            assert!(is_word || is_number, "{}: no widget for {value}", info.name);
            assert_eq!(is_word, !info.choices.is_empty(), "{}", info.name);
            assert!(is_word || info.min < info.max, "{}", info.name);
            let text = explain(info, &value);
            assert!(text.contains(info.doc.trim()) && text.contains("legal: "), "{text}");
            assert_eq!(info.unit == "1", unit(info).is_empty(), "{}", info.name);
        }
    }
}
