//! Surfaces of bodies whose own shape is known: balls and rings. Where the body was made, the corners
//! of its surface lie a way off the shape that the steps of the lattice hide. From these corners it
//! is drawn on the shape; the way there turns, stretches and shears as the bonds of a corner do.

use glam::{Mat3, Vec2, Vec3};
use motes::world::Outline;
use motes::{Solid, World};
use std::collections::HashMap;

/// Bonds that lie in a plane, or are too few, leave a direction open. This share of their size is
/// added to each direction, so that a way there becomes short instead of wild.
const LEAST: f32 = 1e-3;

/// The particles that distance constraints join each with, by slot.
pub struct Bonds {
    /// Where those of each slot begin, and the end.
    start: Vec<usize>,
    around: Vec<u32>,
}

impl Bonds {
    pub fn of(world: &World) -> Self {
        let set = world.distance();
        let pairs = || (0..set.len()).map(|k| set.particles(k));
        let mut start = vec![0; world.particles().len() + 1];
        for slot in pairs().flatten() {
            start[slot as usize + 1] += 1;
        }
        for slot in 1..start.len() {
            start[slot] += start[slot - 1];
        }
        let mut next = start.clone();
        let mut around = vec![0; 2 * set.len()];
        for [a, b] in pairs() {
            for (from, to) in [(a, b), (b, a)] {
                around[next[from as usize]] = to;
                next[from as usize] += 1;
            }
        }
        Bonds { start, around }
    }

    fn around(&self, slot: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        self.around[self.start[slot]..self.start[slot + 1]].iter().map(|&slot| slot as usize)
    }
}

/// The surface of a body, drawn finer than its particles are. Where the body was made, each of its
/// vertices lies on the shape; from there it moves as the particles around it do.
pub struct Fit {
    /// The corners of the surface, by slot.
    slots: Vec<usize>,
    /// Where the bonds of each corner begin, and the end.
    start: Vec<usize>,
    /// The other end of a bond, and what takes a way to how much of it goes along the bond.
    bonds: Vec<(usize, Vec3)>,
    vertices: Vec<Vertex>,
    /// Corners by the number of their vertex. Each triangle of the skin has as many, one after the
    /// other.
    pub triangles: Vec<[usize; 3]>,
}

/// A point between the corners of a triangle, and the way from there to the shape.
#[derive(Clone, Copy)]
struct Vertex {
    /// Numbers of corners, and how near it is to each of them.
    corners: [usize; 3],
    shares: [f32; 3],
    /// On the shape, with each axis of the lattice scaled to -1..1.
    unit: Vec3,
    /// m.
    way: Vec3,
}

impl Vertex {
    fn corner(number: usize, unit: Vec3) -> Self {
        Vertex { corners: [number; 3], shares: [1.0, 0.0, 0.0], unit, way: Vec3::ZERO }
    }

    fn between(a: &Self, b: &Self) -> Self {
        let mut middle = Vertex { shares: [0.0; 3], way: Vec3::ZERO, ..*a };
        let mut used = 0;
        for (from, k) in [(a, 0), (a, 1), (a, 2), (b, 0), (b, 1), (b, 2)] {
            let (corner, share) = (from.corners[k], 0.5 * from.shares[k]);
            if share == 0.0 {
                continue;
            }
            let known = (0..used).find(|&k| middle.corners[k] == corner);
            // Both lie in one triangle, which has three corners.
            let place = known.unwrap_or(used).min(2);
            middle.corners[place] = corner;
            middle.shares[place] += share;
            used = used.max(place + 1);
        }
        middle.unit = 0.5 * (a.unit + b.unit);
        middle
    }
}

impl Fit {
    /// None for a shape that corners are not projected to. `rest` says where particles were when the
    /// body was made, `belongs` which are of the body. Triangles are quartered until there are more
    /// than `few`.
    pub fn of(
        outline: &Outline,
        triangles: &[[usize; 3]],
        few: usize,
        all: &Bonds,
        rest: impl Fn(usize) -> Vec3,
        belongs: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let mut slots: Vec<usize> = triangles.iter().flatten().copied().collect();
        slots.sort_unstable();
        slots.dedup();
        let units: Vec<Vec3> = slots.iter().map(|&slot| outline.locate(rest(slot))).collect();
        let shape = Shape::of(outline.solid, &units)?;
        let (mut start, mut bonds) = (vec![0], Vec::new());
        for &slot in &slots {
            let others = all.around(slot).filter(|&other| belongs(other));
            let bond = |other: usize| rest(other) - rest(slot);
            let spread = others
                .clone()
                .map(bond)
                .fold(Mat3::ZERO, |sum, d| sum + Mat3::from_cols(d * d.x, d * d.y, d * d.z));
            let size = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
            if size > 0.0 {
                let least = Mat3::from_diagonal(Vec3::splat(LEAST * size));
                let back = (spread + least).inverse();
                bonds.extend(others.map(|other| (other, back * bond(other))));
            }
            start.push(bonds.len());
        }
        let number = |slot: usize| slots.binary_search(&slot).unwrap_or(0);
        let mut fine: Vec<[usize; 3]> = triangles.iter().map(|t| t.map(number)).collect();
        let mut vertices: Vec<Vertex> =
            (0..slots.len()).map(|k| Vertex::corner(k, shape.project(units[k]))).collect();
        while (1..=few).contains(&fine.len()) {
            fine = quartered(&fine, &mut vertices, &shape);
        }
        for vertex in &mut vertices {
            let place = |k: usize| vertex.shares[k] * rest(slots[vertex.corners[k]]);
            vertex.way = outline.place(vertex.unit) - (0..3).map(place).sum::<Vec3>();
        }
        Some(Fit { slots, start, bonds, vertices, triangles: fine })
    }

    /// Where the vertices are, as the body is now. `turned` is memory to work with.
    pub fn places(
        &self,
        at: &dyn Fn(usize) -> Vec3,
        turned: &mut Vec<(Vec3, Mat3)>,
        places: &mut Vec<Vec3>,
    ) {
        turned.clear();
        turned.extend(self.slots.iter().zip(self.start.windows(2)).map(|(&slot, ends)| {
            let here = at(slot);
            // What became of directions around the corner: the deformation gradient.
            let bonds = self.bonds[ends[0]..ends[1]].iter();
            let turn = bonds.fold(Mat3::ZERO, |sum, &(other, back)| {
                let bond = at(other) - here;
                sum + Mat3::from_cols(bond * back.x, bond * back.y, bond * back.z)
            });
            (here, turn)
        }));
        places.clear();
        places.extend(self.vertices.iter().map(|vertex| {
            let from = |k: usize| {
                let (here, turn) = turned[vertex.corners[k]];
                vertex.shares[k] * (here + turn * vertex.way)
            };
            (0..3).map(from).sum::<Vec3>()
        }));
    }

    /// The particle next to a vertex.
    pub fn slot(&self, vertex: usize) -> usize {
        self.slots[self.vertices[vertex].corners[0]]
    }
}

/// Every triangle as four, with new vertices on the middles of its sides.
fn quartered(
    triangles: &[[usize; 3]],
    vertices: &mut Vec<Vertex>,
    shape: &Shape,
) -> Vec<[usize; 3]> {
    let mut middles: HashMap<[usize; 2], usize> = HashMap::new();
    let mut middle = |a: usize, b: usize| {
        *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
            let between = Vertex::between(&vertices[a], &vertices[b]);
            vertices.push(Vertex { unit: shape.project(between.unit), ..between });
            vertices.len() - 1
        })
    };
    let mut four = |&[a, b, c]: &[usize; 3]| {
        let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
        [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    };
    triangles.iter().flat_map(&mut four).collect()
}

/// A shape with each axis of the lattice scaled to -1..1, as large as the points of the lattice are
/// in the mean: a thin ring has none at its very top, and is flatter for it.
enum Shape {
    Ball {
        radius: f32,
    },
    /// `wide` is half the tube's width and height, in shares of `tube` and of the ring's height.
    Ring {
        tube: f32,
        wide: Vec2,
    },
}

impl Shape {
    fn of(solid: Solid, units: &[Vec3]) -> Option<Self> {
        let mean = |lengths: &dyn Fn(&Vec3) -> f32| {
            units.iter().map(lengths).sum::<f32>() / units.len().max(1) as f32
        };
        match solid {
            Solid::Sphere => Some(Shape::Ball { radius: mean(&|u| u.length()) }),
            Solid::Torus { tube } => {
                let half = units.iter().map(|&u| across(u, tube).abs()).fold(Vec2::ZERO, Vec2::max);
                let half = half.max(Vec2::splat(1e-6));
                let size = mean(&|&u| (across(u, tube) / half).length());
                Some(Shape::Ring { tube, wide: half * size })
            }
            _ => None,
        }
    }

    /// The point of the shape that lies towards another one.
    fn project(&self, unit: Vec3) -> Vec3 {
        match *self {
            Shape::Ball { radius } => unit.normalize_or_zero() * radius,
            Shape::Ring { tube, wide } => {
                let on = (across(unit, tube) / wide).normalize_or_zero() * wide;
                let out = Vec2::new(unit.x, unit.z).normalize_or_zero();
                let out = out * (1.0 - tube + tube * on.x);
                Vec3::new(out.x, on.y, out.y)
            }
        }
    }
}

/// From the middle of the tube of a ring: outward and up, in shares of its half width and height.
fn across(unit: Vec3, tube: f32) -> Vec2 {
    Vec2::new((unit.x.hypot(unit.z) - (1.0 - tube)) / tube, unit.y)
}
