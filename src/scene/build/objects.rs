//! Objects made of particles: cloths, soft boxes, grains, lists. Defaults of the format live here.

use super::pick::{Layout, pick};
use crate::error::{Error, Result};
use crate::scene::file::{
    BoxFile, ClothFile, EdgesWord, GranularFile, HoldFile, ParticlesFile, SolidWord,
};
use crate::scene::keys::one_of;
use crate::scene::value::{AtLeastZero, Count, Exactly, Pick, Positive, Share, Tube};
use crate::world::{
    Cloth, Grains, Lattice, LatticeEdges, Material, Particle, ParticleId, Path, Phase, Pin, Solid,
    World,
};
use glam::{Quat, Vec3};

/// kg/m²: a light fabric.
const AREA_DENSITY: f32 = 0.2;
/// kg/m³: water.
const DENSITY: f32 = 1000.0;

pub(super) fn add_cloth(world: &mut World, path: &str, file: &ClothFile) -> Result<()> {
    one_of(path, [("mass", file.mass.is_some()), ("area_density", file.area_density.is_some())])?;
    let spacing = file.spacing.0;
    let area_density = file.area_density.map_or(AREA_DENSITY, |d| d.0);
    let edges =
        |c: Option<AtLeastZero>, s: Option<Share>| material(c, s, file.break_at, file.yield_at);
    let has_bend = file.bend_compliance.is_some() || file.bend_stiffness.is_some();
    let cloth = Cloth {
        name: path.into(),
        origin: file.origin.map(|v| v.0).unwrap_or_default(),
        along: file.along.map_or(Vec3::X, |v| v.0),
        across: file.across.map_or(Vec3::Z, |v| v.0),
        columns: clamped(file.columns),
        rows: clamped(file.rows),
        spacing,
        mass: file.mass.map_or(area_density * spacing * spacing, |m| m.0),
        radius: file.radius.map_or(spacing / 2.0, |r| r.0),
        self_collide: file.self_collide,
        stretch: edges(file.stretch_compliance, file.stretch_stiffness),
        shear: edges(
            file.shear_compliance.or(file.stretch_compliance),
            file.shear_stiffness.or(file.stretch_stiffness),
        ),
        bend: has_bend.then(|| {
            material(
                file.bend_compliance,
                file.bend_stiffness,
                file.bend_break_at,
                file.bend_yield_at,
            )
        }),
    };
    let ids = world.add_cloth(&cloth)?;
    if let Some(Exactly([sx, sy])) = file.stretch {
        stretch(world, &cloth, &ids, sx.0, sy.0)?;
    }
    if let Some(velocity) = file.velocity {
        for &id in &ids {
            world.set_velocity(id, velocity.0)?;
        }
    }
    let layout = Layout::Cloth { columns: file.columns.0, rows: file.rows.0 };
    fasten(world, path, &ids, &layout, &file.pin, &file.hold)
}

/// Pulls a cloth larger about its middle; the rest lengths stay.
fn stretch(world: &mut World, cloth: &Cloth, ids: &[ParticleId], sx: f32, sy: f32) -> Result<()> {
    let (along, across) = (cloth.along.normalize(), cloth.across.normalize());
    let middle = [cloth.columns, cloth.rows].map(|n| (n - 1) as f32 * 0.5);
    let steps =
        |column: f32, row: f32| along * (column * cloth.spacing) + across * (row * cloth.spacing);
    let center = cloth.origin + steps(middle[0], middle[1]);
    for (i, &id) in ids.iter().enumerate() {
        let (column, row) = (i as u32 % cloth.columns, i as u32 / cloth.columns);
        let offset = steps((column as f32 - middle[0]) * sx, (row as f32 - middle[1]) * sy);
        world.set_position(id, center + offset)?;
    }
    Ok(())
}

pub(super) fn add_box(world: &mut World, path: &str, file: &BoxFile) -> Result<()> {
    one_of(path, [("mass", file.mass.is_some()), ("density", file.density.is_some())])?;
    let spacing = file.spacing.0;
    let density = file.density.map_or(DENSITY, |d| d.0);
    let has_volume = file.volume_compliance.is_some() || file.volume_stiffness.is_some();
    let lattice = Lattice {
        name: path.into(),
        center: file.center.map(|v| v.0).unwrap_or_default(),
        rotation: file.rotation.map_or(Quat::IDENTITY, |r| r.0),
        counts: file.counts.0.map(clamped),
        spacing,
        mass: file.mass.map_or(density * spacing * spacing * spacing, |m| m.0),
        radius: file.radius.map_or(spacing / 2.0, |r| r.0),
        velocity: file.velocity.map(|v| v.0).unwrap_or_default(),
        solid: solid(path, file.solid, file.tube)?,
        edges: match file.edges {
            EdgesWord::Full => LatticeEdges::Full,
            EdgesWord::Axis => LatticeEdges::Axis,
        },
        self_collide: file.self_collide,
        stretch: material(file.compliance, file.stiffness, file.break_at, file.yield_at),
        volume: has_volume.then(|| {
            material(
                file.volume_compliance,
                file.volume_stiffness,
                file.volume_break_at,
                file.volume_yield_at,
            )
        }),
    };
    let ids = world.add_lattice(&lattice)?;
    let back = lattice.rotation.inverse();
    let local: Vec<Vec3> = ids
        .iter()
        .map(|&id| back * (world.position(id).unwrap_or_default() - lattice.center))
        .collect();
    let layout = Layout::Lattice { local: &local, spacing };
    fasten(world, path, &ids, &layout, &file.pin, &file.hold)
}

pub(super) fn add_granular(
    world: &mut World,
    path: &str,
    file: &GranularFile,
    seed: u64,
) -> Result<()> {
    one_of(path, [("mass", file.mass.is_some()), ("density", file.density.is_some())])?;
    if file.counts.0.contains(&Count(0)) {
        return Err(Error::value(format!("{path}.counts"), "expected at least 1 on each axis"));
    }
    let spacing = file.spacing.0;
    let radius = file.radius.map_or(spacing / 2.0, |r| r.0);
    let grains = Grains {
        name: path.into(),
        origin: file.origin.map(|v| v.0).unwrap_or_default(),
        counts: file.counts.0.map(clamped),
        spacing,
        mass: ball_mass(file.mass, file.density, radius),
        radius,
        velocity: file.velocity.map(|v| v.0).unwrap_or_default(),
        solid: solid(path, file.solid, file.tube)?,
        jitter: file.jitter.map_or(0.0, |j| j.0),
        seed: file.seed.map_or(seed, |s| s.0),
    };
    world.add_grains(&grains).map(|_| ())
}

pub(super) fn add_particles(world: &mut World, path: &str, file: &ParticlesFile) -> Result<()> {
    one_of(path, [("mass", file.mass.is_some()), ("density", file.density.is_some())])?;
    let mut phase = Phase::group(world.new_group());
    if file.self_collide {
        phase = phase.self_colliding();
    }
    let mut ids = Vec::with_capacity(file.positions.len());
    for position in &file.positions {
        ids.push(world.add_particle(&Particle {
            position: position.0,
            velocity: file.velocity.map(|v| v.0).unwrap_or_default(),
            mass: ball_mass(file.mass, file.density, file.radius.0),
            radius: file.radius.0,
            phase,
        })?);
    }
    if file.chain {
        let material = material(file.compliance, file.stiffness, file.break_at, file.yield_at);
        for pair in ids.windows(2) {
            world.add_distance(pair[0], pair[1], None, &material)?;
        }
    }
    world.add_object(path, &ids, Vec::new());
    let layout = Layout::List { count: ids.len() };
    fasten(world, path, &ids, &layout, &file.pin, &file.hold)
}

/// Pins particles and hangs others on their paths.
fn fasten(
    world: &mut World,
    path: &str,
    ids: &[ParticleId],
    layout: &Layout,
    pins: &[Pick],
    holds: &[HoldFile],
) -> Result<()> {
    for i in pick(pins, layout, &format!("{path}.pin"))? {
        world.pin(ids[i])?;
    }
    let mut held = vec![false; if holds.is_empty() { 0 } else { ids.len() }];
    for (k, hold) in holds.iter().enumerate() {
        let field = format!("{path}.hold.{k}");
        let index = add_path(world, &field, hold)?;
        for i in pick(&hold.at, layout, &format!("{field}.at"))? {
            if std::mem::replace(&mut held[i], true) {
                let message = format!("particle {i} is held twice");
                return Err(Error::value(format!("{field}.at"), message));
            }
            let (Some(slot), Some(target)) = (world.particles.slot(ids[i]), world.position(ids[i]))
            else {
                continue;
            };
            // Not World::hold_on_path: it looks for an earlier pin each time, which is quadratic
            // for a whole border, and `held` has made sure that there is none.
            world.pins.push(Pin {
                particle: slot as u32,
                target,
                path: Some(index),
                stiffness: 1.0,
                compliance: hold.compliance.map_or(0.0, |c| c.0),
                lambda: 0.0,
            });
        }
    }
    Ok(())
}

fn add_path(world: &mut World, field: &str, hold: &HoldFile) -> Result<u32> {
    let mut keys: Vec<_> = hold.keyframes.iter().map(|k| (k.time.0, k.offset.0)).collect();
    if let Some(i) = keys.windows(2).position(|w| w[1].0 <= w[0].0) {
        return Err(Error::value(
            format!("{field}.keyframes.{}.time", i + 1),
            "expected a time after the keyframe before it",
        ));
    }
    if keys.is_empty() {
        keys.push((0.0, Vec3::ZERO));
    }
    world.paths.push(Path { keys, looped: hold.looped });
    Ok(world.paths.len() as u32 - 1)
}

fn material(
    compliance: Option<AtLeastZero>,
    stiffness: Option<Share>,
    break_at: Option<Positive>,
    yield_at: Option<Positive>,
) -> Material {
    Material {
        stiffness: stiffness.map_or(1.0, |s| s.0),
        compliance: compliance.map_or(0.0, |c| c.0),
        break_at: break_at.map_or(f32::INFINITY, |s| s.0),
        yield_at: yield_at.map_or(f32::INFINITY, |s| s.0),
    }
}

fn solid(path: &str, word: SolidWord, tube: Option<Tube>) -> Result<Solid> {
    if tube.is_some() && word != SolidWord::Torus {
        return Err(Error::value(format!("{path}.tube"), "only `solid = \"torus\"` has a tube"));
    }
    Ok(match word {
        SolidWord::Box => Solid::Box,
        SolidWord::Sphere => Solid::Sphere,
        SolidWord::Cylinder => Solid::Cylinder,
        SolidWord::Torus => Solid::Torus { tube: tube.map_or(0.25, |t| t.0) },
    })
}

fn ball_mass(mass: Option<Positive>, density: Option<Positive>, radius: f32) -> f32 {
    let volume = 4.0 / 3.0 * std::f32::consts::PI * radius * radius * radius;
    mass.map_or(density.map_or(DENSITY, |d| d.0) * volume, |m| m.0)
}

/// Counts too large for u32 have been refused by the size of the whole.
fn clamped(count: Count) -> u32 {
    u32::try_from(count.0).unwrap_or(u32::MAX)
}
