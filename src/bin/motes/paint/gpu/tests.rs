//! Pictures of both painters side by side. Needs a device, as `tests/vulkan.rs` does.

use super::*;
use crate::paint::lens::Lens;
use crate::paint::{Camera, Canvas, Line, Picture, Sphere, Theme, Triangle, paint, palette};
use glam::Vec3;
use std::sync::Arc;

const SIZE: (u32, u32) = (240, 180);
const RED: [u8; 3] = [220, 30, 30];
const BLUE: [u8; 3] = [30, 30, 220];

/// A device, or `None` where there is none and none is required.
fn gpu() -> Option<Arc<Gpu>> {
    match Gpu::open(None) {
        Ok((gpu, _)) => Some(gpu),
        Err(why) if std::env::var("MOTES_REQUIRE_VULKAN").is_ok_and(|v| v == "1") => {
            panic!("MOTES_REQUIRE_VULKAN=1, but {why}")
        }
        Err(why) => {
            eprintln!("skipped: no Vulkan device ({why})");
            None
        }
    }
}

fn scene_picture(spec: &str, steps: usize, lines: bool) -> (Picture, Camera) {
    let scene = motes::Scene::load(spec).unwrap();
    let world = scene.build().unwrap();
    let mut engine = motes::Engine::new(world, motes::Backend::default()).unwrap();
    for _ in 0..steps {
        engine.step(1.0 / 60.0).unwrap();
    }
    let seen = crate::picture::of(engine.world(), lines);
    let camera = crate::render::camera(seen.focus, Some(scene.camera()), 1280.0 / 720.0);
    (seen.picture, camera)
}

#[test]
fn throwaway() {
    let Some(gpu) = gpu() else { return };
    let mut easel = Easel::new(&gpu).unwrap();
    for (spec, steps, lines) in
        [("grains_box:stones", 60, false), ("cloth_hang", 60, true), ("stairs", 60, false)]
    {
        let (mut picture, camera) = scene_picture(spec, steps, lines);
        for theme in [Theme::Light, Theme::Dark] {
            picture.theme = theme;
            let mut canvas = Canvas::default();
            easel.paint(&picture, &camera, 1280, 720, &mut canvas).unwrap();
            let start = std::time::Instant::now();
            easel.paint(&picture, &camera, 1280, 720, &mut canvas).unwrap();
            let time = start.elapsed();
            let soft = paint(&picture, &camera, 1280, 720);
            let name = format!("/tmp/pb_{}_{theme:?}", spec.replace(':', "_"));
            canvas.write_png(std::fs::File::create(format!("{name}_gpu.png")).unwrap()).unwrap();
            soft.write_png(std::fs::File::create(format!("{name}_cpu.png")).unwrap()).unwrap();
            let (a, b) = (canvas.rgb(), soft.rgb());
            let sum: u64 = a.iter().zip(&b).map(|(&a, &b)| u64::from(a.abs_diff(b))).sum();
            println!("{spec} {theme:?}: mean {:.3}, {time:?}", sum as f64 / a.len() as f64);
        }
    }
    println!("{:#?}", gpu.messages());
}
