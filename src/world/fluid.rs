//! Fluids: particles that keep their density (docs/physics.md, section 8).

use super::particles::Phase;
use super::taken::Taken;
use super::validate::LONGEST;
use super::{
    AddedList, Built, Coefficients, ListDescription, ListReach, Material, MaterialId, MemoryNeed,
    Particle, Surface, Who, World,
};
use crate::error::{Error, Result};
use crate::shape::mesh::TriangleMesh;
use crate::shape::triangle_bvh::TriangleBvh;
use glam::Vec3;

/// What a particle of fluid fills of a kernel, over its radius cubed: (2 r)³, the cell of a lattice with
/// spacing 2 r, divided by what the kernel sums up to there, so that such a lattice is full.
pub(crate) const VOLUME_PER_RADIUS_CUBED: f32 = 8.0 / LATTICE_SUM;
/// The sum of the kernel over a lattice with half its length as spacing, times the cell.
const LATTICE_SUM: f32 = 1.033_843;

/// Where a fluid is when it is made.
#[derive(Clone, Debug)]
pub enum FluidRegion {
    /// A box along the axes.
    Box {
        /// Lowest corner, m.
        low: Vec3,
        /// Highest corner, m.
        high: Vec3,
    },
    /// The inside of a closed mesh.
    Mesh(TriangleMesh),
}

/// A fluid that fills a region.
///
/// ```
/// use motes::{Backend, Engine, Fluid, FluidRegion, World};
/// use glam::Vec3;
/// let mut world = World::new();
/// let water = world.add_fluid(&Fluid {
///     region: FluidRegion::Box { low: Vec3::ZERO, high: Vec3::splat(0.1) },
///     radius: 0.005,
///     ..Fluid::default()
/// })?;
/// assert_eq!(water.len(), 1000);
/// let mut engine = Engine::new(world, Backend::default())?;
/// engine.step(1.0 / 60.0)?;
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fluid {
    /// Name in reports.
    pub name: String,
    /// What it fills.
    pub region: FluidRegion,
    /// Radius of a particle, m. At rest they are two radii apart, and see four radii far.
    pub radius: f32,
    /// Density at rest, kg/m³.
    pub density: f32,
    /// Velocity at the start, m/s.
    pub velocity: Vec3,
    /// What it is made of. Without friction, as it is by default, it slides freely along everything.
    pub coefficients: Coefficients,
}

impl Default for Fluid {
    fn default() -> Self {
        Fluid {
            name: "fluid".into(),
            region: FluidRegion::Box { low: Vec3::ZERO, high: Vec3::ONE },
            radius: 0.05,
            density: 1000.0,
            velocity: Vec3::ZERO,
            coefficients: Coefficients {
                friction_static: Some(0.0),
                friction_kinetic: Some(0.0),
                ..Coefficients::default()
            },
        }
    }
}

/// The mass of a particle of this radius of a fluid of this density, kg.
pub(super) fn particle_mass(density: f32, radius: f32) -> f32 {
    density * (8.0 * (radius * radius * radius))
}

impl Fluid {
    /// The mass of a particle, kg: that of a cell of the lattice, so what it fills weighs what it should.
    pub fn particle_mass(&self) -> f32 {
        particle_mass(self.density, self.radius)
    }

    /// The box around its region.
    fn bounds(&self) -> [Vec3; 2] {
        match &self.region {
            FluidRegion::Box { low, high } => [*low, *high],
            FluidRegion::Mesh(mesh) => {
                let low = mesh.vertices.iter().copied().fold(Vec3::INFINITY, Vec3::min);
                let high = mesh.vertices.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
                [low, high]
            }
        }
    }

    /// Particles along each axis. What fits but for a hundredth of a particle fits.
    fn counts(&self) -> [f64; 3] {
        let [low, high] = self.bounds();
        let size = (high.as_dvec3() - low.as_dvec3()) / (2.0 * f64::from(self.radius));
        size.to_array().map(|count| (count + 0.01).floor())
    }

    /// What it will need at most, before anything is allocated.
    pub fn memory(&self) -> MemoryNeed {
        let particles = self.counts().iter().map(|&c| c.max(0.0) as u128).product::<u128>();
        // Everyone sees 26 others, and 33 with the skin of the list.
        MemoryNeed { particles, edges: 0, corners4: 0, neighbors: particles.saturating_mul(33) }
    }

    fn check(&self) -> Result<()> {
        let wrong = |field: &str, message: String| {
            Err(Error::value(format!("{}.{field}", self.name), message))
        };
        if !(self.radius.is_finite() && self.radius > 0.0 && self.radius <= LONGEST) {
            return wrong(
                "radius",
                format!("{} is not legal; expected above 0 and at most {LONGEST} m", self.radius),
            );
        }
        if !(self.density.is_finite() && self.density > 0.0) {
            return wrong(
                "density",
                format!("{} is not legal; expected a finite number above 0", self.density),
            );
        }
        if !(1e-30..=1e30).contains(&self.particle_mass()) {
            return wrong(
                "density",
                format!(
                    "a particle would have {} kg; expected 1e-30 to 1e30 kg, so take another radius",
                    self.particle_mass()
                ),
            );
        }
        if !self.velocity.is_finite() {
            return wrong("velocity", format!("{} is not finite", self.velocity));
        }
        let [low, high] = self.bounds();
        if !(low.is_finite() && high.is_finite() && low.cmplt(high).all()) {
            return wrong(
                "region",
                "expected a low and a high corner with low < high on each axis, or a mesh".into(),
            );
        }
        if self.counts().contains(&0.0) {
            return wrong(
                "radius",
                format!(
                    "no particle of {} m fits into the region; take a smaller one",
                    self.radius
                ),
            );
        }
        self.coefficients.validate(&self.name)?;
        self.memory().check(&self.name)
    }
}

impl World {
    /// The list in which fluid particles find everyone within the length of their kernel.
    pub const FLUID_LIST: &str = "fluid";
    /// The list in which everyone else finds the fluid.
    pub const SHORE_LIST: &str = "shore";

    /// Fills what is free of a region with fluid: where a particle is already, of a body or of another
    /// fluid, no further one comes. Returns its handle and the particles.
    ///
    /// The particles of all fluids of a world share a group: they do not touch each other, but keep
    /// their density. Each is made of a material of its own, which it shares with fluids of the same
    /// density and [coefficients](Fluid::coefficients): those are one fluid to it.
    ///
    /// # Errors
    /// When a number is not legal, nothing fits into the region, or there is not enough memory.
    pub fn add_fluid(&mut self, fluid: &Fluid) -> Result<Built> {
        fluid.check()?;
        let inside = match &fluid.region {
            FluidRegion::Box { .. } => None,
            FluidRegion::Mesh(mesh) => Some(TriangleBvh::build(mesh)?),
        };
        self.add_fluid_lists()?;
        let material = self.material_of_fluid(fluid)?;
        let phase = Phase(self.fluid_group() | Phase::FLUID);
        let [low, high] = fluid.bounds();
        let taken = Taken::around(self, [low, high], fluid.radius);
        let [nx, ny, nz] = fluid.counts().map(|count| count as u32);
        let spacing = 2.0 * fluid.radius;
        let mut ids = Vec::new();
        for y in 0..ny {
            for z in 0..nz {
                for x in 0..nx {
                    let cell = Vec3::new(x as f32, y as f32, z as f32) + Vec3::splat(0.5);
                    let position = low + cell * spacing;
                    if inside.as_ref().is_some_and(|mesh| !mesh.contains(position)) {
                        continue;
                    }
                    if taken.overlaps(position, fluid.radius) {
                        continue;
                    }
                    ids.push(self.add_particle(&Particle {
                        position,
                        velocity: fluid.velocity,
                        mass: fluid.particle_mass(),
                        radius: fluid.radius,
                        phase,
                    })?);
                }
            }
        }
        if ids.is_empty() {
            let message = "nothing of it is free: other particles fill it, or no particle fits into the \
                           mesh; move it, or take a smaller radius";
            return Err(Error::value(format!("{}.radius", fluid.name), message));
        }
        let built = self.built(&fluid.name, ids, Surface::default());
        self.set_material(built.object, material)?;
        Ok(built)
    }

    /// Whether there is any fluid.
    pub(crate) fn has_fluid(&self) -> bool {
        self.lists.named(Self::FLUID_LIST).is_some()
            && self.particles.phase.iter().any(|phase| phase & Phase::FLUID != 0)
    }

    /// Whether there is anything but fluid.
    pub(crate) fn has_solids(&self) -> bool {
        self.particles.phase.iter().any(|phase| phase & Phase::FLUID == 0)
    }

    /// The lists that the passes of fluids go over, that of the fluid first; `shore`, if there is
    /// anything else.
    pub(crate) fn fluid_lists(&self, shore: bool) -> impl Iterator<Item = &AddedList> {
        let shore = shore.then_some(Self::SHORE_LIST);
        let names = self.has_fluid().then_some(Self::FLUID_LIST).into_iter().chain(shore);
        names.filter_map(|name| self.lists.named(name))
    }

    /// The group of all fluids: that of the first particle of one, or of one that is to come.
    pub(super) fn fluid_group(&mut self) -> u32 {
        let there = self.particles.phase.iter().map(|&phase| Phase(phase));
        let to_come = self.taps.iter().map(|tap| tap.phase);
        match there.chain(to_come).find(|phase| phase.0 & Phase::FLUID != 0) {
            Some(phase) => phase.group_number(),
            None => self.new_group(),
        }
    }

    /// Fluids reach twice the sum of the radii: that is symmetric, and four radii where all are equal.
    pub(super) fn add_fluid_lists(&mut self) -> Result<()> {
        let (fluid, others) = (Who::flags(Phase::FLUID), Who::without(Phase::FLUID));
        for (name, asks, found) in
            [(Self::FLUID_LIST, fluid, Who::ALL), (Self::SHORE_LIST, others, fluid)]
        {
            let mut list = ListDescription::new(name, ListReach::Radii(2.0));
            (list.asks, list.found) = (asks, found);
            match self.lists.named(name) {
                None => self.add_list(list)?,
                Some(known) if known.description == list => {}
                Some(_) => {
                    let message = format!(
                        "fluids need the list {name:?} for themselves; give the other list another name"
                    );
                    return Err(Error::value("list name", message));
                }
            }
        }
        Ok(())
    }

    /// The material of a fluid: that of one like it, if there is any.
    pub(super) fn material_of_fluid(&mut self, fluid: &Fluid) -> Result<MaterialId> {
        let name = format!("fluid of {} kg/m³", fluid.density);
        let material = Material { name, coefficients: fluid.coefficients };
        let known = self.materials().find(|(_, known)| **known == material).map(|(id, _)| id);
        known.map_or_else(|| self.add_material(&material), Ok)
    }
}
