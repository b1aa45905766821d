//! Lists the particles within reach of each by testing every pair: the oracle, for small scenes.
//! A pair is listed when |a - b| <= reach a + reach b.
//! Reads: points [x, y, z, reach] m. Writes: neighbour lists.
//! Order: each particle its own list, in order of slot.

use super::search::broad::{Accept, Broad, SearchTools};
use super::search::lists::Lists;
use super::team::Team;
use crate::error::Result;
use crate::simd::Plain;
use glam::Vec4;

/// Particles a block holds: few, for each meets all others.
const BLOCK: usize = 64;

pub(crate) fn run<A: Accept>(
    team: &Team,
    broad: &Broad,
    accept: &A,
    lists: &mut Lists<A::Entry, SearchTools>,
) -> Result<()> {
    let points = &broad.points[..];
    lists.fill(team, points.len(), (points.len(), BLOCK), |range, desk| {
        for i in range {
            let (out, SearchTools { hits, .. }) = desk.parts();
            let hits_to = A::room(out, hits);
            let near = |j: &u32| within_reach(points[i], points[*j as usize]) && *j as usize != i;
            let first = accept.floor(i).map_or(0, |floor| floor as u32 + 1);
            hits_to.extend((first..points.len() as u32).filter(near));
            accept.keep::<Plain>(i, hits, out);
            desk.end(i);
        }
    })
}

/// Whether two points [x, y, z, reach] are neighbours: the one rule, in the one order of rounding.
#[inline]
fn within_reach(a: Vec4, b: Vec4) -> bool {
    let d = a - b;
    let reach = a.w + b.w;
    d.x * d.x + d.y * d.y + d.z * d.z <= reach * reach
}
