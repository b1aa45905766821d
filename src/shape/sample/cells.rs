//! Points by the cell of space that they lie in.

use glam::Vec3;

/// More cells than this are not made; they are made larger.
const MOST: f32 = 16_777_216.0;

/// A box of cells with their points, x fastest, so that neighbours along x lie side by side.
pub(super) struct Cells {
    low: Vec3,
    per_side: f32,
    size: [usize; 3],
    /// Where the points of each cell begin, and after the last cell where they end.
    starts: Vec<u32>,
    /// Each with its number among those that were given.
    points: Vec<(Vec3, u32)>,
}

impl Cells {
    /// Cells at least `side` metres wide.
    pub(super) fn of(points: impl Iterator<Item = Vec3> + Clone, side: f32) -> Cells {
        let (low, high) =
            points.clone().fold((Vec3::MAX, Vec3::MIN), |(low, high), p| (low.min(p), high.max(p)));
        let extent = (high - low).max(Vec3::ZERO);
        let mut side = side;
        while (extent / side + 1.0).element_product() > MOST {
            side *= 1.5;
        }
        let size = (extent / side).to_array().map(|n| n as usize + 1);
        let starts = vec![0; size.iter().product::<usize>() + 1];
        let mut cells = Cells { low, per_side: 1.0 / side, size, starts, points: Vec::new() };
        cells.fill(points);
        cells
    }

    /// Sorts by counting: how many are in each cell, then where each cell begins.
    fn fill(&mut self, points: impl Iterator<Item = Vec3> + Clone) {
        let slots: Vec<usize> = points.clone().map(|point| self.index(self.cell(point))).collect();
        for &slot in &slots {
            self.starts[slot] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            (*start, sum) = (sum, sum + *start);
        }
        self.points = vec![(Vec3::ZERO, 0); slots.len()];
        let mut next = self.starts.clone();
        for (k, (&slot, point)) in slots.iter().zip(points).enumerate() {
            self.points[next[slot] as usize] = (point, k as u32);
            next[slot] += 1;
        }
    }

    /// Calls `visit` with every point as near as a cell is wide, and some that are farther, and its
    /// number, always in the same order.
    #[inline]
    pub(super) fn visit(&self, point: Vec3, mut visit: impl FnMut(Vec3, u32)) {
        let cell = self.cell(point);
        let [xs, ys, zs] =
            std::array::from_fn(|k| cell[k].saturating_sub(1)..(cell[k] + 2).min(self.size[k]));
        for z in zs {
            for y in ys.clone() {
                let row = self.index([0, y, z]);
                let begin = self.starts[row + xs.start] as usize;
                let end = self.starts[row + xs.end] as usize;
                self.points[begin..end].iter().for_each(|&(other, k)| visit(other, k));
            }
        }
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.size[0] * (y + self.size[1] * z)
    }

    fn cell(&self, point: Vec3) -> [usize; 3] {
        let at = (point - self.low) * self.per_side;
        // Below the box `as` gives 0.
        std::array::from_fn(|k| (at[k] as usize).min(self.size[k] - 1))
    }
}
