//! The event loop: events in, frames out.

use super::backends;
use super::input::Input;
use super::lost_display::{self, GONE};
use super::painter::Painting;
use super::physics::Command;
use super::queue::Waiting;
use super::script::{Progress, Script};
use super::settings::Settings;
use super::shown::Shown;
use super::state::Viewer;
use crate::cli::{PainterName, ViewArgs};
use crate::failure::Failure;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::window::WindowId;

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

struct App {
    viewer: Viewer,
    script: Option<Script>,
    shown: Option<Shown>,
    /// The painter that the command line asks for.
    painter: Option<PainterName>,
    end: Result<End, Failure>,
    drawn: Instant,
    touched: Instant,
    saved: (Instant, Settings),
    /// Something changed that has not been drawn.
    stale: bool,
}

/// Opens the viewer on a scene and stays until it is closed.
pub fn open(spec: &str, script: Option<Script>, args: &ViewArgs) -> Result<End, Failure> {
    let painter = args.painter;
    // What is not there is answered in the terminal, before a window opens.
    let backend = args.backend.as_deref().map(backends::named).transpose()?;
    let event_loop = match EventLoop::new() {
        Ok(event_loop) => event_loop,
        Err(error) => return Ok(End::NoWindow(error.to_string())),
    };
    let (settings, complaint) = Settings::load();
    let painting = Painting::new(painter.unwrap_or(settings.painter));
    let mut viewer = Viewer::new(settings.clone(), painting)
        .map_err(|e| Failure::Failed(format!("no thread for the simulation: {e}")))?;
    if let Some(complaint) = complaint {
        viewer.messages.say(complaint, true);
    }
    if let Some(threads) = args.threads {
        viewer.physics.send(Command::Threads(threads));
    }
    if let Some(backend) = backend {
        viewer.physics.send(Command::Backend(backend));
    }
    viewer.open_with(spec, &args.set);
    // A script says itself when time begins.
    viewer.play(script.is_none());
    let now = Instant::now();
    let mut app = App {
        viewer,
        script,
        shown: None,
        painter,
        end: Ok(End::Closed),
        drawn: now,
        touched: now,
        saved: (now, settings),
        stale: true,
    };
    let ran = lost_display::guard(|| event_loop.run_app(&mut app));
    app.keep_settings();
    match ran {
        Ok(Ok(())) => app.end,
        Ok(Err(error)) => Ok(End::NoWindow(error.to_string())),
        Err(why) => {
            // Nobody is left to give it back to.
            std::mem::forget(app.shown.take());
            Err(Failure::Failed(format!("{GONE} ({why})")))
        }
    }
}

impl App {
    fn draw(&mut self, event_loop: &ActiveEventLoop) {
        let Some(shown) = &mut self.shown else { return };
        let started = Instant::now();
        let since = started - self.drawn;
        self.drawn = started;
        let Some(size) = shown.size() else { return };
        self.viewer.update();
        let viewer = &mut self.viewer;
        // A script may report it before the panels are drawn.
        viewer.measure_density();
        let scale = shown.window.scale_factor() as f32 * viewer.settings.scale;
        if let Some(script) = &mut self.script {
            let io = shown.interface.context.io();
            match script.advance(viewer, io, &mut shown.inputs, &shown.window, scale) {
                Progress::Goes => {}
                Progress::Done => event_loop.exit(),
                Progress::Failed(why) => {
                    self.end = Err(Failure::Failed(why));
                    event_loop.exit();
                }
            }
        }
        if let Err(why) = shown.frame(viewer, size, scale, since) {
            self.end = Err(Failure::Failed(format!("nothing can paint into the window: {why}")));
            event_loop.exit();
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
            || viewer.starts().is_some()
            || viewer.compare.runs
            || self.shown.as_ref().is_some_and(|shown| !shown.inputs.is_empty())
            || viewer.pointer.is_busy()
            || viewer.screenshot.is_some()
            || viewer.recording.is_some()
            || self.touched.elapsed() < AFTERGLOW
    }

    /// Whether a frame that is drawn now would stay unseen.
    fn is_hidden(&self, shown: &Shown) -> bool {
        let watched = self.script.is_some()
            || self.viewer.recording.is_some()
            || self.viewer.wanted_pictures().any();
        shown.size().is_none() || !watched && shown.is_hidden()
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
        let shown = Shown::new(event_loop, &mut self.viewer);
        self.end = match (&shown, &self.viewer.painting.device) {
            (Err(why), _) => Ok(End::NoWindow(why.clone())),
            // If the command line asks for a painter by name, a missing painter is an error.
            (Ok(_), Err(why)) if self.painter == Some(PainterName::Vulkan) => {
                Err(Failure::Failed(format!("--painter vulkan: {why}")))
            }
            (Ok(_), _) => {
                self.shown = shown.ok();
                return;
            }
        };
        event_loop.exit();
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        match &event {
            WindowEvent::CloseRequested => return event_loop.exit(),
            // One that we closed ourselves is no longer shown.
            WindowEvent::Destroyed if self.shown.is_some() => {
                self.end = Err(Failure::Failed(GONE.into()));
                return event_loop.exit();
            }
            WindowEvent::RedrawRequested => return self.draw(event_loop),
            WindowEvent::Occluded(covered) => {
                if let Some(shown) = &mut self.shown {
                    shown.covered = *covered;
                }
            }
            WindowEvent::Resized(size) => {
                let size = [size.width, size.height];
                if let Some(shown) = &mut self.shown {
                    shown.inner_size = size;
                }
                if !size.contains(&0) {
                    self.viewer.settings.size = size;
                }
            }
            _ => {}
        }
        let Some(shown) = &mut self.shown else { return };
        self.touched = Instant::now();
        self.stale = true;
        // While a script drives the window, a mouse that lies over it must not disturb the script.
        let is_key = matches!(event, WindowEvent::KeyboardInput { .. });
        if is_key || Input::of(&event).is_some() {
            if self.script.as_ref().is_none_or(|script| script.gives_way()) {
                shown.inputs.push(Waiting::Window(event));
            }
            return;
        }
        shown.hear(id, event);
    }

    /// The painter and the window are dropped while the connection to the display still exists.
    fn exiting(&mut self, _: &ActiveEventLoop) {
        self.shown = None;
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(shown) = &self.shown else { return };
        let now = Instant::now();
        if self.is_hidden(shown) {
            self.viewer.update();
            self.stale = true;
            return event_loop.set_control_flow(ControlFlow::WaitUntil(now + IDLE));
        }
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
