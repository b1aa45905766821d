//! What the host knows, as the words of a device buffer: a world before a step, and what passes of
//! the CPU left behind, so that a step can go on from there on the device.

use super::layout::{PIN_HEADER, SET_FIRST, SET_HEADER, SET_LIVE, globals as g, state as s};
use super::plan::Plan;
use super::stages;
use crate::cpu::tiles::Tiles;
use crate::cpu::{Cache, Choice, Scratch};
use crate::pass::Buffer;
use crate::step::{Dispatch, Part, Pass};
use crate::world::{
    ConstraintSet, ForceKind, Integrator, Kind, Method, Params, Phase, Solver, World,
};
use glam::Vec4;

/// A state to encode.
pub(crate) struct Image<'a> {
    pub world: &'a World,
    pub scratch: &'a Scratch,
    pub plan: &'a Plan,
    /// Length of a substep, s.
    pub h: f32,
}

impl Image<'_> {
    /// The words of a buffer. `before` is the dispatch that will run next: it decides whose
    /// corrections are wanted.
    pub fn words(&self, buffer: Buffer, before: Option<&Dispatch>) -> Vec<u32> {
        let Image { world, scratch, plan, h } = *self;
        let p = &world.particles;
        let mut out = vec![0; plan.words(buffer)];
        let rows = |rows: &[Vec4], out: &mut [u32]| {
            let words: &[u32] = bytemuck::cast_slice(rows);
            let len = words.len().min(out.len());
            out[..len].copy_from_slice(&words[..len]);
        };
        match buffer {
            Buffer::Position => rows(&p.position, &mut out),
            Buffer::Predicted => rows(&p.predicted, &mut out),
            Buffer::Velocity => rows(&p.velocity, &mut out),
            Buffer::VelocityPrior => rows(&scratch.velocity_prior, &mut out),
            Buffer::Rest => rows(&p.rest, &mut out),
            Buffer::Start => rows(&scratch.start, &mut out),
            Buffer::ListReference => rows(&world.list_reference, &mut out),
            Buffer::Points => rows(&scratch.broad.points, &mut out),
            Buffer::Delta => rows(&scratch.delta, &mut out),
            Buffer::Radius => out.copy_from_slice(bytemuck::cast_slice(&p.radius)),
            Buffer::Phase => out.copy_from_slice(&p.phase),
            Buffer::Sorted => {
                let n = plan.particles;
                let hashed = stages::lists::hashed_order(scratch, before);
                let slots = hashed.as_deref().unwrap_or(scratch.broad.sorted.slots());
                let points = &scratch.broad.points;
                for (k, &slot) in slots.iter().take(n).enumerate() {
                    let Some(point) = points.get(slot as usize) else { break };
                    let point = point.to_array().map(f32::to_bits);
                    out[4 * k..4 * k + 4].copy_from_slice(&point);
                    out[4 * n + k] = slot;
                }
            }
            Buffer::Distance => self.set(&world.distance, 0, &mut out),
            Buffer::Bend => self.set(&world.bend, 1, &mut out),
            Buffer::Volume => self.set(&world.volume, 2, &mut out),
            Buffer::Pins => self.pins(&mut out),
            Buffer::Colliders => stages::environment::encode(world, h, &mut out),
            Buffer::Corrections => rows(self.corrections(before), &mut out),
            Buffer::Iterates => {
                stages::constraints::encode_iterates(world, scratch, plan, &mut out)
            }
            Buffer::EnvironmentContacts => {
                let n = plan.particles;
                // The CPU may have listed more than there is room for on the device.
                let words = 2 * n + 8 * scratch.environment.len();
                out.resize(words.max(out.len()), 0);
                let mut next = 0;
                for i in 0..n.min(scratch.environment.particles()) {
                    let list = scratch.environment.of(i);
                    (out[2 * i], out[2 * i + 1]) = (next as u32, list.len() as u32);
                    for contact in list {
                        let row: [f32; 7] = std::array::from_fn(|k| match k {
                            0..4 => contact.plane[k],
                            _ => contact.motion[k - 4],
                        });
                        let at = 2 * n + 8 * next;
                        out[at..at + 7].copy_from_slice(bytemuck::cast_slice(&row));
                        out[at + 7] = contact.collider;
                        next += 1;
                    }
                }
            }
            Buffer::GridBucket
            | Buffer::GridSlab
            | Buffer::GridStart
            | Buffer::Neighbors
            | Buffer::ContactRows => stages::lists::encode(buffer, world, scratch, plan, &mut out),
            Buffer::Codes | Buffer::RadixNext | Buffer::OctreeNodes | Buffer::BvhNodes => {
                stages::trees::encode(buffer, world, scratch, plan, &mut out);
            }
        }
        out
    }

    /// What `state` holds.
    pub fn state(&self) -> Vec<u32> {
        let Image { world, scratch, plan, .. } = *self;
        let mut out = vec![0; s::WORDS];
        out[s::LIST_FLOOR] = world.list_floor.to_bits();
        out[s::LISTS_SINCE_SORT] = world.lists_since_sort;
        out[s::ENVIRONMENT_USED] = scratch.environment.len() as u32;
        out[s::ENVIRONMENT_LISTED] = scratch.environment.len() as u32;
        stages::lists::encode_state(world, scratch, plan, &mut out);
        stages::trees::encode_state(world, scratch, plan, &mut out);
        stages::constraints::encode_state(world, scratch, plan, &mut out);
        out
    }

    fn set<const N: usize>(&self, set: &ConstraintSet<N>, which: usize, out: &mut [u32]) {
        let Image { world, plan, h, .. } = *self;
        let (rows, n) = (&plan.rows[which], plan.particles);
        let cap = rows.cap;
        let mut cache = Cache::default();
        cache.update(set, &world.params, h);
        cache.update_natural(set);
        cache.update_incidence(set, n);
        let incident_start = SET_HEADER + (N + super::layout::SET_COLUMNS) * cap;
        let incident = incident_start + n + 1;
        let incident_live = incident + N * cap;
        let natural = incident_live + n;
        let header = [cap, N, rows.colors.len(), incident_start, incident, incident_live, natural];
        for (word, value) in out.iter_mut().zip(header) {
            *word = value as u32;
        }
        out[7] = set.len() as u32;
        for (c, range) in rows.colors.iter().enumerate() {
            out[SET_FIRST + c] = range.start as u32;
            out[SET_LIVE + c] =
                if c < set.color_count() { set.color_range(c).len() as u32 } else { 0 };
        }
        // Rows may have been closed up since the plan was made: each colour begins where it did.
        let place = |row: usize| {
            let color = (0..set.color_count()).find(|&c| set.color_range(c).contains(&row));
            color.map_or(row, |c| rows.colors[c].start + row - set.color_range(c).start)
        };
        let places: Vec<usize> =
            if set.len() == cap { (0..cap).collect() } else { (0..set.len()).map(place).collect() };
        let mut column = |k: usize, value: &dyn Fn(usize) -> u32| {
            for (row, &at) in places.iter().enumerate() {
                out[SET_HEADER + k * cap + at] = value(row);
            }
        };
        for k in 0..N {
            column(k, &|row| set.corner[k][row]);
        }
        let columns: [&[f32]; 7] = [
            &set.rest,
            &set.rest_original,
            &cache.soft,
            &set.break_at,
            &set.yield_at,
            &set.lambda,
            &cache.busiest,
        ];
        for (k, values) in columns.into_iter().enumerate() {
            column(N + k, &|row| values[row].to_bits());
        }
        column(N + 7, &|row| set.serial[row]);
        for (p, pair) in cache.incident_start.windows(2).enumerate() {
            out[incident_start + p] = pair[0];
            out[incident_start + p + 1] = pair[1];
            out[incident_live + p] = pair[1] - pair[0];
        }
        for (k, &entry) in cache.incident.iter().enumerate() {
            let (row, corner) = (entry as usize / N, entry as usize % N);
            out[incident + k] = (places[row] * N + corner) as u32;
        }
        for (k, &row) in cache.natural.iter().enumerate() {
            out[natural + k] = places[row as usize] as u32;
        }
    }

    fn pins(&self, out: &mut [u32]) {
        let Image { world, plan, h, .. } = *self;
        let cap = plan.pins;
        (out[0], out[1]) = (world.pins.len() as u32, cap as u32);
        for (i, pin) in world.pins.iter().enumerate() {
            let soft = match world.params.method {
                Method::Xpbd => pin.compliance / (h * h),
                Method::Pbd => pin.stiffness,
            };
            out[PIN_HEADER + i] = pin.particle;
            out[PIN_HEADER + cap + i] = soft.to_bits();
            out[PIN_HEADER + 2 * cap + i] = pin.lambda.to_bits();
        }
        pin_targets(world, plan, h, out);
    }

    fn corrections(&self, before: Option<&Dispatch>) -> &[Vec4] {
        let scratch = self.scratch;
        let kind = before.and_then(|d| match (d.pass, d.part) {
            (_, Part::Of(kind)) => Some(kind),
            (Pass::SolveDistance, _) => Some(Kind::Distance),
            (Pass::SolveBend, _) => Some(Kind::Bend),
            (Pass::SolveVolume, _) => Some(Kind::Volume),
            _ => None,
        });
        match kind {
            Some(Kind::Distance) => &scratch.distance.corrections,
            Some(Kind::Bend) => &scratch.bend.corrections,
            Some(Kind::Volume) => &scratch.volume.corrections,
            _ => &[],
        }
    }
}

/// Where pins pull to in each substep.
pub(crate) fn pin_targets(world: &World, plan: &Plan, h: f32, out: &mut [u32]) {
    let mut time = world.time;
    for substep in 0..plan.substeps {
        let end = time + f64::from(h);
        for (i, pin) in world.pins.iter().enumerate() {
            let at = PIN_HEADER + 3 * plan.pins + 4 * (substep * plan.pins + i);
            let target = world.pin_target(pin, end).extend(0.0).to_array().map(f32::to_bits);
            out[at..at + 4].copy_from_slice(&target);
        }
        time = end;
    }
}

/// What `globals` says of a world that changes only when it is edited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Traits {
    mean_reach: f32,
    tile_per_metre: f32,
    least_reach: f32,
    largest_reach: f32,
    /// Contact distance of every pair where all particles are alike and may touch, else 0.
    alike: f32,
    laws: [u32; 3],
}

impl Traits {
    pub fn of(world: &World, h: f32) -> Self {
        let (p, particles) = (&world.params, &world.particles);
        let (mut sum, mut least, mut largest) = (0.0f64, f32::MAX, 0.0f32);
        for reach in particles.radius.iter().map(|r| r * p.margin) {
            sum += f64::from(reach);
            least = least.min(reach);
            largest = largest.max(reach);
        }
        let mean = sum / particles.len().max(1) as f64;
        Traits {
            mean_reach: mean as f32,
            tile_per_metre: (1.0 / Tiles::side(mean)) as f32,
            least_reach: least,
            largest_reach: largest,
            alike: alike(world),
            laws: [law(&world.distance, p, h), law(&world.bend, p, h), law(&world.volume, p, h)],
        }
    }
}

/// The number of a set's law.
fn law<const N: usize>(set: &ConstraintSet<N>, params: &Params, h: f32) -> u32 {
    let mut cache = Cache::default();
    cache.update(set, params, h);
    match cache.law {
        Choice::Rigid => 0,
        Choice::Compliant => 1,
        Choice::Stiff => 2,
    }
}

/// `globals` for a step.
pub(crate) fn globals(
    world: &World,
    plan: &Plan,
    traits: &Traits,
    h: f32,
    renew: bool,
) -> Vec<u32> {
    let mut out = vec![0; g::FIELDS + g::FIELD * plan.forces];
    let p: &Params = &world.params;
    let gathers = p.solver == Solver::Jacobi;
    let words = [
        (g::PARTICLES, plan.particles as u32),
        (g::INTEGRATOR, u32::from(p.integrator == Integrator::Verlet)),
        (g::SOLVER, p.solver as u32),
        (g::METHOD, u32::from(p.method == Method::Xpbd)),
        (g::OCTREE_LEAF, p.octree_leaf),
        (g::OCTREE_DEPTH, p.octree_depth),
        (g::BVH_LEAF, p.bvh_leaf),
        (g::BVH_START, p.bvh_start as u32),
        (g::BVH_VOLUME, p.bvh_volume as u32),
        (g::BVH_WALK, p.bvh_walk as u32),
        (g::FORCES, world.forces.len() as u32),
        (g::LAW_DISTANCE, traits.laws[0]),
        (g::LAW_BEND, traits.laws[1]),
        (g::LAW_VOLUME, traits.laws[2]),
        (g::BOTH, u32::from(gathers)),
        (g::NEIGHBOR_CAP, plan.room.neighbors as u32),
        (g::ENVIRONMENT_CAP, plan.room.environment as u32),
        (g::PAIR_CAP, plan.room.pairs as u32),
        (g::GRID_CAP, plan.buckets() as u32),
        (g::NODE_CAP, plan.room.nodes as u32),
        (g::TILE_CAP, plan.tiles() as u32),
        (g::RENEW, u32::from(renew)),
        (g::PAIRS_BOUNCE, u32::from(plan.pairs_bounce)),
        (g::EQUAL, u32::from(traits.least_reach == traits.largest_reach)),
    ];
    for (at, value) in words {
        out[at] = value;
    }
    let up = world.up();
    let numbers = [
        (g::H, h),
        (g::INV_H, 1.0 / h),
        (g::GRAVITY, p.gravity.x),
        (g::GRAVITY_Y, p.gravity.y),
        (g::GRAVITY_Z, p.gravity.z),
        (g::KEEP, 1.0 / (1.0 + p.damping * h)),
        (g::OMEGA, p.omega),
        (g::CONTACT_OMEGA, p.contact_omega),
        (g::MARGIN, p.margin),
        (g::STATIC_FRICTION, p.static_friction_used()),
        (g::FRICTION, p.friction),
        (g::RESTITUTION, p.restitution),
        (g::RESTITUTION_THRESHOLD, p.restitution_threshold),
        (g::MASS_SCALE, p.mass_scale),
        (g::UP, up.x),
        (g::UP_Y, up.y),
        (g::UP_Z, up.z),
        (g::SLEEPING_SQ, p.sleeping * p.sleeping),
        (g::RHO, p.rho),
        (g::SLACK, p.margin - 1.0),
        (g::MEAN_REACH, traits.mean_reach),
        (g::TILE_PER_METRE, traits.tile_per_metre),
        (g::LEAST_REACH, traits.least_reach),
        (g::LARGEST_REACH, traits.largest_reach),
        (g::ALIKE, traits.alike),
    ];
    for (at, value) in numbers {
        out[at] = value.to_bits();
    }
    for (force, field) in world.forces.iter().zip(out[g::FIELDS..].chunks_exact_mut(g::FIELD)) {
        let (kind, v, a, b) = match force.kind {
            ForceKind::Gravity { acceleration } => (0, acceleration, 0.0, 0.0),
            ForceKind::Wind { velocity, drag } => (1, velocity, drag, 0.0),
            ForceKind::Point { center, strength, reach } => (2, center, strength, reach),
        };
        let [low, high] = force.region.unwrap_or_default();
        (field[0], field[1]) = (kind, u32::from(force.region.is_some()));
        let numbers = [low.x, low.y, low.z, high.x, high.y, high.z, v.x, v.y, v.z, a, b];
        for (word, number) in field[2..].iter_mut().zip(numbers) {
            *word = number.to_bits();
        }
    }
    out
}

fn alike(world: &World) -> f32 {
    let p = &world.particles;
    let (Some(&radius), Some(&phase)) = (p.radius.first(), p.phase.first()) else { return 0.0 };
    let simple = phase & (Phase::SELF_COLLIDE | Phase::SHAPED) == Phase::SELF_COLLIDE;
    let same = p.radius.iter().all(|&r| r == radius)
        && p.phase.iter().all(|&x| x == phase)
        && p.position.iter().all(|x| x.w > 0.0);
    if simple && same && world.distance.is_empty() { radius + radius } else { 0.0 }
}
