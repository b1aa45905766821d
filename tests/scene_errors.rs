//! Every way a scene can be wrong is an error that names the file, the line and the field.

use motes::{Error, Scene, World};

/// Parses and builds; the scene stands in the file `s.toml`.
fn make(text: &str, variant: Option<&str>, sets: &[&str]) -> Result<World, Error> {
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    Scene::parse("s.toml", text, variant, &sets)?.build()
}

/// Expects an error whose message holds every one of `parts`.
#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    refused_with(text, None, &[], parts);
}

#[track_caller]
fn refused_with(text: &str, variant: Option<&str>, sets: &[&str], parts: &[&str]) {
    let made = make(text, variant, sets).map(|world| world.particles().len());
    let error = made.expect_err("this scene must be refused");
    assert!(error.is_usage(), "not the user's fault? {error:?}");
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in `{message}`");
    }
    println!("{message}");
}

const CLOTH: &str = "\
title = \"a cloth\"
[params]
dt = 0.01
[[cloth]]
columns = 4
rows = 5
spacing = 0.1
[variants.wide.params]
dt = 0.02
[[variants.wide.cloth]]
columns = 9
[[variants.bad.cloth]]
rows = -3
[[variants.typo.cloth]]
colums = 3
";

fn cloth(more: &str) -> String {
    format!("[[cloth]]\ncolumns = 4\nrows = 5\nspacing = 0.1\n{more}\n")
}

#[test]
fn good_ones_are_built() {
    assert_eq!(make(CLOTH, None, &[]).unwrap().particles().len(), 20);
    let wide = make(CLOTH, Some("wide"), &[]).unwrap();
    assert_eq!((wide.particles().len(), wide.params.dt), (45, 0.02));
    let sets =
        ["cloth.0.columns=2", "iterations=3", "params.solver=jacobi", "cloth.0.pin=[\"top\"]"];
    let set = make(CLOTH, Some("wide"), &sets).unwrap();
    assert_eq!((set.particles().len(), set.params.iterations), (10, 3));
    assert_eq!(set.params.solver, motes::Solver::Jacobi);
    assert_eq!(set.particles().positions().iter().filter(|p| p.w == 0.0).count(), 2);
}

#[test]
fn syntax() {
    refused("a = \n", &["s.toml:1"]);
    refused("x = 1\n[cloth\n", &["s.toml:2"]);
    refused("[params]\ndt = 0.1\ndt = 0.2\n", &["s.toml:3", "dt"]);
    refused(&format!("{}a = 1", "a.".repeat(100_000)), &["s.toml:1", "dots"]);
    refused(&format!("a = {}1{}", "[".repeat(60), "]".repeat(60)), &["s.toml", "deep"]);
}

#[test]
fn unknown_keys() {
    refused(
        "colour = 3\n",
        &["s.toml:1", "no key `colour`", "known: body, box, camera", "column 1"],
    );
    refused(&cloth("radus = 0.1"), &["s.toml:5: cloth.0.radus: ", "radius"]);
    refused("[params]\n\ndd = 0.1\n", &["s.toml:3: params.dd: ", "known: gravity"]);
    let gone = "`stabilization` is gone: contacts push old overlap out themselves, no faster than \
                `push_out` m/s; remove the line";
    refused("[params]\nstabilization = 2\n", &["s.toml:2: params.stabilization: ", gone]);
    for set in ["stabilization=0", "params.stabilization=0"] {
        refused_with(CLOTH, None, &[set], &[&format!("--set {set}: "), gone]);
    }
    refused("[camera]\nfocus = 1\n", &["s.toml:2: camera.focus: "]);
    refused("[[check]]\nname = \"is_nice\"\n", &["s.toml:2: check.0.name: ", "known: mean_height"]);
}

/// A misspelt word is answered with the word that was meant, wherever it stands.
#[test]
fn did_you_mean() {
    refused(&cloth("colums = 3"), &["cloth.0.colums: ", "did you mean `columns`?"]);
    refused("[[clothes]]\n", &["s.toml:1: clothes: ", "known: body, box"]);
    refused("[[cloht]]\n", &["s.toml:1: cloht: ", "did you mean `cloth`?"]);
    refused("[params]\niteratons = 3\n", &["params.iteratons: ", "did you mean `iterations`?"]);
    refused("iterations = 3\n", &["s.toml:1: iterations: ", "did you mean `params.iterations`?"]);
    refused("[[collider]]\nshape = \"spere\"\n", &["s.toml:2: ", "did you mean `sphere`?"]);
    let check = "[[check]]\nname = \"at_rset\"\nbound = 1\n";
    refused(check, &["check.0.name: ", "did you mean `at_rest`?"]);
    let joint = "name = \"flag\"\n[[joint]]\na = \"flga:0\"\nb = \"flag:1\"";
    refused(&cloth(joint), &["joint.0.a: ", "did you mean `flag`?"]);
    let mesh = "[[collider]]\nshape = \"mesh\"\nmesh = \"stiars\"\n";
    refused(mesh, &["collider.0.mesh: ", "did you mean `stairs`?"]);
    let set = |set: &str, parts: &[&str]| refused_with(CLOTH, None, &[set], parts);
    set("clot.0.columns=3", &["--set clot.0.columns=3: ", "did you mean `cloth`?"]);
    set("cloth.0.colunms=3", &["--set cloth.0.colunms=3: ", "did you mean `columns`?"]);
    set("iteratons=3", &["--set iteratons=3: ", "did you mean `params.iterations`?"]);
    refused_with(CLOTH, Some("wied"), &[], &["variants.wied: ", "did you mean `wide`?"]);
    let message = Scene::load("cloth_hnag").unwrap_err().to_string();
    assert!(message.contains("did you mean `cloth_hang`?"), "{message}");
}

/// Messages speak of keys, tables and lists, and never of the types of the program.
#[test]
fn in_the_words_of_the_user() {
    let whole = "columns = 4\nrows = 5\nspacing = 0.1\n";
    refused(&format!("[cloth]\n{whole}"), &["s.toml:1: cloth: ", "[[cloth]] instead of [cloth]"]);
    refused("[[camera]]\nfov = 20\n", &["s.toml:1: camera.0: ", "[camera] instead of [[camera]]"]);
    refused("[[params]]\ndt = 0.1\n", &["s.toml:1: params.0: ", "[params] instead of [[params]]"]);
    let turned = "[[collider]]\nshape = \"plane\"\nrotation = 45\n";
    refused(turned, &["s.toml:3: collider.0.rotation: the number 45", "axis = [0, 1, 0], degrees"]);
    refused("[[cloth]]\nrows = 3\n", &["s.toml:1: cloth.0: the key `columns` is missing"]);
    let wrong = [
        "cloth = [3]",
        "cloth = 3",
        "camera = 3",
        "check = [[1]]",
        "params = 3",
        "title = 3",
        "seed = \"x\"",
        "[[cloth]]\nself_collide = 3",
        "[[force]]\nkind = 3",
        "[[collider]]\nshape = [1]",
        "[[collider]]\nshape = \"plane\"\nlooped = \"yes\"",
        "[[cloth]]\nhold = [3]",
        "[[cloth]]\npin = 3",
        "[[cloth]]\nname = 1.5",
    ];
    for text in wrong {
        let message = make(text, None, &[]).unwrap_err().to_string();
        let words = message.split(|c: char| !c.is_alphanumeric() && c != '_');
        let types =
            ["struct", "map", "sequence", "string", "i64", "u64", "f32", "f64", "enum", "invalid"];
        for word in words {
            let is_type = word.ends_with("File") || types.contains(&word);
            assert!(!is_type, "`{word}` of {text:?} in: {message}");
        }
    }
}

#[test]
fn wrong_types() {
    refused(&cloth("radius = \"big\""), &["s.toml:5: cloth.0.radius: ", "above 0"]);
    refused("[[cloth]]\ncolumns = 1.5\nrows = 2\nspacing = 1\n", &["s.toml:2: cloth.0.columns: "]);
    refused("[[cloth]]\ncolumns = -1\nrows = 2\nspacing = 1\n", &["s.toml:2: cloth.0.columns: "]);
    refused(&cloth("origin = [1, 2]"), &["s.toml:5: cloth.0.origin: "]);
    refused(&cloth("origin = [1, 2, 3, 4]"), &["s.toml:5: cloth.0.origin"]);
    refused("cloth = 3\n", &["s.toml:1: cloth: "]);
    refused("variants = 3\n", &["s.toml:1: variants: "]);
    refused("params = 3\n", &["s.toml:1: params: "]);
    refused("[[cloth]]\ncolumns = 3\nrows = 3\n", &["s.toml:1: cloth.0: ", "spacing"]);
    refused("title = 2024-01-01\n", &["s.toml:1: title: "]);
}

#[test]
fn not_finite() {
    refused(&cloth("radius = nan"), &["s.toml:5: cloth.0.radius: ", "finite"]);
    refused(&cloth("break_at = inf"), &["s.toml:5: cloth.0.break_at: ", "finite"]);
    refused(&cloth("origin = [0, nan, 0]"), &["s.toml:5: cloth.0.origin.1: ", "finite"]);
    refused(&cloth("velocity = [0, 1e39, 0]"), &["s.toml:5: cloth.0.velocity.1: ", "too large"]);
    refused("[params]\ndt = nan\n", &["s.toml:2: params.dt: ", "1"]);
    refused("[params]\ngravity = [0, inf, 0]\n", &["s.toml:2: params.gravity: "]);
    refused("[[check]]\nname = \"at_rest\"\nbound = nan\n", &["s.toml:3: check.0.bound: "]);
}

#[test]
fn out_of_range() {
    refused(&cloth("radius = -0.1"), &["s.toml:5: cloth.0.radius: ", "-0.1", "above 0"]);
    refused(&cloth("mass = -2"), &["s.toml:5: cloth.0.mass: ", "-2"]);
    refused(&cloth("").replace("0.1", "1e7"), &["s.toml:4: cloth.0.spacing: ", "1e6"]);
    refused(&cloth("mass = 0"), &["s.toml:5: cloth.0.mass: "]);
    refused(&cloth("stretch_stiffness = 1.5"), &["s.toml:5: cloth.0.stretch_stiffness: "]);
    refused(&cloth("bend_compliance = -1"), &["s.toml:5: cloth.0.bend_compliance: "]);
    refused(&cloth("mass = 1\narea_density = 1"), &["s.toml:6: cloth.0.area_density: "]);
    refused(&cloth("along = [0, 0, 0]"), &["s.toml:5: cloth.0.along: ", "direction"]);
    refused(&cloth("along = [0, 0, 2]"), &["s.toml:5: cloth.0.along: ", "different"]);
    refused("[[cloth]]\ncolumns = 1\nrows = 5\nspacing = 1\n", &["s.toml:2: cloth.0.columns: "]);
    refused("[params]\ndt = -1\n", &["s.toml:2: params.dt: ", "-1"]);
    refused("[params]\nsubsteps = 0\n", &["s.toml:2: params.substeps: "]);
    refused("[params]\nsolver = \"fast\"\n", &["s.toml:2: params.solver: ", "colored"]);
    let sand = "[[granular]]\nspacing = 0.1\ncounts = [2, 2, 0]\n";
    refused(sand, &["s.toml:3: granular.0.counts: "]);
    let torus = "[[box]]\nspacing = 0.1\ncounts = [9, 3, 9]\nsolid = \"torus\"\n";
    refused(&format!("{torus}tube = 0.7\n"), &["s.toml:5: box.0.tube: ", "0.5"]);
    refused(&torus.replace("torus", "blob"), &["s.toml:4: box.0.solid: ", "torus"]);
    refused(&format!("{}tube = 0.2\n", torus.replace("torus", "box")), &["s.toml:5: box.0.tube: "]);
    refused(&torus.replace("9, 3, 9", "1, 1, 1"), &["s.toml:3: box.0.counts: "]);
    refused("seed = -1\n", &["s.toml:1: seed: "]);
    refused("[camera]\nfov = 200\n", &["s.toml:2: camera.fov: "]);
}

#[test]
fn indices() {
    refused(&cloth("pin = [\"corners\", [4, 0]]"), &["s.toml:5: cloth.0.pin.1: ", "4 columns"]);
    refused(&cloth("pin = [20]"), &["s.toml:5: cloth.0.pin.0: ", "20"]);
    refused(&cloth("pin = [-21]"), &["s.toml:5: cloth.0.pin.0: ", "-21"]);
    refused(&cloth("pin = [\"north\"]"), &["s.toml:5: cloth.0.pin.0: ", "top_left"]);
    let joint = |a: &str| cloth(&format!("[[joint]]\nb = \"cloth.0:0\"\na = \"{a}\""));
    refused(&joint("cloth.0:20"), &["s.toml:7: joint.0.a: ", "20 particles"]);
    refused(&joint("cloth.1:2"), &["s.toml:7: joint.0.a: ", "known: cloth.0"]);
    refused(&joint("cloth.0"), &["s.toml:7: joint.0.a: ", "object:index"]);
    refused(&joint("cloth.0:x"), &["s.toml:7: joint.0.a: "]);
    refused(&joint("cloth.0:4,0"), &["s.toml:7: joint.0.a: "]);
    refused(&joint("cloth.0:0"), &["s.toml:5: joint.0", "two different"]);
    make(&joint("cloth.0:-1,-1"), None, &[]).unwrap();
    let check = cloth("[[check]]\nname = \"mean_height\"\nof = \"ball\"\nmin = 0");
    refused(&check, &["s.toml:7: check.0.of: ", "known: cloth.0"]);
    refused(&cloth("name = \"a:b\""), &["s.toml:5: cloth.0.name: "]);
    refused(
        &format!("{0}{0}", cloth("name = \"a\"")),
        &["s.toml:10: cloth.1.name: ", "two objects"],
    );
}

#[test]
fn holds() {
    let hold = |keys: &str| cloth(&format!("hold = [{{ at = [\"top\"], keyframes = [{keys}] }}]"));
    let key = |t: &str| format!("{{ time = {t}, offset = [0, 1, 0] }}");
    let world = make(&hold(&format!("{}, {}", key("0"), key("1"))), None, &[]).unwrap();
    assert_eq!(world.pins().len(), 4);
    refused(
        &hold(&format!("{}, {}", key("1"), key("1"))),
        &["s.toml:5: cloth.0.hold.0.keyframes.1.time: "],
    );
    refused(
        &cloth("hold = [{ at = [\"top\"] }, { at = [\"left\"] }]"),
        &["s.toml:5: cloth.0.hold.1.at: ", "twice"],
    );
}

#[test]
fn colliders_and_forces() {
    let collider = |keys: &str| format!("[[collider]]\n{keys}\n");
    refused(&collider("shape = \"sphere\""), &["s.toml:1: collider.0.radius: ", "needs"]);
    refused(&collider("shape = \"blob\""), &["s.toml:2: collider.0.shape: ", "plane"]);
    refused(&collider("shape = \"plane\"\nradius = 1"), &["s.toml:3: collider.0.radius: "]);
    refused(&collider("shape = \"box\"\nhalf = [1, 0, 1]"), &["s.toml:3: collider.0.half.1: "]);
    refused(&collider("shape = \"plane\"\nnormal = [0, 0, 0]"), &["s.toml:3: collider.0.normal: "]);
    refused(
        &collider("shape = \"plane\"\nrestitution = 2"),
        &["s.toml:3: collider.0.restitution: "],
    );
    let moving =
        "shape = \"plane\"\n[[collider.keyframes]]\ntime = 1\n[[collider.keyframes]]\ntime = 0";
    refused(&collider(moving), &["s.toml:6: collider.0.keyframes.1.time: "]);
    let turned = "shape = \"plane\"\nrotation = { axis = [0, 0, 0], degrees = 3 }";
    refused(&collider(turned), &["s.toml:3: collider.0.rotation.axis: "]);
    refused("[[force]]\nkind = \"wind\"\ndrag = 1\n", &["s.toml:1: force.0.velocity: "]);
    refused(
        "[[force]]\nkind = \"wind\"\nvelocity = [1, 0, 0]\ndrag = -1\n",
        &["s.toml:4: force.0.drag: "],
    );
    let wind =
        |keys: &str| format!("[[force]]\nkind = \"surface_wind\"\nvelocity = [5, 0, 0]\n{keys}\n");
    refused("[[force]]\nkind = \"surface_wind\"\n", &["s.toml:1: force.0.velocity: "]);
    refused(&wind("drag = 1"), &["s.toml:4: force.0.drag: ", "drag_coefficient"]);
    refused(&wind("density = -1"), &["s.toml:4: force.0.density: ", "at least 0"]);
    refused(&wind("lift_coefficient = -1"), &["s.toml:4: force.0.lift_coefficient: "]);
    refused(&wind("gust_length = 0"), &["s.toml:4: force.0.gust_length: ", "above 0"]);
    refused(&wind("gust_time = 1e-9"), &["s.toml:4: force.0.gust_time: ", "at least 0.000001"]);
    let region =
        "[[force]]\nkind = \"gravity\"\nacceleration = [1, 0, 0]\nregion = [[1,1,1],[0,0,0]]\n";
    refused(region, &["s.toml:4: force.0.region: "]);
}

#[test]
fn meshes() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    let refuse = |obj: Option<&str>, keys: &str, parts: &[&str]| {
        if let Some(obj) = obj {
            std::fs::write(folder.path().join("m.obj"), obj).unwrap();
        }
        std::fs::write(&scene, format!("[[collider]]\nshape = \"mesh\"\n{keys}\n")).unwrap();
        let made = Scene::load(&scene.to_string_lossy()).and_then(|s| s.build());
        let message = made.expect_err("must be refused").to_string();
        for part in parts {
            assert!(message.contains(part), "`{part}` is not in `{message}`");
        }
    };
    refuse(None, "mesh = \"none.obj\"", &["scene.toml:3: collider.0.mesh: ", "none.obj"]);
    refuse(None, "mesh = \"castle\"", &["scene.toml:3: collider.0.mesh: ", "stairs"]);
    let nan = "v 0 0 0\nv 1 nan 0\nv 0 0 1\nf 1 2 3\n";
    refuse(Some(nan), "mesh = \"m.obj\"", &["scene.toml:3: collider.0.mesh: ", "m.obj:2"]);
    let bad = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 9\n";
    refuse(Some(bad), "mesh = \"m.obj\"", &["scene.toml:3: collider.0.mesh: ", "m.obj:4"]);
    let open = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n";
    refuse(
        Some(open),
        "mesh = \"m.obj\"",
        &["scene.toml:1: collider.0.closed: ", "closed = false"],
    );
    refuse(Some(open), "mesh = \"m.obj\"\nscale = 0", &["scene.toml:4: collider.0.scale: "]);
    let built_in = "[[collider]]\nshape = \"mesh\"\nmesh = \"stairs\"\nscale = [1, 2, 1]\n";
    assert_eq!(make(built_in, None, &[]).unwrap().colliders.len(), 1);
}

#[test]
fn skeletons() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    let refuse = |keys: &str, parts: &[&str]| {
        std::fs::write(&scene, format!("[[skeleton]]\n{keys}\n")).unwrap();
        let made = Scene::load(&scene.to_string_lossy()).and_then(|s| s.build());
        let message = made.expect_err("must be refused").to_string();
        for part in parts {
            assert!(message.contains(part), "`{part}` is not in `{message}`");
        }
    };
    let person = |keys: &str| format!("file = \"person\"\n{keys}");
    refuse("clip = \"walk\"", &["scene.toml:1: skeleton.0", "`file` is missing"]);
    refuse("file = \"persom\"", &["scene.toml:2: skeleton.0.file: ", "did you mean `person`"]);
    refuse("file = \"none.glb\"", &["scene.toml:2: skeleton.0.file: ", "none.glb", "spelling"]);
    std::fs::write(folder.path().join("cut.glb"), b"glTF\x02\0\0\0\xff\0\0\0").unwrap();
    refuse("file = \"cut.glb\"", &["scene.toml:2: skeleton.0.file: ", "cut.glb", "cut short"]);
    let bvh = "HIERARCHY\nROOT a { OFFSET 0 0 0 CHANNELS 1 Xrotation }\nMOTION\nFrames: 2\nFrame Time: 1\n0\n";
    std::fs::write(folder.path().join("few.bvh"), bvh).unwrap();
    refuse("file = \"few.bvh\"", &["scene.toml:2: skeleton.0.file: ", "few.bvh:4: Frames: 2 are"]);
    refuse(&person("clip = \"wlak\""), &["scene.toml:3: skeleton.0.clip: ", "did you mean `walk`"]);
    refuse(&person("speed = 2"), &["scene.toml:3: skeleton.0.speed: ", "without `clip`", "walk"]);
    refuse(&person("start = 2"), &["scene.toml:3: skeleton.0.start: ", "without `clip`"]);
    refuse(&person("radius = 0.1"), &["scene.toml:3: skeleton.0.radius: ", "as thick as the mesh"]);
    refuse(&person("scale = 0"), &["scene.toml:3: skeleton.0.scale: "]);
    refuse(&person("loop = true"), &["scene.toml:3: skeleton.0.loop: ", "looped"]);
    refuse(&person("material = \"ice\""), &["scene.toml:3: skeleton.0.material: ", "`ice`"]);
    let backwards = "keyframes = [{ time = 1 }, { time = 1 }]";
    refuse(&person(backwards), &["scene.toml:3: skeleton.0.keyframes.1.time: ", "after"]);
    let held = |keys: &str| {
        person(&format!(
            "name = \"p\"\n[[cloth]]\ncolumns = 3\nrows = 3\nspacing = 0.1\n\
             hold = [{{ at = [\"top\"], {keys} }}]"
        ))
    };
    let at = "scene.toml:8: cloth.0.hold.0.";
    refuse(&held("bone = \"head\""), &[&format!("{at}skeleton: is needed")]);
    refuse(&held("skeleton = \"p\""), &[&format!("{at}bone: is needed")]);
    refuse(&held("skeleton = \"q\", bone = \"head\""), &[&format!("{at}skeleton: "), "`q`"]);
    refuse(&held("skeleton = \"p\", bone = \"haed\""), &[&format!("{at}bone: "), "`head`"]);
    let both = "skeleton = \"p\", bone = \"head\", keyframes = [{ time = 0, offset = [0, 0, 0] }]";
    refuse(&held(both), &[&format!("{at}keyframes: "), "not both"]);
    let built_in = "[[skeleton]]\nfile = \"person_walk\"\nclip = \"motion\"\nradius = 0.05\n";
    assert_eq!(make(built_in, None, &[]).unwrap().skeletons().count(), 1);
}

#[test]
fn too_large() {
    let sand = "title = \"\"\n[[granular]]\nspacing = 0.1\ncounts = [10000, 10000, 10000]\n";
    refused(sand, &["s.toml:2: granular.0 needs 1000000000000 particles"]);
    let cloth = "[[cloth]]\nspacing = 0.1\nrows = 2\ncolumns = 9000000000000000000\n";
    refused(cloth, &["s.toml:1: cloth.0 needs 18000000000000000000 particles"]);
    let boxes = "[[box]]\nspacing = 0.1\ncounts = [1000, 1000, 100]\n".repeat(30);
    let error = make(&boxes, None, &[]).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    refused_with(CLOTH, None, &["cloth.0.rows=1000000000000"], &["cloth.0 needs"]);
}

#[test]
fn variants() {
    refused_with(CLOTH, Some("tall"), &[], &["s.toml: variants.tall: ", "bad, typo, wide"]);
    refused_with(CLOTH, Some("bad"), &[], &["s.toml:13: cloth.0.rows: "]);
    refused_with(CLOTH, Some("typo"), &[], &["s.toml:15: cloth.0.colums: "]);
    refused_with("", Some("x"), &[], &["s.toml: variants.x: ", "none"]);
    refused("[variants]\nx = 3\n", &["s.toml:2: variants.x: "]);
}

#[test]
fn sets() {
    let refuse = |set: &str, parts: &[&str]| refused_with(CLOTH, None, &[set], parts);
    refuse("cloth.0.columns", &["--set cloth.0.columns: ", "PATH=VALUE"]);
    refuse("cloth.3.columns=2", &["--set cloth.3.columns=2: cloth.3.columns: "]);
    refuse("box.0.spacing=2", &["--set box.0.spacing=2: box.0.spacing: ", "no `box`"]);
    refuse("cloth.0.columns=many", &["--set cloth.0.columns=many: cloth.0.columns: "]);
    refuse("cloth.0.radius=-1", &["--set cloth.0.radius=-1: cloth.0.radius: ", "above 0"]);
    refuse(
        "cloth.0.radus=1",
        &["--set cloth.0.radus=1: cloth.0.radus: ", "did you mean `radius`?"],
    );
    refuse("dt=nan", &["--set dt=nan: params.dt: "]);
    refuse("params.dd=1", &["--set params.dd=1: params.dd: "]);
    refuse("cloth.0.pin=[\"x\"", &["--set", "not a TOML value"]);
    refuse("dt=", &["--set dt=: dt: "]);
    refuse("dt=1\nseed=2", &["--set"]);
    refuse("=2", &["--set"]);
    refuse("cloth..x=2", &["--set"]);
    refuse("title.x.y=2", &["--set title.x.y=2: ", "string"]);
    refuse("cloth.0.pin=[[9, 9]]", &["--set cloth.0.pin=[[9, 9]]: cloth.0.pin.0: "]);
}

#[test]
fn files_and_names() {
    let message = Scene::load("no_such_scene").unwrap_err().to_string();
    assert!(message.contains("cloth_hang"), "{message}");
    let message = Scene::load("cloth_hang:77").unwrap_err().to_string();
    assert!(message.contains("known: 100"), "{message}");
    let message = Scene::load("no/such/file.toml").unwrap_err().to_string();
    assert!(message.starts_with("no/such/file.toml: "), "{message}");
    assert!(Scene::load("src/").is_err());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    std::fs::write(&path, b"title = \"\"\nsource = \"\xff\"\n").unwrap();
    let message = Scene::load(&path.to_string_lossy()).unwrap_err().to_string();
    assert!(message.contains("x.toml:2: ") && message.contains("UTF-8"), "{message}");
    std::fs::write(&path, CLOTH).unwrap();
    let wide = Scene::load(&format!("{}:wide", path.display())).unwrap();
    assert_eq!((wide.name(), wide.variants().len()), ("x:wide", 3));
}

#[test]
fn materials_are_checked() {
    let material = |more: &str| format!("[[material]]\nname = \"rubber\"\n{more}\n");
    let at = |table: &str, more: &str| format!("{}{table}\n{more}\n", material("friction = 1"));
    refused(&material("friction = -1"), &["s.toml:3: material.0.friction: ", "at least 0"]);
    refused(&material("restitution = 1.5"), &["s.toml:3: material.0.restitution: ", "0 to 1"]);
    refused(&material("bounce = 1"), &["s.toml:3: material.0", "bounce", "restitution"]);
    refused(
        &material("fluid_viscosity = 2e6"),
        &["s.toml:3: material.0.fluid_viscosity: ", "1000000"],
    );
    let fluid = |more: &str| {
        format!("[[fluid]]\nlow = [0, 0, 0]\nhigh = [1, 1, 1]\nradius = 0.1\n{more}\n")
    };
    refused(&fluid("fluid_viscosity = -1"), &["s.toml:5: fluid.0.fluid_viscosity: ", "from 0 to"]);
    let text = fluid("material = \"rubber\"\nfluid_viscosity = 5") + &material("");
    refused(&text, &["fluid.0.fluid_viscosity: ", "`material` or `fluid_viscosity`, not both"]);
    refused("[[material]]\nfriction = 1\n", &["s.toml:1: material.0", "name"]);
    refused("[[material]]\nname = \"\"\n", &["s.toml:2: material.0.name: ", "a name"]);
    refused("[[material]]\nname = \"default\"\n", &["s.toml:2: material.0.name: ", "[params]"]);
    let twice = format!("{}{}", material(""), material(""));
    refused(&twice, &["s.toml:5: material.1.name: ", "two materials are called `rubber`"]);

    let text = cloth("material = \"ruber\"") + &material("");
    refused(&text, &["s.toml:5: cloth.0.material: ", "called `ruber`", "did you mean `rubber`?"]);
    let text = cloth("material = \"steel\"") + &material("");
    refused(&text, &["s.toml:5: cloth.0.material: ", "known: rubber, default"]);
    let text = cloth("material = \"rubber\"\nfriction = 0.5") + &material("");
    refused(&text, &["s.toml:6: cloth.0.friction: ", "give `material` or `friction`, not both"]);
    refused(&cloth("restitution = 2"), &["s.toml:5: cloth.0.restitution: ", "0 to 1"]);
    let plane = "shape = \"plane\"\nmaterial = \"rubbe\"";
    refused(&at("[[collider]]", plane), &["s.toml:6: collider.0.material: ", "`rubber`?"]);

    let pair = |more: &str| at("[[material_pair]]", more);
    let names = "materials = [\"rubber\", \"default\"]";
    refused(&pair(names), &["s.toml:4: material_pair.0: ", "says nothing"]);
    refused(
        &pair("materials = [\"rubber\", \"dfault\"]\nfriction = 1"),
        &["s.toml:5: material_pair.0.materials: ", "did you mean `default`?"],
    );
    refused(&pair("materials = [\"rubber\"]\nfriction = 1"), &["s.toml:5", "a list of 2"]);
    let second = "[[material_pair]]\nmaterials = [\"default\", \"rubber\"]\nrestitution = 1";
    refused(
        &pair(&format!("{names}\nfriction = 1\n{second}")),
        &["s.toml:8: material_pair.1.materials: ", "stands in another"],
    );
    let world = make(&pair(&format!("{names}\nfriction = 1\n")), None, &[]).unwrap();
    assert_eq!(world.materials().count(), 1);
    let mut many = String::new();
    for k in 0..1024 {
        many += &format!("[[material]]\nname = \"m{k}\"\n");
    }
    refused(&many, &["s.toml:2047", "1023 materials"]);
}

#[test]
fn soft_bodies_of_meshes() {
    let mesh = |more: &str| format!("[[mesh]]\nmesh = \"cube\"\nresolution = 4\n{more}\n");
    assert_eq!(make(&mesh(""), None, &[]).unwrap().particles().len(), 64);
    assert_eq!(
        make(&mesh("merge = -1"), None, &["mesh.0.resolution=12"]).unwrap().skins().len(),
        1
    );
    refused("[[mesh]]\nmesh = \"cube\"\n", &["s.toml:1", "resolution"]);
    refused("[[mesh]]\nresolution = 4\n", &["s.toml:1", "mesh"]);
    refused_with(&mesh(""), None, &["mesh.0.mesh=rabit"], &["mesh.0.mesh", "rabbit"]);
    refused_with(&mesh(""), None, &["mesh.0.mesh=no.obj"], &["mesh.0.mesh", "no.obj"]);
    refused_with(&mesh(""), None, &["mesh.0.resolution=0"], &["mesh.0.resolution", "2048"]);
    refused_with(
        &mesh(""),
        None,
        &["mesh.0.resolution=99999999999"],
        &["mesh.0.resolution", "2048"],
    );
    refused(&mesh("merge = 0.5"), &["s.toml:4", "mesh.0.merge", "-2"]);
    refused(&mesh("mass = 1\ndensity = 2"), &["s.toml:5", "density", "not both"]);
    refused(&mesh("scale = [1, 0, 1]"), &["s.toml:4", "scale"]);
    refused(&mesh("pin = [\"upper\"]"), &["s.toml:4", "mesh.0.pin", "top, bottom"]);
    refused(&mesh("break_at = 0"), &["s.toml:4", "break_at"]);
    // Far more voxels than fit: the answer comes before the memory is taken.
    let large = make(&mesh(""), None, &["mesh.0.resolution=2048"]).map(|_| ()).unwrap_err();
    assert!(large.is_usage() && large.to_string().contains("MiB"), "{large}");
}

#[test]
fn a_mesh_that_is_not_closed_is_built_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n";
    let sides = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\n";
    let faces = format!("{corners}{sides}");
    let text = "[[mesh]]\nmesh = \"open.obj\"\nresolution = 12\n";
    let path = folder.path().join("s.toml");
    std::fs::write(&path, text).unwrap();
    for (more, word) in
        [("f 2 4 8 6\n", None), ("", Some("open at 4 edges")), ("f 2 6 8 4\n", Some("outside"))]
    {
        std::fs::write(folder.path().join("open.obj"), format!("{faces}{more}")).unwrap();
        let scene = Scene::load(path.to_str().unwrap()).unwrap();
        assert_eq!(scene.mesh_files().count(), 1);
        let warnings = scene.warnings(&scene.build().unwrap());
        assert_eq!(warnings.len(), usize::from(word.is_some()), "{warnings:?}");
        if let Some(word) = word {
            assert!(warnings[0].contains("s.toml:2") && warnings[0].contains(word), "{warnings:?}");
        }
    }
    // What cannot be read is said with the line of the mesh, too.
    std::fs::write(folder.path().join("open.obj"), "v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n")
        .unwrap();
    let error = Scene::load(path.to_str().unwrap()).unwrap().build().unwrap_err().to_string();
    assert!(error.contains("s.toml:2") && error.contains("open.obj:2"), "{error}");
}

#[test]
fn wrong_bodies() {
    let block = "counts = [2, 2, 2]\nspacing = 0.1\n";
    let wrong = [
        ("", "counts"),
        ("counts = [2, 2, 2]", "body.0.spacing"),
        ("counts = [0, 2, 2]\nspacing = 0.1", "body.0.counts"),
        ("mesh = \"rabit\"", "rabbit"),
        ("mesh = \"rabbit\"\nspacing = 0.1", "body.0.spacing"),
        ("mesh = \"rabbit\"\nmerge = 2", "body.0.merge"),
        ("mesh = \"rabbit\"\ncounts = [1, 1, 1]", "mesh"),
        ("@\nresolution = 4", "body.0.resolution"),
        ("@\nmatching = \"soft\"", "matching"),
        ("@\nstretch = 0.5", "body.0.stretch"),
        ("@\nmatching = \"linear\"\nstretch = 2", "stretch"),
        ("@\ncompliance = -1", "compliance"),
    ];
    for (text, part) in wrong {
        let text = text.replace('@', block);
        refused(&format!("[[body]]\n{text}\n"), &[part, "s.toml"]);
    }
    let world = make(&format!("[[body]]\n{block}matching = \"linear\"\n"), None, &[]).unwrap();
    assert_eq!((world.particles().len(), world.bodies()[0].matching().stretch), (8, 0.5));
}
