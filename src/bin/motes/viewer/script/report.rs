//! What the viewer shows, as JSON: what a test compares a screenshot with.

use crate::commands::machine;
use crate::viewer::colors::Colors;
use crate::viewer::panels::Layout;
use crate::viewer::settings::Settings;
use crate::viewer::state::Viewer;
use motes::file::write_atomically;
use serde_json::json;
use std::path::Path;
use winit::window::Window;

/// Particles that are told of at most.
const MOST: usize = 400;

pub fn write(path: &Path, viewer: &Viewer, window: &Window, scale: f32) -> Result<(), String> {
    let moment = &viewer.moment;
    let size = window.inner_size();
    let Settings { panels, splits, .. } = viewer.settings;
    let layout = Layout::new([size.width as f32, size.height as f32], scale, panels, &splits);
    let colors = Colors::new(moment, viewer.settings.color);
    let stride = moment.positions.len().div_ceil(MOST).max(1);
    let particles: Vec<_> = (0..moment.positions.len())
        .step_by(stride)
        .map(|slot| {
            let p = moment.positions[slot].truncate();
            let seen = viewer.view.project(p);
            json!({
                "id": moment.ids[slot],
                "position": p.to_array(),
                "fixed": moment.positions[slot].w == 0.0,
                "radius": moment.radii[slot],
                "color": colors.of(slot),
                "density": moment.densities.get(slot),
                "strain": colors.strain(slot),
                "pixel": seen.map(|(at, _)| at.to_array()),
                "depth": seen.map(|(_, depth)| depth),
                "skinned": moment.topology.skinned.get(slot),
            })
        })
        .collect();
    let messages: Vec<_> = viewer.messages.lines().map(|m| (&m.text, m.is_error)).collect();
    let places: Vec<_> =
        moment.colliders.iter().map(|c| c.pose_at(moment.time).translation.to_array()).collect();
    let materials: Vec<_> = moment
        .materials
        .iter()
        .map(|(_, m)| (&m.name, m.coefficients.friction_kinetic, m.coefficients.restitution))
        .collect();
    let answers = &viewer.rate.answers;
    let curve = viewer.convergence.curve.as_ref();
    let report = json!({
        "scene": moment.scene.spec,
        "step": moment.step,
        "playing": moment.playing,
        "particle_count": moment.positions.len(),
        "constraints": moment.constraints,
        "colliders": moment.colliders.len(),
        "collider_places": places,
        "solver": moment.params.solver.word(),
        "method": moment.params.method.word(),
        "broad_phase": moment.params.broad_phase.word(),
        "iterations": moment.params.iterations,
        "materials": materials,
        "threads": moment.threads,
        "backend": moment.backend,
        "painter": viewer.painting.label(viewer.painting.used),
        "selected": viewer.selected,
        "place_file": viewer.placement.file,
        "place_at": viewer.placement.position.to_array(),
        "obstacle": viewer.obstacle,
        "edits": moment.edits,
        "recent": viewer.settings.recent,
        "color_range": viewer.settings.color.unit().map(|unit| (colors.range(), unit)),
        "size": [size.width, size.height],
        "scale": scale,
        "eye": viewer.view.camera.eye.to_array(),
        "panels": {
            "view": layout.view,
            "run": layout.run,
            "parameters": layout.parameters,
            "scenes": layout.scenes,
            "inspector": layout.inspector,
            "graphs": layout.graphs,
        },
        "fps": viewer.rate.fps(),
        "frame_ms": viewer.rate.ms,
        "frames": viewer.rate.frames,
        "straight": viewer.rate.straight,
        "longest_gap_ms": viewer.rate.gap.as_secs_f64() * 1e3,
        "inputs": {
            "answered": answers.count,
            "frames_most": answers.frames_most,
            "ms_most": answers.time_most.as_secs_f64() * 1e3,
        },
        "memory_mib": machine::own_memory(),
        "samples": viewer.history.shown().len(),
        "convergence": curve.map(|c| c.kinds.len()),
        "compared": viewer.compare.result.as_ref().map(|c| c.runs.len()),
        "comparing": viewer.compare.runs,
        "starting": viewer.starts(),
        "messages": messages,
        "particles": particles,
    });
    write_atomically(path, |out| Ok(serde_json::to_writer(out, &report)?))
        .map_err(|e| e.to_string())
}
