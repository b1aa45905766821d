//! What both painters are asked for: small pictures, each with one thing that could go wrong.

use crate::painter::{Camera, Droplet, Line, Picture, Sphere, Theme, Triangle, palette};
use glam::Vec3;

pub const RED: [u8; 3] = [220, 30, 30];
pub const BLUE: [u8; 3] = [30, 30, 220];
const GREY: [u8; 3] = [190, 190, 190];

pub fn camera() -> Camera {
    Camera { eye: Vec3::new(0.0, 0.0, 5.0), target: Vec3::ZERO, up: Vec3::Y, fov_y: 0.8 }
}

fn from_above() -> Camera {
    Camera { eye: Vec3::new(1.0, 3.0, 5.0), ..camera() }
}

pub fn sphere(x: f32, y: f32, z: f32, radius: f32, color: [u8; 3]) -> Sphere {
    Sphere { center: Vec3::new(x, y, z), radius, color }
}

fn line(a: Vec3, b: Vec3, color: [u8; 3], width_px: f32) -> Line {
    Line { a, b, color, width_px }
}

/// A square that faces +z, turned about y and moved.
fn square(angle: f32, at: Vec3, half: f32, color: [u8; 3], two_sided: bool) -> Vec<Triangle> {
    let turn = glam::Quat::from_rotation_y(angle);
    let corner = |x: f32, y: f32| turn * Vec3::new(x * half, y * half, 0.0) + at;
    let [a, b, c, d] = [corner(-1., -1.), corner(1., -1.), corner(1., 1.), corner(-1., 1.)];
    let n = [turn * Vec3::Z; 3];
    [[a, b, c], [a, c, d]].map(|p| Triangle { p, n, color, two_sided }).to_vec()
}

/// Balls all around the camera, also behind it and around the eye.
fn crowd() -> Vec<Sphere> {
    let at = |i: u32, step: u32| (i * i * step % 997) as f32 / 997.0 * 12.0 - 6.0;
    (0..900)
        .map(|i| sphere(at(i, 31), at(i, 57), at(i, 71) + 4.0, 0.25, palette::group(i)))
        .collect()
}

fn ball() -> Picture {
    Picture { spheres: vec![sphere(0.7, 0.4, 0.0, 0.6, RED)], ..Default::default() }
}

/// A dome of triangles with round normals, some of which say nothing.
fn dome() -> Vec<Triangle> {
    let at = |i: u32, j: u32| {
        let (turn, rise) = (i as f32 * std::f32::consts::TAU / 9.0, j as f32 * 0.5);
        Vec3::new(turn.cos() * rise.cos(), rise.sin(), turn.sin() * rise.cos())
    };
    let mut made = Vec::new();
    for i in 0..9 {
        for j in 0..3 {
            let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
            for p in [[a, b, c], [a, c, d]] {
                let n = if i % 3 == 0 { [Vec3::NAN; 3] } else { p };
                made.push(Triangle { p, n, color: GREY, two_sided: i % 2 == 0 });
            }
        }
    }
    made
}

/// A shaken block of water, oil on it, and some of it thrown up.
fn water() -> Picture {
    let mut droplets = Vec::new();
    for k in 0..18 * 12 * 18 {
        let [x, y, z] = [k % 18, k / 18 % 12, k / 216].map(|i| i as f32 * 0.12);
        let shake = [31, 57, 71].map(|step| 0.03 * ((k * step % 97) as f32 / 48.0 - 1.0));
        let center = Vec3::new(x - 1.02, y - 0.94, z - 1.02) + Vec3::from(shake);
        let fluid = u32::from(y > 0.9);
        droplets.push(Droplet { center, radius: 0.06, color: palette::fluid(fluid), speed: x });
    }
    for k in 0..60 {
        let turn = k as f32 * 0.7;
        let center = Vec3::new(turn.cos(), 0.8 + 0.01 * k as f32, turn.sin()) * 0.9;
        droplets.push(Droplet { center, radius: 0.06, color: palette::fluid(0), speed: 9.0 });
    }
    Picture { droplets, size: 4.0, ..Default::default() }
}

/// What cannot be drawn, beside what can.
fn strays() -> Picture {
    let bad = [Vec3::NAN, Vec3::INFINITY, Vec3::splat(3e38), Vec3::splat(-3e38)];
    let mut picture = ball();
    for center in bad {
        picture.spheres.push(Sphere { center, radius: 0.5, color: BLUE });
        picture.lines.push(line(center * 2.0, Vec3::ZERO, BLUE, 2.0));
        let (p, n) = ([center, Vec3::X, Vec3::Y], [Vec3::Z; 3]);
        picture.triangles.push(Triangle { p, n, color: BLUE, two_sided: true });
    }
    for radius in [f32::NAN, f32::INFINITY, 0.0, -1.0] {
        picture.spheres.push(sphere(0.0, 0.0, 1.0, radius, BLUE));
        picture.lines.push(line(Vec3::ZERO, Vec3::X, BLUE, radius));
    }
    // Behind the eye, and around it.
    picture.spheres.push(sphere(0.0, 0.0, 9.0, 1.0, BLUE));
    picture.spheres.push(sphere(0.0, 0.0, 5.1, 0.5, BLUE));
    picture.lines.push(line(Vec3::new(-1.0, 0.0, 7.0), Vec3::new(1.0, 0.0, 6.0), BLUE, 3.0));
    picture.triangles.extend(square(0.0, Vec3::Z * 8.0, 1.0, BLUE, true));
    picture
}

/// One of them.
pub fn named(name: &str) -> (Picture, Camera) {
    let found = all().into_iter().find(|(own, ..)| *own == name);
    found.map(|(_, picture, camera)| (picture, camera)).unwrap()
}

/// Each picture with its camera and what it shows.
pub fn all() -> Vec<(&'static str, Picture, Camera)> {
    let spheres = |spheres| Picture { spheres, ..Default::default() };
    let floor = |picture| Picture { ground: Some(-1.0), ..picture };
    let two = vec![sphere(-0.3, 0.0, 0.0, 0.8, RED), sphere(0.5, 0.2, 0.3, 0.6, BLUE)];
    let cut =
        Picture { triangles: square(-0.9, Vec3::new(0.7, 0.4, 0.1), 1.0, BLUE, true), ..ball() };
    let standing = floor(spheres(vec![
        sphere(0.0, -0.5, 0.0, 0.5, RED),
        sphere(0.6, 0.4, -0.8, 0.3, BLUE),
        sphere(-1.1, -0.9, 0.5, 0.1, GREY),
    ]));
    let back = Camera { eye: Vec3::new(0.5, 0.4, -5.0), ..camera() };
    let one_sided = |angle| Picture {
        triangles: square(angle, Vec3::ZERO, 1.2, BLUE, false),
        ..Default::default()
    };
    let cloth = Picture {
        triangles: square(0.4, Vec3::ZERO, 1.2, BLUE, true),
        spheres: vec![sphere(0.0, 0.0, 1.0, 0.3, RED)],
        ..Default::default()
    };
    let room = Picture {
        walls: square(0.3, Vec3::new(0.0, 0.0, -1.5), 4.0, GREY, false),
        ..standing.clone()
    };
    let (left, right) = (Vec3::new(-1.5, 0.1, 0.0), Vec3::new(1.5, 0.6, 0.2));
    let mut strung = ball();
    strung.lines = vec![
        line(left, right, BLUE, 3.0),
        line(left + Vec3::Z, right + Vec3::Z * 2.0, [30, 200, 30], 1.5),
        line(left - Vec3::Y, right - Vec3::Y, GREY, 0.4),
        line(Vec3::new(-0.4, -0.6, 4.9), Vec3::new(0.9, 0.8, -3.0), [250, 200, 0], 6.0),
        // A far one after a near one.
        line(Vec3::new(-0.9, -0.3, -2.0), Vec3::new(1.9, -0.3, -2.0), BLUE, 4.0),
        line(Vec3::new(-1.0, -0.6, 6.0), Vec3::new(-1.0, 0.8, -3.0), RED, 2.0),
    ];
    // A world that flew apart: the ends are up to a thousand million pixels aside.
    let mut torn = ball();
    for (k, length) in (0..).zip([1e3, 1e5, 1e6, 1e7]) {
        let (sin, cos) = (0.3 + 0.7 * k as f32).sin_cos();
        let (at, way) = (Vec3::Y * (0.3 * k as f32 - 0.5), Vec3::new(cos, sin, 0.0) * length);
        torn.lines.push(line(at - way, at + way, palette::group(k), 1.0 + k as f32));
        torn.lines.push(line(at, at + Vec3::new(sin, cos, -1e-6) * length, BLUE, 2.0));
    }
    let mut edged = cloth.clone();
    let t = &cloth.triangles[0].p;
    edged.lines = (0..3).map(|i| line(t[i], t[(i + 1) % 3], GREY, 2.0)).collect();
    let close = Camera { eye: Vec3::new(1.37, 0.4, 0.1), target: Vec3::Z * -9.0, ..camera() };
    let far = Camera { eye: Vec3::new(0.0, 1.0, 300.0), ..camera() };
    // Seen by the default camera.
    let nowhere = Camera { eye: Vec3::NAN, ..camera() };
    let eye = Vec3::new(0.7, 0.4, 2.0);
    let on_target = Camera { eye, target: eye, ..camera() };
    let lying = Camera { up: Vec3::Z, fov_y: f32::NAN, ..camera() };
    let wide = Camera { fov_y: 1e9, ..camera() };
    // From behind the eye to the horizon.
    let plain = [[-50., 50.], [50., 50.], [50., -50.], [-50., 50.], [50., -50.], [-50., -50.]]
        .map(|[x, z]| Vec3::new(x, -1.0, z));
    let plain = plain.as_chunks().0.iter().map(|&p| Triangle {
        p,
        n: [Vec3::Y; 3],
        color: GREY,
        two_sided: false,
    });
    let plain = Picture { triangles: plain.collect(), ..ball() };
    let mut bathing = floor(water());
    bathing.spheres = vec![
        sphere(0.3, 0.4, 0.3, 0.5, RED),
        sphere(-0.6, -0.3, 1.2, 0.3, GREY),
        sphere(0.9, 0.9, 2.0, 0.2, BLUE),
    ];
    bathing.lines = vec![line(left, right, RED, 3.0), line(left + Vec3::Z * 2.0, right, GREY, 2.0)];
    let dark = |picture| Picture { theme: Theme::Dark, ..picture };
    let from_below = Camera { eye: Vec3::new(0.5, -3.0, 4.0), ..camera() };
    vec![
        ("a ball", ball(), camera()),
        ("two balls in each other", spheres(two), camera()),
        ("a ball cut by a square", cut, camera()),
        ("balls on the floor", standing.clone(), from_above()),
        ("balls on the floor in the dark", dark(standing.clone()), from_above()),
        ("the floor from below", standing.clone(), from_below),
        ("a square from its front", one_sided(0.5), camera()),
        ("a square from its back", one_sided(0.5), back),
        ("a cloth before a ball", cloth.clone(), back),
        ("a ball before a cloth", cloth, camera()),
        ("round and flat normals", floor(Picture { triangles: dome(), ..ball() }), from_above()),
        ("a room", room.clone(), from_above()),
        ("a room in the dark", dark(room), from_above()),
        ("lines before and behind a ball", strung.clone(), camera()),
        ("lines on the floor", dark(floor(strung)), from_above()),
        ("lines that end far away", torn, camera()),
        ("edges of a cloth", edged, camera()),
        ("a crowd from within", dark(spheres(crowd())), camera()),
        ("a crowd on the floor", floor(spheres(crowd())), from_above()),
        ("a ball close by", floor(ball()), close),
        ("a plain", plain, camera()),
        ("a camera that is nowhere", floor(ball()), nowhere),
        ("a camera on its target", floor(ball()), on_target),
        ("a camera that lies", floor(ball()), lying),
        ("a camera that sees too much", floor(ball()), wide),
        ("far balls", spheres(crowd()), far),
        ("strays", strays(), camera()),
        ("water on the floor", floor(water()), from_above()),
        ("water in the dark", dark(floor(water())), from_above()),
        ("water from close by", water(), Camera { eye: Vec3::new(0.6, 0.9, 2.2), ..camera() }),
        ("solids in and before water", bathing, from_above()),
        ("nothing", Picture::default(), camera()),
        ("nothing in the dark", dark(floor(Picture::default())), from_above()),
    ]
}
