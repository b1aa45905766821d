//! Stages of `catch_wind`, and the layout of `surfaces` and `winds`.
//!
//! Words of `surfaces`: 0 how many entries there are. From 4 on, n particles: where the fan of each
//! begins and, behind these, how many entries it has; behind those the entries, two words each: the
//! corners that follow the particle in a triangle. A sort moves the first two with their particle and
//! gives the slots in entries anew, so a fan may begin anywhere. Where no pass goes over
//! triangles there are no entries, and nothing else either.
//!
//! Words of `winds`: 0 how many. From 4 on 16 words each: 0 velocity, 3 density / 12, 4 drag and 5
//! lift, 6 speed of the gusts, 7 cells in a metre, 8 whether it has a region, 9 its low and 12 its
//! high corner. Then the gusts, 8 words each, by substep and wind: 0 the cell at the origin, 3 the
//! layer of time, 4 how far the cells were carried, 7 how much there is of the next layer.

use super::{Groups, Stage};
use crate::step::{Dispatch, Part};
use crate::vulkan::layout::surfaces as words;
use crate::vulkan::plan::Plan;
use crate::world::{Fans, World};
use words::{FANS, GUST_WORDS, WIND_WORDS, WINDS};

pub(super) fn stages(dispatch: &Dispatch, _: &Plan, out: &mut Vec<Stage>) {
    let Part::Wind(number) = dispatch.part else { return };
    let stage = |entry| Stage::new(entry, Groups::Particles).with([number, 0, 0]);
    out.extend([stage("air"), stage("push")]);
}

/// Words of `surfaces`.
pub(crate) fn fan_words(plan: &Plan) -> usize {
    match plan.fans {
        0 => FANS,
        entries => FANS + 2 * plan.particles + 2 * entries,
    }
}

/// Words of `winds`.
pub(crate) fn wind_words(plan: &Plan) -> usize {
    WINDS + plan.winds * (WIND_WORDS + GUST_WORDS * plan.substeps)
}

/// `surfaces`.
pub(crate) fn encode_fans(world: &World, plan: &Plan, out: &mut [u32]) {
    if plan.fans == 0 {
        return;
    }
    let (fans, n) = (Fans::of(world), plan.particles);
    out[words::ENTRIES] = fans.len() as u32;
    let mut next = 0;
    for slot in 0..n {
        let fan = fans.around(slot);
        (out[FANS + slot], out[FANS + n + slot]) = (next as u32, fan.len() as u32);
        let entries = out[FANS + 2 * n + 2 * next..].chunks_exact_mut(2);
        for (entry, corners) in entries.zip(fan) {
            entry.copy_from_slice(corners);
        }
        next += fan.len();
    }
}

/// `winds` for a step of substeps of `h` seconds from the world's time on.
pub(crate) fn encode_winds(world: &World, plan: &Plan, h: f32, out: &mut [u32]) {
    let count = plan.winds;
    out[words::COUNT] = count as u32;
    let (rows, gusts) = out[WINDS..].split_at_mut(WIND_WORDS * count);
    for ((wind, region), row) in world.surface_winds().zip(rows.chunks_exact_mut(WIND_WORDS)) {
        let air = wind.at(0.0);
        put(&mut row[words::VELOCITY..], &wind.velocity.to_array());
        let numbers = [wind.force_factor(), wind.drag_coefficient, wind.lift_coefficient];
        put(&mut row[words::FACTOR..], &numbers);
        put(&mut row[words::GUST_SPEED..], &[air.gust_speed, air.per_metre]);
        row[words::BOUNDED] = u32::from(region.is_some());
        let [low, high] = region.unwrap_or_default();
        put(&mut row[words::LOW..], &low.to_array());
        put(&mut row[words::HIGH..], &high.to_array());
    }
    // Summed as a step does.
    let mut time = world.time;
    let mut gusts = gusts.chunks_exact_mut(GUST_WORDS);
    for _ in 0..plan.substeps {
        for ((wind, _), row) in world.surface_winds().zip(&mut gusts) {
            let air = wind.at(time);
            row[words::CELL..][..3].copy_from_slice(&air.cell.to_array());
            row[words::LAYER] = air.layer;
            put(&mut row[words::SHIFT..], &air.shift.to_array());
            put(&mut row[words::BLEND..], &[air.blend]);
        }
        time += f64::from(h);
    }
}

fn put(out: &mut [u32], values: &[f32]) {
    for (word, value) in out.iter_mut().zip(values) {
        *word = value.to_bits();
    }
}
