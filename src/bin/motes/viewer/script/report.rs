//! What the viewer shows, as JSON: what a test compares a screenshot with.

use crate::machine;
use crate::viewer::colors::Colors;
use crate::viewer::panels::Layout;
use crate::viewer::state::Viewer;
use motes::file::write_atomically;
use serde_json::json;
use std::path::Path;
use winit::window::Window;

/// Particles that are told of at most.
const MOST: usize = 400;

pub fn write(path: &Path, viewer: &Viewer, window: &Window, scale: f32) -> Result<(), String> {
    let frame = &viewer.frame;
    let size = window.inner_size();
    let layout =
        Layout::new([size.width as f32, size.height as f32], scale, viewer.settings.panels);
    let colors = Colors::new(frame, viewer.settings.color);
    let stride = frame.positions.len().div_ceil(MOST).max(1);
    let particles: Vec<_> = (0..frame.positions.len())
        .step_by(stride)
        .map(|slot| {
            let p = frame.positions[slot].truncate();
            let seen = viewer.view.project(p);
            json!({
                "id": frame.ids[slot],
                "position": p.to_array(),
                "fixed": frame.positions[slot].w == 0.0,
                "radius": frame.radii[slot],
                "color": colors.of(slot),
                "density": frame.densities.get(slot),
                "pixel": seen.map(|(at, _)| at.to_array()),
                "depth": seen.map(|(_, depth)| depth),
                "skinned": frame.topology.skinned.get(slot),
            })
        })
        .collect();
    let messages: Vec<_> = viewer.messages.lines().map(|m| (&m.text, m.is_error)).collect();
    let places: Vec<_> =
        frame.colliders.iter().map(|c| c.pose_at(frame.time).translation.to_array()).collect();
    let answers = &viewer.rate.answers;
    let curve = viewer.convergence.curve.as_ref();
    let report = json!({
        "scene": frame.scene.spec,
        "step": frame.step,
        "playing": frame.playing,
        "particle_count": frame.positions.len(),
        "constraints": frame.constraints,
        "colliders": frame.colliders.len(),
        "collider_places": places,
        "solver": frame.params.solver.word(),
        "method": frame.params.method.word(),
        "broad_phase": frame.params.broad_phase.word(),
        "iterations": frame.params.iterations,
        "threads": frame.threads,
        "backend": frame.backend,
        "painter": viewer.painting.label(viewer.painting.used),
        "selected": viewer.selected,
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
        "messages": messages,
        "particles": particles,
    });
    write_atomically(path, |out| Ok(serde_json::to_writer(out, &report)?))
        .map_err(|e| e.to_string())
}
