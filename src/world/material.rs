//! Materials: what particles and obstacles are made of, as contacts feel it.
//!
//! A material says how it slides and bounces. Where two of them meet, friction is the geometric mean
//! of theirs, and restitution the larger one, unless the pair has numbers of its own
//! ([`World::set_material_pair`]). What a material leaves open is that of [`World::params`], and the
//! default material leaves everything open. A number that is written on a collider overrides what
//! the materials say.

use super::{ObjectId, World};
use crate::error::{Error, Result};
use crate::table::Buffer;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

mod pairs;

#[cfg(feature = "vulkan")]
pub(crate) use pairs::FlowRow;
pub(crate) use pairs::{MaterialPairs, PairRow};

/// The handle of a material of a world.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct MaterialId(pub(crate) u32);

impl MaterialId {
    /// The material of everything that was given no other: [`World::params`].
    pub const DEFAULT: MaterialId = MaterialId(0);
    /// What the default material is called.
    pub const DEFAULT_NAME: &'static str = "default";

    /// Its number among the materials of its world; the default one has 0.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// How things slide and bounce where they touch, and how they flow. What is `None` is left to whoever is asked next:
/// a collider leaves it to the materials, a pair of materials to the rule, a material to
/// [`World::params`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coefficients {
    /// Static friction, at least 0. It never acts below the kinetic one.
    pub friction_static: Option<f32>,
    /// Kinetic friction, at least 0.
    pub friction_kinetic: Option<f32>,
    /// Restitution, 0 (no bounce) to 1.
    pub restitution: Option<f32>,
    /// For fluids: how fast they take on the velocity of the fluid around them, 1/s. Two fluids have
    /// the mean of theirs.
    pub viscosity: Option<f32>,
    /// For fluids: surface tension, N/m. It holds a fluid together with what is of the same material.
    pub tension: Option<f32>,
    /// How solids and obstacles hold fluids, and fluids them, N/m: half the work that it takes to part
    /// them, over the area. Of two materials the larger one counts.
    pub adhesion: Option<f32>,
}

impl Coefficients {
    /// Whether it says anything.
    pub(crate) fn is_open(self) -> bool {
        self == Coefficients::default()
    }

    /// Whether it makes things bounce.
    pub(crate) fn bounces(self) -> bool {
        self.restitution.is_some_and(|e| e > 0.0)
    }

    /// These, and what they leave open as another has it.
    pub(crate) fn or(self, other: Coefficients) -> Self {
        Coefficients {
            friction_static: self.friction_static.or(other.friction_static),
            friction_kinetic: self.friction_kinetic.or(other.friction_kinetic),
            restitution: self.restitution.or(other.restitution),
            viscosity: self.viscosity.or(other.viscosity),
            tension: self.tension.or(other.tension),
            adhesion: self.adhesion.or(other.adhesion),
        }
    }

    /// Checks the ranges; `field` is the path that messages start with.
    ///
    /// # Errors
    /// Names the first number that is not allowed and what would be right.
    pub fn validate(&self, field: impl Display) -> Result<()> {
        let check = |name: &str, value: Option<f32>, most: f32, range: &str| match value {
            Some(value) if !(value.is_finite() && (0.0..=most).contains(&value)) => Err(
                Error::value(format!("{field}.{name}"), format!("must be {range}, but is {value}")),
            ),
            _ => Ok(()),
        };
        check("friction_static", self.friction_static, f32::MAX, "0 or more")?;
        check("friction_kinetic", self.friction_kinetic, f32::MAX, "0 or more")?;
        check("restitution", self.restitution, 1.0, "between 0 and 1")?;
        check("viscosity", self.viscosity, 1e6, "between 0 and 1000000 1/s")?;
        check("tension", self.tension, 1e6, "between 0 and 1000000 N/m")?;
        check("adhesion", self.adhesion, 1e6, "between 0 and 1000000 N/m")
    }
}

/// What things are made of, as contacts feel it.
///
/// ```
/// use motes::{Coefficients, Grains, Material, World};
/// let mut world = World::new();
/// let rubber = world.add_material(&Material {
///     name: "rubber".into(),
///     coefficients: Coefficients { restitution: Some(0.9), ..Coefficients::default() },
/// })?;
/// let balls = world.add_grains(&Grains::default())?;
/// world.set_material(balls.object, rubber)?;
/// assert_eq!(world.material_of(balls.object)?, Some(rubber));
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Name given by the scene or the host program. Two materials may have the same.
    pub name: String,
    /// How it slides and bounces.
    pub coefficients: Coefficients,
}

/// Two materials that do not follow the rule where they meet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Exception {
    /// The lower one first. They may be the same.
    materials: [MaterialId; 2],
    coefficients: Coefficients,
}

/// The materials of a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Materials {
    /// All but the default one, which is the world's parameters.
    added: Vec<Material>,
    /// Each pair at most once.
    exceptions: Vec<Exception>,
}

impl Materials {
    /// Most materials of a world: what pairs give is kept in a table of all of them.
    pub const MOST: usize = 1024;

    /// How many there are, with the default one.
    pub fn count(&self) -> usize {
        1 + self.added.len()
    }
    fn has(&self, id: MaterialId) -> bool {
        (id.0 as usize) < self.count()
    }
    /// Whether one of them bounces by what it says itself.
    fn bounce(&self) -> bool {
        self.added.iter().any(|material| material.coefficients.bounces())
            || self.exceptions.iter().any(|pair| pair.coefficients.bounces())
    }
}

fn no_such(id: MaterialId) -> Error {
    let known = "add it with `add_material`, or use MaterialId::DEFAULT";
    Error::value("material", format!("there is no material {} in this world; {known}", id.0))
}

fn is_params() -> Error {
    let instead = "set `params.friction`, `params.static_friction` and `params.restitution`";
    Error::value("material", format!("the default material is the world's parameters; {instead}"))
}

impl World {
    /// Adds a material. It stays for the life of the world.
    pub fn add_material(&mut self, material: &Material) -> Result<MaterialId> {
        material.coefficients.validate("material")?;
        if self.materials.count() >= Materials::MOST {
            return Err(Error::TooLarge {
                what: "the world".into(),
                needed: format!("more than {} materials", Materials::MOST - 1),
                limit: "that is all the engine can pair; let objects share them".into(),
            });
        }
        self.materials.added.push(material.clone());
        Ok(MaterialId(self.materials.added.len() as u32))
    }

    /// The materials that were added, each with its handle. The default one is not among them.
    pub fn materials(&self) -> impl Iterator<Item = (MaterialId, &Material)> {
        (1..).map(MaterialId).zip(&self.materials.added)
    }

    /// A material by its handle, unless it is the default one.
    pub fn material(&self, id: MaterialId) -> Result<&Material> {
        let place = (id.0 as usize).checked_sub(1).ok_or_else(is_params)?;
        self.materials.added.get(place).ok_or_else(|| no_such(id))
    }

    /// A material by its handle, to change it between two steps; the next step feels it. The
    /// default one is changed through [`World::params`].
    ///
    /// ```
    /// use motes::{Material, World};
    /// let mut world = World::new();
    /// let ice = world.add_material(&Material { name: "ice".into(), ..Material::default() })?;
    /// world.material_mut(ice)?.coefficients.friction_kinetic = Some(0.02);
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn material_mut(&mut self, id: MaterialId) -> Result<&mut Material> {
        let place = (id.0 as usize).checked_sub(1).ok_or_else(is_params)?;
        self.materials.added.get_mut(place).ok_or_else(|| no_such(id))
    }

    /// The first material of a name; `default` is the default one.
    pub fn find_material(&self, name: &str) -> Option<MaterialId> {
        if name == MaterialId::DEFAULT_NAME {
            return Some(MaterialId::DEFAULT);
        }
        self.materials().find(|(_, material)| material.name == name).map(|(id, _)| id)
    }

    /// Says how two materials slide and bounce on each other, instead of the rule. What is left
    /// open follows the rule; where all is, the pair does so again. The two may be the same.
    ///
    /// ```
    /// use motes::{Coefficients, Material, MaterialId, World};
    /// let mut world = World::new();
    /// let ice = world.add_material(&Material { name: "ice".into(), ..Material::default() })?;
    /// let slippery = Coefficients { friction_kinetic: Some(0.01), ..Coefficients::default() };
    /// world.set_material_pair(ice, MaterialId::DEFAULT, slippery)?;
    /// assert_eq!(world.material_pair(MaterialId::DEFAULT, ice), slippery);
    /// # Ok::<(), motes::Error>(())
    /// ```
    pub fn set_material_pair(
        &mut self,
        a: MaterialId,
        b: MaterialId,
        coefficients: Coefficients,
    ) -> Result<()> {
        if let Some(id) = [a, b].into_iter().find(|&id| !self.materials.has(id)) {
            return Err(no_such(id));
        }
        coefficients.validate("material_pair")?;
        let materials = [a.min(b), a.max(b)];
        self.materials.exceptions.retain(|pair| pair.materials != materials);
        if !coefficients.is_open() {
            self.materials.exceptions.push(Exception { materials, coefficients });
        }
        Ok(())
    }

    /// What was said of a pair of materials; nothing where it follows the rule.
    pub fn material_pair(&self, a: MaterialId, b: MaterialId) -> Coefficients {
        let materials = [a.min(b), a.max(b)];
        let exceptions = &self.materials.exceptions;
        let said = exceptions.iter().find(|pair| pair.materials == materials);
        said.map_or_else(Coefficients::default, |pair| pair.coefficients)
    }

    /// Makes all particles of an object of a material; of an emitter, those to come as well.
    pub fn set_material(&mut self, object: ObjectId, material: MaterialId) -> Result<()> {
        if !self.materials.has(material) {
            return Err(no_such(material));
        }
        let slots: Vec<usize> =
            self.object(object)?.particles().filter_map(|id| self.particles.slot(id)).collect();
        for slot in slots {
            self.particles.material[slot] = material.0;
            self.changes.mark(Buffer::Material, slot);
        }
        for tap in self.taps.iter_mut().filter(|tap| tap.object() == object) {
            tap.material = material;
        }
        Ok(())
    }

    /// The material of an object, and of what comes out of it if it is an emitter's; `None` where its
    /// particles are of several, or where it has none left.
    pub fn material_of(&self, object: ObjectId) -> Result<Option<MaterialId>> {
        let slots = self.object(object)?.particles().filter_map(|id| self.particles.slot(id));
        let to_come = self.tap(object).map(|tap| tap.material);
        let mut materials = slots.map(|slot| self.particles.material(slot)).chain(to_come);
        let first = materials.next();
        Ok(first.filter(|first| materials.all(|other| other == *first)))
    }

    /// All numbers that were said of materials, of pairs of them, and of obstacles.
    fn said(&self) -> impl Iterator<Item = Coefficients> {
        let Materials { added, exceptions } = &self.materials;
        let said = added.iter().map(|material| material.coefficients);
        let said = said.chain(exceptions.iter().map(|pair| pair.coefficients));
        said.chain(self.colliders.iter().map(|collider| collider.coefficients))
    }

    /// How fast the thickest of all materials takes on the velocities around it, 1/s.
    pub(crate) fn thickest(&self) -> f32 {
        self.said().filter_map(|own| own.viscosity).fold(self.params.fluid_viscosity, f32::max)
    }

    /// Whether a material has surface tension.
    pub(crate) fn has_tension(&self) -> bool {
        let some = |tension: Option<f32>| tension.is_some_and(|tension| tension > 0.0);
        some(Some(self.params.fluid_tension)) || self.said().any(|own| some(own.tension))
    }

    /// Whether anything holds fluids.
    pub(crate) fn has_adhesion(&self) -> bool {
        let some = |adhesion: Option<f32>| adhesion.is_some_and(|adhesion| adhesion > 0.0);
        some(Some(self.params.fluid_adhesion)) || self.said().any(|own| some(own.adhesion))
    }

    /// Whether a pair of materials bounces, whoever is made of them.
    pub(crate) fn materials_bounce(&self) -> bool {
        self.params.restitution > 0.0 || self.materials.bounce()
    }

    /// Whether two particles may ever bounce off each other.
    pub(crate) fn pairs_may_bounce(&self) -> bool {
        self.materials_bounce() && self.may_touch()
    }

    /// Whether a particle may ever bounce off an obstacle.
    pub(crate) fn walls_may_bounce(&self) -> bool {
        let own = self.colliders.iter().any(|c| c.coefficients.bounces());
        own || !self.colliders.is_empty() && self.materials_bounce()
    }

    /// Checks the numbers of materials, and that obstacles name materials of this world. It looks
    /// at no particle, so that a step can ask for it.
    pub(crate) fn check_materials(&self) -> Result<()> {
        for (id, material) in self.materials() {
            material.coefficients.validate(format_args!("material.{}", id.0 - 1))?;
        }
        for (k, pair) in self.materials.exceptions.iter().enumerate() {
            pair.coefficients.validate(format_args!("material_pair.{k}"))?;
        }
        match self.colliders.iter().position(|c| !self.materials.has(c.material)) {
            Some(k) => Err(Error::value(
                format!("collider.{k}"),
                no_such(self.colliders[k].material).to_string(),
            )),
            None => Ok(()),
        }
    }

    /// Whether what a snapshot says of materials belongs together.
    pub(super) fn materials_are_sound(&self) -> bool {
        let Materials { exceptions, .. } = &self.materials;
        let in_order = |pair: &Exception| {
            let [a, b] = pair.materials;
            a <= b && self.materials.has(b)
        };
        let once = |k: usize| {
            exceptions[..k].iter().all(|other| other.materials != exceptions[k].materials)
        };
        self.materials.count() <= Materials::MOST
            && exceptions.iter().all(in_order)
            && (0..exceptions.len()).all(once)
            && self.particles.material.iter().all(|&id| self.materials.has(MaterialId(id)))
            && self.taps.iter().all(|tap| self.materials.has(tap.material))
    }
}

#[cfg(test)]
mod tests;
