//! A world as a picture: spheres coloured by object, skins of cloth and soft bodies, obstacles.

use crate::paint::{Line, Picture, Sphere, Triangle, palette};
use crate::tessellate;
use glam::Vec3;
use motes::world::Object;
use motes::{ParticleId, World};
use std::collections::HashSet;

const LINE_COLOR: [u8; 3] = [60, 64, 72];

/// A picture and the box a camera should show: what moves, with the obstacles around it.
pub struct Seen {
    pub picture: Picture,
    pub focus: Option<(Vec3, Vec3)>,
}

/// Everything to be seen of a world; `lines` adds the distance constraints.
pub fn of(world: &World, lines: bool) -> Seen {
    let mut picture = Picture::default();
    let p = world.particles();
    let at = |slot: usize| p.positions()[slot].truncate();
    let mut color = vec![palette::group(0); p.len()];
    let mut skinned = vec![false; p.len()];
    let edges = (world.broken() > 0).then(|| joined(world));
    for (k, object) in world.objects().iter().enumerate() {
        let slots = (object.first_id..object.first_id.saturating_add(object.id_count))
            .filter_map(|id| p.slot(ParticleId(id)));
        let skin = skin(world, object, edges.as_ref());
        for slot in slots {
            color[slot] = palette::group(k as u32);
            skinned[slot] = skin.is_some();
        }
        if let Some(skin) = skin {
            let thickness = if skin.closed { 1.0 } else { 0.0 };
            add_skin(&mut picture, world, &skin, palette::group(k as u32), thickness);
        }
    }
    picture.spheres = (0..p.len())
        .map(|slot| Sphere { center: at(slot), radius: p.radii()[slot], color: color[slot] })
        .collect();
    // Skins would count as stage here, and be cut off when there are spheres as well.
    let triangles = std::mem::take(&mut picture.triangles);
    let content = picture.bounds();
    picture.triangles = triangles;
    let mut slot = 0..p.len();
    picture.spheres.retain(|_| slot.next().is_some_and(|slot| !skinned[slot]));
    if lines {
        picture.lines = (0..world.distance().len())
            .map(|i| {
                let [a, b] = world.distance().particles(i).map(|s| at(s as usize));
                Line { a, b, color: LINE_COLOR, width_px: 1.0 }
            })
            .collect();
    }
    let first = picture.triangles.len();
    tessellate::add_shapes(&mut picture, &world.colliders, world.time());
    let focus = content.map(|content| around(content, &picture.triangles[first..]));
    tessellate::add_planes(&mut picture, &world.colliders, world.time(), focus);
    Seen { picture, focus }
}

/// The box of the content grown by the obstacles, by half its size at most: a hall must not make
/// what happens in it small.
pub fn around((low, high): (Vec3, Vec3), obstacles: &[Triangle]) -> (Vec3, Vec3) {
    let reach = Vec3::splat((high - low).max_element() * 0.5);
    let (least, most) = (low - reach, high + reach);
    obstacles.iter().flat_map(|t| t.p).fold((low, high), |(low, high), p| {
        let p = p.clamp(least, most);
        (low.min(p), high.max(p))
    })
}

/// Triangles of every object's surface, by slot; those of removed particles are left out.
pub fn skin_triangles(world: &World) -> impl Iterator<Item = [usize; 3]> + '_ {
    world.objects().iter().flat_map(|object| surface(world, object))
}

fn surface<'a>(world: &'a World, object: &'a Object) -> impl Iterator<Item = [usize; 3]> + 'a {
    object.triangles.iter().filter_map(|ids| {
        let [a, b, c] = ids.map(|id| world.particles().slot(ParticleId(id)));
        Some([a?, b?, c?])
    })
}

/// Triangles of one object, by slot.
pub struct Skin {
    pub triangles: Vec<[usize; 3]>,
    /// A soft body's surface has an inside; a cloth is seen from both sides.
    pub closed: bool,
}

/// The surface to draw instead of spheres, or none: a torn body shows its inside as spheres, and
/// of a torn cloth those triangles go that lost an edge.
pub fn skin(world: &World, object: &Object, edges: Option<&HashSet<[usize; 2]>>) -> Option<Skin> {
    let mut triangles: Vec<[usize; 3]> = surface(world, object).collect();
    if triangles.is_empty() {
        return None;
    }
    let closed = is_closed(&object.triangles);
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
    Some(Skin { triangles, closed })
}

/// Which slots a distance constraint joins, the lower one first.
pub fn joined(world: &World) -> HashSet<[usize; 2]> {
    let set = world.distance();
    let sorted = |[a, b]: [u32; 2]| [a.min(b) as usize, a.max(b) as usize];
    (0..set.len()).map(|i| sorted(set.particles(i))).collect()
}

fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let directed = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let edges: HashSet<[u32; 2]> = triangles.iter().flat_map(directed).collect();
    edges.iter().all(|&[a, b]| edges.contains(&[b, a]))
}

/// Triangles with smooth normals, pushed out by `thickness` radii so that a body rests where its
/// particles do.
fn add_skin(picture: &mut Picture, world: &World, skin: &Skin, color: [u8; 3], thickness: f32) {
    let p = world.particles();
    let at = |slot: usize| p.positions()[slot].truncate();
    let mut normals = vec![Vec3::ZERO; p.len()];
    for &[a, b, c] in &skin.triangles {
        let area = (at(b) - at(a)).cross(at(c) - at(a));
        for corner in [a, b, c] {
            normals[corner] += area;
        }
    }
    normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
    let outside = |slot: usize| at(slot) + normals[slot] * (p.radii()[slot] * thickness);
    picture.triangles.extend(skin.triangles.iter().map(|corners| Triangle {
        p: corners.map(outside),
        n: corners.map(|slot| normals[slot]),
        color,
        two_sided: !skin.closed,
    }));
}
