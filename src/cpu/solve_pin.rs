//! Pulls pinned particles to their targets.
//! C = |p - q|, q the target at the end of the substep; both from `position`.
//! Reads: position [m], predicted [m, 1/kg], pins. Writes: predicted, multipliers.
//! Order: a particle has at most one pin, so the order does not matter; one worker takes them all.

use super::Moment;
use super::solve::{Compliant, Law, Stiff};
use crate::world::{Method, World};

pub(crate) fn run(world: &mut World, at: &Moment) {
    let omega = world.params.omega;
    let end = at.time + f64::from(at.h);
    for i in 0..world.pins.len() {
        let pin = &world.pins[i];
        let slot = pin.particle as usize;
        let target = world.pin_target(pin, end) - world.particles.position[slot].truncate();
        let p = world.particles.predicted[slot];
        let d = p.truncate() - target;
        let distance = d.length();
        if distance < 1e-9 {
            continue;
        }
        let (change, valid) = match world.params.method {
            Method::Xpbd => {
                let soft = pin.compliance / (at.h * at.h);
                Compliant::multiplier(distance, p.w, soft, pin.lambda, omega)
            }
            Method::Pbd => Stiff::multiplier(distance, p.w, pin.stiffness, pin.lambda, omega),
        };
        if !valid {
            continue;
        }
        let moved = p.truncate() + d * (p.w * change / distance);
        world.particles.predicted[slot] = moved.extend(p.w);
        world.pins[i].lambda += change;
    }
}
