//! Skins: the surfaces that cloth and soft bodies are drawn as, instead of spheres.
//!
//! A cloth has two sides of different colours and a checker on the front, so that folds and twists
//! are seen. A body that was cut out of a lattice as a ball or a ring is drawn as one, so that the
//! steps of the lattice do not show. Both are for the eye alone: the particles stay where they are.
//! Where something tore, the skin is open and the particles inside are seen.

mod checker;
mod fit;
mod rings;

use super::Triangle;
use checker::checker;
use fit::{Bonds, Fit};
use glam::{Mat3, Vec3};
use motes::shape::skin::Worn;
use motes::{Object, ParticleId, World};
use rings::Rings;
use std::collections::HashSet;

/// How much light a dark field throws back, compared with a bright one.
const DARK: f32 = 0.78;
/// The back of a cloth is this far from its own colour on the way to [`PALE`].
const BACK: f32 = 0.6;
const PALE: [u8; 3] = [0xee, 0xe6, 0xd8];

/// Triangles of one object, by slot, or by vertex where it wears a mesh.
pub struct Skin {
    pub triangles: Vec<[usize; 3]>,
    /// The particles that are not drawn, since the skin is: all of the object, or where it is open
    /// those on its triangles.
    pub covered: Vec<usize>,
    /// A soft body's surface has an inside; a cloth is seen from both sides.
    closed: bool,
    /// Whether some of it is gone, so that the inside is seen.
    open: bool,
    /// Whether each triangle lies on a dark field of the checker; empty for closed surfaces.
    dark: Vec<bool>,
    smooth: Smooth,
}

/// How the steps of a lattice are hidden.
enum Smooth {
    /// They are the shape: a box, a cloth.
    Not,
    /// The shape is known.
    Fit(Fit),
    /// It is not.
    Rings(Rings),
    /// The body was made from a mesh, which is drawn in its stead.
    Mesh(Worn),
}

impl Skin {
    fn fit(&self) -> Option<&Fit> {
        match &self.smooth {
            Smooth::Fit(fit) => Some(fit),
            _ => None,
        }
    }

    fn mesh(&self) -> Option<&Worn> {
        match &self.smooth {
            Smooth::Mesh(worn) => Some(worn),
            _ => None,
        }
    }
}

/// A body of known shape with this many triangles or fewer is drawn with four times as many: a thin
/// ring has too few of them to look round. With many such bodies there are fewer for each.
const FEW: usize = 3000;
const FEW_IN_ALL: usize = 30_000;

/// A triangle of a mesh that leans away from the normal of its corner by more than this (cosine) is
/// not shaded as round.
const SHARP: f32 = 0.8;

/// What all bodies of known shape share.
struct Known {
    bonds: Bonds,
    /// The last object that each slot was seen in. One array for all of them: an array for each would
    /// be quadratic in the number of objects.
    owner: Vec<u32>,
    few: usize,
}

/// The skins of a world, each with the number of its object. `torn` says that constraints were cut by
/// hand, which the world does not count as broken. Constraints are looked at only where something
/// broke or where a shape is known.
pub fn skins(world: &World, torn: bool) -> Vec<(u32, Skin)> {
    let torn = (torn || world.broken() > 0).then(|| world.surfaces());
    let is_known = |object: &Object| object.visible && object.surface().outline().is_some();
    let count = world.objects().filter(|(_, object)| is_known(object)).count();
    let mut known = (count > 0).then(|| Known {
        bonds: Bonds::of(world),
        owner: vec![u32::MAX; world.particles().len()],
        few: FEW.min(FEW_IN_ALL / count),
    });
    let mut skins = Vec::new();
    let mut worn = world.skins();
    for (k, (id, object)) in world.objects().enumerate().filter(|(_, (_, o))| o.visible) {
        if let Some(own) = worn.iter().position(|(other, _)| *other == id) {
            let (_, worn) = worn.swap_remove(own);
            skins.extend(in_mesh(world, object, worn).map(|skin| (k as u32, skin)));
            continue;
        }
        let triangles = match &torn {
            Some(surfaces) => surfaces.get(k).map_or(&[][..], |(_, triangles)| triangles),
            None => object.surface().triangles(),
        };
        let skin = skin(world, object, k as u32, triangles, known.as_mut());
        skins.extend(skin.map(|skin| (k as u32, skin)));
    }
    skins
}

/// The skin of an object that still has these triangles; none without any.
fn skin(
    world: &World,
    object: &Object,
    number: u32,
    triangles: &[[ParticleId; 3]],
    known: Option<&mut Known>,
) -> Option<Skin> {
    let p = world.particles();
    let surface = object.surface();
    let open = triangles.len() < surface.triangles().len() || object.len() < object.made_of();
    // Triangles of removed particles are left out.
    let slots = |ids: &[ParticleId; 3]| {
        let [a, b, c] = ids.map(|id| p.slot(id));
        Some([a?, b?, c?])
    };
    let triangles: Vec<[usize; 3]> = triangles.iter().filter_map(slots).collect();
    if triangles.is_empty() {
        return None;
    }
    let own: Vec<usize> = object.particles().filter_map(|id| p.slot(id)).collect();
    let covered = match open {
        true => triangles.iter().flatten().copied().collect(),
        false => own.clone(),
    };
    let rest = |slot: usize| p.rest_positions()[slot].truncate();
    let closed = surface.is_closed();
    let dark = if closed { Vec::new() } else { checker(&triangles, rest) };
    let smooth = match (surface.outline(), known) {
        (Some(outline), Some(Known { bonds, owner, few })) => {
            own.iter().for_each(|&slot| owner[slot] = number);
            let belongs = |slot: usize| owner[slot] == number;
            match Fit::of(outline, &triangles, *few, bonds, rest, belongs) {
                Some(fit) => Smooth::Fit(fit),
                None => Smooth::Rings(Rings::of(&triangles)),
            }
        }
        _ => Smooth::Not,
    };
    Some(Skin { triangles, covered, closed, open, dark, smooth })
}

/// The skin of an object that wears a mesh; none when nothing is left of it.
fn in_mesh(world: &World, object: &Object, worn: Worn) -> Option<Skin> {
    let triangles: Vec<[usize; 3]> =
        worn.triangles().iter().map(|t| t.map(|vertex| vertex as usize)).collect();
    if triangles.is_empty() {
        return None;
    }
    // Of a torn body the particles at the tear are seen, but not those right below the mesh.
    let open = worn.is_torn();
    let below: HashSet<usize> =
        triangles.iter().flatten().filter_map(|&vertex| worn.nearest(vertex)).collect();
    let is_seen = |slot: usize| {
        open && !below.contains(&slot) && worn.exposed().binary_search(&(slot as u32)).is_ok()
    };
    let own = object.particles().filter_map(|id| world.particles().slot(id));
    let covered = own.filter(|&slot| !is_seen(slot)).collect();
    let dark = Vec::new();
    Some(Skin { triangles, covered, closed: true, open, dark, smooth: Smooth::Mesh(worn) })
}

/// What a skin needs to know of particles, by slot.
pub struct Particles<'a> {
    pub at: &'a (dyn Fn(usize) -> Vec3 + Sync),
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
    /// By slot, or by vertex of a skin that is drawn finer.
    places: Vec<Vec3>,
    normals: Vec<Vec3>,
    moved: Vec<Vec3>,
    turned: Vec<(Vec3, Mat3)>,
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
        let is_plain = |skin: &&Skin| skin.fit().is_none() && skin.mesh().is_none();
        self.add_plain(out, skins.clone().filter(is_plain), of, pattern);
        for (skin, worn) in skins.clone().filter_map(|skin| Some((skin, skin.mesh()?))) {
            self.add_mesh(out, skin, worn, of);
        }
        for (skin, fit) in skins.filter_map(|skin| Some((skin, skin.fit()?))) {
            self.add_fitted(out, skin, fit, of);
        }
    }

    /// Those whose corners are particles.
    fn add_plain<'a>(
        &mut self,
        out: &mut Vec<Triangle>,
        skins: impl Iterator<Item = &'a Skin> + Clone,
        of: &Particles,
        pattern: Pattern,
    ) {
        let slots = || skins.clone().flat_map(|skin| skin.triangles.iter().flatten().copied());
        let Some(last) = slots().max() else { return };
        let Tailor { places, normals, moved, .. } = self;
        places.resize(last + 1, Vec3::ZERO);
        slots().for_each(|slot| places[slot] = (of.at)(slot));
        for skin in skins.clone() {
            if let Smooth::Rings(rings) = &skin.smooth {
                rings.smooth(places, moved);
            }
        }
        // One array for all of them: an array for each would be quadratic in the number of objects.
        let all = skins.clone().flat_map(|skin| &skin.triangles);
        find_normals(normals, &places[..=last], all);
        for skin in skins {
            let thickness = if skin.closed { 1.0 } else { 0.0 };
            let outside =
                |slot: usize| places[slot] + normals[slot] * ((of.radius)(slot) * thickness);
            for (k, corners) in skin.triangles.iter().enumerate() {
                let (p, n) = (corners.map(outside), corners.map(|slot| normals[slot]));
                let color = mean(corners.map(of.color));
                if skin.closed || pattern == Pattern::Plain {
                    out.push(Triangle { p, n, color, two_sided: !skin.closed || skin.open });
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

    /// One that wears a mesh. Where the mesh has an edge, it keeps it.
    fn add_mesh(&mut self, out: &mut Vec<Triangle>, skin: &Skin, worn: &Worn, of: &Particles) {
        let Tailor { places, normals, .. } = self;
        *places = worn.vertices(of.at);
        find_normals(normals, places, skin.triangles.iter());
        for corners in &skin.triangles {
            let p = corners.map(|vertex| places[vertex]);
            let own = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
            let n = corners.map(|vertex| match own.dot(normals[vertex]) < SHARP {
                true => own,
                false => normals[vertex],
            });
            let near = |vertex: usize| worn.nearest(vertex).unwrap_or_default();
            let color = mean(corners.map(|vertex| (of.color)(near(vertex))));
            out.push(Triangle { p, n, color, two_sided: skin.open });
        }
    }

    /// One whose shape is known.
    fn add_fitted(&mut self, out: &mut Vec<Triangle>, skin: &Skin, fit: &Fit, of: &Particles) {
        let Tailor { places, normals, turned, .. } = self;
        fit.places(of.at, turned, places);
        find_normals(normals, places, fit.triangles.iter());
        let outside = |k: usize| places[k] + normals[k] * (of.radius)(fit.slot(k));
        let each = fit.triangles.len() / skin.triangles.len().max(1);
        for (corners, fine) in skin.triangles.iter().zip(fit.triangles.chunks(each.max(1))) {
            let color = mean(corners.map(of.color));
            out.extend(fine.iter().map(|vertices| Triangle {
                p: vertices.map(outside),
                n: vertices.map(|k| normals[k]),
                color,
                two_sided: skin.open,
            }));
        }
    }
}

/// Normals at the places that triangles share, each triangle counting by its area.
fn find_normals<'a>(
    normals: &mut Vec<Vec3>,
    places: &[Vec3],
    triangles: impl Iterator<Item = &'a [usize; 3]>,
) {
    normals.clear();
    normals.resize(places.len(), Vec3::ZERO);
    for &[a, b, c] in triangles {
        let area = (places[b] - places[a]).cross(places[c] - places[a]);
        for corner in [a, b, c] {
            normals[corner] += area;
        }
    }
    normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
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
    use glam::{Quat, Vec2};
    use motes::{Cloth, Kind, Lattice, Solid};

    fn triangles(world: &World, pattern: Pattern) -> Vec<Triangle> {
        dressed(world, &skins(world, false), pattern)
    }

    fn dressed(world: &World, skins: &[(u32, Skin)], pattern: Pattern) -> Vec<Triangle> {
        let p = world.particles();
        let of = Particles {
            at: &|slot| p.positions()[slot].truncate(),
            radius: &|slot| p.radii()[slot],
            color: &|_| [200, 100, 50],
        };
        let mut out = Vec::new();
        Tailor::default().add(&mut out, skins.iter().map(|(_, skin)| skin), &of, pattern);
        out
    }

    /// Distances from the middle, over their mean: how far they scatter.
    fn scatter(corners: &[Vec3]) -> f32 {
        let far: Vec<f32> = corners.iter().map(|p| p.length()).collect();
        let mean = far.iter().sum::<f32>() / far.len() as f32;
        (far.iter().map(|r| (r - mean).powi(2)).sum::<f32>() / far.len() as f32).sqrt() / mean
    }

    /// The corners of a body's skin as it is drawn, and without any smoothing.
    fn corners(world: &World, pose: impl Fn(Vec3) -> Vec3 + Sync) -> [Vec<Vec3>; 2] {
        let p = world.particles();
        let of = Particles {
            at: &|slot| pose(p.positions()[slot].truncate()),
            radius: &|_| 0.0,
            color: &|_| [0; 3],
        };
        [false, true].map(|stepped| {
            let mut skins = skins(world, false);
            if stepped {
                skins.iter_mut().for_each(|(_, skin)| skin.smooth = Smooth::Not);
            }
            let mut out = Vec::new();
            let worn = skins.iter().map(|(_, skin)| skin);
            Tailor::default().add(&mut out, worn, &of, Pattern::Checker);
            out.iter().flat_map(|t| t.p).collect()
        })
    }

    #[test]
    fn a_ball_of_a_lattice_is_drawn_round_and_keeps_its_size() {
        let mut world = World::new();
        let lattice =
            Lattice { counts: [11; 3], spacing: 0.1, solid: Solid::Sphere, ..Lattice::default() };
        world.add_lattice(&lattice).unwrap();
        let [smooth, stepped] = corners(&world, |p| p);
        assert!(scatter(&smooth) < 0.03 * scatter(&stepped), "{}", scatter(&smooth));
        let size = |corners: &[Vec3]| {
            corners.iter().map(|p| p.length()).sum::<f32>() / corners.len() as f32
        };
        let ratio = size(&smooth) / size(&stepped);
        assert!((ratio - 1.0).abs() < 0.04, "{ratio}");
    }

    /// A thin ring has few particles across; its tube is drawn with the same section all around,
    /// wherever the body has gone and however it was stretched.
    #[test]
    fn a_thin_ring_is_a_ring_and_not_a_cogwheel() {
        let mut world = World::new();
        let tube = 3.0 / 18.0;
        let lattice = Lattice {
            counts: [19, 4, 19],
            spacing: 0.1,
            solid: Solid::Torus { tube },
            rotation: Quat::from_rotation_z(0.7),
            ..Lattice::default()
        };
        world.add_lattice(&lattice).unwrap();
        let outline = *world.objects().next().unwrap().1.surface().outline().unwrap();
        let turn = Mat3::from_rotation_x(1.1) * Mat3::from_diagonal(Vec3::new(1.2, 0.9, 1.0));
        let [smooth, stepped] = corners(&world, |p| turn * p + Vec3::X * 5.0);
        // How far corners lie from an ellipse around the middle of the tube, in shares of it.
        let wide = |corners: &[Vec3]| {
            let across = |p: &Vec3| {
                let u = outline.locate(turn.inverse() * (*p - Vec3::X * 5.0));
                Vec2::new((u.x.hypot(u.z) - (1.0 - tube)) / tube, u.y)
            };
            // Between corners, too: the middles of triangles lie within the ellipse.
            let middle = |t: &[Vec3; 3]| (t[0] + t[1] + t[2]) / 3.0;
            let middles: Vec<Vec3> = corners.as_chunks().0.iter().map(middle).collect();
            let across: Vec<Vec2> = corners.iter().chain(&middles).map(across).collect();
            let half = across.iter().map(|q| q.abs()).fold(Vec2::ZERO, Vec2::max);
            let lengths: Vec<f32> = across.iter().map(|q| (*q / half).length()).collect();
            let most = lengths.iter().copied().fold(0.0, f32::max);
            most - lengths.iter().copied().fold(f32::INFINITY, f32::min)
        };
        assert!(wide(&stepped) > 0.3, "{}", wide(&stepped));
        assert!(wide(&smooth) < 0.12, "{}", wide(&smooth));
    }

    /// A box cut in two is two boxes that are open where the cut was, and the particles there are
    /// seen.
    #[test]
    fn a_cut_body_keeps_its_skin_and_is_open_at_the_cut() {
        let mut world = World::new();
        let counts = [6, 4, 4];
        world.add_lattice(&Lattice { counts, spacing: 0.1, ..Lattice::default() }).unwrap();
        let whole = skins(&world, false);
        let [(_, before)] = &whole[..] else { panic!("one skin") };
        assert_eq!(before.covered.len(), 96, "all particles are covered");
        assert!(!before.open);
        world.cut(Kind::Distance, |ends| (ends[0].x < 0.0) != (ends[1].x < 0.0));
        let cut = skins(&world, true);
        let [(_, after)] = &cut[..] else { panic!("still one skin") };
        // Between the third layer and the fourth there are four sides of three cells.
        assert_eq!(after.triangles.len(), before.triangles.len() - 4 * 3 * 2);
        let mut covered = after.covered.clone();
        covered.sort_unstable();
        covered.dedup();
        assert_eq!(covered.len(), 96 - 4 * 4, "the inside is seen");
        assert!(after.open && dressed(&world, &cut, Pattern::Checker).iter().all(|t| t.two_sided));
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
