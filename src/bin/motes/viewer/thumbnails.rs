//! Pictures of the scenes in their panel. They are painted below imgui, which knows one texture
//! only; the panel leaves its background to them.

use super::bitmap::{self, Clip};
use super::panels::Area;
use crate::paint::Canvas;

/// The pictures, and where they are to be painted in this frame.
#[derive(Default)]
pub struct Thumbnails {
    back: Option<(Clip, [u8; 3])>,
    shown: Vec<(usize, [i32; 2], Clip)>,
    /// Pictures at the size they were last shown in.
    scaled: Vec<Option<Canvas>>,
    size: [u32; 2],
}

impl Thumbnails {
    /// Begins a frame with the background of the panel.
    pub fn clear(&mut self, [left, top, width, height]: Area, color: [f32; 4]) {
        let clip = [left, top, left + width, top + height].map(|v| v as i32);
        let color = std::array::from_fn(|k| (color[k] * 255.0 + 0.5) as u8);
        self.back = (width > 0.0).then_some((clip, color));
        self.shown.clear();
    }

    /// Shows a picture in this frame.
    pub fn show(&mut self, entry: usize, picture: &Canvas, area: Area, clip: Clip) {
        let [left, top, width, height] = area;
        let size = [width as u32, height as u32];
        if self.size != size {
            self.scaled.clear();
            self.size = size;
        }
        if self.scaled.len() <= entry {
            self.scaled.resize(entry + 1, None);
        }
        self.scaled[entry].get_or_insert_with(|| bitmap::scaled(picture, size[0], size[1]));
        self.shown.push((entry, [left as i32, top as i32], clip));
    }

    /// Paints them.
    pub fn paint(&self, canvas: &mut Canvas) {
        let Some((area, color)) = self.back else { return };
        bitmap::fill(canvas, area, color);
        for (entry, at, clip) in &self.shown {
            if let Some(Some(picture)) = self.scaled.get(*entry) {
                bitmap::blit(picture, canvas, *at, *clip);
            }
        }
    }
}
