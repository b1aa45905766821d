//! Skins: the surfaces that cloth and soft bodies are drawn as, instead of spheres.
//!
//! A cloth has two sides of different colours and a checker on the front, so that folds and twists
//! are seen. A body that was cut out of a lattice as a ball or a ring is smoothed, so that the steps
//! of the lattice do not show. Both are for the eye alone: the particles stay where they are.

use super::Triangle;
use glam::Vec3;
use motes::{Object, World};
use std::collections::HashSet;

/// Fields of the checker along the longest side of a cloth.
const FIELDS: f32 = 12.0;
/// How much light a dark field throws back, compared with a bright one.
const DARK: f32 = 0.78;
/// The back of a cloth is this far from its own colour on the way to [`PALE`].
const BACK: f32 = 0.6;
const PALE: [u8; 3] = [0xee, 0xe6, 0xd8];
/// Rounds of smoothing. A round takes each corner half-way to the middle of its neighbours and then
/// a little further back, which flattens steps and leaves the size of the body (Taubin 1995).
const ROUNDS: usize = 20;
const FORTH_AND_BACK: [f32; 2] = [0.5, -0.53];

/// Triangles of one object, by slot.
pub struct Skin {
    pub triangles: Vec<[usize; 3]>,
    /// A soft body's surface has an inside; a cloth is seen from both sides.
    pub closed: bool,
    /// Whether each triangle lies on a dark field of the checker; empty for closed surfaces.
    dark: Vec<bool>,
    /// Who is around each corner, for surfaces that are smoothed.
    rings: Option<Rings>,
}

/// The corners of a surface, each with those that it shares an edge with.
struct Rings {
    slots: Vec<usize>,
    /// Where the neighbours of each begin, and the end.
    start: Vec<usize>,
    around: Vec<usize>,
}

impl Rings {
    fn of(triangles: &[[usize; 3]]) -> Self {
        let mut edges: Vec<[usize; 2]> = triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, a], [b, c], [c, b], [c, a], [a, c]])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let mut rings = Rings { slots: Vec::new(), start: Vec::new(), around: Vec::new() };
        for [from, to] in edges {
            if rings.slots.last() != Some(&from) {
                rings.slots.push(from);
                rings.start.push(rings.around.len());
            }
            rings.around.push(to);
        }
        rings.start.push(rings.around.len());
        rings
    }

    /// Smooths the places of the corners.
    fn smooth(&self, places: &mut [Vec3], moved: &mut Vec<Vec3>) {
        for factor in [FORTH_AND_BACK; ROUNDS].into_iter().flatten() {
            moved.clear();
            moved.extend(self.slots.iter().zip(self.start.windows(2)).map(|(&slot, ends)| {
                let around = &self.around[ends[0]..ends[1]];
                let sum: Vec3 = around.iter().map(|&other| places[other]).sum();
                places[slot] + factor * (sum / around.len() as f32 - places[slot])
            }));
            for (&slot, &place) in self.slots.iter().zip(moved.iter()) {
                places[slot] = place;
            }
        }
    }
}

/// The surface to draw instead of spheres, or none: a torn body shows its inside as spheres, and
/// of a torn cloth those triangles go that lost an edge.
pub fn skin(world: &World, object: &Object, edges: Option<&HashSet<[usize; 2]>>) -> Option<Skin> {
    let p = world.particles();
    // Triangles of removed particles are left out.
    let slots = |ids: &[motes::ParticleId; 3]| {
        let [a, b, c] = ids.map(|id| p.slot(id));
        Some([a?, b?, c?])
    };
    let surface = object.surface();
    let mut triangles: Vec<[usize; 3]> = surface.triangles().iter().filter_map(slots).collect();
    if triangles.is_empty() {
        return None;
    }
    let closed = surface.is_closed();
    if let Some(edges) = edges {
        let whole = |[a, b, c]: &[usize; 3]| {
            [[a, b], [b, c], [c, a]].iter().all(|[i, j]| edges.contains(&[**i.min(j), **i.max(j)]))
        };
        let before = triangles.len();
        triangles.retain(whole);
        if closed && triangles.len() < before {
            return None;
        }
    }
    let rest = |slot: usize| p.rest_positions()[slot].truncate();
    let dark = if closed { Vec::new() } else { checker(&triangles, rest) };
    let rings = surface.is_round().then(|| Rings::of(&triangles));
    Some(Skin { triangles, closed, dark, rings })
}

/// Which triangles lie on dark fields: squares of whole cells, where the cloth was when it was made.
fn checker(triangles: &[[usize; 3]], rest: impl Fn(usize) -> Vec3) -> Vec<bool> {
    let Some(first) = triangles.first() else { return Vec::new() };
    // The sides of the first cell are those of its triangle that are not its diagonal: they meet in
    // the corner across from the longest side.
    let corners = first.map(&rest);
    let across = |k: usize| corners[(k + 1) % 3].distance(corners[(k + 2) % 3]);
    let middle = (0..3).max_by(|&a, &b| across(a).total_cmp(&across(b))).unwrap_or(0);
    let sides = [1, 2].map(|k| corners[(middle + k) % 3] - corners[middle]);
    // Along each side of the cells: how many cells a triangle is away from the first one.
    let cells = |corners: &[usize; 3]| {
        let from = corners.iter().map(|&slot| rest(slot)).sum::<Vec3>() / 3.0 - rest(first[middle]);
        sides.map(|side| (from.dot(side) / side.length_squared().max(f32::MIN_POSITIVE)).floor())
    };
    let ends = triangles
        .iter()
        .map(cells)
        .fold([0.0f32; 2], |[u, v], [a, b]| [u.max(a.abs()), v.max(b.abs())]);
    let field = (ends[0].max(ends[1]) / FIELDS).round().max(1.0);
    let is_dark = |corners: &[usize; 3]| {
        let [u, v] = cells(corners).map(|cell| (cell / field).floor() as i64);
        (u + v) % 2 != 0
    };
    triangles.iter().map(is_dark).collect()
}

/// Which slots a distance constraint joins, the lower one first.
pub fn joined(world: &World) -> HashSet<[usize; 2]> {
    let set = world.distance();
    let sorted = |[a, b]: [u32; 2]| [a.min(b) as usize, a.max(b) as usize];
    (0..set.len()).map(|i| sorted(set.particles(i))).collect()
}

/// What a skin needs to know of particles, by slot.
pub struct Particles<'a> {
    pub at: &'a dyn Fn(usize) -> Vec3,
    pub radius: &'a dyn Fn(usize) -> f32,
    pub color: &'a dyn Fn(usize) -> [u8; 3],
}

/// What is seen on a cloth.
#[derive(Clone, Copy, PartialEq)]
pub enum Pattern {
    /// The colours of its particles, on both sides.
    Plain,
    /// A checker on its front, and another colour on its back.
    Checker,
}

/// Makes triangles of skins, and keeps the memory for that from picture to picture.
#[derive(Default)]
pub struct Tailor {
    /// By slot.
    places: Vec<Vec3>,
    normals: Vec<Vec3>,
    moved: Vec<Vec3>,
}

impl Tailor {
    /// Adds the triangles of skins, with smooth normals. Closed surfaces are pushed out by a radius,
    /// so that a body rests where its particles do.
    pub fn add<'a>(
        &mut self,
        out: &mut Vec<Triangle>,
        skins: impl Iterator<Item = &'a Skin> + Clone,
        of: &Particles,
        pattern: Pattern,
    ) {
        let slots = || skins.clone().flat_map(|skin| skin.triangles.iter().flatten().copied());
        let Some(last) = slots().max() else { return };
        let Tailor { places, normals, moved } = self;
        places.resize(last + 1, Vec3::ZERO);
        slots().for_each(|slot| places[slot] = (of.at)(slot));
        skins.clone().filter_map(|skin| skin.rings.as_ref()).for_each(|r| r.smooth(places, moved));
        // One array for all of them: an array for each would be quadratic in the number of objects.
        normals.clear();
        normals.resize(last + 1, Vec3::ZERO);
        for &[a, b, c] in skins.clone().flat_map(|skin| &skin.triangles) {
            let area = (places[b] - places[a]).cross(places[c] - places[a]);
            for corner in [a, b, c] {
                normals[corner] += area;
            }
        }
        normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
        for skin in skins {
            let thickness = if skin.closed { 1.0 } else { 0.0 };
            let outside =
                |slot: usize| places[slot] + normals[slot] * ((of.radius)(slot) * thickness);
            for (k, corners) in skin.triangles.iter().enumerate() {
                let (p, n) = (corners.map(outside), corners.map(|slot| normals[slot]));
                let color = mean(corners.map(of.color));
                if skin.closed || pattern == Pattern::Plain {
                    out.push(Triangle { p, n, color, two_sided: !skin.closed });
                    continue;
                }
                let front =
                    if skin.dark[k] { color.map(|c| (f32::from(c) * DARK) as u8) } else { color };
                out.push(Triangle { p, n, color: front, two_sided: false });
                let ([a, b, c], [na, nb, nc]) = (p, n);
                let (p, n) = ([a, c, b], [-na, -nc, -nb]);
                out.push(Triangle { p, n, color: pale(color), two_sided: false });
            }
        }
    }
}

fn mean(colors: [[u8; 3]; 3]) -> [u8; 3] {
    std::array::from_fn(|k| (colors.iter().map(|c| u16::from(c[k])).sum::<u16>() / 3) as u8)
}

/// The colour of the back of a cloth.
fn pale(color: [u8; 3]) -> [u8; 3] {
    let channel = |k: usize| f32::from(color[k]) * (1.0 - BACK) + f32::from(PALE[k]) * BACK;
    std::array::from_fn(|k| channel(k) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use motes::{Cloth, Lattice, Solid};

    fn triangles(world: &World, pattern: Pattern) -> Vec<Triangle> {
        let skins: Vec<Skin> =
            world.objects().filter_map(|(_, object)| skin(world, object, None)).collect();
        let p = world.particles();
        let of = Particles {
            at: &|slot| p.positions()[slot].truncate(),
            radius: &|slot| p.radii()[slot],
            color: &|_| [200, 100, 50],
        };
        let mut out = Vec::new();
        Tailor::default().add(&mut out, skins.iter(), &of, pattern);
        out
    }

    /// Distances from the middle, over their mean: how far they scatter.
    fn scatter(triangles: &[Triangle]) -> f32 {
        let far: Vec<f32> = triangles.iter().flat_map(|t| t.p).map(|p| p.length()).collect();
        let mean = far.iter().sum::<f32>() / far.len() as f32;
        (far.iter().map(|r| (r - mean).powi(2)).sum::<f32>() / far.len() as f32).sqrt() / mean
    }

    #[test]
    fn a_ball_of_a_lattice_is_drawn_round_and_keeps_its_size() {
        let mut world = World::new();
        let lattice =
            Lattice { counts: [11; 3], spacing: 0.1, solid: Solid::Sphere, ..Lattice::default() };
        world.add_lattice(&lattice).unwrap();
        let smooth = triangles(&world, Pattern::Checker);
        let (_, object) = world.objects().next().unwrap();
        let mut stepped = skin(&world, object, None).unwrap();
        stepped.rings = None;
        let p = world.particles();
        let of = Particles {
            at: &|slot| p.positions()[slot].truncate(),
            radius: &|slot| p.radii()[slot],
            color: &|_| [0; 3],
        };
        let mut plain = Vec::new();
        Tailor::default().add(&mut plain, [&stepped].into_iter(), &of, Pattern::Checker);
        assert!(
            scatter(&smooth) < 0.4 * scatter(&plain),
            "{} {}",
            scatter(&smooth),
            scatter(&plain)
        );
        let size = |t: &[Triangle]| t.iter().flat_map(|t| t.p).map(|p| p.length()).sum::<f32>();
        let ratio = size(&smooth) / size(&plain);
        assert!((ratio - 1.0).abs() < 0.04, "{ratio}");
    }

    #[test]
    fn a_box_keeps_its_edges() {
        let mut world = World::new();
        world.add_lattice(&Lattice { counts: [4; 3], spacing: 0.1, ..Lattice::default() }).unwrap();
        let corners = triangles(&world, Pattern::Checker).into_iter().flat_map(|t| t.p);
        let widest = corners.map(|p| p.x).fold(0.0, f32::max);
        assert!(widest >= 0.15, "{widest}");
    }

    #[test]
    fn a_cloth_has_a_checker_in_front_and_another_colour_behind() {
        let mut world = World::new();
        let cloth = Cloth { columns: 25, rows: 25, ..Cloth::default() };
        world.add_cloth(&cloth).unwrap();
        let both = triangles(&world, Pattern::Checker);
        assert_eq!(both.len(), 2 * 2 * 24 * 24);
        let count = |color: [u8; 3]| both.iter().filter(|t| t.color == color).count();
        let bright = count([200, 100, 50]);
        let back = count(pale([200, 100, 50]));
        assert_eq!(back, both.len() / 2);
        let share = bright as f32 / back as f32;
        assert!((0.4..0.6).contains(&share), "{share} of the front is bright");
        assert!(both.iter().all(|t| !t.two_sided));
        let plain = triangles(&world, Pattern::Plain);
        assert!(
            plain.len() == back && plain.iter().all(|t| t.two_sided && t.color == [200, 100, 50])
        );
    }
}
