//! A world as a file, to go on from later: a resumed run gives the same bits.
//!
//! Layout, little endian: magic (8 bytes), format version (u32), fingerprint of the world's layout
//! (u64), payload length (u64), checksum of the payload (u64), payload (postcard).
//! Reading trusts nothing: a file that is cut short, damaged or made up is an error.

use crate::error::{Error, Result};
use crate::file::write_atomically;
use crate::world::World;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

mod types;

const MAGIC: [u8; 8] = *b"motes\0\x1a\n";
const VERSION: u32 = 10;
const HEADER: usize = 8 + 4 + 8 + 8 + 8;

/// What a snapshot holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// What the world was built from: a scene's name or path, or empty.
    pub scene: String,
    /// The world.
    pub world: World,
}

/// Writes a world, whole or not at all. `scene` says what it was built from; it may be empty.
///
/// ```
/// use motes::{Cloth, World, snapshot};
/// let mut world = World::new();
/// world.add_cloth(&Cloth::default())?;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("cloth.motes");
/// snapshot::save(&path, "by hand", &world)?;
/// assert_eq!(snapshot::load(&path)?.world, world);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn save(path: impl AsRef<Path>, scene: &str, world: &World) -> Result<()> {
    let bytes = to_bytes(scene, world)?;
    write_atomically(path, |out| out.write_all(&bytes))
}

/// Reads a world back.
///
/// # Errors
/// When the file cannot be read, is no snapshot, is damaged, comes from another version of the
/// engine, or holds a world that is not legal.
pub fn load(path: impl AsRef<Path>) -> Result<Snapshot> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let io = |source| Error::io(path, source);
    // A pipe might never be opened, nor end.
    let kind = std::fs::metadata(path).map_err(io)?;
    if kind.is_dir() {
        return Err(wrong(&name, "is a folder; give the name of a snapshot file"));
    }
    if !kind.is_file() {
        return Err(wrong(&name, "is not a file, and so is not a snapshot; give the name of one"));
    }
    let mut file = File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    file.by_ref().take(HEADER as u64).read_to_end(&mut bytes).map_err(io)?;
    let header = Header::read(&name, &bytes)?;
    // One byte more than announced tells a file that goes on from one that ends where it should;
    // the buffer grows with what is really there, not with what the header says.
    bytes.clear();
    file.take(header.length.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
    decode(&name, &header, &bytes)
}

/// The bytes [`save`] writes.
pub fn to_bytes(scene: &str, world: &World) -> Result<Vec<u8>> {
    let payload = postcard::to_stdvec(&(scene, world))
        .map_err(|e| Error::value("snapshot", format!("the world cannot be written: {e}")))?;
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(layout()?.to_le_bytes());
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(checksum(&payload).to_le_bytes());
    bytes.extend(payload);
    Ok(bytes)
}

/// Reads what [`to_bytes`] made; `name` is what messages call it.
pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Snapshot> {
    let (head, payload) = bytes.split_at(bytes.len().min(HEADER));
    decode(name, &Header::read(name, head)?, payload)
}

struct Header {
    length: u64,
    checksum: u64,
}

impl Header {
    fn read(name: &str, bytes: &[u8]) -> Result<Header> {
        let magic = &bytes[..bytes.len().min(MAGIC.len())];
        if magic.is_empty() || !MAGIC.starts_with(magic) {
            return Err(wrong(name, "is not a snapshot; make one with `motes run --save FILE`"));
        }
        let mut rest = &bytes[magic.len()..];
        let mut word = |size: usize| {
            let (now, later) = rest.split_at_checked(size).ok_or_else(|| cut_short(name))?;
            rest = later;
            Ok::<_, Error>(now.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte)))
        };
        let (version, layout_there) = (word(4)?, word(8)?);
        let header = Header { length: word(8)?, checksum: word(8)? };
        if version != u64::from(VERSION) {
            return Err(wrong(
                name,
                format!(
                    "has format version {version}, but this build reads version {VERSION}; use \
                     the build that wrote it, or run the scene again"
                ),
            ));
        }
        if layout_there != layout()? {
            return Err(wrong(
                name,
                "was written by a build whose worlds are laid out differently; use that build, or \
                 run the scene again",
            ));
        }
        Ok(header)
    }
}

fn decode(name: &str, header: &Header, payload: &[u8]) -> Result<Snapshot> {
    match (payload.len() as u64).cmp(&header.length) {
        std::cmp::Ordering::Less => return Err(cut_short(name)),
        std::cmp::Ordering::Greater => {
            return Err(wrong(name, "goes on after its end; it is damaged, save it again"));
        }
        std::cmp::Ordering::Equal => {}
    }
    if checksum(payload) != header.checksum {
        return Err(wrong(name, "is damaged (its checksum differs); save it again"));
    }
    // serde reserves at most 1 MiB on the word of a length prefix and grows with the elements that
    // are really there, so memory stays within a small multiple of the file.
    let (snapshot, rest) = postcard::take_from_bytes::<Snapshot>(payload)
        .map_err(|e| wrong(name, format!("does not hold a world ({e}); save it again")))?;
    if !rest.is_empty() {
        return Err(wrong(name, "holds more than a world; save it again"));
    }
    match snapshot.world.validate() {
        Ok(()) => Ok(snapshot),
        Err(Error::Value { field, message }) => Err(Error::input(name, None, field, message)),
        Err(other) => Err(other),
    }
}

fn wrong(name: &str, message: impl Into<String>) -> Error {
    Error::input(name, None, "snapshot", message)
}

fn cut_short(name: &str) -> Error {
    wrong(name, "ends too early; it was cut short, copy or save it again")
}

/// Postcard stores neither names nor types, so a world of another layout would be read as nonsense.
/// The fingerprint is made from the types that a snapshot is read into.
fn layout() -> Result<u64> {
    static LAYOUT: OnceLock<Option<u64>> = OnceLock::new();
    let made = LAYOUT.get_or_init(|| Some(checksum(types::text_of::<Snapshot>().ok()?.as_bytes())));
    made.ok_or_else(|| Error::value("snapshot", "the types of a world have no fingerprint"))
}

/// 64 bits over words of 8 bytes; finds damage, not malice.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^ hash >> 32
    };
    let mut words = bytes.chunks_exact(8);
    let mut hash = mix(0xcbf2_9ce4_8422_2325, bytes.len() as u64);
    for word in &mut words {
        hash = mix(hash, word.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b)));
    }
    mix(hash, words.remainder().iter().rev().fold(0, |w, &b| w << 8 | u64::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Buffer, Mark};

    /// Every part of the world is in the fingerprint, however deep, and what the table of buffers
    /// says is saved is a field of a snapshot.
    #[test]
    fn the_fingerprint_sees_the_whole_world() {
        let text = types::text_of::<Snapshot>().unwrap();
        let last =
            ["next_group: u32", "Snapshot 2 [", "mesh: TriangleMesh 2 [", "position: seq [ Vec4"];
        for part in last {
            assert!(text.contains(part), "`{part}` is not in {text}");
        }
        for buffer in Buffer::ALL.iter().filter(|b| b.is(Mark::Saved)) {
            // Three are made of fields that have another name.
            let field = match buffer {
                Buffer::Surfaces => "surface".to_string(),
                Buffer::Winds => "forces".to_string(),
                Buffer::BodyFields => "made_of".to_string(),
                _ => buffer.name(),
            };
            assert!(text.contains(&format!(" {field}: ")), "{buffer:?} is not saved");
        }
        assert!(!text.contains(" impacts: "), "scratch is not saved");
    }
}
