//! The VTK files that we write, read by the rules of meshio, which many programs in Python open them
//! with. The real thing says the same:
//!
//! ```sh
//! motes run stairs --steps 20 --every 10 --export frames --format vtk
//! pip install meshio && python -c "import meshio; print(meshio.read('frames/frame_000020.vtk'))"
//! ```

#[path = "vtk/meshio.rs"]
mod meshio;

use glam::Vec3;
use meshio::Array;
use motes::export::{Format, write_world_as};
use motes::{Backend, Cloth, Engine, Grains, Lattice, World};

const VERTEX: i32 = 1;
const LINE: i32 = 3;
const TRIANGLE: i32 = 5;

/// Cloth, a soft body and grains after some steps: every kind of cell that there is.
fn world() -> World {
    let mut world = World::new();
    world.add_cloth(&Cloth { columns: 5, rows: 4, ..Cloth::default() }).unwrap();
    let center = Vec3::new(0.0, 1.0, 0.0);
    world.add_lattice(&Lattice { center, counts: [3; 3], ..Lattice::default() }).unwrap();
    world.add_grains(&Grains { counts: [3, 2, 2], ..Grains::default() }).unwrap();
    let mut engine = Engine::new(world, Backend::Cpu { threads: 1 }).unwrap();
    (0..4).for_each(|_| _ = engine.step(1.0 / 60.0).unwrap());
    engine.into_world()
}

fn written(world: &World) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frame.vtk");
    write_world_as(&path, Format::Vtk, world).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn meshio_reads_what_we_write() {
    let world = world();
    let mesh = meshio::read(&written(&world)).unwrap();
    let p = world.particles();
    let slots: Vec<usize> = p.slots_by_id().collect();
    let flat = |rows: &[glam::Vec4]| -> Vec<f32> {
        slots.iter().flat_map(|&slot| rows[slot].truncate().to_array()).collect()
    };
    assert_eq!(mesh.points.unwrap().floats(), flat(p.positions()));
    let data = mesh.point_data;
    assert_eq!(data["velocity"].floats(), flat(p.velocities()));
    let radii: Vec<f32> = slots.iter().map(|&slot| p.radii()[slot]).collect();
    assert_eq!(data["radius"].floats(), radii);
    let words = |of: &dyn Fn(usize) -> u32| Array {
        kind: "unsigned_int".into(),
        width: 1,
        words: slots.iter().map(|&slot| of(slot)).collect(),
    };
    assert_eq!(data["id"], words(&|slot| p.ids()[slot] as u32));
    assert_eq!(data["phase"], words(&|slot| p.phases()[slot]));
    let kinds: Vec<i32> = mesh.blocks.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [VERTEX, LINE, TRIANGLE]);
    let [(_, points), (_, lines), (_, triangles)] = &mesh.blocks[..] else { panic!("three") };
    assert_eq!(points.len(), p.len());
    assert_eq!(lines.len(), world.distance().len());
    // The cloth has two triangles for each of its 4 x 3 squares, the body 8 for each of its sides.
    assert_eq!(triangles.len(), 2 * 4 * 3 + 6 * 8);
}

#[test]
fn meshio_reads_a_world_without_particles() {
    let mesh = meshio::read(&written(&World::new())).unwrap();
    assert!(mesh.blocks.is_empty() && mesh.points.unwrap().words.is_empty());
}

/// The control: the reader refuses files that are broken in the ways in which writers go wrong.
#[test]
fn broken_files_are_refused() {
    let good = written(&world());
    let at = |mark: &str| good.windows(mark.len()).position(|w| w == mark.as_bytes()).unwrap();
    let swapped = |mark: &str, by: &str| {
        let at = at(mark);
        [&good[..at], by.as_bytes(), &good[at + mark.len()..]].concat()
    };
    let without = |from: usize, bytes: usize| [&good[..from], &good[from + bytes..]].concat();
    let broken = [
        ("the header", swapped("# vtk", "# VTK")),
        ("the data type", swapped("BINARY", "BINAR")),
        ("poly data", swapped("UNSTRUCTURED_GRID", "POLYDATA")),
        ("a type", swapped("unsigned_int", "uint32")),
        ("no table of colours", swapped("\nLOOKUP_TABLE default", "")),
        ("a table without a name", swapped("LOOKUP_TABLE default", "LOOKUP_TABLE")),
        ("too many components", swapped("radius float 1", "radius float 9")),
        ("no cells", swapped("CELLS", "CELL_")),
        ("no line break after an array", without(at("\nCELL_TYPES"), 1)),
        ("an array is short of a word", without(at("CELLS") - 5, 4)),
        ("another number of points", swapped("POINTS 59 ", "POINTS 58 ")),
        ("another number of rows", swapped("POINT_DATA 59", "POINT_DATA 58")),
        ("the file is cut", good[..good.len() - 3].to_vec()),
        ("little endian cells", {
            let first = at("CELLS");
            let first = first + good[first..].iter().position(|&b| b == b'\n').unwrap() + 1;
            let mut bytes = good.clone();
            bytes[first..first + 4].reverse();
            bytes
        }),
    ];
    for (what, bytes) in broken {
        assert!(meshio::read(&bytes).is_err(), "{what}: was not noticed");
    }
}
