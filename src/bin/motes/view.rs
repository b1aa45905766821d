//! `motes view`: the desktop viewer; where no window can be opened, the scene is run and its end
//! painted, so that the first command always shows something.

use crate::cli::{Target, Tuning, ViewArgs};
use crate::failure::Failure;
#[cfg(feature = "viewer")]
use crate::machine;
use crate::render::{Look, write_png};
use crate::stage::{Stage, engine};
use crate::{output, run};
use std::io::Write;
use std::path::Path;

const DEFAULT_SCENE: &str = "cloth_hang";
const STEPS: u32 = 120;
const PICTURE: &str = "motes.png";
#[cfg(feature = "viewer")]
const NO_DISPLAY: &str = "there is no display here (DISPLAY and WAYLAND_DISPLAY are not set)";

pub fn run(args: &ViewArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = args.scene.as_deref().unwrap_or(DEFAULT_SCENE);
    match open_window(spec, args)? {
        None => Ok(()),
        Some(why) if args.script.is_some() => Err(Failure::Failed(format!("--script: {why}"))),
        Some(why) if args.painter.is_some() => Err(Failure::Failed(format!("--painter: {why}"))),
        Some(why) => run_headless(spec, &why, out),
    }
}

/// Shows the scene until the window is closed, or says why there is no window.
#[cfg(feature = "viewer")]
fn open_window(spec: &str, args: &ViewArgs) -> Result<Option<String>, Failure> {
    use crate::viewer::{End, Script, open};
    let script = args.script.as_deref().map(Script::load).transpose()?;
    // A wrong name is answered in the terminal, before a window opens.
    if Path::new(spec).extension().is_none_or(|e| e != "motes") {
        motes::Scene::load(spec)?;
    }
    if machine::display().is_none() && cfg!(target_os = "linux") {
        return Ok(Some(NO_DISPLAY.into()));
    }
    Ok(match open(spec, script, args.painter)? {
        End::Closed => None,
        End::NoWindow(why) => Some(format!("no window could be opened here ({why})")),
    })
}

#[cfg(not(feature = "viewer"))]
fn open_window(_: &str, _: &ViewArgs) -> Result<Option<String>, Failure> {
    Ok(Some("this build has no viewer (the feature `viewer` is off)".into()))
}

fn run_headless(spec: &str, why: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let path = Path::new(PICTURE);
    output::check_file(spec, Some(path))?;
    let stage = Stage::of_scene(spec, &Tuning::default())?;
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
