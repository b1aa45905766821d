//! The window: events in, pictures out.

use super::input::Input;
use super::interface::Interface;
use super::panels;
use super::script::{Progress, Script};
use super::settings::Settings;
use super::state::Viewer;
use crate::failure::Failure;
use crate::paint::{Canvas, SIDE_LIMIT, ui};
use std::num::NonZeroU32;
use std::rc::Rc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{Event, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::window::{Window, WindowId};

/// Between two frames while something moves.
const FRAME: Duration = Duration::from_micros(16_600);
/// Between two looks at the other threads while nothing does.
const IDLE: Duration = Duration::from_millis(50);
/// How long frames go on after an input: hovering and scrolling settle.
const AFTERGLOW: Duration = Duration::from_millis(300);

/// How it ended.
pub enum End {
    /// The user closed it.
    Closed,
    /// There was no window to open, and why.
    NoWindow(String),
}

type Surface = softbuffer::Surface<Rc<Window>, Rc<Window>>;

/// A window with all that draws into it.
struct Shown {
    window: Rc<Window>,
    surface: Surface,
    interface: Interface,
    canvas: Canvas,
}

struct App {
    viewer: Viewer,
    script: Option<Script>,
    shown: Option<Shown>,
    end: Result<End, Failure>,
    drawn: Instant,
    touched: Instant,
    saved: (Instant, Settings),
    /// Something changed that has not been drawn.
    stale: bool,
}

/// Opens the viewer on a scene and stays until it is closed.
pub fn open(spec: &str, script: Option<Script>) -> Result<End, Failure> {
    let event_loop = match EventLoop::new() {
        Ok(event_loop) => event_loop,
        Err(error) => return Ok(End::NoWindow(error.to_string())),
    };
    let (settings, complaint) = Settings::load();
    let mut viewer = Viewer::new(settings.clone())
        .map_err(|e| Failure::Failed(format!("no thread for the simulation: {e}")))?;
    if let Some(complaint) = complaint {
        viewer.messages.say(complaint, true);
    }
    viewer.open(spec);
    // A script says itself when time begins.
    viewer.play(script.is_none());
    let now = Instant::now();
    let mut app = App {
        viewer,
        script,
        shown: None,
        end: Ok(End::Closed),
        drawn: now,
        touched: now,
        saved: (now, settings),
        stale: true,
    };
    if let Err(error) = event_loop.run_app(&mut app) {
        return Ok(End::NoWindow(error.to_string()));
    }
    app.keep_settings();
    app.end
}

impl Shown {
    fn new(event_loop: &ActiveEventLoop, [width, height]: [u32; 2]) -> Result<Self, String> {
        let attributes = Window::default_attributes()
            .with_title("motes")
            .with_inner_size(PhysicalSize::new(width, height))
            .with_min_inner_size(PhysicalSize::new(320, 240));
        let window = Rc::new(event_loop.create_window(attributes).map_err(|e| e.to_string())?);
        let context = softbuffer::Context::new(Rc::clone(&window)).map_err(|e| e.to_string())?;
        let surface = Surface::new(&context, Rc::clone(&window)).map_err(|e| e.to_string())?;
        let interface = Interface::new(&window);
        Ok(Shown { window, surface, interface, canvas: Canvas::default() })
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

impl App {
    fn draw(&mut self, event_loop: &ActiveEventLoop) {
        let Some(shown) = &mut self.shown else { return };
        let size = shown.window.inner_size();
        let (width, height) = (size.width.min(SIDE_LIMIT), size.height.min(SIDE_LIMIT));
        if width == 0 || height == 0 {
            return;
        }
        let started = Instant::now();
        let since = started - self.drawn;
        self.drawn = started;
        let fresh = self.viewer.update();
        let viewer = &mut self.viewer;
        let scale = shown.window.scale_factor() as f32 * viewer.settings.scale;
        if let Some(script) = &mut self.script {
            let io = shown.interface.context.io_mut();
            match script.advance(viewer, io, &shown.window, scale) {
                Progress::Goes => {}
                Progress::Done => event_loop.exit(),
                Progress::Failed(why) => {
                    self.end = Err(Failure::Failed(why));
                    event_loop.exit();
                }
            }
        }
        shown.interface.adapt(scale, viewer.settings.dark);
        let Interface { context, platform, texture, .. } = &mut shown.interface;
        let io = context.io_mut();
        io.display_size = [width as f32, height as f32];
        io.update_delta_time(since.max(Duration::from_micros(100)));
        viewer.fly(since.as_secs_f32());
        let ui = context.new_frame();
        panels::draw(ui, viewer, scale);
        platform.prepare_render(ui, &shown.window);
        shown.canvas.resize(width, height);
        viewer.paint(&mut shown.canvas);
        let images = viewer.thumbnails.images();
        ui::draw_with(&mut shown.canvas, context.render(), texture, images);
        viewer.keep_picture(&shown.canvas, fresh);
        if let Err(error) = shown.present() {
            // A surface lost while the display changes comes back with the next frame.
            viewer.messages.say(format!("the frame was not shown: {error}"), true);
        }
        self.stale = false;
        viewer.rate.tick(started.elapsed(), viewer.pointer.flies());
        if self.saved.0.elapsed() > Duration::from_secs(3) {
            self.keep_settings();
        }
    }

    fn is_busy(&self) -> bool {
        let viewer = &self.viewer;
        viewer.playing
            || self.script.is_some()
            || viewer.loading.is_some()
            || viewer.pointer.is_busy()
            || viewer.screenshot.is_some()
            || self.touched.elapsed() < AFTERGLOW
    }

    fn keep_settings(&mut self) {
        self.saved.0 = Instant::now();
        if self.saved.1 != self.viewer.settings {
            self.saved.1 = self.viewer.settings.clone();
            if let Err(why) = self.viewer.settings.save() {
                self.viewer.messages.say(why, true);
            }
        }
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.shown.is_some() {
            return;
        }
        match Shown::new(event_loop, self.viewer.settings.size) {
            Ok(shown) => self.shown = Some(shown),
            Err(why) => {
                self.end = Ok(End::NoWindow(why));
                event_loop.exit();
            }
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        match &event {
            WindowEvent::CloseRequested => return event_loop.exit(),
            WindowEvent::RedrawRequested => return self.draw(event_loop),
            WindowEvent::Resized(size) if size.width > 0 && size.height > 0 => {
                self.viewer.settings.size = [size.width, size.height];
            }
            _ => {}
        }
        let Some(shown) = &mut self.shown else { return };
        self.touched = Instant::now();
        self.stale = true;
        // Whoever drives by script must not be disturbed by a mouse that happens to be there.
        let input = Input::of(&event);
        if self.script.as_ref().is_some_and(|s| !s.gives_way()) && input.is_some() {
            return;
        }
        let Interface { context, platform, .. } = &mut shown.interface;
        let io = context.io_mut();
        let (mouse, keys) = (io.want_capture_mouse, io.want_text_input);
        if let Some(input) = input {
            self.viewer.input(input, mouse, keys);
        }
        let event: Event<()> = Event::WindowEvent { window_id: id, event };
        platform.handle_event(io, &shown.window, &event);
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(shown) = &self.shown else { return };
        let now = Instant::now();
        if !(self.is_busy() || self.stale) {
            self.stale = self.viewer.update();
            event_loop.set_control_flow(ControlFlow::WaitUntil(now + IDLE));
            if !self.stale {
                return;
            }
        }
        let due = self.drawn + FRAME;
        if now >= due {
            shown.window.request_redraw();
        }
        event_loop
            .set_control_flow(ControlFlow::WaitUntil(due.max(now + Duration::from_millis(1))));
    }
}
