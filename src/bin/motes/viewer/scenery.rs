//! A frame of the simulation as a picture.

use super::colors::Colors;
use super::physics::{Frame, Placement, What};
use super::settings::Settings;
use crate::paint::{Line, Picture, Sphere, Theme, Triangle, palette};
use crate::{picture, tessellate};
use glam::Vec3;

/// Strain at which a line has its full colour.
const STRAIN: f32 = 0.1;
const SELECTED: [u8; 3] = [0xff, 0xe0, 0x40];
/// The same on a bright ground.
const SELECTED_LIGHT: [u8; 3] = [0xd0, 0x70, 0x00];
const PINNED: [u8; 3] = [0x30, 0x34, 0x3c];

/// The picture and what is kept to make the next one.
#[derive(Default)]
pub struct Scenery {
    pub picture: Picture,
    normals: Vec<Vec3>,
    /// The box of the scene when it was loaded, and of which load.
    focus: Option<(Vec3, Vec3)>,
    generation: u64,
}

/// What the user is doing that is to be seen.
#[derive(Default)]
pub struct Marks<'a> {
    pub selected: Option<u32>,
    /// A dragged particle and where it is pulled to.
    pub pull: Option<(u32, Vec3)>,
    /// What may be placed next.
    pub place: Option<&'a Placement>,
}

impl Scenery {
    /// The box a camera should show.
    pub fn focus(&self) -> Option<(Vec3, Vec3)> {
        self.focus
    }

    /// Length of the scene's diagonal [m].
    pub fn size(&self) -> f32 {
        self.focus.map_or(1.0, |(low, high)| (high - low).length().max(1e-3))
    }

    /// Makes the picture of a frame. True when the frame is of a scene not seen before.
    pub fn build(&mut self, frame: &Frame, settings: &Settings, marks: &Marks) -> bool {
        let fresh = self.generation != frame.generation;
        let picture = &mut self.picture;
        picture.spheres.clear();
        picture.triangles.clear();
        picture.walls.clear();
        picture.lines.clear();
        picture.ground = None;
        picture.theme = if settings.dark { Theme::Dark } else { Theme::Light };
        let at = |slot: usize| frame.positions[slot].truncate();
        let sphere =
            |slot: usize, color| Sphere { center: at(slot), radius: frame.radii[slot], color };
        if fresh {
            // All particles count for the frame, also those that skins will hide.
            picture.spheres.extend((0..frame.positions.len()).map(|slot| sphere(slot, PINNED)));
            tessellate::add_shapes(picture, &frame.colliders, frame.time);
            let obstacles = std::mem::take(&mut picture.triangles);
            let content = picture.bounds();
            self.focus = content.map(|content| picture::around(content, &obstacles));
            self.generation = frame.generation;
            picture.spheres.clear();
        }

        let colors = Colors::new(frame, settings.color);
        // An edit may have changed the arrays after the topology was made; what does not fit waits.
        let topology = &frame.topology;
        let skins = settings.skins && topology.skinned.len() == frame.positions.len();
        let hidden = |slot: usize| skins && topology.skinned[slot];
        let drawn = (0..frame.positions.len()).filter(|&slot| !hidden(slot));
        picture.spheres.extend(drawn.map(|slot| sphere(slot, colors.of(slot))));
        if skins {
            self.add_skins(frame, &colors);
        }
        let picture = &mut self.picture;
        if settings.lines {
            add_lines(picture, frame);
        }
        if skins {
            let fixed =
                (0..frame.positions.len()).filter(|&s| hidden(s) && frame.positions[s].w == 0.0);
            picture.spheres.extend(fixed.map(|slot| sphere(slot, PINNED)));
        }
        tessellate::add_shapes(picture, &frame.colliders, frame.time);
        tessellate::add_planes(picture, &frame.colliders, frame.time, self.focus);
        add_marks(picture, frame, marks);
        fresh
    }

    /// Surfaces with smooth normals, closed ones pushed out to where their particles end.
    fn add_skins(&mut self, frame: &Frame, colors: &Colors) {
        let at = |slot: usize| frame.positions[slot].truncate();
        self.normals.clear();
        self.normals.resize(frame.positions.len(), Vec3::ZERO);
        let normals = &mut self.normals;
        for (_, skin) in &frame.topology.skins {
            for &[a, b, c] in &skin.triangles {
                let area = (at(b) - at(a)).cross(at(c) - at(a));
                for corner in [a, b, c] {
                    normals[corner] += area;
                }
            }
        }
        normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
        for (_, skin) in &frame.topology.skins {
            let thickness = if skin.closed { 1.0 } else { 0.0 };
            let outside = |slot: usize| at(slot) + normals[slot] * (frame.radii[slot] * thickness);
            self.picture.triangles.extend(skin.triangles.iter().map(|corners| Triangle {
                p: corners.map(outside),
                n: corners.map(|slot| normals[slot]),
                color: mean(corners.map(|slot| colors.of(slot))),
                two_sided: !skin.closed,
            }));
        }
    }
}

fn mean(colors: [[u8; 3]; 3]) -> [u8; 3] {
    std::array::from_fn(|k| (colors.iter().map(|c| u16::from(c[k])).sum::<u16>() / 3) as u8)
}

/// Distance constraints, coloured by how far they are from their length at rest.
fn add_lines(picture: &mut Picture, frame: &Frame) {
    let at = |slot: u32| frame.positions.get(slot as usize).map(|p| p.truncate());
    picture.lines.extend(frame.topology.edges.iter().filter_map(|&([a, b], rest)| {
        let (a, b) = (at(a)?, at(b)?);
        let strain = a.distance(b) / rest.max(1e-9) - 1.0;
        Some(Line { a, b, color: palette::strain(strain, STRAIN), width_px: 1.0 })
    }));
}

fn add_marks(picture: &mut Picture, frame: &Frame, marks: &Marks) {
    let color = match picture.theme {
        Theme::Dark => SELECTED,
        Theme::Light => SELECTED_LIGHT,
    };
    let place = |id: u32| {
        let slot = frame.slot(id)?;
        Some((frame.positions[slot].truncate(), frame.radii[slot]))
    };
    if let Some((center, radius)) = marks.selected.and_then(place) {
        picture.spheres.push(Sphere { center, radius: radius * 1.15, color });
    }
    if let Some((id, target)) = marks.pull
        && let Some((from, radius)) = place(id)
    {
        picture.lines.push(Line { a: from, b: target, color, width_px: 2.0 });
        picture.spheres.push(Sphere { center: target, radius: radius * 0.6, color });
    }
    if let Some(wanted) = marks.place {
        add_outline(picture, wanted, color);
    }
}

/// The edges of what would be placed; of a mesh, whose size is not known here, a cross at its origin
/// as long as its unit.
fn add_outline(picture: &mut Picture, wanted: &Placement, color: [u8; 3]) {
    let turn = wanted.turn();
    let is_mesh = wanted.what == What::Mesh;
    let half = match is_mesh {
        true => Vec3::splat(0.5 * wanted.scale),
        false => 0.5 * (wanted.size() + wanted.spacing),
    };
    let mut line = |a: Vec3, b: Vec3| {
        let [a, b] = [a, b].map(|p| wanted.position + turn * (p * half));
        picture.lines.push(Line { a, b, color, width_px: 1.5 });
    };
    for axis in Vec3::AXES {
        if is_mesh {
            line(-axis, axis);
            continue;
        }
        // The four edges along an axis: the other two coordinates are at their ends.
        let (u, v) = axis.any_orthonormal_pair();
        for side in [u + v, u - v, v - u, -u - v] {
            line(side - axis, side + axis);
        }
    }
}
