//! The command line of motes: a thin client of the library.

mod cli;
mod commands;
mod failure;
// The viewer uses what the command line does not.
#[cfg_attr(not(feature = "viewer"), allow(dead_code, unused_imports))]
mod painter;
#[cfg(feature = "viewer")]
mod viewer;

use clap::Parser;
use cli::{Cli, Command};
use commands::{bench, converge, doctor, render, run, scenes, skeleton, view, voxelize};
use failure::Failure;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Names of scenes are kept as text in snapshots and reports. A name that is no text is refused
    // wherever it stands, and not by some options only.
    if let Some(odd) = std::env::args_os().skip(1).find(|word| word.to_str().is_none()) {
        let message = format!(
            "{}: a name that is not Unicode cannot be used; rename it, or go to its folder and \
             give the rest of the name",
            odd.display()
        );
        return Failure::Usage(message).report();
    }
    let cli = Cli::parse();
    let mut out = std::io::stdout().lock();
    match run_command(cli, &mut out).and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run_command(cli: Cli, out: &mut dyn Write) -> Result<(), Failure> {
    match cli.command.unwrap_or(Command::View(Default::default())) {
        Command::View(args) => view::run(&args, out),
        Command::Scenes(args) => scenes::run(&args, out),
        Command::Run(args) => run::run(&args, out),
        Command::Bench(args) => bench::run(&args, out),
        Command::Render(args) => render::run(&args, out),
        Command::Voxelize(args) => voxelize::run(&args, out),
        Command::Skeleton(args) => skeleton::run(&args, out),
        Command::Converge(args) => converge::run(&args, out),
        Command::Doctor => doctor::run(out),
    }
}
