use glam::Vec3;
use motes::world::collider::{Pose, Shape};
use motes::*;
#[test]
fn grains() {
    let get = |k: &str, d: f32| std::env::var(k).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    let mut world = World::new();
    let r = 0.01;
    let (nx, ny, nz) = (get("NX", 15.0) as u32, 40u32, get("NX", 15.0) as u32);
    world.params.substeps = get("SUB", 1.0) as u32;
    world.params.iterations = get("IT", 6.0) as u32;
    world.params.stabilization = get("ST", 2.0) as u32;
    world.params.mass_scale = get("MS", 0.0);
    world.params.contact_omega = get("OM", 1.0);
    world.params.sleeping = get("SL", 0.0);
    if get("GS", 0.0) > 0.0 {
        world.params.solver = Solver::Seidel;
    }
    world.params.margin = get("MA", 1.2);
    world
        .add_grains(&Grains {
            origin: Vec3::splat(r) + Vec3::Y * 0.0,
            counts: [nx, ny, nz],
            spacing: 2.0 * r * get("SP", 1.0),
            radius: r,
            mass: 0.01,
            jitter: get("JI", 0.02),
            ..Default::default()
        })
        .unwrap();
    let (lx, lz) = (nx as f32 * 2.0 * r, nz as f32 * 2.0 * r);
    for (n, p) in [
        (Vec3::Y, Vec3::ZERO),
        (Vec3::X, Vec3::ZERO),
        (Vec3::NEG_X, Vec3::X * lx),
        (Vec3::Z, Vec3::ZERO),
        (Vec3::NEG_Z, Vec3::Z * lz),
    ] {
        world
            .colliders
            .push(Collider::fixed(Shape::Plane { normal: n }, Pose::from_translation(p)));
    }
    let mut e = Engine::new(world, Backend::Cpu { threads: get("TH", 2.0) as usize }).unwrap();
    for s in 0..get("STEPS", 300.0) as u32 {
        let rep = e.step(1.0 / 60.0).unwrap().clone();
        if s % 30 == 29 {
            let w = e.world();
            let h: f32 = w.particles().positions().iter().map(|p| p.y).sum::<f32>()
                / w.particles().len() as f32;
            let vmax = w
                .particles()
                .velocities()
                .iter()
                .map(|v| v.truncate().length())
                .fold(0.0f32, f32::max);
            let vmean =
                w.particles().velocities().iter().map(|v| v.truncate().length()).sum::<f32>()
                    / w.particles().len() as f32;
            // overlap by brute hash
            use std::collections::HashMap;
            let mut g: HashMap<(i32, i32, i32), Vec<usize>> = HashMap::new();
            let ps = w.particles().positions();
            let c = |p: glam::Vec4| {
                (
                    (p.x / 0.02).floor() as i32,
                    (p.y / 0.02).floor() as i32,
                    (p.z / 0.02).floor() as i32,
                )
            };
            for (i, p) in ps.iter().enumerate() {
                g.entry(c(*p)).or_default().push(i);
            }
            let mut mx = 0.0f32;
            let mut sum = 0.0;
            let mut cnt = 0;
            for (i, p) in ps.iter().enumerate() {
                let k = c(*p);
                for dx in -1..=1 {
                    for dy in -1..=1 {
                        for dz in -1..=1 {
                            if let Some(v) = g.get(&(k.0 + dx, k.1 + dy, k.2 + dz)) {
                                for &j in v {
                                    if j > i {
                                        let d = (*p - ps[j]).truncate().length();
                                        if d < 0.02 {
                                            mx = mx.max((0.02 - d) / 0.01);
                                            sum += (0.02 - d) / 0.01;
                                            cnt += 1;
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            println!(
                "step {s} ms {:.1} h {h:.4} vmax {vmax:.3} vmean {vmean:.4} overlap max {mx:.3} mean {:.4} contacts {} listed {} builds {}",
                rep.wall_ms,
                sum / cnt as f32,
                rep.contacts,
                rep.listed,
                rep.list_builds
            );
        }
    }
    for (p, c, ms) in e.report().passes.ran() {
        println!("{:22} {c:4} {ms:.2}", p.name());
    }
}
