//! The commands and their flags. Names are stable: tests and scripts call them.

use crate::painter::tint::Tint;
use clap::{Args, Parser, Subcommand, ValueEnum};
use glam::Vec3;
use motes::export::Format;
use motes::pass::PASSES;
use motes::world::{BroadPhase, Method};
use motes::{Pass, Solver};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A particle physics engine: cloth, bodies, grains and water in one position-based solver.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
pub struct Cli {
    /// `view` when none is given.
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Subcommand)]
pub enum Command {
    /// Open the viewer on a scene; without a display, run it and paint its end
    View(ViewArgs),
    /// List the built-in scenes
    Scenes(ScenesArgs),
    /// Run a scene without a display
    Run(RunArgs),
    /// Time scenes pass by pass, or ways to find neighbours, side by side
    Bench(BenchArgs),
    /// Run a scene and paint its end, or a film of it, as PNG, without a display or a GPU
    Render(RenderArgs),
    /// Make a mesh into particles, and say how long each part takes
    Voxelize(VoxelizeArgs),
    /// List the bones, clips and mesh of a BVH, glTF or GLB file
    Skeleton(SkeletonArgs),
    /// Compare how fast the solvers converge on a stretched cloth
    Converge(ConvergeArgs),
    /// Say what works on this machine
    Doctor,
}

#[derive(Args, Default)]
pub struct ViewArgs {
    /// Built-in name, NAME:VARIANT, a .toml file or a .motes snapshot [default: axe]
    pub scene: Option<String>,
    /// What paints: `auto` takes a graphics card where there is one [default: what was chosen last]
    #[arg(long, value_enum)]
    pub painter: Option<PainterName>,
    /// What computes: cpu, vulkan or the name of a device, as the panel Run lists them
    #[arg(long, value_name = "NAME")]
    pub backend: Option<String>,
    /// Worker threads [default: what was chosen last]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Set any key of the scene, such as cloth.0.columns=100; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Drive the window by the lines of a file, for tests and pictures; assets/pictures has one
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PainterName {
    #[default]
    Auto,
    Vulkan,
    Software,
}

#[derive(Args)]
pub struct ScenesArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What changes a scene before it runs.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Simulation")]
pub struct Tuning {
    /// Length of a step
    #[arg(long, value_name = "SECONDS")]
    pub dt: Option<f32>,
    /// Substeps a step
    #[arg(long, value_name = "N")]
    pub substeps: Option<u32>,
    /// Solver iterations a substep
    #[arg(long, value_name = "N")]
    pub iterations: Option<u32>,
    /// How constraints are swept: seidel, lockfree, colored or jacobi
    #[arg(long, value_name = "NAME", value_parser = word::<Solver>)]
    pub solver: Option<Solver>,
    /// What stiffness means: pbd or xpbd
    #[arg(long, value_name = "NAME", value_parser = word::<Method>)]
    pub method: Option<Method>,
    /// Which structure finds neighbours: auto, grid, octree, bvh or brute; for `bench` also all
    #[arg(long, value_name = "NAME", value_parser = structures)]
    pub broad_phase: Option<Structures>,
    /// End a substep's iterations once the summed |C| is at or below this
    #[arg(long, value_name = "R")]
    pub until_residual: Option<f32>,
    /// End a step's iterations after this time; not reproducible
    #[arg(long, value_name = "MS")]
    pub budget_ms: Option<f32>,
    /// Seed of everything random in the scene
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Set any key of the scene, such as cloth.0.columns=100; may be repeated
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

/// Where the passes run.
#[derive(Args, Clone)]
#[command(next_help_heading = "Machine")]
pub struct Target {
    /// What computes
    #[arg(long, value_enum, default_value_t = BackendName::Cpu)]
    pub backend: BackendName,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Vulkan device, by number or a part of its name; `motes doctor` lists them [default: the best]
    #[arg(long, value_name = "N|NAME")]
    pub device: Option<String>,
    /// With --backend vulkan: run the passes of a step before this one on the CPU
    #[arg(long, value_name = "PASS", value_parser = pass)]
    pub gpu_from: Option<Pass>,
}

impl Target {
    /// The CPU with so many threads.
    pub fn cpu(threads: Option<usize>) -> Self {
        Target { backend: BackendName::Cpu, threads, device: None, gpu_from: None }
    }
    /// A Vulkan device.
    pub fn vulkan(device: Option<String>) -> Self {
        Target { backend: BackendName::Vulkan, threads: None, device, gpu_from: None }
    }
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum BackendName {
    Cpu,
    Vulkan,
}

fn pass(text: &str) -> Result<Pass, String> {
    let found = PASSES.iter().find(|info| info.name == text);
    let names = || PASSES.iter().map(|info| info.name).collect::<Vec<_>>().join(", ");
    found.map(|info| info.pass).ok_or_else(|| format!("expected one of {}", names()))
}

#[derive(Args)]
pub struct RunArgs {
    /// Built-in name, NAME:VARIANT or a .toml file; not needed with --load
    #[arg(required_unless_present = "load")]
    pub scene: Option<String>,
    /// Steps to run [default: the scene's]
    #[arg(long, value_name = "N")]
    pub steps: Option<u32>,
    #[command(flatten)]
    pub tuning: Tuning,
    #[command(flatten)]
    pub target: Target,
    /// Print what a step does, as a tree of passes, loops and conditions, and run nothing; with
    /// --backend vulkan the kernels of each pass stand behind it
    #[arg(long)]
    pub schedule: bool,
    /// Write what the run did and cost as JSON
    #[arg(long, value_name = "FILE.json")]
    pub report: Option<PathBuf>,
    /// Print how busy each worker was, pass by pass
    #[arg(long)]
    pub workers: bool,
    /// Print a hash of all positions and velocities at the end
    #[arg(long)]
    pub hash: bool,
    /// Write the particles, and the obstacles, into this folder: before the first step and then
    /// as the run goes
    #[arg(long, value_name = "DIR")]
    pub export: Option<PathBuf>,
    /// Format of the exported files: ply, vtk or obj
    #[arg(long, value_name = "NAME", value_parser = word::<Format>, default_value = "ply")]
    pub format: Format,
    /// Export every K-th step
    #[arg(long, value_name = "K", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub every: u32,
    /// Also export the surfaces of fluids as closed meshes: surface_000120.ply
    #[arg(long, requires = "export")]
    pub surface: bool,
    /// Rounds of smoothing of these surfaces
    #[arg(long, value_name = "N", default_value_t = 10, requires = "surface",
          value_parser = clap::value_parser!(u32).range(..=1000))]
    pub smoothing: u32,
    /// Print nothing but what was asked for (--hash, --check, --workers), warnings and errors aside
    #[arg(long, short)]
    pub quiet: bool,
    /// Judge the scene's checks; exit with 1 when one fails
    #[arg(long)]
    pub check: bool,
    /// Write a snapshot of the end
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Go on from a snapshot
    #[arg(long, value_name = "FILE")]
    pub load: Option<PathBuf>,
}

#[derive(Args)]
pub struct BenchArgs {
    /// Scenes [default: every built-in one; with --broad-phase, blocks of particles]
    pub scenes: Vec<String>,
    /// Numbers of threads, separated by commas [default: 1 and one per core]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = threads)]
    pub threads: Vec<usize>,
    /// Only this backend [default: the CPU, and Vulkan where there is a device]
    #[arg(long, value_enum)]
    pub backend: Option<BackendName>,
    /// Vulkan device, by number or a part of its name [default: the best]
    #[arg(long, value_name = "N|NAME")]
    pub device: Option<String>,
    /// Steps of a run
    #[arg(long, value_name = "N", default_value_t = 60,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub steps: u32,
    /// Runs of each kind; the fastest counts
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    #[command(flatten)]
    pub tuning: Tuning,
    /// Write a list of run reports
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write one line a pass
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

#[derive(Args)]
pub struct RenderArgs {
    /// Built-in name, NAME:VARIANT or a .toml file; not needed with --load
    #[arg(required_unless_present = "load")]
    pub scene: Option<String>,
    /// Steps to run before the picture is taken [default: the scene's; of a snapshot none]
    #[arg(long, value_name = "N")]
    pub steps: Option<u32>,
    /// Begin with a snapshot
    #[arg(long, value_name = "FILE")]
    pub load: Option<PathBuf>,
    /// The picture
    #[arg(short, long, value_name = "FILE.png", default_value = "motes.png")]
    pub output: PathBuf,
    #[command(flatten)]
    pub film: Film,
    #[command(flatten)]
    pub look: LookArgs,
    /// Also paint N frames as a window does, and say how long that takes
    #[arg(long, value_name = "N", conflicts_with = "every")]
    pub time: Option<u32>,
    #[command(flatten)]
    pub tuning: Tuning,
    #[command(flatten)]
    pub target: Target,
}

/// Which steps of a run are painted, where that is more than its end.
#[derive(Args)]
#[command(next_help_heading = "Film")]
pub struct Film {
    /// Paint every K-th step: -o film.png writes film_000120.png for step 120
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub every: Option<u32>,
    /// The first step that is painted [default: where the run begins]
    #[arg(long, value_name = "STEP", requires = "every")]
    pub from: Option<u64>,
    /// The last step [default: where the run ends]
    #[arg(long, value_name = "STEP", requires = "every", conflicts_with = "steps")]
    pub to: Option<u64>,
}

/// How pictures are wanted.
#[derive(Args, Clone)]
#[command(next_help_heading = "Picture")]
pub struct LookArgs {
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    pub size: (u32, u32),
    /// Where the camera is, in metres [default: the scene's]
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub eye: Option<Vec3>,
    /// What it looks at, in metres [default: the scene's]
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub target: Option<Vec3>,
    /// How much it sees from top to bottom, in degrees [default: the scene's]
    #[arg(long, value_name = "DEGREES", value_parser = angle)]
    pub fov: Option<f32>,
    /// What the colours tell
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Tint::Object)]
    pub color: Tint,
    /// Draw distance constraints as lines
    #[arg(long)]
    pub lines: bool,
    /// Draw fluids as their particles; where --color measures something, they always are
    #[arg(long)]
    pub beads: bool,
    /// Paint on a dark floor
    #[arg(long)]
    pub dark: bool,
}

impl Default for LookArgs {
    fn default() -> Self {
        LookArgs {
            size: (1280, 720),
            eye: None,
            target: None,
            fov: None,
            color: Tint::Object,
            lines: false,
            beads: false,
            dark: false,
        }
    }
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

#[derive(Args)]
pub struct VoxelizeArgs {
    /// An OBJ file, or the name of a built-in mesh
    #[arg(value_name = "MESH.obj")]
    pub mesh: String,
    /// Voxels along the longest side of the mesh
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=motes::shape::voxel::VoxelGrid::MOST as i64))]
    pub resolution: u32,
    /// Merge eight voxels into one of twice the size where they are deeper than this, in voxels; 2
    /// and -2 mean the same [default: do not merge]
    #[arg(long, value_name = "PHI", value_parser = depth, allow_negative_numbers = true)]
    pub merge: Option<f32>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Write counts and times as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Make the particles anew, and do not keep them in the cache folder
    #[arg(long)]
    pub no_cache: bool,
    /// Write the particles; the ending says how: ply, vtk or obj
    #[arg(short, long, value_name = "FILE.ply")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct SkeletonArgs {
    /// A BVH, glTF or GLB file, or the name of a built-in skeleton
    pub file: String,
    /// Write the list as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// A depth below the surface as the signed distance that it is.
fn depth(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(-value.abs()),
        _ => Err("expected a depth in voxels, such as 2".into()),
    }
}

/// A word of the library: a solver, a method, a format.
fn word<T: std::str::FromStr<Err = motes::Error> + Send + Sync>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e: motes::Error| e.to_string())
}

/// One structure, or every one of them side by side.
#[derive(Clone, Copy, PartialEq)]
pub enum Structures {
    One(BroadPhase),
    All,
}

fn structures(text: &str) -> Result<Structures, String> {
    match text {
        "all" => Ok(Structures::All),
        _ => word(text).map(Structures::One),
    }
}

impl BenchArgs {
    /// Numbers of threads to compare.
    pub fn teams(&self) -> Vec<usize> {
        let mut teams = match self.threads.is_empty() {
            true => vec![1, crate::commands::machine::cores()],
            false => self.threads.clone(),
        };
        teams.dedup();
        teams
    }
}

fn positive(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("expected a number above 0".into()),
    }
}

fn point(text: &str) -> Result<Vec3, String> {
    let number = |word: &str| word.trim().parse::<f32>().ok().filter(|v| v.is_finite());
    let numbers: Option<Vec<f32>> = text.split(',').map(number).collect();
    match numbers.as_deref() {
        Some(&[x, y, z]) => Ok(Vec3::new(x, y, z)),
        _ => Err("expected three numbers, such as 1,0.5,-2".into()),
    }
}

fn angle(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if (1.0..=170.0).contains(&value) => Ok(value),
        _ => Err("expected an angle from 1 to 170".into()),
    }
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(value) if (1..=1024).contains(&value) => Ok(value),
        _ => Err("expected a whole number from 1 to 1024".into()),
    }
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |s: &str| s.parse::<u32>().ok().filter(|v| (1..=8192).contains(v));
    text.split_once('x')
        .and_then(|(w, h)| Some((side(w)?, side(h)?)))
        .ok_or_else(|| "expected two sizes from 1 to 8192, such as 1280x720".into())
}
