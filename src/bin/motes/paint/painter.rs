//! The order of a picture's passes, and the memory they keep from one picture to the next.

use super::Picture;
use super::camera::Camera;
use super::canvas::Canvas;
use super::color::encode;
use super::content::Content;
use super::ground::Floor;
use super::lens::Lens;
use super::look::Look;
use super::occlusion::Occlusion;
use super::project::{self, Ball, Facet};
use super::raster::{Solids, Visibility};
use super::shade::Shade;
use super::shadow::ShadowMap;
use super::spiral::Spiral;
use super::strokes::Strokes;
use super::tiles::{Footprint, TILE, TILE_AREA};
use glam::Vec3;
use rayon::prelude::*;

/// What a picture may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Texels along the longer side of the shadow map.
    pub shadow_side: u32,
    /// Depth samples per pixel for shadows that soften with distance; 0 has plain smooth edges.
    pub shadow_taps: usize,
    /// Depth samples per pixel for ambient occlusion.
    pub occlusion_taps: usize,
    /// Occlusion once for each 2x2 block where it sees one thing: a third of the cost.
    pub occlusion_shared: bool,
    /// Widens lines in pictures that will be halved.
    pub line_scale: f32,
}

impl Quality {
    /// For a window that is redrawn all the time.
    pub const LIVE: Self = Self {
        shadow_side: 1024,
        shadow_taps: 0,
        occlusion_taps: 8,
        occlusion_shared: true,
        line_scale: 1.0,
    };
    /// For a picture at twice the size that is then halved.
    pub const FINE: Self = Self {
        shadow_side: 2048,
        shadow_taps: 16,
        occlusion_taps: 12,
        occlusion_shared: false,
        line_scale: 2.0,
    };
}

/// Paints pictures one after the other without giving back its memory in between.
#[derive(Debug)]
pub struct Painter {
    quality: Quality,
    balls: Vec<Ball>,
    facets: Vec<Facet>,
    footprints: Vec<Footprint>,
    facet_footprints: Vec<Footprint>,
    seen: Visibility,
    shadow: ShadowMap,
    strokes: Strokes,
}

impl Painter {
    pub fn new(quality: Quality) -> Self {
        Self {
            quality,
            balls: Vec::new(),
            facets: Vec::new(),
            footprints: Vec::new(),
            facet_footprints: Vec::new(),
            seen: Visibility::default(),
            shadow: ShadowMap::default(),
            strokes: Strokes::default(),
        }
    }

    /// Paints into `canvas`, which takes the given size.
    pub fn paint(
        &mut self,
        picture: &Picture,
        camera: &Camera,
        width: u32,
        height: u32,
        canvas: &mut Canvas,
    ) {
        canvas.resize(width, height);
        let (width, height) = (canvas.width(), canvas.height());
        if width == 0 || height == 0 {
            return;
        }
        let lens = Lens::new(camera, width, height);
        let look = Look::of(picture.theme);
        let content = Content::of(picture);

        self.project(picture, &lens);
        let solids =
            Solids { balls: &self.balls, facets: &self.facets, footprints: &self.footprints };
        self.seen.draw(&lens, solids, picture.ground);
        match &content {
            Some(content) => {
                self.shadow.draw(picture, content, look.sun, &lens, self.quality.shadow_side);
            }
            None => self.shadow.clear(),
        }
        self.strokes.prepare(&lens, &self.seen.tiles, &picture.lines, self.quality.line_scale);

        let taps = self.quality.shadow_taps;
        let soft = (taps > 0).then(|| Spiral::new(taps));
        let shade = Shade {
            picture,
            lens: &lens,
            solids,
            seen: &self.seen,
            shadow: &self.shadow,
            occlusion: &Occlusion::new(occlusion_radius(&content), self.quality.occlusion_taps),
            floor: &Floor::new(content.as_ref()),
            look: &look,
            sun: lens.direction(look.sun),
            up: lens.direction(Vec3::Y),
            soft: soft.as_ref(),
            shared: self.quality.occlusion_shared,
        };
        finish(&shade, &self.strokes, canvas);
    }

    fn project(&mut self, picture: &Picture, lens: &Lens) {
        picture
            .spheres
            .par_iter()
            .map(|sphere| project::ball(lens, sphere))
            .unzip_into_vecs(&mut self.balls, &mut self.footprints);
        picture
            .triangles
            .par_iter()
            .map(|triangle| project::facet(lens, triangle))
            .unzip_into_vecs(&mut self.facets, &mut self.facet_footprints);
        self.footprints.extend_from_slice(&self.facet_footprints);
    }
}

/// Lights the tiles and writes them to the canvas. A worker takes a row of tiles, because that is
/// one contiguous piece of the canvas.
fn finish(shade: &Shade, strokes: &Strokes, canvas: &mut Canvas) {
    let tiles = shade.seen.tiles;
    let width = canvas.width() as usize;
    let band = width * TILE as usize;
    canvas
        .rgb
        .par_chunks_mut(band * 3)
        .zip(canvas.depth.par_chunks_mut(band))
        .enumerate()
        .for_each_init(
            || vec![Vec3::ZERO; TILE_AREA],
            |light, (row, (rgb, depth))| {
                for column in 0..tiles.columns as usize {
                    let tile = row * tiles.columns as usize + column;
                    let origin = tiles.origin(tile);
                    let stored = tile * TILE_AREA..(tile + 1) * TILE_AREA;
                    let tile_depth = &shade.seen.depth[stored.clone()];
                    shade.tile(tile, tile_depth, &shade.seen.seen[stored], light);
                    strokes.draw(tile, origin, &shade.picture.lines, tile_depth, light);
                    let left = origin.0 as usize;
                    let count = (width - left).min(TILE as usize);
                    let rows = depth.chunks_exact_mut(width).zip(rgb.chunks_exact_mut(width * 3));
                    for (y, (depth, rgb)) in rows.enumerate() {
                        let from = y * TILE as usize..y * TILE as usize + count;
                        depth[left..left + count].copy_from_slice(&tile_depth[from.clone()]);
                        let pixels = rgb[left * 3..].chunks_exact_mut(3);
                        for (pixel, light) in pixels.zip(&light[from]) {
                            let [r, g, b] = light.to_array();
                            pixel.copy_from_slice(&[encode(r), encode(g), encode(b)]);
                        }
                    }
                }
            },
        );
}

/// How far ambient occlusion reaches [m]: a few particles, or a part of the content when those are
/// too small to matter.
fn occlusion_radius(content: &Option<Content>) -> f32 {
    content.map_or(0.1, |content| {
        let size = content.diagonal();
        (content.radius * 4.0).clamp(size * 0.025, size * 0.1)
    })
}
