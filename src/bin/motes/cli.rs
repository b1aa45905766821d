//! The commands and their flags. Names are stable: tests and scripts call them.

use clap::{Args, Parser, Subcommand};
use motes::Solver;
use motes::world::Method;
use std::path::PathBuf;

/// A particle physics engine: cloth, soft bodies and grains in one position-based solver.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Compare how fast the solvers converge on a stretched cloth
    Converge(ConvergeArgs),
    /// Say what works on this machine
    Doctor,
}

#[derive(Args)]
pub struct ConvergeArgs {
    /// Particles along each side of the cloth
    #[arg(long, value_name = "N", default_value_t = 50,
          value_parser = clap::value_parser!(u32).range(2..=4000))]
    pub size: u32,
    /// How many times its area the cloth is stretched to: 16 is 4 times each way
    #[arg(long, value_name = "FACTOR", default_value_t = 16.0, value_parser = positive)]
    pub stretch: f32,
    /// Most iterations to run
    #[arg(long, value_name = "N", default_value_t = 3000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub iterations: u32,
    /// Numbers of threads, separated by commas; the sequential solver uses one
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = threads)]
    pub threads: Vec<usize>,
    /// Solvers, separated by commas
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = word::<Solver>,
          default_value = "seidel,lockfree,colored,jacobi")]
    pub solver: Vec<Solver>,
    /// Over-relaxation factors, separated by commas
    #[arg(long, value_name = "FACTOR,...", value_delimiter = ',', value_parser = positive,
          default_value = "1,1.5,1.9")]
    pub omega: Vec<f32>,
    /// What stiffness means; at full stiffness the two differ only in how jacobi averages
    #[arg(long, value_name = "pbd|xpbd", value_parser = word::<Method>, default_value = "pbd")]
    pub method: Method,
    /// Write every curve as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw the curves; the ending says how
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    pub plot: Option<PathBuf>,
}

/// A word of the library: a solver, a method, a format.
fn word<T: std::str::FromStr<Err = motes::Error> + Send + Sync>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e: motes::Error| e.to_string())
}

fn positive(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("expected a number above 0".into()),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(value) if (1..=1024).contains(&value) => Ok(value),
        _ => Err("expected a whole number from 1 to 1024".into()),
    }
}
