use super::lens::Lens;
use super::*;
use glam::Vec2;

pub const RED: [u8; 3] = [220, 30, 30];
pub const BLUE: [u8; 3] = [30, 30, 220];
pub const SIZE: (u32, u32) = (160, 120);

pub fn camera() -> Camera {
    Camera { eye: Vec3::new(0.0, 0.0, 5.0), target: Vec3::ZERO, up: Vec3::Y, fov_y: 0.8 }
}

fn sphere(center: Vec3, radius: f32, color: [u8; 3]) -> Sphere {
    Sphere { center, radius, color }
}

/// A square facing +z at a depth, counter-clockwise seen from the camera.
pub fn wall(z: f32, half: f32, color: [u8; 3], two_sided: bool) -> Vec<Triangle> {
    let at = |x: f32, y: f32| Vec3::new(x * half, y * half, z);
    [[at(-1., -1.), at(1., -1.), at(1., 1.)], [at(-1., -1.), at(1., 1.), at(-1., 1.)]]
        .map(|p| Triangle { p, n: [Vec3::Z; 3], color, two_sided })
        .to_vec()
}

pub fn snap(picture: &Picture) -> Canvas {
    paint(picture, &camera(), SIZE.0, SIZE.1)
}

fn middle(canvas: &Canvas) -> ([u8; 3], f32) {
    let (x, y) = (canvas.width() / 2, canvas.height() / 2);
    (canvas.color_at(x, y).unwrap(), canvas.depth_at(x, y).unwrap())
}

fn is_red(c: [u8; 3]) -> bool {
    c[0] as i32 > c[1] as i32 + 40 && c[0] as i32 > c[2] as i32 + 40
}

fn is_blue(c: [u8; 3]) -> bool {
    c[2] as i32 > c[1] as i32 + 40 && c[2] as i32 > c[0] as i32 + 40
}

#[test]
fn a_sphere_is_where_it_projects() {
    let center = Vec3::new(0.7, 0.4, 0.0);
    let picture = Picture { spheres: vec![sphere(center, 0.3, RED)], ..Default::default() };
    let canvas = snap(&picture);
    let lens = Lens::new(&camera(), SIZE.0, SIZE.1);
    let view = lens.point(center);
    let at = lens.pixel_of(view.truncate() / view.z);
    let (mut sum, mut count) = (Vec2::ZERO, 0.0);
    for y in 0..SIZE.1 {
        for x in 0..SIZE.0 {
            if canvas.depth_at(x, y).unwrap().is_finite() {
                sum += Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                count += 1.0;
            }
        }
    }
    assert!((sum / count).distance(at) < 0.6, "drawn at {} instead of {at}", sum / count);
    let radius_px = 0.3 / (view.z * lens.pixel);
    let area = std::f32::consts::PI * radius_px * radius_px;
    assert!((count / area - 1.0).abs() < 0.06, "{count} pixels instead of {area}");
    assert!(is_red(canvas.color_at(at.x as u32, at.y as u32).unwrap()));
    // The point nearest to the eye is on the line to the centre, one radius before it.
    let depth = canvas.depth_at(at.x as u32, at.y as u32).unwrap();
    assert!((depth - 4.7).abs() < 0.01, "depth {depth}");
}

#[test]
fn the_nearer_sphere_hides_the_farther_in_any_order() {
    let near = sphere(Vec3::new(0.0, 0.0, 1.0), 0.3, BLUE);
    let far = sphere(Vec3::new(0.0, 0.0, -1.0), 0.8, RED);
    for spheres in [vec![near, far], vec![far, near]] {
        let canvas = snap(&Picture { spheres, ..Default::default() });
        assert!(is_blue(middle(&canvas).0));
        // Beside the near one, the far one is seen.
        assert!(is_red(canvas.color_at(SIZE.0 / 2 + 13, SIZE.1 / 2).unwrap()));
    }
}

#[test]
fn triangles_and_spheres_share_one_depth() {
    let ball = sphere(Vec3::ZERO, 0.5, RED);
    for (z, hidden) in [(0.6, true), (0.2, false), (-1.0, false)] {
        let picture = Picture {
            spheres: vec![ball],
            triangles: wall(z, 1.0, BLUE, false),
            ..Default::default()
        };
        let (color, depth) = middle(&snap(&picture));
        assert_eq!(is_blue(color), hidden, "wall at {z}: {color:?}");
        assert_eq!(is_red(color), !hidden, "wall at {z}: {color:?}");
        let expected = if hidden { 5.0 - z } else { 4.5 };
        assert!((depth - expected).abs() < 2e-3, "depth {depth} instead of {expected}");
    }
}

#[test]
fn a_wall_has_no_cracks_and_no_back_unless_two_sided() {
    let mut back = camera();
    back.eye.z = -5.0;
    for (two_sided, seen) in [(false, false), (true, true)] {
        let picture = Picture { triangles: wall(0.0, 9.0, BLUE, two_sided), ..Default::default() };
        let front = snap(&picture);
        assert!(front.depth.iter().all(|d| (d - 5.0).abs() < 1e-3));
        assert_eq!(paint(&picture, &back, 64, 48).depth_at(32, 24).unwrap().is_finite(), seen);
    }
}

#[test]
fn a_line_hides_behind_a_sphere_and_shows_beside_it() {
    let line = Line {
        a: Vec3::new(-1.5, 0.0, 0.0),
        b: Vec3::new(1.5, 0.0, 0.0),
        color: BLUE,
        width_px: 3.0,
    };
    let picture = Picture {
        spheres: vec![sphere(Vec3::ZERO, 0.5, RED)],
        lines: vec![line],
        ..Default::default()
    };
    let canvas = snap(&picture);
    assert!(is_red(middle(&canvas).0));
    assert!(is_blue(canvas.color_at(SIZE.0 / 2 + 30, SIZE.1 / 2).unwrap()));
}

#[test]
fn the_sun_leaves_a_shadow_on_the_floor() {
    let camera = Camera { eye: Vec3::new(0.0, 6.0, 6.0), ..camera() };
    let picture = |spheres| Picture { spheres, ground: Some(-1.0), ..Default::default() };
    let ball = sphere(Vec3::new(0.0, 1.0, 0.0), 0.5, RED);
    let shadow = Vec3::new(0.84, -1.0, -0.80);
    let lens = Lens::new(&camera, SIZE.0, SIZE.1);
    let view = lens.point(shadow);
    let at = lens.pixel_of(view.truncate() / view.z);
    let brightness = |picture: &Picture| {
        let canvas = paint(picture, &camera, SIZE.0, SIZE.1);
        canvas.color_at(at.x as u32, at.y as u32).unwrap().map(|c| c as i32).iter().sum::<i32>()
    };
    let (dark, lit) = (brightness(&picture(vec![ball])), brightness(&picture(vec![])));
    assert!(dark + 100 < lit, "{dark} against {lit}");
}

/// Brightness of the pixel that shows a point of the world.
fn brightness(picture: &Picture, camera: &Camera, point: Vec3) -> i32 {
    let lens = Lens::new(camera, SIZE.0, SIZE.1);
    let view = lens.point(point);
    let at = lens.pixel_of(view.truncate() / view.z);
    let canvas = paint(picture, camera, SIZE.0, SIZE.1);
    canvas.color_at(at.x as u32, at.y as u32).unwrap().map(i32::from).iter().sum()
}

#[test]
fn walls_throw_no_shadow() {
    let camera = Camera { eye: Vec3::new(0.0, 6.0, 6.0), ..camera() };
    let lid: Vec<Triangle> = wall(0.0, 0.5, RED, true)
        .into_iter()
        .map(|t| {
            let flat = |p: Vec3| Vec3::new(p.x, 1.0, -p.y);
            Triangle { p: t.p.map(flat), n: [Vec3::Y; 3], ..t }
        })
        .collect();
    let shadow = Vec3::new(0.84, -1.0, -0.80);
    let open = Picture { ground: Some(-1.0), ..Default::default() };
    let lit = brightness(&open, &camera, shadow);
    let thrown = Picture { triangles: lid.clone(), ..open.clone() };
    assert!(brightness(&thrown, &camera, shadow) + 100 < lit);
    let walls = Picture { walls: lid, ..open };
    assert!((brightness(&walls, &camera, shadow) - lit).abs() < 10);
}

#[test]
fn walls_take_shadows() {
    let behind = Picture { walls: wall(-1.0, 3.0, [220; 3], false), ..Default::default() };
    // Half-way to the sun from a point of the wall that the ball itself does not hide.
    let point = Vec3::new(0.4, -0.9, -1.0);
    let ball = sphere(point + Vec3::new(-0.42, 1.0, 0.40), 0.3, RED);
    let shaded = Picture { spheres: vec![ball], ..behind.clone() };
    let lit = brightness(&behind, &camera(), point);
    let dark = brightness(&shaded, &camera(), point);
    assert!(dark + 60 < lit, "{dark} against {lit}");
}

#[test]
fn what_cannot_be_drawn_is_skipped() {
    let nan = Vec3::splat(f32::NAN);
    let huge = Vec3::splat(3e38);
    let points = [nan, Vec3::INFINITY, huge, -huge, Vec3::ZERO, camera().eye, Vec3::Z * 9.0];
    let mut picture = Picture { ground: Some(f32::NAN), ..Default::default() };
    for &a in &points {
        for radius in [f32::NAN, f32::INFINITY, -1.0, 0.0, 0.2, 1e30] {
            picture.spheres.push(sphere(a, radius, RED));
        }
        for &b in &points {
            picture.lines.push(Line { a, b, color: RED, width_px: 2.0 });
            picture.lines.push(Line { a, b, color: RED, width_px: f32::NAN });
            let p = [a, b, Vec3::X];
            picture.triangles.push(Triangle { p, n: [nan; 3], color: RED, two_sided: true });
        }
    }
    snap(&picture);
    picture.spheres.retain(|s| !(s.center == Vec3::ZERO && s.radius == 0.2));
    picture.ground = Some(-1.0);
    snap(&picture);
    for camera in [
        Camera { eye: nan, ..camera() },
        Camera { target: camera().eye, ..camera() },
        Camera { up: Vec3::Z, fov_y: f32::NAN, ..camera() },
        Camera { fov_y: 1e9, ..camera() },
        Camera::frame_box(nan, Vec3::ONE),
        Camera::frame_box(Vec3::ZERO, Vec3::ZERO),
    ] {
        paint(&picture, &camera, 40, 30);
    }
}

#[test]
fn bad_spheres_leave_no_mark() {
    let clean = Picture { spheres: vec![sphere(Vec3::ZERO, 0.5, RED)], ..Default::default() };
    let mut dirty = clean.clone();
    dirty.spheres.push(sphere(Vec3::new(f32::NAN, 0.0, 2.0), 0.5, BLUE));
    dirty.spheres.push(sphere(Vec3::new(0.0, 0.0, 2.0), f32::NAN, BLUE));
    dirty.spheres.push(sphere(Vec3::new(0.0, 0.0, 2.0), 0.0, BLUE));
    dirty.spheres.push(sphere(Vec3::new(0.0, 0.0, 9.0), 1.0, BLUE));
    let (clean, dirty) = (snap(&clean), snap(&dirty));
    assert_eq!(clean.depth, dirty.depth);
    assert!(is_red(middle(&dirty).0));
}

#[test]
fn empty_pictures_and_empty_sizes_are_fine() {
    for theme in [Theme::Dark, Theme::Light] {
        for ground in [None, Some(0.0), Some(100.0)] {
            let picture = Picture { theme, ground, ..Default::default() };
            assert!(Content::of(&picture).is_none());
            assert_eq!(snap(&picture).rgb().len(), (SIZE.0 * SIZE.1 * 3) as usize);
        }
    }
    let picture = Picture { spheres: vec![sphere(Vec3::ZERO, 0.5, RED)], ..Default::default() };
    for (width, height) in [(0, 0), (0, 9), (9, 0), (1, 1), (33, 1), (1, 65)] {
        let canvas = paint(&picture, &camera(), width, height);
        assert_eq!(canvas.depth.len(), (width * height) as usize);
        let fine = paint_fine(&picture, &camera(), width, height);
        assert_eq!((fine.width(), fine.height()), (width, height));
    }
}

#[test]
fn a_framed_box_is_inside_the_picture_and_fills_it() {
    let boxes = [(Vec3::ZERO, Vec3::ONE), (Vec3::new(-40., 0., -1.), Vec3::new(40., 3., 1.))];
    for (min, max) in boxes {
        let lens = Lens::new(&Camera::frame_box(min, max), 1280, 720);
        let mut reach = 0.0_f32;
        for corner in 0..8 {
            let pick = |bit: u32| if corner >> bit & 1 == 0 { min } else { max };
            let view = lens.point(Vec3::new(pick(0).x, pick(1).y, pick(2).z));
            let pixel = lens.pixel_of(view.truncate() / view.z) / lens.size * 2.0 - 1.0;
            reach = reach.max(pixel.abs().max_element());
        }
        assert!((0.8..1.0).contains(&reach), "{min} {max} reaches {reach}");
    }
}

#[test]
fn an_orbit_keeps_the_distance() {
    let mut camera = camera();
    camera.orbit(1.0, 9.0);
    assert!((camera.eye.length() - 5.0).abs() < 1e-4);
    assert!(camera.eye.y > 4.9 && camera.axes().right.is_finite());
}

#[test]
fn strays_do_not_move_the_bounds() {
    let mut picture = Picture::default();
    for i in 0..2000 {
        let at = Vec3::new((i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32) * 0.1;
        picture.spheres.push(sphere(at, 0.05, RED));
    }
    picture.spheres.push(sphere(Vec3::splat(1e6), 0.05, RED));
    let Content { min, max, .. } = Content::of(&picture).unwrap();
    assert!(min.min_element() > -0.2 && max.max_element() < 3.0, "{min} {max}");
}

/// A skin with one sphere beside it: the box is that of all particles, and so are floor, light and
/// shadow. Without the particles the sphere alone would set the scale.
#[test]
fn a_sphere_beside_a_skin_does_not_shrink_the_floor() {
    let skin = wall(0.0, 1.0, BLUE, true);
    let corners: Vec<Vec3> = skin.iter().flat_map(|t| t.p).collect();
    let particles = Content::of_particles(corners.len(), |i| (corners[i], 0.02));
    let alone = Picture { triangles: skin, particles, ground: Some(-1.5), ..Default::default() };
    let spheres = vec![sphere(Vec3::new(0.9, 0.9, 0.0), 0.02, RED)];
    let beside = Picture { spheres, ..alone.clone() };
    assert_eq!(Content::of(&beside), Content::of(&alone));
    let blind = Picture { particles: None, ..beside.clone() };
    let width = |picture: &Picture| Content::of(picture).unwrap().diagonal();
    assert!(width(&blind) < 0.2 * width(&beside), "the control");
    let camera = Camera { eye: Vec3::new(0.0, 2.0, 6.0), ..camera() };
    // Where the shadow of the skin's middle falls, seen below the skin.
    let shaded = Vec3::new(0.63, -1.5, -0.6);
    let dark = brightness(&alone, &camera, shaded);
    assert!((brightness(&beside, &camera, shaded) - dark).abs() < 4);
    assert!(brightness(&blind, &camera, shaded) > dark + 60, "the control");
}

#[test]
fn the_picture_does_not_depend_on_threads() {
    let mut picture = Picture { ground: Some(-1.0), ..Default::default() };
    for i in 0..500 {
        let angle = i as f32 * 0.7;
        let at = Vec3::new(angle.cos(), i as f32 * 0.004 - 1.0, angle.sin());
        picture.spheres.push(sphere(at, 0.1, palette::group(i)));
    }
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| snap(&picture))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_png_can_be_read_back() {
    let picture = Picture { spheres: vec![sphere(Vec3::ZERO, 0.5, RED)], ..Default::default() };
    let canvas = snap(&picture);
    let mut bytes = Vec::new();
    canvas.write_png(&mut bytes).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, canvas.rgb());
}
