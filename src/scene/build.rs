//! From a scene to a [`World`]: materials, skeletons, objects in a fixed order, then joints,
//! colliders, sinks and forces.

mod collider;
mod joint;
pub(super) mod material;
mod sink;
mod skeleton;

use super::Scene;
use super::file::{ForceFile, ForceWord};
use super::keys::require;
use super::names::Names;
use super::objects::{Entry, Site};
use crate::error::{Error, Result};
use crate::world::{Force, ForceKind, SurfaceWind, World};

pub(super) use collider::{mesh_file, read_mesh};
pub(super) use skeleton::file_of as skeleton_file;

impl Scene {
    /// Builds the world. The same scene gives the same bits every time.
    pub fn build(&self) -> Result<World> {
        self.need.check(&self.name)?;
        let mut world = World::new();
        world.params = self.params.clone();
        let names = Names::of(self.file.objects());
        self.each("material", &self.file.material, |path, file| {
            material::add(&mut world, path, file)
        })?;
        self.each("material_pair", &self.file.material_pair, |path, file| {
            material::add_pair(&mut world, path, file)
        })?;
        let folder = self.source.folder.as_deref();
        self.each("skeleton", &self.file.skeleton, |path, file| {
            skeleton::add(&mut world, path, file, folder).map(drop)
        })?;
        let entries: Vec<Entry> = self.file.objects().collect();
        let mut built = Vec::with_capacity(entries.len());
        for (i, Entry { path, number, object }) in entries.iter().enumerate() {
            // Each object of a kind has a seed of its own.
            let seed = self.seed().wrapping_add(1 + *number as u64);
            let site = Site { seed, folder };
            let made = object.build(&mut world, path, &site);
            let explain = |e| self.source.explain(e, path);
            let id = made.map_err(explain)?.object;
            let (name, common) = (names.name(i), object.common());
            let material = material::of_object(&mut world, path, name, id, &common);
            if let Some(material) = material.map_err(explain)? {
                world.set_material(id, material)?;
            }
            // Builders put the path into their messages; from here on the given name counts.
            let made = world.object_mut(id)?;
            made.name = name.into();
            made.visible = common.visible;
            built.push((id, *object));
        }
        self.each("joint", &self.file.joint, |path, joint| {
            joint::add(&mut world, &names, &built, path, joint)
        })?;
        self.each("collider", &self.file.collider, |path, file| {
            let mut collider = collider::read(path, file, folder)?;
            if let Some(name) = &file.material {
                collider.material = material::find(&world, &format!("{path}.material"), name)?;
            }
            world.colliders.push(collider);
            Ok(())
        })?;
        for (Entry { path, .. }, (id, _)) in entries.iter().zip(&built) {
            world.check_nozzle(*id, path).map_err(|e| self.source.explain(e, path))?;
        }
        self.each("sink", &self.file.sink, |path, file| {
            world.sinks.push(sink::read(path, file, folder)?);
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

/// What a wind on surfaces may be given.
const OF_SURFACE_WIND: &[&str] =
    &["density", "drag_coefficient", "lift_coefficient", "gust", "gust_length", "gust_time"];

fn surface_wind(file: &ForceFile) -> SurfaceWind {
    let usual = SurfaceWind::default();
    SurfaceWind {
        velocity: file.velocity.map_or(usual.velocity, |v| v.0),
        density: file.density.map_or(usual.density, |d| d.0),
        drag_coefficient: file.drag_coefficient.map_or(usual.drag_coefficient, |c| c.0),
        lift_coefficient: file.lift_coefficient.map_or(usual.lift_coefficient, |c| c.0),
        gust: file.gust.map_or(usual.gust, |g| g.0),
        gust_length: file.gust_length.map_or(usual.gust_length, |l| l.0),
        gust_time: file.gust_time.map_or(usual.gust_time, |t| t.0),
    }
}

fn read_force(path: &str, file: &ForceFile) -> Result<Force> {
    let given = [
        ("acceleration", file.acceleration.is_some()),
        ("velocity", file.velocity.is_some()),
        ("drag", file.drag.is_some()),
        ("density", file.density.is_some()),
        ("drag_coefficient", file.drag_coefficient.is_some()),
        ("lift_coefficient", file.lift_coefficient.is_some()),
        ("gust", file.gust.is_some()),
        ("gust_length", file.gust_length.is_some()),
        ("gust_time", file.gust_time.is_some()),
        ("center", file.center.is_some()),
        ("strength", file.strength.is_some()),
        ("reach", file.reach.is_some()),
    ];
    let (what, needs, may): (_, &[&str], &[&str]) = match file.kind {
        ForceWord::Gravity => ("gravity", &["acceleration"], &[]),
        ForceWord::Wind => ("wind", &["velocity", "drag"], &[]),
        ForceWord::Point => ("point", &["center", "strength", "reach"], &[]),
        ForceWord::SurfaceWind => ("surface_wind", &["velocity"], OF_SURFACE_WIND),
    };
    require(path, what, &given, needs, may)?;
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
        ForceWord::SurfaceWind => ForceKind::SurfaceWind(surface_wind(file)),
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
