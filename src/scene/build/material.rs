//! Materials of a scene, and which one an object or an obstacle names.

use crate::error::{Error, Result};
use crate::scene::file::{MaterialFile, MaterialPairFile};
use crate::scene::keys::one_of;
use crate::scene::objects::Common;
use crate::scene::value::{AtLeastZero, Rate, Share};
use crate::suggest::instead;
use crate::world::{Coefficients, Material, MaterialId, ObjectId, World};

/// The keys of what touches; `friction` alone sets both kinds of friction. How a fluid itself is, is left
/// open.
pub(in crate::scene) fn coefficients(
    friction: Option<AtLeastZero>,
    static_friction: Option<AtLeastZero>,
    restitution: Option<Share>,
    adhesion: Option<Rate>,
) -> Coefficients {
    let friction = friction.map(|f| f.0);
    Coefficients {
        friction_static: static_friction.map(|f| f.0).or(friction),
        friction_kinetic: friction,
        restitution: restitution.map(|r| r.0),
        adhesion: adhesion.map(|a| a.0),
        ..Coefficients::default()
    }
}

pub(super) fn add(world: &mut World, path: &str, file: &MaterialFile) -> Result<()> {
    let MaterialFile { name, friction, static_friction, restitution, .. } = file;
    let refuse = |message: String| Err(Error::value(format!("{path}.name"), message));
    if name.is_empty() {
        return refuse("expected a name".into());
    }
    if name == MaterialId::DEFAULT_NAME {
        return refuse(format!("`{name}` is the material of [params]; set its numbers there"));
    }
    if world.find_material(name).is_some() {
        return refuse(format!("two materials are called `{name}`"));
    }
    let touch = coefficients(*friction, *static_friction, *restitution, file.fluid_adhesion);
    let viscosity = file.fluid_viscosity.map(|rate| rate.0);
    let tension = file.fluid_tension.map(|tension| tension.0);
    let coefficients = Coefficients { viscosity, tension, ..touch };
    world.add_material(&Material { name: name.clone(), coefficients }).map(drop)
}

pub(super) fn add_pair(world: &mut World, path: &str, file: &MaterialPairFile) -> Result<()> {
    let MaterialPairFile { materials, friction, static_friction, restitution, .. } = file;
    let field = format!("{path}.materials");
    let [a, b] = [&materials.0[0], &materials.0[1]].map(|name| find(world, &field, name));
    let (a, b) = (a?, b?);
    if world.material_pair(a, b) != Coefficients::default() {
        return Err(Error::value(field, "this pair stands in another [[material_pair]] already"));
    }
    let touch = coefficients(*friction, *static_friction, *restitution, file.fluid_adhesion);
    let viscosity = file.fluid_viscosity.map(|rate| rate.0);
    let coefficients = Coefficients { viscosity, ..touch };
    if coefficients == Coefficients::default() {
        let message = "says nothing; give friction, static_friction, restitution, fluid_viscosity or \
                       fluid_adhesion";
        return Err(Error::value(path, message));
    }
    world.set_material_pair(a, b, coefficients)
}

/// The material that a key names.
pub(super) fn find(world: &World, field: &str, name: &str) -> Result<MaterialId> {
    world.find_material(name).ok_or_else(|| {
        let added = world.materials().map(|(_, material)| material.name.as_str());
        let meant = instead(name, added.chain([MaterialId::DEFAULT_NAME]));
        Error::value(field, format!("there is no [[material]] called `{name}`; {meant}"))
    })
}

/// The material of an object called `name`: the one it names, or one of its own, in which the object's
/// numbers stand in place of those that it was built with.
pub(super) fn of_object(
    world: &mut World,
    path: &str,
    name: &str,
    id: ObjectId,
    keys: &Common,
) -> Result<Option<MaterialId>> {
    let own = keys.coefficients;
    let has_own = own != Coefficients::default();
    let written = match own {
        Coefficients { friction_static: Some(_), .. } => "friction",
        Coefficients { restitution: Some(_), .. } => "restitution",
        _ => "fluid_adhesion",
    };
    one_of(path, [("material", keys.material.is_some()), (written, has_own)])?;
    match keys.material {
        Some(named) => find(world, &format!("{path}.material"), named).map(Some),
        None if has_own => {
            let built = world.material_of(id)?.and_then(|id| world.material(id).ok());
            let built = built.map(|material| material.coefficients).unwrap_or_default();
            let coefficients = own.or(built);
            world.add_material(&Material { name: name.into(), coefficients }).map(Some)
        }
        None => Ok(None),
    }
}
