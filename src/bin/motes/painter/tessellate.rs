//! Obstacles as triangles; a level plane is the floor.

use crate::painter::{Picture, Triangle, palette};
use glam::{Vec2, Vec3};
use motes::shape::mesh::TriangleMesh;
use motes::world::collider::{Pose, Shape};
use motes::{Character, Collider};
use std::f32::consts::{FRAC_PI_2, TAU};

/// Pieces around a round shape; pieces of a half circle are half as many.
const AROUND: usize = 48;
/// Planes steeper than this (cosine to the vertical) are walls, not the floor.
const LEVEL: f32 = 0.999;

/// Adds every collider with an end, where it stands now. Limbs that a mesh covers are left out.
pub fn add_shapes(picture: &mut Picture, colliders: &[Collider], time: f64) {
    let is_seen = |c: &&Collider| !c.limb.is_some_and(|limb| limb.covered);
    for collider in colliders.iter().filter(is_seen) {
        add_shape(picture, &collider.shape, &collider.pose_at(time));
    }
}

/// Adds the mesh of a character, where it is now.
pub fn add_character(picture: &mut Picture, character: &Character, time: f64) {
    let Some(TriangleMesh { vertices, triangles }) = character.mesh_at(time) else { return };
    let place = |i: u32| vertices.get(i as usize).copied().unwrap_or_default();
    // Of all triangles around a vertex, by their area.
    let mut normals = vec![Vec3::ZERO; vertices.len()];
    for triangle in &triangles {
        let [a, b, c] = triangle.map(place);
        let normal = (b - a).cross(c - a);
        for &corner in triangle {
            if let Some(sum) = normals.get_mut(corner as usize) {
                *sum += normal;
            }
        }
    }
    for triangle in &triangles {
        let normal = |i: u32| normals.get(i as usize).map_or(Vec3::Y, |n| n.normalize_or(Vec3::Y));
        picture.triangles.push(Triangle {
            p: triangle.map(place),
            n: triangle.map(normal),
            color: palette::CHARACTER,
            two_sided: true,
        });
    }
}

/// Adds the planes: the floor, and walls as large as the box `focus` needs.
pub fn add_planes(
    picture: &mut Picture,
    colliders: &[Collider],
    time: f64,
    focus: Option<(Vec3, Vec3)>,
) {
    for collider in colliders {
        let Shape::Plane { normal } = collider.shape else { continue };
        let pose = collider.pose_at(time);
        let normal = pose.apply_vector(normal.normalize_or(Vec3::Y));
        let height = pose.translation.y;
        if normal.y > LEVEL {
            picture.ground = Some(picture.ground.map_or(height, |g| g.max(height)));
        } else if let Some((low, high)) = focus {
            add_wall(picture, normal, pose.translation, low, high);
        }
    }
}

/// A square of an endless plane, large enough for what stands before it.
pub fn add_wall(picture: &mut Picture, normal: Vec3, point: Vec3, low: Vec3, high: Vec3) {
    let center = (low + high) * 0.5;
    let center = center - normal * normal.dot(center - point);
    let half = (high - low).length() * 0.75;
    let side = normal.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
    let (x, y) = (side * half, normal.cross(side) * half);
    let corners = [center - x - y, center + x - y, center + x + y, center - x + y];
    for [a, b, c] in [[0, 1, 2], [0, 2, 3]] {
        picture.walls.push(facing([corners[a], corners[b], corners[c]], [normal; 3], false));
    }
}

fn push(picture: &mut Picture, p: [Vec3; 3], n: [Vec3; 3], two_sided: bool) {
    picture.triangles.push(facing(p, n, two_sided));
}

fn facing(p: [Vec3; 3], n: [Vec3; 3], two_sided: bool) -> Triangle {
    // Wound so that the front is where the normals point.
    let flat = (p[1] - p[0]).cross(p[2] - p[0]);
    let inward = flat.dot(n[0] + n[1] + n[2]) < 0.0;
    let turn = |v: [Vec3; 3]| if inward { [v[0], v[2], v[1]] } else { v };
    Triangle { p: turn(p), n: turn(n), color: palette::STAGE, two_sided }
}

fn add_shape(picture: &mut Picture, shape: &Shape, pose: &Pose) {
    let mut round = |outline: &[Piece]| revolve(picture, pose, outline);
    match *shape {
        Shape::Plane { .. } => {}
        Shape::Sphere { radius } => round(&arc(radius, 0.0, -FRAC_PI_2, FRAC_PI_2)),
        Shape::Capsule { radius, half_height } => {
            let mut outline = arc(radius, -half_height, -FRAC_PI_2, 0.0);
            outline.push(Piece::straight([radius, -half_height], [radius, half_height]));
            outline.extend(arc(radius, half_height, 0.0, FRAC_PI_2));
            round(&outline);
        }
        Shape::Cylinder { radius, half_height } => round(&[
            Piece::straight([0.0, -half_height], [radius, -half_height]),
            Piece::straight([radius, -half_height], [radius, half_height]),
            Piece::straight([radius, half_height], [0.0, half_height]),
        ]),
        Shape::Cone { radius, height } => round(&[
            Piece::straight([0.0, 0.0], [radius, 0.0]),
            Piece::straight([radius, 0.0], [0.0, height]),
        ]),
        Shape::Box { half } => add_box(picture, pose, half),
        Shape::Mesh { ref mesh, closed, .. } => {
            for triangle in &mesh.triangles {
                let corner = |i: u32| mesh.vertices.get(i as usize).copied().unwrap_or_default();
                let p = triangle.map(|i| pose.apply_point(corner(i)));
                let n = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
                push(picture, p, [n; 3], !closed);
            }
        }
    }
}

fn add_box(picture: &mut Picture, pose: &Pose, half: Vec3) {
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut n = Vec3::ZERO;
            n[axis] = sign;
            let (mut u, mut v) = (Vec3::ZERO, Vec3::ZERO);
            u[(axis + 1) % 3] = 1.0;
            v[(axis + 2) % 3] = 1.0;
            let corner = |a: f32, b: f32| pose.apply_point((n + u * a + v * b) * half);
            let [a, b, c, d] =
                [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            let n = pose.apply_vector(n);
            push(picture, [a, b, c], [n; 3], false);
            push(picture, [a, c, d], [n; 3], false);
        }
    }
}

/// A straight piece of an outline (distance from the y axis, height) with its outward normals.
struct Piece {
    ends: [Vec2; 2],
    normals: [Vec2; 2],
}

impl Piece {
    /// A flat piece; outlines run from the bottom to the top.
    fn straight(a: [f32; 2], b: [f32; 2]) -> Self {
        let (a, b) = (Vec2::from(a), Vec2::from(b));
        let along = (b - a).normalize_or_zero();
        let normal = Vec2::new(along.y, -along.x);
        Piece { ends: [a, b], normals: [normal; 2] }
    }
}

/// Pieces of a circle about (0, `height`), between two angles above the horizon.
fn arc(radius: f32, height: f32, from: f32, to: f32) -> Vec<Piece> {
    let pieces = ((to - from) / TAU * AROUND as f32).round().max(1.0) as usize;
    let direction = |k: usize| {
        let angle = from + (to - from) * k as f32 / pieces as f32;
        Vec2::new(angle.cos(), angle.sin())
    };
    let center = Vec2::new(0.0, height);
    (0..pieces)
        .map(|k| {
            let normals = [direction(k), direction(k + 1)];
            Piece { ends: normals.map(|n| center + n * radius), normals }
        })
        .collect()
}

/// Turns an outline about the y axis.
fn revolve(picture: &mut Picture, pose: &Pose, outline: &[Piece]) {
    for k in 0..AROUND {
        let turns = [k, k + 1].map(|k| Vec2::from_angle(TAU * k as f32 / AROUND as f32));
        let place = |v: Vec2, turn: Vec2| Vec3::new(v.x * turn.x, v.y, v.x * turn.y);
        for Piece { ends, normals } in outline {
            let corner = |end: usize, turn: usize| {
                let p = pose.apply_point(place(ends[end], turns[turn]));
                (p, pose.apply_vector(place(normals[end], turns[turn])))
            };
            let [a, b, c, d] = [corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0)];
            for t in [[a, b, c], [a, c, d]] {
                push(picture, t.map(|v| v.0), t.map(|v| v.1), false);
            }
        }
    }
}
