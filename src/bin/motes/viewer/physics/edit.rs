//! Commands that change the world between two steps.

use super::command::{Ball, Wedge};
use super::placement::{Placement, What};
use glam::{Quat, Vec3};
use motes::shape::mesh::TriangleMesh;
use motes::shape::solid::{Recipe, Solid as ShapeSolid};
use motes::world::collider::{Pose, Shape};
use motes::{
    Body, BodyShape, Bond, Built, Cloth, Coefficients, Collider, Error, Grains, Kind, Lattice,
    Matching, Material, MaterialId, Object, Particle, ParticleId, Phase, Result, Scene, SoftMesh,
    Solid, World,
};
use std::path::Path;
use std::sync::Arc;

/// Voxels of a body that lie this far inside, in voxels, are merged.
const MERGE: f32 = -2.0;
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
    // Pins hold nothing together, so they stay.
    let cut =
        |kind: Kind| world.cut(kind, |p| kind.edges().iter().any(|&[i, j]| crosses(&p[i], &p[j])));
    Kind::SETS.into_iter().map(cut).sum()
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

/// A number of a material.
pub struct Coefficient {
    /// Of the parameter that is used where it is open.
    pub name: &'static str,
    pub get: fn(&Coefficients) -> Option<f32>,
    set: fn(&mut Coefficients, Option<f32>),
}

/// The numbers of a material, in the order in which they are shown.
pub const COEFFICIENTS: [Coefficient; 6] = [
    Coefficient {
        name: "friction",
        get: |of| of.friction_kinetic,
        set: |of, value| of.friction_kinetic = value,
    },
    Coefficient {
        name: "static_friction",
        get: |of| of.friction_static,
        set: |of, value| of.friction_static = value,
    },
    Coefficient {
        name: "restitution",
        get: |of| of.restitution,
        set: |of, value| of.restitution = value,
    },
    Coefficient {
        name: "fluid_viscosity",
        get: |of| of.viscosity,
        set: |of, value| of.viscosity = value,
    },
    Coefficient {
        name: "fluid_tension",
        get: |of| of.tension,
        set: |of, value| of.tension = value,
    },
    Coefficient {
        name: "fluid_adhesion",
        get: |of| of.adhesion,
        set: |of, value| of.adhesion = value,
    },
];

/// Sets a number of a material.
pub fn set_coefficient(
    world: &mut World,
    id: MaterialId,
    name: &str,
    value: Option<f32>,
) -> Result<()> {
    let material = world.material_mut(id)?;
    let mut new = material.coefficients;
    for known in COEFFICIENTS.iter().filter(|known| known.name == name) {
        (known.set)(&mut new, value);
    }
    new.validate(&material.name)?;
    material.coefficients = new;
    Ok(())
}

/// Makes the materials of a world as they were in another, where they have the same names there.
pub fn keep_materials(world: &mut World, kept: &[(MaterialId, Material)]) {
    for (id, material) in kept {
        if let Ok(new) = world.material_mut(*id)
            && new.name == material.name
        {
            new.coefficients = material.coefficients;
        }
    }
}

fn free_mass(world: &World) -> f32 {
    let rows = world.particles().positions().iter();
    rows.filter(|p| p.w > 0.0).map(|p| f64::from(1.0 / p.w)).sum::<f64>() as f32
}

/// Adds what is asked for. Returns a word on it.
pub fn place(world: &mut World, wanted: &Placement) -> Result<String> {
    if wanted.what == What::Mesh {
        return place_mesh(world, wanted);
    }
    let built = match wanted.what {
        What::Cloth => place_cloth(world, wanted)?,
        What::Grains => place_grains(world, wanted)?,
        What::SoftMesh => place_soft_mesh(world, wanted)?,
        What::Block | What::Body => place_body(world, wanted)?,
        _ => place_lattice(world, wanted)?,
    };
    if let Some(group) = wanted.group.filter(|_| !wanted.is_body()) {
        let phase = Phase::group(group);
        let phase = if wanted.what == What::Grains { phase } else { phase.shaped() };
        let phase = if wanted.self_collide { phase.self_colliding() } else { phase };
        built.iter().try_for_each(|&id| world.set_phase(id, phase))?;
    }
    Ok(format!("placed a {} of {} particles", wanted.what.name(), built.len()))
}

fn bond(wanted: &Placement) -> Bond {
    Bond {
        stiffness: wanted.stiffness,
        compliance: wanted.compliance,
        break_at: if wanted.break_at > 0.0 { wanted.break_at } else { f32::INFINITY },
        ..Bond::default()
    }
}

fn place_cloth(world: &mut World, wanted: &Placement) -> Result<Built> {
    let [columns, _, rows] = wanted.counts;
    let turn = wanted.turn();
    world.add_cloth(&Cloth {
        name: "placed cloth".into(),
        origin: wanted.position - turn * wanted.size() * 0.5,
        along: turn * Vec3::X,
        across: turn * Vec3::Z,
        columns,
        rows,
        spacing: wanted.spacing,
        mass: wanted.mass / (columns * rows).max(1) as f32,
        radius: wanted.spacing * 0.5,
        self_collide: wanted.self_collide,
        stretch: bond(wanted),
        shear: bond(wanted),
        ..Cloth::default()
    })
}

fn place_lattice(world: &mut World, wanted: &Placement) -> Result<Built> {
    let mut lattice = Lattice {
        name: format!("placed {}", wanted.what.name()),
        center: wanted.position,
        rotation: wanted.turn(),
        counts: wanted.counts,
        spacing: wanted.spacing,
        radius: wanted.spacing * 0.5,
        solid: match wanted.what {
            What::Ball => Solid::Sphere,
            What::Cylinder => Solid::Cylinder,
            What::Torus => Solid::Torus { tube: 0.3 },
            _ => Solid::Box,
        },
        self_collide: wanted.self_collide,
        stretch: bond(wanted),
        ..Lattice::default()
    };
    // How many particles share the mass is known once it was made.
    let count = World::new().add_lattice(&lattice)?.len();
    lattice.mass = wanted.mass / count.max(1) as f32;
    world.add_lattice(&lattice)
}

fn place_grains(world: &mut World, wanted: &Placement) -> Result<Built> {
    let turn = wanted.turn();
    let count: u32 = wanted.counts.iter().product();
    let grains = Grains {
        name: "placed grains".into(),
        origin: -0.5 * wanted.size(),
        counts: wanted.counts,
        spacing: wanted.spacing,
        mass: wanted.mass / count.max(1) as f32,
        radius: wanted.spacing * 0.49,
        ..Grains::default()
    };
    let built = world.add_grains(&grains)?;
    // Grains stand along the axes; these are turned about their middle, and moved.
    for &id in built.iter() {
        let Some(slot) = world.particles().slot(id) else { continue };
        let place = world.particles().positions()[slot].truncate();
        world.set_position(id, wanted.position + turn * place)?;
    }
    Ok(built)
}

/// The mesh that is to be placed, as it was made, and its name: from its file, else by its name.
pub fn placed_mesh(wanted: &Placement) -> Result<(TriangleMesh, String)> {
    Ok(match wanted.file.trim() {
        "" => (builtin_mesh(wanted.builtin)?, wanted.builtin.to_string()),
        file => (TriangleMesh::load_obj(file)?.0, file.to_string()),
    })
}

/// Takes the object that a particle is part of out of the world. Returns a word on it.
pub fn remove_object(world: &mut World, id: ParticleId) -> Result<String> {
    let holds = |object: &Object| object.particles().any(|own| own == id);
    let Some((object, name)) =
        world.objects().find(|(_, o)| holds(o)).map(|(id, o)| (id, o.name.clone()))
    else {
        return Err(Error::value("remove", format!("particle {} belongs to no object", id.0)));
    };
    let count = world.object(object)?.len();
    world.remove_object(object)?;
    Ok(format!("{name} removed, {count} particles"))
}

/// Takes an obstacle out of the world. Returns a word on it.
pub fn remove_obstacle(world: &mut World, number: usize) -> Result<String> {
    if number >= world.colliders.len() {
        return Err(Error::value("obstacle", format!("there is no obstacle {number}")));
    }
    let gone = world.colliders.remove(number);
    let name = if gone.name.is_empty() { number.to_string() } else { gone.name };
    Ok(format!("obstacle {name} removed"))
}

/// Adds a mesh as an obstacle.
fn place_mesh(world: &mut World, wanted: &Placement) -> Result<String> {
    let (mesh, name) = scaled_mesh(wanted)?;
    let triangles = mesh.triangles.len();
    let pose = Pose::new(wanted.position, wanted.turn());
    let mut collider = Collider::fixed(solid_or_sheet(mesh)?, pose);
    collider.validate(&name)?;
    collider.name = stem(&name);
    world.colliders.push(collider);
    Ok(format!("{name}: an obstacle of {triangles} triangles"))
}

/// The same, as large as it is to be.
fn scaled_mesh(wanted: &Placement) -> Result<(TriangleMesh, String)> {
    let (mesh, name) = placed_mesh(wanted)?;
    Ok((mesh.transformed(Vec3::splat(wanted.scale), Quat::IDENTITY, Vec3::ZERO), name))
}

/// Adds a body that keeps its shape: a block, or the voxels of a mesh.
fn place_body(world: &mut World, wanted: &Placement) -> Result<Built> {
    let Placement { stretch, softness, spacing, .. } = *wanted;
    let (mut shape, middle, name) = match wanted.what {
        What::Body => {
            let (mesh, name) = scaled_mesh(wanted)?;
            let recipe = Recipe {
                merge: wanted.merge.then_some(MERGE),
                ..Recipe::new(wanted.resolution as usize)
            };
            let (shape, middle) = BodyShape::of_mesh(&mesh, &recipe, 1.0)?;
            (shape, middle, stem(&name))
        }
        _ => (BodyShape::block(wanted.counts, spacing, 1.0)?, Vec3::ZERO, "block".into()),
    };
    shape.set_mass(wanted.mass)?;
    let body = Body {
        name: format!("placed {name}"),
        position: wanted.position + wanted.turn() * middle,
        rotation: wanted.turn(),
        matching: Matching::linear(stretch, softness),
        ..Body::default()
    };
    world.add_body(&shape, &body)
}

/// Adds a soft body of the voxels of a mesh.
fn place_soft_mesh(world: &mut World, wanted: &Placement) -> Result<Built> {
    let (mesh, name) = scaled_mesh(wanted)?;
    let solid = ShapeSolid::of(&mesh, &Recipe::new(wanted.resolution as usize))?;
    let edge = solid.voxels.grid().edge() as f32;
    let volume = solid.voxels.count() as f32 * edge * edge * edge;
    world.add_mesh(
        &mesh,
        &solid,
        &SoftMesh {
            name: format!("placed {}", stem(&name)),
            position: wanted.position,
            rotation: wanted.turn(),
            density: wanted.mass / volume.max(f32::MIN_POSITIVE),
            self_collide: wanted.self_collide,
            stretch: bond(wanted),
            ..SoftMesh::default()
        },
    )
}

/// The name of a file without its folder and its ending.
fn stem(name: &str) -> String {
    Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into()
}

/// Scenes know the built-in meshes by name, so a scene of one is read.
fn builtin_mesh(name: &str) -> Result<TriangleMesh> {
    let text = format!("[[collider]]\nshape = \"mesh\"\nmesh = \"{name}\"\nclosed = false\n");
    let made = Scene::parse("mesh.toml", &text, None, &[])?.build()?;
    let shape = made.colliders.into_iter().next().map(|collider| collider.shape);
    match shape {
        Some(Shape::Mesh { mesh, .. }) => Ok(Arc::unwrap_or_clone(mesh)),
        _ => Err(Error::value("mesh", format!("there is no mesh `{name}`"))),
    }
}

/// A closed mesh is solid, any other a sheet with a thickness that suits its size.
fn solid_or_sheet(mesh: TriangleMesh) -> Result<Shape> {
    let closed = mesh.is_closed();
    let thickness = mesh.bounds().map_or(0.01, |(low, high)| 0.005 * (high - low).length());
    Shape::mesh(mesh, closed, thickness.max(1e-4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_mesh_can_be_placed() {
        let mut world = World::new();
        for (k, builtin) in Scene::builtin_mesh_names().enumerate() {
            let position = Vec3::new(1.0, -2.5, 1e-3);
            let what = What::Mesh;
            let wanted = Placement { what, builtin, position, scale: 0.5, ..Placement::default() };
            place(&mut world, &wanted).unwrap();
            assert_eq!(world.colliders.len(), k + 1, "{builtin}");
            assert_eq!(world.colliders[k].pose_at(0.0).translation, position);
        }
    }

    #[test]
    fn a_bad_mesh_is_refused_with_file_line_and_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.obj");
        std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 x\nf 1 2 3\n").unwrap();
        let mut world = World::new();
        let bad = Placement::default().of_file(path.to_str().unwrap());
        let why = place(&mut world, &bad).unwrap_err().to_string();
        assert!(why.contains("bad.obj:3") && why.contains("give metres"), "{why}");
        let none = Placement::default().of_file("no_such_file.obj");
        let why = place(&mut world, &none).unwrap_err().to_string();
        assert!(why.contains("no_such_file.obj") && why.contains("spelling"), "{why}");
        assert!(world.colliders.is_empty());
    }

    #[test]
    fn what_is_placed_is_as_it_was_asked_for() {
        for (what, name) in What::ALL.into_iter().filter(|(what, _)| *what != What::Mesh) {
            let mut world = World::new();
            let rotation = Vec3::new(0.0, 0.0, 90.0);
            let (position, group, break_at) = (Vec3::new(1.0, 2.0, 3.0), Some(7), 0.25);
            let wanted =
                Placement { what, position, rotation, group, break_at, ..Placement::default() };
            place(&mut world, &wanted).unwrap();
            let p = world.particles();
            assert!(p.len() > 8 && (free_mass(&world) - wanted.mass).abs() < 0.02, "{name}");
            let in_group = p.phases().iter().all(|&f| Phase(f).group_number() == 7);
            assert!(in_group != wanted.is_body(), "{name}: a body has a group of its own");
            let middle = p.positions().iter().map(|p| p.truncate()).sum::<Vec3>() / p.len() as f32;
            let off = if wanted.is_mesh() { 0.3 } else { 0.02 };
            assert!(middle.distance(position) < off, "{name} is at {middle}");
            // A quarter turn about z lays x along y: a cloth stands upright then.
            let wide = |k: usize| {
                let along = p.positions().iter().map(move |p| p[k]);
                along.clone().fold(f32::MIN, f32::max) - along.fold(f32::MAX, f32::min)
            };
            assert!(what != What::Cloth || (wide(0) < 1e-3 && wide(1) > 0.2), "{name}");
        }
    }

    /// A mesh stands where its origin was put, whatever its centre of mass, and may be merged.
    #[test]
    fn a_mesh_is_placed_as_a_body() {
        let cone = |merge| {
            let mut world = World::new();
            let what = What::Body;
            let wanted = Placement { what, builtin: "cone", merge, ..Placement::default() };
            place(&mut world, &wanted).unwrap();
            let (mesh, _) = placed_mesh(&wanted).unwrap();
            let skin = world.skin_mesh(world.objects().next().unwrap().0).unwrap().unwrap();
            let pairs = skin.vertices.iter().zip(&mesh.vertices);
            let off = pairs.map(|(a, b)| a.distance(*b + wanted.position)).fold(0.0, f32::max);
            assert!(off < 1e-5, "{off}");
            world.particles().len()
        };
        let [plain, merged] = [cone(false), cone(true)];
        assert!(merged < plain && merged > 100, "{plain} {merged}");
    }

    #[test]
    fn numbers_of_a_material_are_set_kept_and_left_open_again() {
        let mut world = World::new();
        let ice = Material { name: "ice".into(), ..Material::default() };
        let ice = world.add_material(&ice).unwrap();
        let mut fresh = world.clone();
        for (k, coefficient) in COEFFICIENTS.iter().enumerate() {
            let value = Some(0.1 * k as f32);
            set_coefficient(&mut world, ice, coefficient.name, value).unwrap();
            assert_eq!((coefficient.get)(&world.material(ice).unwrap().coefficients), value);
        }
        let kept: Vec<_> = world.materials().map(|(id, m)| (id, m.clone())).collect();
        keep_materials(&mut fresh, &kept);
        assert!(fresh.materials().eq(world.materials()));
        set_coefficient(&mut world, ice, "friction", None).unwrap();
        assert_eq!(world.material(ice).unwrap().coefficients.friction_kinetic, None);
        let why = set_coefficient(&mut world, ice, "restitution", Some(2.0)).unwrap_err();
        assert!(why.to_string().contains("ice.restitution"), "{why}");
        assert_eq!(world.material(ice).unwrap().coefficients.restitution, Some(0.2));
        // A material of another name is another one.
        let mut other = World::new();
        other.add_material(&Material { name: "oil".into(), ..Material::default() }).unwrap();
        keep_materials(&mut other, &kept);
        assert_eq!(other.material(ice).unwrap().coefficients, Coefficients::default());
    }

    #[test]
    fn a_group_decides_who_meets_whom() {
        let mut world = World::new();
        for group in [None, Some(1), None] {
            place(&mut world, &Placement { group, ..Placement::default() }).unwrap();
        }
        let phases = world.particles().phases();
        let [a, b, c] = [0, 216, 432].map(|slot| Phase(phases[slot]));
        assert!(!a.collides(b) && a.collides(c) && b.collides(c));
    }
}
