//! Clips: how bones move over time.

use glam::{DQuat, DVec3, DVec4};
use serde::{Deserialize, Serialize};

use super::Transform;
use crate::{Error, Result};

/// What of a bone a track moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Channel {
    /// Where it is: x, y, z.
    Translation,
    /// How it is turned: a quaternion x, y, z, w.
    Rotation,
    /// Factors along its axes: x, y, z.
    Scale,
}

/// What is between two keyframes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interpolation {
    /// The value of the keyframe before.
    Step,
    /// A straight line, and for rotations the shorter arc at even speed.
    Linear,
    /// A cubic with the slopes that the keyframes have. Each keyframe has three values: the slope that
    /// leads to it, the value, the slope that leads away.
    Cubic,
}

/// One channel of one bone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Track {
    /// Number of the bone.
    pub bone: u32,
    /// What of it is moved.
    pub channel: Channel,
    /// What is between two keyframes.
    pub interpolation: Interpolation,
    /// Which of [`Clip::times`] are the times of the keyframes.
    pub times: u32,
    /// One for each keyframe, three for [`Interpolation::Cubic`].
    pub values: Vec<[f32; 4]>,
}

/// A movement of some or all bones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clip {
    /// As the file has it.
    pub name: String,
    /// Times of keyframes, s; several tracks may share one list.
    pub times: Vec<Vec<f64>>,
    /// The channels that move.
    pub tracks: Vec<Track>,
}

impl Clip {
    /// Time of the first keyframe, s.
    pub fn start(&self) -> f64 {
        let first = self.times.iter().filter_map(|times| times.first());
        first.copied().reduce(f64::min).unwrap_or(0.0)
    }

    /// From the first keyframe to the last, s.
    pub fn duration(&self) -> f64 {
        let last = self.times.iter().filter_map(|times| times.last());
        last.copied().reduce(f64::max).map_or(0.0, |end| end - self.start())
    }

    /// Puts bones where the clip has them at a time, s, each in the frame of its parent. Before the
    /// first keyframe of a track and after its last its value stays.
    pub fn sample(&self, time: f64, local: &mut [Transform]) {
        for track in &self.tracks {
            let times = self.times.get(track.times as usize).map_or(&[][..], Vec::as_slice);
            let (Some(own), Some(value)) =
                (local.get_mut(track.bone as usize), track.at(times, time))
            else {
                continue;
            };
            match track.channel {
                Channel::Translation => own.translation = value.truncate(),
                Channel::Rotation => own.rotation = unit(value),
                Channel::Scale => own.scale = value.truncate(),
            }
        }
    }

    /// # Errors
    /// Names the first track that is not whole. `bones`: how many there are.
    pub(super) fn validate(&self, bones: usize) -> Result<()> {
        for (k, times) in self.times.iter().enumerate() {
            let finite = times.iter().all(|time| time.is_finite());
            if !finite || times.windows(2).any(|pair| pair[1] < pair[0]) {
                let message = "must be finite times in s that do not go back";
                return Err(Error::value(format!("times.{k}"), message));
            }
        }
        for (k, track) in self.tracks.iter().enumerate() {
            let wrong = |message: String| Err(Error::value(format!("tracks.{k}"), message));
            if track.bone as usize >= bones {
                return wrong(format!("moves bone {}, but there are {bones}", track.bone));
            }
            let Some(times) = self.times.get(track.times as usize) else {
                return wrong("has no times".into());
            };
            let each = if track.interpolation == Interpolation::Cubic { 3 } else { 1 };
            if track.values.len() != each * times.len() {
                let (found, keys) = (track.values.len(), times.len());
                return wrong(format!("has {found} values, but needs {each} for each of {keys}"));
            }
            if let Some(key) = track.values.iter().position(|v| v.iter().any(|c| !c.is_finite())) {
                return wrong(format!("keyframe {} is not finite", key / each));
            }
        }
        Ok(())
    }
}

impl Track {
    /// The value at a time; none without keyframes.
    fn at(&self, times: &[f64], time: f64) -> Option<DVec4> {
        let cubic = self.interpolation == Interpolation::Cubic;
        let each = |key: usize, part: usize| {
            let index = if cubic { 3 * key + part } else { key };
            self.values.get(index).map(|v| DVec4::from(v.map(f64::from)))
        };
        let value = |key: usize| each(key, 1);
        let after = times.partition_point(|&key| key <= time);
        let Some(before) = after.checked_sub(1) else { return value(0) };
        let (a, b) = match (value(before), value(after)) {
            (Some(a), Some(b)) if after < times.len() => (a, b),
            (a, _) => return a,
        };
        let length = times[after] - times[before];
        let s = (time - times[before]) / length;
        Some(match self.interpolation {
            Interpolation::Step => a,
            Interpolation::Linear if self.channel == Channel::Rotation => slerp(a, b, s),
            Interpolation::Linear => a + (b - a) * s,
            Interpolation::Cubic => {
                let (leaving, arriving) = (each(before, 2)? * length, each(after, 0)? * length);
                let (s2, s3) = (s * s, s * s * s);
                a * (2.0 * s3 - 3.0 * s2 + 1.0)
                    + leaving * (s3 - 2.0 * s2 + s)
                    + b * (3.0 * s2 - 2.0 * s3)
                    + arriving * (s3 - s2)
            }
        })
    }
}

/// A quaternion of unit length; no rotation where it has none.
pub(super) fn unit(value: DVec4) -> DQuat {
    let length = value.length();
    match length > 1e-12 && length.is_finite() {
        true => DQuat::from_vec4(value / length),
        false => DQuat::IDENTITY,
    }
}

/// The shorter arc at even speed. `libm` gives the same bits on every machine.
fn slerp(a: DVec4, b: DVec4, s: f64) -> DVec4 {
    let (a, b) = (DVec4::from(unit(a)), DVec4::from(unit(b)));
    let dot = a.dot(b);
    let (b, dot) = if dot < 0.0 { (-b, -dot) } else { (b, dot) };
    if dot > 1.0 - 1e-9 {
        return a + (b - a) * s; // the angle is too small to divide by
    }
    let angle = libm::acos(dot);
    (a * libm::sin((1.0 - s) * angle) + b * libm::sin(s * angle)) / libm::sin(angle)
}

/// A turn about an axis, degrees.
pub(super) fn turn_about(axis: DVec3, degrees: f64) -> DQuat {
    let half = 0.5 * degrees.to_radians();
    let part = axis * libm::sin(half);
    DQuat::from_xyzw(part.x, part.y, part.z, libm::cos(half))
}
