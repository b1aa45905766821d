//! `motes voxelize`: a mesh made into particles, with what each part takes.

use crate::cli::VoxelizeArgs;
use crate::commands::output;
use crate::commands::table::{Table, number};
use crate::failure::Failure;
use glam::Vec3;
use motes::Scene;
use motes::export::{Format, Frame, write_frame};
use motes::file::write_atomically;
use motes::shape::cache::{Fetched, SolidCache};
use motes::shape::mass::MassProperties;
use motes::shape::merge::Cube;
use motes::shape::mesh::{MeshReport, TriangleMesh};
use motes::shape::solid::{Recipe, Solid};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct Report<'a> {
    mesh: &'a str,
    triangles: usize,
    grid: [usize; 3],
    voxels: usize,
    particles: usize,
    voxelize_ms: f64,
    distance_ms: f64,
    merge_ms: f64,
}

pub fn run(args: &VoxelizeArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let file = Scene::builtin_mesh(&args.mesh).is_none().then_some(Path::new(&args.mesh));
    let outputs = [("--json", args.json.as_deref()), ("--output", args.output.as_deref())];
    output::check(&outputs, &[("the mesh", file)])?;
    let format = args.output.as_deref().map(format).transpose()?;

    let (mesh, report) = load(&args.mesh)?;
    let made = in_pool(args.threads, || make(&mesh, args))?;
    if let Some(error) = &made.not_kept {
        warn(&format!("the particles were not kept for the next time: {error}"));
    }
    if report.degenerate > 0 {
        warn(&format!("{} triangles without an area were left out", report.degenerate));
    }
    let solid = &made.solid;
    for warning in solid.voxels.warnings() {
        warn(&format!("{}: {warning}", args.mesh));
    }
    tell(args, &mesh, &made, out)?;

    if let (Some(path), Some(format)) = (&args.output, format) {
        write_particles(path, format, solid)?;
    }
    if let Some(path) = &args.json {
        let [voxelize_ms, distance_ms, merge_ms] = solid.ms;
        let report = Report {
            mesh: &args.mesh,
            triangles: mesh.triangles.len(),
            grid: solid.voxels.grid().inner(),
            voxels: solid.voxels.count(),
            particles: solid.cubes.len(),
            voxelize_ms,
            distance_ms,
            merge_ms,
        };
        write_atomically(path, |out| Ok(serde_json::to_writer_pretty(out, &report)?))?;
    }
    Ok(())
}

fn load(name: &str) -> Result<(TriangleMesh, MeshReport), Failure> {
    if let Some(bytes) = Scene::builtin_mesh(name) {
        return Ok(TriangleMesh::from_obj_bytes(name, bytes)?);
    }
    if !Path::new(name).exists() && !name.contains(['.', '/', '\\']) {
        let known: Vec<&str> = Scene::builtin_mesh_names().collect();
        let known = known.join(", ");
        let message = format!("{name}: there is no such file; the built-in meshes are {known}");
        return Err(Failure::Usage(message));
    }
    Ok(TriangleMesh::load_obj(name)?)
}

/// From the disk where the same was made before.
fn make(mesh: &TriangleMesh, args: &VoxelizeArgs) -> motes::Result<Fetched> {
    let recipe = Recipe { merge: args.merge, ..Recipe::new(args.resolution as usize) };
    match folder().filter(|_| !args.no_cache) {
        Some(folder) => SolidCache::new(folder).fetch(mesh, &recipe),
        None => {
            let solid = Solid::of(mesh, &recipe)?;
            Ok(Fetched { solid, from_disk: false, not_kept: None })
        }
    }
}

/// Where this system keeps what programs can make again.
fn folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        folder("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        folder("HOME")?.join("Library/Caches")
    } else {
        // The standard says that a relative path there does not count.
        let named = folder("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        named.or_else(|| Some(folder("HOME")?.join(".cache")))?
    };
    Some(base.join("motes").join("solids"))
}

fn in_pool<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> motes::Result<T> + Send,
) -> Result<T, Failure> {
    let threads = threads.unwrap_or_else(crate::commands::machine::cores);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure::Failed(format!("--threads {threads}: {error}")))?;
    Ok(pool.install(work)?)
}

fn tell(
    args: &VoxelizeArgs,
    mesh: &TriangleMesh,
    made: &Fetched,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Solid { voxels, cubes, ms, .. } = &made.solid;
    let grid = voxels.grid();
    let [x, y, z] = grid.inner();
    writeln!(
        out,
        "{}: {} triangles, {x} x {y} x {z} voxels of {} mm, {} of them solid, {} particles",
        args.mesh,
        mesh.triangles.len(),
        number(1e3 * grid.edge()),
        voxels.count(),
        cubes.len()
    )?;
    // A density of 1 kg/m^3 is as good as any other for a volume and a centre.
    if let Ok(body) = MassProperties::of_cubes(grid, cubes, 1.0) {
        let Vec3 { x, y, z } = body.centre.as_vec3();
        writeln!(out, "volume {} m^3, centre {x:.4} {y:.4} {z:.4} m", number(body.volume))?;
    }
    let mut sizes = Table::new(["level", "radius mm", "particles"]);
    for level in 0..=cubes.iter().map(|cube| cube.level).max().unwrap_or(0) {
        let count = cubes.iter().filter(|cube| cube.level == level).count();
        if count > 0 {
            let radius = Cube { low: [0; 3], level }.radius(grid);
            sizes.row([level.to_string(), number(1e3 * f64::from(radius)), count.to_string()]);
        }
    }
    write!(out, "{sizes}")?;
    let mut times = Table::new(["part", "ms"]);
    for (part, &ms) in ["voxelize", "distance field", "merge"].into_iter().zip(ms) {
        times.row([part.to_string(), number(ms)]);
    }
    write!(out, "{times}")?;
    if made.from_disk {
        writeln!(out, "read from the disk; the times are of the run that made it (--no-cache)")?;
    }
    Ok(())
}

/// The format that a name's ending asks for, PLY without one.
fn format(path: &Path) -> Result<Format, Failure> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
    let Some(ending) = ending else { return Ok(Format::Ply) };
    ending.parse().map_err(|_| {
        let message = format!(
            "--output {}: particles are written as ply, vtk or obj, not {ending}; let the name end \
             in .ply",
            path.display()
        );
        Failure::Usage(message)
    })
}

fn write_particles(path: &Path, format: Format, solid: &Solid) -> motes::Result<()> {
    let grid = solid.voxels.grid();
    let count = solid.cubes.len();
    let positions: Vec<Vec3> = solid.cubes.iter().map(|cube| cube.centre(grid)).collect();
    let radii: Vec<f32> = solid.cubes.iter().map(|cube| cube.radius(grid)).collect();
    let ids: Vec<u32> = (0..count as u32).collect();
    let frame = Frame {
        positions: &positions,
        velocities: &vec![Vec3::ZERO; count],
        radii: &radii,
        phases: &vec![0; count],
        ids: &ids,
        ..Frame::default()
    };
    write_frame(path, format, &frame)
}

fn warn(message: &str) {
    // A closed error channel is no reason to end.
    let _ = writeln!(std::io::stderr(), "warning: {message}");
}
