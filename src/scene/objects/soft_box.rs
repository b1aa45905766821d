//! `[[box]]`: a soft lattice.

use super::faces::Faces;
use super::fasten::{HoldFile, fasten};
use super::mass::DENSITY;
use super::solid::{SolidWord, solid};
use super::{ObjectKinds, SceneObject, Site, table};
use crate::error::Result;
use crate::scene::bond::bond;
use crate::scene::keys::one_of;
use crate::scene::size::{need, product};
use crate::scene::value::{
    AtLeastZero, Count, Exactly, Pick, Positive, Rotation, Share, Spacing, Tube, Vector,
};
use crate::world::{Built, Lattice, LatticeEdges, MemoryNeed, World};
use glam::Quat;
use serde::Deserialize;

impl ObjectKinds {
    /// `[[box]]`: a soft lattice.
    ///
    /// | key | unit | default | meaning |
    /// |---|---|---|---|
    /// | `counts` | 1 | needed | particles along x, y, z |
    /// | `spacing` | m | needed | between neighbours, 1e-6 to 1e6 |
    /// | `center` | m | [0, 0, 0] | middle of the lattice |
    /// | `rotation` | rotation | none | about the middle |
    /// | `solid` | | "box" | what is kept of it: `box sphere cylinder torus`, inscribed, axis y |
    /// | `tube` | 1 | 0.25 | torus only: tube radius over outer radius, below 0.5 |
    /// | `edges` | | "full" | `full`: 26 neighbours, `axis`: 6 |
    /// | `compliance`, `stiffness` | m/N, 1 | 0, 1 | edges |
    /// | `break_at`, `yield_at` | strain | never | edges |
    /// | `volume_compliance`, `volume_stiffness` | m⁵/N, 1 | none | tetrahedra; either makes them |
    /// | `volume_break_at`, `volume_yield_at` | strain | never | tetrahedra |
    /// | `mass` | kg | | of one particle; or |
    /// | `density` | kg/m³ | 1000 | mass = density spacing³ |
    /// | `radius` | m | spacing / 2 | of one particle |
    /// | `velocity`, `self_collide`, `pin`, `hold` | | | as for cloth |
    ///
    /// Picks know, in the box's own frame, the words `top bottom` (y) `right left` (x) `front back`
    /// (z) and `all`.
    pub const BOX: &'static str = "box";
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EdgesWord {
    #[default]
    Full,
    Axis,
}

table! {
    pub(crate) struct BoxFile {
        counts: Exactly<Count, 3>,
        spacing: Spacing,
        center: Option<Vector>,
        rotation: Option<Rotation>,
        #[serde(default)]
        solid: SolidWord,
        tube: Option<Tube>,
        #[serde(default)]
        edges: EdgesWord,
        stiffness: Option<Share>,
        compliance: Option<AtLeastZero>,
        break_at: Option<Positive>,
        yield_at: Option<Positive>,
        volume_compliance: Option<AtLeastZero>,
        volume_stiffness: Option<Share>,
        volume_break_at: Option<Positive>,
        volume_yield_at: Option<Positive>,
        mass: Option<Positive>,
        density: Option<Positive>,
        radius: Option<Positive>,
        velocity: Option<Vector>,
        #[serde(default)]
        self_collide: bool,
        #[serde(default)]
        pin: Vec<Pick>,
        #[serde(default)]
        hold: Vec<HoldFile>,
    }
}

impl BoxFile {
    fn has_volume(&self) -> bool {
        self.volume_compliance.is_some() || self.volume_stiffness.is_some()
    }

    /// As the library takes it, with the defaults of the format.
    fn lattice(&self, path: &str) -> Result<Lattice> {
        let spacing = self.spacing.0;
        let density = self.density.map_or(DENSITY, |d| d.0);
        Ok(Lattice {
            name: path.into(),
            center: self.center.map(|v| v.0).unwrap_or_default(),
            rotation: self.rotation.map_or(Quat::IDENTITY, |r| r.0),
            counts: self.counts.0.map(Count::clamped),
            spacing,
            mass: self.mass.map_or(density * spacing * spacing * spacing, |m| m.0),
            radius: self.radius.map_or(spacing / 2.0, |r| r.0),
            velocity: self.velocity.map(|v| v.0).unwrap_or_default(),
            solid: solid(path, self.solid, self.tube)?,
            edges: match self.edges {
                EdgesWord::Full => LatticeEdges::Full,
                EdgesWord::Axis => LatticeEdges::Axis,
            },
            self_collide: self.self_collide,
            stretch: bond(self.compliance, self.stiffness, self.break_at, self.yield_at),
            volume: self.has_volume().then(|| {
                let (break_at, yield_at) = (self.volume_break_at, self.volume_yield_at);
                bond(self.volume_compliance, self.volume_stiffness, break_at, yield_at)
            }),
        })
    }
}

impl SceneObject for BoxFile {
    fn need(&self) -> MemoryNeed {
        let edges = if self.edges == EdgesWord::Full { 13 } else { 3 };
        need(product(&self.counts.0), edges, if self.has_volume() { 6 } else { 0 })
    }

    fn build(&self, world: &mut World, path: &str, _: &Site) -> Result<Built> {
        one_of(path, [("mass", self.mass.is_some()), ("density", self.density.is_some())])?;
        let lattice = self.lattice(path)?;
        let built = world.add_lattice(&lattice)?;
        let back = lattice.rotation.inverse();
        let local = built
            .iter()
            .map(|&id| back * (world.position(id).unwrap_or_default() - lattice.center))
            .collect();
        let layout = Faces { local, spacing: lattice.spacing };
        fasten(world, path, &built, &layout, &self.pin, &self.hold)?;
        Ok(built)
    }
}
