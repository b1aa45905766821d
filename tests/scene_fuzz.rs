//! Whatever a scene file holds, reading and building it gives a world or an error, never a panic;
//! and a world that is built is legal and can be stepped.

use motes::{Backend, Checker, Engine, Scene};
use proptest::prelude::*;

/// A scene with every table and nearly every key.
const RICH: &str = r#"
name = "rich"
title = "everything at once"
source = "tests"
seed = 7
steps = 3
[params]
dt = 0.01
gravity = [0, -9.81, 0]
solver = "colored"
iterations = 4
[[cloth]]
name = "sheet"
origin = [0, 1, 0]
along = [1, 0, 0]
across = [0, 0, 1]
columns = 5
rows = 4
spacing = 0.1
mass = 0.01
radius = 0.04
velocity = [0, 0, 1]
self_collide = true
stretch_compliance = 1e-6
shear_stiffness = 0.5
bend_compliance = 0.1
break_at = 2
yield_at = 1.5
bend_yield_at = 1
pin = ["corners", [1, -1], 7]
hold = [{ at = [[2, 2]], compliance = 1e-5, keyframes = [{ time = 0, offset = [0, 0, 0] }] }]
stretch = [1.5, 2]
[[box]]
name = "ring"
counts = [9, 3, 9]
spacing = 0.1
center = [0, 2, 0]
rotation = { axis = [1, 1, 0], degrees = 30 }
solid = "torus"
tube = 0.3
edges = "axis"
compliance = 1e-7
volume_compliance = 1e-9
density = 900
pin = ["left"]
[[granular]]
name = "sand"
origin = [1, 0.5, 1]
counts = [3, 3, 3]
spacing = 0.1
radius = 0.04
jitter = 0.2
solid = "sphere"
material = "ice"
[[particles]]
name = "rope"
positions = [[0, 3, 0], [0, 2.9, 0], [0, 2.8, 0]]
radius = 0.03
mass = 0.1
chain = true
friction = 0.3
restitution = 0.2
compliance = 1e-6
pin = ["first"]
[[joint]]
a = "rope:-1"
b = "sheet:2,1"
rest = 0.2
break_at = 3
[[collider]]
shape = "plane"
normal = [0, 1, 0]
friction = 0.5
material = "ice"
[[material]]
name = "ice"
friction = 0.02
restitution = 0.5
[[material_pair]]
materials = ["ice", "default"]
static_friction = 0.3
[[collider]]
shape = "mesh"
mesh = "cube"
scale = [1, 0.5, 1]
position = [3, 0, 0]
restitution = 0.5
looped = true
keyframes = [{ time = 0 }, { time = 1, position = [3, 1, 0] }]
[[force]]
kind = "surface_wind"
velocity = [3, 0, 1]
density = 1.2
drag_coefficient = 1.2
lift_coefficient = 0.5
gust = 0.3
gust_length = 0.8
gust_time = 0.5
[[force]]
kind = "point"
center = [0, 0, 0]
strength = 1
reach = 2
region = [[-1, -1, -1], [1, 1, 1]]
[camera]
eye = [0, 1, 5]
fov = 40
[[check]]
name = "mean_height"
of = "sheet"
min = -1000
[[check]]
name = "max_overlap"
bound = 1000
[[check]]
name = "no_particle_passed"
of = "sand"
through = "sheet"
tolerance = 0.1
[[check]]
name = "slope_at_most"
of = "sand"
bound = 90
[[check]]
name = "connected_parts_at_least"
of = "ring"
bound = 1
[[check]]
name = "energy_not_above"
bound = 5
after = 0.01
[variants.more.params]
iterations = 9
[[variants.more.cloth]]
columns = 7
"#;

const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "1e-30",
    "1e30",
    "-1e9",
    "1e9",
    "1e-6",
    "1e6",
    "nan",
    "-inf",
    "0.5",
    "1000000000000",
    "-9223372036854775808",
    "true",
    "\"\"",
    "\"all\"",
    "\"box\"",
    "\"rope:-1\"",
    "\"sheet\"",
    "[]",
    "[0, 0, 0]",
    "[1, 1, 1]",
    "[1e9, -1e9, 1]",
    "[1, 2]",
    "[[0, 0]]",
    "[\"all\"]",
    "{}",
    "{ time = 0 }",
    "[{ time = 1, offset = [1, 0, 0] }]",
    "{ axis = [0, 1, 0], degrees = 720 }",
    "[[0, 0, 0], [0, 0, 0]]",
    "2001-01-01",
    "'x",
];

/// Reads, builds, steps and checks, as long as it is small.
fn survive(text: &str, variant: Option<&str>, sets: &[String]) -> Result<(), TestCaseError> {
    let Ok(scene) = Scene::parse("fuzz.toml", text, variant, sets) else { return Ok(()) };
    // Large is legal, but takes long; small steps of large substep counts likewise.
    if scene.need().particles > 3000 || scene.params().substeps > 10 {
        return Ok(());
    }
    let Ok(world) = scene.build() else { return Ok(()) };
    prop_assert!(world.validate().is_ok(), "{:?}", world.validate());
    prop_assert_eq!(world.hash(), scene.build().unwrap().hash());
    let mut checker = Checker::new(&scene, &world);
    checker.observe(&world);
    prop_assert_eq!(checker.finish(&world).len(), scene.check_count());
    Ok(())
}

#[test]
fn the_rich_scene_is_good() {
    for variant in [None, Some("more")] {
        let scene = Scene::parse("rich.toml", RICH, variant, &[]).unwrap();
        let world = scene.build().unwrap();
        let mut checker = Checker::new(&scene, &world);
        let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
        for _ in 0..scene.steps() {
            engine.step(scene.params().dt).unwrap();
            checker.observe(engine.world());
        }
        for result in checker.finish(engine.world()) {
            assert!(result.value.is_finite(), "{}", result.message);
        }
    }
}

fn lines() -> Vec<String> {
    RICH.lines().map(String::from).collect()
}

/// One change of a line.
fn mutate(lines: &mut Vec<String>, at: usize, how: u8, value: &str) {
    let at = at % lines.len();
    match how {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => {
            let other = value.len() * 31 % lines.len();
            lines.swap(at, other);
        }
        3 => {
            let middle = lines[at].len() / 2;
            lines[at].truncate(middle);
        }
        _ => {
            if let Some((key, _)) = lines[at].split_once('=') {
                lines[at] = format!("{key}= {value}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        survive(&text, None, &[])?;
    }

    #[test]
    fn toml_like_text(
        parts in prop::collection::vec(
            prop_oneof![
                prop::sample::select(lines()),
                prop::sample::select(VALUES).prop_map(String::from),
                "[\\[\\]{}=\"'.,#a-z0-9 \n-]{0,12}",
            ],
            0..40,
        ),
    ) {
        survive(&parts.join("\n"), None, &[])?;
    }

    #[test]
    fn mutated_scenes(
        changes in prop::collection::vec((any::<usize>(), 0u8..12, prop::sample::select(VALUES)), 1..4),
        variant in prop::option::of(Just("more")),
    ) {
        let mut lines = lines();
        for (at, how, value) in changes {
            mutate(&mut lines, at, how, value);
        }
        survive(&lines.join("\n"), variant, &[])?;
    }

    #[test]
    fn any_override(
        at in prop::sample::select(lines()),
        table in prop::sample::select(&["cloth.0", "box.0", "granular.0", "params", "check.1", "collider.1", ""][..]),
        value in prop_oneof![prop::sample::select(VALUES).prop_map(String::from), "\\PC{0,20}"],
    ) {
        let key = at.split('=').next().unwrap_or("").trim();
        let set = if table.is_empty() { format!("{key}={value}") } else { format!("{table}.{key}={value}") };
        survive(RICH, None, &[set])?;
    }

    #[test]
    fn bytes_cut_anywhere(cut in 0..RICH.len(), from in 0..RICH.len()) {
        survive(&RICH[..cut], None, &[])?;
        survive(&format!("{}{}", &RICH[..cut], &RICH[from..]), None, &[])?;
    }
}

#[test]
fn keys_nested_beyond_reason_do_not_overflow_the_stack() {
    let dotted = "a.".repeat(30);
    let inline = format!("{dotted}a = {{ ").repeat(75);
    for text in [
        format!("{}a = 1", "a.".repeat(1_000_000)),
        format!("[{}a]\n", "a.".repeat(1_000_000)),
        format!("{inline}{}", "}".repeat(75)),
        "[".repeat(1_000_000),
        format!("x = {}", "{ a = ".repeat(100_000)),
        format!("[params]\n{dotted}a = 1"),
        format!("[params]\ndt = {}{}", "[".repeat(70), "]".repeat(70)),
    ] {
        assert!(Scene::parse("deep.toml", &text, None, &[]).is_err());
    }
    for set in [format!("{}a=1", "a.".repeat(100_000)), format!("dt={}", "[".repeat(100_000))] {
        assert!(Scene::parse("deep.toml", RICH, None, &[set]).is_err());
    }
    let set = format!("params.dt={{ {dotted}a = 1 }}");
    assert!(Scene::parse("deep.toml", RICH, None, &[set]).is_err());
}
