use super::narrow::{Narrow, ROUNDS};
use super::scale::{Scale, TAPS};
use super::*;
use crate::painter::tests::{BLUE, RED, SIZE, camera, snap, wall};
use crate::painter::{Camera, Canvas, Droplet, Line, Picture, Theme, paint, palette};
use glam::{Quat, Vec3};
use motes::simd::{self, Kernel, LANES, Simd, Vector};

const RADIUS: f32 = 0.02;

fn droplet(center: Vec3) -> Droplet {
    Droplet { center, radius: RADIUS, color: palette::fluid(0), speed: 0.0 }
}

/// Layers of particles at rest, facing +z with the first at z = 0, shaken by a share of the radius.
fn slab(half: f32, layers: usize, shaken: f32) -> Vec<Droplet> {
    let side = (half / RADIUS) as i32;
    let mut seed = 1u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut made = Vec::new();
    for layer in 0..layers as i32 {
        for (x, y) in (0..side * side).map(|k| (k % side, k / side)) {
            let at = Vec3::new(x as f32, y as f32, -layer as f32) * (2.0 * RADIUS)
                - Vec3::new(half, half, 0.0);
            made.push(droplet(at + Vec3::new(random(), random(), random()) * (shaken * RADIUS)));
        }
    }
    made
}

fn pool(droplets: Vec<Droplet>) -> Picture {
    Picture { droplets, size: 2.0, ..Default::default() }
}

/// The surface of a picture without solids, and its lens.
fn surface(picture: &Picture, camera: &Camera) -> (Water, Lens) {
    let lens = Lens::new(camera, SIZE.0, SIZE.1);
    let mut behind = Visibility::default();
    behind.draw(&lens, Solids { balls: &[], facets: &[], footprints: &[] }, picture.ground);
    let mut water = Water::default();
    assert!(water.draw(picture, &lens, &behind));
    (water, lens)
}

/// Normals in the world of eight pixels from (x, y) on.
struct Normals<'a>(&'a Water, &'a Lens, (usize, usize));

impl Kernel for Normals<'_> {
    type Output = [Vec3; LANES];

    #[inline(always)]
    fn run<L: Simd>(self) -> [Vec3; LANES] {
        let Normals(water, lens, (x, y)) = self;
        let rays = std::array::from_fn(|k| lens.ray_x((x + k) as u32));
        let here = std::array::from_fn(|k| water.surface.at(x + k, y));
        let ray_y = L::splat(lens.ray_y(y as u32));
        let ray = Vector { x: L::read(&rays), y: ray_y, z: L::splat(1.0) };
        let mut rows = [[0.0; LANES]; 3];
        water.normal(lens, (x, y), ray, L::read(&here)).write(&mut rows, 0);
        let axes = lens.axes;
        std::array::from_fn(|k| {
            axes.right * rows[0][k] + axes.up * rows[1][k] + axes.forward * rows[2][k]
        })
    }
}

/// Normals of all water in the middle of the picture.
fn normals(water: &Water, lens: &Lens) -> Vec<Vec3> {
    let mut made = Vec::new();
    for y in SIZE.1 as usize / 3..SIZE.1 as usize * 2 / 3 {
        for x in (SIZE.0 as usize / 3..SIZE.0 as usize * 2 / 3).step_by(LANES) {
            let found = simd::fastest(Normals(water, lens, (x, y)));
            made.extend(
                (0..LANES).filter(|k| water.surface.at(x + k, y).is_finite()).map(|k| found[k]),
            );
        }
    }
    made
}

/// Fields of so many pixels, filled by a function.
fn field(scale: &Scale, depth: impl Fn(usize, usize) -> f32) -> Narrow {
    let mut made = Narrow::default();
    made.clear(96, 80, scale.step);
    for (x, y) in (0..96 * 80).map(|k| (k % 96, k / 96)) {
        made.set(x, y, depth(x, y));
    }
    made
}

/// A filter that looks six samples far at a depth of 3 m.
fn scale(range: f32, step: usize) -> Scale {
    Scale { reach: 18.0, step, range, sink: 0.02, ..Scale::default() }
}

#[test]
fn the_filter_leaves_a_flat_field_alone() {
    for step in [1, 2] {
        let scale = scale(0.1, step);
        let mut flat = field(&scale, |_, _| 3.0);
        flat.smooth(&scale);
        // At the edge, what is not there counts as farther.
        let edge = 6 * step * ROUNDS;
        for (x, y) in (0..96 * 80).map(|k| (k % 96, k / 96)) {
            let inside = x.min(95 - x) >= edge && y.min(79 - y) >= edge;
            let depth = flat.at(x, y);
            let most = if inside { 3.0 } else { 3.0 + scale.sink * ROUNDS as f32 * 2.0 };
            assert!((3.0..=most).contains(&depth), "{depth} at {x} {y}");
        }
        // The control: a bump is not left alone.
        let mut bump = field(&scale, |x, y| if (x, y) == (48, 40) { 2.95 } else { 3.0 });
        bump.smooth(&scale);
        assert!(bump.at(48, 40) > 2.96 && bump.at(48 + step, 40) < 3.0);
    }
}

#[test]
fn the_filter_does_not_cross_a_gap() {
    let steps = |x: usize, _: usize| if x < 48 { 3.0 } else { 3.5 };
    let behind = |range: f32| {
        let scale = scale(range, 1);
        let mut made = field(&scale, steps);
        made.smooth(&scale);
        let near = (30..48).map(|x| made.at(x, 40)).fold(0.0, f32::max);
        let far = (48..60).map(|x| made.at(x, 40)).fold(f32::INFINITY, f32::min);
        (near, far)
    };
    let (near, far) = behind(0.3);
    assert!(near <= 3.0 + 0.02 * ROUNDS as f32, "the near side is at {near}");
    assert_eq!(far, 3.5, "the far side sees nothing of the near one");
    let (near, far) = behind(1.0);
    assert!(near > 3.1 && far < 3.4, "the control: {near} {far}");
    // A slope of many small steps is one surface.
    let scale = scale(0.1, 1);
    let mut slope = field(&scale, |x, _| 3.0 + 0.05 * x as f32);
    slope.smooth(&scale);
    let off = slope.at(48, 40) - (3.0 + 0.05 * 48.0);
    assert!(off.abs() < 1e-3, "{off}");
}

#[test]
fn what_is_not_water_stays_empty() {
    let scale = scale(0.1, 1);
    let mut hole = field(&scale, |x, _| if x == 48 { f32::INFINITY } else { 3.0 });
    hole.smooth(&scale);
    assert!((0..80).all(|y| hole.at(48, y) == f32::INFINITY && hole.at(47, y).is_finite()));
}

#[test]
fn a_plane_of_particles_has_the_normal_of_the_plane() {
    for turn in [0.0, 0.5, 1.0] {
        let turn = Quat::from_rotation_y(turn) * Quat::from_rotation_x(0.4 * turn);
        let mut droplets = slab(1.0, 3, 0.0);
        droplets.iter_mut().for_each(|d| d.center = turn * d.center);
        let close = Camera { eye: Vec3::Z * 2.0, ..camera() };
        let (water, lens) = surface(&pool(droplets), &close);
        let normals = normals(&water, &lens);
        assert!(normals.len() > 1000);
        let mean = (normals.iter().sum::<Vec3>() / normals.len() as f32).normalize();
        let plane = turn * Vec3::Z;
        let [off, most] =
            [mean, *normals.iter().min_by(|a, b| a.dot(plane).total_cmp(&b.dot(plane))).unwrap()]
                .map(|n| n.angle_between(plane).to_degrees());
        // Set after 0.6 and 12 were seen, where the plane is seen from its side.
        assert!(off < 1.0 && most < 16.0, "{off} and at most {most} degrees");
    }
}

/// How much normals differ: the mean squared sine of the angle to their mean.
fn roughness(normals: &[Vec3]) -> f32 {
    let mean = normals.iter().sum::<Vec3>().normalize();
    normals.iter().map(|n| n.cross(mean).length_squared()).sum::<f32>() / normals.len() as f32
}

#[test]
fn a_pool_has_no_pattern_of_beads() {
    let flat = Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2);
    let mut droplets = slab(1.0, 5, 0.3);
    droplets.iter_mut().for_each(|d| d.center = flat * d.center);
    let above = Camera { eye: Vec3::new(0.0, 0.8, 1.2), ..camera() };
    let (mut water, lens) = surface(&pool(droplets), &above);
    let smooth = roughness(&normals(&water, &lens));
    water.surface.take(&water.seen, water.scale.step);
    let beads = roughness(&normals(&water, &lens));
    // Set after 0.11 and 0.00006 were seen.
    assert!(beads > 0.05, "the control: beads are rough, {beads}, and not {smooth}");
    assert!(smooth < 0.001, "{smooth} of {beads}");
}

#[test]
fn thickness_is_that_of_the_water() {
    let far = Camera { eye: Vec3::Z * 5.0, ..camera() };
    for layers in [1, 4, 10] {
        let (water, _) = surface(&pool(slab(1.0, layers, 0.0)), &far);
        let (x, y) = (SIZE.0 as usize / 4, SIZE.1 as usize / 4);
        let mut sum = 0.0;
        for (dx, dy) in (0..64).map(|k| (k % 8, k / 8)) {
            sum += water.bulk.thickness(x - 4 + dx, y - 4 + dy) / 64.0;
        }
        let share = sum / (layers as f32 * 2.0 * RADIUS);
        assert!((share - 1.0).abs() < 0.05, "{layers} layers: {share}");
    }
}

fn middle(canvas: &Canvas) -> [u8; 3] {
    canvas.color_at(canvas.width() / 2, canvas.height() / 2).unwrap()
}

#[test]
fn absorption_grows_with_thickness() {
    let white = wall(-1.0, 3.0, [230; 3], false);
    let seen = |layers| {
        let picture = Picture { triangles: white.clone(), ..pool(slab(0.6, layers, 0.0)) };
        middle(&snap(&picture)).map(i32::from)
    };
    let dry = middle(&snap(&Picture { triangles: white.clone(), ..Default::default() }));
    let mut last = dry.map(i32::from);
    for layers in [1, 3, 6, 12] {
        let now = seen(layers);
        assert!(now[0] < last[0], "{layers} layers: {now:?} after {last:?}");
        last = now;
    }
    // The fluid is blue: it takes red most, and what is left is its colour.
    assert!(last[2] > last[0] + 60, "{last:?}");
}

#[test]
fn each_fluid_takes_its_own_colour() {
    let white = wall(-1.0, 3.0, [230; 3], false);
    let seen = |fluid| {
        let mut droplets = slab(0.6, 8, 0.0);
        droplets.iter_mut().for_each(|d| d.color = palette::fluid(fluid));
        middle(&snap(&Picture { triangles: white.clone(), ..pool(droplets) })).map(i32::from)
    };
    let (water, oil) = (seen(0), seen(1));
    assert!(water[2] > water[0] + 40 && oil[0] > oil[2] + 40, "{water:?} {oil:?}");
}

#[test]
fn what_is_fast_and_sparse_is_foam() {
    let seen = |droplets: &[Droplet], speed: f32| {
        let dark = wall(-1.0, 3.0, [40; 3], false);
        let mut picture = Picture { triangles: dark, ..pool(droplets.to_vec()) };
        picture.droplets.iter_mut().for_each(|d| d.speed = speed);
        middle(&snap(&picture)).map(i32::from)[0]
    };
    let (full, sparse) = (slab(0.6, 12, 0.0), slab(0.6, 1, 0.0));
    let calm = [seen(&full, 0.0), seen(&sparse, 0.0)];
    let wild = [seen(&full, 50.0), seen(&sparse, 50.0)];
    assert!(wild[0] > calm[0] + 5 && wild[1] > calm[1] + 60, "{calm:?} {wild:?}");
    assert!(wild[1] > wild[0], "{wild:?}");
    assert_eq!(seen(&full, f32::NAN), calm[0]);
}

#[test]
fn solids_and_lines_hide_water_and_are_hidden_by_it() {
    let water = pool(slab(0.6, 6, 0.0));
    let red = |z| Picture { triangles: wall(z, 0.4, RED, false), ..water.clone() };
    let (before, behind, dry) = (
        middle(&snap(&red(0.5))),
        middle(&snap(&red(-0.7))),
        middle(&snap(&Picture { droplets: Vec::new(), ..red(0.5) })),
    );
    assert_eq!(before, dry, "what is before the water is not changed by it");
    assert!(behind != dry && behind[0] < dry[0]);
    let line = |z| {
        let (a, b) = (Vec3::new(-0.5, 0.0, z), Vec3::new(0.5, 0.0, z));
        Picture { lines: vec![Line { a, b, color: BLUE, width_px: 3.0 }], ..water.clone() }
    };
    let plain = middle(&snap(&water));
    assert_eq!(middle(&snap(&line(0.5))), BLUE);
    assert_eq!(middle(&snap(&line(-0.7))), plain);
    // Depths are those of what is seen first.
    let depth = |picture: &Picture| snap(picture).depth_at(SIZE.0 / 2, SIZE.1 / 2).unwrap();
    assert!((depth(&red(0.5)) - 4.5).abs() < 1e-3);
    assert!((depth(&red(-0.7)) - 5.0).abs() < 2.0 * RADIUS);
}

#[test]
fn the_surface_does_not_depend_on_threads() {
    let mut droplets = slab(0.8, 6, 0.5);
    droplets.iter_mut().enumerate().for_each(|(k, d)| {
        d.speed = (k % 7) as f32;
        d.color = palette::fluid(k as u32 % 3);
    });
    let picture = Picture { ground: Some(-1.0), theme: Theme::Dark, ..pool(droplets) };
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| snap(&picture))
    };
    let one = with(1);
    assert!(one == with(2) && one == with(3));
}

#[test]
fn droplets_that_cannot_be_drawn_leave_no_mark() {
    let clean = pool(slab(0.5, 3, 0.2));
    let mut dirty = clean.clone();
    let nowhere = [Vec3::NAN, Vec3::INFINITY, Vec3::splat(3e38), Vec3::Z * 9.0];
    dirty.droplets.extend(nowhere.map(droplet));
    for radius in [f32::NAN, f32::INFINITY, 0.0, -1.0] {
        dirty.droplets.push(Droplet { radius, ..droplet(Vec3::Z) });
    }
    let scale = |picture: &Picture| {
        let lens = Lens::new(&camera(), SIZE.0, SIZE.1);
        Scale::of(picture, &lens).unwrap()
    };
    assert_eq!(scale(&clean).radius, scale(&dirty).radius);
    // The box of the content, and with it the light of the floor, has the stray in it.
    dirty.particles = crate::painter::Content::of(&clean);
    let clean = Picture { particles: dirty.particles, ..clean };
    assert!(snap(&clean).pixels == snap(&dirty).pixels);
    for droplets in [nowhere.map(droplet).to_vec(), vec![droplet(camera().eye)]] {
        snap(&pool(droplets));
    }
    for (width, height) in [(0, 0), (0, 9), (1, 1), (33, 1), (1, 65), (7, 5)] {
        let canvas = paint(&clean, &camera(), width, height);
        assert_eq!(canvas.depth.len(), (width * height) as usize);
    }
}

/// However close the eye is, the filter looks at a bounded number of samples, over all of its reach.
#[test]
fn a_close_look_takes_longer_steps() {
    let picture = pool(slab(0.5, 3, 0.0));
    let step = |away: f32| {
        let close = Camera { eye: Vec3::Z * away, ..camera() };
        let lens = Lens::new(&close, 1280, 720);
        let scale = Scale::of(&picture, &lens).unwrap();
        let middle = lens.point(Vec3::ZERO).z;
        assert!(scale.reach / middle <= TAPS as f32 * 1.2 || scale.step == 8);
        scale.step
    };
    assert!(step(5.0) == 1 && step(0.8) > 1 && step(0.8) < step(0.2));
}
