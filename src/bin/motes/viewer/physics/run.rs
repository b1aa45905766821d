//! The thread's loop: commands, steps at the wished pace, frames for the window.

use super::command::Command;
use super::edits::{self, Edits, Side};
use super::moment::{Sample, SceneInfo};
use super::straight::{Gpu, OnDevice, Straight};
use super::topology::{Topology, TopologyKey};
use super::{Shared, edit, keep};
use crate::commands::output::own_file;
use crate::commands::setup::set_param;
use crate::failure::Failure;
use crate::viewer::messages::Note;
use crate::viewer::{backends, comparison, convergence};
use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, TryRecvError};
use motes::scene::Scene;
use motes::{Collider, Engine, Material, MaterialId, ParticleId, World, snapshot};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A simulation this far behind its pace does not try to catch up.
const PATIENCE: Duration = Duration::from_millis(250);

/// While the positions stay on the painter's device, every so many frames they are brought here all
/// the same: shadows and floor are fitted to where the particles are.
const FRAMES_APART: u32 = 16;

/// What a reset goes back to.
enum Origin {
    Nothing,
    Scene(Box<Scene>),
    Snapshot(PathBuf),
}

/// The state of the thread.
pub struct Runner {
    shared: Arc<Shared>,
    notes: Sender<Note>,
    engine: Option<Engine>,
    origin: Origin,
    info: Arc<SceneInfo>,
    /// The keys that the scene was opened with.
    sets: Vec<String>,
    threads: usize,
    backend: &'static str,
    straight: Straight,
    /// Frames since the positions were brought here.
    apart: u32,
    playing: bool,
    /// A film shows every so many steps.
    record: Option<u32>,
    /// The window has to see this moment before the next step.
    holds: bool,
    /// Steps to take before stopping.
    owed: u32,
    speed: f32,
    due: Instant,
    generation: u64,
    /// Changes by hand, so that the topology is made anew.
    edits: u64,
    torn: bool,
    /// The worlds before and after edits.
    undo: Edits,
    dragged: Option<ParticleId>,
    /// Tells the comparison that goes on to end.
    stop_compare: Arc<AtomicBool>,
    topology: (TopologyKey, Arc<Topology>),
    colliders: Arc<Vec<Collider>>,
    /// Something changed that the window has not seen.
    changed: bool,
}

impl Runner {
    pub fn new(shared: Arc<Shared>, notes: Sender<Note>, threads: usize) -> Self {
        Runner {
            shared,
            notes,
            engine: None,
            origin: Origin::Nothing,
            info: Arc::default(),
            sets: Vec::new(),
            threads,
            backend: &backends::all()[0].name,
            straight: Straight::new(Gpu::default()),
            apart: 0,
            playing: false,
            record: None,
            holds: false,
            owed: 0,
            speed: 1.0,
            due: Instant::now(),
            generation: 0,
            edits: 0,
            torn: false,
            undo: Edits::default(),
            dragged: None,
            stop_compare: Arc::default(),
            topology: Default::default(),
            colliders: Arc::default(),
            changed: true,
        }
    }

    /// Runs until told to quit.
    pub fn run(mut self, inbox: &Receiver<Command>) {
        loop {
            loop {
                let command = match self.wait() {
                    Some(Duration::ZERO) => inbox.try_recv().map_err(|e| e == TryRecvError::Empty),
                    Some(wait) => {
                        inbox.recv_timeout(wait).map_err(|e| e == RecvTimeoutError::Timeout)
                    }
                    None => inbox.recv().map_err(|_| false),
                };
                match command {
                    Ok(Command::Quit) | Err(false) => return,
                    Ok(command) => self.obey(command),
                    Err(true) => break,
                }
            }
            if self.steps() && Instant::now() >= self.due {
                self.step();
            }
            self.publish();
        }
    }

    fn steps(&self) -> bool {
        self.engine.is_some() && (self.playing || self.owed > 0) && !self.holds
    }

    /// How long to wait for a command: until the next step, or for good.
    fn wait(&self) -> Option<Duration> {
        let wanted = self.shared.wanted.load(Ordering::Acquire);
        match self.steps() {
            true => Some(self.due.saturating_duration_since(Instant::now())),
            false if !self.changed => None,
            false if wanted => Some(Duration::ZERO),
            // The window has not taken the last moment yet, and will want this one.
            false => Some(Duration::from_millis(4)),
        }
    }

    fn note(&self, note: Note) {
        // A window that is gone does not read messages.
        let _ = self.notes.send(note);
    }

    fn fail(&self, what: &str, error: impl std::fmt::Display) {
        self.note(Note::error(format!("{what}: {error}")));
    }

    fn stop(&mut self, why: String) {
        self.playing = false;
        self.owed = 0;
        self.note(Note::Stopped(why));
    }

    fn step(&mut self) {
        let Some(engine) = &mut self.engine else { return };
        let dt = engine.world().params.dt;
        let stepped = engine.step(dt).map(|_| ());
        self.changed = true;
        match stepped {
            Ok(()) => {
                let sample = Sample::of(engine.world().step_count(), engine.report());
                self.shared.samples.force_push(sample);
                self.holds = self.is_recorded();
            }
            Err(error) => return self.stop(format!("the step was not taken: {error}")),
        }
        self.owed = self.owed.saturating_sub(1);
        let now = Instant::now();
        self.due = match self.owed == 0 && self.speed > 0.0 {
            true => self.due + Duration::from_secs_f32((dt / self.speed).clamp(0.0, 10.0)),
            false => now,
        };
        if now.saturating_duration_since(self.due) > PATIENCE {
            self.due = now;
        }
    }

    /// Whether a film shows the moment as it is.
    fn is_recorded(&self) -> bool {
        let step = self.engine.as_ref().map(|engine| engine.world().step_count());
        let every = self.record.map(u64::from);
        step.zip(every).is_some_and(|(step, every)| step.is_multiple_of(every))
    }

    /// Hands a copy to the window, if it took the last one.
    fn publish(&mut self) {
        if !(self.changed && self.shared.wanted.load(Ordering::Acquire)) {
            return;
        }
        // Whatever comes of it, it need not be tried again before something else changes.
        self.changed = false;
        self.holds = false;
        let on_device = match self.bring() {
            Ok(on_device) => on_device,
            Err(error) => {
                return self.stop(format!("the device's last steps are lost: {error}"));
            }
        };
        let recorded = self.is_recorded();
        let Some(engine) = &mut self.engine else { return };
        let key = TopologyKey::of(engine.world(), self.generation, self.edits);
        if self.topology.0 != key {
            // Added constraints are in no colour yet; making the schedule sorts them in.
            engine.schedule();
            let topology = Topology::of(engine.world(), self.torn);
            self.topology = (key, Arc::new(topology));
            self.colliders = Arc::new(engine.world().colliders.clone());
        }
        if engine.world().colliders.iter().any(|collider| collider.limb.is_some()) {
            // Their paths are of the last step.
            self.colliders = Arc::new(engine.world().colliders.clone());
        }
        let mut moment = self.shared.spare.lock().take().unwrap_or_default();
        moment.fill(engine);
        moment.on_device = on_device;
        moment.generation = self.generation;
        moment.playing = self.playing;
        moment.recorded = recorded;
        moment.edits = self.undo.counts();
        moment.backend = self.backend;
        moment.scene = Arc::clone(&self.info);
        moment.topology = Arc::clone(&self.topology.1);
        moment.colliders = Arc::clone(&self.colliders);
        self.shared.wanted.store(false, Ordering::Release);
        *self.shared.fresh.lock() = Some(moment);
    }

    /// Brings the positions to where the window needs them: to the painter's device alone while the
    /// simulation runs there and nobody looks at them here.
    fn bring(&mut self) -> motes::Result<Option<OnDevice>> {
        let looks = self.shared.looks.load(Ordering::Relaxed);
        let may_stay = self.steps() && !looks && self.apart < FRAMES_APART;
        let Some(engine) = &mut self.engine else { return Ok(None) };
        if may_stay && let Some(copy) = self.straight.copy(engine)? {
            self.apart += 1;
            return Ok(Some(copy));
        }
        self.apart = 0;
        engine.fetch()?;
        Ok(None)
    }

    /// Another painter paints; an engine on the same device moves in with it.
    fn share(&mut self, gpu: Gpu) {
        self.straight = Straight::new(gpu);
        if self.engine.as_ref().is_some_and(|engine| self.straight.attracts(engine, self.backend)) {
            self.move_to(self.backend, self.threads);
        }
    }

    fn obey(&mut self, command: Command) {
        self.changed = true;
        match command {
            Command::Open(spec, sets) => self.open(spec, sets, false),
            Command::Reload => self.open(self.info.spec.clone(), self.sets.clone(), true),
            Command::StrokeEnd => self.undo.end_stroke(),
            Command::Undo => self.go_back(true),
            Command::Redo => self.go_back(false),
            Command::Play(on) => {
                self.playing = on;
                self.due = Instant::now();
            }
            Command::Step(count) => {
                self.playing = false;
                self.owed = self.owed.saturating_add(count);
                self.due = Instant::now();
            }
            Command::Reset => self.reset(),
            Command::Speed(speed) => {
                self.speed = speed;
                self.due = Instant::now();
            }
            Command::Threads(threads) => self.move_to(self.backend, threads),
            Command::Backend(name) => self.move_to(name, self.threads),
            Command::Share(gpu) => self.share(gpu),
            Command::StopCompare => self.stop_compare.store(true, Ordering::Relaxed),
            Command::Record(every) => {
                self.record = every;
                // The film begins with this moment and leaves none out after it.
                self.holds = every.is_some();
            }
            Command::Export | Command::Converge(_) | Command::Compare(_) => {
                let done = self.look(command);
                self.say(done);
            }
            other => self.change(other),
        }
    }

    fn say(&self, done: motes::Result<Option<String>>) {
        match done {
            Ok(Some(text)) => self.note(Note::info(text)),
            Ok(None) => {}
            Err(error) => self.note(Note::error(error.to_string())),
        }
    }

    /// Commands that look at the world.
    fn look(&mut self, command: Command) -> motes::Result<Option<String>> {
        let Some(engine) = &mut self.engine else {
            if let Command::Compare(_) = command {
                let why = "there is no scene to compare; open one first";
                self.note(Note::Compared(Err(why.into())));
                self.note(Note::Compared(Ok(Box::default())));
            }
            return Ok(None);
        };
        engine.fetch()?;
        let world = engine.world();
        match command {
            Command::Export => keep::write(world, &self.info.spec).map(Some),
            Command::Converge(iterations) => {
                convergence::measure(world.clone(), iterations, &self.notes);
                Ok(None)
            }
            Command::Compare(steps) => {
                self.stop_compare.store(true, Ordering::Relaxed);
                self.stop_compare = Arc::default();
                let (scene, copy, stop) =
                    (&self.info.spec, world.clone(), Arc::clone(&self.stop_compare));
                comparison::measure(scene, copy, self.threads, steps, stop, &self.notes);
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Commands that change the world.
    fn change(&mut self, command: Command) {
        let Some(engine) = &mut self.engine else { return };
        let edit = edit_word(&command);
        let before = match edit {
            Some((what, turns)) if self.undo.wants(what, turns) => {
                // The device has what is kept of a world.
                if !turns && let Err(error) = engine.fetch() {
                    return self.fail(what, error);
                }
                Some(match turns {
                    true => knobs(engine.world()),
                    false => loose(engine.world(), self.dragged, self.torn),
                })
            }
            _ => None,
        };
        let world = engine.world_mut();
        self.edits += 1;
        let done = match command {
            Command::Param(name, value) => {
                self.edits -= 1;
                world.params.set(name, &value).map(|()| None)
            }
            Command::Material(id, name, value) => {
                self.edits -= 1;
                edit::set_coefficient(world, id, name, value).map(|()| None)
            }
            Command::SceneParams => {
                world.params = self.info.params.clone();
                edit::keep_materials(world, &self.info.materials);
                Ok(Some("every parameter and material is as the scene has it".into()))
            }
            Command::Drag { id, target } => {
                self.edits -= 1;
                if self.dragged != Some(id) {
                    release(world, &mut self.dragged);
                }
                let mass = object_mass(&self.topology.1, world, id);
                let held = edit::drag(world, id, target, mass).map(|()| None);
                self.dragged = held.is_ok().then_some(id);
                held
            }
            Command::Release => {
                self.edits -= 1;
                release(world, &mut self.dragged);
                self.undo.end_stroke();
                Ok(None)
            }
            Command::Cut(wedge) => match edit::cut(world, &wedge) {
                0 => Ok(None),
                count => {
                    self.torn = true;
                    Ok(Some(format!("{count} constraints cut")))
                }
            },
            Command::TogglePin(id) => edit::toggle_pin(world, id).map(|pinned| {
                Some(format!("particle {} {}", id.0, if pinned { "pinned" } else { "free" }))
            }),
            Command::Remove(id) => {
                world.remove_particles(&[id]).map(|()| Some(format!("particle {} removed", id.0)))
            }
            Command::RemoveObject(id) => edit::remove_object(world, id).map(Some),
            Command::RemoveObstacle(number) => edit::remove_obstacle(world, number).map(Some),
            Command::Throw(ball) => {
                edit::throw(world, &ball).map(|id| Some(format!("ball thrown: particle {}", id.0)))
            }
            Command::Place(placement) => edit::place(world, &placement).map(Some),
            _ => Ok(None),
        };
        if let Some((what, turns)) = edit {
            // Knobs and drags say nothing when they succeed.
            let silent = turns || what == edits::DRAG;
            self.undo.keep(what, before, matches!(&done, Ok(said) if silent || said.is_some()));
            if !silent && what != edits::CUT {
                self.undo.end_stroke();
            }
        }
        self.say(done);
    }

    /// Takes a scene. One that fails leaves the running scene, and what a reset goes back to.
    fn open(&mut self, spec: String, sets: Vec<String>, reloaded: bool) {
        match load(&spec, &sets) {
            Ok((origin, info, world)) => {
                if self.take_world(world) {
                    self.origin = origin;
                    self.info = Arc::new(SceneInfo { reloaded, ..info });
                    self.sets = sets;
                    self.undo = Edits::default();
                }
            }
            Err(error) => self.fail(&spec, error),
        }
    }

    /// Takes back the last edit, or does it again: the world as it was before it, or after it.
    fn go_back(&mut self, back: bool) {
        let Some(engine) = &mut self.engine else { return };
        if let Err(error) = engine.fetch() {
            return self.fail("undo", error);
        }
        // Who is held by the mouse is let go, or would hang there when the world comes back.
        release(engine.world_mut(), &mut self.dragged);
        let (now, torn) = (engine.world(), self.torn);
        let side = |other: &Side| match other {
            Side::World { .. } => loose(now, None, torn),
            Side::Knobs { .. } => knobs(now),
        };
        let Some(other) = self.undo.swap(back, side) else {
            let word = if back { "back" } else { "again" };
            return self.note(Note::info(format!("there is no edit to take {word}")));
        };
        match other.side {
            Side::Knobs { params, materials } => {
                let world = engine.world_mut();
                world.params = *params;
                edit::keep_materials(world, &materials);
            }
            Side::World { world, torn } => match self.engine(*world, self.backend, self.threads) {
                Ok(engine) => {
                    self.engine = Some(engine);
                    self.torn = torn;
                    self.edits += 1;
                }
                Err(error) => return self.fail("undo", error),
            },
        }
        let word = if back { "taken back" } else { "done again" };
        self.note(Note::info(format!("{word}: {}", other.what)));
    }

    fn reset(&mut self) {
        let world = match &self.origin {
            Origin::Nothing => return,
            Origin::Scene(scene) => scene.build(),
            Origin::Snapshot(path) => snapshot::load(path).map(|s| s.world),
        };
        match world {
            Ok(mut world) => {
                if let Some(old) = self.engine.as_ref().map(Engine::world) {
                    world.params = old.params.clone();
                    edit::keep_materials(&mut world, &materials(old));
                }
                if self.take_world(world) {
                    self.undo = Edits::default();
                }
            }
            Err(error) => self.fail("reset", error),
        }
    }

    /// True when the world runs now; what fails leaves the one before.
    fn take_world(&mut self, world: World) -> bool {
        self.stop_compare.store(true, Ordering::Relaxed);
        match self.engine(world, self.backend, self.threads) {
            Ok(engine) => {
                self.engine = Some(engine);
                self.generation += 1;
                // The window has to see what is in the scene before it can say what it needs.
                self.apart = FRAMES_APART;
                self.torn = false;
                self.holds = self.is_recorded();
                self.dragged = None;
                self.owed = 0;
                self.due = Instant::now();
                true
            }
            Err(error) => {
                self.fail("the world was not taken", error);
                false
            }
        }
    }

    /// The engine is made anew, the world goes on. What cannot be had leaves things as they are.
    fn move_to(&mut self, backend: &'static str, threads: usize) {
        if let Some(old) = &mut self.engine {
            let fetched = old.fetch();
            let world = old.world().clone();
            let made = self.engine(world, backend, threads);
            if let Err(error) = fetched {
                self.fail("back to what was last shown", error);
            }
            match made {
                Ok(engine) => self.engine = Some(engine),
                Err(error) => {
                    return self.fail(&format!("{backend} with {threads} threads"), error);
                }
            }
        }
        (self.backend, self.threads) = (backend, threads);
    }

    /// An engine whose device brings the world here only when it is shown or changed.
    fn engine(&self, world: World, backend: &str, threads: usize) -> motes::Result<Engine> {
        // Opening a device and building its programs takes a while.
        let on_device = backend != backends::all()[0].name;
        if on_device {
            self.note(Note::Starting(Some(backend.into())));
        }
        let made = self.straight.engine(world, backend, threads);
        if on_device {
            self.note(Note::Starting(None));
        }
        let mut engine = made?;
        engine.keep_on_device(true);
        Ok(engine)
    }
}

/// What an edit that can be taken back is called, and whether it only turns knobs.
fn edit_word(command: &Command) -> Option<(&'static str, bool)> {
    Some(match command {
        Command::Cut(_) => (edits::CUT, false),
        Command::Drag { .. } => (edits::DRAG, false),
        Command::TogglePin(_) => ("pin", false),
        Command::Remove(_) => ("remove particle", false),
        Command::RemoveObject(_) => ("remove object", false),
        Command::RemoveObstacle(_) => ("remove obstacle", false),
        Command::Throw(_) => ("throw", false),
        Command::Place(_) => ("place", false),
        Command::Param(name, _) => (name, true),
        Command::Material(..) => ("material", true),
        Command::SceneParams => ("parameters of the scene", true),
        _ => return None,
    })
}

/// A world to go back to, in which the mouse holds nobody.
fn loose(world: &World, mut dragged: Option<ParticleId>, torn: bool) -> Side {
    let mut world = Box::new(world.clone());
    release(&mut world, &mut dragged);
    Side::World { world, torn }
}

/// Parameters and materials to go back to.
fn knobs(world: &World) -> Side {
    Side::Knobs { params: Box::new(world.params.clone()), materials: materials(world) }
}

fn release(world: &mut World, dragged: &mut Option<ParticleId>) {
    // A particle that was removed meanwhile needs no release.
    if let Some(id) = dragged.take() {
        let _ = world.release(id);
    }
}

fn object_mass(topology: &Topology, world: &World, id: ParticleId) -> f32 {
    let number = world.particles().slot(id).and_then(|slot| topology.object.get(slot));
    number.and_then(|&n| topology.objects.get(n as usize)).map_or(0.0, |object| object.mass)
}

fn materials(world: &World) -> Vec<(MaterialId, Material)> {
    world.materials().map(|(id, material)| (id, material.clone())).collect()
}

fn load(spec: &str, sets: &[String]) -> Result<(Origin, SceneInfo, World), Failure> {
    let path = Path::new(spec);
    if path.extension().is_some_and(|e| e == "motes") {
        let mut saved = snapshot::load(path)?;
        sets.iter().try_for_each(|set| set_param(&mut saved.world, set))?;
        let scene = Scene::load(&saved.scene).ok();
        let info = SceneInfo {
            spec: spec.into(),
            files: vec![path.into()],
            title: format!("a state of {}", saved.scene),
            camera: scene.map(|s| s.camera()),
            reloaded: false,
            params: saved.world.params.clone(),
            materials: materials(&saved.world),
        };
        return Ok((Origin::Snapshot(path.into()), info, saved.world));
    }
    let scene = Scene::load_with(spec, sets)?;
    let world = scene.build()?;
    let info = SceneInfo {
        spec: spec.into(),
        files: own_file(spec).into_iter().chain(scene.mesh_files()).collect(),
        title: scene.title().into(),
        camera: Some(scene.camera()),
        reloaded: false,
        params: world.params.clone(),
        materials: materials(&world),
    };
    Ok((Origin::Scene(Box::new(scene)), info, world))
}
