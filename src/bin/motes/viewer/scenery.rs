//! Makes a picture of a moment of the simulation.

use super::colors::{ColorBy, Colors};
use super::legend::Legend;
use super::outline::Lines;
use super::physics::Moment;
use super::settings::Settings;
use crate::painter::picture::is_fluid;
use crate::painter::skin::{Particles, Pattern, Tailor};
use crate::painter::{Content, Droplet, Line, Picture, Sphere, Theme, palette};
use crate::painter::{picture, tessellate};
use glam::Vec3;
use motes::Collider;

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
    /// What the colours of the picture mean.
    pub legend: Legend,
    tailor: Tailor,
    /// The box of the scene when it was loaded, and of which load.
    focus: Option<(Vec3, Vec3)>,
    generation: u64,
}

/// What is drawn because the user points at it: a selection, a pull, an outline.
#[derive(Default)]
pub struct Marks<'a> {
    pub selected: Option<u64>,
    /// The number of the selected obstacle.
    pub obstacle: Option<usize>,
    /// A dragged particle and where it is pulled to.
    pub pull: Option<(u64, Vec3)>,
    /// What may be placed next: where, and its lines.
    pub place: Option<(Vec3, &'a Lines)>,
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

    /// Makes the picture of a moment. True when the moment is of a scene not seen before.
    pub fn build(&mut self, moment: &Moment, settings: &Settings, marks: &Marks) -> bool {
        let fresh = self.generation != moment.generation;
        let picture = &mut self.picture;
        picture.spheres.clear();
        picture.droplets.clear();
        picture.triangles.clear();
        picture.walls.clear();
        picture.lines.clear();
        picture.ground = None;
        picture.theme = if settings.dark { Theme::Dark } else { Theme::Light };
        let at = |slot: usize| moment.positions[slot].truncate();
        let sphere =
            |slot: usize, color| Sphere { center: at(slot), radius: moment.radii[slot], color };
        // An edit may have changed the arrays after the topology was made; what does not fit waits.
        let topology = &moment.topology;
        let unseen = |slot: usize| topology.is_hidden(slot);
        // All particles that are seen count for the frame, also those that skins will cover.
        let seen: Vec<usize> = (0..moment.positions.len()).filter(|&slot| !unseen(slot)).collect();
        picture.particles =
            Content::of_particles(seen.len(), |k| (at(seen[k]), moment.radii[seen[k]]));
        if fresh {
            add_stage(picture, moment);
            let around = |content| picture::around(&content, &picture.triangles);
            self.focus = picture.particles.map(around);
            self.generation = moment.generation;
            picture.triangles.clear();
        }

        let colors = Colors::new(moment, settings.color);
        self.legend = Legend::of(moment, &colors, settings.color);
        // Particles that are drawn from where they are on the device are all drawn, and in their
        // order.
        let skins =
            settings.skins && topology.skinned.len() == moment.positions.len() && moment.is_here();
        let covered = |slot: usize| skins && topology.skinned[slot];
        // A surface cannot show what colours measure.
        let flows = settings.shows_water() && moment.is_here();
        let is_droplet =
            |slot: usize| flows && moment.phases.get(slot).is_some_and(|&p| is_fluid(p));
        for slot in seen.iter().copied().filter(|&slot| !covered(slot)) {
            if is_droplet(slot) {
                let (center, radius, color) = (at(slot), moment.radii[slot], colors.of(slot));
                let speed = moment.velocities.get(slot).map_or(0.0, |v| v.truncate().length());
                picture.droplets.push(Droplet { center, radius, color, speed });
            } else {
                picture.spheres.push(sphere(slot, colors.of(slot)));
            }
        }
        picture.size = picture::size(self.focus);
        if skins {
            let of = Particles {
                at: &at,
                radius: &|slot| moment.radii[slot],
                color: &|slot| colors.of(slot),
            };
            // Where colours measure something, a pattern would be read as a measure.
            let pattern = match settings.color {
                ColorBy::Object => Pattern::Checker,
                _ => Pattern::Plain,
            };
            let worn = topology.skins.iter().map(|(_, skin)| skin);
            self.tailor.add(&mut picture.triangles, worn, &of, pattern);
        }
        if settings.lines {
            add_lines(picture, moment);
        }
        if skins {
            let fixed =
                (0..moment.positions.len()).filter(|&s| covered(s) && moment.positions[s].w == 0.0);
            picture.spheres.extend(fixed.map(|slot| sphere(slot, PINNED)));
        }
        add_stage(picture, moment);
        tessellate::add_planes(picture, &moment.colliders, moment.time, self.focus);
        add_marks(picture, moment, marks);
        fresh
    }
}

/// Obstacles, and the characters that drive some of them.
fn add_stage(picture: &mut Picture, moment: &Moment) {
    tessellate::add_shapes(picture, &moment.colliders, moment.time);
    for character in &moment.characters {
        tessellate::add_character(picture, character, moment.time);
    }
}

/// Distance constraints, coloured by how far they are from their length at rest.
fn add_lines(picture: &mut Picture, moment: &Moment) {
    let at = |slot: u32| moment.positions.get(slot as usize).map(|p| p.truncate());
    let seen = moment.topology.edges.iter().filter(|([a, b], _)| {
        [a, b].iter().all(|&&slot| !moment.topology.is_hidden(slot as usize))
    });
    picture.lines.extend(seen.filter_map(|&([a, b], rest)| {
        let (a, b) = (at(a)?, at(b)?);
        let strain = a.distance(b) / rest.max(1e-9) - 1.0;
        Some(Line { a, b, color: palette::strain(strain, STRAIN), width_px: 1.0 })
    }));
}

fn add_marks(picture: &mut Picture, moment: &Moment, marks: &Marks) {
    let color = match picture.theme {
        Theme::Dark => SELECTED,
        Theme::Light => SELECTED_LIGHT,
    };
    let place = |id: u64| {
        let slot = moment.slot(id)?;
        Some((moment.positions[slot].truncate(), moment.radii[slot]))
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
    if let Some((at, lines)) = marks.place {
        let line = |[a, b]: &[Vec3; 2]| Line { a: at + a, b: at + b, color, width_px: 1.5 };
        picture.lines.extend(lines.iter().map(line));
    }
    if let Some(collider) = marks.obstacle.and_then(|number| moment.colliders.get(number)) {
        add_frame(picture, collider, moment.time, color);
    }
}

/// The edges of a selected obstacle; a plane, which has none, is a cross at its origin.
fn add_frame(picture: &mut Picture, collider: &Collider, time: f64, color: [u8; 3]) {
    let mut alone = Picture::default();
    tessellate::add_shapes(&mut alone, std::slice::from_ref(collider), time);
    let stride = alone.triangles.len().div_ceil(2000).max(1);
    let mut line = |a: Vec3, b: Vec3| picture.lines.push(Line { a, b, color, width_px: 1.5 });
    for triangle in alone.triangles.iter().step_by(stride) {
        let [a, b, c] = triangle.p;
        [(a, b), (b, c), (c, a)].into_iter().for_each(|(from, to)| line(from, to));
    }
    if alone.triangles.is_empty() {
        let at = collider.pose_at(time).translation;
        Vec3::AXES.into_iter().for_each(|axis| line(at - 0.5 * axis, at + 0.5 * axis));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::physics::Topology;
    use motes::{Cloth, Grains, World};

    #[test]
    fn hidden_objects_are_not_drawn() {
        let mut world = World::new();
        let cloth = world.add_cloth(&Cloth { columns: 3, rows: 3, ..Cloth::default() }).unwrap();
        world.add_grains(&Grains { counts: [2; 3], ..Grains::default() }).unwrap();
        world.pin(cloth[0]).unwrap();
        let mut counts = |visible: bool| {
            world.object_mut(cloth.object).unwrap().visible = visible;
            let p = world.particles();
            let moment = Moment {
                positions: p.positions().to_vec(),
                radii: p.radii().to_vec(),
                ids: p.ids().to_vec(),
                phases: p.phases().to_vec(),
                velocities: p.velocities().to_vec(),
                topology: Topology::of(&world, false).into(),
                ..Moment::default()
            };
            let settings = Settings { lines: true, skins: true, ..Settings::default() };
            let mut scenery = Scenery::default();
            scenery.build(&moment, &settings, &Marks::default());
            let picture = &scenery.picture;
            [picture.triangles.len(), picture.spheres.len(), picture.lines.len()]
        };
        // Each of the eight triangles of the cloth has a front and a back. The pinned corner is drawn
        // as a sphere.
        assert_eq!(counts(true), [16, 9, 20]);
        assert_eq!(counts(false), [0, 8, 0]);
    }
}
