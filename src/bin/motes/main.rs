//! The command line of motes: a thin client of the library.

mod bench;
mod cli;
mod converge;
mod doctor;
mod failure;
mod font;
mod frames;
mod machine;
mod neighbors;
mod output;
// The viewer uses what the command line does not.
#[cfg_attr(not(feature = "viewer"), allow(dead_code, unused_imports))]
mod paint;
mod picture;
mod plot;
mod progress;
mod raster;
mod render;
mod run;
mod scenes;
mod stage;
mod stats;
mod summary;
mod table;
mod tessellate;
mod view;
#[cfg(feature = "viewer")]
mod viewer;
mod workers;

use clap::Parser;
use cli::{Cli, Command};
use failure::Failure;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
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
        Command::Converge(args) => converge::run(&args, out),
        Command::Doctor => doctor::run(out),
    }
}
