//! The window: what it is made of, and how a frame gets into it.

use super::interface::Interface;
use super::painter::{self, Shot, Textures, WindowPainter};
use super::panels;
use super::physics::Command;
use super::state::Viewer;
use crate::cli::PainterName;
use crate::painter::SIDE_LIMIT;
use std::rc::Rc;
use std::time::Duration;
use winit::dpi::PhysicalSize;
use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

/// A kept size, cut to the screen: the one it was made for may be gone.
fn on_screen(event_loop: &ActiveEventLoop, [width, height]: [u32; 2]) -> [u32; 2] {
    let screen = event_loop.primary_monitor().or_else(|| event_loop.available_monitors().next());
    match screen.map(|screen| screen.size()) {
        Some(screen) if screen.width > 0 && screen.height > 0 => {
            [width.min(screen.width), height.min(screen.height)]
        }
        _ => [width, height],
    }
}

/// A window with all that draws into it.
pub struct Shown {
    /// Goes before the window.
    painter: Option<Box<dyn WindowPainter>>,
    /// What the user wanted when it was made.
    made_for: PainterName,
    pub interface: Interface,
    pub window: Rc<Window>,
    /// Nothing of it can be seen, says the window system.
    pub covered: bool,
}

impl Shown {
    pub fn new(event_loop: &ActiveEventLoop, viewer: &mut Viewer) -> Result<Self, String> {
        let [width, height] = on_screen(event_loop, viewer.settings.size);
        let attributes = Window::default_attributes()
            .with_title("motes")
            .with_inner_size(PhysicalSize::new(width, height))
            .with_min_inner_size(PhysicalSize::new(320, 240));
        let window = Rc::new(event_loop.create_window(attributes).map_err(|e| e.to_string())?);
        let interface = Interface::new(&window);
        let made_for = viewer.painting.wanted;
        let mut shown = Shown { painter: None, made_for, interface, window, covered: false };
        shown.take_painter(viewer)?;
        Ok(shown)
    }

    /// Lets the painter that is wanted take over; where it cannot, software does, and says so.
    fn take_painter(&mut self, viewer: &mut Viewer) -> Result<(), String> {
        let wanted = viewer.painting.wanted;
        // One at a time has the window.
        self.painter = None;
        let painter = painter::make(&self.window, &mut viewer.painting)?;
        viewer.physics.send(Command::Share(painter.gpu()));
        self.painter = Some(painter);
        self.made_for = viewer.painting.wanted;
        if let Err(why) = &viewer.painting.device
            && wanted != PainterName::Software
        {
            let text = format!("painted in software: {why}");
            viewer.messages.say(text, wanted == PainterName::Vulkan);
        }
        Ok(())
    }

    /// Whether it is covered or put away.
    pub fn is_hidden(&self) -> bool {
        self.covered || self.window.is_minimized() == Some(true)
    }

    /// The size to draw, or nothing when it has none.
    pub fn size(&self) -> Option<[u32; 2]> {
        let size = self.window.inner_size();
        let size = [size.width.min(SIDE_LIMIT), size.height.min(SIDE_LIMIT)];
        (!size.contains(&0)).then_some(size)
    }

    /// Draws everything once. An error when nothing can paint here at all.
    pub fn frame(
        &mut self,
        viewer: &mut Viewer,
        size: [u32; 2],
        scale: f32,
        since: Duration,
    ) -> Result<(), String> {
        if self.made_for != viewer.painting.wanted {
            self.take_painter(viewer)?;
        }
        self.interface.adapt(scale, viewer.settings.dark);
        let Interface { context, platform, texture, version, .. } = &mut self.interface;
        let io = context.io_mut();
        io.display_size = size.map(|side| side as f32);
        io.update_delta_time(since.max(Duration::from_micros(100)));
        viewer.fly(since.as_secs_f32());
        let ui = context.new_frame();
        panels::draw(ui, viewer, scale);
        platform.prepare_render(ui, &self.window);
        viewer.build_scenery();
        let shot = Shot {
            size,
            picture: &viewer.scenery.picture,
            moment: &viewer.moment,
            view: &viewer.view,
            interface: context.render(),
            textures: Textures {
                fonts: texture,
                images: viewer.thumbnails.images(),
                version: [*version, viewer.thumbnails.version],
            },
            wanted: viewer.wanted_pictures(),
            lost: viewer.painting.lost.take(),
        };
        viewer.rate.straight += u64::from(!viewer.moment.is_here());
        match self.painter.as_mut().map(|painter| painter.show(&shot)) {
            Some(Ok(painted)) => viewer.keep_pictures(&painted),
            Some(Err(why)) => viewer.painter_failed(why),
            None => {}
        }
        Ok(())
    }
}
