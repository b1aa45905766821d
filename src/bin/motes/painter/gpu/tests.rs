//! Pictures of both painters side by side. Needs a device, as `tests/vulkan.rs` does.

mod pictures;
mod shaders;

use super::*;
use crate::painter::canvas::unpack;
use crate::painter::lens::Lens;
use crate::painter::picture::Seen;
use crate::painter::{Camera, Canvas, Droplet, Picture, Theme, paint};
use ash::vk;
use motes::gpu::{Buffer, Device, Place, check};
use pictures::{BLUE, RED, camera, sphere};
use std::sync::Arc;

/// Odd on purpose: the last column has no samples of occlusion to its right.
const SIZE: (u32, u32) = (241, 181);

/// A device, or `None` where there is none and none is required.
fn gpu() -> Option<Arc<Device>> {
    motes::vulkan::harness::trial::opened(|| open(None)).map(|(gpu, _)| gpu)
}

fn quiet(gpu: &Device) {
    let messages = gpu.messages();
    assert!(messages.is_empty(), "the validation layer says: {messages:#?}");
}

fn drawn(easel: &mut Easel, picture: &Picture, camera: &Camera, size: (u32, u32)) -> Canvas {
    let mut canvas = Canvas::default();
    easel.paint(picture, camera, size.0, size.1, &mut canvas).unwrap();
    canvas
}

/// How far two pictures are apart.
#[derive(Debug)]
struct Apart {
    /// Mean difference a channel [levels].
    mean: f64,
    /// Farthest that a channel lies outside of what the other picture has within a pixel [levels].
    color: i32,
    /// The same for depths, as a share of the depth.
    depth: f32,
}

impl Apart {
    fn of(a: &Canvas, b: &Canvas) -> Self {
        assert_eq!((a.width(), a.height()), (b.width(), b.height()));
        let sum: u64 = a.rgb().iter().zip(b.rgb()).map(|(a, b)| u64::from(a.abs_diff(b))).sum();
        let mut apart =
            Self { mean: sum as f64 / (3 * a.pixels.len()) as f64, color: 0, depth: 0.0 };
        for (a, b) in [(a, b), (b, a)] {
            for y in 0..a.height() {
                for x in 0..a.width() {
                    apart.look(a, b, x, y);
                }
            }
        }
        apart
    }

    /// A pixel of `a` against those around it in `b`: an edge may be a pixel off, nothing else.
    fn look(&mut self, a: &Canvas, b: &Canvas, x: u32, y: u32) {
        let at = |x: u32, y: u32| (y * a.width() + x) as usize;
        let (mut low, mut high) = ([255; 3], [0; 3]);
        let (mut near, mut far) = (f32::INFINITY, 0.0_f32);
        for y in y.saturating_sub(1)..(y + 2).min(a.height()) {
            for x in x.saturating_sub(1)..(x + 2).min(a.width()) {
                for (k, level) in unpack(b.pixels[at(x, y)]).map(i32::from).into_iter().enumerate()
                {
                    low[k] = level.min(low[k]);
                    high[k] = level.max(high[k]);
                }
                near = near.min(b.depth[at(x, y)]);
                far = far.max(b.depth[at(x, y)]);
            }
        }
        for (k, level) in unpack(a.pixels[at(x, y)]).map(i32::from).into_iter().enumerate() {
            self.color = self.color.max(low[k] - level).max(level - high[k]);
        }
        let depth = a.depth[at(x, y)];
        let outside = (near / depth - 1.0).max(depth / far - 1.0);
        // Infinitely far on both sides is not a number, and no difference.
        self.depth = self.depth.max(outside);
    }

    /// Both round to whole levels, so many differ by one: 0.01 to 0.4 were measured in the mean. The
    /// farthest, 2, are soft edges of shadows; depths were 3e-6 apart.
    fn is_alike(&self) -> bool {
        self.mean < 0.6 && self.color <= 4 && self.depth < 1e-4
    }
}

#[test]
fn both_painters_paint_alike() {
    let Some(gpu) = gpu() else { return };
    let mut easel = Easel::new(&gpu).unwrap();
    for (name, picture, camera) in pictures::all() {
        let canvas = drawn(&mut easel, &picture, &camera, SIZE);
        let apart = Apart::of(&canvas, &paint(&picture, &camera, SIZE.0, SIZE.1));
        assert!(apart.is_alike(), "{name}: {apart:?}");
    }
    quiet(&gpu);
}

#[test]
fn what_is_not_alike_is_told_apart() {
    let Some(gpu) = gpu() else { return };
    let mut easel = Easel::new(&gpu).unwrap();
    let ball =
        |x, color| Picture { spheres: vec![sphere(x, 0.0, 0.0, 0.6, color)], ..Default::default() };
    let soft = paint(&ball(0.0, RED), &camera(), SIZE.0, SIZE.1);
    let mut apart = |picture: &Picture, camera: &Camera| {
        Apart::of(&drawn(&mut easel, picture, camera, SIZE), &soft)
    };
    assert!(apart(&ball(0.0, RED), &camera()).is_alike());
    let two_pixels = 2.0 * Lens::new(&camera(), SIZE.0, SIZE.1).pixel * camera().eye.z;
    let paler = RED.map(|level| level + 12);
    let nearer = Camera { eye: camera().eye * 0.97, ..camera() };
    for (name, picture, camera) in [
        ("moved", ball(two_pixels, RED), camera()),
        ("paler", ball(0.0, paler), camera()),
        ("blue", ball(0.0, BLUE), camera()),
        ("from nearer", ball(0.0, RED), nearer),
        ("in the dark", Picture { theme: Theme::Dark, ..ball(0.0, RED) }, camera()),
        ("with a floor", Picture { ground: Some(-1.0), ..ball(0.0, RED) }, camera()),
        ("gone", Picture::default(), camera()),
    ] {
        let apart = apart(&picture, &camera);
        assert!(!apart.is_alike(), "{name}: {apart:?}");
    }
}

#[test]
fn water_that_is_not_alike_is_told_apart() {
    let Some(gpu) = gpu() else { return };
    let mut easel = Easel::new(&gpu).unwrap();
    let (water, camera) = pictures::named("water on the floor");
    let soft = paint(&water, &camera, SIZE.0, SIZE.1);
    let mut apart =
        |picture: &Picture| Apart::of(&drawn(&mut easel, picture, &camera, SIZE), &soft);
    assert!(apart(&water).is_alike());
    let with = |change: fn(&mut Droplet)| {
        let mut picture = water.clone();
        picture.droplets.iter_mut().for_each(change);
        picture
    };
    for (name, picture) in [
        ("smaller droplets", with(|d| d.radius *= 0.9)),
        ("calm", with(|d| d.speed = 0.0)),
        ("oil", with(|d| d.color = crate::painter::palette::fluid(1))),
        ("moved", with(|d| d.center.y += 0.06)),
        ("clearer", Picture { size: 6.0, ..water.clone() }),
        ("dry", Picture { droplets: Vec::new(), ..water.clone() }),
    ] {
        let apart = apart(&picture);
        assert!(!apart.is_alike(), "{name}: {apart:?}");
    }
    quiet(&gpu);
}

/// A scene after some steps, as `motes render` would see it.
fn scene(spec: &str, steps: usize, lines: bool) -> (Picture, Camera) {
    let scene = motes::Scene::load(spec).unwrap();
    let backend = motes::Backend::Cpu { threads: 2 };
    let mut engine = motes::Engine::new(scene.build().unwrap(), backend).unwrap();
    for _ in 0..steps {
        engine.step(1.0 / 60.0).unwrap();
    }
    let seen = crate::painter::picture::of(engine.world(), lines);
    let camera = crate::commands::render::camera(seen.focus, Some(scene.camera()), 16.0 / 9.0);
    (seen.picture, camera)
}

#[test]
fn scenes_look_alike() {
    let Some(gpu) = gpu() else { return };
    let mut easel = Easel::new(&gpu).unwrap();
    for (spec, lines) in [("stairs", false), ("cloth_hang", true), ("grains_box:small", false)] {
        let (mut picture, camera) = scene(spec, 20, lines);
        for theme in [Theme::Light, Theme::Dark] {
            picture.theme = theme;
            let canvas = drawn(&mut easel, &picture, &camera, (640, 360));
            let apart = Apart::of(&canvas, &paint(&picture, &camera, 640, 360));
            // Thousands of fine lines, whose edges are a hair apart: 5 levels were measured.
            let alike = apart.mean < 0.6 && apart.color <= 8 && apart.depth < 1e-4;
            assert!(alike, "{spec}: {apart:?}");
        }
    }
    quiet(&gpu);
}

/// What is drawn from the engine's positions on the device is what is drawn from fetched ones.
#[test]
fn positions_on_the_device_look_like_fetched_ones() {
    let Some(gpu) = gpu() else { return };
    let mut easel = Easel::new(&gpu).unwrap();
    let mut world = motes::World::new();
    world.add_grains(&motes::Grains { counts: [9, 7, 8], ..Default::default() }).unwrap();
    let mut engine = motes::Engine::on_device(world, &gpu).unwrap();
    engine.keep_on_device(true);
    let count = engine.positions().len();
    let usage = vk::BufferUsageFlags::VERTEX_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
    let take = |engine: &mut motes::Engine, steps: usize| {
        (0..steps).for_each(|_| _ = engine.step(1.0 / 60.0).unwrap());
        let mut places = Buffer::new(&gpu, "places", 16 * count, usage, Place::Device).unwrap();
        assert!(engine.positions_on_device(&mut places).unwrap());
        places
    };
    let early = take(&mut engine, 5);
    let late = take(&mut engine, 15);
    engine.fetch().unwrap();
    let Seen { picture: mut seen, focus } = crate::painter::picture::of(engine.world(), false);
    assert_eq!(seen.spheres.len(), count, "a sphere a particle");
    for (at, ball) in seen.spheres.iter_mut().enumerate() {
        ball.color = crate::painter::palette::group(at as u32);
    }
    // One more, which is drawn from here, as marks are.
    let mark = sphere(0.0, 0.4, 0.0, 0.1, RED);
    seen.spheres.push(mark);
    // Middles that are not the particles': the same box, and so the same shadows and floor.
    let mut moved = seen.clone();
    for at in 0..count {
        moved.spheres[at].center = seen.spheres[(at + 1) % count].center;
    }
    let camera = crate::commands::render::camera(focus, None, 4.0 / 3.0);
    let size = [320, 240];
    let fetched = drawn(&mut easel, &seen, &camera, (size[0], size[1]));
    let mut straight = Canvas::default();
    easel.paint_with(&moved, &camera, size, (&late, count), &mut straight).unwrap();
    assert!(fetched.pixels == straight.pixels && fetched.depth == straight.depth);
    // The controls: other middles, and those of a moment before, are told apart.
    let wrong = drawn(&mut easel, &moved, &camera, (size[0], size[1]));
    assert!(!Apart::of(&fetched, &wrong).is_alike());
    easel.paint_with(&seen, &camera, size, (&early, count), &mut straight).unwrap();
    assert!(!Apart::of(&fetched, &straight).is_alike());
    // What does not fit is refused.
    let said = easel.paint_with(&seen, &camera, size, (&late, count + 2), &mut straight);
    assert!(said.unwrap_err().to_string().contains("spheres"));
    let small = Buffer::new(&gpu, "places", 16, usage, Place::Device).unwrap();
    let said = easel.paint_with(&seen, &camera, size, (&small, count), &mut straight);
    assert!(said.unwrap_err().to_string().contains("not in the buffer"));
    quiet(&gpu);
}

#[test]
fn a_part_of_the_image_is_drawn_to() {
    let Some(gpu) = gpu() else { return };
    let mut easel = Easel::new(&gpu).unwrap();
    let (picture, camera) = pictures::named("balls on the floor");
    let (left, top, size) = (33, 20, [300, 222]);
    let mut whole = Canvas::default();
    easel.paint_in(&picture, &camera, size, [left, top, SIZE.0, SIZE.1], &mut whole).unwrap();
    let mut part = Canvas::new(SIZE.0, SIZE.1);
    for y in 0..SIZE.1 {
        for x in 0..SIZE.0 {
            let to = (y * SIZE.0 + x) as usize;
            let from = ((top + y) * size[0] + left + x) as usize;
            part.pixels[to] = whole.pixels[from];
            part.depth[to] = whole.depth[from];
        }
    }
    let apart = Apart::of(&part, &paint(&picture, &camera, SIZE.0, SIZE.1));
    assert!(apart.is_alike(), "{apart:?}");
    let said = easel
        .paint_in(&picture, &camera, size, [9, 9, 300, 9], &mut whole)
        .unwrap_err()
        .to_string();
    assert!(said.contains("not within"), "{said}");
    quiet(&gpu);
}

#[test]
fn sizes_come_and_go() {
    let Some(gpu) = gpu() else { return };
    let mut easel = Easel::new(&gpu).unwrap();
    let (picture, camera) = pictures::named("balls on the floor");
    for (width, height) in [(0, 0), (0, 9), (9, 0), (1, 1), (2, 1), (33, 1), (1, 65), (700, 3)] {
        let canvas = drawn(&mut easel, &picture, &camera, (width, height));
        let apart = Apart::of(&canvas, &paint(&picture, &camera, width, height));
        let empty = width == 0 || height == 0;
        assert!(empty || apart.is_alike(), "{width} x {height}: {apart:?}");
    }
    let said = said(easel.resize(1 << 20, 4).unwrap_err());
    assert!(said.contains("--painter software"), "{said}");
    // Nothing of what was refused stays.
    drawn(&mut easel, &picture, &camera, SIZE);
    let bytes = gpu.bytes();
    for i in 0..40 {
        drawn(&mut easel, &picture, &camera, (20 + i * 7 % 90, 10 + i * 5 % 70));
    }
    drawn(&mut easel, &picture, &camera, SIZE);
    // Gaps between images are not always the same.
    assert!(gpu.bytes().abs_diff(bytes) < 4096, "{} instead of {bytes}", gpu.bytes());
    drop(easel);
    assert_eq!(gpu.bytes(), 0);
    quiet(&gpu);
}

#[test]
fn what_a_device_answers_becomes_a_sentence_with_a_remedy() {
    use ash::vk::Result as Answer;
    for code in [Answer::ERROR_DEVICE_LOST, Answer::ERROR_OUT_OF_DEVICE_MEMORY, Answer::NOT_READY] {
        let said = said(check::<()>("drawing", Err(code)).unwrap_err());
        assert!(said.starts_with("drawing: ") && said.contains("--painter software"), "{said}");
    }
    assert_eq!(check("drawing", Ok(1)), Ok(1));
    let Some(gpu) = gpu() else { return };
    let (usage, place) = (vk::BufferUsageFlags::VERTEX_BUFFER, Place::Written);
    let Err(failure) = Buffer::new(&gpu, "spheres", 1 << 50, usage, place) else {
        panic!("no device has a pebibyte")
    };
    let said = said(failure);
    assert!(said.contains("--painter software"), "{said}");
    assert_eq!(gpu.bytes(), 0);
}

#[test]
fn memory_does_not_grow() {
    let Some(gpu) = gpu() else { return };
    let mut easel = Easel::new(&gpu).unwrap();
    let (most, camera) = pictures::named("a crowd on the floor");
    drawn(&mut easel, &most, &camera, (32, 24));
    let bytes = gpu.bytes();
    for i in 0..200 {
        let mut picture = most.clone();
        picture.spheres.truncate(i * 37 % most.spheres.len());
        drawn(&mut easel, &picture, &camera, (32, 24));
    }
    assert_eq!(gpu.bytes(), bytes);
    let mut more = most.clone();
    more.spheres.extend_from_within(..);
    drawn(&mut easel, &more, &camera, (32, 24));
    assert!(gpu.bytes() > bytes, "the measure sees a buffer that grew");
    quiet(&gpu);
}
