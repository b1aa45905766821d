//! Wind on the triangles of cloth: forces against their formula, limits, gusts, and who catches it.

use glam::{DVec3, Quat, Vec3};
use motes::snapshot::{from_bytes, to_bytes};
use motes::{
    Backend, Bond, Built, Cloth, Engine, Force, ForceKind, Grains, Lattice, Pass, Solver,
    SurfaceWind, World, schedule,
};

const RHO: f64 = 1.2;

/// A sheet of 1 m² whose normal stands at an angle to x, without gravity.
fn sheet(degrees: f32, mass: f32) -> (World, Built) {
    let mut world = World::new();
    world.params.gravity = Vec3::ZERO;
    world.params.substeps = 1;
    let turn = Quat::from_rotation_z(degrees.to_radians());
    let cloth = Cloth {
        columns: 9,
        rows: 9,
        spacing: 0.125,
        along: turn * Vec3::Y,
        across: Vec3::Z,
        mass,
        ..Cloth::default()
    };
    let cloth = world.add_cloth(&cloth).unwrap();
    (world, cloth)
}

fn blow(world: &mut World, wind: SurfaceWind) {
    world.forces.push(Force { kind: ForceKind::SurfaceWind(wind), region: None });
}

fn wind(velocity: Vec3) -> SurfaceWind {
    SurfaceWind { velocity, density: RHO as f32, ..SurfaceWind::default() }
}

/// Momentum of the free particles, kg m/s. Constraints pass it on and change none of it.
fn momentum(world: &World) -> DVec3 {
    let p = world.particles();
    let of = |i: usize| match p.positions()[i].w {
        0.0 => DVec3::ZERO,
        w => p.velocities()[i].truncate().as_dvec3() / f64::from(w),
    };
    (0..p.len()).map(of).sum()
}

/// The force on a world during one step, N. It is that of the velocities at its start, whatever its
/// length; a shorter one would only show more of the rounding of positions.
fn force(world: World) -> DVec3 {
    let dt = 0.01f32;
    let before = momentum(&world);
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    engine.step(dt).unwrap();
    (momentum(engine.world()) - before) / f64::from(dt)
}

#[test]
fn a_plate_feels_the_force_of_the_formula() {
    let u = 5.0;
    let pressure = 0.5 * RHO * u * u;
    let (cd, cl) = (1.2, 0.8);
    for degrees in [0.0, 20.0, 45.0, 70.0, 135.0, 180.0, 225.0] {
        let (mut world, _) = sheet(degrees, 0.01);
        blow(&mut world, wind(Vec3::X * u as f32));
        let found = force(world);
        // The angle between wind and normal, whichever side it is.
        let (sin, cos) = f64::from(degrees).to_radians().sin_cos();
        let drag = pressure * cd * cos.abs();
        // The lift points to where the normal leans, once it is turned to the wind.
        let lift = pressure * cl * cos.abs() * (sin * cos.signum());
        let expected = DVec3::new(drag, lift, 0.0);
        assert!(found.distance(expected) < 1e-3 * pressure, "{degrees}: {found}, not {expected}");
    }
}

#[test]
fn a_plate_edge_on_and_one_that_moves_with_the_air_feel_nothing() {
    let (mut world, _) = sheet(90.0, 0.01);
    blow(&mut world, wind(Vec3::X * 5.0));
    assert!(force(world).length() < 1e-4);
    let (mut world, cloth) = sheet(30.0, 0.01);
    let velocity = Vec3::new(4.0, -2.0, 1.0);
    for &id in &cloth {
        world.set_velocity(id, velocity).unwrap();
    }
    blow(&mut world, wind(velocity));
    assert!(force(world).length() < 1e-3);
    // The control: half the speed is not with it.
    let (mut world, _) = sheet(30.0, 0.01);
    blow(&mut world, wind(velocity));
    assert!(force(world).length() > 1.0);
}

/// A flat sheet falls at sqrt(2 m g / (rho Cd A)).
#[test]
fn a_sheet_falls_at_its_terminal_velocity() {
    let mass = 0.3f32;
    let (g, cd) = (9.81f64, 1.2);
    let terminal = (2.0 * f64::from(mass) * g / (RHO * cd)).sqrt();
    let falling = |share: f64| {
        let (mut world, cloth) = sheet(90.0, mass / 81.0);
        world.params.gravity = Vec3::NEG_Y * g as f32;
        for &id in &cloth {
            world.set_velocity(id, Vec3::NEG_Y * (share * terminal) as f32).unwrap();
        }
        blow(&mut world, wind(Vec3::ZERO));
        world
    };
    let weight = f64::from(mass) * g;
    // At that speed the air carries it, slower the weight wins, faster the air does.
    assert!(force(falling(1.0)).y.abs() < 2e-3 * weight);
    for share in [0.5, 1.5] {
        let (found, expected) = (force(falling(share)).y, weight * (share * share - 1.0));
        assert!((found - expected).abs() < 2e-3 * weight, "{share}: {found}, not {expected}");
    }
    // And it comes to that speed from rest, if it stays flat.
    let (mut world, _) = sheet(90.0, mass / 81.0);
    world.params.gravity = Vec3::NEG_Y * g as f32;
    world.params.iterations = 40;
    let id = world.particles().ids().to_vec();
    let stiff = Bond::default();
    for k in 0..81 {
        let (x, y) = (k % 9, k / 9);
        for (dx, dy) in [(8 - x, 0), (0, 8 - y)] {
            if dx + dy > 1 {
                let ends = [k, k + dx + 9 * dy].map(|k| motes::ParticleId(id[k]));
                world.add_distance(ends[0], ends[1], None, &stiff).unwrap();
            }
        }
    }
    blow(&mut world, wind(Vec3::ZERO));
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    for _ in 0..600 {
        engine.step(1.0 / 240.0).unwrap();
    }
    let speed = -momentum(engine.world()).y / f64::from(mass);
    assert!((speed / terminal - 1.0).abs() < 0.05, "{speed} m/s, not {terminal}");
}

/// However light the cloth and however long the substep, the wind carries it along and never faster
/// than it blows itself.
#[test]
fn no_step_is_too_long() {
    for (mass, dt) in [(1e-3, 0.01), (1e-6, 0.1), (1e-9, 1.0)] {
        for degrees in [0.0, 45.0, 85.0] {
            let (mut world, cloth) = sheet(degrees, mass);
            blow(&mut world, wind(Vec3::X * 50.0));
            let all = mass as f64 * cloth.len() as f64;
            let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
            for step in 0..40 {
                engine.step(dt).unwrap();
                let mean = momentum(engine.world()) / all;
                let relative = (DVec3::X * 50.0 - mean).length();
                assert!(relative <= 50.01, "{mass} {dt} {degrees} {step}: {mean}");
            }
            assert_eq!(engine.world().quarantined(), 0);
            let gained = momentum(engine.world()).x / all;
            assert!(gained > 1.0, "{mass} {dt} {degrees}: {gained}");
        }
    }
}

/// Who is outside numbers is left alone, and drags nobody along.
#[test]
fn wind_beyond_all_numbers_moves_nothing() {
    let (mut world, cloth) = sheet(0.0, 0.01);
    world.set_velocity(cloth[40], Vec3::X * 1e25).unwrap();
    blow(&mut world, SurfaceWind { velocity: Vec3::Y * 1e30, gust: 0.5, ..wind(Vec3::ZERO) });
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    for _ in 0..3 {
        engine.step(1.0 / 60.0).unwrap();
    }
    assert!(engine.positions().iter().all(|p| p.is_finite()));
}

/// A triangle of more than four times its area is torn.
#[test]
fn torn_triangles_catch_no_wind() {
    let stretched = |factor: f32| {
        let (mut world, cloth) = sheet(0.0, 0.01);
        for &id in &cloth {
            let at = world.position(id).unwrap();
            world.set_position(id, at * factor).unwrap();
        }
        blow(&mut world, wind(Vec3::X * 5.0));
        world.params.iterations = 1;
        force(world).x
    };
    let whole = 0.5 * RHO * 1.2 * 25.0;
    assert!((stretched(1.9) / (whole * 1.9 * 1.9) - 1.0).abs() < 0.01, "{}", stretched(1.9));
    // The solver's own rounding at a stretch of this size.
    assert!(stretched(2.1).abs() < 0.05 * whole, "{}", stretched(2.1));
}

#[test]
fn only_what_is_inside_the_region_catches_wind() {
    let (mut world, _) = sheet(0.0, 0.01);
    let kind = ForceKind::SurfaceWind(wind(Vec3::X * 5.0));
    // Half of it, and a little: the triangles on the border have corners on both sides.
    let high = Vec3::new(1.0, 0.51, 2.0);
    world.forces.push(Force { kind, region: Some([Vec3::splat(-1.0), high]) });
    let half = 0.5 * 0.5 * RHO * 1.2 * 25.0;
    assert!((force(world).x / half - 1.0).abs() < 1e-3);
}

/// Two winds push one after the other. The sheet is so heavy that the second finds it at rest.
#[test]
fn winds_add_up() {
    let (mut world, _) = sheet(0.0, 1.0);
    blow(&mut world, wind(Vec3::X * 5.0));
    let one = force(world.clone()).x;
    blow(&mut world, wind(Vec3::X * 5.0));
    assert!((force(world).x / one - 2.0).abs() < 0.01);
}

/// The pass runs where there are winds and cloth, and only there; particles on their own and soft
/// bodies feel nothing.
#[test]
fn the_pass_runs_where_wind_meets_cloth() {
    let runs = |world: &World| {
        schedule(world).dispatches().iter().filter(|d| d.pass == Pass::CatchWind).count()
    };
    let (mut world, cloth) = sheet(0.0, 0.01);
    assert_eq!(runs(&world), 0);
    blow(&mut world, wind(Vec3::X));
    assert_eq!(runs(&world), 1);
    blow(&mut world, wind(Vec3::Y));
    assert_eq!(runs(&world), 2);
    world.remove_object(cloth.object).unwrap();
    assert_eq!(runs(&world), 0);
    world.add_lattice(&Lattice::default()).unwrap();
    world.add_grains(&Grains { counts: [3; 3], ..Grains::default() }).unwrap();
    assert_eq!(runs(&world), 0);
    let hash = |world: World| {
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        engine.step(1.0 / 60.0).unwrap();
        engine.world().hash()
    };
    let mut calm = world.clone();
    calm.forces.clear();
    assert_eq!(hash(world), hash(calm));
}

/// An engine sees winds come and go between two steps.
#[test]
fn winds_come_and_go() {
    let (world, cloth) = sheet(0.0, 0.01);
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    let calls =
        |engine: &mut Engine| engine.step(1.0 / 60.0).unwrap().passes.calls(Pass::CatchWind);
    assert_eq!(calls(&mut engine), 0);
    blow(engine.world_mut(), wind(Vec3::X));
    assert_eq!(calls(&mut engine), 1);
    let still = SurfaceWind { drag_coefficient: f32::NAN, ..wind(Vec3::X) };
    engine.world_mut().forces[0].kind = ForceKind::SurfaceWind(still);
    let said = engine.step(1.0 / 60.0).unwrap_err().to_string();
    assert!(said.contains("force.drag_coefficient") && said.contains("at least 0"), "{said}");
    engine.world_mut().forces.clear();
    assert_eq!(calls(&mut engine), 0);
    blow(engine.world_mut(), wind(Vec3::X));
    engine.world_mut().remove_particles(&cloth[..40]).unwrap();
    assert_eq!(calls(&mut engine), 1);
}

/// A pinned cloth in gusts.
fn gusty(solver: Solver) -> (World, Built) {
    let (mut world, cloth) = sheet(80.0, 0.002);
    world.params.solver = solver;
    world.params.substeps = 3;
    world.params.gravity = Vec3::NEG_Y * 9.81;
    for k in 0..9 {
        world.pin(cloth[k]).unwrap();
    }
    let velocity = Vec3::new(6.0, 0.0, 1.0);
    let gusts = SurfaceWind { gust: 0.5, gust_length: 0.4, gust_time: 0.3, ..wind(velocity) };
    blow(&mut world, gusts);
    (world, cloth)
}

#[test]
fn gusts_are_the_same_for_any_team() {
    for solver in [Solver::Colored, Solver::Seidel, Solver::Jacobi] {
        let hash = |threads: usize| {
            let mut engine = Engine::new(gusty(solver).0, Backend::Cpu { threads }).unwrap();
            for _ in 0..60 {
                engine.step(1.0 / 60.0).unwrap();
            }
            engine.world().hash()
        };
        let one = hash(1);
        for threads in [2, 3, 8] {
            assert_eq!(hash(threads), one, "{solver}, {threads} threads");
        }
    }
    // The control: other gusts give other bits.
    let hash = |gust: f32| {
        let mut world = gusty(Solver::Colored).0;
        let ForceKind::SurfaceWind(wind) = &mut world.forces[0].kind else { panic!("no wind") };
        wind.gust = gust;
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        engine.step(1.0 / 60.0).unwrap();
        engine.world().hash()
    };
    assert_ne!(hash(0.5), hash(0.500_001));
}

#[test]
fn a_run_resumed_in_the_middle_of_a_gust_gives_the_same_bits() {
    let mut whole = Engine::new(gusty(Solver::Colored).0, Backend::Cpu { threads: 2 }).unwrap();
    for _ in 0..23 {
        whole.step(1.0 / 60.0).unwrap();
    }
    let bytes = to_bytes("gusty", whole.world()).unwrap();
    let back = from_bytes("memory", &bytes).unwrap().world;
    assert_eq!(&back, whole.world());
    let mut resumed = Engine::new(back, Backend::Cpu { threads: 1 }).unwrap();
    for _ in 0..40 {
        whole.step(1.0 / 60.0).unwrap();
        resumed.step(1.0 / 60.0).unwrap();
    }
    assert_eq!(whole.world().hash(), resumed.world().hash());
}

/// Where the particles of an object are, as bits.
fn places(engine: &Engine, cloth: &Built) -> Vec<[u32; 3]> {
    let at = |&id| engine.world().position(id).unwrap().to_array().map(f32::to_bits);
    cloth.iter().map(at).collect()
}

/// A cloth flies alike whether or not its particles have other slots: because others were removed,
/// or because many grains, far away, are sorted together with it.
#[test]
fn the_cloth_flies_alike_wherever_its_slots_are() {
    let run = |mut engine: Engine, cloth: &Built| {
        let mut sorts = 0;
        for _ in 0..12 {
            sorts += engine.step(1.0 / 60.0).unwrap().passes.calls(Pass::SortParticles);
        }
        (places(&engine, cloth), sorts)
    };
    let start = |world: World| Engine::new(world, Backend::Cpu { threads: 2 }).unwrap();
    let (world, cloth) = gusty(Solver::Colored);
    let (alone, _) = run(start(world), &cloth);

    let (gusts, _) = gusty(Solver::Colored);
    let mut world = World::new();
    world.params = gusts.params.clone();
    let other = world.add_cloth(&Cloth { columns: 4, rows: 5, ..Cloth::default() }).unwrap();
    let (mut crowd, grains) = (
        world,
        Grains { origin: Vec3::new(50.0, 0.0, 0.0), counts: [21, 21, 21], ..Grains::default() },
    );
    let made = |world: &mut World| {
        let turn = Quat::from_rotation_z(80f32.to_radians());
        let cloth = Cloth {
            columns: 9,
            rows: 9,
            spacing: 0.125,
            along: turn * Vec3::Y,
            across: Vec3::Z,
            mass: 0.002,
            ..Cloth::default()
        };
        let cloth = world.add_cloth(&cloth).unwrap();
        (0..9).for_each(|k| world.pin(cloth[k]).unwrap());
        world.forces = gusts.forces.clone();
        cloth
    };
    let mut removed = crowd.clone();
    let cloth = made(&mut removed);
    removed.remove_object(other.object).unwrap();
    assert_eq!(run(start(removed), &cloth).0, alone);

    crowd.remove_object(other.object).unwrap();
    crowd.add_grains(&grains).unwrap();
    let cloth = made(&mut crowd);
    let (among, sorts) = run(start(crowd), &cloth);
    assert!(sorts > 0, "nothing was sorted");
    assert_eq!(among, alone);
}
