//! What `motes run --export` writes as the run goes: a file for each moment, from the first one on,
//! the obstacles, the meshes of bodies and the surfaces of fluids beside them, and for VTK the list that ParaView opens as one film.

use crate::painter::{Picture, Triangle, picture, tessellate};
use glam::Vec3;
use motes::export::{
    Format, Frame, Group, write_frame, write_series, write_skin_series, write_skins, write_world,
};
#[cfg(feature = "surface")]
use motes::export::{write_surface_series, write_surfaces};
use motes::{Collider, World};
use std::path::{Path, PathBuf};

/// Whether an export may write a file of this name into its folder.
pub fn writes(format: Format, name: &str) -> bool {
    let stem = |ending: &str| name.strip_suffix(ending).and_then(|n| n.strip_suffix('.'));
    let ours = |stem: &str| {
        ["frame", "obstacles", "skin", "surface"].iter().any(|own| stem.starts_with(own))
    };
    stem(format.extension()).is_some_and(ours) || stem("series").is_some_and(ours)
}

pub struct Exporter {
    folder: PathBuf,
    format: Format,
    /// Step and time of each file.
    frames: Vec<(u64, f64)>,
    /// The same of files of skins.
    skins: Vec<(u64, f64)>,
    /// Whether the surfaces of fluids are wanted, and how smooth; and the same of their files.
    smoothing: Option<u32>,
    surfaces: Vec<(u64, f64)>,
}

/// Why surfaces are refused where there can be none.
#[cfg(not(feature = "surface"))]
pub const NO_SURFACE: &str =
    "--surface: this build cannot make surfaces; build with --features surface";

impl Exporter {
    pub fn new(folder: PathBuf, format: Format, smoothing: Option<u32>) -> Self {
        let (frames, skins, surfaces) = (Vec::new(), Vec::new(), Vec::new());
        Exporter { folder, format, frames, skins, smoothing, surfaces }
    }

    /// Writes the world as it is now.
    pub fn write(&mut self, world: &World) -> motes::Result<()> {
        write_world(&self.folder, self.format, world)?;
        let ending = self.format.extension();
        if world.colliders.iter().any(|c| c.is_moving() || c.limb.is_some()) {
            let name = format!("obstacles_{:06}.{ending}", world.step_count());
            write_obstacles(&self.folder.join(name), self.format, world)?;
        } else if self.frames.is_empty() && !world.colliders.is_empty() {
            let name = format!("obstacles.{ending}");
            write_obstacles(&self.folder.join(name), self.format, world)?;
        }
        let now = (world.step_count(), world.time());
        if write_skins(&self.folder, self.format, world)? {
            self.skins.push(now);
        }
        #[cfg(feature = "surface")]
        if let Some(smoothing) = self.smoothing
            && write_surfaces(&self.folder, self.format, world, smoothing)?
        {
            self.surfaces.push(now);
        }
        self.frames.push(now);
        Ok(())
    }

    /// Ends the run. False when surfaces were wanted and there was no fluid.
    pub fn finish(&self) -> motes::Result<bool> {
        if self.format == Format::Vtk {
            write_series(&self.folder, self.format, &self.frames)?;
            if !self.skins.is_empty() {
                write_skin_series(&self.folder, self.format, &self.skins)?;
            }
            #[cfg(feature = "surface")]
            if !self.surfaces.is_empty() {
                write_surface_series(&self.folder, self.format, &self.surfaces)?;
            }
        }
        Ok(self.smoothing.is_none() || !self.surfaces.is_empty())
    }
}

/// Obstacles as triangles, each a group; endless planes as squares under what is there.
pub fn write_obstacles(path: &Path, format: Format, world: &World) -> motes::Result<()> {
    let focus = picture::of(world, false).focus;
    let mut corners: Vec<Vec3> = Vec::new();
    let mut parts = Vec::new();
    for (k, character) in world.skeletons().map(|(_, character)| character).enumerate() {
        let Some(mesh) = character.mesh_at(world.time()) else { continue };
        let first = corners.len() / 3;
        // It is whole: a rig has been looked at before it comes into a world.
        corners.extend(mesh.triangles.iter().flatten().map(|&i| mesh.vertices[i as usize]));
        let name = match character.name.as_str() {
            "" => format!("skeleton.{k}"),
            name => name.into(),
        };
        parts.push((name, first..corners.len() / 3));
    }
    let is_seen = |c: &Collider| !c.limb.is_some_and(|limb| limb.covered);
    for (k, collider) in world.colliders.iter().enumerate().filter(|(_, c)| is_seen(c)) {
        let first = corners.len() / 3;
        corners.extend(triangles(collider, world.time(), focus).iter().flat_map(|t| t.p));
        let name = match collider.name.as_str() {
            "" => format!("collider.{k}"),
            name => name.into(),
        };
        parts.push((name, first..corners.len() / 3));
    }
    let count = corners.len();
    let numbers: Vec<u32> = (0..count as u32).collect();
    let (triangles, _) = numbers.as_chunks::<3>();
    let groups: Vec<Group> = parts
        .iter()
        .map(|(name, triangles)| Group { name, triangles: triangles.clone(), points: &[] })
        .collect();
    let frame = Frame {
        positions: &corners,
        velocities: &vec![Vec3::ZERO; count],
        radii: &vec![0.0; count],
        phases: &vec![0; count],
        ids: &numbers,
        edges: &[],
        triangles,
        groups: &groups,
    };
    write_frame(path, format, &frame)
}

fn triangles(collider: &Collider, time: f64, focus: Option<(Vec3, Vec3)>) -> Vec<Triangle> {
    let mut picture = Picture::default();
    let one = std::slice::from_ref(collider);
    tessellate::add_shapes(&mut picture, one, time);
    tessellate::add_planes(&mut picture, one, time, focus);
    if let (Some(height), Some((low, high))) = (picture.ground, focus) {
        tessellate::add_wall(&mut picture, Vec3::Y, Vec3::Y * height, low, high);
    }
    picture.triangles.append(&mut picture.walls);
    picture.triangles
}
