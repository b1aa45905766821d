//! What sinks take and emitters send at the beginning of a step, at time t.
//!
//! A layer, or a particle where a rate is given, leaves the nozzle each time its period has gone by
//! while the tap flowed. It left a time a before t, so it begins at outlet + a v + a² g / 2 with the
//! velocity v + a g, as if it had fallen freely since.
//!
//! Who comes takes the slots of those who went, the lowest first; what is left open is filled from the
//! end. So no other particle changes its slot unless there are fewer than before, and ids never do.
//! Reads: position, start [m], phase, sinks, taps. Writes: all columns of particles, contact memory.
//! Order: sinks before taps, each in its order; the host's alone, so deterministic.

use super::{Tap, World};
use crate::table::Buffer;
use crate::world::contact_memory::MemoryRoom;
use crate::world::object::Run;
use crate::world::{GONE, Particle, Particles, Phase};
use glam::Vec3;

/// What a sink leaves alone: all that is part of something.
const BOUND: u32 = Phase::BOUND & !Phase::FLUID;
/// A layer has left when all but this share of its period has gone by: times are sums.
const ROUNDING: f64 = 1e-6;

/// Room to work in: a steady step allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Plumbing {
    /// Slots that were left, in order.
    left: Vec<u32>,
    /// Ids of those who were there, in order.
    ids: Vec<u64>,
    /// Old slot -> new slot.
    map: Vec<u32>,
    memory: MemoryRoom,
    runs: Vec<Run>,
}

/// What happened at the beginning of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flow {
    pub emitted: usize,
    pub sunk: usize,
    /// Taps that wait for room.
    pub waiting: usize,
}

impl Tap {
    /// Counts how long it flowed up to the time `now`.
    pub(super) fn see(&mut self, now: f64) {
        if !self.open {
            let (start, stop) = (self.emitter.start, self.emitter.stop);
            self.idle += (now.min(stop) - self.seen.max(start)).max(0.0);
        }
        self.seen = self.seen.max(now);
    }

    /// Particles that leave together, and the time from one such leaving to the next, s.
    fn beat(&self) -> (usize, f64) {
        let emitter = &self.emitter;
        match emitter.rate {
            Some(rate) => (1, 1.0 / f64::from(rate)),
            None => {
                (self.outlets.len(), 2.0 * f64::from(emitter.radius) / f64::from(emitter.speed))
            }
        }
    }

    /// How long ago the next ones left, s; `None` when they have not.
    fn due(&self) -> Option<f64> {
        let (count, period) = self.beat();
        let next = (self.sent / count as u64 + 1) as f64 * period;
        let ago = self.flowed() - next;
        (ago >= -ROUNDING * period).then_some(ago.max(0.0))
    }

    /// How long it flowed, s.
    fn flowed(&self) -> f64 {
        self.seen.min(self.emitter.stop) - self.emitter.start - self.idle
    }

    /// Which outlet is the next of those that send one particle after the other: all in turn, and
    /// none beside the one before.
    fn outlet(&self) -> usize {
        let count = self.outlets.len() as u64;
        let golden = (0.618 * count as f64) as u64;
        let stride = (golden.max(1)..).find(|&stride| has_no_divisor_with(stride, count));
        (self.sent % count * stride.unwrap_or(1) % count) as usize
    }

    /// Sends what left by the time that was seen, as far as there is `room`.
    fn send(&mut self, gravity: Vec3, room: usize, mut put: impl FnMut(&Self, &Particle)) {
        let (count, _) = self.beat();
        let [ahead, ..] = self.emitter.axes();
        let mut room = room;
        self.waits = false;
        // After its stop it does not flow, but what left goes on.
        let after_stop = (self.seen - self.emitter.stop).max(0.0);
        while let Some(left) = self.due() {
            if count > room {
                // The layer stands at the nozzle until there is room: nothing is lost, and nothing
                // that should have come meanwhile comes all at once.
                self.idle += left;
                self.waits = true;
                return;
            }
            let age = left + after_stop;
            let fall = gravity * (0.5 * age * age) as f32;
            let way = ahead * (f64::from(self.emitter.speed) * age) as f32 + fall;
            let velocity = ahead * self.emitter.speed + gravity * age as f32;
            let first = if count == 1 { self.outlet() } else { 0 };
            for outlet in first..first + count {
                let particle = Particle {
                    position: self.outlets[outlet] + way,
                    velocity,
                    mass: self.emitter.particle_mass(),
                    radius: self.emitter.radius,
                    phase: self.phase,
                };
                put(self, &particle);
            }
            self.sent += count as u64;
            room -= count;
        }
    }
}

fn has_no_divisor_with(a: u64, b: u64) -> bool {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

impl World {
    /// Whether a step may begin with particles that come or go.
    pub(crate) fn has_taps(&self) -> bool {
        !self.taps.is_empty() || self.sinks.iter().any(|sink| sink.open)
    }

    /// How many particles there will be at most, if nobody but the taps adds any.
    pub(crate) fn particles_at_most(&self) -> usize {
        let to_come = self.taps.iter().map(|tap| self.room_of(tap));
        (self.particles.len() + to_come.sum::<usize>()).min(Particles::MOST)
    }

    /// How many particles a tap may still send.
    fn room_of(&self, tap: &Tap) -> usize {
        let there = self.object(tap.object).map_or(0, |object| object.len());
        (tap.emitter.most as usize).saturating_sub(there)
    }

    /// Lets sinks take and emitters send what is due.
    pub(crate) fn flow(&mut self, plumbing: &mut Plumbing) -> Flow {
        self.find_sunk(&mut plumbing.left);
        let sunk = plumbing.left.len();
        if sunk > 0 {
            self.take_out(plumbing);
        }
        let (emitted, reused) = self.emit(&plumbing.left);
        if sunk > 0 {
            self.close_up(plumbing, reused);
        }
        if sunk + emitted > 0 {
            self.particle_revision += 1;
        }
        self.sunk += sunk as u64;
        let waiting = self.taps.iter().filter(|tap| tap.waits).count();
        Flow { emitted, sunk, waiting }
    }

    /// The slots of all that sinks take, in order.
    fn find_sunk(&self, left: &mut Vec<u32>) {
        left.clear();
        let (p, now) = (&self.particles, self.particles.now());
        for sink in self.sinks.iter().filter(|sink| sink.open) {
            let pose = sink.region.pose_at(self.time);
            let shape = &sink.region.shape;
            let is_taken = |slot: &usize| {
                p.phase[*slot] & BOUND == 0
                    && p.position[*slot].w > 0.0
                    && shape.distance(pose.inverse_point(now.of(*slot))).0 < 0.0
            };
            left.extend((0..p.len()).filter(is_taken).map(|slot| slot as u32));
        }
        left.sort_unstable();
        left.dedup();
    }

    /// Forgets who was in the slots that were left.
    fn take_out(&mut self, plumbing: &mut Plumbing) {
        let Plumbing { left, ids, map, runs, .. } = plumbing;
        ids.clear();
        ids.extend(left.iter().map(|&slot| self.particles.id[slot as usize]));
        ids.sort_unstable();
        self.particles.leave(left);
        self.objects.shrink(ids, runs);
        map.clear();
        map.extend(0..self.particles.len() as u32);
        left.iter().for_each(|&slot| map[slot as usize] = GONE);
    }

    /// Puts who comes into the slots that were left, then behind the last. Returns how many came, and
    /// how many of those slots are in use again.
    fn emit(&mut self, left: &[u32]) -> (usize, usize) {
        let mut emitted = 0;
        self.particles.make_room(self.particles_at_most());
        let mut taps = std::mem::take(&mut self.taps);
        for tap in &mut taps {
            tap.see(self.time);
            let open = left.len().saturating_sub(emitted);
            let room = self.room_of(tap).min(Particles::MOST + open - self.particles.len());
            let gravity = self.params.gravity;
            tap.send(gravity, room, |tap, particle| {
                let p = &mut self.particles;
                let slot = left.get(emitted).map_or(p.len(), |&slot| slot as usize);
                let id = p.put(slot, particle, tap.material);
                self.objects.grow(tap.object, id);
                self.changes.mark_slot(slot);
                emitted += 1;
            });
        }
        self.taps = taps;
        (emitted, emitted.min(left.len()))
    }

    /// Fills the slots that are still open from the end, and lets all follow that go by slots.
    fn close_up(&mut self, plumbing: &mut Plumbing, reused: usize) {
        let Plumbing { left, map, memory, .. } = plumbing;
        let mut open = &left[reused..];
        let mut moved_bound = false;
        while let (Some(&lowest), Some(&highest)) = (open.first(), open.last()) {
            let end = self.particles.len() - 1;
            if highest as usize == end {
                self.particles.cut_rows(end);
                open = &open[..open.len() - 1];
                continue;
            }
            let slot = lowest as usize;
            self.particles.settle(slot);
            self.changes.mark_slot(slot);
            map[end] = lowest;
            moved_bound |= self.particles.phase[slot] & BOUND != 0;
            open = &open[1..];
        }
        let count = self.particles.len();
        self.contact_memory.remap_in(map, count, memory);
        let pins = self.pins.len();
        self.pins.retain_mut(|pin| {
            pin.particle = map[pin.particle as usize];
            pin.particle != GONE
        });
        if self.pins.len() < pins {
            self.forget_paths();
        }
        // What holds particles together, and what they are parts of, was left alone by the sinks.
        if !moved_bound {
            self.sets.all_mut().into_iter().for_each(|rows| rows.cut_slots(count));
        } else {
            for rows in self.sets.all_mut() {
                rows.remap(map, count);
            }
            self.bodies.remap(map, &self.particles);
            self.changes.mark_whole(Buffer::Surfaces);
        }
    }
}
