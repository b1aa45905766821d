//! New objects for the running scene, and the ball that is thrown.

use super::Desk;
use crate::viewer::action::Action;
use crate::viewer::physics::{Command, Solidity};
use crate::viewer::state::Viewer;
use imgui::Drag;
use motes::Scene;

pub fn draw(desk: &Desk, viewer: &mut Viewer) {
    let ui = desk.ui;
    let width = ui.push_item_width(desk.px(136.0));
    let wanted = &mut viewer.placement;
    let names = Solidity::ALL.map(|(_, name)| name);
    let now = Solidity::ALL.iter().find(|(kind, _)| *kind == wanted.solidity).map_or("", |k| k.1);
    if let Some(word) = desk.choice("what", now, &names)
        && let Some((kind, _)) = Solidity::ALL.iter().find(|(_, name)| *name == word)
    {
        wanted.solidity = *kind;
    }
    let mut position = wanted.position.to_array();
    if Drag::new("position").speed(0.02).display_format("%.2f").build_array(ui, &mut position) {
        wanted.position = position.into();
    }
    let mut counts = wanted.counts.map(|n| n as i32);
    if Drag::new("particles").range(2, 64).speed(0.1).build_array(ui, &mut counts) {
        wanted.counts = counts.map(|n| n.clamp(2, 64) as u32);
    }
    let logarithmic = imgui::SliderFlags::LOGARITHMIC;
    let number = |name: &str, value: &mut f32, low: f32, high: f32, hint: &str| {
        ui.slider_config(name, low, high).display_format("%.4g").flags(logarithmic).build(value);
        desk.hint(hint);
    };
    number("spacing", &mut wanted.spacing, 0.002, 1.0, "m between particles");
    number("mass", &mut wanted.mass, 0.001, 1000.0, "kg, of the whole object");
    number("compliance", &mut wanted.compliance, 0.0, 1e-2, "m/N; 0 is rigid (xpbd)");
    number("stiffness", &mut wanted.stiffness, 0.0, 1.0, "0 to 1 (pbd)");
    number("breaks at", &mut wanted.break_at, 0.0, 10.0, "strain; 0 is never");
    ui.checkbox("meets itself", &mut wanted.self_collide);
    ui.same_line();
    if ui.button("Place") {
        viewer.act(Action::Place);
    }
    desk.hint("O");
    ui.separator();
    let meshes: Vec<&'static str> = Scene::builtin_mesh_names().collect();
    if let Some(name) = desk.choice("mesh", viewer.mesh.name, &meshes) {
        viewer.mesh.name = name;
    }
    desk.hint("an obstacle at the position above; files (.obj) can be dropped on the window");
    number("scale", &mut viewer.mesh.scale, 0.01, 100.0, "times the size it was made with");
    if ui.button("Place the mesh") {
        viewer.mesh.position = viewer.placement.position;
        viewer.physics.send(Command::PlaceMesh(viewer.mesh));
    }
    ui.separator();
    let settings = &mut viewer.settings;
    number("ball", &mut settings.ball_size, 0.005, 0.5, "radius over the scene's size");
    number("throw", &mut settings.ball_speed, 0.1, 20.0, "sizes of the scene a second");
    number("weight", &mut settings.ball_mass, 0.0, 1000.0, "kg; 0 is a fifth of the scene");
    width.end();
}
