//! How much a scene will hold, counted from its numbers before anything is allocated.

use super::document::Document;
use super::file::SceneFile;
use super::value::Count;
use crate::error::Result;
use crate::world::MemoryNeed;

/// The sum over all objects and joints, or an error that names the object with which it becomes too
/// much.
pub(super) fn total(file: &SceneFile, document: &Document) -> Result<MemoryNeed> {
    let joints = MemoryNeed { edges: file.joint.len() as u128, ..Default::default() };
    let sum = file.objects().fold(joints, |sum, entry| plus(sum, entry.object.need()));
    // The check asks the system for free memory, so a scene that fits asks once.
    if sum.check("scene").is_ok() {
        return Ok(sum);
    }
    let mut sum = MemoryNeed::default();
    let objects = file.objects().map(|entry| (entry.path, entry.object.need()));
    for (path, more) in objects.chain(std::iter::once(("joint".to_string(), joints))) {
        sum = plus(sum, more);
        sum.check(&path).map_err(|e| document.explain(e, &path))?;
    }
    Ok(sum)
}

fn plus(a: MemoryNeed, b: MemoryNeed) -> MemoryNeed {
    MemoryNeed {
        particles: a.particles.saturating_add(b.particles),
        edges: a.edges.saturating_add(b.edges),
        corners4: a.corners4.saturating_add(b.corners4),
        neighbors: a.neighbors.saturating_add(b.neighbors),
    }
}

/// What so many particles need, with so many constraints for each.
pub(super) fn need(particles: u128, edges_each: u128, corners4_each: u128) -> MemoryNeed {
    MemoryNeed {
        particles,
        edges: particles.saturating_mul(edges_each),
        corners4: particles.saturating_mul(corners4_each),
        neighbors: 0, // depends on sizes; the builder counts them
    }
}

/// The product of counts, which may be far larger than any memory.
pub(super) fn product(counts: &[Count]) -> u128 {
    counts.iter().fold(1, |n, &c| u128::from(c.0).saturating_mul(n))
}
