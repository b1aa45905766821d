//! The yardstick: distance constraints in order of creation, as plainly as they can be written.
//! Compare ratios to it, not machines.

use motes::World;

pub struct Yardstick {
    positions: Vec<[f32; 4]>,
    edges: Vec<([u32; 2], f32)>,
}

impl Yardstick {
    /// The constraints of a cloth with so many columns. A world keeps them by colour, which is
    /// already three times as fast, so they are put back in order of creation: cell by cell the
    /// edge to the right, the one down, and both diagonals.
    pub fn of_cloth(world: &World, columns: u32) -> Self {
        let set = world.distance();
        let mut edges: Vec<_> = (0..set.len()).map(|i| (set.particles(i), set.rest()[i])).collect();
        edges.sort_by_key(|&([a, b], _)| match b - a {
            1 => (a, 0),
            d if d == columns => (a, 1),
            d if d == columns + 1 => (a, 2),
            _ => (a - 1, 3),
        });
        let positions = world.particles().positions().iter().map(|p| p.to_array()).collect();
        Yardstick { positions, edges }
    }

    /// How many constraints.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// One sweep.
    pub fn iterate(&mut self) {
        let p = &mut self.positions;
        for &([a, b], rest) in &self.edges {
            let (pa, pb) = (p[a as usize], p[b as usize]);
            let d = [pa[0] - pb[0], pa[1] - pb[1], pa[2] - pb[2]];
            let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
            let s = (rest - length) / ((pa[3] + pb[3]) * length);
            for k in 0..3 {
                p[a as usize][k] += d[k] * s * pa[3];
                p[b as usize][k] -= d[k] * s * pb[3];
            }
        }
    }

    /// Sum of |C|, m.
    #[allow(dead_code)] // not every bench runs it to an end
    pub fn residual(&self) -> f64 {
        let error = |&([a, b], rest): &([u32; 2], f32)| {
            let [pa, pb] = [a, b].map(|i| glam::Vec4::from(self.positions[i as usize]).truncate());
            f64::from((pa.distance(pb) - rest).abs())
        };
        self.edges.iter().map(error).sum()
    }
}
