//! The command line of motes: a thin client of the library.

mod cli;
mod converge;
mod doctor;
mod failure;
mod font;
mod machine;
mod plot;
mod raster;
mod stats;
mod table;

use clap::Parser;
use cli::{Cli, Command};
use failure::Failure;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = std::io::stdout().lock();
    match run(cli, &mut out).and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(cli: Cli, out: &mut dyn Write) -> Result<(), Failure> {
    match cli.command {
        Command::Converge(args) => converge::run(&args, out),
        Command::Doctor => doctor::run(out),
    }
}
