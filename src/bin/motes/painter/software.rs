//! The order of a picture's passes, and the memory they keep from one picture to the next.

use super::Picture;
use super::camera::Camera;
use super::canvas::{Canvas, pack};
use super::color::{STEPS, encoding};
use super::content::Content;
use super::ground::Floor;
use super::lens::Lens;
use super::look::Look;
use super::occlusion::Occlusion;
use super::project::{self, Ball, Facet};
use super::raster::{Solids, Visibility};
use super::shade::{Light, Lit, Shade};
use super::shadow::ShadowMap;
use super::spiral::Spiral;
use super::strokes::Strokes;
use super::surface::Surfaces;
use super::tiles::{Footprint, SIDE, TILE_AREA, Tiles};
use super::water::{Behind, Compose, Water};
use glam::Vec3;
use motes::simd::{self, Kernel, LANES, Simd, Vector};
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
    /// Widens lines in pictures that will be halved.
    pub line_scale: f32,
}

impl Quality {
    /// For a window that is redrawn all the time.
    pub const LIVE: Self =
        Self { shadow_side: 1024, shadow_taps: 0, occlusion_taps: 8, line_scale: 1.0 };
    /// For a picture at twice the size that is then halved.
    pub const FINE: Self =
        Self { shadow_side: 2048, shadow_taps: 16, occlusion_taps: 12, line_scale: 2.0 };
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
    occlusion: Occlusion,
    strokes: Strokes,
    water: Water,
    /// The picture without fluids.
    behind: Vec<u32>,
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
            occlusion: Occlusion::default(),
            strokes: Strokes::default(),
            water: Water::default(),
            behind: Vec::new(),
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
        self.project(picture, &lens);
        let Self { quality, balls, facets, footprints, seen, shadow, .. } = self;
        let Self { strokes, occlusion, water, behind, .. } = self;
        let solids = Solids { balls, facets, footprints };
        let (_, content) = rayon::join(
            || seen.draw(&lens, solids, picture.ground),
            || {
                let content = Content::of(picture);
                match &content {
                    Some(c) => shadow.draw(picture, c, look.sun, &lens, quality.shadow_side),
                    None => shadow.clear(),
                }
                content
            },
        );
        strokes.prepare(&lens, &seen.tiles, &picture.lines, quality.line_scale);

        let up = lens.direction(Vec3::Y);
        let surfaces = Surfaces { picture, lens: &lens, solids, seen, up };
        let taps = Spiral::new(quality.occlusion_taps);
        occlusion.draw(&surfaces, occlusion_radius(&content), &taps);
        let soft = (quality.shadow_taps > 0).then(|| Spiral::new(quality.shadow_taps));
        let shade = Shade {
            surfaces,
            shadow,
            occlusion,
            floor: &Floor::new(content.as_ref()),
            look: &look,
            sun: lens.direction(look.sun),
            soft: soft.as_ref(),
        };
        let is_wet = water.draw(picture, &lens, seen);
        finish(&shade, strokes, is_wet.then_some(water), behind, canvas);
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
            .chain(&picture.walls)
            .map(|triangle| project::facet(lens, triangle))
            .unzip_into_vecs(&mut self.facets, &mut self.facet_footprints);
        self.footprints.extend_from_slice(&self.facet_footprints);
    }
}

/// Lights the tiles, lays the fluids over them and writes them to the canvas. `behind` is memory for
/// the picture without fluids.
fn finish(
    shade: &Shade,
    strokes: &Strokes,
    water: Option<&Water>,
    behind: &mut Vec<u32>,
    canvas: &mut Canvas,
) {
    let Surfaces { picture, lens, seen, up, .. } = shade.surfaces;
    let tiles = seen.tiles;
    let is_wet = |tile: usize| water.is_some_and(|water| water.is_at(tile));
    let draw_lines = |tile: usize, light: &mut Light, depth: &[f32; TILE_AREA]| {
        strokes.draw(tile, tiles.origin(tile), &picture.lines, depth, light);
    };
    paint_tiles(
        canvas,
        &tiles,
        |_| true,
        |tile, light, depth| {
            *depth = *seen.depth(tile);
            simd::fastest(Lit { shade, tile, light });
            if !is_wet(tile) {
                draw_lines(tile, light, depth);
            }
        },
    );
    let Some(water) = water else { return };
    behind.clone_from(&canvas.pixels);
    let behind = &Behind { pixels: behind, seen };
    let (look, sun) = (shade.look, shade.sun);
    paint_tiles(canvas, &tiles, is_wet, |tile, light, depth| {
        *depth = *seen.depth(tile);
        simd::fastest(Compose { water, behind, lens, look, up, sun, tile, light, depth });
        draw_lines(tile, light, depth);
    });
}

/// Writes some tiles to the canvas: `paint` makes the light and the depths of each. A worker takes a
/// row of tiles, because that is one contiguous piece of the canvas.
fn paint_tiles(
    canvas: &mut Canvas,
    tiles: &Tiles,
    takes: impl Fn(usize) -> bool + Sync,
    paint: impl Fn(usize, &mut Light, &mut [f32; TILE_AREA]) + Sync,
) {
    let width = canvas.width() as usize;
    let band = width * SIDE;
    canvas
        .pixels
        .par_chunks_mut(band)
        .zip(canvas.depth.par_chunks_mut(band))
        .enumerate()
        // Left to itself, rayon makes four pieces for two threads, and rows cost very differently.
        .with_max_len(1)
        .for_each_init(
            || Box::new(([[0.0; TILE_AREA]; 3], [0.0; TILE_AREA])),
            |made, (row, (pixels, depths))| {
                let (light, depth) = made.as_mut();
                let first = row * tiles.columns as usize;
                for column in (0..tiles.columns as usize).filter(|column| takes(first + column)) {
                    paint(first + column, light, depth);
                    let left = column * SIDE;
                    let out = left..(left + SIDE).min(width);
                    for (y, row) in depths.chunks_exact_mut(width).enumerate() {
                        row[out.clone()].copy_from_slice(&depth[y * SIDE..][..out.len()]);
                    }
                    simd::fastest(Write {
                        light,
                        pixels: &mut pixels[left..],
                        width,
                        columns: out.len(),
                    });
                }
            },
        );
}

/// Turns the light of a tile to words of the canvas: `pixels` starts at its first.
struct Write<'a> {
    light: &'a Light,
    pixels: &'a mut [u32],
    width: usize,
    columns: usize,
}

impl Kernel for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Simd>(self) {
        let codes = encoding();
        for (y, row) in self.pixels.chunks_mut(self.width).enumerate() {
            for (g, pixels) in row[..self.columns].chunks_mut(LANES).enumerate() {
                let light: Vector<L> = Vector::read(self.light, y * (SIDE / LANES) + g);
                let red = (light.x.within_one() * STEPS as f32).nearest();
                let green = (light.y.within_one() * STEPS as f32).nearest();
                let blue = (light.z.within_one() * STEPS as f32).nearest();
                for (i, pixel) in pixels.iter_mut().enumerate() {
                    let code = |step: i32| codes[step as usize & STEPS];
                    *pixel = pack([code(red[i]), code(green[i]), code(blue[i])]);
                }
            }
        }
    }
}

/// How far ambient occlusion reaches [m]: a few particles, or a part of the content when those are
/// too small to matter.
pub fn occlusion_radius(content: &Option<Content>) -> f32 {
    content.map_or(0.1, |content| {
        let size = content.diagonal();
        (content.radius * 4.0).clamp(size * 0.025, size * 0.1)
    })
}
