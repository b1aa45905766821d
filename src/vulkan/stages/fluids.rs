//! Stages of the passes of fluids, and the layout of their buffers.
//!
//! `lambdas`, `shores`, `curls` and `normals` have a row of four for each particle. Where there is no fluid they
//! have none.

use super::{Groups, Stage};
use crate::pass::Buffer;
use crate::step::{Dispatch, Part, Pass};
use crate::vulkan::encode::Encoder;
use crate::vulkan::plan::Plan;

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

/// Words of `lambdas`, `shores`, `curls` and `normals`.
pub(crate) fn rows(plan: &Plan) -> usize {
    if plan.fluid { 4 * plan.particles } else { 0 }
}

/// The words of these buffers as the CPU left them.
pub(crate) fn encode(buffer: Buffer, from: &Encoder, out: &mut [u32]) {
    let fluid = &from.scratch.fluid;
    let rows = match buffer {
        Buffer::Lambdas => &fluid.lambdas,
        Buffer::Curls => &fluid.curls,
        Buffer::Normals => &fluid.normals,
        _ => &fluid.shores,
    };
    for (word, value) in out.iter_mut().zip(bytemuck::cast_slice::<_, u32>(rows)) {
        *word = *value;
    }
}
