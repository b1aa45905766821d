//! Skins follow their particles: at rest, moved, turned, stretched and bent.

use super::solids::{load, voxels};
use glam::{Quat, Vec3};
use motes::shape::merge::unmerged;
use motes::shape::mesh::TriangleMesh;
use motes::shape::skin::{BarycentricSkin, WeightedSkin};

/// A mesh and its particles.
fn body(name: &str, resolution: usize) -> (TriangleMesh, Vec<Vec3>) {
    let mesh = load(name);
    let voxels = voxels(&mesh, resolution);
    let particles = unmerged(&voxels).iter().map(|cube| cube.centre(voxels.grid())).collect();
    (mesh, particles)
}

fn farthest(a: &[Vec3], b: impl Iterator<Item = Vec3>) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(b)).fold(0.0, f32::max)
}

#[test]
fn skins_leave_a_body_at_rest_and_follow_it_when_it_is_moved_and_turned() {
    let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.5, -1.0, 2.0);
    for name in ["rabbit", "torus", "cube", "trefoil"] {
        let (mesh, particles) = body(name, 24);
        let barycentric = BarycentricSkin::new(&mesh.vertices, &particles).unwrap();
        let weighted = WeightedSkin::new(&mesh.vertices, &particles).unwrap();
        for [a, b, c] in barycentric.particles() {
            let [a, b, c] = [a, b, c].map(|i| particles[i as usize]);
            let sine = (b - a).cross(c - a).length() / (b - a).length() / (c - a).length();
            assert!(sine > 0.15, "{name}: three particles are in a line, {sine}");
        }
        for (turn, shift) in [(Quat::IDENTITY, Vec3::ZERO), (turn, Vec3::new(3.0, -7.0, 11.0))] {
            let place = |p: &Vec3| turn * *p + shift;
            let moved: Vec<Vec3> = particles.iter().map(place).collect();
            for vertices in [barycentric.vertices(&moved), weighted.vertices(&moved)] {
                let off = farthest(&vertices.unwrap(), mesh.vertices.iter().map(place));
                assert!(off < 2e-5, "{name}: {off}");
            }
        }
    }
}

#[test]
fn a_weighted_skin_stretches_with_its_body_and_a_bent_one_stays_near() {
    let (mesh, particles) = body("rabbit", 24);
    let (barycentric, weighted) = (
        BarycentricSkin::new(&mesh.vertices, &particles).unwrap(),
        WeightedSkin::new(&mesh.vertices, &particles).unwrap(),
    );
    let sheared = |p: &Vec3| Vec3::new(1.5 * p.x + 0.4 * p.y, 0.8 * p.y, p.z - 0.3 * p.x);
    let moved: Vec<Vec3> = particles.iter().map(sheared).collect();
    let off = farthest(&weighted.vertices(&moved).unwrap(), mesh.vertices.iter().map(sheared));
    assert!(off < 2e-5, "{off}");
    // Bent about an axis 2 m away, which stretches it by up to 20 %. A weighted skin follows but for
    // the curvature; a barycentric one keeps heights of up to a voxel as they are.
    let bent = |p: &Vec3| {
        let angle = 0.5 * p.y;
        let away = 2.0 + p.x;
        Vec3::new(away * angle.cos() - 2.0, away * angle.sin(), p.z)
    };
    let moved: Vec<Vec3> = particles.iter().map(bent).collect();
    let skins = [(barycentric.vertices(&moved), 0.2), (weighted.vertices(&moved), 0.05)];
    for (vertices, bound) in skins {
        let off = 24.0 * farthest(&vertices.unwrap(), mesh.vertices.iter().map(bent));
        println!("bent: off by {off} voxels");
        assert!(off < bound, "{off} voxels");
    }
}

#[test]
fn a_sheet_keeps_the_height_of_its_skin() {
    let sheet: Vec<Vec3> =
        (0..100).map(|i| Vec3::new((i % 10) as f32, 0.0, (i / 10) as f32)).collect();
    let vertices = [Vec3::new(4.2, 0.7, 3.9), Vec3::new(-0.5, -0.2, 4.0)];
    let skin = BarycentricSkin::new(&vertices, &sheet).unwrap();
    let turn = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let turned: Vec<Vec3> = sheet.iter().map(|&p| turn * p).collect();
    assert!(
        farthest(&skin.vertices(&turned).unwrap(), vertices.map(|v| turn * v).into_iter()) < 1e-5
    );
    let error = WeightedSkin::new(&vertices, &sheet).unwrap_err().to_string();
    assert!(error.contains("one plane"), "{error}");
}

#[test]
fn what_cannot_hold_a_skin_is_refused() {
    let line: Vec<Vec3> = (0..20).map(|i| Vec3::X * i as f32).collect();
    let vertex = [Vec3::new(3.0, 1.0, 0.0)];
    assert!(BarycentricSkin::new(&vertex, &line).unwrap_err().to_string().contains("in a line"));
    assert!(BarycentricSkin::new(&vertex, &line[..2]).is_err());
    assert!(BarycentricSkin::new(&vertex, &[]).is_err());
    assert!(WeightedSkin::new(&vertex, &[]).is_err());
    assert!(BarycentricSkin::new(&[Vec3::NAN], &line).is_err());
    // Among particles in a row, one beside it is found.
    let mut beside = line.clone();
    beside.push(Vec3::new(12.0, 0.0, 7.0));
    let skin = BarycentricSkin::new(&vertex, &beside).unwrap();
    assert!(skin.vertices(&beside).unwrap()[0].distance(vertex[0]) < 1e-5);
    assert!(skin.vertices(&line).unwrap_err().to_string().starts_with("particles: "));
}
