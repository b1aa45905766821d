//! Stages of `collide_environment`, and the layout of `colliders`.
//!
//! Words of `colliders`: 0 how many, 1 substeps, 2 where the poses begin. From 16 on 32 words each:
//! 0 kind (0 plane, 1 sphere, 2 box, 3 capsule, 4 cylinder, 5 cone, 6 closed mesh, 7 sheet), 1 to 7
//! sizes (a plane's unit normal; radius; half sizes; radius and half height; a cone's radius, height,
//! length of the slant and its direction from rim to apex), 11 thickness, 12 first word and 13 number
//! of the nodes, 14 first word and 15 number of the triangles. Friction and restitution stand in
//! `materials`.
//! Then the poses, 32 words each, by substep and collider: 0 translation and 3 rotation (x, y, z, w)
//! where the substep begins, 7 and 10 where it ends, 14 what guards it (0 nothing, 1 a plane, 2 a
//! ball), 15 to 18 n and d, or centre and radius.
//! Then the meshes: nodes of 9 words (low, high, skip, first, count), triangles of 16 in the order of
//! the leaves (corners, 9 unit normal, 12 number in the mesh, 13 flags).
//! Flags of a triangle: 1, 2, 4 when its edges ab, bc, ca run against the order of their ends in
//! space, so that whoever shares one can run along it the same way; 8 when it has an area; 16, 32, 64
//! when its corners a, b, c stand for their vertices.

use super::{Groups, Stage};
use crate::cpu::collide_environment::{Guard, Posed};
use crate::pass::Buffer;
use crate::shape::triangle_bvh::{TriangleBvh, unit_normal};
use crate::step::{Dispatch, Part};
use crate::vulkan::plan::Plan;
use crate::world::World;
use crate::world::collider::{Collider, Pose, Shape};
use glam::{Vec2, Vec3};

use crate::vulkan::layout::colliders as words;
use words::{
    FIRST as HEADER, NODE_WORDS as NODE, POSE_WORDS as POSE, TRIANGLE_WORDS as TRIANGLE,
    WORDS as COLLIDER,
};

pub(super) fn stages(dispatch: &Dispatch, _: &Plan, out: &mut Vec<Stage>) {
    let again = [u32::from(dispatch.part == Part::Again), 0, 0];
    out.push(Stage::new("keep", Groups::Particles).with(again));
    out.push(Stage::new("begin", Groups::One));
    out.push(Stage::new("find", Groups::Particles));
    out.push(Stage::new("hold", Groups::Particles).with(again));
}

/// Words of `environment_contacts`.
pub(crate) fn contact_words(plan: &Plan) -> usize {
    2 * plan.particles + 8 * plan.room[Buffer::EnvironmentContacts]
}

/// Words of `colliders` for a world.
pub(crate) fn words(world: &World) -> usize {
    let meshes = world.colliders.iter().filter_map(mesh_of);
    meshes_at(world) + meshes.map(mesh_words).sum::<usize>()
}

/// `colliders` for a step of substeps of `h` seconds from the world's time on.
pub(crate) fn encode(world: &World, h: f32, out: &mut [u32]) {
    let mut mesh_at = meshes_at(world);
    for (i, collider) in world.colliders.iter().enumerate() {
        let row = &mut out[HEADER + COLLIDER * i..][..COLLIDER];
        let (kind, sizes) = kind_and_sizes(&collider.shape);
        row[words::KIND] = kind;
        put(&mut row[words::SIZES..], &sizes);
        if let Shape::Mesh { bvh, thickness, .. } = &collider.shape {
            put(&mut row[words::THICKNESS..], &[*thickness]);
            let triangles_at = mesh_at + NODE * bvh.nodes.len();
            let places = [mesh_at, bvh.nodes.len(), triangles_at, bvh.corners.len()];
            for (word, place) in row[words::NODES..].iter_mut().zip(places) {
                *word = place as u32;
            }
            encode_mesh(bvh, &mut out[mesh_at..][..mesh_words(bvh)]);
            mesh_at += mesh_words(bvh);
        }
    }
    encode_step(world, h, out);
}

/// The part of `colliders` that steps differ in: poses, and what the world's parameters decide.
pub(crate) fn encode_step(world: &World, h: f32, out: &mut [u32]) {
    let count = world.colliders.len();
    let header = [count, world.params.substeps as usize, poses_at(world)];
    for (word, value) in out.iter_mut().zip(header) {
        *word = value as u32;
    }
    // Summed as a step does.
    let (mut time, h) = (world.time, f64::from(h));
    let mut rows = out[poses_at(world)..meshes_at(world)].chunks_exact_mut(POSE);
    for _ in 0..world.params.substeps {
        for (collider, row) in world.colliders.iter().zip(&mut rows) {
            encode_pose(&Posed::new(collider, time, h), row);
        }
        time += h;
    }
}

fn poses_at(world: &World) -> usize {
    HEADER + COLLIDER * world.colliders.len()
}

/// Words of `colliders` that a step may change: all but the meshes.
pub(crate) fn meshes_at(world: &World) -> usize {
    poses_at(world) + POSE * world.params.substeps as usize * world.colliders.len()
}

fn mesh_of(collider: &Collider) -> Option<&TriangleBvh> {
    match &collider.shape {
        Shape::Mesh { bvh, .. } => Some(bvh),
        _ => None,
    }
}

fn mesh_words(bvh: &TriangleBvh) -> usize {
    NODE * bvh.nodes.len() + TRIANGLE * bvh.corners.len()
}

fn put(out: &mut [u32], values: &[f32]) {
    for (word, value) in out.iter_mut().zip(values) {
        *word = value.to_bits();
    }
}

fn kind_and_sizes(shape: &Shape) -> (u32, [f32; 5]) {
    match shape {
        Shape::Plane { normal } => {
            let [x, y, z] = normal.normalize_or(Vec3::Y).to_array();
            (0, [x, y, z, 0.0, 0.0])
        }
        Shape::Sphere { radius } => (1, [*radius, 0.0, 0.0, 0.0, 0.0]),
        Shape::Box { half } => (2, [half.x, half.y, half.z, 0.0, 0.0]),
        Shape::Capsule { radius, half_height } => (3, [*radius, *half_height, 0.0, 0.0, 0.0]),
        Shape::Cylinder { radius, half_height } => (4, [*radius, *half_height, 0.0, 0.0, 0.0]),
        Shape::Cone { radius, height } => {
            let slant = Vec2::new(0.0, *height) - Vec2::new(*radius, 0.0);
            let length = slant.length();
            let along = slant / length;
            (5, [*radius, *height, length, along.x, along.y])
        }
        Shape::Mesh { closed, .. } => (if *closed { 6 } else { 7 }, [0.0; 5]),
    }
}

fn encode_pose(posed: &Posed, row: &mut [u32]) {
    let pose = |pose: &Pose, row: &mut [u32]| {
        put(row, &pose.translation.to_array());
        put(&mut row[words::POSE_START_TURN..], &pose.rotation.to_array());
    };
    pose(&posed.start, row);
    pose(&posed.end, &mut row[words::POSE_END..]);
    let (kind, numbers) = match posed.guard {
        // A device looks closely at what moves.
        Guard::None | Guard::Moving { .. } => (0, [0.0; 4]),
        Guard::Plane(plane) => (1, plane.to_array()),
        Guard::Ball { center, radius } => (2, center.extend(radius).to_array()),
    };
    row[words::POSE_GUARD] = kind;
    put(&mut row[words::POSE_GUARD_NUMBERS..], &numbers);
}

fn encode_mesh(bvh: &TriangleBvh, out: &mut [u32]) {
    let (nodes, triangles) = out.split_at_mut(NODE * bvh.nodes.len());
    for (node, row) in bvh.nodes.iter().zip(nodes.chunks_exact_mut(NODE)) {
        put(row, &node.min.to_array());
        put(&mut row[words::NODE_HIGH..], &node.max.to_array());
        row[words::NODE_SKIP..NODE].copy_from_slice(&[node.skip, node.first, node.count]);
    }
    let rows = triangles.chunks_exact_mut(TRIANGLE);
    let triangles = bvh.corners.iter().zip(&bvh.ids).zip(&bvh.standing);
    for (((corners, &id), &standing), row) in triangles.zip(rows) {
        for (k, corner) in corners.iter().enumerate() {
            put(&mut row[3 * k..], &corner.to_array());
        }
        let normal = unit_normal(corners).map(|n| n.as_vec3());
        put(&mut row[words::TRIANGLE_NORMAL..], &normal.unwrap_or(Vec3::ZERO).to_array());
        let against = |i: usize| corners[i].to_array() > corners[(i + 1) % 3].to_array();
        let edges = (0..3).filter(|&i| against(i)).map(|i| 1u32 << i).sum::<u32>();
        row[words::TRIANGLE_NUMBER] = id;
        row[words::TRIANGLE_FLAGS] =
            edges | u32::from(normal.is_some()) << 3 | u32::from(standing) << 4;
    }
}
