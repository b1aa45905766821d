//! An engine on a thread pool that the host program uses as well: the same bits, whoever calls, and
//! no step that waits for a thread which waits for the step.

use motes::{Backend, Cloth, Engine, Grains, Scene, World};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

fn pool(threads: usize) -> Arc<rayon::ThreadPool> {
    Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap())
}

fn on(pool: &Arc<rayon::ThreadPool>) -> Backend {
    Backend::CpuPool { pool: Arc::clone(pool) }
}

/// Runs `work` to its end, which must come within a minute.
fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(work()));
    // A panic in `work` drops the sender.
    receive.recv_timeout(Duration::from_secs(60)).expect("it hangs, or it panicked")
}

/// Contacts and constraints, in more blocks than one.
fn world() -> World {
    let mut world = World::new();
    let cloth = Cloth { columns: 60, rows: 60, self_collide: true, ..Cloth::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    world.pin(ids[0]).unwrap();
    let origin = glam::Vec3::new(0.2, 0.3, 0.2);
    world.add_grains(&Grains { origin, ..Grains::default() }).unwrap();
    world
}

fn hash_after(mut engine: Engine, steps: u32) -> u64 {
    for _ in 0..steps {
        engine.step(1.0 / 60.0).unwrap();
    }
    engine.world().hash()
}

fn expected(steps: u32) -> u64 {
    hash_after(Engine::new(world(), Backend::Cpu { threads: 1 }).unwrap(), steps)
}

#[test]
fn a_shared_pool_gives_the_same_bits_whoever_steps() {
    let expected = expected(20);
    for threads in [1, 2, 3, 8] {
        let found = ends(move || {
            let pool = pool(threads);
            let engine = || Engine::new(world(), on(&pool)).unwrap();
            assert_eq!(engine().threads(), threads + 1);
            [hash_after(engine(), 20), pool.install(|| hash_after(engine(), 20))]
        });
        assert_eq!(found, [expected; 2], "{threads} threads, from outside and from within");
    }
}

#[test]
fn built_in_scenes_give_the_same_bits_on_a_shared_pool() {
    let pool = pool(3);
    for name in ["cloth_hang", "stairs", "spike"] {
        let engine = |backend| {
            let scene = Scene::load(name).unwrap();
            Engine::new(scene.build().unwrap(), backend).unwrap()
        };
        let alone = hash_after(engine(Backend::Cpu { threads: 1 }), 10);
        assert_eq!(hash_after(engine(on(&pool)), 10), alone, "{name}");
    }
}

/// Each thread of the pool steps a world of its own, and is asked to help with the others.
#[test]
fn engines_that_step_inside_the_pool_do_not_wait_for_each_other() {
    let expected = expected(10);
    for threads in [1, 2, 4] {
        let found = ends(move || {
            let pool = pool(threads);
            let engines: Vec<Engine> =
                (0..6).map(|_| Engine::new(world(), on(&pool)).unwrap()).collect();
            pool.install(|| engines.into_par_iter().map(|e| hash_after(e, 10)).collect::<Vec<_>>())
        });
        assert_eq!(found, [expected; 6], "{threads} threads");
    }
}

/// One thread of the pool steps while the others wait for it: they cannot come and help.
#[test]
fn a_step_does_not_wait_for_threads_that_wait_for_it() {
    let expected = expected(12);
    let found = ends(|| {
        let pool = pool(4);
        let engine = Mutex::new(Engine::new(world(), on(&pool)).unwrap());
        pool.broadcast(|_| {
            for _ in 0..3 {
                engine.lock().unwrap().step(1.0 / 60.0).unwrap();
            }
        });
        engine.into_inner().unwrap().world().hash()
    });
    assert_eq!(found, expected);
}

/// What the host program does between iterations may need every thread of its pool.
#[test]
fn between_iterations_the_pool_is_the_host_programs() {
    ends(|| {
        let pool = pool(2);
        let mut engine = Engine::new(world(), on(&pool)).unwrap();
        let mut turns = 0;
        let mut all = |engine: &mut Engine| {
            engine.predict().unwrap();
            engine
                .iterate(20, |_, _| {
                    turns += pool.broadcast(|who| who.index()).len();
                    ControlFlow::Continue(())
                })
                .unwrap();
        };
        all(&mut engine);
        pool.install(|| all(&mut engine));
        assert_eq!(turns, 2 * 20 * 2);
    });
}

#[test]
fn backends_are_equal_when_they_share_a_pool() {
    let (one, other) = (pool(1), pool(1));
    assert_eq!(on(&one), on(&one));
    assert_ne!(on(&one), on(&other));
    assert_ne!(on(&one), Backend::Cpu { threads: 1 });
    assert_eq!(Backend::Cpu { threads: 1 }, Backend::Cpu { threads: 1 });
    assert_ne!(Backend::Cpu { threads: 1 }, Backend::Cpu { threads: 2 });
}
