//! `[[granular]]`: loose grains.

use super::mass::ball_mass;
use super::solid::{SolidWord, solid};
use super::{ObjectKinds, SceneObject, Site, table};
use crate::error::{Error, Result};
use crate::scene::keys::one_of;
use crate::scene::size::{need, product};
use crate::scene::value::{Count, Exactly, Positive, Share, Spacing, Tube, Vector};
use crate::world::{Built, Grains, MemoryNeed, World};

impl ObjectKinds {
    /// `[[granular]]`: loose grains.
    ///
    /// | key | unit | default | meaning |
    /// |---|---|---|---|
    /// | `counts`, `spacing`, `solid`, `tube` | | | as for box |
    /// | `origin` | m | [0, 0, 0] | centre of the first grain, the lowest on each axis |
    /// | `radius` | m | spacing / 2 | of a grain |
    /// | `mass` | kg | | of a grain; or |
    /// | `density` | kg/m³ | 1000 | mass = density 4/3 π radius³ |
    /// | `jitter` | 1 | 0 | largest random displacement over the spacing, 0 to 1 |
    /// | `seed` | | from the scene's | of the displacement |
    /// | `velocity` | m/s | 0 | at the start |
    pub const GRANULAR: &'static str = "granular";
}

table! {
    pub(crate) struct GranularFile {
        origin: Option<Vector>,
        counts: Exactly<Count, 3>,
        spacing: Spacing,
        radius: Option<Positive>,
        mass: Option<Positive>,
        density: Option<Positive>,
        jitter: Option<Share>,
        seed: Option<Count>,
        #[serde(default)]
        solid: SolidWord,
        tube: Option<Tube>,
        velocity: Option<Vector>,
    }
}

impl SceneObject for GranularFile {
    fn need(&self) -> MemoryNeed {
        need(product(&self.counts.0), 0, 0)
    }

    fn build(&self, world: &mut World, path: &str, site: &Site) -> Result<Built> {
        one_of(path, [("mass", self.mass.is_some()), ("density", self.density.is_some())])?;
        if self.counts.0.contains(&Count(0)) {
            return Err(Error::value(format!("{path}.counts"), "expected at least 1 on each axis"));
        }
        let spacing = self.spacing.0;
        let radius = self.radius.map_or(spacing / 2.0, |r| r.0);
        world.add_grains(&Grains {
            name: path.into(),
            origin: self.origin.map(|v| v.0).unwrap_or_default(),
            counts: self.counts.0.map(Count::clamped),
            spacing,
            mass: ball_mass(self.mass, self.density, radius),
            radius,
            velocity: self.velocity.map(|v| v.0).unwrap_or_default(),
            solid: solid(path, self.solid, self.tube)?,
            jitter: self.jitter.map_or(0.0, |j| j.0),
            seed: self.seed.map_or(site.seed, |s| s.0),
        })
    }
}
