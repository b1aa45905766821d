//! Devices that fail in the middle: the calls that answer with an error are put in place of the
//! driver's own. Needs a device, as `tests/vulkan.rs` does.

use super::*;
use crate::step::schedule;
use crate::world::{Cloth, Grains, Material};
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
fn device_with(change: impl FnOnce(&mut ash::DeviceFnV1_0)) -> Option<Device> {
    let mut device = trial::opened(|| Device::open(None))?;
    let raw = &device.raw;
    let mut calls = raw.fp_v1_0().clone();
    change(&mut calls);
    let (second, third, fourth) =
        (raw.fp_v1_1().clone(), raw.fp_v1_2().clone(), raw.fp_v1_3().clone());
    device.raw = ash::Device::from_parts_1_3(raw.handle(), calls, second, third, fourth);
    Some(device)
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
    let stretch = Material { break_at, ..Material::default() };
    let cloth = Cloth { columns: 9, rows: 9, stretch, ..Cloth::default() };
    let ids = world.add_cloth(&cloth).unwrap();
    world.pin(ids[0]).unwrap();
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
            // An edit loads the world anew: a submission before that of the step.
            vulkan.edit(&mut world);
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
    let Some(vulkan) = trial::opened(|| Vulkan::new(None)) else { return };
    let mut plan = Plan::of(&World::new(), None, vulkan.workgroup);
    vulkan.check_size(&plan).unwrap();
    let most = vulkan.device.limits.max_compute_work_group_count[0] as usize;
    plan.particles = most * vulkan.workgroup as usize + 1;
    let said = vulkan.check_size(&plan).unwrap_err().to_string();
    assert!(said.contains("use fewer particles"), "{said}");
}
