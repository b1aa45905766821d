//! `motes view`: the desktop viewer; where no window can be opened, the scene is run and its end
//! painted, so that the first command always shows something.

use crate::cli::{LookArgs, Target, Tuning, ViewArgs};
#[cfg(feature = "viewer")]
use crate::commands::machine;
use crate::commands::render::Look;
use crate::commands::setup::{Setup, engine};
use crate::commands::{output, run};
use crate::failure::Failure;
use std::io::Write;
use std::path::Path;

const DEFAULT_SCENE: &str = "axe";
/// By then the soft bodies of the default scene lie draped over the axe.
const STEPS: u32 = 240;
const PICTURE: &str = "motes.png";
#[cfg(feature = "viewer")]
const NO_DISPLAY: &str = "there is no display here (DISPLAY and WAYLAND_DISPLAY are not set)";

pub fn run(args: &ViewArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = args.scene.as_deref().unwrap_or(DEFAULT_SCENE);
    match open_window(spec, args)? {
        None => Ok(()),
        Some(why) if args.script.is_some() => Err(Failure::Failed(format!("--script: {why}"))),
        Some(why) if args.painter.is_some() => Err(Failure::Failed(format!("--painter: {why}"))),
        Some(why) if args.backend.is_some() => Err(Failure::Failed(format!("--backend: {why}"))),
        Some(why) => run_headless(spec, args, &why, out),
    }
}

/// Shows the scene until the window is closed, or says why there is no window.
#[cfg(feature = "viewer")]
fn open_window(spec: &str, args: &ViewArgs) -> Result<Option<String>, Failure> {
    use crate::viewer::{End, Script, open};
    let script = args.script.as_deref().map(Script::load).transpose()?;
    // A wrong name is answered in the terminal, before a window opens.
    if let Some(path) = path_of_snapshot(spec) {
        std::fs::metadata(path).map_err(|e| motes::Error::io(path, e))?;
    } else {
        motes::Scene::load_with(spec, &args.set)?;
    }
    if machine::display().is_none() && cfg!(target_os = "linux") {
        return Ok(Some(NO_DISPLAY.into()));
    }
    Ok(match open(spec, script, args)? {
        End::Closed => None,
        End::NoWindow(why) => Some(format!("no window could be opened here ({why})")),
    })
}

#[cfg(not(feature = "viewer"))]
fn open_window(_: &str, _: &ViewArgs) -> Result<Option<String>, Failure> {
    Ok(Some("this build has no viewer (the feature `viewer` is off)".into()))
}

fn run_headless(
    spec: &str,
    args: &ViewArgs,
    why: &str,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let path = Path::new(PICTURE);
    output::check(&[(spec, Some(path))], &[])?;
    let tuning = Tuning { set: args.set.clone(), ..Tuning::default() };
    let setup = match path_of_snapshot(spec) {
        Some(path) => Setup::of_snapshot(path, None, &tuning)?,
        None => Setup::of_scene(spec, &tuning)?,
    };
    writeln!(out, "{why}: running {STEPS} steps of {spec} and painting the end\n")?;
    out.flush()?;
    let target = Target::cpu(args.threads);
    let mut engine = engine(setup.world, &target)?;
    let (summary, _) = run::simulate(spec, &mut engine, STEPS, None, false, |_, _| Ok(()))?;
    write!(out, "{}", summary.text())?;
    Look::new(&LookArgs::default(), setup.scene.as_ref()).write_png(path, engine.world())?;
    let shown = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    writeln!(out, "picture      {}\n\n`motes --help` lists what else there is", shown.display())?;
    Ok(())
}

/// The file, where a scene is given as a snapshot.
fn path_of_snapshot(spec: &str) -> Option<&Path> {
    Some(Path::new(spec)).filter(|path| path.extension().is_some_and(|e| e == "motes"))
}
