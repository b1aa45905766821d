//! The user interface over a painted picture: imgui's triangles, blended in sRGB as imgui means them.

use super::Canvas;
use imgui::{DrawCmd, DrawData, DrawVert};

/// The glyphs, and the white pixel that plain shapes are drawn with.
#[derive(Clone, Debug, Default)]
pub struct FontTexture {
    pub width: usize,
    pub height: usize,
    /// Coverage, a byte a pixel.
    pub alpha: Vec<u8>,
}

/// Draws the lists over the canvas. Positions are pixels of the canvas.
pub fn draw(canvas: &mut Canvas, draw: &DrawData, fonts: &FontTexture) {
    if fonts.alpha.len() < fonts.width * fonts.height || fonts.alpha.is_empty() {
        return;
    }
    for list in draw.draw_lists() {
        let (vertices, indices) = (list.vtx_buffer(), list.idx_buffer());
        for command in list.commands() {
            let DrawCmd::Elements { count, cmd_params } = command else { continue };
            let end = cmd_params.idx_offset + count;
            let Some(indices) = indices.get(cmd_params.idx_offset..end) else { continue };
            for corners in indices.chunks_exact(3) {
                let at = |k: usize| vertices.get(corners[k] as usize + cmd_params.vtx_offset);
                if let (Some(a), Some(b), Some(c)) = (at(0), at(1), at(2)) {
                    triangle(canvas, [a, b, c], cmd_params.clip_rect, fonts);
                }
            }
        }
    }
}

fn cross(a: [f32; 2], b: [f32; 2], p: [f32; 2]) -> f32 {
    (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
}

fn triangle(canvas: &mut Canvas, v: [&DrawVert; 3], clip: [f32; 4], fonts: &FontTexture) {
    let p = v.map(|v| v.pos);
    let area = cross(p[0], p[1], p[2]);
    if !(area.abs() > 1e-9 && area.is_finite()) {
        return;
    }
    let low = |k: usize| p[0][k].min(p[1][k]).min(p[2][k]).max(clip[k]).max(0.0);
    let high = |k: usize| p[0][k].max(p[1][k]).max(p[2][k]).min(clip[k + 2]);
    let (x0, y0) = (low(0).floor() as usize, low(1).floor() as usize);
    let x1 = (high(0).ceil().max(0.0) as usize).min(canvas.width() as usize);
    let y1 = (high(1).ceil().max(0.0) as usize).min(canvas.height() as usize);
    // A pixel on an edge belongs to one of two triangles: the one above or left of it.
    let owns = |a: [f32; 2], b: [f32; 2]| {
        let (dx, dy) = ((b[0] - a[0]) * area.signum(), (b[1] - a[1]) * area.signum());
        dy < 0.0 || (dy == 0.0 && dx > 0.0)
    };
    let edges = [(1, 2), (2, 0), (0, 1)];
    let owned = edges.map(|(a, b)| owns(p[a], p[b]));
    let width = canvas.width() as usize;
    for y in y0..y1 {
        for x in x0..x1 {
            let at = [x as f32 + 0.5, y as f32 + 0.5];
            let w = edges.map(|(a, b)| cross(p[a], p[b], at) / area);
            if (0..3).any(|k| w[k] < 0.0 || (w[k] == 0.0 && !owned[k])) {
                continue;
            }
            let mix =
                |f: &dyn Fn(&DrawVert) -> f32| w[0] * f(v[0]) + w[1] * f(v[1]) + w[2] * f(v[2]);
            let u = (mix(&|v| v.uv[0]) * fonts.width as f32) as usize;
            let t = (mix(&|v| v.uv[1]) * fonts.height as f32) as usize;
            let texel = t.min(fonts.height - 1) * fonts.width + u.min(fonts.width - 1);
            let alpha =
                mix(&|v| f32::from(v.col[3])) / 255.0 * f32::from(fonts.alpha[texel]) / 255.0;
            if alpha <= 0.0 {
                continue;
            }
            let pixel = &mut canvas.pixels[y * width + x];
            let mut bytes = pixel.to_be_bytes();
            for (k, value) in bytes[1..].iter_mut().enumerate() {
                let under = f32::from(*value);
                *value = (under + (mix(&|v| f32::from(v.col[k])) - under) * alpha + 0.5) as u8;
            }
            *pixel = u32::from_be_bytes(bytes);
        }
    }
}
