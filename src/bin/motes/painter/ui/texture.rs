//! What shapes are drawn with: the font's coverage, and pictures.

use crate::painter::canvas::{Canvas, unpack};

/// The glyphs, and the white pixel that plain shapes are drawn with.
#[derive(Clone, Debug, Default)]
pub struct FontTexture {
    pub width: usize,
    pub height: usize,
    /// Coverage, a byte a pixel.
    pub alpha: Vec<u8>,
}

/// A picture that the interface shows.
#[derive(Clone, Debug, Default)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    /// sRGB and opacity of each pixel.
    pub rgba: Vec<[u8; 4]>,
}

impl From<&Canvas> for Image {
    fn from(canvas: &Canvas) -> Self {
        let opaque = |&pixel: &u32| {
            let [r, g, b] = unpack(pixel);
            [r, g, b, 255]
        };
        Self {
            width: canvas.width() as usize,
            height: canvas.height() as usize,
            rgba: canvas.pixels.iter().map(opaque).collect(),
        }
    }
}

/// All textures of a frame.
pub struct Textures<'a> {
    fonts: Texture<'a>,
    images: &'a [Image],
}

impl<'a> Textures<'a> {
    /// Nothing when the font is not whole: then there is nothing to draw with.
    pub fn new(fonts: &'a FontTexture, images: &'a [Image]) -> Option<Self> {
        let fonts = Texture::new(fonts.width, fonts.height, Texels::Coverage(&fonts.alpha))?;
        Some(Self { fonts, images })
    }

    pub fn get(&self, id: usize) -> Option<Texture<'a>> {
        if id == 0 {
            return Some(self.fonts);
        }
        let image = self.images.get(id - 1)?;
        Texture::new(image.width, image.height, Texels::Color(&image.rgba))
    }
}

#[derive(Clone, Copy)]
enum Texels<'a> {
    Coverage(&'a [u8]),
    Color(&'a [[u8; 4]]),
}

/// A texture that has all its texels.
#[derive(Clone, Copy)]
pub struct Texture<'a> {
    width: usize,
    height: usize,
    texels: Texels<'a>,
}

impl<'a> Texture<'a> {
    fn new(width: usize, height: usize, texels: Texels<'a>) -> Option<Self> {
        let count = match texels {
            Texels::Coverage(texels) => texels.len(),
            Texels::Color(texels) => texels.len(),
        };
        let whole = width > 0 && width.checked_mul(height) == Some(count) && count > 0;
        whole.then_some(Self { width, height, texels })
    }

    /// Width and height [texels].
    pub fn size(&self) -> [f32; 2] {
        [self.width as f32, self.height as f32]
    }

    /// The colour at a place in texels, mixed from the four around it; `tint` colours it.
    #[inline(always)]
    pub fn sample(&self, place: [f32; 2], tint: [u8; 4]) -> [u8; 4] {
        let (x, part_x) = neighbors(place[0], self.width);
        let (y, part_y) = neighbors(place[1], self.height);
        let (above, below) = (y[0] * self.width, y[1] * self.width);
        let at = [above + x[0], above + x[1], below + x[0], below + x[1]];
        match self.texels {
            Texels::Coverage(texels) => {
                let [r, g, b, a] = tint;
                let share = mix([part_x, part_y], at.map(|i| texels[i]));
                [r, g, b, scaled(a, share)]
            }
            Texels::Color(texels) => {
                let four = at.map(|i| texels[i]);
                std::array::from_fn(|k| {
                    scaled(tint[k], mix([part_x, part_y], four.map(|texel| texel[k])))
                })
            }
        }
    }
}

/// Four bytes mixed by parts of 256 of the way across and down.
#[inline(always)]
fn mix([x, y]: [u32; 2], [a, b, c, d]: [u8; 4]) -> u32 {
    let above = a as u32 * (256 - x) + b as u32 * x;
    let below = c as u32 * (256 - x) + d as u32 * x;
    (above * (256 - y) + below * y + (1 << 15)) >> 16
}

/// A byte times a share of 255, rounded.
#[inline(always)]
fn scaled(value: u8, share: u32) -> u8 {
    ((value as u32 * share + 127) / 255) as u8
}

/// The texels on both sides of a place, and the way from one to the other in parts of 256.
#[inline(always)]
fn neighbors(place: f32, count: usize) -> ([usize; 2], u32) {
    let last = count as f32 - 1.0;
    let at = (place - 0.5).clamp(0.0, last);
    let first = at as usize;
    let part = ((at - first as f32) * 256.0 + 0.5) as u32;
    ([first.min(count - 1), (first + 1).min(count - 1)], part)
}
