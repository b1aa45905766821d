//! What every material gives in contact with every other, and with every obstacle: the rule for
//! pairs, worked out once so that passes only look it up.

use super::{Coefficients, MaterialId, Materials};
use crate::world::{Params, World};

/// How two things slide and bounce where they touch; four words, so that a row of them is gathered as
/// a row of positions is.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PairRow {
    /// Static friction.
    pub fixed: f32,
    /// Kinetic friction.
    pub kinetic: f32,
    pub restitution: f32,
    spare: f32,
}

impl PairRow {
    fn of_params(params: &Params) -> Self {
        let Params { friction, static_friction, restitution, .. } = *params;
        PairRow { fixed: static_friction, kinetic: friction, restitution, spare: 0.0 }
    }

    /// With the numbers that are given.
    fn with(self, given: Coefficients) -> Self {
        PairRow {
            fixed: given.friction_static.unwrap_or(self.fixed),
            kinetic: given.friction_kinetic.unwrap_or(self.kinetic),
            restitution: given.restitution.unwrap_or(self.restitution),
            spare: 0.0,
        }
    }

    /// The rule for two materials.
    fn against(self, other: PairRow) -> Self {
        PairRow {
            fixed: geometric_mean(self.fixed, other.fixed),
            kinetic: geometric_mean(self.kinetic, other.kinetic),
            restitution: self.restitution.max(other.restitution),
            spare: 0.0,
        }
    }

    /// As it is used: static friction is never below kinetic friction.
    fn used(self) -> Self {
        PairRow { fixed: self.fixed.max(self.kinetic), ..self }
    }

    /// Its words on a device.
    #[cfg(feature = "vulkan")]
    pub fn words(&self) -> [u32; 4] {
        let PairRow { fixed, kinetic, restitution, spare } = *self;
        [fixed, kinetic, restitution, spare].map(f32::to_bits)
    }
}

/// The product of two `f32` is exact in `f64`, so the mean of a number with itself is that number.
fn geometric_mean(a: f32, b: f32) -> f32 {
    (f64::from(a) * f64::from(b)).sqrt() as f32
}

/// What the table was made from.
#[derive(Clone, Debug, Default, PartialEq)]
struct Source {
    params: PairRow,
    materials: Materials,
    colliders: Vec<(MaterialId, Coefficients)>,
}

/// A row for each pair of materials, then for each obstacle and material.
#[derive(Debug, Default)]
pub(crate) struct MaterialPairs {
    source: Source,
    count: usize,
    rows: Vec<PairRow>,
    /// The row of all pairs of particles, where there is but one.
    common: Option<PairRow>,
}

impl MaterialPairs {
    /// The table of a world.
    #[cfg(feature = "vulkan")]
    pub fn of(world: &World) -> Self {
        let mut pairs = MaterialPairs::default();
        pairs.update(world);
        pairs
    }

    /// How many rows the table of a world has.
    #[cfg(feature = "vulkan")]
    pub fn rows_of(world: &World) -> usize {
        let count = world.materials.count();
        count * (count + world.colliders.len())
    }

    /// Brings the table up to date: materials, parameters and obstacles may have been edited.
    /// Returns whether it changed.
    pub fn update(&mut self, world: &World) -> bool {
        let params = PairRow::of_params(&world.params);
        let colliders = world.colliders.iter().map(|c| (c.material, c.coefficients));
        let source = &self.source;
        if self.count > 0
            && source.params == params
            && source.materials == world.materials
            && source.colliders.iter().copied().eq(colliders.clone())
        {
            return false;
        }
        let materials = world.materials.clone();
        self.source = Source { params, materials, colliders: colliders.collect() };
        self.fill();
        true
    }

    fn fill(&mut self) {
        let Source { params, materials, colliders } = &self.source;
        let Materials { added, exceptions } = materials;
        let given = added.iter().map(|material| params.with(material.coefficients));
        let all: Vec<PairRow> = std::iter::once(*params).chain(given).collect();
        let n = all.len();
        let mut met: Vec<PairRow> =
            all.iter().flat_map(|a| all.iter().map(|b| a.against(*b))).collect();
        for pair in exceptions {
            let [a, b] = pair.materials.map(|id| id.0 as usize);
            let said = met[a * n + b].with(pair.coefficients);
            (met[a * n + b], met[b * n + a]) = (said, said);
        }
        self.count = n;
        self.rows.clear();
        self.rows.extend(met.iter().map(|row| row.used()));
        for &(material, own) in colliders {
            // Engines refuse obstacles of unknown materials before they step.
            let first = (material.0 as usize).min(n - 1) * n;
            self.rows.extend(met[first..first + n].iter().map(|row| row.with(own).used()));
        }
    }

    /// Finds whether all pairs of particles of these materials are alike.
    pub fn find_common(&mut self, materials: &[u32]) {
        let first = materials.first().map_or(0, |&id| id as usize);
        let alike = self.count == 1 || materials.iter().all(|&id| id as usize == first);
        self.common = alike.then(|| self.rows[first * self.count + first]);
    }

    /// The row of all pairs of particles, where there is but one.
    pub fn common(&self) -> Option<PairRow> {
        self.common
    }
    /// All rows.
    pub fn rows(&self) -> &[PairRow] {
        &self.rows
    }
    /// Where the row of two materials is.
    #[inline(always)]
    pub fn place(&self, a: u32, b: u32) -> usize {
        a as usize * self.count + b as usize
    }
    /// What two materials give in contact.
    #[inline(always)]
    pub fn pair(&self, a: u32, b: u32) -> &PairRow {
        &self.rows[self.place(a, b)]
    }
    /// What a material gives on an obstacle.
    #[inline(always)]
    pub fn wall(&self, collider: u32, material: u32) -> &PairRow {
        &self.rows[(self.count + collider as usize) * self.count + material as usize]
    }
}
