//! A sitting rabbit of spheres and stretched spheres that melt into one another.

use super::surface::{Point, Surface, length, sub};
use super::tetrahedra::{relaxed, zero_surface};

/// A rabbit about 1 m high, looking towards +z.
pub fn rabbit() -> Surface {
    relaxed(zero_surface(field, [7, 11, 9], 0.06), field, 6).centred()
}

struct Ball {
    at: Point,
    radii: Point,
}

/// The left half and the middle; what lies off the middle is mirrored.
const BALLS: [Ball; 8] = [
    // Body, chest and head.
    Ball { at: [0.0, -0.22, -0.06], radii: [0.25, 0.24, 0.28] },
    Ball { at: [0.0, -0.15, 0.09], radii: [0.18, 0.26, 0.16] },
    Ball { at: [0.0, 0.13, 0.17], radii: [0.16, 0.15, 0.19] },
    // Haunch, hind foot, front paw, ear, tail.
    Ball { at: [0.17, -0.30, -0.08], radii: [0.13, 0.15, 0.18] },
    Ball { at: [0.18, -0.42, 0.06], radii: [0.07, 0.055, 0.16] },
    Ball { at: [0.105, -0.36, 0.20], radii: [0.065, 0.12, 0.075] },
    Ball { at: [0.09, 0.37, 0.07], radii: [0.06, 0.22, 0.05] },
    Ball { at: [0.0, -0.24, -0.36], radii: [0.09, 0.09, 0.09] },
];

/// About the distance to the nearest ball, rounded off where two are equally near.
fn field(p: Point) -> f64 {
    let p = [p[0].abs(), p[1], p[2]];
    BALLS.iter().map(|ball| distance(p, ball)).reduce(smooth_min).unwrap_or(f64::INFINITY)
}

/// Exact for a sphere and of first order near the surface of a stretched one.
fn distance(p: Point, ball: &Ball) -> f64 {
    let q = sub(p, ball.at);
    let in_radii = length([q[0] / ball.radii[0], q[1] / ball.radii[1], q[2] / ball.radii[2]]);
    let slope = length([
        q[0] / (ball.radii[0] * ball.radii[0]),
        q[1] / (ball.radii[1] * ball.radii[1]),
        q[2] / (ball.radii[2] * ball.radii[2]),
    ]);
    if slope > 0.0 { in_radii * (in_radii - 1.0) / slope } else { -ball.radii[0] }
}

/// The smaller of two distances, less up to `BLEND / 4` where they are alike.
fn smooth_min(a: f64, b: f64) -> f64 {
    const BLEND: f64 = 0.06;
    let near = (BLEND - (a - b).abs()).max(0.0) / BLEND;
    a.min(b) - 0.25 * BLEND * near * near
}
