//! The shape of what would be placed, as lines about its own origin.

use super::physics::{Placement, What, placed_mesh};
use glam::Vec3;
use std::collections::BTreeSet;
use std::f32::consts::TAU;

/// Edges of a mesh that are drawn at most.
const MOST: usize = 4000;
/// Corners of a circle.
const CORNERS: u32 = 32;
/// Larger files are not read just to be outlined [bytes].
const LARGEST: u64 = 16 << 20;

pub type Lines = Vec<[Vec3; 2]>;

/// Outlines, with the last mesh that was read.
#[derive(Default)]
pub struct Outlines {
    mesh: Option<((&'static str, String), Lines)>,
}

impl Outlines {
    /// The lines of a placement, turned and as large as it will be.
    pub fn of(&mut self, wanted: &Placement) -> Lines {
        let half = 0.5 * (wanted.size() + wanted.spacing);
        let plain: Lines = match wanted.what {
            What::Mesh | What::SoftMesh | What::Body => {
                scaled(self.mesh(wanted), Vec3::splat(wanted.scale))
            }
            What::Box | What::Block | What::Grains => scaled(&cube(), half),
            What::Cloth => scaled(&sheet(), half),
            What::Ball => scaled(&ball(), half),
            What::Cylinder => scaled(&cylinder(), half),
            What::Torus => scaled(&torus(0.3), half),
        };
        let turn = wanted.turn();
        plain.into_iter().map(|line| line.map(|p| turn * p)).collect()
    }

    /// The edges of a mesh as it was made. One that cannot be read has none: placing it says why.
    fn mesh(&mut self, wanted: &Placement) -> &Lines {
        let key = (wanted.builtin, wanted.file.trim().to_string());
        if self.mesh.as_ref().is_none_or(|(known, _)| *known != key) {
            let lines = edges(wanted).unwrap_or_else(cross);
            self.mesh = Some((key.clone(), lines));
        }
        &self.mesh.get_or_insert_with(|| (key, cross())).1
    }
}

/// How far something has to be from a surface so as to touch it.
pub fn lift(lines: &[[Vec3; 2]], normal: Vec3) -> f32 {
    -lines.iter().flatten().map(|p| p.dot(normal)).fold(0.0, f32::min)
}

fn scaled(lines: &[[Vec3; 2]], by: Vec3) -> Lines {
    lines.iter().map(|line| line.map(|p| p * by)).collect()
}

fn edges(wanted: &Placement) -> Option<Lines> {
    let file = wanted.file.trim();
    if !file.is_empty() && std::fs::metadata(file).ok()?.len() > LARGEST {
        return None;
    }
    let mesh = placed_mesh(wanted).ok()?.0;
    let sides = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    let all: BTreeSet<[u32; 2]> = mesh.triangles.iter().flat_map(sides).map(sorted).collect();
    let stride = all.len().div_ceil(MOST).max(1);
    let at = |k: u32| mesh.vertices.get(k as usize).copied();
    let line = |[a, b]: [u32; 2]| Some([at(a)?, at(b)?]);
    Some(all.into_iter().step_by(stride).filter_map(line).collect())
}

/// Three axes, for what has no known shape.
fn cross() -> Lines {
    Vec3::AXES.map(|axis| [-0.5 * axis, 0.5 * axis]).to_vec()
}

/// The twelve edges between (±1, ±1, ±1).
fn cube() -> Lines {
    let mut lines = Lines::new();
    for axis in Vec3::AXES {
        let (u, v) = axis.any_orthonormal_pair();
        for side in [u + v, u - v, v - u, -u - v] {
            lines.push([side - axis, side + axis]);
        }
    }
    lines
}

/// A flat square with its threads.
fn sheet() -> Lines {
    let mut lines = Lines::new();
    for k in -2..=2 {
        let at = k as f32 * 0.5;
        lines.push([Vec3::new(at, 0.0, -1.0), Vec3::new(at, 0.0, 1.0)]);
        lines.push([Vec3::new(-1.0, 0.0, at), Vec3::new(1.0, 0.0, at)]);
    }
    lines
}

/// A circle about a point.
fn circle(center: Vec3, u: Vec3, v: Vec3) -> Lines {
    let point = |k: u32| {
        let angle = TAU * k as f32 / CORNERS as f32;
        center + u * angle.cos() + v * angle.sin()
    };
    (0..CORNERS).map(|k| [point(k), point(k + 1)]).collect()
}

fn ball() -> Lines {
    let [x, y, z] = Vec3::AXES;
    [(x, y), (y, z), (z, x)].into_iter().flat_map(|(u, v)| circle(Vec3::ZERO, u, v)).collect()
}

fn cylinder() -> Lines {
    let [x, y, z] = Vec3::AXES;
    let mut lines = circle(y, x, z);
    lines.extend(circle(-y, x, z));
    lines.extend([x, z, -x, -z].map(|side| [side - y, side + y]));
    lines
}

/// A ring about y whose tube has this radius, of an outer radius of 1; as high as the others are.
fn torus(tube: f32) -> Lines {
    let [x, y, z] = Vec3::AXES;
    let middle = 1.0 - tube;
    let mut lines = circle(Vec3::ZERO, x, z);
    lines.extend(circle(Vec3::ZERO, x * (middle - tube), z * (middle - tube)));
    lines.extend(circle(y, x * middle, z * middle));
    lines.extend(circle(-y, x * middle, z * middle));
    for side in [x, z, -x, -z] {
        lines.extend(circle(side * middle, side * tube, y));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outline is as large as what is placed, whatever it is and however it is turned.
    #[test]
    fn outlines_are_as_large_as_what_they_stand_for() {
        let mut outlines = Outlines::default();
        for (what, name) in What::ALL {
            let rotation = Vec3::new(0.0, 0.0, 90.0);
            let counts = [9, 5, 3];
            let wanted = Placement { what, rotation, counts, scale: 2.0, ..Placement::default() };
            let lines = outlines.of(&wanted);
            let size = |axis: Vec3| lift(&lines, axis) + lift(&lines, -axis);
            let (x, y) = (size(Vec3::X), size(Vec3::Y));
            if wanted.is_mesh() {
                let (low, high) = placed_mesh(&wanted).unwrap().0.bounds().unwrap();
                assert!((y - 2.0 * (high.x - low.x)).abs() < 0.05 * y, "{name}: {y}");
                continue;
            }
            // A quarter turn about z lays x along y.
            let whole = wanted.size() + wanted.spacing;
            assert!((y - whole.x).abs() < 0.02 * y, "{name}: {y} m along y, not {}", whole.x);
            let flat = what == What::Cloth;
            assert!(flat || (x - whole.y).abs() < 0.02 * x, "{name}: {x} m along x");
        }
    }
}
