//! Who is joined to whom by a distance constraint: such pairs do not collide.

use crate::world::ConstraintSet;

/// Partners of each particle.
#[derive(Default)]
pub(crate) struct Joined {
    start: Vec<u32>,
    partner: Vec<u32>,
    /// Where the next partner of each particle goes, while the table is made.
    next: Vec<u32>,
    revision: Option<(u64, usize)>,
}

impl Joined {
    /// Brings the table up to date; cheap when no constraint came or went.
    pub fn update(&mut self, edges: &ConstraintSet<2>, particle_count: usize) {
        let revision = (edges.revision(), particle_count);
        if self.revision == Some(revision) {
            return;
        }
        self.revision = Some(revision);
        let (a, b) = (&edges.corner[0], &edges.corner[1]);
        self.start.clear();
        self.start.resize(particle_count + 1, 0);
        for &p in a.iter().chain(b) {
            self.start[p as usize + 1] += 1;
        }
        for i in 0..particle_count {
            self.start[i + 1] += self.start[i];
        }
        self.partner.clear();
        self.partner.resize(2 * edges.len(), 0);
        let next = &mut self.next;
        next.clone_from(&self.start);
        for (&p, &q) in a.iter().zip(b) {
            for (p, q) in [(p, q), (q, p)] {
                self.partner[next[p as usize] as usize] = q;
                next[p as usize] += 1;
            }
        }
    }

    /// True when nobody is joined.
    pub fn is_empty(&self) -> bool {
        self.partner.is_empty()
    }
    /// Who is joined to a particle.
    #[inline]
    pub fn of(&self, a: usize) -> &[u32] {
        &self.partner[self.start[a] as usize..self.start[a + 1] as usize]
    }
}
