//! Particles of one moment as a file that other programs open: PLY, VTK or OBJ. [`write_world`]
//! writes a whole world, [`write_frame`] any particles.

mod obj;
mod ply;
mod skins;
#[cfg(feature = "surface")]
mod surface;
mod vtk;
mod world;

pub use skins::{write_skins, write_skins_as};
#[cfg(feature = "surface")]
pub use surface::{FluidSurface, write_surface_series, write_surfaces};
pub use world::{write_series, write_skin_series, write_world, write_world_as};

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use glam::Vec3;

use crate::file::write_atomically;
use crate::{Error, Result};

/// A file format for particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Binary PLY with every particle property, and triangles as faces; no edges.
    Ply,
    /// Legacy VTK, an unstructured grid, binary: properties, edges and triangles. ParaView and
    /// meshio open it.
    Vtk,
    /// OBJ text: positions, edges as lines, triangles as faces, one group for each object.
    Obj,
}

impl Format {
    /// Every format, in the order of the help text.
    pub const ALL: [Format; 3] = [Format::Ply, Format::Vtk, Format::Obj];

    /// Ending of a file name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Ply => "ply",
            Format::Vtk => "vtk",
            Format::Obj => "obj",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.extension())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = Format::ALL.into_iter().find(|f| f.extension().eq_ignore_ascii_case(name));
        known.ok_or_else(|| {
            Error::value("format", format!("{name:?} is not known; give ply, vtk or obj"))
        })
    }
}

/// A named part of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group<'a> {
    /// Its name.
    pub name: &'a str,
    /// Which of the frame's triangles belong to it.
    pub triangles: Range<usize>,
    /// Particles that belong to it and are no corners of its triangles, as indices into `positions`.
    pub points: &'a [u32],
}

/// The particles of one moment. Slices per particle have the same length and order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame<'a> {
    /// Positions, m.
    pub positions: &'a [Vec3],
    /// Velocities, m/s.
    pub velocities: &'a [Vec3],
    /// Radii, m.
    pub radii: &'a [f32],
    /// Phases.
    pub phases: &'a [u32],
    /// Stable ids; of those of a world the lower 32 bits.
    pub ids: &'a [u32],
    /// Pairs of particles to draw a line between, as indices into `positions`.
    pub edges: &'a [[u32; 2]],
    /// Triangles of a skin, as indices into `positions`.
    pub triangles: &'a [[u32; 3]],
    /// Named parts, which OBJ files tell apart. Their triangles follow each other and are all of
    /// the frame's; without groups there is one nameless part.
    pub groups: &'a [Group<'a>],
}

impl Frame<'_> {
    /// The formats count in signed 32 bits: also the numbers of all VTK cells together, of which a
    /// particle takes two, an edge three and a triangle four.
    const MOST: usize = i32::MAX as usize / 12;

    fn check(&self) -> Result<()> {
        let count = self.positions.len();
        let lengths = [
            ("velocities", self.velocities.len()),
            ("radii", self.radii.len()),
            ("phases", self.phases.len()),
            ("ids", self.ids.len()),
        ];
        for (field, length) in lengths {
            if length != count {
                return Err(Error::value(
                    format!("frame.{field}"),
                    format!("has {length} entries for {count} positions; give one each"),
                ));
            }
        }
        check_indices("frame.edges", self.edges, count)?;
        check_indices("frame.triangles", self.triangles, count)?;
        let mut grouped = 0;
        for (k, group) in self.groups.iter().enumerate() {
            let field = format!("frame.groups.{k}");
            let follows = group.triangles.start == grouped && group.triangles.end >= grouped;
            if !follows || group.triangles.end > self.triangles.len() {
                let message = "its triangles do not follow those of the group before it";
                return Err(Error::value(field, message));
            }
            if let Some(&point) = group.points.iter().find(|&&i| i as usize >= count) {
                let message = format!("names particle {point}; there are {count}");
                return Err(Error::value(field, message));
            }
            grouped = group.triangles.end;
        }
        if !self.groups.is_empty() && grouped != self.triangles.len() {
            return Err(Error::value("frame.groups", "some triangles belong to no group"));
        }
        for (what, length) in
            [("particles", count), ("edges", self.edges.len()), ("triangles", self.triangles.len())]
        {
            if length > Self::MOST {
                return Err(Error::TooLarge {
                    what: "the exported frame".into(),
                    needed: format!("{length} {what}"),
                    limit: format!("a file holds {} at most; export a smaller scene", Self::MOST),
                });
            }
        }
        Ok(())
    }
}

fn check_indices<const N: usize>(field: &str, items: &[[u32; N]], count: usize) -> Result<()> {
    match items.iter().position(|item| item.iter().any(|&i| i as usize >= count)) {
        Some(k) => Err(Error::value(
            format!("{field}.{k}"),
            format!("{:?} names a particle that is not there; there are {count}", items[k]),
        )),
        None => Ok(()),
    }
}

/// Writes a frame to `path`, whole or not at all. The format is as asked, whatever the name ends in.
///
/// ```
/// use glam::Vec3;
/// use motes::export::{Format, Frame, write_frame};
///
/// let frame = Frame {
///     positions: &[Vec3::ZERO, Vec3::X],
///     velocities: &[Vec3::ZERO; 2],
///     radii: &[0.1; 2],
///     phases: &[0; 2],
///     ids: &[0, 1],
///     edges: &[[0, 1]],
///     ..Frame::default()
/// };
/// let folder = tempfile::tempdir()?;
/// write_frame(folder.path().join("frame.obj"), Format::Obj, &frame)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_frame(path: impl AsRef<Path>, format: Format, frame: &Frame<'_>) -> Result<()> {
    frame.check()?;
    write_atomically(path, |out| match format {
        Format::Ply => ply::write(out, frame),
        Format::Vtk => vtk::write(out, frame),
        Format::Obj => obj::write(out, frame),
    })
}

#[cfg(test)]
pub(crate) mod sample {
    //! A small frame with every kind of value, shared by the tests of the formats.
    use super::*;

    pub const FRAME: Frame<'static> = Frame {
        positions: &[
            Vec3::new(0.0, -1.5, 1e-7),
            Vec3::new(1.0, 0.1, 2.0),
            Vec3::new(-3.25, 1e6, 0.333_333_34),
        ],
        velocities: &[Vec3::new(1.0, 2.0, 3.0), Vec3::ZERO, Vec3::new(-0.5, 0.0, 9.81)],
        radii: &[0.05, 0.1, 0.2],
        phases: &[0, 0x0100_0003, u32::MAX],
        ids: &[2, 0, 1],
        edges: &[[0, 1], [1, 2]],
        triangles: &[[0, 1, 2]],
        groups: &[],
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_go_to_text_and_back() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        assert_eq!("PLY".parse::<Format>().unwrap(), Format::Ply);
        let error = "stl".parse::<Format>().unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("ply, vtk or obj"));
    }

    #[test]
    fn an_inconsistent_frame_is_refused_and_nothing_written() {
        let folder = tempfile::tempdir().unwrap();
        let good = sample::FRAME;
        let cases = [
            (Frame { velocities: &[], ..good }, "frame.velocities"),
            (Frame { radii: &[0.1; 4], ..good }, "frame.radii"),
            (Frame { phases: &[1], ..good }, "frame.phases"),
            (Frame { ids: &[1, 2], ..good }, "frame.ids"),
            (Frame { edges: &[[0, 1], [0, 3]], ..good }, "frame.edges.1"),
            (Frame { triangles: &[[0, 1, u32::MAX]], ..good }, "frame.triangles.0"),
            (
                Frame { groups: &[Group { name: "a", triangles: 0..2, points: &[] }], ..good },
                "frame.groups.0",
            ),
            (
                Frame { groups: &[Group { name: "a", triangles: 1..1, points: &[] }], ..good },
                "frame.groups.0",
            ),
            (
                Frame { groups: &[Group { name: "a", triangles: 0..1, points: &[3] }], ..good },
                "frame.groups.0",
            ),
            (
                Frame { groups: &[Group { name: "a", triangles: 0..0, points: &[1] }], ..good },
                "frame.groups:",
            ),
        ];
        for format in Format::ALL {
            for (frame, field) in &cases {
                let error = write_frame(folder.path().join("f"), format, frame).unwrap_err();
                assert!(error.to_string().starts_with(field), "{error}");
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn every_format_writes_a_file_also_of_nothing() {
        let folder = tempfile::tempdir().unwrap();
        for format in Format::ALL {
            for frame in [Frame::default(), sample::FRAME] {
                let path = folder.path().join("frame").with_extension(format.extension());
                write_frame(&path, format, &frame).unwrap();
                assert!(std::fs::metadata(&path).unwrap().len() > 0);
            }
        }
    }
}
