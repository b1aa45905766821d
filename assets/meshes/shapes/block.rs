//! Shapes with flat sides: profiles in the x-y plane, drawn out along z.

use super::surface::Surface;

type Profile = Vec<[f64; 2]>;

/// A cube of 1 m.
pub fn cube() -> Surface {
    extruded(&rectangle(0.5), 0.5)
}

/// A cube of 1 m with a square hole of 0.4 m through it along z.
pub fn cube_with_hole() -> Surface {
    let mut surface = Surface::default();
    let mut ends = Vec::new();
    for z in [-0.5, 0.5] {
        let mut ring = |half: f64| {
            let corners = rectangle(half);
            surface.ring(4, |k| [corners[k][0], corners[k][1], z])
        };
        ends.push((ring(0.5), ring(0.2)));
    }
    let (back, front) = (&ends[0], &ends[1]);
    surface.band(&back.0, &front.0);
    surface.band(&front.0, &front.1);
    surface.band(&front.1, &back.1);
    surface.band(&back.1, &back.0);
    surface
}

/// A blade 1 m long whose edge points up at y = 0.8 m, on a low base.
pub fn axe() -> Surface {
    let right = [[0.3, 0.0], [0.3, 0.1], [0.08, 0.1]];
    let mut profile: Profile = right.to_vec();
    profile.push([0.0, 0.8]);
    profile.extend(right.iter().rev().map(|&[x, y]| [-x, y]));
    extruded(&profile, 0.5)
}

/// A block 0.7 m high beside a floor 0.2 m high, each 1 m square.
pub fn ledge() -> Surface {
    let profile = vec![[-1.0, 0.0], [1.0, 0.0], [1.0, 0.2], [0.0, 0.2], [0.0, 0.7], [-1.0, 0.7]];
    extruded(&profile, 0.5)
}

/// Six steps down towards +x, 0.125 m high, 0.2 m deep, 1 m wide.
pub fn stairs() -> Surface {
    const STEPS: usize = 6;
    let (rise, run) = (0.125, 0.2);
    let left = -0.5 * run * STEPS as f64;
    let mut profile = vec![[left, 0.0]];
    for step in 0..STEPS {
        let x = left + run * (STEPS - step) as f64;
        profile.push([x, rise * step as f64]);
        profile.push([x, rise * (step + 1) as f64]);
    }
    profile.push([left, rise * STEPS as f64]);
    extruded(&profile, 0.5)
}

fn rectangle(half: f64) -> Profile {
    vec![[-half, -half], [half, -half], [half, half], [-half, half]]
}

/// A counter-clockwise profile drawn out from -half to +half along z.
fn extruded(profile: &Profile, half: f64) -> Surface {
    let mut surface = Surface::default();
    let [back, front] =
        [-half, half].map(|z| surface.ring(profile.len(), |k| [profile[k][0], profile[k][1], z]));
    surface.band(&back, &front);
    for [a, b, c] in ears(profile) {
        surface.triangle(front[a], front[b], front[c]);
        surface.triangle(back[c], back[b], back[a]);
    }
    surface
}

/// Cuts a simple counter-clockwise polygon into triangles, ear by ear.
fn ears(profile: &Profile) -> Vec<[usize; 3]> {
    let twice_area = |a: usize, b: usize, c: usize| {
        let ([ax, ay], [bx, by], [cx, cy]) = (profile[a], profile[b], profile[c]);
        (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    };
    let mut left: Vec<usize> = (0..profile.len()).collect();
    let mut triangles = Vec::new();
    while left.len() > 3 {
        let count = left.len();
        let corners = |k: usize| (left[(k + count - 1) % count], left[k], left[(k + 1) % count]);
        let is_ear = |&k: &usize| {
            let (a, b, c) = corners(k);
            let covers = |&p: &usize| {
                ![a, b, c].contains(&p)
                    && twice_area(a, b, p) >= 0.0
                    && twice_area(b, c, p) >= 0.0
                    && twice_area(c, a, p) >= 0.0
            };
            twice_area(a, b, c) > 1e-12 && !left.iter().any(covers)
        };
        let ear = (0..count).find(is_ear).expect("a simple polygon has an ear");
        let (a, b, c) = corners(ear);
        triangles.push([a, b, c]);
        left.remove(ear);
    }
    triangles.push([left[0], left[1], left[2]]);
    triangles
}
