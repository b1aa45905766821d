//! Pictures of the scenes at the size they are shown in; imgui's texture n is the n-th scene's.

use super::bitmap;
use super::catalog::Entry;
use crate::painter::ui::Image;
use imgui::TextureId;

/// The pictures, made anew when the size changes.
#[derive(Default)]
pub struct Thumbnails {
    size: [u32; 2],
    images: Vec<Image>,
    /// How often they were made.
    pub version: u64,
}

impl Thumbnails {
    /// Makes them fit.
    pub fn fit(&mut self, entries: &[Entry], size: [u32; 2]) {
        if self.size == size && self.images.len() == entries.len() {
            return;
        }
        let image = |entry: &Entry| match &entry.picture {
            Some(picture) => Image::from(&bitmap::scaled(picture, size[0], size[1])),
            None => Image::default(),
        };
        self.images = entries.iter().map(image).collect();
        self.size = size;
        self.version += 1;
    }

    /// For the painter.
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// What imgui calls a scene's picture; texture 0 is the font.
    pub fn texture(entry: usize) -> TextureId {
        TextureId::new(entry + 1)
    }
}
