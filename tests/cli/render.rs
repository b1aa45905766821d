//! `motes render`: pictures and films.

use super::{Folder, bad, good};

#[test]
fn pictures_are_png_of_the_asked_size() {
    let folder = Folder::new();
    let path = folder.path("end.png");
    good(&["render", &folder.scene, "--steps", "3", "--size", "160x90", "--lines", "-o", &path]);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(&bytes[16..24], &[0, 0, 0, 160, 0, 0, 0, 90]);
}

/// A picture every so many steps, numbered as the world counts them, also from a snapshot on.
#[test]
fn a_film_has_a_picture_every_so_many_steps() {
    let folder = Folder::new();
    let (film, again, half) =
        (folder.path("film.png"), folder.path("again.png"), folder.path("half.motes"));
    let look = ["--size", "80x45", "--eye", "2,1.5,-3", "--target", "-0.1,0.5,0", "--fov", "50"];
    let render = |args: &[&str]| good(&[&["render"], args, &look].concat());
    let every = |from, to| ["--every", "4", "--from", from, "--to", to];
    let said = render(&[&[folder.scene.as_str(), "-o", &film][..], &every("6", "15")].concat());
    assert!(said.contains("3 pictures"), "{said}");
    let names = ["film_000006.png", "film_000010.png", "film_000014.png", "mixture.toml"];
    assert_eq!(folder.names(), names);
    good(&["run", &folder.scene, "--steps", "8", "--save", &half, "--quiet"]);
    render(&[&["--load", &half, "-o", &again][..], &every("10", "14")].concat());
    let film = |name: &str, step: u32| pixels(&folder.path(&format!("{name}_{step:06}.png")));
    assert!(film("film", 14) == film("again", 14), "a film goes on from a snapshot");
    assert!(film("film", 6) != film("film", 10), "it moves");
    let picture = folder.path("half.png");
    assert!(render(&["--load", &half, "-o", &picture]).contains("after 8 steps"));
    let plain = pixels(&picture);
    render(&["--load", &half, "--color", "speed", "-o", &picture]);
    assert!(pixels(&picture) != plain, "colours tell something else");
    good(&["render", "--load", &half, "--size", "80x45", "-o", &picture]);
    assert!(pixels(&picture) != plain, "the camera stands elsewhere");

    let wrong = |args: &[&str], says: &str| {
        let message = bad(2, &[&["render", "--load", &half][..], args].concat());
        assert!(message.contains(says), "{args:?}: {message}");
    };
    wrong(&["--every", "1", "--from", "3", "--to", "9"], "at step 8 already");
    wrong(&["--every", "1", "--from", "12", "--to", "9"], "ends at step 9");
    wrong(&["--from", "9"], "--every");
    wrong(&["--every", "0"], "0");
    wrong(&["--eye", "1,2"], "three numbers");
    wrong(&["--fov", "0"], "from 1 to 170");
    wrong(&["--color", "red"], "speed");
    wrong(&["--every", "1", "--steps", "2", "-o", "nowhere/film.png"], "folder");
}

/// Fluids are painted as a surface, unless their particles are asked for or coloured.
#[test]
fn fluids_are_a_surface_or_beads() {
    let folder = Folder::new();
    let painted = |name: &str, args: &[&str]| {
        let path = folder.path(name);
        let scene = ["render", "hydrostatic", "--steps", "0", "--size", "160x90", "-o", &path];
        good(&[&scene, args].concat());
        pixels(&path)
    };
    let (water, beads) = (painted("water.png", &[]), painted("beads.png", &["--beads"]));
    assert!(water != beads);
    let speeds = painted("speeds.png", &["--color", "speed"]);
    assert!(speeds == painted("speeds_too.png", &["--color", "speed", "--beads"]));
    assert!(speeds != water);
}

/// A film of a hundred million steps: whatever stands in the way of one of its pictures is named
/// before the first of them is taken.
#[test]
fn every_picture_of_a_film_is_checked_before_the_first_step() {
    let folder = Folder::new();
    let film = folder.path("film.png");
    let run = ["--every", "5", "--from", "10", "--to", "100000003"];
    let render = |more: &[&str]| {
        let args = ["render", &folder.scene, "--size", "8x8", "-o", &film];
        bad(2, &[&args[..], &run, more].concat())
    };
    // The last picture, one on the way, and the first; then one that is an input.
    for name in ["film_100000000.png", "film_004000.png", "film_000010.png"] {
        let path = folder.path(name);
        std::fs::create_dir(&path).unwrap();
        let said = render(&[]);
        assert!(said.contains(name) && said.contains("is a folder"), "{said}");
        std::fs::remove_dir(&path).unwrap();
    }
    let mesh = folder.path("film_000025.png");
    std::fs::write(&mesh, "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n").unwrap();
    let collider = "collider=[{shape='mesh', mesh='film_000025.png', closed=false}]";
    let said = render(&["--set", collider]);
    assert!(said.contains("the file of a mesh"), "{said}");
    std::fs::remove_file(&mesh).unwrap();
    assert_eq!(folder.names(), ["mixture.toml"]);
    // What only looks like one of its pictures is in nobody's way.
    for name in ["film_000011.png", "film_10.png", "film_000005.png", "other_000010.png"] {
        std::fs::create_dir(folder.path(name)).unwrap();
    }
    let few = ["--every", "5", "--from", "10", "--to", "15", "--size", "8x8", "-o", &film];
    let said = good(&[&["render", folder.scene.as_str()][..], &few].concat());
    assert!(said.contains("2 pictures"), "{said}");
}

/// The colours of a PNG.
fn pixels(path: &str) -> Vec<u8> {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut rgb).unwrap();
    rgb
}

/// One grain is drawn as a sphere, and the sheet beside it as a skin: floor, shadow and light are
/// those of the whole scene and not of the grain.
#[test]
fn a_grain_beside_a_sheet_leaves_the_floor_as_it_is() {
    let folder = Folder::new();
    let scene = |grain: &str| {
        format!(
            r#"
            title = "a sheet"
            [[cloth]]
            columns = 20
            rows = 20
            spacing = 0.1
            origin = [-1.0, 0.8, -1.0]
            {grain}
            [[collider]]
            shape = "plane"
            [camera]
            eye = [3.0, 2.5, 3.5]
            target = [0.0, 0.3, 0.0]
            "#
        )
    };
    let grain = "[[granular]]\ncounts = [1, 1, 1]\nspacing = 0.08\nradius = 0.04\norigin = [1.2, 0.04, 0.6]";
    let [without, with] = [("without", ""), ("with", grain)].map(|(name, grain)| {
        let (file, picture) = (folder.path(&format!("{name}.toml")), folder.path("grain.png"));
        std::fs::write(&file, scene(grain)).unwrap();
        good(&["render", &file, "--steps", "1", "--size", "320x180", "-o", &picture]);
        pixels(&picture)
    });
    let other = |(a, b): &(&[u8; 3], &[u8; 3])| (0..3).any(|k| a[k].abs_diff(b[k]) > 12);
    let pairs = without.as_chunks().0.iter().zip(with.as_chunks().0);
    let changed = pairs.filter(other).count() as f64 / f64::from(320 * 180);
    assert!(changed > 0.0002, "the grain is not to be seen");
    assert!(changed < 0.02, "{changed} of the picture has other colours");
}
