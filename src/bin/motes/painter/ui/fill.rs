//! Fills shapes row by row, within a band of rows.

use super::blend::Over;
use super::shape::{Paint, Ramp, Shape};
use super::texture::Texture;
use motes::simd::{Kernel, Simd};

/// A band of the canvas from row `top` on, and the shapes that touch it.
pub struct Band<'a> {
    pub top: usize,
    pub width: usize,
    pub pixels: &'a mut [u32],
    pub shapes: &'a [Shape<'a>],
    pub mine: &'a [u32],
}

impl Kernel for Band<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Simd>(self) {
        let Band { top, width, pixels, shapes, mine } = self;
        let end = top + pixels.len() / width;
        for &index in mine {
            let shape = &shapes[index as usize];
            let rows = shape.rows();
            for y in rows.start.max(top)..rows.end.min(end) {
                let Some((left, right)) = span(shape, y) else { continue };
                let start = (y - top) * width;
                let row = &mut pixels[start + left..start + right];
                match &shape.paint {
                    Paint::Plain(color) => Over::new(*color).over(row),
                    Paint::Textured { texture, tint, u, v } => {
                        textured(row, [left, y], texture, *tint, [u, v]);
                    }
                    Paint::Mixed { texture, channels, u, v } => {
                        mixed(row, [left, y], texture, channels, [u, v]);
                    }
                }
            }
        }
    }
}

/// First pixel of a shape in a row, and the one after its last.
#[inline(always)]
fn span(shape: &Shape, y: usize) -> Option<(usize, usize)> {
    let [mut left, mut right] = shape.clip.x;
    let Some(edges) = &shape.edges else { return Some((left as usize, right as usize)) };
    let y = y as i32;
    for edge in edges {
        match edge.crossing(y) {
            // A pixel more on each side, since crossings are rounded; looked at more closely below.
            Some((x, true)) => left = left.max(((x - 0.5).ceil() as i32).saturating_sub(1)),
            Some((x, false)) => right = right.min(((x - 0.5).ceil() as i32).saturating_add(2)),
            None => {}
        }
    }
    let holds = |x: i32| edges.iter().all(|edge| edge.holds(x, y));
    while left < right && !holds(left) {
        left += 1;
    }
    while left < right && !holds(right - 1) {
        right -= 1;
    }
    (left < right).then_some((left as usize, right as usize))
}

#[inline(always)]
fn textured(
    row: &mut [u32],
    [left, y]: [usize; 2],
    texture: &Texture,
    tint: [u8; 4],
    [u, v]: [&Ramp; 2],
) {
    for (x, pixel) in (left..).zip(row) {
        let color = texture.sample([u.at(x, y), v.at(x, y)], tint);
        if color[3] > 0 {
            *pixel = Over::new(color).on(*pixel);
        }
    }
}

#[inline(always)]
fn mixed(
    row: &mut [u32],
    [left, y]: [usize; 2],
    texture: &Texture,
    channels: &[Ramp; 4],
    [u, v]: [&Ramp; 2],
) {
    for (x, pixel) in (left..).zip(row) {
        // The cast cuts what a thin triangle may give beyond 0 to 255.
        let tint = channels.each_ref().map(|channel| (channel.at(x, y) + 0.5) as u8);
        let color = texture.sample([u.at(x, y), v.at(x, y)], tint);
        *pixel = Over::new(color).on(*pixel);
    }
}
