use super::shape::{Clip, shapes};
use super::texture::Textures;
use super::*;
use crate::painter::canvas::{pack, unpack};
use imgui::DrawVert;

const SIZE: (u32, u32) = (40, 33);

/// A sequence of numbers that looks random and is the same every time (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 20) % end
    }

    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }

    /// A sixteenth of a pixel is the least step, so that sums and products of places are exact and
    /// pixels that lie on a side do so for the reference as well.
    fn place(&mut self) -> f32 {
        self.below(56 * 16) as f32 / 16.0 - 8.0
    }

    fn vertex(&mut self) -> DrawVert {
        DrawVert {
            pos: [self.place(), self.place()],
            uv: [self.below(65) as f32 / 64.0, self.below(65) as f32 / 64.0],
            col: std::array::from_fn(|_| self.byte()),
        }
    }
}

fn textures(random: &mut Random) -> (FontTexture, Image) {
    let fonts =
        FontTexture { width: 16, height: 8, alpha: (0..128).map(|_| random.byte()).collect() };
    let pixel = |_| std::array::from_fn(|_| random.byte());
    (fonts, Image { width: 5, height: 7, rgba: (0..35).map(pixel).collect() })
}

/// Slow and plain: every pixel of the canvas, in double precision.
fn reference(canvas: &mut Canvas, corners: [DrawVert; 3], clip: [f32; 4], texel: &Texel) {
    let p = corners.map(|c| c.pos.map(f64::from));
    let cross = |a: [f64; 2], b: [f64; 2], q: [f64; 2]| {
        (b[0] - a[0]) * (q[1] - a[1]) - (b[1] - a[1]) * (q[0] - a[0])
    };
    let area = cross(p[0], p[1], p[2]);
    if area == 0.0 {
        return;
    }
    let (width, height) = (canvas.width(), canvas.height());
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let at = [x as f64 + 0.5, y as f64 + 0.5];
        let clipped = (0..2).any(|k| at[k] < clip[k] as f64 || at[k] >= clip[k + 2] as f64);
        let weights = [(1, 2), (2, 0), (0, 1)].map(|(a, b)| cross(p[a], p[b], at) / area);
        let inside = [(1, 2), (2, 0), (0, 1)].iter().zip(weights).all(|(&(a, b), weight)| {
            let [dx, dy] = [0, 1].map(|k| (p[b][k] - p[a][k]) * area.signum());
            weight > 0.0 || (weight == 0.0 && (dy < 0.0 || (dy == 0.0 && dx > 0.0)))
        });
        if clipped || !inside {
            continue;
        }
        let mix = |values: [f64; 3]| (0..3).map(|k| weights[k] * values[k]).sum::<f64>();
        let uv = [0, 1].map(|k| mix(corners.map(|c| f64::from(c.uv[k]))));
        let texel = texel(uv);
        let over: [f64; 4] =
            std::array::from_fn(|k| mix(corners.map(|c| f64::from(c.col[k]))) * texel[k] / 255.0);
        let index = (y * width + x) as usize;
        let under = unpack(canvas.pixels[index]);
        canvas.pixels[index] = pack(std::array::from_fn(|k| {
            let share = over[3] / 255.0;
            (over[k] * share + f64::from(under[k]) * (1.0 - share)).round() as u8
        }));
    }
}

type Texel<'a> = dyn Fn([f64; 2]) -> [f64; 4] + 'a;

/// Bilinear, with the edges repeated.
fn bilinear(uv: [f64; 2], size: [usize; 2], texel: impl Fn(usize) -> [u8; 4]) -> [f64; 4] {
    let at = [0, 1].map(|k| (uv[k] * size[k] as f64 - 0.5).clamp(0.0, size[k] as f64 - 1.0));
    let mut sum = [0.0; 4];
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let [x, y] = at.map(|v| v as usize);
        let share = |v: f64, d: usize| if d == 1 { v.fract() } else { 1.0 - v.fract() };
        let weight = share(at[0], dx) * share(at[1], dy);
        let index = (y + dy).min(size[1] - 1) * size[0] + (x + dx).min(size[0] - 1);
        for (sum, value) in sum.iter_mut().zip(texel(index)) {
            *sum += weight * f64::from(value);
        }
    }
    sum
}

/// Draws with both, and compares. Bytes are rounded on the way (tint, texel, their product, the
/// blend), each by a half at most.
fn compare(vertices: &[DrawVert], indices: &[u16], clip: [f32; 4], id: usize, random: &mut Random) {
    let (fonts, image) = textures(random);
    let mut canvas = Canvas::new(SIZE.0, SIZE.1);
    canvas.pixels.fill_with(|| pack(std::array::from_fn(|_| random.byte())));
    let mut expected = canvas.clone();

    let images = [image];
    let textures = Textures::new(&fonts, &images).unwrap();
    let texture = textures.get(id).unwrap();
    let mut prepared = vec![];
    let pixels = Clip::new(clip).within(SIZE.0, SIZE.1);
    shapes(vertices, indices, |p| p, pixels, texture, &mut prepared);
    fill(&mut canvas, &prepared);

    let coverage = |uv| bilinear(uv, [16, 8], |i| [255, 255, 255, fonts.alpha[i]]);
    let color = |uv| bilinear(uv, [5, 7], |i| images[0].rgba[i]);
    let texel: &Texel = if id == 0 { &coverage } else { &color };
    for corners in indices.chunks_exact(3) {
        let corners = [0, 1, 2].map(|k| vertices[corners[k] as usize]);
        reference(&mut expected, corners, clip, texel);
    }
    for (i, (&drawn, &wanted)) in canvas.pixels.iter().zip(&expected.pixels).enumerate() {
        let off = (0..3).map(|k| unpack(drawn)[k].abs_diff(unpack(wanted)[k])).max();
        let at = (i as u32 % SIZE.0, i as u32 / SIZE.0);
        assert!(off <= Some(3), "{at:?}: {drawn:06x} instead of {wanted:06x}, {vertices:?}");
    }
}

#[test]
fn triangles_are_those_of_a_plain_rasteriser() {
    let mut random = Random(7);
    for turn in 0..400 {
        let mut vertices = [(); 3].map(|()| random.vertex());
        if turn % 2 == 0 {
            // Most of imgui's have one place in the texture, or one colour.
            vertices = vertices.map(|v| DrawVert { uv: vertices[0].uv, ..v });
        }
        if turn % 3 == 0 {
            vertices = vertices.map(|v| DrawVert { col: vertices[0].col, ..v });
        }
        let clip = [random.place(), random.place(), random.place() + 9.0, random.place() + 9.0];
        compare(&vertices, &[0, 1, 2], clip, turn % 5 / 4, &mut random);
    }
}

#[test]
fn rectangles_are_those_of_a_plain_rasteriser() {
    let mut random = Random(11);
    for turn in 0..400 {
        let [a, c] = [(); 2].map(|()| random.vertex());
        let mut c = DrawVert { col: a.col, ..c };
        if turn % 2 == 0 {
            c.uv = a.uv;
        }
        let b = DrawVert { pos: [c.pos[0], a.pos[1]], uv: [c.uv[0], a.uv[1]], col: a.col };
        let d = DrawVert { pos: [a.pos[0], c.pos[1]], uv: [a.uv[0], c.uv[1]], col: a.col };
        let clip = [random.place(), random.place(), random.place() + 9.0, random.place() + 9.0];
        compare(&[a, b, c, d], &[0, 1, 2, 0, 2, 3], clip, turn % 5 / 4, &mut random);
    }
}

#[test]
fn a_fan_covers_every_pixel_once() {
    let fonts = FontTexture { width: 1, height: 1, alpha: vec![255] };
    let mut random = Random(3);
    for _ in 0..200 {
        let far = [[-50.0, -50.0], [90.0, -50.0], [90.0, 90.0], [-50.0, 90.0]];
        let middle = [random.place(), random.place()];
        let vertices: Vec<DrawVert> = std::iter::once(middle)
            .chain(far)
            .map(|pos| DrawVert { pos, uv: [0.5; 2], col: [200, 100, 50, 128] })
            .collect();
        let mut canvas = Canvas::new(SIZE.0, SIZE.1);
        let textures = Textures::new(&fonts, &[]).unwrap();
        let mut prepared = vec![];
        let all = Clip::new([0.0, 0.0, 99.0, 99.0]).within(SIZE.0, SIZE.1);
        let indices = [0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 1];
        shapes(&vertices, &indices, |p| p, all, textures.get(0).unwrap(), &mut prepared);
        fill(&mut canvas, &prepared);
        let once = pack([200, 100, 50].map(|c: u32| ((c * 128 + 127) / 255) as u8));
        assert!(canvas.pixels.iter().all(|&pixel| pixel == once), "around {middle:?}");
    }
}

#[test]
fn places_that_are_not_on_the_screen_do_no_harm() {
    let fonts = FontTexture { width: 1, height: 1, alpha: vec![255] };
    let places = [f32::NAN, f32::INFINITY, -3e38, 3e38, 1e9, -1e9, 5.0];
    let mut random = Random(5);
    let textures = Textures::new(&fonts, &[]).unwrap();
    for _ in 0..2000 {
        let mut pick = || places[random.below(7) as usize];
        let vertices: [DrawVert; 4] = std::array::from_fn(|_| DrawVert {
            pos: [pick(), pick()],
            uv: [pick(), pick()],
            col: [255; 4],
        });
        let clip = Clip::new([pick(), pick(), pick(), pick()]).within(SIZE.0, SIZE.1);
        let mut prepared = vec![];
        let indices = [0, 1, 2, 0, 2, 3, 1, 9, 2];
        shapes(&vertices, &indices, |p| p, clip, textures.get(0).unwrap(), &mut prepared);
        fill(&mut Canvas::new(SIZE.0, SIZE.1), &prepared);
    }
    assert!(Textures::new(&FontTexture::default(), &[]).is_none());
    let torn = Image { width: 3, height: 3, rgba: vec![[0; 4]; 8] };
    assert!(Textures::new(&fonts, &[torn]).unwrap().get(1).is_none());
}

/// Paints imgui's own demonstration over 100 000 spheres and says how long it took. Alone, since
/// imgui has one context: `cargo test --release --features viewer --bin motes -- --ignored frame`.
#[test]
#[ignore = "prints times and writes target/interface.png"]
fn time_of_a_frame() {
    use crate::painter::{Camera, Content, Painter, Picture, Quality, Sphere, palette};
    use glam::Vec3;
    let mut context = imgui::Context::create();
    context.set_ini_filename(None);
    context.io_mut().display_size = [1280.0, 720.0];
    context.io_mut().delta_time = 1.0 / 60.0;
    let atlas = context.fonts().build_alpha8_texture();
    let fonts = FontTexture {
        width: atlas.width as usize,
        height: atlas.height as usize,
        alpha: atlas.data.to_vec(),
    };
    let bed = |i: u32| {
        let (x, y, z) = (i % 100, i / 10_000, i / 100 % 100);
        let jitter = (i as f32 * 0.618).fract() * 0.004;
        Sphere {
            center: Vec3::new(x as f32 + 0.5 * (y % 2) as f32, y as f32 * 0.8, z as f32) * 0.02
                + jitter,
            radius: 0.01,
            color: palette::group(i / 9000),
        }
    };
    let picture = Picture {
        spheres: (0..100_000).map(bed).collect(),
        ground: Some(-0.01),
        ..Default::default()
    };
    let content = Content::of(&picture).unwrap();
    let camera = Camera::frame_box(content.min, content.max);
    let mut painter = Painter::new(Quality::LIVE);
    let mut canvas = Canvas::default();
    let (mut scene, mut interface) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..40 {
        let ui = context.new_frame();
        let mut open = true;
        for (name, x) in [("left", 10.0), ("right", 900.0)] {
            ui.window(name)
                .position([x, 10.0], imgui::Condition::Always)
                .size([360.0, 690.0], imgui::Condition::Always)
                .build(|| {
                    let values: Vec<f32> = (0..200).map(|i| (i as f32 * 0.1).sin()).collect();
                    ui.plot_lines("wave", &values).graph_size([200.0, 80.0]).build();
                    for i in 0..40 {
                        let mut value = i as f32 / 40.0;
                        ui.slider(format!("parameter {i}"), 0.0, 1.0, &mut value);
                    }
                });
        }
        ui.show_demo_window(&mut open);
        let lists = context.render();
        let start = std::time::Instant::now();
        painter.paint(&picture, &camera, 1280, 720, &mut canvas);
        scene = scene.min(start.elapsed().as_secs_f64() * 1e3);
        let start = std::time::Instant::now();
        draw(&mut canvas, lists, &fonts);
        interface = interface.min(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("1280 x 720: scene {scene:.2} ms, interface {interface:.2} ms");
    let file = std::fs::File::create(concat!(env!("CARGO_MANIFEST_DIR"), "/target/interface.png"));
    canvas.write_png(file.unwrap()).unwrap();
}
