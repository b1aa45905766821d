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

/// How two materials flow beside each other; four words as well.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct FlowRow {
    /// 1/s.
    rate: f32,
    /// The share of the velocities around it that one takes of the other in a substep, over that of
    /// the thickest material: 1 where all are alike.
    pub share: f32,
    /// Surface tension, N/m; between two materials there is none.
    pub tension: f32,
    /// How the one holds the other, where one of them is fluid, N/m.
    pub adhesion: f32,
}

impl FlowRow {
    fn of_params(params: &Params) -> Self {
        let Params { fluid_viscosity, fluid_tension, fluid_adhesion, .. } = *params;
        let (tension, adhesion) = (fluid_tension, fluid_adhesion);
        FlowRow { rate: fluid_viscosity, share: 0.0, tension, adhesion }
    }

    /// With the numbers that are given.
    fn with(self, given: Coefficients) -> Self {
        FlowRow {
            rate: given.viscosity.unwrap_or(self.rate),
            share: self.share,
            tension: given.tension.unwrap_or(self.tension),
            adhesion: given.adhesion.unwrap_or(self.adhesion),
        }
    }

    /// The rule for two materials.
    fn against(self, other: FlowRow) -> Self {
        FlowRow {
            rate: 0.5 * (self.rate + other.rate),
            adhesion: self.adhesion.max(other.adhesion),
            ..self
        }
    }

    /// Without what acts only within one material.
    fn of_two(self) -> Self {
        FlowRow { tension: 0.0, ..self }
    }

    /// As it is used in a substep of `h` seconds.
    fn used(self, thickest: f32, h: f32) -> Self {
        let most = share(thickest, h);
        FlowRow { share: if most > 0.0 { share(self.rate, h) / most } else { 0.0 }, ..self }
    }

    /// Its words on a device.
    #[cfg(feature = "vulkan")]
    pub fn words(&self) -> [u32; 4] {
        bytemuck::cast(*self)
    }
}

/// The share of a difference that goes in a substep of `h` seconds, at a rate in 1/s.
fn share(rate: f32, h: f32) -> f32 {
    let part = rate * h;
    part / (1.0 + part)
}

impl World {
    /// The share of the velocities around it that the thickest material takes in a substep of `h`
    /// seconds.
    pub(crate) fn fluid_share(&self, h: f32) -> f32 {
        share(self.thickest(), h)
    }
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
    flow: FlowRow,
    thickest: f32,
    /// Length of a substep, s.
    h: f32,
    materials: Materials,
    colliders: Vec<(MaterialId, Coefficients)>,
}

/// What materials give where they meet: a row for each pair of them, then for each obstacle and
/// material. `params` is the default material; `with` puts numbers in place of its own, and `against`
/// is the rule for two.
fn met<R: Copy>(
    params: R,
    materials: &Materials,
    colliders: &[(MaterialId, Coefficients)],
    with: impl Fn(R, Coefficients) -> R,
    against: impl Fn(R, R) -> R,
) -> Vec<R> {
    let given = materials.added.iter().map(|material| with(params, material.coefficients));
    let all: Vec<R> = std::iter::once(params).chain(given).collect();
    let n = all.len();
    let mut met: Vec<R> = all.iter().flat_map(|a| all.iter().map(|b| against(*a, *b))).collect();
    for pair in &materials.exceptions {
        let [a, b] = pair.materials.map(|id| id.0 as usize);
        let said = with(met[a * n + b], pair.coefficients);
        (met[a * n + b], met[b * n + a]) = (said, said);
    }
    for &(material, own) in colliders {
        // Engines refuse obstacles of unknown materials before they step.
        let first = (material.0 as usize).min(n - 1) * n;
        for at in first..first + n {
            met.push(with(met[at], own));
        }
    }
    met
}

/// A row for each pair of materials, then for each obstacle and material.
#[derive(Debug, Default)]
pub(crate) struct MaterialPairs {
    source: Source,
    count: usize,
    rows: Vec<PairRow>,
    flows: Vec<FlowRow>,
    /// The place of the row of all pairs of particles, where there is but one.
    common: Option<usize>,
}

impl MaterialPairs {
    /// The table of a world.
    #[cfg(feature = "vulkan")]
    pub fn of(world: &World, h: f32) -> Self {
        let mut pairs = MaterialPairs::default();
        pairs.update(world, h);
        pairs
    }

    /// How many rows the table of a world has.
    #[cfg(feature = "vulkan")]
    pub fn rows_of(world: &World) -> usize {
        let count = world.materials.count();
        count * (count + world.colliders.len())
    }

    /// Brings the table up to date for substeps of `h` seconds: materials, parameters and obstacles may
    /// have been edited. Returns whether it changed.
    pub fn update(&mut self, world: &World, h: f32) -> bool {
        let params = PairRow::of_params(&world.params);
        let (flow, thickest) = (FlowRow::of_params(&world.params), world.thickest());
        let colliders = world.colliders.iter().map(|c| (c.material, c.coefficients));
        let source = &self.source;
        if self.count > 0
            && (source.params, source.flow) == (params, flow)
            && (source.thickest, source.h) == (thickest, h)
            && source.materials == world.materials
            && source.colliders.iter().copied().eq(colliders.clone())
        {
            return false;
        }
        let materials = world.materials.clone();
        let colliders = colliders.collect();
        self.source = Source { params, flow, thickest, h, materials, colliders };
        self.fill();
        true
    }

    fn fill(&mut self) {
        let Source { params, flow, thickest, h, materials, colliders } = &self.source;
        let (with, against) = (PairRow::with, PairRow::against);
        let rows = met(*params, materials, colliders, with, against);
        let flows = met(*flow, materials, colliders, FlowRow::with, FlowRow::against);
        self.count = materials.count();
        self.rows = rows.into_iter().map(PairRow::used).collect();
        let flows = flows.into_iter().enumerate();
        let flows =
            flows.map(|(at, row)| if at % (self.count + 1) == 0 { row } else { row.of_two() });
        self.flows = flows.map(|row| row.used(*thickest, *h)).collect();
    }

    /// Finds whether all pairs of particles of these materials are alike.
    pub fn find_common(&mut self, materials: &[u32]) {
        let first = materials.first().map_or(0, |&id| id as usize);
        let alike = self.count == 1 || materials.iter().all(|&id| id as usize == first);
        self.common = alike.then_some(first * self.count + first);
    }

    /// The row of all pairs of particles, where there is but one.
    pub fn common(&self) -> Option<PairRow> {
        self.common.map(|at| self.rows[at])
    }
    /// The same for fluids.
    pub fn common_flow(&self) -> Option<FlowRow> {
        self.common.map(|at| self.flows[at])
    }
    /// All rows.
    pub fn rows(&self) -> &[PairRow] {
        &self.rows
    }
    /// The rows of fluids, in the same places.
    pub fn flows(&self) -> &[FlowRow] {
        &self.flows
    }
    /// What a material gives as a fluid on an obstacle.
    pub fn flow_on_wall(&self, collider: u32, material: u32) -> &FlowRow {
        &self.flows[(self.count + collider as usize) * self.count + material as usize]
    }
    /// How many materials there are.
    pub fn count(&self) -> usize {
        self.count
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
