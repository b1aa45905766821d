//! All that the viewer knows between two frames.

use super::answers::Answers;
use super::catalog::Catalog;
use super::colors::ColorBy;
use super::comparison::{Comparison, Going};
use super::convergence::Curve;
use super::history::History;
use super::messages::{Messages, Note};
use super::outline::Outlines;
use super::painter::Painting;
use super::panels::parameters::Pending;
use super::panels::profile::Profile;
use super::physics::{Command, Moment, Physics, Placement};
use super::pictures::{Frame, Recording};
use super::pointer::Pointer;
use super::recorder::Recorder;
use super::scenery::{Marks, Scenery};
use super::settings::Settings;
use super::thumbnails::Thumbnails;
use super::view::View;
use super::watch::Watch;
use crate::cli::PainterName;
use crate::commands::render;
use crate::painter::picture::is_fluid;
use motes::Params;
use motes::search::Search;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The state of the viewer.
pub struct Viewer {
    pub physics: Physics,
    pub recorder: Recorder,
    /// The newest moment of the simulation.
    pub moment: Box<Moment>,
    pub scenery: Scenery,
    pub view: View,
    pub pointer: Pointer,
    pub settings: Settings,
    pub history: History,
    pub messages: Messages,
    pub catalog: Catalog,
    pub thumbnails: Thumbnails,
    pub profile: Profile,
    pub placement: Placement,
    pub outlines: Outlines,
    /// Whether what is to be placed follows the pointer.
    pub aiming: bool,
    /// Whether the panel Place is open, so that the scene shows where.
    pub placing: bool,
    pub convergence: Convergence,
    pub compare: Compare,
    /// What the user wants. The moment tells what the simulation really does.
    pub playing: bool,
    pub selected: Option<u64>,
    /// The number of the selected obstacle.
    pub obstacle: Option<usize>,
    pub help: bool,
    /// Parameters that were set and that no frame has shown yet.
    pub pending: Pending,
    /// A scene that is being loaded.
    pub loading: Option<String>,
    /// The device that the simulation is opening.
    pub starting: Option<String>,
    /// Whether a script looks at the particles.
    pub watched: bool,
    /// Where the next finished picture goes, and what is on it.
    pub screenshot: Option<(PathBuf, Frame)>,
    pub recording: Option<Recording>,
    /// Frames drawn a second.
    pub rate: Rate,
    /// What densities are measured with, while they are shown.
    search: Option<Search>,
    /// The scene's files, in case they change.
    watch: Watch,
    pub painting: Painting,
}

/// What the panel Compare shows.
pub struct Compare {
    pub steps: u32,
    /// Whether more is to come.
    pub runs: bool,
    pub going: Option<Going>,
    pub result: Option<Box<Comparison>>,
}

/// What the panel Convergence shows.
pub struct Convergence {
    pub curve: Option<Box<Curve>>,
    pub iterations: u32,
    pub live: bool,
    /// When it was last asked for.
    asked: Option<Instant>,
    /// Whether the answer is still to come.
    waits: bool,
}

impl Convergence {
    fn new() -> Self {
        Convergence { curve: None, iterations: 40, live: true, asked: None, waits: false }
    }

    /// Whether it is time to measure again.
    pub fn due(&self, every: Duration) -> bool {
        // An answer that never comes (an error) must not stop all others.
        let patience = if self.waits { Duration::from_secs(10) } else { every };
        self.asked.is_none_or(|at| at.elapsed() >= patience)
    }
}

impl Viewer {
    pub fn new(settings: Settings, painting: Painting) -> std::io::Result<Self> {
        let physics = Physics::start(settings.threads)?;
        physics.send(Command::Speed(settings.speed));
        Ok(Viewer {
            physics,
            recorder: Recorder::start()?,
            moment: Box::default(),
            scenery: Scenery::default(),
            view: View::default(),
            pointer: Pointer::default(),
            settings,
            history: History::default(),
            messages: Messages::default(),
            catalog: Catalog::new(),
            thumbnails: Thumbnails::default(),
            profile: Profile::default(),
            placement: Placement::default(),
            outlines: Outlines::default(),
            aiming: false,
            placing: false,
            convergence: Convergence::new(),
            compare: Compare { steps: 60, runs: false, going: None, result: None },
            playing: false,
            selected: None,
            obstacle: None,
            help: false,
            pending: Pending::default(),
            loading: None,
            starting: None,
            watched: false,
            screenshot: None,
            recording: None,
            rate: Rate::default(),
            search: None,
            watch: Watch::default(),
            painting,
        })
    }

    /// Takes the results that the other threads have finished. True when there is something new to
    /// draw.
    pub fn update(&mut self) -> bool {
        self.catalog.update();
        self.physics.look(self.looks());
        let fresh = self.physics.take(&mut self.moment);
        for sample in self.physics.samples() {
            self.history.push(sample);
        }
        let notes: Vec<Note> = self.physics.notes().chain(self.recorder.notes()).collect();
        let told = !notes.is_empty();
        if self.playing && !self.physics.alive() {
            self.playing = false;
            let text =
                "the simulation ended by an error of its own; open a scene to start it again";
            self.messages.say(text.into(), true);
        }
        for note in notes {
            match note {
                Note::Info(text) => self.messages.say(text, false),
                Note::Error(text) => {
                    self.loading = None;
                    self.messages.say(text, true);
                }
                Note::Stopped(text) => {
                    self.playing = false;
                    self.messages.say(text, true);
                }
                Note::Starting(device) => self.starting = device,
                Note::Compared(Ok(mut known)) => {
                    self.compare.going = known.going.take();
                    self.compare.runs = self.compare.going.is_some();
                    // A comparison that was stopped at once leaves the last result on the screen.
                    if !known.runs.is_empty() {
                        self.compare.result = Some(known);
                    }
                }
                Note::Compared(Err(why)) => self.messages.say(why, true),
                Note::Curve(curve) => {
                    self.convergence.curve = Some(curve);
                    self.convergence.waits = false;
                }
            }
        }
        self.look_at_files();
        if fresh && self.obstacle.is_some_and(|number| number >= self.moment.colliders.len()) {
            self.obstacle = None;
        }
        if fresh && self.selected.is_some_and(|id| self.moment.slot(id).is_none()) {
            self.selected = None;
        }
        fresh || told
    }

    /// Reads the scene again when its file or that of one of its meshes was changed on disk.
    fn look_at_files(&mut self) {
        if self.loading.is_some() {
            return;
        }
        if let Some(file) = self.watch.changed(&self.moment.scene.files) {
            let text = format!("{} has changed and is read again", file.display());
            self.messages.say(text, false);
            self.reload();
        }
    }

    /// Puts a file that runs in front of those that were opened before.
    fn remember_file(&mut self) {
        let spec = self.moment.scene.spec.clone();
        if !is_file(&spec) {
            return;
        }
        // Settings are read in any folder.
        let path = std::path::absolute(&spec).map_or(spec, |path| path.to_string_lossy().into());
        self.settings.remember(path);
    }

    /// Whether something here needs to know where the particles are, and not only the painter: skins,
    /// surfaces of fluids and lines join them, hidden ones are left out, a pointer may take one, some colours measure
    /// them.
    fn looks(&self) -> bool {
        let (settings, moment, pointer) = (&self.settings, &self.moment, &self.pointer);
        let topology = &moment.topology;
        let skins = settings.skins && !topology.skins.is_empty();
        let hides = (0..moment.positions.len()).any(|slot| topology.is_hidden(slot));
        let measures =
            matches!(settings.color, ColorBy::Speed | ColorBy::Density | ColorBy::Strain);
        let points = pointer.is_busy() || self.view.contains(pointer.at);
        let flows = settings.shows_water() && moment.phases.iter().any(|&phase| is_fluid(phase));
        let joined = skins || flows || settings.lines || hides;
        self.watched || joined || measures || points || self.selected.is_some()
    }

    /// Measures the densities of the moment that is drawn, while they are shown. A moment that has
    /// its densities keeps them, and one that cannot have them is told of once.
    pub fn measure_density(&mut self) {
        if self.settings.color != ColorBy::Density {
            self.search = None;
            return;
        }
        let Moment { positions, radii, densities, .. } = &mut *self.moment;
        if densities.len() == positions.len() {
            return;
        }
        densities.resize(positions.len(), 0.0);
        let measured = match self.search.take() {
            Some(search) => Ok(search),
            None => Search::new(Params::default(), 0),
        }
        .and_then(|mut search| {
            search.densities(positions, radii, densities)?;
            Ok(search)
        });
        match measured {
            Ok(search) => self.search = Some(search),
            Err(error) => self.messages.say(format!("density: {error}"), true),
        }
    }

    /// Makes the picture of the scene that is to be painted next.
    pub fn build_scenery(&mut self) {
        self.measure_density();
        let shown = self.placing || self.aiming;
        let outline = if shown { self.outlines.of(&self.placement) } else { Vec::new() };
        let marks = Marks {
            selected: self.selected,
            obstacle: self.obstacle,
            pull: self.pointer.pull(),
            place: shown.then_some((self.placement.position, &outline)),
        };
        if self.scenery.build(&self.moment, &self.settings, &marks) {
            self.loading = None;
            self.history.clear();
            self.convergence.curve = None;
            self.remember_file();
            if !self.moment.scene.reloaded {
                self.frame_scene();
                self.suggest_placement();
            }
        }
    }

    /// The device that is being opened, for the simulation or for the painter.
    pub fn starts(&self) -> Option<&str> {
        self.starting.as_deref().or(self.painting.starting.as_deref())
    }

    /// Takes another painter with the next frame.
    pub fn choose_painter(&mut self, painter: PainterName) {
        self.painting.wanted = painter;
        self.settings.painter = painter;
    }

    /// A frame was not painted: software takes over from Vulkan, and tries again itself.
    pub fn painter_failed(&mut self, why: String) {
        self.messages.say(why, true);
        if self.painting.used == PainterName::Vulkan {
            self.painting.give_up_vulkan();
        }
    }

    /// Shows the scene from where it wants to be seen.
    pub fn frame_scene(&mut self) {
        let aspect = self.view.aspect();
        let wanted = self.moment.scene.camera;
        self.view.camera = render::camera(self.scenery.focus(), wanted, aspect);
        if wanted.is_some_and(|c| c.eye.is_some()) {
            // A scene's own camera is meant for a wide picture.
            self.view.camera.zoom((16.0 / 9.0 / aspect).max(1.0));
        }
    }

    /// Objects are placed above the middle, and as large as fits the scene.
    fn suggest_placement(&mut self) {
        let Some((low, high)) = self.scenery.focus() else { return };
        let size = self.scenery.size();
        let mut position = (low + high) * 0.5;
        position.y = high.y + 0.07 * size;
        self.placement.position = position;
        self.placement.spacing = (size * 0.02).clamp(0.002, 1.0);
    }

    pub fn look_at_selected(&mut self) {
        let slot = self.selected.and_then(|id| self.moment.slot(id));
        if let Some(slot) = slot {
            let camera = &mut self.view.camera;
            let shift = self.moment.positions[slot].truncate() - camera.target;
            camera.eye += shift;
            camera.target += shift;
        }
    }

    /// Saves the profile as a table and as a picture of its graph.
    pub fn save_profile(&mut self) {
        let path = self.free_name("profile.csv");
        match self.history.write_csv(&path) {
            Ok(()) => self.messages.say(format!("profile saved as {}", path.display()), false),
            Err(error) => self.messages.say(error.to_string(), true),
        }
        self.profile.picture = Some(path.with_extension("png"));
    }

    /// Asks for a convergence curve of the world as it is now.
    pub fn ask_convergence(&mut self) {
        self.convergence.asked = Some(Instant::now());
        self.convergence.waits = true;
        self.physics.send(Command::Converge(self.convergence.iterations));
    }
}

/// How many frames a second are drawn, and what a frame takes.
#[derive(Default)]
pub struct Rate {
    /// When each frame of the last second was drawn.
    drawn: std::collections::VecDeque<Instant>,
    /// Milliseconds to draw, smoothed.
    pub ms: f32,
    /// Frames drawn, ever.
    pub frames: u64,
    /// How many of them show positions that were on the painter's device alone.
    pub straight: u64,
    /// The longest time between two frames since the window opened.
    pub gap: Duration,
    /// How soon inputs were answered.
    pub answers: Answers,
}

impl Rate {
    /// A frame is shown, which took so long to draw. `moves` says that it changes by itself.
    pub fn tick(&mut self, took: Duration, moves: bool) {
        let now = Instant::now();
        self.frames += 1;
        self.answers.show(self.frames, moves);
        self.gap = self.gap.max(self.drawn.back().map_or(Duration::ZERO, |&last| now - last));
        self.drawn.push_back(now);
        while self.drawn.front().is_some_and(|&at| now - at > Duration::from_secs(1)) {
            self.drawn.pop_front();
        }
        let ms = took.as_secs_f32() * 1e3;
        self.ms = if self.ms == 0.0 { ms } else { self.ms * 0.9 + ms * 0.1 };
    }

    pub fn fps(&self) -> usize {
        self.drawn.len()
    }
}

/// Whether a scene is a file, and not one of those that are built in.
fn is_file(spec: &str) -> bool {
    [".toml", ".motes"].iter().any(|ending| spec.to_lowercase().ends_with(ending))
}
