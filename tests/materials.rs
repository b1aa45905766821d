//! Materials: particles of several of them against the formulas, live edits, scenes, snapshots, and
//! the same bits for any team.

use glam::Vec3;
use motes::snapshot::{from_bytes, to_bytes};
use motes::world::collider::{Pose, Shape};
use motes::{
    Backend, Coefficients, Collider, Engine, Grains, Material, MaterialId, Particle, ParticleId,
    Phase, Scene, Solver, World,
};

const G: f32 = 9.81;
const SOLVERS: [Solver; 3] = [Solver::Seidel, Solver::Colored, Solver::Jacobi];

fn engine(world: World) -> Engine {
    Engine::new(world, Backend::Cpu { threads: 1 }).unwrap()
}

fn add_material(world: &mut World, mu: f32, restitution: f32) -> MaterialId {
    let coefficients = Coefficients {
        friction_static: Some(mu),
        friction_kinetic: Some(mu),
        restitution: Some(restitution),
        ..Coefficients::default()
    };
    world.add_material(&Material { name: format!("mu {mu}"), coefficients }).unwrap()
}

fn floor(material: MaterialId) -> Collider {
    let floor = Shape::Plane { normal: Vec3::Y };
    Collider { material, ..Collider::fixed(floor, Pose::IDENTITY) }
}

/// A ball of a material on a floor at y = 0, in a lane of its own.
fn add_ball(world: &mut World, material: MaterialId, height: f32, velocity: Vec3) -> ParticleId {
    let lane = world.particles().len() as f32;
    let position = Vec3::new(0.0, 0.05 + height, lane);
    let phase = Phase::group(1);
    let ball = Particle { position, velocity, mass: 1.0, radius: 0.05, phase };
    let id = world.add_particle(&ball).unwrap();
    let object = world.add_object("ball", &[id]).unwrap();
    world.set_material(object, material).unwrap();
    id
}

/// How far a particle slides: v²/(2 mu g), less v h/2, since each step moves it by the speed at its
/// end. Positions round depths of g h² by some parts in a hundred thousand.
fn slide(speed: f32, mu: f32, h: f32) -> f32 {
    speed * speed / (2.0 * mu * G) - 0.5 * speed * h
}

/// Here mu is the geometric mean of particle and floor, or what overrides it.
#[test]
fn particles_of_each_material_slide_as_far_as_theirs_and_the_floors_friction_let_them() {
    for solver in SOLVERS {
        let mut world = World::new();
        world.params.substeps = 1;
        world.params.solver = solver;
        (world.params.friction, world.params.static_friction) = (0.5, 0.5);
        let stone = add_material(&mut world, 0.4, 0.0);
        let rubber = add_material(&mut world, 0.9, 0.0);
        let ice = add_material(&mut world, 0.1, 0.0);
        let told = add_material(&mut world, 0.1, 0.0);
        let own = Coefficients {
            friction_static: Some(0.35),
            friction_kinetic: Some(0.35),
            ..Coefficients::default()
        };
        world.set_material_pair(told, stone, own).unwrap();
        world.colliders.push(floor(stone));
        let (speed, h) = (3.0f32, 1.0 / 240.0);
        let expected = [
            (MaterialId::DEFAULT, 0.2f32.sqrt()),
            (stone, 0.4),
            (rubber, 0.6),
            (ice, 0.2),
            (told, 0.35),
        ];
        let balls = expected.map(|(m, _)| add_ball(&mut world, m, 0.0, Vec3::X * speed));
        let mut on_its_own = world.clone();
        let mut engine = engine(world);
        for _ in 0..500 {
            engine.step(h).unwrap();
        }
        for (ball, (_, mu)) in balls.into_iter().zip(expected) {
            let slid = engine.world().position(ball).unwrap().x;
            let right = slide(speed, mu, h);
            assert!((slid / right - 1.0).abs() < 1e-3, "{solver}: {slid} m, expected {right} m");
            assert!(engine.world().velocity(ball).unwrap().length() < 1e-3, "it came to rest");
        }

        // A number on the collider overrides the materials, whoever slides.
        let mu = 0.25;
        on_its_own.colliders[0].coefficients = Coefficients {
            friction_static: Some(mu),
            friction_kinetic: Some(mu),
            ..Coefficients::default()
        };
        let mut engine = self::engine(on_its_own);
        for _ in 0..500 {
            engine.step(h).unwrap();
        }
        let right = slide(speed, mu, h);
        for ball in balls {
            let slid = engine.world().position(ball).unwrap().x;
            assert!((slid / right - 1.0).abs() < 1e-3, "{solver}: {slid} m, expected {right} m");
        }
    }
}

/// On one slope one material sticks and another slips: below and above arctan mu of each.
#[test]
fn particles_of_each_material_stick_below_their_angle_and_slip_above() {
    let mut world = World::new();
    let stone = add_material(&mut world, 0.4, 0.0);
    let materials = [0.9f32, 0.1].map(|mu| (add_material(&mut world, mu, 0.0), (0.4 * mu).sqrt()));
    world.colliders.push(floor(stone));
    let balls = materials.map(|(material, _)| add_ball(&mut world, material, 0.0, Vec3::ZERO));
    for (_, limit) in materials {
        for share in [0.96, 1.04] {
            let angle = limit.atan() * share;
            let mut world = world.clone();
            // Gravity is turned instead of the floor: the same slope.
            world.params.gravity = Vec3::new(angle.sin(), -angle.cos(), 0.0) * G;
            let mut engine = engine(world);
            for _ in 0..240 {
                engine.step(1.0 / 120.0).unwrap();
            }
            for (ball, (_, mu)) in balls.into_iter().zip(materials) {
                let moved = engine.world().position(ball).unwrap().x;
                if angle < mu.atan() {
                    assert!(moved.abs() < 1e-4, "mu {mu} slipped {moved} m at {angle}");
                } else {
                    let right = 0.5 * G * (angle.sin() - mu * angle.cos()) * 4.0;
                    assert!((moved / right - 1.0).abs() < 0.02, "{moved} m, expected {right} m");
                }
            }
        }
    }
}

/// The larger restitution of the two counts, unless the pair or the collider has its own.
#[test]
fn particles_of_each_material_bounce_with_theirs() {
    for solver in SOLVERS {
        let mut world = World::new();
        world.params.solver = solver;
        let floors = add_material(&mut world, 0.0, 0.3);
        let lively = add_material(&mut world, 0.0, 0.9);
        let dull = add_material(&mut world, 0.0, 0.1);
        let told = add_material(&mut world, 0.0, 0.9);
        let own = Coefficients { restitution: Some(0.5), ..Coefficients::default() };
        world.set_material_pair(told, floors, own).unwrap();
        world.colliders.push(floor(floors));
        let expected = [(MaterialId::DEFAULT, 0.3), (lively, 0.9), (dull, 0.3), (told, 0.5)];
        let balls = expected.map(|(m, _)| add_ball(&mut world, m, 1.0, Vec3::ZERO));
        for own in [None, Some(0.7f32)] {
            let mut world = world.clone();
            world.colliders[0].coefficients.restitution = own;
            let mut engine = engine(world);
            let mut speeds = [(0.0f32, 0.0f32); 4];
            for _ in 0..500 {
                engine.step(1.0 / 960.0).unwrap();
                for ((before, after), ball) in speeds.iter_mut().zip(balls) {
                    let v = engine.world().velocity(ball).unwrap().y;
                    *before = before.min(v);
                    *after = after.max(v);
                }
            }
            for ((before, after), (_, e)) in speeds.into_iter().zip(expected) {
                let (measured, e) = (-after / before, own.unwrap_or(e));
                assert!((measured / e - 1.0).abs() < 0.02, "{solver}: {measured}, expected {e}");
            }
        }
    }
}

/// Two balls that meet have the numbers of their pair; others bounce beside them with theirs.
#[test]
fn pairs_of_particles_bounce_with_the_larger_restitution_of_the_two() {
    for solver in SOLVERS {
        let mut world = World::new();
        world.params.gravity = Vec3::ZERO;
        (world.params.friction, world.params.solver) = (0.0, solver);
        let lively = add_material(&mut world, 0.0, 0.8);
        let dull = add_material(&mut world, 0.0, 0.2);
        let dead = MaterialId::DEFAULT;
        let pairs = [(lively, dull, 0.8), (dull, dead, 0.2), (dead, dead, 0.0), (dull, dull, 0.2)];
        let met = pairs.map(|(a, b, _)| {
            let z = world.particles().len() as f32;
            [(a, -1.0), (b, 1.0)].map(|(material, side)| {
                let position = Vec3::new(0.5 * side, 0.0, z);
                let velocity = Vec3::X * -side;
                let phase = Phase::group(world.new_group());
                let ball = Particle { position, velocity, mass: 1.0, radius: 0.1, phase };
                let id = world.add_particle(&ball).unwrap();
                let object = world.add_object("ball", &[id]).unwrap();
                world.set_material(object, material).unwrap();
                id
            })
        });
        let mut engine = engine(world);
        for _ in 0..120 {
            engine.step(1.0 / 120.0).unwrap();
        }
        for ([a, b], (_, _, e)) in met.into_iter().zip(pairs) {
            let v = |id| engine.world().velocity(id).unwrap().x;
            let apart = v(b) - v(a);
            assert!((apart - 2.0 * e).abs() < 0.02, "{solver}: {apart} m/s, e {e}");
        }
    }
}

/// A shaken heap of three materials on a floor; `same` gives all of them the parameters' numbers.
fn heap(solver: Solver, same: bool) -> World {
    let mut world = World::new();
    world.params.solver = solver;
    (world.params.friction, world.params.static_friction) = (0.3, 0.37);
    world.params.restitution = 0.25;
    let own = |k: f32| Coefficients {
        friction_static: Some(if same { 0.37 } else { 0.2 * k }),
        friction_kinetic: Some(if same { 0.3 } else { 0.1 * k }),
        restitution: Some(if same { 0.25 } else { 0.4 * k }),
        ..Coefficients::default()
    };
    let materials = [1.0, 2.0].map(|k| {
        world.add_material(&Material { name: String::new(), coefficients: own(k) }).unwrap()
    });
    let grains = Grains { counts: [8, 9, 7], jitter: 0.4, ..Grains::default() };
    let grains = world.add_grains(&grains).unwrap();
    for (k, material) in materials.into_iter().enumerate() {
        let some: Vec<ParticleId> = grains.iter().copied().skip(k).step_by(3).collect();
        let object = world.add_object("some", &some).unwrap();
        world.set_material(object, material).unwrap();
    }
    world.colliders.push(floor(materials[1]));
    world
}

fn hash(world: World, threads: usize) -> u64 {
    let mut engine = Engine::new(world, Backend::Cpu { threads }).unwrap();
    for _ in 0..60 {
        engine.step(1.0 / 60.0).unwrap();
    }
    engine.world().hash()
}

/// Several materials with the same numbers give the bits of one: the way through the table is the
/// same arithmetic.
#[test]
fn materials_that_are_alike_are_as_one() {
    for solver in SOLVERS {
        let alike = heap(solver, true);
        let mut one = alike.clone();
        let all: Vec<_> = one.objects().map(|(id, _)| id).collect();
        for object in all {
            one.set_material(object, MaterialId::DEFAULT).unwrap();
        }
        one.colliders[0].material = MaterialId::DEFAULT;
        let expected = hash(one, 2);
        assert_eq!(hash(alike, 2), expected, "{solver}");
        assert_ne!(hash(heap(solver, false), 2), expected, "{solver}: the control");
    }
}

#[test]
fn several_materials_give_the_same_bits_for_any_team() {
    for solver in SOLVERS {
        let alone = hash(heap(solver, false), 1);
        for threads in [2, 3, 8] {
            assert_eq!(hash(heap(solver, false), threads), alone, "{solver}, {threads} threads");
        }
    }
}

/// A scene with a material of each origin: a table, keys of its own, `[params]`.
const SCENE: &str = r#"
[params]
friction = 0.3
restitution = 0.1
[[material]]
name = "rubber"
friction = 0.9
restitution = 0.8
[[material]]
name = "ice"
friction = 0.02
static_friction = 0.05
[[material_pair]]
materials = ["rubber", "ice"]
friction = 0.2
[[granular]]
name = "balls"
counts = [6, 5, 4]
spacing = 0.1
jitter = 0.4
material = "rubber"
[[granular]]
name = "crumbs"
counts = [6, 5, 4]
spacing = 0.1
jitter = 0.4
origin = [0.05, 0.6, 0.05]
friction = 0.6
[[box]]
name = "block"
counts = [3, 3, 3]
spacing = 0.1
center = [0.2, 1.3, 0.2]
[[collider]]
shape = "plane"
material = "ice"
[[collider]]
shape = "plane"
normal = [1, 0, 0]
position = [-0.2, 0, 0]
material = "default"
restitution = 0.4
"#;

#[test]
fn a_scene_names_its_materials() {
    let world = Scene::parse("s.toml", SCENE, None, &[]).unwrap().build().unwrap();
    let names: Vec<&str> = world.materials().map(|(_, m)| m.name.as_str()).collect();
    assert_eq!(names, ["rubber", "ice", "crumbs"], "one of its own");
    let [rubber, ice, crumbs] =
        ["rubber", "ice", "crumbs"].map(|n| world.find_material(n).unwrap());
    let said = |id| {
        let Coefficients { friction_static, friction_kinetic, restitution, .. } =
            world.material(id).unwrap().coefficients;
        [friction_static, friction_kinetic, restitution]
    };
    assert_eq!(said(rubber), [Some(0.9), Some(0.9), Some(0.8)], "friction alone sets both");
    assert_eq!(said(ice), [Some(0.05), Some(0.02), None]);
    assert_eq!(said(crumbs), [Some(0.6), Some(0.6), None]);
    let objects: Vec<_> = world.objects().map(|(id, _)| world.material_of(id).unwrap()).collect();
    // In the order they are built: boxes come first.
    assert_eq!(objects, [Some(MaterialId::DEFAULT), Some(rubber), Some(crumbs)]);
    assert_eq!(world.material_pair(ice, rubber).friction_kinetic, Some(0.2));
    assert_eq!(
        [world.colliders[0].material, world.colliders[1].material],
        [ice, MaterialId::DEFAULT]
    );
    assert_eq!(world.colliders[1].coefficients.restitution, Some(0.4));
    let set = ["material.0.friction=0.5".to_string()];
    let world = Scene::parse("s.toml", SCENE, None, &set).unwrap().build().unwrap();
    assert_eq!(world.material(rubber).unwrap().coefficients.friction_kinetic, Some(0.5));
}

/// What an object says of itself is added to the material that it was built with.
#[test]
fn fluids_have_their_own_numbers_in_scenes() {
    let fluid = |more: &str| {
        let keys = "low = [0, 0, 0]\nhigh = [0.1, 0.1, 0.1]\nradius = 0.01";
        let honey = "[[material]]\nname = \"honey\"\nfluid_viscosity = 900\n";
        let text = format!("[[fluid]]\n{keys}\n{more}\n{honey}");
        let world = Scene::parse("s.toml", &text, None, &[]).unwrap().build().unwrap();
        let object = world.objects().next().unwrap().0;
        let id = world.material_of(object).unwrap().unwrap();
        let of = world.material(id).unwrap().coefficients;
        [of.friction_kinetic, of.restitution, of.viscosity]
    };
    assert_eq!(fluid(""), [Some(0.0), None, None]);
    assert_eq!(fluid("fluid_viscosity = 70"), [Some(0.0), None, Some(70.0)]);
    assert_eq!(
        fluid("fluid_viscosity = 70\nrestitution = 0.5"),
        [Some(0.0), Some(0.5), Some(70.0)]
    );
    assert_eq!(fluid("fluid_viscosity = 70\nfriction = 0.3"), [Some(0.3), None, Some(70.0)]);
    assert_eq!(fluid("material = \"honey\""), [None, None, Some(900.0)]);
}

/// Parameters act on the default material, and on what others leave open, from the next step on.
#[test]
fn live_edits_act_at_the_next_step() {
    let slowed = |edit: fn(&mut World, MaterialId), material: fn(MaterialId) -> MaterialId| {
        let mut world = World::new();
        (world.params.friction, world.params.static_friction) = (0.4, 0.4);
        let open = world.add_material(&Material::default()).unwrap();
        let ball = add_ball(&mut world, material(open), 0.0, Vec3::X * 3.0);
        world.colliders.push(floor(material(open)));
        let mut engine = engine(world);
        let dt = 1.0 / 120.0;
        engine.step(dt).unwrap();
        let before = engine.world().velocity(ball).unwrap().x;
        edit(engine.world_mut(), open);
        engine.step(dt).unwrap();
        (before - engine.world().velocity(ball).unwrap().x) / (G * dt)
    };
    let near = |mu: f32, expected: f32| assert!((mu - expected).abs() < 1e-3, "{mu}, {expected}");
    near(slowed(|_, _| {}, |_| MaterialId::DEFAULT), 0.4);
    near(slowed(|world, _| world.params.friction = 0.7, |_| MaterialId::DEFAULT), 0.7);
    near(slowed(|world, _| world.params.friction = 0.7, |open| open), 0.7);
    let of_its_own = |world: &mut World, open: MaterialId| {
        world.material_mut(open).unwrap().coefficients.friction_kinetic = Some(0.2);
        world.material_mut(open).unwrap().coefficients.friction_static = Some(0.2);
    };
    near(slowed(of_its_own, |open| open), 0.2);
    let pair = |world: &mut World, open: MaterialId| {
        let own = Coefficients { friction_kinetic: Some(0.9), ..Coefficients::default() };
        world.set_material_pair(open, open, own).unwrap();
    };
    near(slowed(pair, |open| open), 0.9);
    let moved = |world: &mut World, open: MaterialId| {
        world.material_mut(open).unwrap().coefficients.friction_kinetic = Some(0.9);
        world.colliders[0].material = open;
        let objects: Vec<_> = world.objects().map(|(id, _)| id).collect();
        objects.into_iter().for_each(|id| world.set_material(id, open).unwrap());
    };
    near(slowed(moved, |_| MaterialId::DEFAULT), 0.9);

    let mut world = World::new();
    let id = world.add_material(&Material::default()).unwrap();
    let mut engine = engine(world);
    engine.world_mut().material_mut(id).unwrap().coefficients.restitution = Some(-1.0);
    let why = engine.step(0.01).unwrap_err().to_string();
    assert!(why.contains("material.0.restitution") && why.contains("between 0 and 1"), "{why}");
}

#[test]
fn a_resumed_run_has_its_materials() {
    let world = Scene::parse("s.toml", SCENE, None, &[]).unwrap().build().unwrap();
    let mut whole = engine(world);
    for _ in 0..20 {
        whole.step(1.0 / 60.0).unwrap();
    }
    let bytes = to_bytes("s.toml", whole.world()).unwrap();
    let saved = from_bytes("saved", &bytes).unwrap().world;
    assert_eq!(&saved, whole.world());
    assert!(saved.materials().eq(whole.world().materials()));
    let mut resumed = engine(saved);
    for _ in 0..20 {
        whole.step(1.0 / 60.0).unwrap();
        resumed.step(1.0 / 60.0).unwrap();
    }
    assert_eq!(resumed.world().hash(), whole.world().hash());
}

/// Every level of vector instructions gives the same bits.
#[cfg(feature = "cli")]
#[test]
fn several_materials_give_the_same_bits_for_any_instructions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    std::fs::write(&path, SCENE).unwrap();
    let hash = |level: Option<&str>| {
        let mut motes = std::process::Command::new(env!("CARGO_BIN_EXE_motes"));
        motes.arg("run").arg(&path).args(["--steps", "40", "--hash"]).env_remove("MOTES_SIMD");
        if let Some(level) = level {
            motes.env("MOTES_SIMD", level);
        }
        let run = motes.output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let text = String::from_utf8(run.stdout).unwrap();
        text.lines().find(|l| l.contains("hash")).expect("a hash").to_string()
    };
    let best = hash(None);
    for level in ["scalar", "wide"] {
        assert_eq!(hash(Some(level)), best, "{level}");
    }
}
