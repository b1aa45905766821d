//! Adds up what the links of each body say, chunk by chunk (docs/physics.md, section 7).
//! f = ((X - X0) + u - c) - R q is how far a particle is from where the base of its body has it; q is
//! its place at rest, m its part of the mass of the body. The sums are of m f and of m f q^T.
//! Reads: position [m], predicted u [m], links, bodies. Writes: body_sums.
//! Order: each chunk of 64 links alone, lane by lane; deterministic.

use super::Scratch;
use super::shape::{self, rows};
use super::team::{Shared, Team};
use crate::world::World;

/// Chunks that a worker takes at a time.
const TAKEN: usize = 16;

pub(crate) fn run(team: &Team, world: &World, scratch: &mut Scratch) {
    let shape::Matched { states, chunks, sums, .. } = &mut scratch.matched;
    let links = &world.bodies.links;
    let places = world.particles.predictions();
    team.rows((Shared::new(sums), &chunks[..]), TAKEN, |_, (sums, chunks)| {
        for (sum, &chunk) in sums.iter_mut().zip(chunks) {
            let body = &states[chunk.body as usize];
            let reference = links.particle[body.first as usize] as usize;
            let numbers = shape::summed(chunk, |link| {
                let rest = links.rest[link];
                let q = rest.truncate();
                let place = shape::seen(places, links.particle[link] as usize, reference);
                let f = (place - body.center) - rows::times(&body.base, q);
                let [x, y, z] = (f * rest.w).to_array();
                let by_place = [q * x, q * y, q * z].map(|row| row.to_array());
                let [[xx, xy, xz], [yx, yy, yz], [zx, zy, zz]] = by_place;
                [x, y, z, xx, xy, xz, yx, yy, yz, zx, zy, zz]
            });
            sum[..numbers.len()].copy_from_slice(&numbers);
        }
    });
}
