//! Lines and letters on a small picture, for plots.

use crate::commands::plot::font;
use crate::commands::plot::{Point, Stroke};
use std::io::{self, Write};

/// sRGB pixels on white.
pub struct Raster {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Raster {
    pub fn new(width: usize, height: usize) -> Self {
        Raster { width, height, rgb: vec![255; width * height * 3] }
    }

    #[cfg(test)]
    pub fn color_at(&self, x: usize, y: usize) -> [u8; 3] {
        let i = (y * self.width + x) * 3;
        [self.rgb[i], self.rgb[i + 1], self.rgb[i + 2]]
    }

    /// Connects the points, with dashes that run on around corners.
    pub fn polyline(&mut self, points: &[Point], stroke: &Stroke) {
        let mut walked = 0.0;
        for pair in points.windows(2) {
            let ([ax, ay], [bx, by]) = (pair[0], pair[1]);
            let length = (bx - ax).hypot(by - ay);
            let at = |s: f32| {
                let t = if length > 0.0 { s / length } else { 0.0 };
                [ax + (bx - ax) * t, ay + (by - ay) * t]
            };
            match stroke.dash {
                None => self.segment(pair[0], pair[1], stroke),
                Some([on, off]) => {
                    let period = on + off;
                    let mut dash = (walked / period).floor() * period;
                    while dash < walked + length {
                        let (start, end) = (dash.max(walked), (dash + on).min(walked + length));
                        if start < end {
                            self.segment(at(start - walked), at(end - walked), stroke);
                        }
                        dash += period;
                    }
                }
            }
            walked += length;
        }
    }

    /// One straight piece; the share of a pixel that is covered is judged by its distance.
    fn segment(&mut self, a: Point, b: Point, stroke: &Stroke) {
        let reach = stroke.width / 2.0 + 1.0;
        let range = |from: f32, to: f32, size: usize| {
            let low = (from.min(to) - reach).floor().max(0.0) as usize;
            let high = (from.max(to) + reach).ceil().clamp(0.0, size as f32) as usize;
            low.min(high)..high
        };
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length_sq = (dx * dx + dy * dy).max(1e-12);
        for y in range(a[1], b[1], self.height) {
            for x in range(a[0], b[0], self.width) {
                let (px, py) = (x as f32 + 0.5 - a[0], y as f32 + 0.5 - a[1]);
                let t = ((px * dx + py * dy) / length_sq).clamp(0.0, 1.0);
                let distance = (px - dx * t).hypot(py - dy * t);
                self.blend(x, y, stroke.color, stroke.width / 2.0 + 0.5 - distance);
            }
        }
    }

    fn blend(&mut self, x: usize, y: usize, color: [u8; 3], cover: f32) {
        let cover = cover.clamp(0.0, 1.0);
        let i = (y * self.width + x) * 3;
        for (old, new) in self.rgb[i..i + 3].iter_mut().zip(color) {
            *old = (f32::from(*old) + (f32::from(new) - f32::from(*old)) * cover).round() as u8;
        }
    }

    /// Writes words with their upper left corner at `at`; characters without a letter are gaps.
    pub fn text(&mut self, at: Point, scale: usize, color: [u8; 3], text: &str) {
        for (k, letter) in text.chars().enumerate() {
            for (row, bits) in font::rows(letter).iter().enumerate() {
                for column in (0..5).filter(|c| bits >> (4 - c) & 1 == 1) {
                    for pixel in 0..scale * scale {
                        let x = at[0] + ((k * 6 + column) * scale + pixel % scale) as f32;
                        let y = at[1] + (row * scale + pixel / scale) as f32;
                        if x >= 0.0 && y >= 0.0 && x < self.width as f32 && y < self.height as f32 {
                            self.blend(x as usize, y as usize, color, 1.0);
                        }
                    }
                }
            }
        }
    }

    pub fn write_png(&self, out: impl Write) -> io::Result<()> {
        let mut encoder = png::Encoder::new(out, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        Ok(())
    }
}
