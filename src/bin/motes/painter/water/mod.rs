//! Fluids as one surface and not as beads: their droplets are drawn as swollen spheres, whose depths
//! are smoothed to a surface that one can see through.
//!
//! nearest depth of the droplets -> narrow-range filter -> thickness -> laid over what is behind

mod bulk;
mod compose;
mod narrow;
mod scale;
mod slope;
#[cfg(test)]
mod tests;

#[cfg(all(feature = "viewer", feature = "vulkan"))]
pub use bulk::{VOLUME, takes};
pub use compose::{Behind, Compose};
#[cfg(all(feature = "viewer", feature = "vulkan"))]
pub use narrow::DISC;
#[cfg(all(feature = "viewer", feature = "vulkan"))]
pub use scale::SWELL;
pub use scale::Scale;

use super::lens::Lens;
use super::project::{self, Ball};
use super::raster::{Solids, Visibility};
use super::tiles::{Footprint, Tiles};
use super::{Picture, Sphere};
use bulk::Bulk;
use narrow::Narrow;
use rayon::prelude::*;

/// The surface of a picture's fluids.
#[derive(Debug, Default)]
pub struct Water {
    balls: Vec<Ball>,
    footprints: Vec<Footprint>,
    seen: Visibility,
    surface: Narrow,
    bulk: Bulk,
    scale: Scale,
}

impl Water {
    /// Draws the surface; `behind` is what the solids hide. False where there is no fluid.
    pub fn draw(&mut self, picture: &Picture, lens: &Lens, behind: &Visibility) -> bool {
        let Some(scale) = Scale::of(picture, lens) else { return false };
        self.scale = scale;
        let droplets = picture.droplets.par_iter();
        droplets
            .map(|droplet| {
                let (center, radius) = (droplet.center, droplet.radius * scale::SWELL);
                project::ball(lens, &Sphere { center, radius, color: droplet.color })
            })
            .unzip_into_vecs(&mut self.balls, &mut self.footprints);
        let solids = Solids { balls: &self.balls, facets: &[], footprints: &self.footprints };
        self.seen.draw(lens, solids, None);
        self.surface.take(&self.seen, scale.step);
        self.surface.smooth(&scale);
        self.bulk.draw(&picture.droplets, lens, &scale, &self.surface, behind);
        true
    }

    /// Whether some droplet may touch a tile.
    pub fn is_at(&self, tile: usize) -> bool {
        self.seen.is_busy(tile)
    }

    /// The tiles of the surface, which are those of the picture.
    pub fn tiles(&self) -> Tiles {
        self.seen.tiles
    }
}
