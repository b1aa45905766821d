//! How far places are from the surface of a body, in its own frame: what other bodies feel of it.

use super::{LinkTable, MatchedBody};
use crate::shape::distance_field::DistanceField;
use crate::shape::voxel::{VoxelGrid, Voxels};
use crate::world::Particles;
use glam::{DVec3, UVec3, Vec3, Vec4};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the particles of a body stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MadeOf {
    /// Balls: the body is bumpy, and one of a single particle rolls.
    #[default]
    Balls,
    /// Cubes side by side: faces of the body are even.
    Cubes,
}

/// A field that is made when it is first asked for, and is not saved. Bodies that differ in it alone
/// are equal.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldSlot(pub Option<Arc<BodyField>>);

impl PartialEq for FieldSlot {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Signed distances and their gradients at the nodes of a grid in the frame of a body, whose origin is
/// the centre of mass.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BodyField {
    /// The place of the first node, m, and from node to node.
    pub low: Vec3,
    pub spacing: f32,
    /// Nodes along x, y and z; x runs fastest.
    pub size: UVec3,
    /// The gradient, out of the body, and the distance in metres, negative inside.
    pub nodes: Vec<Vec4>,
    /// The particle whose cube a node lies in, as a number within the body; [`BodyField::NOBODY`].
    pub owners: Vec<u32>,
    /// The particles that others can touch.
    pub surface: Vec<u32>,
    /// The middle of the box of all that is solid, and half of its sides.
    pub middle: Vec3,
    pub half: Vec3,
    /// The radius of the smallest particle, m, and how far the body reaches from its centre.
    pub radius: f32,
    pub extent: f32,
}

/// Empty layers around a body. Beyond them nothing touches it.
const PADDING: usize = 4;
/// A field has at most so many nodes, and as many more for each particle; beyond it is coarser.
const MOST_NODES: usize = 1 << 18;
const MOST_PER_PARTICLE: usize = 256;

/// What a field says of a place.
pub(crate) struct Probe {
    /// m, negative inside.
    pub distance: f32,
    /// How it grows, out of the body.
    pub gradient: Vec3,
    /// The particle whose cube the nearest node lies in, or [`BodyField::NOBODY`].
    pub owner: u32,
}

impl BodyField {
    /// What the field says of a place in the frame of the body; nothing beyond the grid. Gradients of
    /// nodes are blended: the gradient of the blended distance jumps at nodes, where stacked boxes sit.
    #[inline]
    pub fn at(&self, place: Vec3) -> Option<Probe> {
        let t = (place - self.low) / self.spacing;
        let last = self.size - UVec3::ONE;
        let most = last.as_vec3();
        let within = t.x >= 0.0 && t.y >= 0.0 && t.z >= 0.0;
        if !(within && t.x < most.x && t.y < most.y && t.z < most.z) {
            return None;
        }
        let cell = t.as_uvec3();
        let part = t - cell.as_vec3();
        let first = ((cell.z * self.size.y + cell.y) * self.size.x + cell.x) as usize;
        let (row, slice) = (self.size.x as usize, (self.size.x * self.size.y) as usize);
        let along = |k: usize| self.nodes[k] + (self.nodes[k + 1] - self.nodes[k]) * part.x;
        let across = |k: usize| {
            let (a, b) = (along(k), along(k + row));
            a + (b - a) * part.y
        };
        let (a, b) = (across(first), across(first + slice));
        let blend = a + (b - a) * part.z;
        let up = |part: f32, step: usize| if part >= 0.5 { step } else { 0 };
        let nearest = first + up(part.x, 1) + up(part.y, row) + up(part.z, slice);
        let owner = self.owners[nearest];
        Some(Probe { distance: blend.w, gradient: blend.truncate(), owner })
    }

    /// What [`BodyField::owners`] has where there is no cube.
    pub const NOBODY: u32 = u32::MAX;

    /// The field of a body as it rests.
    pub fn of(body: &MatchedBody, links: &LinkTable, particles: &Particles) -> BodyField {
        let balls: Vec<(Vec3, f32)> = body
            .links()
            .map(|k| (links.rest[k].truncate(), particles.radius[links.particle[k] as usize]))
            .collect();
        match body.made_of {
            MadeOf::Balls => of_balls(&balls),
            MadeOf::Cubes => of_cubes(&balls).unwrap_or_else(|| of_balls(&balls)),
        }
    }
}

/// The corners of the box around balls.
fn bounds(balls: &[(Vec3, f32)]) -> (Vec3, Vec3) {
    let first = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    balls.iter().fold(first, |(low, high), &(at, r)| (low.min(at - r), high.max(at + r)))
}

fn extent(balls: &[(Vec3, f32)]) -> f32 {
    balls.iter().fold(0.0, |most, ball| (ball.0.length() + ball.1).max(most))
}

fn smallest(balls: &[(Vec3, f32)]) -> f32 {
    balls.iter().fold(f32::INFINITY, |least, ball| least.min(ball.1))
}

/// Cubes of whole numbers of the smallest ones, as voxels; `None` where they are too many for a grid.
fn of_cubes(balls: &[(Vec3, f32)]) -> Option<BodyField> {
    let (box_low, box_high) = bounds(balls);
    let edge = f64::from(2.0 * smallest(balls));
    let low = box_low.as_dvec3();
    let sides = (box_high.as_dvec3() - low) / edge;
    let inner = sides.to_array().map(|cells| (cells.round() as usize).max(1));
    let nodes: usize = inner.iter().map(|n| n + 2 * PADDING).product();
    if nodes > MOST_NODES + MOST_PER_PARTICLE * balls.len() {
        return None;
    }
    let grid = VoxelGrid::new(low, edge, inner, PADDING).ok()?;
    let mut owners = vec![BodyField::NOBODY; grid.len()];
    for (number, &(at, r)) in balls.iter().enumerate() {
        let half = DVec3::splat(f64::from(r));
        let corner = ((at.as_dvec3() - half - low) / edge).round().max(DVec3::ZERO).as_uvec3();
        let width = (2.0 * f64::from(r) / edge).round() as usize;
        let range = |axis: usize| {
            let from = corner[axis] as usize;
            from.min(inner[axis])..(from + width).min(inner[axis])
        };
        for (z, y, x) in
            range(2).flat_map(|z| range(1).flat_map(move |y| range(0).map(move |x| (z, y, x))))
        {
            owners[grid.index([x, y, z].map(|c| c + PADDING))] = number as u32;
        }
    }
    let solid = owners.iter().map(|&owner| owner != BodyField::NOBODY).collect();
    let field = DistanceField::of(&Voxels::from_solid(grid, solid).ok()?);
    let edge = edge as f32;
    let nodes: Vec<Vec4> = field
        .distances()
        .iter()
        .enumerate()
        .map(|(k, &distance)| field.gradient(grid.voxel(k)).extend(distance * edge))
        .collect();
    let mut outer = vec![false; balls.len()];
    for (&owner, node) in owners.iter().zip(&nodes) {
        // Half a voxel deep, which is beside an empty one.
        if owner != BodyField::NOBODY && node.w > -0.75 * edge {
            outer[owner as usize] = true;
        }
    }
    let surface = (0..balls.len() as u32).filter(|&k| outer[k as usize]).collect();
    Some(BodyField {
        low: grid.centre([0; 3]),
        spacing: edge,
        size: UVec3::from_array(grid.size().map(|n| n as u32)),
        nodes,
        owners,
        surface,
        middle: 0.5 * (box_low + box_high),
        half: 0.5 * (box_high - box_low),
        radius: smallest(balls),
        extent: extent(balls),
    })
}

/// The distance to the nearest ball.
fn of_balls(balls: &[(Vec3, f32)]) -> BodyField {
    let (box_low, box_high) = bounds(balls);
    let sides = (box_high - box_low).as_dvec3();
    let most = (MOST_NODES + MOST_PER_PARTICLE * balls.len()) as f64;
    let mut spacing = f64::from(smallest(balls));
    let cells = |spacing: f64| {
        (sides / spacing).ceil().to_array().map(|cells| cells as usize + 1 + 2 * PADDING)
    };
    while cells(spacing).iter().map(|&n| n as f64).product::<f64>() > most {
        spacing *= 1.25;
    }
    let size = cells(spacing);
    let low = (box_low.as_dvec3() - DVec3::splat(PADDING as f64 * spacing)).as_vec3();
    let spacing = spacing as f32;
    let pad = PADDING as f32 * spacing;
    let count = size.iter().product();
    let mut nodes = vec![Vec4::new(0.0, 0.0, 0.0, pad); count];
    for &(at, r) in balls {
        let reach = r + pad;
        let from = ((at - reach - low) / spacing).ceil().max(Vec3::ZERO).as_uvec3();
        let to = ((at + reach - low) / spacing).floor().as_uvec3();
        let range = |axis: usize| from[axis]..=to[axis].min(size[axis] as u32 - 1);
        for (z, y, x) in
            range(2).flat_map(|z| range(1).flat_map(move |y| range(0).map(move |x| (z, y, x))))
        {
            let away = low + Vec3::new(x as f32, y as f32, z as f32) * spacing - at;
            let length = away.length();
            let node = &mut nodes[(z as usize * size[1] + y as usize) * size[0] + x as usize];
            if length - r < node.w {
                let out = if length > 0.0 { away / length } else { Vec3::ZERO };
                *node = out.extend(length - r);
            }
        }
    }
    BodyField {
        low,
        spacing,
        size: UVec3::from_array(size.map(|n| n as u32)),
        owners: vec![BodyField::NOBODY; count],
        nodes,
        surface: (0..balls.len() as u32).collect(),
        middle: 0.5 * (box_low + box_high),
        half: 0.5 * (box_high - box_low),
        radius: smallest(balls),
        extent: extent(balls),
    }
}
