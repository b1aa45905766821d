//! `[[particles]]`: a list.

use super::fasten::{HoldFile, fasten};
use super::mass::ball_mass;
use super::pick::Layout;
use super::{ObjectKinds, SceneObject, Site, table};
use crate::error::Result;
use crate::scene::bond::bond;
use crate::scene::keys::one_of;
use crate::scene::size::need;
use crate::scene::value::{AtLeastZero, Pick, Positive, Share, Vector};
use crate::world::{Built, MemoryNeed, Particle, Phase, Surface, World};

impl ObjectKinds {
    /// `[[particles]]`: a list.
    ///
    /// | key | unit | default | meaning |
    /// |---|---|---|---|
    /// | `positions` | m | needed | `[[x, y, z], ...]` |
    /// | `radius` | m | needed | of each |
    /// | `mass`, `density` | kg, kg/m³ | density 1000 | one or the other, as for grains |
    /// | `chain` | | false | joins each to the next: a rope |
    /// | `compliance`, `stiffness`, `break_at`, `yield_at` | | rigid | of the chain |
    /// | `velocity`, `self_collide`, `pin`, `hold` | | | as for cloth |
    ///
    /// Picks know the words `first last all`.
    pub const PARTICLES: &'static str = "particles";
}

table! {
    pub(crate) struct ParticlesFile {
        positions: Vec<Vector>,
        velocity: Option<Vector>,
        mass: Option<Positive>,
        density: Option<Positive>,
        radius: Positive,
        #[serde(default)]
        self_collide: bool,
        #[serde(default)]
        chain: bool,
        compliance: Option<AtLeastZero>,
        stiffness: Option<Share>,
        break_at: Option<Positive>,
        yield_at: Option<Positive>,
        #[serde(default)]
        pin: Vec<Pick>,
        #[serde(default)]
        hold: Vec<HoldFile>,
    }
}

impl SceneObject for ParticlesFile {
    fn need(&self) -> MemoryNeed {
        need(self.positions.len() as u128, u128::from(self.chain), 0)
    }

    fn build(&self, world: &mut World, path: &str, _: &Site) -> Result<Built> {
        one_of(path, [("mass", self.mass.is_some()), ("density", self.density.is_some())])?;
        let mut phase = Phase::group(world.new_group());
        if self.self_collide {
            phase = phase.self_colliding();
        }
        let mut ids = Vec::with_capacity(self.positions.len());
        for position in &self.positions {
            ids.push(world.add_particle(&Particle {
                position: position.0,
                velocity: self.velocity.map(|v| v.0).unwrap_or_default(),
                mass: ball_mass(self.mass, self.density, self.radius.0),
                radius: self.radius.0,
                phase,
            })?);
        }
        if self.chain {
            let bond = bond(self.compliance, self.stiffness, self.break_at, self.yield_at);
            for pair in ids.windows(2) {
                world.add_distance(pair[0], pair[1], None, &bond)?;
            }
        }
        let built = world.built(path, ids, Surface::default());
        let layout = List { count: built.len() };
        fasten(world, path, &built, &layout, &self.pin, &self.hold)?;
        Ok(built)
    }
}

/// Particles as they were listed.
struct List {
    count: usize,
}

impl Layout for List {
    fn count(&self) -> usize {
        self.count
    }

    fn known(&self) -> &'static str {
        "first, last, all, or an index"
    }

    fn word(&self, word: &str) -> Option<Vec<usize>> {
        match word {
            "first" => Some((0..self.count.min(1)).collect()),
            "last" => Some((self.count.saturating_sub(1)..self.count).collect()),
            _ => None,
        }
    }
}
