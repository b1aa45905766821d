//! `motes render`: runs a scene and paints its end.

use crate::cli::RenderArgs;
use crate::commands::setup::{Setup, engine};
use crate::commands::{output, run};
use crate::failure::Failure;
use crate::painter::picture;
use crate::painter::{Camera, Canvas, Painter, Quality, Theme, paint_fine};
use glam::Vec3;
use motes::World;
use motes::file::write_atomically;
use motes::scene::Scene;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

pub fn run(args: &RenderArgs, out: &mut dyn Write) -> Result<(), Failure> {
    output::check_png("-o", &args.output)?;
    let scene = output::scene_files(&args.scene, &args.tuning.set);
    let inputs: Vec<_> = output::named(&scene).collect();
    output::check(&[("-o", Some(&args.output))], &inputs)?;
    let setup = Setup::of_scene(&args.scene, &args.tuning)?;
    setup.warn();
    let steps = setup.steps(args.steps);
    let mut engine = engine(setup.world, &args.target)?;
    run::simulate(&setup.name, &mut engine, steps, None, false, |_, _| Ok(()))?;
    let look = Look { size: args.size, lines: args.lines, dark: args.dark };
    if let Some(frames) = args.time {
        time(frames, engine.world(), setup.scene.as_ref(), &look, out)?;
    }
    write_png(&args.output, engine.world(), setup.scene.as_ref(), &look)?;
    writeln!(out, "{} after {steps} steps: {}", setup.name, args.output.display())?;
    Ok(())
}

/// How a picture is wanted.
pub struct Look {
    pub size: (u32, u32),
    pub lines: bool,
    pub dark: bool,
}

/// Paints a world as the scene wants it seen, or framed whole.
pub fn write_png(
    path: &Path,
    world: &World,
    scene: Option<&Scene>,
    look: &Look,
) -> Result<(), Failure> {
    let picture::Seen { mut picture, focus } = picture::of(world, look.lines);
    picture.theme = if look.dark { Theme::Dark } else { Theme::Light };
    let (width, height) = look.size;
    let aspect = width as f32 / height as f32;
    let camera = camera(focus, scene.map(Scene::camera), aspect);
    let canvas = paint_fine(&picture, &camera, width, height);
    Ok(write_atomically(path, |out| canvas.write_png(out))?)
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
fn time(
    frames: u32,
    world: &World,
    scene: Option<&Scene>,
    look: &Look,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let picture::Seen { picture, focus } = picture::of(world, look.lines);
    let (width, height) = look.size;
    let camera = camera(focus, scene.map(Scene::camera), width as f32 / height as f32);
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
    let (least, median, spheres) = (times[0], times[times.len() / 2], picture.spheres.len());
    writeln!(
        out,
        "{width} x {height}, {spheres} spheres: {least:.2} ms a frame, median {median:.2}"
    )?;
    Ok(())
}
