//! Worlds as exported files: particles in order of id, with edges and skins; and the list of files
//! that ParaView opens as one film.

use super::{Format, Frame, Group, write_frame};
use crate::Result;
use crate::file::write_atomically;
use crate::world::{ParticleId, World};
use std::path::Path;

/// Writes a world into `folder` as `frame_NNNNNN.EXT`, numbered by its steps, whole or not at all.
/// The particles come in order of their ids, so that files of the same world can be compared line
/// by line; edges are its distance constraints, and triangles the surfaces of its objects, open
/// where they tore ([`World::surface`]), each object a group.
///
/// ```
/// use motes::export::{Format, write_world};
/// use motes::{Backend, Cloth, Engine, World};
///
/// let mut world = World::new();
/// world.add_cloth(&Cloth::default())?;
/// let mut engine = Engine::new(world, Backend::Cpu { threads: 1 })?;
/// let folder = tempfile::tempdir()?;
/// engine.step(1.0 / 60.0)?;
/// write_world(folder.path(), Format::Ply, engine.world())?;
/// assert!(folder.path().join("frame_000001.ply").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_world(folder: impl AsRef<Path>, format: Format, world: &World) -> Result<()> {
    let name = frame_name("frame", world.step_count(), format);
    write_world_as(folder.as_ref().join(name), format, world)
}

/// The same as a file of any name.
pub fn write_world_as(path: impl AsRef<Path>, format: Format, world: &World) -> Result<()> {
    let p = world.particles();
    let slots: Vec<usize> = p.slots_by_id().collect();
    let mut place = vec![0u32; p.len()];
    for (k, &slot) in slots.iter().enumerate() {
        place[slot] = k as u32;
    }
    let positions: Vec<_> = slots.iter().map(|&s| p.positions()[s].truncate()).collect();
    let velocities: Vec<_> = slots.iter().map(|&s| p.velocities()[s].truncate()).collect();
    let radii: Vec<_> = slots.iter().map(|&s| p.radii()[s]).collect();
    let phases: Vec<_> = slots.iter().map(|&s| p.phases()[s]).collect();
    // The formats have no whole numbers of 64 bits.
    let ids: Vec<_> = slots.iter().map(|&s| p.ids()[s] as u32).collect();
    let edges: Vec<_> = (0..world.distance().len())
        .map(|i| world.distance().particles(i).map(|s| place[s as usize]))
        .collect();
    let corner = |id: ParticleId| p.slot(id).map(|slot| place[slot]);
    let joined = world.joined();
    let mut triangles = Vec::new();
    let mut parts = Vec::new();
    for (_, object) in world.objects() {
        let first = triangles.len();
        // A triangle that lost a corner is left out.
        let whole = joined.whole_triangles(world, object);
        triangles.extend(whole.filter_map(|[a, b, c]| Some([corner(a)?, corner(b)?, corner(c)?])));
        let points: Vec<u32> = object.particles().filter_map(corner).collect();
        parts.push((object.name.as_str(), first..triangles.len(), points));
    }
    let group = parts.iter().map(|(name, triangles, points)| Group {
        name,
        triangles: triangles.clone(),
        // The others are seen as faces.
        points: if triangles.is_empty() { points } else { &[] },
    });
    let groups: Vec<Group> = group.collect();
    let frame = Frame {
        positions: &positions,
        velocities: &velocities,
        radii: &radii,
        phases: &phases,
        ids: &ids,
        edges: &edges,
        triangles: &triangles,
        groups: &groups,
    };
    write_frame(path, format, &frame)
}

pub(super) fn frame_name(stem: &str, step: u64, format: Format) -> String {
    format!("{stem}_{step:06}.{}", format.extension())
}

/// Writes the list of the files of a run as `frame.EXT.series`, which ParaView opens as one film
/// with the right times. `frames` has the step and the time (s) of each file that
/// [`write_world`] wrote.
pub fn write_series(folder: impl AsRef<Path>, format: Format, frames: &[(u64, f64)]) -> Result<()> {
    series("frame", folder.as_ref(), format, frames)
}

/// The same of the files that [`write_skins`](super::write_skins) wrote, as `skin.EXT.series`.
pub fn write_skin_series(
    folder: impl AsRef<Path>,
    format: Format,
    frames: &[(u64, f64)],
) -> Result<()> {
    series("skin", folder.as_ref(), format, frames)
}

pub(super) fn series(
    stem: &str,
    folder: &Path,
    format: Format,
    frames: &[(u64, f64)],
) -> Result<()> {
    let path = folder.join(format!("{stem}.{}.series", format.extension()));
    write_atomically(path, |out| {
        writeln!(out, "{{\n  \"file-series-version\": \"1.0\",\n  \"files\": [")?;
        for (k, &(step, time)) in frames.iter().enumerate() {
            let comma = if k + 1 < frames.len() { "," } else { "" };
            let name = frame_name(stem, step, format);
            writeln!(out, "    {{ \"name\": \"{name}\", \"time\": {time} }}{comma}")?;
        }
        writeln!(out, "  ]\n}}")
    })
}
