//! `motes skeleton`: the bones, clips and mesh that a file holds.

use crate::cli::SkeletonArgs;
use crate::commands::output;
use crate::commands::table::{Table, number};
use crate::failure::Failure;
use motes::Scene;
use motes::file::write_atomically;
use motes::skeleton::Rig;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    bones: Vec<BoneRow<'a>>,
    clips: Vec<ClipRow<'a>>,
    mesh: Option<MeshRow>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct BoneRow<'a> {
    name: &'a str,
    parent: Option<&'a str>,
    length: f64,
}

#[derive(Serialize)]
struct ClipRow<'a> {
    name: &'a str,
    start_s: f64,
    duration_s: f64,
    tracks: usize,
    keyframes: usize,
}

#[derive(Serialize)]
struct MeshRow {
    vertices: usize,
    triangles: usize,
}

pub fn run(args: &SkeletonArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let outputs = [("--json", args.json.as_deref())];
    let file = Scene::builtin_skeleton(&args.file).is_none().then_some(Path::new(&args.file));
    output::check(&outputs, &[("the skeleton", file)])?;
    let rig = match Scene::builtin_skeleton(&args.file) {
        Some(bytes) => Rig::from_bytes(&args.file, bytes, None)?,
        None => Rig::load(&args.file)?,
    };
    for note in &rig.notes {
        // A closed error channel is no reason to end.
        let _ = writeln!(std::io::stderr(), "warning: {}: {note}", args.file);
    }
    let report = report(&args.file, &rig);
    tell(&report, out)?;
    if let Some(path) = &args.json {
        write_atomically(path, |out| Ok(serde_json::to_writer_pretty(out, &report)?))?;
    }
    Ok(())
}

fn report<'a>(file: &'a str, rig: &'a Rig) -> Report<'a> {
    let bones = &rig.skeleton.bones;
    let bone = |(bone, length): (&'a motes::skeleton::Bone, f64)| BoneRow {
        name: &bone.name,
        parent: bone.parent.and_then(|parent| Some(bones.get(parent as usize)?.name.as_str())),
        length,
    };
    let clips = rig.clips.iter().map(|clip| ClipRow {
        name: &clip.name,
        start_s: clip.start(),
        duration_s: clip.duration(),
        tracks: clip.tracks.len(),
        keyframes: clip.times.iter().map(Vec::len).max().unwrap_or(0),
    });
    let mesh = rig
        .mesh
        .as_ref()
        .map(|mesh| MeshRow { vertices: mesh.vertices.len(), triangles: mesh.triangles.len() });
    Report {
        file,
        bones: bones.iter().zip(rig.skeleton.lengths()).map(bone).collect(),
        clips: clips.collect(),
        mesh,
        notes: &rig.notes,
    }
}

fn tell(report: &Report, out: &mut dyn Write) -> Result<(), Failure> {
    let Report { file, bones, clips, mesh, .. } = report;
    let mesh = match mesh {
        Some(mesh) => format!("{} vertices, {} triangles", mesh.vertices, mesh.triangles),
        None => "no mesh".into(),
    };
    writeln!(out, "{file}: {} bones, {} clips, {mesh}", bones.len(), clips.len())?;
    let mut table = Table::new(["bone", "parent", "length"]).align("<<>");
    for bone in bones {
        let parent = bone.parent.unwrap_or_default();
        table.row([bone.name.to_string(), parent.to_string(), number(bone.length)]);
    }
    write!(out, "{table}")?;
    if clips.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(["clip", "seconds", "starts at", "tracks", "keyframes"]);
    for clip in clips {
        let seconds = [number(clip.duration_s), number(clip.start_s)];
        let counts = [clip.tracks.to_string(), clip.keyframes.to_string()];
        table.row([clip.name.to_string()].into_iter().chain(seconds).chain(counts));
    }
    write!(out, "{table}")?;
    Ok(())
}
