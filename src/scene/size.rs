//! How much a scene will hold, counted from its numbers before anything is allocated.

use super::document::Document;
use super::file::{EdgesWord, SceneFile};
use super::value::Count;
use crate::error::Result;
use crate::world::MemoryNeed;

/// What each object needs, with its path.
fn needs(file: &SceneFile) -> impl Iterator<Item = (String, MemoryNeed)> + '_ {
    let cloths = file.cloth.iter().enumerate().map(|(i, cloth)| {
        let n = product(&[cloth.columns, cloth.rows]);
        let bend = cloth.bend_compliance.is_some() || cloth.bend_stiffness.is_some();
        (format!("cloth.{i}"), need(n, 4, if bend { 3 } else { 0 }))
    });
    let boxes = file.boxes.iter().enumerate().map(|(i, lattice)| {
        let n = product(&lattice.counts.0);
        let edges = if lattice.edges == EdgesWord::Full { 13 } else { 3 };
        let volume = lattice.volume_compliance.is_some() || lattice.volume_stiffness.is_some();
        (format!("box.{i}"), need(n, edges, if volume { 6 } else { 0 }))
    });
    let grains = file.granular.iter().enumerate();
    let grains = grains.map(|(i, g)| (format!("granular.{i}"), need(product(&g.counts.0), 0, 0)));
    let loose = file.particles.iter().enumerate().map(|(i, list)| {
        let n = list.positions.len() as u128;
        (format!("particles.{i}"), need(n, u128::from(list.chain), 0))
    });
    let joints = MemoryNeed { edges: file.joint.len() as u128, ..Default::default() };
    let joints = std::iter::once(("joint".to_string(), joints));
    cloths.chain(boxes).chain(grains).chain(loose).chain(joints)
}

/// The sum over all objects, or an error that names the one with which it becomes too much.
pub(super) fn total(file: &SceneFile, document: &Document) -> Result<MemoryNeed> {
    let mut sum = MemoryNeed::default();
    for (path, more) in needs(file) {
        sum.particles = sum.particles.saturating_add(more.particles);
        sum.edges = sum.edges.saturating_add(more.edges);
        sum.corners4 = sum.corners4.saturating_add(more.corners4);
        sum.check(&path).map_err(|e| document.explain(e, &path))?;
    }
    Ok(sum)
}

fn need(particles: u128, edges_each: u128, corners4_each: u128) -> MemoryNeed {
    MemoryNeed {
        particles,
        edges: particles.saturating_mul(edges_each),
        corners4: particles.saturating_mul(corners4_each),
        neighbors: 0, // depends on sizes; the builder counts them
    }
}

fn product(counts: &[Count]) -> u128 {
    counts.iter().fold(1, |n, &c| u128::from(c.0).saturating_mul(n))
}
