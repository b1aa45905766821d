//! A moment of the simulation on disk: particles and obstacles for other programs, and the state to
//! go on from, all of the same step.

use crate::commands::export::write_obstacles;
use crate::viewer::names;
use motes::export::{Format, write_skins_as, write_world_as};
use motes::{World, snapshot};

/// Writes them, and says where.
pub fn write(world: &World, spec: &str) -> motes::Result<String> {
    let step = world.step_count();
    let endings = ["ply", "obstacles.ply", "skin.ply", "motes"];
    let [particles, obstacles, skins, state] = names::free(spec, step, endings);
    write_world_as(&particles, Format::Ply, world)?;
    let mut said = format!("{spec}, step {step}: particles exported to {}", particles.display());
    if !world.colliders.is_empty() {
        write_obstacles(&obstacles, Format::Ply, world)?;
        said += &format!(", obstacles to {}", obstacles.display());
    }
    if write_skins_as(&skins, Format::Ply, world)? {
        said += &format!(", meshes of bodies to {}", skins.display());
    }
    snapshot::save(&state, spec, world)?;
    Ok(format!("{said}, state saved as {}", state.display()))
}
