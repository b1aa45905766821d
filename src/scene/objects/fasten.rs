//! Pins and holds: particles of an object that are fixed, or hang on a path.

use super::pick::{Layout, pick};
use crate::error::{Error, Result};
use crate::scene::value::{AtLeastZero, Pick, Real64, Vector};
use crate::world::{Built, Path, Pin, World};
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
        let index = add_path(world, &field, hold)?;
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
            // World::hold_on_path would look for an earlier pin each time, which is quadratic for a
            // whole border; `held` has made sure that there is none.
            world.pins.push(Pin {
                particle: slot as u32,
                target,
                path: Some(index),
                stiffness: 1.0,
                compliance: hold.compliance.map_or(0.0, |c| c.0),
                lambda: 0.0,
            });
        }
    }
    Ok(())
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
