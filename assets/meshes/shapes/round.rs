//! Shapes of revolution about the y axis.

use super::surface::{Point, Surface, turn};

const SEGMENTS: usize = 48;

/// A point of a horizontal circle. Angles run so that, seen from outside, a ring goes to the right.
fn on_circle(k: usize, count: usize, radius: f64, y: f64) -> Point {
    let angle = turn(k, count);
    [radius * libm::sin(angle), y, radius * libm::cos(angle)]
}

fn circle(surface: &mut Surface, count: usize, radius: f64, y: f64) -> Vec<u32> {
    surface.ring(count, |k| on_circle(k, count, radius, y))
}

fn reversed(ring: &[u32]) -> Vec<u32> {
    ring.iter().rev().copied().collect()
}

/// A cone of height and width 1 m, its point up.
pub fn cone() -> Surface {
    let mut surface = Surface::default();
    let base = circle(&mut surface, SEGMENTS, 0.5, -0.5);
    let below = surface.vertex([0.0, -0.5, 0.0]);
    let above = surface.vertex([0.0, 0.5, 0.0]);
    surface.cap(&reversed(&base), below);
    surface.cap(&base, above);
    surface
}

/// A cylinder of height and width 1 m.
pub fn cylinder() -> Surface {
    let mut surface = Surface::default();
    let low = circle(&mut surface, SEGMENTS, 0.5, -0.5);
    let high = circle(&mut surface, SEGMENTS, 0.5, 0.5);
    let below = surface.vertex([0.0, -0.5, 0.0]);
    let above = surface.vertex([0.0, 0.5, 0.0]);
    surface.cap(&reversed(&low), below);
    surface.band(&low, &high);
    surface.cap(&high, above);
    surface
}

/// An open half sphere of radius 0.5 m with its rim at y = 0.5 m: one surface without thickness.
/// It faces inwards, to what lies in it, as a floor faces up.
pub fn bowl() -> Surface {
    const RINGS: usize = 16;
    let mut surface = Surface::default();
    let radius = 0.5;
    let bottom = surface.vertex([0.0, 0.0, 0.0]);
    let mut below: Option<Vec<u32>> = None;
    for ring in 1..=RINGS {
        let angle = 0.25 * turn(ring, RINGS);
        let y = radius * (1.0 - libm::cos(angle));
        let here = circle(&mut surface, SEGMENTS, radius * libm::sin(angle), y);
        match &below {
            None => surface.cap(&here, bottom),
            Some(below) => surface.band(&reversed(below), &reversed(&here)),
        }
        below = Some(here);
    }
    surface
}

/// A bowl with a wall of 0.08 m, closed: what lies between half spheres of 0.5 and 0.42 m.
pub fn thick_bowl() -> Surface {
    const RINGS: usize = 12;
    let mut surface = Surface::default();
    let (outer, inner) = (0.5, 0.42);
    let ring_of = |surface: &mut Surface, ring: usize, radius: f64| {
        let angle = 0.25 * turn(ring, RINGS);
        circle(surface, SEGMENTS, radius * libm::sin(angle), outer - radius * libm::cos(angle))
    };
    let bottom = surface.vertex([0.0, 0.0, 0.0]);
    let mut below = ring_of(&mut surface, 1, outer);
    surface.cap(&reversed(&below), bottom);
    // Up on the outside, over the rim, and down on the inside.
    let up = (2..=RINGS).map(|ring| (ring, outer));
    for (ring, radius) in up.chain((1..=RINGS).rev().map(|ring| (ring, inner))) {
        let here = ring_of(&mut surface, ring, radius);
        surface.band(&below, &here);
        below = here;
    }
    let middle = surface.vertex([0.0, outer - inner, 0.0]);
    surface.cap(&below, middle);
    surface.centred()
}

/// A sharp cone, 1 m high with its plate, on a square plate of 1 m.
pub fn spike() -> Surface {
    const COUNT: usize = 32;
    let (half, plate, radius) = (0.5, 0.1, 0.15);
    let mut surface = Surface::default();
    // Corner k lies at the angle 45 + 90 k degrees of `on_circle`.
    let corner = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]];
    let low = surface.ring(4, |k| [half * corner[k][0], 0.0, half * corner[k][1]]);
    let high = surface.ring(4, |k| [half * corner[k][0], plate, half * corner[k][1]]);
    let foot = circle(&mut surface, COUNT, radius, plate);
    let tip = surface.vertex([0.0, 1.0, 0.0]);
    surface.quad(low[3], low[2], low[1], low[0]);
    surface.band(&low, &high);
    surface.cap(&foot, tip);
    // The plate's top around the foot: each quarter of the circle fans to its corner, and a triangle
    // fills in between one corner and the next.
    let quarter = COUNT / 4;
    for k in 0..4 {
        for i in k * quarter..(k + 1) * quarter {
            surface.triangle(foot[i], high[k], foot[(i + 1) % COUNT]);
        }
        let next = (k + 1) % 4;
        surface.triangle(foot[(k + 1) * quarter % COUNT], high[k], high[next]);
    }
    surface
}
