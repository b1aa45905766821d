//! The user interface over a painted picture: imgui's draw lists, blended in sRGB as imgui means
//! them. Shapes are prepared once and then filled by bands of rows, each by one worker.

mod blend;
mod fill;
mod shape;
#[cfg(test)]
mod tests;
mod texture;

pub use shape::Clip;
pub use texture::{FontTexture, Image};

use super::Canvas;
use fill::Band;
use imgui::{DrawCmd, DrawData};
use motes::simd;
use rayon::prelude::*;
use shape::{Shape, shapes};
use texture::Textures;

/// Rows of a band.
const BAND: usize = 16;

/// Draws an interface whose only texture is its font.
#[cfg(test)]
pub fn draw(canvas: &mut Canvas, draw: &DrawData, fonts: &FontTexture) {
    draw_with(canvas, draw, fonts, &[]);
}

/// Draws an interface: texture 0 is the font, texture n is `images[n - 1]`, and what asks for
/// one that is not there is left out.
pub fn draw_with(canvas: &mut Canvas, draw: &DrawData, fonts: &FontTexture, images: &[Image]) {
    let Some(textures) = Textures::new(fonts, images) else { return };
    let mut prepared = Vec::new();
    let place =
        |p: [f32; 2]| [0, 1].map(|k| (p[k] - draw.display_pos[k]) * draw.framebuffer_scale[k]);
    for list in draw.draw_lists() {
        let (vertices, indices) = (list.vtx_buffer(), list.idx_buffer());
        for command in list.commands() {
            let DrawCmd::Elements { count, cmd_params } = command else { continue };
            let end = cmd_params.idx_offset.saturating_add(count);
            let indices = indices.get(cmd_params.idx_offset..end).unwrap_or_default();
            let vertices = vertices.get(cmd_params.vtx_offset..).unwrap_or_default();
            let [x0, y0, x1, y1] = cmd_params.clip_rect;
            let ([x0, y0], [x1, y1]) = (place([x0, y0]), place([x1, y1]));
            let clip = Clip::new([x0, y0, x1, y1]).within(canvas.width(), canvas.height());
            let Some(texture) = textures.get(cmd_params.texture_id.id()) else { continue };
            shapes(vertices, indices, place, clip, texture, &mut prepared);
        }
    }
    fill(canvas, &prepared);
}

/// Fills the shapes in their order.
fn fill(canvas: &mut Canvas, shapes: &[Shape]) {
    let (width, height) = (canvas.width() as usize, canvas.height() as usize);
    if width == 0 || height == 0 {
        return;
    }
    let mut bands = vec![Vec::new(); height.div_ceil(BAND)];
    for (index, shape) in shapes.iter().enumerate() {
        let rows = shape.rows();
        if !rows.is_empty() {
            for band in &mut bands[rows.start / BAND..rows.end.div_ceil(BAND)] {
                band.push(index as u32);
            }
        }
    }
    canvas.pixels.par_chunks_mut(width * BAND).zip(&bands).enumerate().with_max_len(1).for_each(
        |(band, (pixels, mine))| {
            simd::fastest(Band { top: band * BAND, width, pixels, shapes, mine });
        },
    );
}
