//! What a file holds: a skeleton, its clips, and perhaps a mesh.

use serde::{Deserialize, Serialize};
use std::path::Path;

use super::{Clip, Skeleton, SkinnedMesh, bvh, gltf};
use crate::{Error, Result};

/// A skeleton with its clips and the mesh that follows it, as a file has them.
///
/// ```
/// use motes::skeleton::Rig;
///
/// let text = b"HIERARCHY
/// ROOT arm { OFFSET 0 0 0 CHANNELS 1 Zrotation
///   End Site { OFFSET 0 2 0 } }
/// MOTION
/// Frames: 2
/// Frame Time: 0.5
/// 0
/// 90
/// ";
/// let rig = Rig::from_bytes("arm.bvh", text, None)?;
/// assert_eq!((rig.skeleton.lengths()[0], rig.clips[0].duration()), (2.0, 0.5));
/// let pose = rig.skeleton.pose(rig.clips.first(), 0.5);
/// let tip = pose.world[0].transform_point3(glam::DVec3::Y * 2.0);
/// assert!(tip.distance(glam::DVec3::X * -2.0) < 1e-6);
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rig {
    /// The bones.
    pub skeleton: Skeleton,
    /// How they move; may be empty.
    pub clips: Vec<Clip>,
    /// What follows them; BVH files have none.
    pub mesh: Option<SkinnedMesh>,
    /// What of the file was left out, in words.
    pub notes: Vec<String>,
}

impl Rig {
    /// Reads a BVH, glTF or GLB file; which it is, its content tells. Buffers of a glTF file may be in
    /// files beside it.
    ///
    /// # Errors
    /// Names the file, the place in it, what is wrong there and what would be right.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let bytes = read_file(&name, path)?;
        let folder = path.parent().map(|folder| match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        });
        Self::from_bytes(&name, &bytes, folder)
    }

    /// Reads a file that is already in memory; `name` stands for it in errors, and `folder` is where
    /// the buffers of a glTF file are.
    ///
    /// # Errors
    /// As [`Rig::load`].
    pub fn from_bytes(name: &str, bytes: &[u8], folder: Option<&Path>) -> Result<Self> {
        let text = bytes.trim_ascii_start();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
        let rig = if bytes.starts_with(b"glTF") || text.starts_with(b"{") {
            gltf::read(name, bytes, folder)?
        } else if text.get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"HIERARCHY")) {
            bvh::read(name, bytes)?
        } else {
            let message = "is not a skeleton; give a BVH file (it begins with HIERARCHY), a glTF \
                           2.0 file or a GLB file";
            return Err(Error::input(name, None, "skeleton", message));
        };
        rig.validate().map_err(|error| match error {
            Error::Value { field, message } => Error::input(name, None, field, message),
            other => other,
        })?;
        Ok(rig)
    }

    /// The clip of a name.
    ///
    /// # Errors
    /// When there is none; names those that there are.
    pub fn clip(&self, name: &str) -> Result<u32> {
        if let Some(k) = self.clips.iter().position(|clip| clip.name == name) {
            return Ok(k as u32);
        }
        let message = match self.clips.is_empty() {
            true => format!("there is no clip {name:?}; the file has none at all"),
            false => {
                let known = self.clips.iter().map(|clip| clip.name.as_str());
                format!("there is no clip {name:?}; {}", crate::suggest::instead(name, known))
            }
        };
        Err(Error::value("clip", message))
    }

    /// Checks what was built by hand or read from a snapshot.
    ///
    /// # Errors
    /// Names the first thing that is not whole.
    pub fn validate(&self) -> Result<()> {
        let below = |path: String| {
            move |error: Error| match error {
                Error::Value { field, message } => Error::value(format!("{path}.{field}"), message),
                other => other,
            }
        };
        let bones = self.skeleton.bones.len();
        if bones == 0 {
            return Err(Error::value("skeleton.bones", "there are none; give at least one"));
        }
        self.skeleton.validate().map_err(below("skeleton".into()))?;
        for (k, clip) in self.clips.iter().enumerate() {
            clip.validate(bones).map_err(below(format!("clips.{k}")))?;
        }
        match &self.mesh {
            Some(mesh) => mesh.validate(bones).map_err(below("mesh".into())),
            None => Ok(()),
        }
    }
}

/// The bytes of a file; a device or a pipe might never end.
pub(super) fn read_file(name: &str, path: &Path) -> Result<Vec<u8>> {
    let unreadable = |error: std::io::Error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::NotFound => "check the spelling and the folder",
            std::io::ErrorKind::PermissionDenied => "check the permissions of the file",
            _ => "give a file that can be read",
        };
        Error::input(name, None, "skeleton", format!("cannot be opened ({error}); {remedy}"))
    };
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        let message = "is not a file; give a BVH, glTF or GLB file";
        return Err(Error::input(name, None, "skeleton", message));
    }
    std::fs::read(path).map_err(unreadable)
}
