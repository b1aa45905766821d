//! What belongs together in a world: objects, skins and edges, by slot. Made anew only when it
//! changed, and shared with the window.

use crate::painter::palette;
use crate::painter::picture::{hidden, hues};
use crate::painter::skin::{Skin, skins};
use motes::World;
use std::collections::HashSet;

/// Objects, skins and edges of a world.
#[derive(Default)]
pub struct Topology {
    /// Number of the object each slot belongs to; one past the last for none.
    pub object: Vec<u32>,
    /// The colour of each object.
    pub hues: Vec<[u8; 3]>,
    /// Whether a slot is drawn as part of a skin.
    pub skinned: Vec<bool>,
    /// Whether a slot is not drawn, since its object is not.
    pub hidden: Vec<bool>,
    /// Skins with the number of their object.
    pub skins: Vec<(u32, Skin)>,
    /// Distance constraints and their rest lengths.
    pub edges: Vec<([u32; 2], f32)>,
    pub objects: Vec<ObjectInfo>,
}

/// What the inspector says of an object.
pub struct ObjectInfo {
    pub name: String,
    pub particles: usize,
    /// Whether it is a body that keeps its shape.
    pub is_body: bool,
    /// Of the particles that are not fixed, kg.
    pub mass: f32,
}

/// What a topology depends on, cheap to compare.
#[derive(Clone, Default, PartialEq)]
pub struct TopologyKey {
    generation: u64,
    edits: u64,
    broken: u64,
    /// Steps put particles in another order now and then.
    order: u64,
    /// Particles that came out of emitters or went into sinks.
    flowed: u64,
}

impl TopologyKey {
    pub fn of(world: &World, generation: u64, edits: u64) -> Self {
        let ids = world.particles().ids();
        // Sampled: a sort moves nearly all of them.
        let stride = (ids.len() / 512).max(1);
        let order = ids.iter().step_by(stride).fold(ids.len() as u64, |hash, &id| {
            (hash ^ id).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17)
        });
        let sent = world.taps().iter().map(|tap| tap.sent());
        let flowed = world.sunk() + sent.sum::<u64>();
        TopologyKey { generation, edits, broken: world.broken(), order, flowed }
    }
}

impl Topology {
    /// `torn` says that constraints were cut by hand, which the world does not count as broken.
    pub fn of(world: &World, torn: bool) -> Self {
        let p = world.particles();
        let mut topology = Topology {
            object: vec![world.objects().count() as u32; p.len()],
            skinned: vec![false; p.len()],
            hidden: hidden(world),
            hues: hues(world),
            ..Topology::default()
        };
        let bodies: HashSet<_> = world.bodies().iter().filter_map(|body| body.object()).collect();
        for (number, (id, object)) in world.objects().enumerate() {
            let mut info = ObjectInfo {
                name: object.name.clone(),
                particles: 0,
                is_body: bodies.contains(&id),
                mass: 0.0,
            };
            for slot in object.particles().filter_map(|id| p.slot(id)) {
                // A particle of several objects counts as one of the first.
                topology.object[slot] = topology.object[slot].min(number as u32);
                info.particles += 1;
                let w = p.positions()[slot].w;
                info.mass += if w > 0.0 { 1.0 / w } else { 0.0 };
            }
            topology.objects.push(info);
        }
        topology.skins = skins(world, torn);
        for &slot in topology.skins.iter().flat_map(|(_, skin)| &skin.covered) {
            topology.skinned[slot] = true;
        }
        let set = world.distance();
        topology.edges = (0..set.len()).map(|i| (set.particles(i), set.rest()[i])).collect();
        topology
    }

    /// The colour of an object by its number; one past the last is that of no object.
    pub fn hue(&self, number: u32) -> [u8; 3] {
        self.hues.get(number as usize).copied().unwrap_or_else(|| palette::group(number))
    }

    /// Whether a slot is not drawn.
    pub fn is_hidden(&self, slot: usize) -> bool {
        self.hidden.get(slot).copied().unwrap_or(false)
    }
}
