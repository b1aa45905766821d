//! Commands that change the world between two steps.

use super::command::{Ball, MeshPlacement, Placement, Solidity, Wedge};
use glam::Vec3;
use motes::shape::mesh::TriangleMesh;
use motes::world::collider::{Pose, Shape};
use motes::{
    Cloth, Collider, Error, Kind, Lattice, Material, Particle, ParticleId, Phase, Result, Scene,
    Solid, World,
};
use std::path::Path;

/// Acceleration of a whole object that is pulled by 1 m, m/s² (a spring of 2 Hz).
const PULL: f32 = 160.0;

/// Pulls a particle towards a point: a spring as strong as its object is heavy. A fixed particle is
/// moved.
pub fn drag(world: &mut World, id: ParticleId, target: Vec3, object_mass: f32) -> Result<()> {
    let p = world.particles();
    let Some(slot) = p.slot(id) else { return Ok(()) };
    let w = p.positions()[slot].w;
    if w == 0.0 {
        return world.set_position(id, target);
    }
    if world.pins().iter().any(|pin| pin.slot() == slot && pin.is_driven()) {
        let message = format!("particle {} is driven along a path by the scene", id.0);
        return Err(Error::value("drag", message));
    }
    world.drag(id, target, 1.0 / (PULL * object_mass.max(1.0 / w)))
}

/// Cuts whatever crosses the wedge. Returns how many constraints went.
pub fn cut(world: &mut World, wedge: &Wedge) -> usize {
    let crosses = |a: &Vec3, b: &Vec3| wedge.crosses(*a, *b);
    let edges = world.cut(Kind::Distance, |p| crosses(&p[0], &p[1]));
    // A hinge turns about its edge, the last two; a tetrahedron goes with any of its six.
    let hinges = world.cut(Kind::Bend, |p| crosses(&p[2], &p[3]));
    let any = |p: &[Vec3]| (0..4).any(|i| (0..i).any(|j| crosses(&p[i], &p[j])));
    edges + hinges + world.cut(Kind::Volume, any)
}

/// Pins a free particle where it is, frees a pinned one. True when it is pinned now.
pub fn toggle_pin(world: &mut World, id: ParticleId) -> Result<bool> {
    let slot = world.particles().slot(id);
    let fixed = slot.is_some_and(|slot| world.particles().positions()[slot].w == 0.0);
    if fixed { world.unpin(id).map(|()| false) } else { world.pin(id).map(|()| true) }
}

/// Throws a ball: one particle of its own group.
pub fn throw(world: &mut World, ball: &Ball) -> Result<ParticleId> {
    let mass = match ball.mass > 0.0 {
        true => ball.mass,
        false => 0.2 * free_mass(world).max(1e-3),
    };
    let phase = Phase::group(world.new_group());
    let Ball { position, velocity, radius, .. } = *ball;
    world.add_particle(&Particle { position, velocity, mass, radius, phase })
}

fn free_mass(world: &World) -> f32 {
    let rows = world.particles().positions().iter();
    rows.filter(|p| p.w > 0.0).map(|p| f64::from(1.0 / p.w)).sum::<f64>() as f32
}

/// Adds an object. Returns how many particles it has.
pub fn place(world: &mut World, wanted: &Placement) -> Result<usize> {
    let Placement { position, counts, spacing, self_collide, .. } = *wanted;
    let material = Material {
        stiffness: wanted.stiffness,
        compliance: wanted.compliance,
        break_at: if wanted.break_at > 0.0 { wanted.break_at } else { f32::INFINITY },
        ..Material::default()
    };
    let solid = match wanted.solidity {
        Solidity::Cloth => {
            let [columns, _, rows] = counts;
            let size = Vec3::new(columns as f32 - 1.0, 0.0, rows as f32 - 1.0) * spacing;
            let cloth = Cloth {
                name: "placed cloth".into(),
                origin: position - size * 0.5,
                columns,
                rows,
                spacing,
                mass: wanted.mass / (columns * rows).max(1) as f32,
                radius: spacing * 0.5,
                self_collide,
                stretch: material,
                shear: material,
                ..Cloth::default()
            };
            return Ok(world.add_cloth(&cloth)?.len());
        }
        Solidity::Box => Solid::Box,
        Solidity::Ball => Solid::Sphere,
        Solidity::Cylinder => Solid::Cylinder,
        Solidity::Torus => Solid::Torus { tube: 0.3 },
    };
    let mut lattice = Lattice {
        name: "placed body".into(),
        center: position,
        counts,
        spacing,
        radius: spacing * 0.5,
        solid,
        self_collide,
        stretch: material,
        ..Lattice::default()
    };
    // How many particles share the mass is known once it was made.
    let count = World::new().add_lattice(&lattice)?.len();
    lattice.mass = wanted.mass / count.max(1) as f32;
    Ok(world.add_lattice(&lattice)?.len())
}

/// Adds a mesh as an obstacle where its file has it.
pub fn add_mesh(world: &mut World, path: &Path) -> Result<usize> {
    let (mesh, _) = TriangleMesh::load_obj(path)?;
    let triangles = mesh.triangles.len();
    let mut collider = Collider::fixed(solid_or_sheet(mesh)?, Pose::IDENTITY);
    collider.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    collider.validate("mesh")?;
    world.colliders.push(collider);
    Ok(triangles)
}

/// A closed mesh is solid, any other a sheet with a thickness that suits its size.
fn solid_or_sheet(mesh: TriangleMesh) -> Result<Shape> {
    let closed = mesh.is_closed();
    let thickness = mesh.bounds().map_or(0.01, |(low, high)| 0.005 * (high - low).length());
    Shape::mesh(mesh, closed, thickness.max(1e-4))
}

/// Adds a built-in mesh as an obstacle: scenes know them by name, so a scene of one is read.
pub fn place_mesh(world: &mut World, wanted: &MeshPlacement) -> Result<()> {
    let [x, y, z] = wanted.position.to_array();
    let (name, scale) = (wanted.name, wanted.scale);
    let text = format!(
        "[[collider]]\nshape = \"mesh\"\nmesh = \"{name}\"\nclosed = false\nthickness = 0.01\n\
         position = [{x:?}, {y:?}, {z:?}]\nscale = {scale:?}\n"
    );
    let made = Scene::parse("mesh.toml", &text, None, &[])?.build()?;
    for mut collider in made.colliders {
        if let Shape::Mesh { mesh, .. } = collider.shape {
            collider.shape = solid_or_sheet(mesh)?;
        }
        collider.validate(name)?;
        world.colliders.push(collider);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_mesh_can_be_placed() {
        let mut world = World::new();
        for (k, name) in Scene::builtin_mesh_names().enumerate() {
            let position = Vec3::new(1.0, -2.5, 1e-3);
            place_mesh(&mut world, &MeshPlacement { name, position, scale: 0.5 }).unwrap();
            assert_eq!(world.colliders.len(), k + 1, "{name}");
            assert_eq!(world.colliders[k].pose_at(0.0).translation, position);
        }
    }

    #[test]
    fn what_is_placed_has_the_mass_that_was_asked_for() {
        for (solidity, name) in Solidity::ALL {
            let mut world = World::new();
            let wanted = Placement { solidity, ..Placement::default() };
            let count = place(&mut world, &wanted).unwrap();
            assert!(count > 8 && (free_mass(&world) - wanted.mass).abs() < 0.02, "{name}");
        }
    }
}
