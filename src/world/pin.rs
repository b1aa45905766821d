//! Pins: a particle held at a point, which may move along a path.

use super::SkeletonId;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// A particle held at a target, C = |p - q|. A particle has at most one pin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pin {
    /// Slot of the particle.
    pub(crate) particle: u32,
    /// Target, m: the point itself, or an offset to its path.
    pub(crate) target: Vec3,
    /// Index into the world's paths.
    pub(crate) path: Option<u32>,
    /// The bone it goes with: its path is written anew before every step.
    pub(crate) bone: Option<OnBone>,
    /// PBD stiffness, 0..=1.
    pub(crate) stiffness: f32,
    /// XPBD compliance, m/N.
    pub(crate) compliance: f32,
    pub(crate) lambda: f32,
}

/// A point that goes with a bone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OnBone {
    pub skeleton: SkeletonId,
    pub bone: u32,
    /// From the origin of the bone, in its axes, m.
    pub offset: Vec3,
}

impl Pin {
    /// Slot of the held particle.
    pub fn slot(&self) -> usize {
        self.particle as usize
    }
    /// Whether the point it is held at moves along a path.
    pub fn is_driven(&self) -> bool {
        self.path.is_some()
    }
}

/// A moving point: positions at increasing times, linear between them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// (time s, position m), times strictly increasing.
    pub keys: Vec<(f64, Vec3)>,
    /// Starts again after the last key.
    pub looped: bool,
}

impl Path {
    /// Where the point is at `time`.
    pub fn at(&self, time: f64) -> Vec3 {
        let (Some(&(first, start)), Some(&(last, end))) = (self.keys.first(), self.keys.last())
        else {
            return Vec3::ZERO;
        };
        let span = last - first;
        let time =
            if self.looped && span > 0.0 { first + (time - first).rem_euclid(span) } else { time };
        if time <= first {
            return start;
        }
        if time >= last {
            return end;
        }
        let next = self.keys.partition_point(|&(t, _)| t <= time);
        let ((t0, p0), (t1, p1)) = (self.keys[next - 1], self.keys[next]);
        p0.lerp(p1, ((time - t0) / (t1 - t0)) as f32)
    }

    /// True when times rise and every number is finite.
    pub fn is_legal(&self) -> bool {
        !self.keys.is_empty()
            && self.keys.iter().all(|(t, p)| t.is_finite() && p.is_finite())
            && self.keys.windows(2).all(|w| w[0].0 < w[1].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_clamped_or_looped() {
        let mut path = Path { keys: vec![(1.0, Vec3::ZERO), (3.0, Vec3::X)], looped: false };
        assert_eq!(path.at(0.0), Vec3::ZERO);
        assert_eq!(path.at(2.0), Vec3::X * 0.5);
        assert_eq!(path.at(9.0), Vec3::X);
        path.looped = true;
        assert_eq!(path.at(4.0), Vec3::X * 0.5);
    }
}
