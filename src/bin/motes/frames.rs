//! Worlds as exported files: particles in order of id, with edges and skins.

use motes::World;
use motes::export::{Format, Frame, write_frame};
use std::path::Path;

/// Writes the world into `folder` as `frame_NNNNNN.EXT`, numbered by its steps.
pub fn export(folder: &Path, format: Format, world: &World) -> motes::Result<()> {
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
    let ids: Vec<_> = slots.iter().map(|&s| p.ids()[s]).collect();
    let edges: Vec<_> = (0..world.distance().len())
        .map(|i| world.distance().particles(i).map(|s| place[s as usize]))
        .collect();
    let triangles: Vec<_> =
        crate::picture::skin_triangles(world).map(|slots| slots.map(|s| place[s])).collect();
    let frame = Frame {
        positions: &positions,
        velocities: &velocities,
        radii: &radii,
        phases: &phases,
        ids: &ids,
        edges: &edges,
        triangles: &triangles,
    };
    let name = format!("frame_{:06}.{}", world.step_count(), format.extension());
    write_frame(folder.join(name), format, &frame)
}
