//! The meshes of bodies that were made from meshes, as exported files.

use std::path::Path;

use glam::Vec3;

use super::world::frame_name;
use super::{Format, Frame, Group, write_frame};
use crate::Result;
use crate::world::World;

/// Writes the meshes of bodies that were made from meshes into `folder` as `skin_NNNNNN.EXT`, as they
/// are worn now: each object a group, open where it tore. False, and no file, where there are none.
///
/// # Errors
/// When the file cannot be written.
pub fn write_skins(folder: impl AsRef<Path>, format: Format, world: &World) -> Result<bool> {
    let name = frame_name("skin", world.step_count(), format);
    write_skins_as(folder.as_ref().join(name), format, world)
}

/// The same as a file of any name.
///
/// # Errors
/// When the file cannot be written.
pub fn write_skins_as(path: impl AsRef<Path>, format: Format, world: &World) -> Result<bool> {
    let skins = world.skins();
    if skins.is_empty() {
        return Ok(false);
    }
    let (now, velocity) = (world.particles.now(), world.particles.velocities());
    let (mut positions, mut velocities) = (Vec::new(), Vec::new());
    let (mut triangles, mut parts) = (Vec::new(), Vec::new());
    for (id, worn) in &skins {
        let (first, start) = (positions.len() as u32, triangles.len());
        positions.extend(worn.vertices(|slot| now.of(slot)));
        // A vertex moves as the particles do that it hangs on.
        velocities.extend((0..worn.len()).map(|vertex| {
            let share = |&(slot, weight): &(u32, f32)| velocity[slot as usize].truncate() * weight;
            worn.weights(vertex).iter().map(share).sum::<Vec3>()
        }));
        triangles.extend(worn.triangles().iter().map(|t| t.map(|vertex| vertex + first)));
        parts.push((world.object(*id)?.name.as_str(), start..triangles.len()));
    }
    let groups: Vec<Group> = parts
        .iter()
        .map(|(name, triangles)| Group { name, triangles: triangles.clone(), points: &[] })
        .collect();
    let count = positions.len();
    let frame = Frame {
        positions: &positions,
        velocities: &velocities,
        radii: &vec![0.0; count],
        phases: &vec![0; count],
        ids: &(0..count as u32).collect::<Vec<_>>(),
        edges: &[],
        triangles: &triangles,
        groups: &groups,
    };
    write_frame(path, format, &frame)?;
    Ok(true)
}
