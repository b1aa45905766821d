//! `motes view`: until the viewer is built, the scene is run and its end painted, so that the first
//! command always shows something.

use crate::cli::{Target, Tuning, ViewArgs};
use crate::failure::Failure;
use crate::render::{Look, write_png};
use crate::stage::{Stage, engine};
use crate::{machine, output, run};
use std::io::Write;
use std::path::Path;

const DEFAULT_SCENE: &str = "cloth_hang";
const STEPS: u32 = 120;
const PICTURE: &str = "motes.png";

pub fn run(args: &ViewArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = args.scene.as_deref().unwrap_or(DEFAULT_SCENE);
    let path = Path::new(PICTURE);
    output::check_file(spec, Some(path))?;
    let stage = Stage::of_scene(spec, &Tuning::default())?;
    let why = match machine::display() {
        Some(_) => "the desktop viewer is not in this build yet",
        None => "there is no display here (DISPLAY and WAYLAND_DISPLAY are not set)",
    };
    writeln!(out, "{why}: running {STEPS} steps of {spec} and painting the end\n")?;
    out.flush()?;
    let target = Target::cpu(None);
    let mut engine = engine(stage.world, &target)?;
    let (summary, _) = run::simulate(spec, &mut engine, STEPS, None, |_, _| Ok(()))?;
    write!(out, "{}", summary.text())?;
    let look = Look { size: (1280, 720), lines: false, dark: false };
    write_png(path, engine.world(), stage.scene.as_ref(), &look)?;
    let shown = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    writeln!(out, "picture      {}\n\n`motes --help` lists what else there is", shown.display())?;
    Ok(())
}
