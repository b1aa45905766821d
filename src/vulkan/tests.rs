//! Devices that fail in the middle: the calls that answer with an error are put in place of the
//! driver's own. Needs a device, as `tests/vulkan.rs` does.

use super::*;
use crate::step::schedule;
use crate::world::collider::{Pose, Shape};
use crate::world::{Body, BodyShape, Bond, Cloth, Collider, Grains};
use ash::vk;
use glam::Vec3;
use std::cell::Cell;

thread_local! {
    /// Submissions until the device is lost, in this test's thread.
    static SUBMISSIONS: Cell<u32> = const { Cell::new(u32::MAX) };
    /// The driver's own, where it was loaded last.
    static SUBMIT: Cell<Option<vk::PFN_vkQueueSubmit>> = const { Cell::new(None) };
    /// Buffers until there is no memory for one, once.
    static BUFFERS: Cell<u32> = const { Cell::new(u32::MAX) };
    static CREATE: Cell<Option<vk::PFN_vkCreateBuffer>> = const { Cell::new(None) };
}

/// The driver's submission, as long as there are some left.
unsafe extern "system" fn submit_or_lose(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let left = SUBMISSIONS.get();
    SUBMISSIONS.set(left.saturating_sub(1));
    match SUBMIT.get() {
        // SAFETY: the arguments are the caller's, who keeps to the driver's rules.
        Some(submit) if left > 0 => unsafe { submit(queue, count, submits, fence) },
        _ => vk::Result::ERROR_DEVICE_LOST,
    }
}

/// The driver's buffers, but for one.
unsafe extern "system" fn create_or_refuse(
    device: vk::Device,
    info: *const vk::BufferCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    buffer: *mut vk::Buffer,
) -> vk::Result {
    let left = BUFFERS.get();
    BUFFERS.set(left.wrapping_sub(1));
    match CREATE.get() {
        // SAFETY: the arguments are the caller's, who keeps to the driver's rules.
        Some(create) if left > 0 => unsafe { create(device, info, callbacks, buffer) },
        _ => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
    }
}

/// A driver without memory.
unsafe extern "system" fn no_memory(
    _: vk::Device,
    _: *const vk::MemoryAllocateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    _: *mut vk::DeviceMemory,
) -> vk::Result {
    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
}

/// A device some of whose calls are other ones.
fn device_with(change: impl FnOnce(&mut ash::DeviceFnV1_0)) -> Option<Arc<Device>> {
    let device = crate::vulkan::harness::trial::opened(|| device::open(None))?;
    Some(Arc::new(device.with_calls(change)))
}

/// A backend whose device is lost after some submissions from now on.
fn losing() -> Option<Vulkan> {
    let device = device_with(|calls| {
        SUBMIT.set(Some(calls.queue_submit));
        calls.queue_submit = submit_or_lose;
    })?;
    Some(Vulkan::on(device, built_in(), WORKGROUP).unwrap())
}

fn cloth(break_at: f32) -> World {
    let mut world = World::new();
    let stretch = Bond { break_at, ..Bond::default() };
    let cloth = Cloth { columns: 9, rows: 9, stretch, ..Cloth::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    world.pin(ids[0]).unwrap();
    world.commit();
    world
}

/// Whatever is being done when the device goes: an error, a world as of the step before, and a CPU
/// that goes on with it.
#[test]
fn a_lost_device_is_an_error_and_the_cpu_goes_on() {
    for (keep, break_at) in [(false, f32::INFINITY), (true, f32::INFINITY), (false, 9.0)] {
        for submissions in 0..4 {
            let Some(mut vulkan) = losing() else { return };
            let (mut world, mut report) = (cloth(break_at), StepReport::default());
            let schedule = schedule(&world);
            vulkan.keep(keep);
            (0..3).for_each(|_| vulkan.step(&mut world, &schedule, 1e-2, &mut report).unwrap());
            vulkan.fetch(&mut world).unwrap();
            let well = world.hash();
            SUBMISSIONS.set(submissions);
            // An edit is loaded: a submission before that of the step.
            vulkan.edit(&mut world);
            world.changes.mark(Buffer::Velocity, 0);
            let failed = (0..4).find_map(|_| {
                let before = world.hash();
                let answer = vulkan.step(&mut world, &schedule, 1e-2, &mut report);
                assert!(answer.is_ok() || world.hash() == before, "a failed step left its traces");
                answer.err()
            });
            let said = failed.expect("the device was lost").to_string();
            assert!(said.contains("lost") && said.contains("use --backend cpu"), "{said}");
            if keep {
                assert_eq!(world.hash(), well, "nobody fetched anything");
                let said = vulkan.fetch(&mut world).err().map(|e| e.to_string());
                assert_eq!(said.is_some(), submissions > 1, "{said:?}");
                vulkan.edit(&mut world);
                vulkan.step(&mut world, &schedule, 1e-2, &mut report).unwrap_err();
            }
            SUBMISSIONS.set(u32::MAX);
            drop(vulkan);
            let mut cpu = crate::Engine::new(world, crate::Backend::Cpu { threads: 1 }).unwrap();
            cpu.step(1e-2).unwrap();
        }
    }
}

/// A crowd whose lists need more room than they are given at first. Whichever buffer cannot be had:
/// an error, and the next step goes on as if nothing had been.
#[test]
fn a_step_that_found_no_memory_can_be_taken_again() {
    let grains = Grains { counts: [6, 6, 6], spacing: 0.005, ..Grains::default() };
    let take = |refused: u32, keep: bool| {
        let device = device_with(|calls| {
            CREATE.set(Some(calls.create_buffer));
            calls.create_buffer = create_or_refuse;
        })?;
        let mut vulkan = Vulkan::on(device, built_in(), WORKGROUP).unwrap();
        let (mut world, mut report) = (World::new(), StepReport::default());
        world.add_grains(&grains).unwrap();
        let schedule = schedule(&world);
        vulkan.keep(keep);
        BUFFERS.set(refused);
        let first = vulkan.step(&mut world, &schedule, 1e-3, &mut report);
        let made = refused.wrapping_sub(BUFFERS.replace(u32::MAX));
        if let Err(error) = &first {
            assert!(error.to_string().contains("use fewer particles"), "{error}");
            vulkan.fetch(&mut world).unwrap();
            vulkan.step(&mut world, &schedule, 1e-3, &mut report).unwrap();
        }
        vulkan.step(&mut world, &schedule, 1e-3, &mut report).unwrap();
        vulkan.fetch(&mut world).unwrap();
        assert!(vulkan.room.is_some(), "the lists had to grow");
        Some((made, (first.is_err(), world.hash(), vulkan.device.messages())))
    };
    let Some((made, (_, hash, _))) = take(u32::MAX - 1, false) else { return };
    for refused in 0..made {
        let Some((_, taken)) = take(refused, refused % 2 == 0) else { return };
        assert_eq!(taken, (true, hash, Vec::new()), "buffer {refused}");
    }
}

/// Three blocks on a floor, and above them thirty balls that come to look so far around as they fall that
/// each is near each: more pairs than there is room for. The step is taken again, the blocks press on
/// each other as they did, and all goes as it does where there was room for all from the second step on.
#[test]
fn pairs_of_bodies_get_room_and_what_they_press_stays() {
    let block = BodyShape::block([2; 3], 0.1, 1000.0).unwrap();
    let ball = BodyShape::block([1; 3], 0.1, 1000.0).unwrap();
    let mut start = World::new();
    start.params.gravity = Vec3::Y * -60.0;
    start.params.substeps = 2;
    let floor = Shape::Plane { normal: Vec3::Y };
    start.colliders.push(Collider::fixed(floor, Pose::IDENTITY));
    for k in 0..3 {
        let place = Vec3::new(0.0, 0.1 + 0.2 * k as f32, 0.0);
        start.add_body(&block, &Body::rigid(place)).unwrap();
    }
    for k in 0..30 {
        let place = Vec3::new((k % 3) as f32, (k / 3 % 3) as f32, (k / 9) as f32) * 0.12;
        let body = Body { velocity: Vec3::Y * -5.0, ..Body::rigid(place + Vec3::Y * 30.0) };
        start.add_body(&ball, &body).unwrap();
    }
    start.choose_rigid();
    let run = |roomy: bool| {
        let mut vulkan = crate::vulkan::harness::trial::opened(|| Vulkan::new(None))?;
        let (mut world, mut report) = (start.clone(), StepReport::default());
        vulkan.keep(true);
        for step in 0..24 {
            if roomy && step == 1 {
                let mut state = vec![0; s::WORDS];
                state[s::OVERFLOW_BODY_PAIRS] = 1000;
                let plan = vulkan.plan.as_ref().unwrap();
                vulkan.room = Some(plan.room.clone().grown(ListId::CONTACTS, &state));
                vulkan.fetch(&mut world).unwrap();
                vulkan.reload();
            }
            let schedule = schedule(&world);
            vulkan.step(&mut world, &schedule, 1.0 / 120.0, &mut report).unwrap();
        }
        let room = vulkan.plan.as_ref().unwrap().room[Buffer::BodyPairs];
        vulkan.fetch(&mut world).unwrap();
        assert_eq!(vulkan.device.messages(), Vec::<String>::new());
        let pressing = world.bodies.touches.pairs.iter().map(|pair| pair.bodies);
        Some((room, pressing.collect::<Vec<_>>(), world.hash()))
    };
    let (Some(grown), Some(roomy)) = (run(false), run(true)) else { return };
    assert!(grown.0 > 435 && grown.0 < roomy.0, "{} and {}", grown.0, roomy.0);
    assert_eq!(grown.1, [[0, 1], [1, 2]]);
    assert_eq!((&grown.1, grown.2), (&roomy.1, roomy.2));
}

/// A step whose loops are recorded once does the same as one whose loops are unrolled: moving pins,
/// moving obstacles, contacts and sorted particles included.
#[test]
fn chunks_that_are_repeated_do_what_unrolled_loops_do() {
    let open = || crate::vulkan::harness::trial::opened(|| Vulkan::new(None));
    // A small cloth with so many iterations that even the engine's own limit repeats them.
    let small = ["cloth.0.columns=8", "cloth.0.rows=8"].map(String::from);
    let scenes: [(&str, &[String], u32); 4] =
        [("curtain", &[], 3), ("stairs", &[], 3), ("tear", &[], 3), ("cloth_hang", &small, 2000)];
    for (name, sets, iterations) in scenes {
        let scene = crate::Scene::load_with(name, sets);
        let mut world = scene.and_then(|scene| scene.build()).unwrap();
        world.params.substeps = if iterations > 3 { 2 } else { 4 };
        world.params.iterations = iterations;
        world.commit();
        let run = |unrolled| {
            let (mut vulkan, mut world) = (open()?, world.clone());
            vulkan.unrolled = unrolled;
            let mut report = StepReport::default();
            for _ in 0..2 {
                report.begin();
                let schedule = schedule(&world);
                vulkan.step(&mut world, &schedule, 1.0 / 240.0, &mut report).unwrap();
            }
            assert_eq!(vulkan.device.messages(), Vec::<String>::new());
            let calls: Vec<_> = report.passes.ran().map(|(pass, calls, _)| (pass, calls)).collect();
            let chunks = vulkan.recorded.as_ref().map_or(0, |r| r.program.counts().len());
            Some((chunks, (world.hash(), calls, report.contacts, report.broken)))
        };
        let Some((one, unrolled)) = run(usize::MAX) else { return };
        assert!(one <= 2, "{name}: a sort and the rest, not {one} chunks");
        for most in if iterations > 3 { &[program::UNROLLED][..] } else { &[0, 30, 300] } {
            let Some((chunks, repeated)) = run(*most) else { return };
            assert!(chunks > one || *most == 300, "{name}: {chunks} chunks, {most} unrolled");
            assert_eq!(repeated, unrolled, "{name}, {most} unrolled");
        }
    }
}

/// A device that somebody else opened, and a cloth on it that has taken steps.
fn on_shared() -> Option<(Arc<Device>, crate::Engine)> {
    let device = Arc::new(crate::vulkan::harness::trial::opened(|| device::open(None))?);
    let mut engine = crate::Engine::on_device(cloth(f32::INFINITY), &device).unwrap();
    engine.keep_on_device(true);
    (0..3).for_each(|_| _ = engine.step(1e-2).unwrap());
    Some((device, engine))
}

/// A buffer for the positions of that cloth, which the host can read.
fn positions_on(device: &Arc<Device>, bytes: usize) -> crate::gpu::Buffer {
    let usage = vk::BufferUsageFlags::TRANSFER_DST;
    crate::gpu::Buffer::new(device, "positions", bytes, usage, crate::gpu::Place::Read).unwrap()
}

#[test]
fn positions_are_copied_where_others_on_the_device_find_them() {
    let Some((device, mut engine)) = on_shared() else { return };
    assert!(Arc::ptr_eq(engine.gpu().unwrap(), &device));
    let bytes = 16 * engine.positions().len();
    let mut copy = positions_on(&device, bytes);
    let same = |copy: &crate::gpu::Buffer, engine: &crate::Engine| {
        copy.host() == bytemuck::cast_slice::<_, u8>(engine.positions())
    };
    assert!(engine.positions_on_device(&mut copy).unwrap());
    assert!(!same(&copy, &engine), "nobody has fetched them yet");
    engine.fetch().unwrap();
    assert!(same(&copy, &engine));
    engine.step(1e-2).unwrap();
    engine.fetch().unwrap();
    assert!(!same(&copy, &engine), "the copy is of the step before");

    let said = engine.positions_on_device(&mut positions_on(&device, bytes - 16)).unwrap_err();
    assert!(said.to_string().contains(&format!("{bytes} are needed")), "{said}");
    let other = Arc::new(device::open(None).unwrap());
    let said = engine.positions_on_device(&mut positions_on(&other, bytes)).unwrap_err();
    assert!(said.to_string().contains("another device"), "{said}");
    // After an edit the world has the newest ones.
    let id = crate::ParticleId(engine.world().particles().ids()[5]);
    engine.world_mut().set_velocity(id, glam::Vec3::Y).unwrap();
    assert!(!engine.positions_on_device(&mut copy).unwrap());
    engine.step(1e-2).unwrap();
    assert!(engine.positions_on_device(&mut copy).unwrap());
    assert_eq!(device.messages(), Vec::<String>::new());
}

/// Two threads give one device work: neither notices the other.
#[test]
fn a_device_may_have_two_owners() {
    let Some((device, mut engine)) = on_shared() else { return };
    let Some((_, mut alone)) = on_shared() else { return };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let words = 1 << 12;
    let done = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let commands = Commands::new(&device).unwrap();
            let mut done = 0;
            while done < 20 || !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let mut buffer = positions_on(&device, 4 * words);
                buffer.write(&vec![0xff; 4 * words]);
                commands.once(|recorder| recorder.fill(buffer.raw, 0, words)).unwrap();
                assert!(buffer.host().iter().all(|&byte| byte == 0));
                done += 1;
            }
            done
        });
        (0..30).for_each(|_| _ = engine.step(1e-2).unwrap());
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        other.join().unwrap()
    });
    assert!(done >= 20);
    (0..30).for_each(|_| _ = alone.step(1e-2).unwrap());
    engine.fetch().unwrap();
    alone.fetch().unwrap();
    assert_eq!(engine.world().hash(), alone.world().hash());
    assert_eq!(device.messages(), Vec::<String>::new());
}

#[test]
fn a_device_that_cannot_compute_is_refused() {
    let Some(mut device) = crate::vulkan::harness::trial::opened(|| device::open(None)) else {
        return;
    };
    device.refused = Some("it only draws".into());
    let Err(error) = crate::Engine::on_device(World::new(), &Arc::new(device)) else {
        panic!("it was taken");
    };
    assert!(error.to_string().contains("it only draws"), "{error}");
}

#[test]
fn a_device_without_memory_is_an_error_with_a_remedy() {
    let Some(device) = device_with(|calls| calls.allocate_memory = no_memory) else { return };
    let Err(error) = Vulkan::on(device, built_in(), WORKGROUP) else {
        panic!("there was memory");
    };
    let said = error.to_string();
    assert!(said.contains("use fewer particles") && said.contains("--backend cpu"), "{said}");
}

#[test]
fn a_world_beyond_one_dispatch_is_refused() {
    let Some(vulkan) = crate::vulkan::harness::trial::opened(|| Vulkan::new(None)) else { return };
    let mut plan = Plan::of(&World::new(), None, vulkan.workgroup);
    vulkan.check_size(&plan).unwrap();
    let most = vulkan.device.limits.max_compute_work_group_count[0] as usize;
    plan.particles = most * vulkan.workgroup as usize + 1;
    let said = vulkan.check_size(&plan).unwrap_err().to_string();
    assert!(said.contains("use fewer particles"), "{said}");
}

/// Only what is marked is loaded: that the tests of edits can fail is shown by an edit that nobody
/// marks.
#[test]
fn an_edit_that_nobody_marks_is_not_seen() {
    let Some(mut vulkan) = crate::vulkan::harness::trial::opened(|| Vulkan::new(None)) else {
        return;
    };
    let mut step = |edit: fn(&mut World)| {
        let (mut world, mut report) = (cloth(f32::INFINITY), StepReport::default());
        let schedule = schedule(&world);
        vulkan.forget();
        vulkan.step(&mut world, &schedule, 1e-2, &mut report).unwrap();
        vulkan.edit(&mut world);
        edit(&mut world);
        vulkan.step(&mut world, &schedule, 1e-2, &mut report).unwrap();
        world.hash()
    };
    let plain = step(|_| {});
    let unmarked = step(|world| world.particles.velocity[40].x = 5.0);
    let marked = step(|world| {
        world.particles.velocity[40].x = 5.0;
        world.changes.mark(Buffer::Velocity, 40);
    });
    assert_eq!(plain, unmarked);
    assert_ne!(plain, marked);
}
