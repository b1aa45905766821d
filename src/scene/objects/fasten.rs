//! Pins and holds: particles of an object that are fixed, hang on a path, or go with a bone.

use super::pick::{Layout, pick};
use crate::error::{Error, Result};
use crate::scene::value::{AtLeastZero, Pick, Real64, Vector};
use crate::suggest::instead;
use crate::world::collider::Pose;
use crate::world::{Built, OnBone, Path, Pin, SkeletonId, World};
use glam::Vec3;
use serde::Deserialize;

/// Soft pins that follow a path.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HoldFile {
    at: Vec<Pick>,
    compliance: Option<AtLeastZero>,
    #[serde(default)]
    looped: bool,
    #[serde(default)]
    keyframes: Vec<HoldKeyFile>,
    skeleton: Option<String>,
    bone: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HoldKeyFile {
    time: Real64,
    offset: Vector,
}

/// Pins particles and hangs others on their paths.
pub(super) fn fasten(
    world: &mut World,
    path: &str,
    built: &Built,
    layout: &dyn Layout,
    pins: &[Pick],
    holds: &[HoldFile],
) -> Result<()> {
    for i in pick(pins, layout, &format!("{path}.pin"))? {
        world.pin(built[i])?;
    }
    let mut held = vec![false; if holds.is_empty() { 0 } else { built.len() }];
    for (k, hold) in holds.iter().enumerate() {
        let field = format!("{path}.hold.{k}");
        let bone = find_bone(world, &field, hold)?;
        let shared = match bone {
            None => Some(add_path(world, &field, hold)?),
            Some(_) => None,
        };
        for i in pick(&hold.at, layout, &format!("{field}.at"))? {
            if std::mem::replace(&mut held[i], true) {
                let message = format!("particle {i} is held twice");
                return Err(Error::value(format!("{field}.at"), message));
            }
            let (Some(slot), Some(target)) =
                (world.particles.slot(built[i]), world.position(built[i]))
            else {
                continue;
            };
            let compliance = hold.compliance.map_or(0.0, |c| c.0);
            let (path, target, bone) = match (shared, bone) {
                (Some(shared), _) => (shared, target, None),
                // Each has a path of its own, which is written before every step.
                (None, bone) => {
                    world.paths.push(Path { keys: vec![(0.0, target)], looped: false });
                    let on = |(skeleton, bone, pose): (SkeletonId, u32, Pose)| OnBone {
                        skeleton,
                        bone,
                        offset: pose.inverse_point(target),
                    };
                    (world.paths.len() as u32 - 1, Vec3::ZERO, bone.map(on))
                }
            };
            // World::hold_on_path would look for an earlier pin each time, which is quadratic for a
            // whole border; `held` has made sure that there is none.
            world.pins.push(Pin {
                particle: slot as u32,
                target,
                path: Some(path),
                bone,
                stiffness: 1.0,
                compliance,
                lambda: 0.0,
            });
        }
    }
    Ok(())
}

/// The bone that a hold names, and where it is.
fn find_bone(
    world: &World,
    field: &str,
    hold: &HoldFile,
) -> Result<Option<(SkeletonId, u32, Pose)>> {
    let (skeleton, bone) = match (&hold.skeleton, &hold.bone) {
        (None, None) => return Ok(None),
        (Some(skeleton), Some(bone)) => (skeleton, bone),
        (Some(_), None) => {
            let message = "is needed with `skeleton`: the name of a bone of it";
            return Err(Error::value(format!("{field}.bone"), message));
        }
        (None, Some(_)) => {
            let message = "is needed with `bone`: the name of a [[skeleton]]";
            return Err(Error::value(format!("{field}.skeleton"), message));
        }
    };
    if !hold.keyframes.is_empty() {
        let message = "give keyframes or a bone, not both: the bone says where it goes";
        return Err(Error::value(format!("{field}.keyframes"), message));
    }
    let Some((id, character)) = world.skeletons().find(|(_, c)| c.name == *skeleton) else {
        let known = world.skeletons().map(|(_, c)| c.name.as_str());
        let message =
            format!("there is no [[skeleton]] called `{skeleton}`; {}", instead(skeleton, known));
        return Err(Error::value(format!("{field}.skeleton"), message));
    };
    let found = character.rig.skeleton.find(bone);
    match found.and_then(|bone| Some((id, bone, character.bone_at(bone, world.time())?))) {
        Some(found) => Ok(Some(found)),
        None => {
            let known = character.rig.skeleton.bones.iter().map(|bone| bone.name.as_str());
            let message = format!("`{skeleton}` has no bone `{bone}`; {}", instead(bone, known));
            Err(Error::value(format!("{field}.bone"), message))
        }
    }
}

fn add_path(world: &mut World, field: &str, hold: &HoldFile) -> Result<u32> {
    let mut keys: Vec<_> = hold.keyframes.iter().map(|k| (k.time.0, k.offset.0)).collect();
    if let Some(i) = keys.windows(2).position(|w| w[1].0 <= w[0].0) {
        return Err(Error::value(
            format!("{field}.keyframes.{}.time", i + 1),
            "expected a time after the keyframe before it",
        ));
    }
    if keys.is_empty() {
        keys.push((0.0, Vec3::ZERO));
    }
    world.paths.push(Path { keys, looped: hold.looped });
    Ok(world.paths.len() as u32 - 1)
}
