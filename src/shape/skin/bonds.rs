//! Who is joined with whom.

/// The particles that bonds join with each particle, by slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bonds {
    /// Where those of each slot begin, and the end.
    start: Vec<u32>,
    around: Vec<u32>,
}

impl Bonds {
    /// The bonds between pairs of `count` particles.
    ///
    /// ```
    /// use motes::shape::skin::Bonds;
    /// let bonds = Bonds::new(3, || [[0, 1], [2, 1]].into_iter());
    /// assert_eq!(bonds.around(1), [0, 2]);
    /// ```
    pub fn new<I: Iterator<Item = [u32; 2]>>(count: usize, pairs: impl Fn() -> I) -> Bonds {
        let mut start = vec![0; count + 1];
        for slot in pairs().flatten() {
            start[slot as usize + 1] += 1;
        }
        for slot in 1..start.len() {
            start[slot] += start[slot - 1];
        }
        let mut next = start.clone();
        let mut around = vec![0; start[count] as usize];
        for [a, b] in pairs() {
            for (from, to) in [(a, b), (b, a)] {
                around[next[from as usize] as usize] = to;
                next[from as usize] += 1;
            }
        }
        Bonds { start, around }
    }

    /// Those that are joined with a particle.
    pub fn around(&self, slot: u32) -> &[u32] {
        let [from, to] = [slot as usize, slot as usize + 1].map(|k| self.start[k] as usize);
        &self.around[from..to]
    }
}
