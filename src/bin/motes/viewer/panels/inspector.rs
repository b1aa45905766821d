//! All about the selected particle.

use super::Kit;
use crate::viewer::action::Action;
use crate::viewer::state::Viewer;
use glam::DVec3;
use motes::{MaterialId, Phase};

pub fn draw(kit: &Kit, viewer: &mut Viewer) {
    let ui = kit.ui;
    let Some((id, slot)) = viewer.selected.and_then(|id| Some((id, viewer.moment.slot(id)?)))
    else {
        match viewer.obstacle {
            Some(number) => obstacle(kit, viewer, number),
            None => ui.text_wrapped(
                "Click a particle or an obstacle to select it; drag a particle to pull it.",
            ),
        }
        ui.separator();
        totals(kit, viewer);
        undo(kit, viewer);
        return;
    };
    let moment = &viewer.moment;
    let p = moment.positions[slot];
    let v = moment.velocities[slot].truncate();
    let topology = &moment.topology;
    let object = topology.object.get(slot).and_then(|&k| topology.objects.get(k as usize));
    let fact = |name: &str, value: String| {
        ui.text_disabled(name);
        ui.same_line_with_pos(kit.px(84.0));
        ui.text(value);
    };
    fact("particle", format!("{id} (slot {slot})"));
    match object {
        Some(object) => {
            fact("object", object.name.clone());
            kit.hint(&format!("{} particles, {:.3} kg free", object.particles, object.mass));
        }
        None => fact("object", "none".into()),
    }
    if object.is_some_and(|object| object.is_body) {
        body(viewer, topology.object[slot], &fact);
    }
    fact("position", format!("{:.3} {:.3} {:.3} m", p.x, p.y, p.z));
    let [x, y, z] = rounded(v.as_dvec3());
    fact("velocity", format!("{x:.2} {y:.2} {z:.2} m/s"));
    fact("speed", format!("{:.3} m/s", v.length()));
    if let Some(density) = moment.densities.get(slot) {
        fact("density", format!("{density:.1} kg/m³"));
    }
    let mass = if p.w > 0.0 { format!("{:.4} kg", 1.0 / p.w) } else { "fixed".into() };
    fact("mass", mass);
    fact("radius", format!("{:.4} m", moment.radii[slot]));
    let phase = Phase(moment.phases[slot]);
    let own = if phase.0 & Phase::SELF_COLLIDE != 0 { ", meets itself" } else { "" };
    fact("phase", format!("group {}{own}", phase.group_number()));
    let made_of = moment.made_of.get(slot).copied().unwrap_or_default();
    let material = moment.materials.iter().find(|(id, _)| *id == made_of);
    fact("material", material.map_or(MaterialId::DEFAULT_NAME.into(), |(_, m)| m.name.clone()));
    edges(viewer, slot, &fact);
    let has_object = object.is_some();
    ui.spacing();
    if ui.button(if p.w > 0.0 { "Pin" } else { "Free" }) {
        viewer.act(Action::TogglePin);
    }
    kit.hint("P");
    ui.same_line();
    if ui.button("Look at") {
        viewer.act(Action::Follow);
    }
    kit.hint("F");
    ui.same_line();
    if ui.button("Remove") {
        viewer.act(Action::Remove);
    }
    kit.hint("Delete");
    if has_object {
        ui.same_line();
        if ui.button("Remove object") {
            viewer.act(Action::RemoveObject);
        }
        kit.hint("Shift + Delete");
    }
}

/// Rounded here, and plus 0: a particle at rest is not shown to move by -0.00.
fn rounded(v: DVec3) -> [f64; 3] {
    v.to_array().map(|part| (part * 100.0).round() / 100.0 + 0.0)
}

/// How the body with this number of an object moves as a whole, found from its particles.
fn body(viewer: &Viewer, number: u32, fact: &dyn Fn(&str, String)) {
    let Some(motion) = viewer.moment.motion_of(number) else { return };
    let [x, y, z] = motion.center.to_array();
    fact("body at", format!("{x:.3} {y:.3} {z:.3} m"));
    let [x, y, z] = rounded(motion.velocity);
    fact("moves", format!("{x:.2} {y:.2} {z:.2} m/s"));
    let [x, y, z] = rounded(motion.spin);
    fact("spins", format!("{x:.2} {y:.2} {z:.2} rad/s"));
}

/// The constraints on a particle: how many, and the most strained.
fn edges(viewer: &Viewer, slot: usize, fact: &dyn Fn(&str, String)) {
    let moment = &viewer.moment;
    let at = |s: u32| moment.positions.get(s as usize).map(|p| p.truncate());
    let (mut count, mut most) = (0, 0.0_f32);
    for ([a, b], rest) in &moment.topology.edges {
        if *a as usize != slot && *b as usize != slot {
            continue;
        }
        let (Some(p), Some(q)) = (at(*a), at(*b)) else { continue };
        count += 1;
        let strain = p.distance(q) / rest.max(1e-9) - 1.0;
        most = if strain.abs() > most.abs() { strain } else { most };
    }
    fact("edges", count.to_string());
    fact("strain", format!("{:+.2} % at most", most * 100.0));
}

/// All about the selected obstacle.
fn obstacle(kit: &Kit, viewer: &mut Viewer, number: usize) {
    let Some(collider) = viewer.moment.colliders.get(number) else { return };
    let fact = |name: &str, value: String| {
        kit.ui.text_disabled(name);
        kit.ui.same_line_with_pos(kit.px(84.0));
        kit.ui.text(value);
    };
    let name = if collider.name.is_empty() { "without a name" } else { &collider.name };
    fact("obstacle", format!("{number}: {name}"));
    let p = collider.pose_at(viewer.moment.time).translation;
    fact("position", format!("{:.3} {:.3} {:.3} m", p.x, p.y, p.z));
    if kit.ui.button("Remove") {
        viewer.act(Action::Remove);
    }
    kit.hint("Delete");
}

/// Edits that can be taken back.
fn undo(kit: &Kit, viewer: &mut Viewer) {
    let [back, again] = viewer.moment.edits;
    for (label, count, action, key) in
        [("Undo", back, Action::Undo, "U or Ctrl+Z"), ("Redo", again, Action::Redo, "Y or Ctrl+Y")]
    {
        kit.ui.disabled(count == 0, || {
            if kit.ui.button(label) {
                viewer.act(action);
            }
        });
        kit.hint(&format!("{key}: the world as it was before or after an edit; {count} are kept"));
        kit.ui.same_line();
    }
    kit.ui.new_line();
}

/// What there is to say of the whole world.
fn totals(kit: &Kit, viewer: &Viewer) {
    let moment = &viewer.moment;
    let fact = |name: &str, value: String| {
        kit.ui.text_disabled(name);
        kit.ui.same_line_with_pos(kit.px(100.0));
        kit.ui.text(value);
    };
    fact("objects", moment.topology.objects.len().to_string());
    fact("obstacles", moment.colliders.len().to_string());
    fact("broad phase", moment.broad_phase.map_or("none".into(), |b| b.to_string()));
    fact("constraints", moment.constraints.to_string());
    fact("broken", moment.broken.to_string());
    fact("quarantined", moment.quarantined.to_string());
    let busy: Vec<String> = moment.busy.iter().map(|b| format!("{:.0} %", b * 100.0)).collect();
    fact("workers", busy.join(" "));
}
