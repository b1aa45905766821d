//! Round tubes along closed curves.

use super::surface::{Point, Surface, add, cross, scaled, turn, unit};

/// A torus 1 m across and 0.3 m thick, lying flat.
pub fn torus() -> Surface {
    let curve = |t: f64| {
        let (sin, cos) = (libm::sin(t), libm::cos(t));
        Curve {
            at: [0.35 * sin, 0.0, 0.35 * cos],
            along: [cos, 0.0, -sin],
            inwards: [-sin, 0.0, -cos],
        }
    };
    tube(curve, 48, 24, 0.15)
}

/// A trefoil knot about 1 m across, lying flat.
pub fn trefoil() -> Surface {
    // The curve is 2 high and 5.2 to 6 wide; the strands pass 2 apart, so a tube of 0.55 stays clear.
    const SCALE: f64 = 1.0 / 7.0;
    let sin = libm::sin;
    let cos = libm::cos;
    let curve = |t: f64| Curve {
        at: scaled([sin(t) + 2.0 * sin(2.0 * t), sin(3.0 * t), cos(t) - 2.0 * cos(2.0 * t)], SCALE),
        along: [cos(t) + 4.0 * cos(2.0 * t), 3.0 * cos(3.0 * t), -sin(t) + 4.0 * sin(2.0 * t)],
        inwards: [-sin(t) - 8.0 * sin(2.0 * t), -9.0 * sin(3.0 * t), -cos(t) + 8.0 * cos(2.0 * t)],
    };
    tube(curve, 120, 12, 0.55 * SCALE).centred()
}

/// A point of a curve with its first and second derivative, which may have any length.
struct Curve {
    at: Point,
    along: Point,
    inwards: Point,
}

/// A tube about a closed curve that bends everywhere, so that its Frenet frame closes as well.
fn tube(
    curve: impl Fn(f64) -> Curve,
    along_count: usize,
    around_count: usize,
    radius: f64,
) -> Surface {
    let mut surface = Surface::default();
    let rings: Vec<Vec<u32>> = (0..along_count)
        .map(|i| {
            let Curve { at, along, inwards } = curve(turn(i, along_count));
            let side = unit(cross(along, inwards));
            let normal = cross(side, unit(along));
            surface.ring(around_count, |k| {
                let angle = turn(k, around_count);
                let across = scaled(normal, radius * libm::cos(angle));
                add(at, add(across, scaled(side, radius * libm::sin(angle))))
            })
        })
        .collect();
    for i in 0..along_count {
        surface.band(&rings[i], &rings[(i + 1) % along_count]);
    }
    surface
}
