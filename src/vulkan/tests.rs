//! Devices that fail in the middle: the calls that answer with an error are put in place of the
//! driver's own. Needs a device, as `tests/vulkan.rs` does.

use super::*;
use crate::step::schedule;
use crate::world::Cloth;
use std::cell::Cell;

thread_local! {
    /// Submissions until the device is lost, in this test's thread.
    static SUBMISSIONS: Cell<u32> = const { Cell::new(u32::MAX) };
    /// The driver's own, where it was loaded last.
    static SUBMIT: Cell<Option<vk::PFN_vkQueueSubmit>> = const { Cell::new(None) };
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

fn cloth() -> World {
    let mut world = World::new();
    let ids = world.add_cloth(&Cloth { columns: 9, rows: 9, ..Cloth::default() }).unwrap();
    world.pin(ids[0]).unwrap();
    world
}

/// Whatever is being done when the device goes: an error, a world as of the step before, and a CPU
/// that goes on with it.
#[test]
fn a_lost_device_is_an_error_and_the_cpu_goes_on() {
    for keep in [false, true] {
        for submissions in 0..4 {
            let Some(mut vulkan) = losing() else { return };
            let (mut world, mut report) = (cloth(), StepReport::default());
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
