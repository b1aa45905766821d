//! The finished picture: sRGB words and a depth per pixel, halving, and PNG.

use super::color::{decode, encode};
use std::io::{self, Write};

/// Pictures larger than this on a side are not made: 16 384² pixels already take 2.1 GB.
pub const SIDE_LIMIT: u32 = 16_384;

/// A painted picture, rows from the top.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Canvas {
    width: u32,
    height: u32,
    /// sRGB as 0x00RRGGBB, the words that a window takes.
    pub pixels: Vec<u32>,
    /// Depth in front of the eye [m]; infinite where only the background is seen.
    pub depth: Vec<f32>,
}

impl Canvas {
    /// A black canvas; sides are cut at `SIDE_LIMIT`.
    pub fn new(width: u32, height: u32) -> Self {
        let mut canvas = Self::default();
        canvas.resize(width, height);
        canvas
    }

    /// Changes the size and keeps the memory; what was painted is undefined afterwards.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.width = width.min(SIDE_LIMIT);
        self.height = height.min(SIDE_LIMIT);
        let pixels = self.width as usize * self.height as usize;
        self.pixels.resize(pixels, 0);
        self.depth.resize(pixels, f32::INFINITY);
    }

    /// Width [px].
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height [px].
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The sRGB colour of a pixel, or nothing outside the picture.
    pub fn color_at(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        Some(unpack(self.pixels[self.index(x, y)?]))
    }

    /// The depth of a pixel [m], or nothing outside the picture.
    #[cfg(test)]
    pub fn depth_at(&self, x: u32, y: u32) -> Option<f32> {
        Some(self.depth[self.index(x, y)?])
    }

    fn index(&self, x: u32, y: u32) -> Option<usize> {
        (x < self.width && y < self.height).then(|| y as usize * self.width as usize + x as usize)
    }

    /// Half the size: each pixel is the mean light of 2x2, which is how a picture painted at twice
    /// the size gets its smooth edges. An odd last row or column is dropped.
    pub fn halved(&self) -> Canvas {
        let mut small = Canvas::new(self.width / 2, self.height / 2);
        let stride = self.width as usize;
        for y in 0..small.height as usize {
            for x in 0..small.width as usize {
                let first = 2 * y * stride + 2 * x;
                let four = [first, first + 1, first + stride, first + stride + 1];
                let out = y * small.width as usize + x;
                let colors = four.map(|i| unpack(self.pixels[i]));
                small.pixels[out] = pack(std::array::from_fn(|channel| {
                    let light: f32 = colors.iter().map(|color| decode(color[channel])).sum();
                    encode(light * 0.25)
                }));
                small.depth[out] = four.iter().fold(f32::INFINITY, |d, &i| d.min(self.depth[i]));
            }
        }
        small
    }

    /// sRGB, three bytes a pixel.
    pub fn rgb(&self) -> Vec<u8> {
        self.pixels.iter().flat_map(|&pixel| unpack(pixel)).collect()
    }

    /// Writes the picture as an sRGB PNG.
    pub fn write_png<W: Write>(&self, out: W) -> io::Result<()> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb())?;
        writer.finish()?;
        Ok(())
    }
}

/// A colour as a word of the canvas.
#[inline(always)]
pub fn pack([r, g, b]: [u8; 3]) -> u32 {
    (r as u32) << 16 | (g as u32) << 8 | b as u32
}

/// The colour of a word of the canvas.
#[inline(always)]
pub fn unpack(pixel: u32) -> [u8; 3] {
    [(pixel >> 16) as u8, (pixel >> 8) as u8, pixel as u8]
}
