//! From a scene to a [`World`]: objects in a fixed order, then joints, colliders and forces.

mod collider;
mod objects;
mod pick;

use super::Scene;
use super::file::{ForceFile, ForceWord, JointFile};
use super::keys::require;
use super::names::Names;
use crate::error::{Error, Result};
use crate::world::{Force, ForceKind, Material, ParticleId, World};

impl Scene {
    /// Builds the world. The same scene gives the same bits every time.
    pub fn build(&self) -> Result<World> {
        self.need.check(&self.name)?;
        let mut world = World::new();
        world.params = self.params.clone();
        let names = Names::of(&self.file);
        self.each("cloth", &self.file.cloth, |path, cloth| {
            objects::add_cloth(&mut world, path, cloth)
        })?;
        self.each("box", &self.file.boxes, |path, lattice| {
            objects::add_box(&mut world, path, lattice)
        })?;
        let mut seed = self.seed();
        self.each("granular", &self.file.granular, |path, grains| {
            seed = seed.wrapping_add(1);
            objects::add_granular(&mut world, path, grains, seed)
        })?;
        self.each("particles", &self.file.particles, |path, list| {
            objects::add_particles(&mut world, path, list)
        })?;
        // Builders put the path into their messages; from here on the given name counts.
        for (i, object) in world.objects.iter_mut().enumerate() {
            object.name = names.name(i).into();
        }
        self.each("joint", &self.file.joint, |path, joint| {
            add_joint(&mut world, &names, self, path, joint)
        })?;
        let folder = self.source.folder.as_deref();
        self.each("collider", &self.file.collider, |path, file| {
            let collider = collider::read(path, file, folder)?;
            world.colliders.push(collider);
            Ok(())
        })?;
        self.each("force", &self.file.force, |path, file| {
            let force = read_force(path, file)?;
            world.forces.push(force);
            Ok(())
        })?;
        world.commit();
        Ok(world)
    }

    /// Runs `add` on each table of a kind; an error gets the line of the field it names.
    fn each<T>(
        &self,
        kind: &str,
        tables: &[T],
        mut add: impl FnMut(&str, &T) -> Result<()>,
    ) -> Result<()> {
        tables.iter().enumerate().try_for_each(|(i, table)| {
            let path = format!("{kind}.{i}");
            add(&path, table).map_err(|e| self.source.explain(e, &path))
        })
    }
}

fn add_joint(
    world: &mut World,
    names: &Names,
    scene: &Scene,
    path: &str,
    joint: &JointFile,
) -> Result<()> {
    let end = |key: &str, text: &str| {
        find_particle(world, names, scene, text)
            .map_err(|message| Error::value(format!("{path}.{key}"), message))
    };
    let (a, b) = (end("a", &joint.a)?, end("b", &joint.b)?);
    let material = Material {
        stiffness: joint.stiffness.map_or(1.0, |s| s.0),
        compliance: joint.compliance.map_or(0.0, |c| c.0),
        break_at: joint.break_at.map_or(f32::INFINITY, |s| s.0),
        yield_at: joint.yield_at.map_or(f32::INFINITY, |s| s.0),
    };
    world.add_distance(a, b, joint.rest.map(|r| r.0), &material)
}

/// The particle `object:index` or, on a cloth, `object:column,row`.
fn find_particle(
    world: &World,
    names: &Names,
    scene: &Scene,
    text: &str,
) -> std::result::Result<ParticleId, String> {
    let Some((name, index)) = text.rsplit_once(':') else {
        return Err(format!("`{text}` is not a particle; expected \"object:index\""));
    };
    let Some((number, object)) = names.find(name).and_then(|i| Some((i, world.objects.get(i)?)))
    else {
        return Err(format!("there is no object `{name}`; {}", names.known()));
    };
    let numbers: Vec<i64> = index.split(',').map_while(|s| s.trim().parse().ok()).collect();
    let count = object.id_count as usize;
    let found = match (numbers.as_slice(), scene.file.cloth.get(number)) {
        _ if numbers.len() != index.split(',').count() => None,
        (&[i], _) => pick::from_end(i, count),
        (&[column, row], Some(cloth)) => pick::cell([column, row], cloth.columns.0, cloth.rows.0),
        _ => None,
    };
    match found {
        Some(i) => Ok(ParticleId(object.first_id + i as u32)),
        None => Err(format!(
            "`{index}` is not one of the {count} particles of `{name}`, counted from 0"
        )),
    }
}

fn read_force(path: &str, file: &ForceFile) -> Result<Force> {
    let given = [
        ("acceleration", file.acceleration.is_some()),
        ("velocity", file.velocity.is_some()),
        ("drag", file.drag.is_some()),
        ("center", file.center.is_some()),
        ("strength", file.strength.is_some()),
        ("reach", file.reach.is_some()),
    ];
    let (what, needs): (_, &[&str]) = match file.kind {
        ForceWord::Gravity => ("gravity", &["acceleration"]),
        ForceWord::Wind => ("wind", &["velocity", "drag"]),
        ForceWord::Point => ("point", &["center", "strength", "reach"]),
    };
    require(path, what, &given, needs, &[])?;
    let vector = |v: Option<super::value::Vector>| v.map(|v| v.0).unwrap_or_default();
    let kind = match file.kind {
        ForceWord::Gravity => ForceKind::Gravity { acceleration: vector(file.acceleration) },
        ForceWord::Wind => ForceKind::Wind {
            velocity: vector(file.velocity),
            drag: file.drag.map_or(0.0, |d| d.0),
        },
        ForceWord::Point => ForceKind::Point {
            center: vector(file.center),
            strength: file.strength.map_or(0.0, |s| s.0),
            reach: file.reach.map_or(1.0, |r| r.0),
        },
    };
    let region = file.region.map(|corners| corners.0.map(|c| c.0));
    if let Some([low, high]) = region
        && !low.cmple(high).all()
    {
        return Err(Error::value(
            format!("{path}.region"),
            "expected [low, high], two corners with low <= high on each axis",
        ));
    }
    let force = Force { kind, region };
    force.validate(path)?;
    Ok(force)
}
