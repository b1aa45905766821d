//! Marching tetrahedra: the surface where a function is zero, cut out of a lattice of tetrahedra
//! cell by cell. Neighbouring cells share faces whole, so the result is always closed and manifold.

use std::collections::HashMap;

use super::surface::{Point, Surface, add, cross, dot, scaled, sub};

/// Lattice points, doubled so that they are whole numbers: corners of cubes have three even
/// coordinates, their centres three odd ones (a body-centred lattice, whose tetrahedra are nearly
/// regular and the same in a mirror).
type Site = [i32; 3];

/// The surface round the region where `field` is negative. The region must lie inside the box of
/// `cells` cubes of side `spacing` in each direction from the origin.
pub fn zero_surface(field: impl Fn(Point) -> f64, cells: [i32; 3], spacing: f64) -> Surface {
    let mut cutter = Cutter { field, spacing, surface: Surface::default(), cuts: HashMap::new() };
    for axis in 0..3 {
        let (right, up) = ((axis + 1) % 3, (axis + 2) % 3);
        for x in -cells[0]..cells[0] {
            for y in -cells[1]..cells[1] {
                for z in -cells[2]..cells[2] {
                    // An edge between two cube corners, and the four cube centres about it.
                    let from = [2 * x, 2 * y, 2 * z];
                    let mut to = from;
                    to[axis] += 2;
                    let centre = |r: i32, u: i32| {
                        let mut site = from;
                        site[axis] += 1;
                        site[right] += r;
                        site[up] += u;
                        site
                    };
                    let about = [centre(1, 1), centre(-1, 1), centre(-1, -1), centre(1, -1)];
                    for k in 0..4 {
                        cutter.cut([from, to, about[k], about[(k + 1) % 4]]);
                    }
                }
            }
        }
    }
    cutter.surface
}

/// Evens out the triangles: each vertex goes to the middle of its neighbours and back to the surface.
pub fn relaxed(mut surface: Surface, field: impl Fn(Point) -> f64, rounds: usize) -> Surface {
    for _ in 0..rounds {
        let mut sums = vec![([0.0; 3], 0.0); surface.vertices.len()];
        for &[a, b, c] in &surface.triangles {
            for (i, neighbour) in [(a, b), (b, c), (c, a)] {
                // Each edge of a closed surface comes once in either direction.
                let (sum, count) = &mut sums[i as usize];
                *sum = add(*sum, surface.vertices[neighbour as usize]);
                *count += 1.0;
            }
        }
        for (vertex, (sum, count)) in surface.vertices.iter_mut().zip(sums) {
            *vertex = onto_surface(scaled(sum, 1.0 / count), &field);
        }
    }
    surface
}

/// Newton's method along the gradient.
fn onto_surface(mut point: Point, field: impl Fn(Point) -> f64) -> Point {
    const STEP: f64 = 1e-5;
    for _ in 0..3 {
        let slope = [0, 1, 2].map(|axis| {
            let shifted = |by: f64| {
                let mut p = point;
                p[axis] += by;
                field(p)
            };
            (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP)
        });
        // Where shapes melt into one another the gradient can vanish: stay there.
        let slope_sq = dot(slope, slope).max(0.1);
        point = sub(point, scaled(slope, field(point) / slope_sq));
    }
    point
}

struct Cutter<F> {
    field: F,
    spacing: f64,
    surface: Surface,
    cuts: HashMap<(Site, Site), u32>,
}

impl<F: Fn(Point) -> f64> Cutter<F> {
    fn place(&self, site: Site) -> Point {
        site.map(|value| 0.5 * self.spacing * f64::from(value))
    }

    fn cut(&mut self, corners: [Site; 4]) {
        let (inside, outside): (Vec<Site>, Vec<Site>) =
            corners.into_iter().partition(|&site| (self.field)(self.place(site)) < 0.0);
        // The surface separates the inner corners from the outer ones; which way round its vertices
        // go follows from the handedness of the tetrahedron in that order.
        let [a, b, c, d] = match (inside.len(), outside.len()) {
            (1, 3) | (2, 2) | (3, 1) => {
                let mut all = inside.clone();
                all.extend(&outside);
                [all[0], all[1], all[2], all[3]]
            }
            _ => return,
        };
        let [at_a, at_b, at_c, at_d] = [a, b, c, d].map(|site| self.place(site));
        let turned = dot(sub(at_b, at_a), cross(sub(at_c, at_a), sub(at_d, at_a))) < 0.0;
        let mut corners = match inside.len() {
            1 => vec![self.crossing(a, b), self.crossing(a, c), self.crossing(a, d)],
            3 => vec![self.crossing(a, d), self.crossing(b, d), self.crossing(c, d)],
            _ => vec![
                self.crossing(a, c),
                self.crossing(a, d),
                self.crossing(b, d),
                self.crossing(b, c),
            ],
        };
        if turned {
            corners.reverse();
        }
        match corners[..] {
            [p, q, r] => self.surface.triangle(p, q, r),
            [p, q, r, s] => self.surface.quad(p, q, r, s),
            _ => {}
        }
    }

    /// The vertex on the edge between an inner and an outer site.
    fn crossing(&mut self, inside: Site, outside: Site) -> u32 {
        if let Some(&vertex) = self.cuts.get(&(inside, outside)) {
            return vertex;
        }
        let (from, to) = (self.place(inside), self.place(outside));
        let along = |t: f64| add(from, scaled(sub(to, from), t));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            if (self.field)(along(middle)) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        // Kept off the sites: cuts of several edges must not meet in one point there.
        const MARGIN: f64 = 0.08;
        let vertex = self.surface.vertex(along((0.5 * (low + high)).clamp(MARGIN, 1.0 - MARGIN)));
        self.cuts.insert((inside, outside), vertex);
        vertex
    }
}
