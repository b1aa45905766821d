//! New objects and obstacles for the running scene, and the ball that is thrown.

use super::Kit;
use crate::viewer::action::Action;
use crate::viewer::physics::{Placement, What};
use crate::viewer::settings::Settings;
use crate::viewer::state::Viewer;
use glam::Vec3;
use imgui::{Drag, SliderFlags};
use motes::{Phase, Scene};

const BY_MOUSE: &str = "the outline follows the pointer over floor, obstacles and particles, and a \
    click places; X";

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    let ui = kit.ui;
    let width = ui.push_item_width(kit.px(132.0));
    viewer.placing = true;
    let group = viewer.selected.and_then(|id| viewer.moment.slot(id));
    let group = group.map(|slot| Phase(viewer.moment.phases[slot]).group_number());
    let wanted = &mut viewer.placement;
    kit.pick("what", &mut wanted.what, &What::ALL);
    let is_mesh = wanted.is_mesh();
    if is_mesh {
        mesh(kit, wanted);
    }
    let spot = if is_mesh { "m, of the mesh's origin" } else { "m, of the middle" };
    vector(kit, "position", &mut wanted.position, 0.02, "%.2f", spot);
    let turn = "degrees, about x, then y, then z";
    vector(kit, "rotation", &mut wanted.rotation, 1.0, "%.0f", turn);
    if is_mesh {
        let hint = "times the size it was made with";
        number(kit, "scale", &mut wanted.scale, 0.01, 100.0, " x", hint);
    }
    if wanted.what != What::Mesh {
        body(kit, wanted, group);
    }
    if ui.button("Place") {
        viewer.act(Action::Place);
    }
    kit.hint("puts it where the outline in the scene is; O");
    ui.same_line();
    ui.checkbox("by mouse", &mut viewer.aiming);
    kit.hint(BY_MOUSE);
    ui.separator();
    ball(kit, &mut viewer.settings);
    width.end();
}

/// A built-in mesh, or any file.
fn mesh(kit: &Kit, wanted: &mut Placement) {
    let ui = kit.ui;
    ui.disabled(!wanted.file.trim().is_empty(), || {
        let meshes: Vec<&'static str> = Scene::builtin_mesh_names().collect();
        if let Some(name) = kit.choice("mesh", wanted.builtin, &meshes) {
            wanted.builtin = name;
        }
    });
    ui.input_text("or file", &mut wanted.file).hint("path of an .obj").build();
    let now = if wanted.file.is_empty() { String::new() } else { format!("\n{}", wanted.file) };
    kit.hint(&format!("goes before the mesh above; a file can also be dropped on the window{now}"));
}

/// What is made of particles.
fn body(kit: &Kit, wanted: &mut Placement, selected: Option<u32>) {
    let ui = kit.ui;
    if wanted.is_mesh() {
        voxels(kit, wanted);
    } else {
        lattice(kit, wanted);
    }
    let w = wanted;
    number(kit, "mass", &mut w.mass, 0.001, 1000.0, " kg", "of the whole object");
    if w.is_body() {
        shape(kit, w);
        return;
    }
    if w.what != What::Grains {
        bonds(kit, w);
    }
    let own = "its own group";
    let other = w.group.or(selected).map(|group| format!("group {group}"));
    let now = if w.group.is_some() { other.as_deref().unwrap_or(own) } else { own };
    let words: Vec<&str> = std::iter::once(own).chain(other.as_deref()).collect();
    if let Some(word) = kit.choice("phase", now, &words) {
        w.group = if word == own { None } else { w.group.or(selected) };
    }
    kit.hint("objects of one group do not meet each other; select a particle to join its group");
    if w.what != What::Grains {
        ui.checkbox("meets itself", &mut w.self_collide);
        kit.hint("its particles collide with each other");
        ui.same_line();
    }
}

/// How a body keeps its shape. It is always a group of its own.
fn shape(kit: &Kit, w: &mut Placement) {
    let share = "how far it may be stretched and sheared; 0 keeps its shape";
    number(kit, "stretch", &mut w.stretch, 0.0, 1.0, "", share);
    number(kit, "softness", &mut w.softness, 0.0, 1e-2, " m/N", "0 is rigid, more gives way");
}

/// Of a mesh that is made into particles.
fn voxels(kit: &Kit, wanted: &mut Placement) {
    let mut along = [wanted.resolution as i32];
    if Drag::new("voxels").range(2, 96).speed(0.1).build_array(kit.ui, &mut along) {
        wanted.resolution = along[0].clamp(2, 96) as u32;
    }
    kit.hint("along the longest side of the mesh, 2 to 96");
    if wanted.what == What::Body {
        kit.ui.checkbox("merge", &mut wanted.merge);
        kit.hint("makes larger particles of voxels deep inside");
    }
}

/// Of what stands in rows.
fn lattice(kit: &Kit, wanted: &mut Placement) {
    let ui = kit.ui;
    let mut counts = wanted.counts.map(|n| n as i32);
    if Drag::new("particles").range(2, 64).speed(0.1).build_array(ui, &mut counts) {
        wanted.counts = counts.map(|n| n.clamp(2, 64) as u32);
    }
    let [x, y, z] = wanted.size().to_array();
    kit.hint(&format!("along x, y, z, 2 to 64; {x:.2} x {y:.2} x {z:.2} m"));
    let hint = "between particles";
    number(kit, "spacing", &mut wanted.spacing, 0.002, 1.0, " m", hint);
}

/// What holds the particles together.
fn bonds(kit: &Kit, w: &mut Placement) {
    let soft = "0 is rigid, more is softer; counts with xpbd";
    number(kit, "compliance", &mut w.compliance, 0.0, 1e-2, " m/N", soft);
    number(kit, "stiffness", &mut w.stiffness, 0.0, 1.0, "", "0 to 1; counts with pbd");
    number(kit, "breaks at", &mut w.break_at, 0.0, 10.0, " strain", "0 is never");
}

fn ball(kit: &Kit, settings: &mut Settings) {
    let speed = "of the thrown ball, in sizes of the scene a second";
    number(kit, "ball", &mut settings.ball_size, 0.005, 0.5, "", "radius over the scene's size");
    number(kit, "throw", &mut settings.ball_speed, 0.1, 20.0, "/s", speed);
    let weight = "of the thrown ball; 0 is a fifth of the scene's mass";
    number(kit, "weight", &mut settings.ball_mass, 0.0, 1000.0, " kg", weight);
}

/// A knob of one number with its unit, its range and what it means.
fn number(kit: &Kit, name: &str, value: &mut f32, low: f32, high: f32, unit: &str, hint: &str) {
    let flags =
        SliderFlags::LOGARITHMIC | SliderFlags::ALWAYS_CLAMP | SliderFlags::NO_ROUND_TO_FORMAT;
    let width = kit.ui.push_item_width(kit.px(84.0));
    kit.ui
        .slider_config(format!("##{name}"), low, high)
        .display_format("")
        .flags(flags)
        .build(value);
    width.end();
    let hint = format!("{hint}\n{low} to {high}; Ctrl + click to type");
    kit.hint(&hint);
    kit.ui.same_line();
    kit.ui.text(format!("{name} {}{unit}", plain(*value)));
    kit.hint(&hint);
}

/// Three digits that count, without a tail of zeros.
fn plain(value: f32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value.abs() < 1e-3 {
        return format!("{value:.1e}");
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text,
    }
}

fn vector(kit: &Kit, name: &str, value: &mut Vec3, speed: f32, format: &str, hint: &str) {
    let mut parts = value.to_array();
    if Drag::new(name).speed(speed).display_format(format).build_array(kit.ui, &mut parts) {
        *value = parts.into();
    }
    kit.hint(&format!("{hint}; drag, or double click to type"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.0712, "0.0712"),
            (1e-5, "1.0e-5"),
            (123.4, "123"),
            (2.5, "2.5"),
        ] {
            assert_eq!(plain(value), text);
        }
    }
}
