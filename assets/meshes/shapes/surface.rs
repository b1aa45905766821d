//! Triangles while they are being made, in f64, and what all shapes need to place them.

/// A place, or a way: x, y, z; metres.
pub type Point = [f64; 3];

/// Triangles over shared vertices, counter-clockwise seen from outside; metres.
#[derive(Default)]
pub struct Surface {
    /// Where the corners are.
    pub vertices: Vec<Point>,
    /// Three corners each, counted from 0.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// Adds a corner and returns its number.
    pub fn vertex(&mut self, point: Point) -> u32 {
        self.vertices.push(point);
        (self.vertices.len() - 1) as u32
    }

    /// Adds a triangle.
    pub fn triangle(&mut self, a: u32, b: u32, c: u32) {
        self.triangles.push([a, b, c]);
    }

    /// Adds a face with four corners, as two triangles.
    pub fn quad(&mut self, a: u32, b: u32, c: u32, d: u32) {
        self.triangle(a, b, c);
        self.triangle(a, c, d);
    }

    /// A ring of `count` vertices.
    pub fn ring(&mut self, count: usize, point: impl Fn(usize) -> Point) -> Vec<u32> {
        (0..count).map(|i| self.vertex(point(i))).collect()
    }

    /// Joins two rings of equal size. Seen from outside, with `lower` below, both run to the right.
    pub fn band(&mut self, lower: &[u32], upper: &[u32]) {
        let count = lower.len();
        for i in 0..count {
            let next = (i + 1) % count;
            self.quad(lower[i], lower[next], upper[next], upper[i]);
        }
    }

    /// Closes a ring with a point that lies above it, in the sense of `band`.
    pub fn cap(&mut self, ring: &[u32], apex: u32) {
        for i in 0..ring.len() {
            self.triangle(ring[i], ring[(i + 1) % ring.len()], apex);
        }
    }

    /// Moves the middle of the bounding box to the origin.
    pub fn centred(mut self) -> Self {
        for axis in 0..3 {
            let values = self.vertices.iter().map(|v| v[axis]);
            let low = values.clone().fold(f64::INFINITY, f64::min);
            let high = values.fold(f64::NEG_INFINITY, f64::max);
            for vertex in &mut self.vertices {
                vertex[axis] -= 0.5 * (low + high);
            }
        }
        self
    }
}

pub fn add(a: Point, b: Point) -> Point {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn scaled(a: Point, factor: f64) -> Point {
    a.map(|value| value * factor)
}

pub fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn length(a: Point) -> f64 {
    libm::sqrt(dot(a, a))
}

pub fn unit(a: Point) -> Point {
    scaled(a, 1.0 / length(a))
}

/// The `k`-th of `count` equal steps round a circle, rad.
pub fn turn(k: usize, count: usize) -> f64 {
    std::f64::consts::TAU * k as f64 / count as f64
}
