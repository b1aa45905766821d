//! Solids kept on the disk, by what they are made from.
//!
//! The name of a file is a hash of the mesh and the recipe, so a mesh that changes gets another file
//! and nothing is ever out of date. A file carries a checksum; one that is damaged, cut short or of
//! another version is made anew.

use std::path::{Path, PathBuf};

use super::mesh::TriangleMesh;
use super::solid::{Recipe, Solid};
use crate::file::write_atomically;
use crate::snapshot::checksum;
use crate::{Error, Result};

/// Begins every file. The number goes up whenever the same mesh would give another solid or the bytes
/// mean something else.
const HEAD: &[u8; 16] = b"motes solid 001\n";

/// Solids with more voxels are not kept: their files would have more than 300 MB.
const LARGEST: usize = 1 << 26;

/// A folder of solids.
#[derive(Clone, Debug, PartialEq)]
pub struct SolidCache {
    folder: PathBuf,
}

/// A solid and where it came from.
#[derive(Debug)]
pub struct Fetched {
    /// The solid.
    pub solid: Solid,
    /// Whether it was on the disk.
    pub from_disk: bool,
    /// Why it could not be kept. The solid is good all the same.
    pub not_kept: Option<Error>,
}

impl SolidCache {
    /// Uses a folder, which is made when the first solid is kept.
    pub fn new(folder: impl Into<PathBuf>) -> SolidCache {
        SolidCache { folder: folder.into() }
    }

    /// The file that a solid is kept in.
    pub fn path(&self, mesh: &TriangleMesh, recipe: &Recipe) -> PathBuf {
        let [a, b] = key(mesh, recipe);
        self.folder.join(format!("{a:016x}{b:016x}.solid"))
    }

    /// The solid of a mesh, from the disk or made now and kept.
    ///
    /// # Errors
    /// When it must be made and cannot be, as [`Solid::of`].
    pub fn fetch(&self, mesh: &TriangleMesh, recipe: &Recipe) -> Result<Fetched> {
        mesh.validate()?;
        let path = self.path(mesh, recipe);
        if let Some(solid) = read(&path) {
            return Ok(Fetched { solid, from_disk: true, not_kept: None });
        }
        let solid = Solid::of(mesh, recipe)?;
        let not_kept = self.keep(&path, &solid).err();
        Ok(Fetched { solid, from_disk: false, not_kept })
    }

    fn keep(&self, path: &Path, solid: &Solid) -> Result<()> {
        let voxels = solid.voxels.grid().len();
        if voxels > LARGEST {
            return Err(Error::TooLarge {
                what: "the solid".into(),
                needed: format!("{voxels} voxels"),
                limit: format!("at most {LARGEST} are kept on the disk"),
            });
        }
        std::fs::create_dir_all(&self.folder).map_err(|e| Error::io(&self.folder, e))?;
        let body = postcard::to_stdvec(solid)
            .map_err(|e| Error::io(path, std::io::Error::other(e.to_string())))?;
        write_atomically(path, |out| {
            out.write_all(HEAD)?;
            out.write_all(&checksum(&body).to_le_bytes())?;
            out.write_all(&body)
        })
    }
}

/// The solid in a file, none when there is no file or it is not whole.
fn read(path: &Path) -> Option<Solid> {
    let bytes = std::fs::read(path).ok()?;
    let (sum, body) = bytes.strip_prefix(HEAD)?.split_first_chunk::<8>()?;
    if checksum(body) != u64::from_le_bytes(*sum) {
        return None;
    }
    let solid: Solid = postcard::from_bytes(body).ok()?;
    // The checksum says that the bytes are those that were written; this says that they fit together.
    let count = solid.voxels.grid().len();
    let fits = solid.voxels.solid().len() == count
        && solid.field.distances().len() == count
        && solid.voxels.grid() == solid.field.grid();
    fits.then_some(solid)
}

/// Two hashes of everything that decides what a solid is like.
fn key(mesh: &TriangleMesh, recipe: &Recipe) -> [u64; 2] {
    let merge = recipe.merge.map_or(0, |bound| 1 << 32 | u64::from(bound.to_bits()));
    let counts = [mesh.vertices.len(), mesh.triangles.len(), recipe.resolution, recipe.padding];
    let mut bytes = HEAD.to_vec();
    counts.iter().for_each(|&count| bytes.extend((count as u64).to_le_bytes()));
    bytes.extend(merge.to_le_bytes());
    bytes.extend_from_slice(bytemuck::cast_slice(&mesh.vertices));
    bytes.extend_from_slice(bytemuck::cast_slice(&mesh.triangles));
    let first = checksum(&bytes);
    bytes.extend(first.to_le_bytes());
    bytes.reverse();
    [first, checksum(&bytes)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn tetrahedron() -> TriangleMesh {
        TriangleMesh {
            vertices: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        }
    }

    #[test]
    fn a_solid_is_made_once_and_read_after_that() {
        let folder = tempfile::tempdir().unwrap();
        let cache = SolidCache::new(folder.path().join("not/there/yet"));
        let recipe = Recipe { merge: Some(-2.0), ..Recipe::new(24) };
        let first = cache.fetch(&tetrahedron(), &recipe).unwrap();
        assert!(!first.from_disk && first.not_kept.is_none());
        let second = cache.fetch(&tetrahedron(), &recipe).unwrap();
        assert!(second.from_disk);
        assert_eq!(first.solid, second.solid);
    }

    #[test]
    fn whatever_changes_the_solid_changes_its_name() {
        let cache = SolidCache::new("folder");
        let plain = Recipe::new(24);
        let mut moved = tetrahedron();
        moved.vertices[3].z += 1e-6;
        let mut turned = tetrahedron();
        turned.triangles[0] = [0, 1, 2];
        let recipes = [
            plain,
            Recipe::new(25),
            Recipe { padding: 3, ..plain },
            Recipe { merge: Some(-2.0), ..plain },
            Recipe { merge: Some(0.0), ..plain },
        ];
        let mut names: Vec<PathBuf> =
            recipes.iter().map(|recipe| cache.path(&tetrahedron(), recipe)).collect();
        names.extend([moved, turned].map(|mesh| cache.path(&mesh, &plain)));
        let different: std::collections::HashSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len());
    }

    #[test]
    fn a_damaged_file_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let cache = SolidCache::new(folder.path());
        let (mesh, recipe) = (tetrahedron(), Recipe::new(12));
        let good = cache.fetch(&mesh, &recipe).unwrap().solid;
        let path = cache.path(&mesh, &recipe);
        let whole = std::fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        let mut other = whole.clone();
        other[14] += 1;
        for bytes in
            [&[][..], b"rubbish", &whole[..whole.len() - 1], &whole[..20], &flipped, &other]
        {
            std::fs::write(&path, bytes).unwrap();
            let again = cache.fetch(&mesh, &recipe).unwrap();
            assert!(!again.from_disk && again.not_kept.is_none());
            assert_eq!(again.solid.cubes, good.cubes);
            assert!(cache.fetch(&mesh, &recipe).unwrap().from_disk, "it was mended");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_is_no_reason_to_fail() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let fetched = SolidCache::new(&file).fetch(&tetrahedron(), &Recipe::new(8)).unwrap();
        assert!(!fetched.from_disk && fetched.not_kept.is_some());
        let error = SolidCache::new(&file).fetch(&TriangleMesh::default(), &Recipe::new(8));
        assert!(error.is_err());
    }
}
