//! Painted by the processor, shown by copying: any machine with a display can do that.

use super::{Painted, Shot, WindowPainter};
use crate::painter::{self, Canvas, Quality, ui};
use crate::viewer::bitmap;
use std::num::NonZeroU32;
use std::rc::Rc;
use winit::window::Window;

type Surface = softbuffer::Surface<Rc<Window>, Rc<Window>>;

pub struct Software {
    window: Rc<Window>,
    surface: Surface,
    painter: painter::Painter,
    /// All of the window.
    canvas: Canvas,
    /// The scene alone, where it is not all of the window or somebody wants it.
    scene: Canvas,
}

impl Software {
    pub fn new(window: &Rc<Window>) -> Result<Self, String> {
        let context = softbuffer::Context::new(Rc::clone(window)).map_err(|e| e.to_string())?;
        let surface = Surface::new(&context, Rc::clone(window)).map_err(|e| e.to_string())?;
        Ok(Software {
            window: Rc::clone(window),
            surface,
            painter: painter::Painter::new(Quality::LIVE),
            canvas: Canvas::default(),
            scene: Canvas::default(),
        })
    }

    fn paint_scene(&mut self, shot: &Shot) {
        let Shot { picture, view, .. } = shot;
        let [width, height] = view.size;
        if view.corner == [0, 0] && shot.size == view.size {
            self.painter.paint(picture, &view.camera, width, height, &mut self.canvas);
            if shot.wanted.scene {
                self.scene.clone_from(&self.canvas);
            }
            return;
        }
        self.painter.paint(picture, &view.camera, width, height, &mut self.scene);
        let [left, top] = view.corner;
        bitmap::blit(&self.scene, &mut self.canvas, [left as i32, top as i32]);
    }

    /// Puts the canvas on the screen.
    fn present(&mut self) -> Result<(), softbuffer::SoftBufferError> {
        let (width, height) = (self.canvas.width(), self.canvas.height());
        let (Some(w), Some(h)) = (NonZeroU32::new(width), NonZeroU32::new(height)) else {
            return Ok(());
        };
        self.surface.resize(w, h)?;
        let mut buffer = self.surface.buffer_mut()?;
        buffer.copy_from_slice(&self.canvas.pixels);
        self.window.pre_present_notify();
        buffer.present()
    }
}

impl WindowPainter for Software {
    fn show(&mut self, shot: &Shot) -> Result<Painted<'_>, String> {
        self.canvas.resize(shot.size[0], shot.size[1]);
        self.paint_scene(shot);
        let textures = &shot.textures;
        ui::draw_with(&mut self.canvas, shot.interface, textures.fonts, textures.images);
        // A surface lost while the display changes comes back with the next frame.
        self.present().map_err(|error| format!("the frame was not shown: {error}"))?;
        let wanted = shot.wanted;
        Ok(Painted {
            scene: wanted.scene.then_some(&self.scene),
            window: wanted.window.then_some(&self.canvas),
        })
    }
}
