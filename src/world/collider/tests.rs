//! Paths, checks and storage of colliders.

use glam::{Quat, Vec3};

use super::*;
use crate::shape::mesh::TriangleMesh;

/// A closed block of twelve triangles.
pub(crate) fn block(half: Vec3) -> TriangleMesh {
    let corner = |i: u32| {
        let sign = |bit: u32| if i & bit == 0 { -1.0 } else { 1.0 };
        half * Vec3::new(sign(1), sign(2), sign(4))
    };
    let quads =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    TriangleMesh {
        vertices: (0..8).map(corner).collect(),
        triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

fn moving() -> Collider {
    let mut collider = Collider::fixed(Shape::Sphere { radius: 1.0 }, Pose::IDENTITY);
    let turned = Pose::new(Vec3::new(2.0, 0.0, 0.0), Quat::from_rotation_y(1.0));
    collider.path.push(Keyframe { time: 2.0, pose: turned });
    collider.path.push(Keyframe { time: 4.0, pose: Pose::IDENTITY });
    collider
}

#[test]
fn path_is_followed_and_held() {
    let mut c = moving();
    assert!(c.is_moving());
    assert_eq!(c.pose_at(-1.0), Pose::IDENTITY);
    assert_eq!(c.pose_at(1.0).translation, Vec3::X);
    assert_eq!(c.pose_at(2.0).translation, Vec3::X * 2.0);
    assert_eq!(c.pose_at(3.5).translation, Vec3::X * 0.5);
    assert_eq!(c.pose_at(9.0), Pose::IDENTITY);
    c.looped = true;
    assert_eq!(c.pose_at(5.0), c.pose_at(1.0));
    assert_eq!(c.pose_at(-1.0), c.pose_at(3.0));
    c.path.clear();
    assert_eq!(c.pose_at(1.0), Pose::IDENTITY);
    assert!(!Collider::fixed(Shape::Sphere { radius: 1.0 }, Pose::IDENTITY).is_moving());
}

#[test]
fn bad_values_are_named() {
    let fails = |change: &dyn Fn(&mut Collider), field: &str| {
        let mut collider = moving();
        assert!(collider.validate("collider.0").is_ok());
        change(&mut collider);
        let message = collider.validate("collider.0").unwrap_err().to_string();
        assert!(message.starts_with(&format!("collider.0.{field}: ")), "{message}");
    };
    fails(&|c| c.path[1].time = 0.0, "path.1.time");
    fails(&|c| c.path[2].time = f64::NAN, "path.2.time");
    fails(&|c| c.path[1].pose.translation.x = f32::INFINITY, "path.1.translation");
    fails(&|c| c.path[1].pose.rotation = Quat::from_array([0.0; 4]), "path.1.rotation");
    fails(&|c| c.path.clear(), "path");
    fails(&|c| c.coefficients.friction_static = Some(-0.1), "friction_static");
    fails(&|c| c.coefficients.friction_kinetic = Some(f32::NAN), "friction_kinetic");
    fails(&|c| c.coefficients.restitution = Some(1.5), "restitution");
    fails(&|c| c.shape = Shape::Sphere { radius: 0.0 }, "shape.radius");
    fails(&|c| c.shape = Shape::Plane { normal: Vec3::ZERO }, "shape.normal");
    fails(&|c| c.shape = Shape::Box { half: Vec3::new(1.0, -1.0, 1.0) }, "shape.half.y");
    fails(&|c| c.shape = Shape::Cone { radius: 1.0, height: f32::NAN }, "shape.height");
    fails(&|c| c.shape = Shape::Capsule { radius: 1.0, half_height: 0.0 }, "shape.half_height");
    fails(&|c| c.shape = Shape::mesh(TriangleMesh::default(), false, 0.0).unwrap(), "shape.mesh");
    fails(&|c| c.shape = Shape::mesh(block(Vec3::ONE), false, -1.0).unwrap(), "shape.thickness");
    fails(
        &|c| {
            let mut open = block(Vec3::ONE);
            open.triangles.pop();
            c.shape = Shape::mesh(open, true, 0.0).unwrap();
        },
        "shape.closed",
    );
    fails(
        &|c| {
            let mut inward = block(Vec3::ONE);
            inward.triangles.iter_mut().for_each(|t| t.swap(0, 1));
            c.shape = Shape::mesh(inward, true, 0.0).unwrap();
        },
        "shape.closed",
    );
    fails(
        &|c| {
            c.shape = Shape::mesh(block(Vec3::ONE), true, 0.0).unwrap();
            if let Shape::Mesh { mesh, .. } = &mut c.shape {
                std::sync::Arc::make_mut(mesh).vertices[0].x = -7.0;
            }
        },
        "shape.bvh",
    );
}

#[test]
fn storage_gives_the_same_collider() {
    let mut collider = moving();
    for shape in [
        Shape::mesh(block(Vec3::new(0.1, 0.2, 0.3)), true, 0.01).unwrap(),
        Shape::Cone { radius: 1.0, height: 2.0 },
        Shape::Plane { normal: Vec3::Y },
    ] {
        collider.shape = shape;
        let bytes = postcard::to_stdvec(&collider).unwrap();
        assert_eq!(postcard::from_bytes::<Collider>(&bytes).unwrap(), collider);
    }
}

#[test]
fn storage_with_a_bad_mesh_is_an_error() {
    let text = r#"{"Mesh":{"mesh":{"vertices":[[0,0,0]],"triangles":[[0,0,9]]},"closed":false,"thickness":0}}"#;
    assert!(serde_json::from_str::<Shape>(text).unwrap_err().to_string().contains("vertex 9"));
}
