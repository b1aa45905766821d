//! The boundary: what comes from outside is checked here once, before anything is allocated.

use super::{Cloth, Grains, Kind, Lattice, Solid, World};
use crate::error::{Error, Result};
use glam::Vec3;

/// Longest spacing and largest radius of particles [m]: lengths are squared and multiplied to volumes,
/// and those must stay finite.
pub(super) const LONGEST: f32 = 1e9;

/// Checks shared by all builders.
fn check_particle(
    name: &str,
    spacing: f32,
    mass: f32,
    radius: f32,
    points: &[(&str, Vec3)],
) -> Result<()> {
    let positive = |v: f32| v.is_finite() && v > 0.0;
    for (field, value) in [("spacing", spacing), ("mass", mass), ("radius", radius)] {
        if !positive(value) {
            return Err(Error::value(
                format!("{name}.{field}"),
                format!("{value} is not legal; expected a finite number above 0"),
            ));
        }
    }
    for (field, value) in [("spacing", spacing), ("radius", radius)] {
        if value > LONGEST {
            return Err(Error::value(
                format!("{name}.{field}"),
                format!("{value} is not legal; expected at most {LONGEST} m"),
            ));
        }
    }
    for (field, value) in points {
        if !value.is_finite() {
            return Err(Error::value(format!("{name}.{field}"), format!("{value} is not finite")));
        }
    }
    Ok(())
}

fn out_of_range(field: &str) -> Error {
    Error::value(field, "indices or values are out of range")
}

fn check_solid(name: &str, solid: Solid) -> Result<()> {
    if let Solid::Torus { tube } = solid
        && !(tube > 0.0 && tube < 0.5)
    {
        return Err(Error::value(
            format!("{name}.tube"),
            format!("{tube} is not legal; expected between 0 and 0.5"),
        ));
    }
    Ok(())
}

impl World {
    pub(super) fn validate_cloth(&self, cloth: &Cloth) -> Result<()> {
        let name = &cloth.name;
        check_particle(
            name,
            cloth.spacing,
            cloth.mass,
            cloth.radius,
            &[("origin", cloth.origin), ("along", cloth.along), ("across", cloth.across)],
        )?;
        if cloth.columns < 2 || cloth.rows < 2 {
            return Err(Error::value(
                format!("{name}.columns"),
                "a cloth needs at least 2 columns and 2 rows",
            ));
        }
        let (along, across) = (cloth.along.try_normalize(), cloth.across.try_normalize());
        match (along, across) {
            (Some(a), Some(b)) if a.cross(b).length() > 1e-3 => {}
            _ => {
                return Err(Error::value(
                    format!("{name}.along"),
                    "`along` and `across` must be two different directions",
                ));
            }
        }
        cloth.stretch.validate(&format!("{name}.stretch"))?;
        cloth.shear.validate(&format!("{name}.shear"))?;
        if let Some(bend) = &cloth.bend {
            bend.validate(&format!("{name}.bend"))?;
        }
        cloth.memory().check(name)
    }

    pub(super) fn validate_lattice(&self, lattice: &Lattice) -> Result<()> {
        let name = &lattice.name;
        check_particle(
            name,
            lattice.spacing,
            lattice.mass,
            lattice.radius,
            &[("center", lattice.center), ("velocity", lattice.velocity)],
        )?;
        if lattice.counts.contains(&0) {
            return Err(Error::value(format!("{name}.counts"), "expected at least 1 on each axis"));
        }
        if !lattice.rotation.is_finite() || (lattice.rotation.length() - 1.0).abs() > 1e-3 {
            return Err(Error::value(format!("{name}.rotation"), "expected a unit quaternion"));
        }
        check_solid(name, lattice.solid)?;
        lattice.stretch.validate(&format!("{name}.stretch"))?;
        if let Some(volume) = &lattice.volume {
            volume.validate(&format!("{name}.volume"))?;
        }
        lattice.memory().check(name)
    }

    pub(super) fn validate_grains(&self, grains: &Grains) -> Result<()> {
        let name = &grains.name;
        check_particle(
            name,
            grains.spacing,
            grains.mass,
            grains.radius,
            &[("origin", grains.origin), ("velocity", grains.velocity)],
        )?;
        if !(0.0..=1.0).contains(&grains.jitter) {
            return Err(Error::value(
                format!("{name}.jitter"),
                format!("{} is not legal; expected 0 to 1", grains.jitter),
            ));
        }
        check_solid(name, grains.solid)?;
        grains.memory().check(name)
    }

    /// Checks everything a snapshot or an embedder may have got wrong. The engine calls it once.
    pub fn validate(&self) -> Result<()> {
        self.params.check()?;
        for (i, collider) in self.colliders.iter().enumerate() {
            collider.validate(&format!("collider.{i}"))?;
        }
        for (i, force) in self.forces.iter().enumerate() {
            force.validate(&format!("force.{i}"))?;
        }
        self.check_sinks()?;
        self.check_materials()?;
        let p = &self.particles;
        let n = p.len();
        if !p.columns_have_rows(n) || !p.ids_are_sound() {
            return Err(Error::value("particles", "the arrays do not belong together"));
        }
        let legal = |slot: &usize| {
            let of = [&p.position, &p.start, &p.predicted, &p.rest];
            let masses = of.map(|column| column[*slot].w);
            masses.iter().all(|&w| w >= 0.0) && p.radius[*slot] > 0.0 && p.radius[*slot] <= LONGEST
        };
        let illegal = p.first_illegal_row().or_else(|| (0..n).find(|slot| !legal(slot)));
        if let Some(slot) = illegal {
            return Err(Error::value(
                format!("particle {}", p.id[slot]),
                format!(
                    "position, velocity and mass must be finite, the radius above 0 and at most {LONGEST} m"
                ),
            ));
        }
        for (kind, rows) in Kind::SETS.into_iter().zip(self.sets.all()) {
            if !rows.is_sound(kind.corners(), n) {
                return Err(out_of_range(kind.name()));
            }
        }
        let sound = [
            ("pin", self.pins_are_sound()),
            ("body", self.bodies.are_sound(n)),
            ("skeleton", self.characters.are_sound()),
            ("object", self.objects_are_sound()),
            ("emitter", self.taps_are_sound()),
            ("material", self.materials_are_sound()),
            ("list", self.lists.are_sound()),
            ("contact_memory", self.contact_memory.is_sound(n)),
            ("time", self.clocks_are_sound()),
        ];
        match sound.iter().find(|(_, ok)| !ok) {
            Some((name, _)) => Err(out_of_range(name)),
            None => Ok(()),
        }
    }

    /// Times that paths can be asked for, and counters that have room to count on.
    fn clocks_are_sound(&self) -> bool {
        let counters =
            [self.step_count, self.quarantined, self.broken, self.sunk, self.particle_revision];
        self.time.is_finite()
            && self.time >= 0.0
            && counters.iter().all(|&c| c < 1 << 62)
            && self.next_group < 1 << 31
    }

    fn pins_are_sound(&self) -> bool {
        let mut held = vec![false; self.particles.len()];
        self.paths.iter().all(|p| p.is_legal())
            && self.pins.iter().all(|pin| {
                let slot = pin.particle as usize;
                let fresh = slot < held.len() && !std::mem::replace(&mut held[slot], true);
                fresh
                    && pin.target.is_finite()
                    && (0.0..=1.0).contains(&pin.stiffness)
                    && pin.compliance.is_finite()
                    && pin.compliance >= 0.0
                    && pin.lambda.is_finite()
                    && pin.path.is_none_or(|p| (p as usize) < self.paths.len())
                    && pin.bone.is_none_or(|bone| pin.path.is_some() && bone.offset.is_finite())
            })
    }

    fn objects_are_sound(&self) -> bool {
        self.objects.are_sound(&self.particles)
    }
}
