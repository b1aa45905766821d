//! What paints the window: the processor, or a Vulkan device. Both take the same shot, so that one
//! can follow the other between two frames.

mod software;
#[cfg(feature = "vulkan")]
mod vulkan;

use super::backends;
use super::physics::{Gpu, Moment};
use super::pictures::Frame;
use super::view::View;
use crate::cli::PainterName;
use crate::painter::ui::{FontTexture, Image};
use crate::painter::{Canvas, Picture};
use imgui::DrawData;
use software::Software;
use std::rc::Rc;
use winit::window::Window;

/// Paints into a window.
pub trait WindowPainter {
    /// Paints the scene into its part of the window and the interface over it, and shows the
    /// result; gives the pictures that the shot asks for, too.
    fn show(&mut self, shot: &Shot) -> Result<Painted<'_>, String>;

    /// The device that it paints with, so that the simulation can share it.
    fn gpu(&self) -> Gpu {
        Gpu::default()
    }
}

/// The whole window as it is to be seen next.
pub struct Shot<'a> {
    /// Width and height, none of them 0 [px].
    pub size: [u32; 2],
    pub picture: &'a Picture,
    /// What the picture shows. Where the positions of its particles are on a device, they are the
    /// first spheres of the picture, in their order.
    #[cfg_attr(not(feature = "vulkan"), expect(dead_code))]
    pub moment: &'a Moment,
    pub view: &'a View,
    pub interface: &'a DrawData,
    pub textures: Textures<'a>,
    /// Which pictures are to be handed back.
    pub wanted: Wanted,
    /// What a test wants the painter to treat as lost.
    #[cfg_attr(not(feature = "vulkan"), expect(dead_code))]
    pub lost: Option<Lost>,
}

/// Which finished pictures somebody waits for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// The scene without the interface.
    pub scene: bool,
    /// The window as it is shown.
    pub window: bool,
}

impl Wanted {
    pub fn any(self) -> bool {
        self.scene || self.window
    }
}

/// Finished pictures.
#[derive(Default)]
pub struct Painted<'a> {
    pub scene: Option<&'a Canvas>,
    pub window: Option<&'a Canvas>,
}

impl Painted<'_> {
    pub fn of(&self, frame: Frame) -> Option<&Canvas> {
        match frame {
            Frame::Scene => self.scene,
            Frame::Window => self.window,
        }
    }
}

/// What the window system or the driver may take away at any time. A test takes it on purpose.
#[derive(Clone, Copy, Debug)]
pub enum Lost {
    Surface,
    Device,
}

/// What the interface is drawn with: texture 0 is the font, n is `images[n - 1]`.
#[derive(Clone, Copy)]
pub struct Textures<'a> {
    pub fonts: &'a FontTexture,
    pub images: &'a [Image],
    /// How often the font and the images were made anew.
    #[cfg_attr(not(feature = "vulkan"), expect(dead_code))]
    pub version: [u64; 2],
}

/// What the viewer knows of its painters.
pub struct Painting {
    /// What the user wants.
    pub wanted: PainterName,
    /// What is in use: software or Vulkan.
    pub used: PainterName,
    /// The device of a Vulkan painter, or why there is none.
    pub device: Result<String, String>,
    /// What the next frame treats as lost.
    pub lost: Option<Lost>,
    /// The device that is opened after this frame.
    pub starting: Option<String>,
}

impl Painting {
    pub fn new(wanted: PainterName) -> Self {
        // Only opening the device shows whether it works; this is the best guess until then.
        let device = backends::best_device().map(|(name, _)| name.into());
        let device = device.map_err(|why| why.replace("--backend cpu", "--painter software"));
        Painting { wanted, used: PainterName::Software, device, lost: None, starting: None }
    }

    /// What the user reads of a painter.
    pub fn label(&self, painter: PainterName) -> String {
        match (painter, &self.device) {
            (PainterName::Vulkan, Ok(name)) => format!("vulkan: {name}"),
            (PainterName::Vulkan, Err(_)) => "vulkan".into(),
            _ => "software".into(),
        }
    }

    /// Whether the painter that is wanted will try a Vulkan device.
    pub fn tries_vulkan(&self) -> bool {
        match self.wanted {
            PainterName::Auto => auto().is_ok(),
            PainterName::Vulkan => true,
            PainterName::Software => false,
        }
    }

    /// The window stands still while a device is opened. True when a frame has to say so first.
    pub fn announce(&mut self) -> bool {
        let first = self.starting.is_none() && self.tries_vulkan();
        self.starting = first.then(|| self.label(PainterName::Vulkan));
        first
    }

    /// Vulkan failed: software paints from now on, until the user chooses Vulkan again.
    pub fn give_up_vulkan(&mut self) {
        self.wanted = PainterName::Software;
    }
}

/// Makes the painter that is wanted. Where Vulkan cannot be had it is software, and the reason is
/// in `painting`; an error when nothing can paint into this window.
pub fn make(
    window: &Rc<Window>,
    painting: &mut Painting,
) -> Result<Box<dyn WindowPainter>, String> {
    if painting.tries_vulkan() {
        match open_vulkan(window) {
            // The card cannot show on this display, but a device in software can.
            Ok((_, _, false)) if painting.wanted == PainterName::Auto => {}
            Ok((painter, name, _)) => {
                painting.device = Ok(name);
                painting.used = PainterName::Vulkan;
                return Ok(painter);
            }
            Err(why) => {
                painting.device = Err(why);
                painting.give_up_vulkan();
            }
        }
    }
    painting.used = PainterName::Software;
    Ok(Box::new(Software::new(window)?))
}

/// A Vulkan painter, the name of its device, and whether that is a graphics card.
type Opened = (Box<dyn WindowPainter>, String, bool);

#[cfg(feature = "vulkan")]
fn open_vulkan(window: &Rc<Window>) -> Result<Opened, String> {
    let (painter, device, card) = vulkan::Vulkan::new(window)?;
    Ok((Box::new(painter), device, card))
}

#[cfg(not(feature = "vulkan"))]
fn open_vulkan(_: &Rc<Window>) -> Result<Opened, String> {
    Err(backends::NOT_BUILT.into())
}

/// The device that `auto` would paint with, or why it takes software: a device that is software
/// itself is slower than the software painter.
pub fn auto() -> Result<&'static str, String> {
    match backends::best_device()? {
        (name, true) => Ok(name),
        (name, false) => Err(format!("{name} is no graphics card")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_that_a_device_is_opened_before_it_is() {
        let mut painting = Painting::new(PainterName::Software);
        assert!(!painting.announce(), "software is there at once");
        painting.wanted = PainterName::Vulkan;
        assert!(painting.announce());
        assert!(painting.starting.as_ref().is_some_and(|name| name.contains("vulkan")));
        assert!(!painting.announce() && painting.starting.is_none(), "then it is opened");
    }
}
