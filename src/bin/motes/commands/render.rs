//! `motes render`: runs a scene and paints its end, or every so many steps of it.

use crate::cli::{LookArgs, RenderArgs};
use crate::commands::film::Film;
use crate::commands::setup::{Setup, engine};
use crate::commands::{output, run};
use crate::failure::Failure;
use crate::painter::picture::{self, Wanted};
use crate::painter::{Camera, Canvas, Painter, Picture, Quality, Theme, paint_fine};
use glam::Vec3;
use motes::World;
use motes::file::write_atomically;
use motes::scene::Scene;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

pub fn run(args: &RenderArgs, out: &mut dyn Write) -> Result<(), Failure> {
    output::check_png("-o", &args.output)?;
    let spec = args.scene.as_deref();
    let scene = spec.map_or(Vec::new(), |spec| output::scene_files(spec, &args.tuning.set));
    let inputs: Vec<_> = output::named(&scene).chain([("--load", args.load.as_deref())]).collect();
    if args.film.every.is_none() {
        output::check(&[("-o", Some(&args.output))], &inputs)?;
    }
    let setup = match &args.load {
        Some(path) => Setup::of_snapshot(path, args.scene.as_deref(), &args.tuning)?,
        None => Setup::of_scene(args.scene.as_deref().unwrap_or_default(), &args.tuning)?,
    };
    setup.warn();
    let begin = setup.world.step_count();
    let steps = match (args.steps, &args.load, args.film.every) {
        // A snapshot is a picture already.
        (None, Some(_), None) => 0,
        (asked, ..) => setup.steps(asked),
    };
    let film = Film::new(&args.film, &args.output, begin, steps)?;
    let mut look = Look::new(&args.look, setup.scene.as_ref());
    if let Some(film) = &film {
        for picture in film.targets() {
            output::check(&[("-o", Some(&picture))], &inputs)?;
        }
        // One camera for all of it, or it would follow what moves.
        look.hold(&setup.world);
    }
    let steps = film.as_ref().map_or(steps, |film| film.steps);
    let mut engine = engine(setup.world, &args.target)?;
    let paint = |world: &World| match &film {
        Some(film) if film.shows(world.step_count()) => {
            look.write_png(&film.picture_of(world.step_count()), world)
        }
        _ => Ok(()),
    };
    paint(engine.world())?;
    run::simulate(&setup.name, &mut engine, steps, None, false, |step, engine| {
        if film.as_ref().is_some_and(|film| film.shows(begin + u64::from(step))) {
            engine.fetch()?;
            paint(engine.world())?;
        }
        Ok(())
    })?;
    if let Some(film) = film {
        writeln!(out, "{}: {film}", setup.name)?;
        return Ok(());
    }
    if let Some(frames) = args.time {
        time(frames, engine.world(), &look, out)?;
    }
    look.write_png(&args.output, engine.world())?;
    let step = engine.world().step_count();
    writeln!(out, "{} after {step} steps: {}", setup.name, args.output.display())?;
    Ok(())
}

/// How a picture is wanted, and from where.
pub struct Look {
    args: LookArgs,
    /// As the scene and the flags want it.
    camera: Option<motes::scene::Camera>,
    /// What the camera shows where nobody says; as it is in each picture where there is none.
    focus: Option<(Vec3, Vec3)>,
}

impl Look {
    pub fn new(args: &LookArgs, scene: Option<&Scene>) -> Self {
        let own = scene.map(Scene::camera);
        let camera = motes::scene::Camera {
            eye: args.eye.or(own.and_then(|camera| camera.eye)),
            target: args.target.or(own.and_then(|camera| camera.target)),
            fov: args.fov.or(own.and_then(|camera| camera.fov)),
        };
        Look { args: args.clone(), camera: Some(camera), focus: None }
    }

    /// Every picture shows from now on what this world has.
    fn hold(&mut self, world: &World) {
        self.focus = picture::of(world, false).focus;
    }

    /// What is to be painted, from where.
    fn see(&self, world: &World) -> motes::Result<(Picture, Camera)> {
        let colors = self.args.color.colors(world)?;
        let LookArgs { lines, beads, .. } = self.args;
        let seen = picture::wanted(world, Wanted { lines, beads, colors: colors.as_deref() });
        let picture::Seen { mut picture, focus } = seen;
        picture.theme = if self.args.dark { Theme::Dark } else { Theme::Light };
        // A film's water must not change its look while it spreads.
        picture.size = picture::size(self.focus.or(focus));
        let (width, height) = self.args.size;
        let aspect = width as f32 / height as f32;
        Ok((picture, camera(self.focus.or(focus), self.camera, aspect)))
    }

    /// Paints a world.
    pub fn write_png(&self, path: &Path, world: &World) -> motes::Result<()> {
        let (picture, camera) = self.see(world)?;
        let (width, height) = self.args.size;
        let canvas = paint_fine(&picture, &camera, width, height);
        write_atomically(path, |out| canvas.write_png(out))
    }
}

/// Looks from where the scene wants, and at all that is in focus where it does not say.
pub fn camera(
    focus: Option<(Vec3, Vec3)>,
    wanted: Option<motes::scene::Camera>,
    aspect: f32,
) -> Camera {
    let mut camera = match focus {
        Some((low, high)) => Camera::frame_box_from(low, high, 0.55, 0.38, aspect),
        None => Camera::default(),
    };
    if let Some(wanted) = wanted {
        camera.eye = wanted.eye.unwrap_or(camera.eye);
        camera.target = wanted.target.unwrap_or(camera.target);
        camera.fov_y = wanted.fov.map_or(camera.fov_y, f32::to_radians);
    }
    camera
}

/// Paints a world again and again as a window does, and says how long that takes.
fn time(frames: u32, world: &World, look: &Look, out: &mut dyn Write) -> Result<(), Failure> {
    let (picture, camera) = look.see(world)?;
    let (width, height) = look.args.size;
    let mut painter = Painter::new(Quality::LIVE);
    let mut canvas = Canvas::default();
    let mut times: Vec<f64> = (0..frames.max(1))
        .map(|_| {
            let start = Instant::now();
            painter.paint(&picture, &camera, width, height, &mut canvas);
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    let spheres = picture.spheres.len() + picture.droplets.len();
    let (least, median) = (times[0], times[times.len() / 2]);
    writeln!(
        out,
        "{width} x {height}, {spheres} spheres: {least:.2} ms a frame, median {median:.2}"
    )?;
    Ok(())
}
