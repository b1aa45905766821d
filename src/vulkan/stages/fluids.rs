//! Stages of the passes of fluids, and the layout of their buffers.
//!
//! `kernels` has a word for each entry of a list, `lambdas` and `shores` a row of four for each
//! particle. Where there is no fluid they have none.

use super::{Groups, Stage};
use crate::cpu::Scratch;
use crate::pass::Buffer;
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::encode::Encoder;
use crate::vulkan::plan::Plan;
use glam::Vec4;

pub(super) fn stages(dispatch: &Dispatch, plan: &Plan, out: &mut Vec<Stage>) {
    if dispatch.pass == Pass::FluidViscosity {
        let each = |entry| Stage::new(entry, Groups::Particles);
        return out.extend([each("gather"), each("apply")]);
    }
    let entry = match (dispatch.pass, dispatch.part) {
        (Pass::DensityLambda, Part::Start) => "begin",
        _ => "main",
    };
    let beside = u32::from(plan.colliders > 0);
    out.push(Stage::new(entry, Groups::Particles).with([beside, 0, 0]));
}

/// Words of `kernels`.
pub(crate) fn kernel_words(plan: &Plan) -> usize {
    if plan.fluid { plan.room[Buffer::Neighbors] } else { 0 }
}

/// Words of `lambdas` and of `shores`.
pub(crate) fn rows(plan: &Plan) -> usize {
    if plan.fluid { 4 * plan.particles } else { 0 }
}

/// The words of these buffers as the CPU left them.
pub(crate) fn encode(buffer: Buffer, from: &Encoder, out: &mut [u32]) {
    let Scratch { fluid, added, .. } = from.scratch;
    let rows = |rows: &[Vec4], out: &mut [u32]| {
        for (word, value) in out.iter_mut().zip(bytemuck::cast_slice::<_, u32>(rows)) {
            *word = *value;
        }
    };
    match buffer {
        Buffer::Lambdas => rows(&fluid.lambdas, out),
        Buffer::Shores => rows(&fluid.shores, out),
        _ => {
            // In the order in which the lists are encoded.
            let Some(made) = added.get(from.list) else { return };
            let mut out = out.iter_mut();
            for i in 0..from.plan.particles.min(made.lists.particles()) {
                let kernels = made.kernels.get(made.lists.range(i)).unwrap_or_default();
                kernels
                    .iter()
                    .zip(out.by_ref())
                    .for_each(|(kernel, word)| *word = kernel.to_bits());
            }
        }
    }
}
