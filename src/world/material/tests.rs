use super::*;
use crate::world::collider::{Collider, Pose, Shape};
use crate::{Grains, ParticleId};
use glam::Vec3;

/// Length of a substep, s.
const H: f32 = 1.0 / 240.0;

fn given(friction_static: f32, friction_kinetic: f32, restitution: f32) -> Coefficients {
    Coefficients {
        friction_static: Some(friction_static),
        friction_kinetic: Some(friction_kinetic),
        restitution: Some(restitution),
        ..Coefficients::default()
    }
}

fn material(coefficients: Coefficients) -> Material {
    Material { name: "stuff".into(), coefficients }
}

fn numbers(row: &PairRow) -> [f32; 3] {
    [row.fixed, row.kinetic, row.restitution]
}

fn table(world: &World) -> MaterialPairs {
    let mut pairs = MaterialPairs::default();
    assert!(pairs.update(world, H) && !pairs.update(world, H), "made once");
    pairs
}

fn floor() -> Collider {
    Collider::fixed(Shape::Plane { normal: Vec3::Y }, Pose::IDENTITY)
}

/// Any two equal numbers give back that number, bit for bit: a world of one material is what it was
/// before there were materials.
#[test]
fn the_default_material_on_itself_is_the_parameters() {
    let mut world = World::new();
    world.colliders.push(floor());
    let mut bits = 1u32;
    for _ in 0..20_000 {
        bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let any = f32::from_bits(bits & 0x7fff_ffff);
        let legal = if any <= 100.0 { any } else { (bits >> 8) as f32 / 1e6 };
        world.params.friction = legal;
        world.params.static_friction = (bits >> 4) as f32 * 1e-7;
        world.params.restitution = (bits >> 9) as f32 / 1e7;
        let pairs = table(&world);
        let p = &world.params;
        let expected = [p.static_friction_used(), p.friction, p.restitution];
        assert_eq!(numbers(pairs.pair(0, 0)).map(f32::to_bits), expected.map(f32::to_bits));
        assert_eq!(pairs.wall(0, 0), pairs.pair(0, 0));
    }
}

#[test]
fn pairs_follow_the_rule_unless_they_are_told_otherwise() {
    let mut world = World::new();
    (world.params.static_friction, world.params.friction) = (0.5, 0.4);
    world.params.restitution = 0.1;
    let rough = world.add_material(&material(given(1.0, 0.9, 0.8))).unwrap();
    let open = world.add_material(&material(Coefficients::default())).unwrap();
    let pairs = table(&world);
    let (r, o) = (rough.0, open.0);
    assert_eq!(numbers(pairs.pair(r, r)), [1.0, 0.9, 0.8]);
    assert_eq!(numbers(pairs.pair(r, 0)), [0.5f32.sqrt(), 0.6, 0.8]);
    assert_eq!(pairs.pair(o, o), pairs.pair(0, 0), "what it leaves open is of the parameters");
    assert_eq!(pairs.pair(r, o), pairs.pair(r, 0));

    // The order of the two does not matter, and what is left open still follows the rule.
    let own = Coefficients { friction_kinetic: Some(0.7), ..Coefficients::default() };
    world.set_material_pair(MaterialId::DEFAULT, rough, own).unwrap();
    let pairs = table(&world);
    assert_eq!(numbers(pairs.pair(r, 0)), [0.5f32.sqrt(), 0.7, 0.8]);
    assert_eq!(pairs.pair(r, 0), pairs.pair(0, r));
    assert_eq!(numbers(pairs.pair(r, r)), [1.0, 0.9, 0.8]);
    // Static friction is never below kinetic friction.
    let own = Coefficients { friction_kinetic: Some(0.75), ..Coefficients::default() };
    world.set_material_pair(rough, MaterialId::DEFAULT, own).unwrap();
    assert_eq!(numbers(table(&world).pair(0, r)), [0.75, 0.75, 0.8]);
    assert_eq!(world.material_pair(rough, MaterialId::DEFAULT), own, "the second word counts");
    world.set_material_pair(rough, MaterialId::DEFAULT, Coefficients::default()).unwrap();
    assert_eq!(numbers(table(&world).pair(0, r)), [0.5f32.sqrt(), 0.6, 0.8]);
}

#[test]
fn a_number_on_an_obstacle_overrides_the_materials() {
    let mut world = World::new();
    let rough = world.add_material(&material(given(1.0, 0.9, 0.8))).unwrap();
    let pair = given(0.3, 0.2, 0.1);
    world.set_material_pair(rough, MaterialId::DEFAULT, pair).unwrap();
    world.colliders.push(Collider { material: rough, ..floor() });
    let own = Coefficients { friction_kinetic: Some(0.25), ..Coefficients::default() };
    world.colliders.push(Collider { coefficients: own, ..floor() });
    let pairs = table(&world);
    assert_eq!(numbers(pairs.wall(0, 0)), [0.3, 0.2, 0.1], "of the pair");
    assert_eq!(numbers(pairs.wall(0, rough.0)), [1.0, 0.9, 0.8]);
    assert_eq!(numbers(pairs.wall(1, rough.0)), [0.3, 0.25, 0.1], "its own, and of the pair");
    assert_eq!(numbers(pairs.wall(1, 0)), [0.5, 0.25, 0.0], "its own, and of the parameters");
}

#[test]
fn the_table_follows_every_edit() {
    let mut world = World::new();
    let rough = world.add_material(&material(given(1.0, 0.9, 0.8))).unwrap();
    world.colliders.push(floor());
    let mut pairs = table(&world);
    let edits: [fn(&mut World, MaterialId); 8] = [
        |world, _| world.params.fluid_viscosity = 3.0,
        |world, rough| world.material_mut(rough).unwrap().coefficients.viscosity = Some(50.0),
        |world, _| world.params.friction = 0.3,
        |world, rough| world.material_mut(rough).unwrap().coefficients.restitution = None,
        |world, rough| world.set_material_pair(rough, rough, given(0.1, 0.1, 0.1)).unwrap(),
        |world, rough| world.colliders[0].material = rough,
        |world, _| world.colliders[0].coefficients.restitution = Some(0.5),
        |world, _| _ = world.add_material(&Material::default()).unwrap(),
    ];
    for edit in edits {
        edit(&mut world, rough);
        assert!(pairs.update(&world, H));
        assert_eq!(pairs.rows(), table(&world).rows());
        assert_eq!(pairs.flows(), table(&world).flows());
    }
    world.params.iterations += 1;
    assert!(!pairs.update(&world, H), "what it is not made from");
    assert!(pairs.update(&world, 2.0 * H), "another step");
}

#[test]
fn particles_of_one_material_have_a_common_row() {
    let mut world = World::new();
    let rough = world.add_material(&material(given(1.0, 0.9, 0.8))).unwrap().0;
    let mut pairs = table(&world);
    let mut common = |materials: &[u32]| {
        pairs.find_common(materials);
        pairs.common().map(|row| numbers(&row))
    };
    assert_eq!(common(&[]), Some([0.5, 0.4, 0.0]));
    assert_eq!(common(&[0, 0]), Some([0.5, 0.4, 0.0]));
    assert_eq!(common(&[rough, rough]), Some([1.0, 0.9, 0.8]));
    assert_eq!(common(&[rough, 0]), None);
}

#[test]
fn what_is_not_legal_is_refused_and_changes_nothing() {
    let mut world = World::new();
    let sand = world.add_grains(&Grains { counts: [2; 3], ..Grains::default() }).unwrap();
    let wrong = |coefficients: Coefficients| {
        let why = World::new().add_material(&material(coefficients)).unwrap_err().to_string();
        assert!(why.contains("material.") && why.contains("must be"), "{why}");
    };
    wrong(given(-0.1, 0.1, 0.1));
    wrong(given(0.1, f32::NAN, 0.1));
    wrong(given(0.1, 0.1, 1.1));
    let strange = MaterialId(7);
    for refused in [
        world.set_material(sand.object, strange),
        world.set_material_pair(strange, MaterialId::DEFAULT, given(0.1, 0.1, 0.1)),
        world.material(strange).map(drop),
    ] {
        let why = refused.unwrap_err().to_string();
        assert!(why.contains("there is no material 7"), "{why}");
    }
    let why = world.material_mut(MaterialId::DEFAULT).unwrap_err().to_string();
    assert!(why.contains("params.friction"), "{why}");
    world.colliders.push(Collider { material: strange, ..floor() });
    let why = world.validate().unwrap_err().to_string();
    assert!(why.contains("collider.0") && why.contains("no material 7"), "{why}");
    world.colliders.clear();
    let stuff = world.add_material(&material(given(0.5, 0.5, 0.5))).unwrap();
    let removed = world.add_object("some", &sand[..1]).unwrap();
    world.remove_object(removed).unwrap();
    assert!(world.set_material(removed, stuff).is_err());
    world.material_mut(stuff).unwrap().coefficients.restitution = Some(2.0);
    assert!(world.validate().is_err(), "what a field was set to is found before a step");
    let mut many = World::new();
    for _ in 1..Materials::MOST {
        many.add_material(&Material::default()).unwrap();
    }
    let why = many.add_material(&Material::default()).unwrap_err().to_string();
    assert!(why.contains("1023 materials"), "{why}");
}

/// Two fluids have the mean of their viscosities unless they are told otherwise, and the thickest of all
/// takes part by `fluid_share`.
#[test]
fn two_fluids_have_the_mean_of_their_viscosities() {
    let mut world = World::new();
    world.params.fluid_viscosity = 30.0;
    let share = |rate: f32| rate * H / (1.0 + rate * H);
    let thick = |viscosity: f32| {
        material(Coefficients { viscosity: Some(viscosity), ..Coefficients::default() })
    };
    let shares = |world: &World| {
        let pairs = table(world);
        let most = world.fluid_share(H);
        pairs.flows().iter().map(|row| row.share * most).collect::<Vec<f32>>()
    };
    assert_eq!(shares(&world), [share(30.0)], "alone it has all of its share, bit for bit");
    assert_eq!(table(&world).flows()[0].share, 1.0);
    let oil = world.add_material(&thick(200.0)).unwrap();
    let near = |found: &[f32], rates: &[f32]| {
        assert_eq!(found.len(), rates.len());
        for (found, rate) in found.iter().zip(rates) {
            assert!((found - share(*rate)).abs() < 1e-6, "{found} {rate}");
        }
    };
    near(&shares(&world), &[30.0, 115.0, 115.0, 200.0]);
    let own = Coefficients { viscosity: Some(500.0), ..Coefficients::default() };
    world.set_material_pair(MaterialId::DEFAULT, oil, own).unwrap();
    near(&shares(&world), &[30.0, 500.0, 500.0, 200.0]);
    let mut none = World::new();
    none.params.fluid_viscosity = 0.0;
    assert_eq!(shares(&none), [0.0], "nobody is thick, and nothing is divided by nothing");
    let why = World::new().add_material(&thick(-1.0)).unwrap_err().to_string();
    assert!(why.contains("material.viscosity") && why.contains("1/s"), "{why}");
}

/// What a snapshot may have broken.
#[test]
fn a_world_that_does_not_belong_together_is_refused() {
    let mut world = World::new();
    world.add_grains(&Grains { counts: [2; 3], ..Grains::default() }).unwrap();
    let stuff = world.add_material(&material(given(0.5, 0.5, 0.5))).unwrap();
    world.set_material_pair(stuff, MaterialId::DEFAULT, given(0.5, 0.5, 0.5)).unwrap();
    world.validate().unwrap();
    let breaks: [fn(&mut World); 4] = [
        |world| world.particles.material[3] = 2,
        |world| world.materials.exceptions[0].materials.reverse(),
        |world| world.materials.exceptions[0].materials[1] = MaterialId(2),
        |world| world.materials.exceptions.push(world.materials.exceptions[0]),
    ];
    for spoil in breaks {
        let mut spoiled = world.clone();
        spoil(&mut spoiled);
        assert!(spoiled.validate().unwrap_err().to_string().contains("material"));
    }
}

#[test]
fn objects_that_share_particles_share_their_material() {
    let mut world = World::new();
    let sand = world.add_grains(&Grains { counts: [2; 3], ..Grains::default() }).unwrap();
    let some = world.add_object("some", &sand[..3]).unwrap();
    let stuff = world.add_material(&material(given(0.5, 0.5, 0.5))).unwrap();
    assert_eq!(world.material_of(sand.object).unwrap(), Some(MaterialId::DEFAULT));
    world.set_material(some, stuff).unwrap();
    assert_eq!(world.material_of(some).unwrap(), Some(stuff));
    assert_eq!(world.material_of(sand.object).unwrap(), None, "of two");
    let slot = |id: ParticleId| world.particles().slot(id).unwrap();
    assert_eq!(world.particles().material(slot(sand[2])), stuff);
    assert_eq!(world.particles().material(slot(sand[3])), MaterialId::DEFAULT);
    assert_eq!(world.find_material("stuff"), Some(stuff));
    assert_eq!(world.find_material("default"), Some(MaterialId::DEFAULT));
    assert_eq!(world.find_material("nonsense"), None);
}
