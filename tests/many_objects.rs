//! Building many objects costs what they hold: twice as many objects take about twice the memory
//! traffic. It is counted in bytes that are asked for, which are the same in every run; building
//! that goes over all earlier objects for each new one would ask for four times as many.

use motes::{Cloth, Lattice, Scene, World};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fmt::Write;

/// The system's allocator, adding up what this thread asks for.
struct Counted;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    // A thread that is ending has no counter any more, and no test waits for it.
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + bytes as u64));
}

// SAFETY: every call is handed to the system's allocator unchanged; the counter is a plain number
// of this thread, and to add to it allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

fn bytes(work: impl FnOnce()) -> u64 {
    let before = ASKED.get();
    work();
    ASKED.get() - before
}

/// Whether twice as many objects take about twice the bytes. Arrays that double as they grow may be
/// caught before or after a doubling, so it is not exactly two.
#[track_caller]
fn is_linear(what: &str, work: impl Fn(usize)) {
    let [once, twice] = [1000, 2000].map(|count| bytes(|| work(count)));
    let ratio = twice as f64 / once as f64;
    println!("{what}: {once} bytes for 1000, {ratio:.2} times as many for 2000");
    assert!(once > 100_000, "{what}: something was built");
    assert!(ratio < 2.6, "{what}: {ratio:.2} times as many bytes for twice as many objects");
}

/// So many objects of a few particles, each with a name, a pin and a hold, joined in a row.
fn text(count: usize) -> String {
    let mut text = String::new();
    for i in 0..count {
        let (x, name) = (2 * i, format!("piece {i}"));
        let hold = "hold = [{ at = [-1], keyframes = [{ time = 0, offset = [0, 0, 0] }] }]";
        let keys = match i % 3 {
            0 => format!(
                "[[cloth]]\ncolumns = 2\nrows = 3\nspacing = 0.1\norigin = [{x}, 0, 0]\n\
                 bend_compliance = 0.1\npin = [\"top\"]\n{hold}"
            ),
            1 => format!(
                "[[box]]\ncounts = [2, 2, 2]\nspacing = 0.1\ncenter = [{x}, 0, 0]\n\
                 volume_compliance = 0\npin = [\"left\"]\n{hold}"
            ),
            _ => format!(
                "[[particles]]\npositions = [[{x}, 0, 0], [{x}, 1, 0]]\nradius = 0.1\n\
                 chain = true\npin = [\"first\"]\n{hold}"
            ),
        };
        writeln!(text, "{keys}\nname = \"{name}\"").unwrap();
    }
    for i in 1..count {
        writeln!(text, "[[joint]]\na = \"piece {}:0\"\nb = \"piece {i}:-1\"", i - 1).unwrap();
    }
    text
}

#[test]
fn a_scene_is_read_and_built_in_time_linear_in_its_objects() {
    let scene = |count: usize| Scene::parse("many.toml", &text(count), None, &[]).unwrap();
    is_linear("reading", |count| drop(scene(count)));
    let scenes = [1000, 2000].map(|count| (count, scene(count)));
    is_linear("building", |count| {
        let (_, scene) = scenes.iter().find(|(known, _)| *known == count).unwrap();
        let world = scene.build().unwrap();
        assert_eq!(world.objects().count(), count);
        assert_eq!(world.pins().len(), count);
    });
}

#[test]
fn a_library_builds_in_time_linear_in_its_objects() {
    is_linear("add_cloth and add_lattice", |count| {
        let mut world = World::new();
        for _ in 0..count / 2 {
            world.add_cloth(&Cloth { columns: 2, rows: 2, ..Cloth::default() }).unwrap();
            world.add_lattice(&Lattice { counts: [2; 3], ..Lattice::default() }).unwrap();
        }
        assert_eq!(world.objects().count(), count);
    });
}
