//! Where a rigid body meets an obstacle or another body.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// A contact of a particle of a body, with an obstacle or with another body. On a device it is a row of
/// `impulse_rows`, word by word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct BodyRow {
    /// Unit vector, out of the obstacle or of the other body.
    pub normal: Vec3,
    /// Where the two touch, from the centre of the body, m.
    pub arm: Vec3,
    /// How fast that place moves on the obstacle before any impulse, m/s.
    pub sweep: Vec3,
    /// What an impulse of 1 N s along the normal adds to the angular velocity, rad/s.
    pub turns: Vec3,
    /// How far they were apart when the substep began, m. Once it is known how the body moves: how far
    /// they are when it ends, or 0 where they touch.
    pub gap: f32,
    /// The impulse that changes their velocity along the normal by 1 m/s, kg.
    pub mass: f32,
    /// How fast they are to part because they closed fast, m/s; 0 where they do not bounce.
    pub bounce: f32,
    /// The coefficient of friction in force; static and kinetic friction.
    pub friction: f32,
    pub fixed: f32,
    pub kinetic: f32,
    /// The impulse along the normal, N s, and that of friction.
    pub push: f32,
    pub held: Vec3,
    /// The slot of the particle, and which of its contacts this is. Between bodies, what names the
    /// contact from substep to substep: see `Touch::key`.
    pub slot: u32,
    pub nth: u32,
    /// `arm` and `turns` of the other body, which is pushed the other way; 0 where it is an obstacle.
    pub other_arm: Vec3,
    pub other_turns: Vec3,
}

/// Words of a row on a device.
#[cfg(feature = "vulkan")]
pub(crate) const ROW_WORDS: usize = size_of::<BodyRow>() / 4;
