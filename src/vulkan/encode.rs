//! Turns what the host knows into the words of device buffers. That is a world before a step, and
//! also what passes of the CPU left behind, so that a step can go on from there on the device.

use super::layout::{column, globals as g, pins, set as words, state as s};
use super::plan::Plan;
use super::stages;
use crate::cpu::Scratch;
use crate::cpu::contact::tiles::Tiles;
use crate::cpu::remember_contacts;
use crate::cpu::solve::{self, Cache, Caches, Choice};
use crate::cpu::solve_bodies::Softness;
use crate::cpu::team::Team;
use crate::kind::{Stored, Visit};
use crate::pass::Buffer;
use crate::step::{Dispatch, Part};
use crate::world::material::{FlowRow, MaterialPairs, PairRow};
use crate::world::{
    ContactMemory, DensityRule, ForceKind, Integrator, Kind, ListDescription, ListFilter, ListId,
    ListPairs, Method, Params, Phase, World,
};
use glam::{Vec3, Vec4};
use std::borrow::Cow;

/// Encodes a world, and what passes of the CPU made of it, as the words of device buffers.
pub(crate) struct Encoder<'a> {
    pub world: &'a World,
    pub scratch: &'a Scratch,
    pub plan: &'a Plan,
    /// Whose words are wanted, where every list has its own.
    pub list: ListId,
    /// Length of a substep, s.
    pub h: f32,
}

impl Encoder<'_> {
    /// The words of a buffer. `before` is the dispatch that will run next; it decides whose
    /// corrections are wanted.
    pub fn words(&self, buffer: Buffer, before: Option<&Dispatch>) -> Vec<u32> {
        let Encoder { world, scratch, plan, h, list } = *self;
        let mut out = vec![0; plan.words(buffer)];
        let rows = |rows: &[Vec4], out: &mut [u32]| {
            let words: &[u32] = bytemuck::cast_slice(rows);
            let len = words.len().min(out.len());
            out[..len].copy_from_slice(&words[..len]);
        };
        if let (Buffer::ListReference, Some(list)) = (buffer, world.lists.get(list)) {
            rows(&list.reference, &mut out);
            return out;
        }
        if let Some(column) = buffer.column(&world.particles) {
            out.copy_from_slice(column);
            return out;
        }
        match buffer {
            // The pass begins them anew.
            Buffer::Impacts => {}
            Buffer::Points => rows(&scratch.broad.points, &mut out),
            Buffer::Delta => rows(&scratch.delta, &mut out),
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
            Buffer::Bodies
            | Buffer::Links
            | Buffer::BodySums
            | Buffer::BodyPushes
            | Buffer::ImpulseRows
            | Buffer::BodyFields
            | Buffer::BodyPairs
            | Buffer::PairRows
            | Buffer::Touches => {
                stages::bodies::encode(buffer, world, scratch, plan, &mut out);
            }
            Buffer::Pins => self.pins(&mut out),
            Buffer::Materials => return materials(&MaterialPairs::of(world, h)),
            Buffer::Colliders => stages::environment::encode(world, h, &mut out),
            Buffer::Surfaces => stages::surfaces::encode_fans(world, plan, &mut out),
            Buffer::Winds => stages::surfaces::encode_winds(world, plan, h, &mut out),
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
            Buffer::Grips | Buffer::WallGrips => {
                stages::contacts::encode_grips(buffer, self, &mut out);
            }
            Buffer::ContactMemory => {
                stages::contacts::encode_memory(&self.contact_memory(), plan, &mut out);
            }
            Buffer::Lambdas | Buffer::Shores | Buffer::Curls | Buffer::Normals => {
                stages::fluids::encode(buffer, self, &mut out);
            }
            Buffer::PointContacts => stages::points::encode(scratch, plan, &mut out),
            Buffer::GridBucket
            | Buffer::GridSlab
            | Buffer::GridStart
            | Buffer::Neighbors
            | Buffer::ContactRows => stages::lists::encode(buffer, self, &mut out),
            Buffer::Codes | Buffer::RadixNext | Buffer::OctreeNodes | Buffer::BvhNodes => {
                stages::trees::encode(buffer, world, scratch, plan, &mut out);
            }
            set => {
                if let Some(kind) = Kind::held_by(set) {
                    kind.visit(&mut EncodeSet { from: self, out: &mut out });
                }
            }
        }
        out
    }

    /// What `state` holds.
    pub fn state(&self) -> Vec<u32> {
        let Encoder { world, scratch, plan, .. } = *self;
        let mut out = vec![0; s::WORDS];
        out[s::LISTS_SINCE_SORT] = world.lists_since_sort;
        out[s::MEMORY_BEHIND] = (scratch.memory_is_behind && !self.rows_are_gone()).into();
        out[s::MEMORY_PAIRS] = self.contact_memory().pairs() as u32;
        out[s::ENVIRONMENT_USED] = scratch.environment.len() as u32;
        out[s::ENVIRONMENT_LISTED] = scratch.environment.len() as u32;
        out[s::POINTS_USED] = scratch.point_contacts.len() as u32;
        out[s::POINTS_STIRRED] = scratch.stirred;
        stages::lists::encode_state(self, &mut out);
        stages::trees::encode_state(world, scratch, plan, &mut out);
        stages::constraints::encode_state(world, scratch, plan, &mut out);
        out
    }

    /// The CPU's lists are to be made anew: the order of the old rows is not known any more.
    fn rows_are_gone(&self) -> bool {
        self.scratch.stale && !self.scratch.neighbors.built
    }

    /// What contacts hold, as far as the device cannot find it out by itself.
    fn contact_memory(&self) -> Cow<'_, ContactMemory> {
        let Encoder { world, scratch, .. } = *self;
        if !(scratch.memory_is_behind && self.rows_are_gone()) {
            return Cow::Borrowed(&world.contact_memory);
        }
        let mut memory = ContactMemory::default();
        if let Ok(team) = Team::new(1) {
            remember_contacts::write(&team, world, scratch, &mut Vec::new(), &mut memory);
        }
        Cow::Owned(memory)
    }

    /// Pairs, and entries of obstacles, that `contact_memory` holds as the world has it.
    pub fn memory_in_use(&self) -> [usize; 2] {
        let memory = self.contact_memory();
        [memory.pairs(), memory.obstacles()]
    }

    fn set<K: Stored<N>, const N: usize>(&self, out: &mut [u32]) {
        let Encoder { world, plan, h, .. } = *self;
        let set = K::set(&world.sets);
        // Particles that are yet to come are on no row.
        let (rows, n) = (&plan.sets[K::KIND as usize], plan.most);
        let cap = rows.cap;
        let mut cache = Cache::default();
        cache.update(set, &world.params, h);
        cache.update_natural(set);
        cache.update_incidence(set, n);
        let incident_start = words::COLUMNS + (N + column::COUNT) * cap;
        let incident = incident_start + n + 1;
        let incident_live = incident + N * cap;
        let natural = incident_live + n;
        let header = [
            (words::STRIDE, cap),
            (words::CORNERS, N),
            (words::COLORS, rows.colors.len()),
            (words::INCIDENT_START, incident_start),
            (words::INCIDENT, incident),
            (words::INCIDENT_LIVE, incident_live),
            (words::NATURAL, natural),
            (words::NATURAL_LIVE, set.len()),
        ];
        for (word, value) in header {
            out[word] = value as u32;
        }
        for (c, range) in rows.colors.iter().enumerate() {
            out[words::FIRST + c] = range.start as u32;
            out[words::LIVE + c] =
                if c < set.color_count() { set.color_range(c).len() as u32 } else { 0 };
        }
        // Rows may have been closed up since the plan was made: each colour begins where it did.
        let place = |row: usize| {
            let color = (0..set.color_count()).find(|&c| set.color_range(c).contains(&row));
            color.map_or(row, |c| rows.colors[c].start + row - set.color_range(c).start)
        };
        let places: Vec<usize> =
            if set.len() == cap { (0..cap).collect() } else { (0..set.len()).map(place).collect() };
        let mut fill = |k: usize, value: &dyn Fn(usize) -> u32| {
            for (row, &at) in places.iter().enumerate() {
                out[words::COLUMNS + k * cap + at] = value(row);
            }
        };
        for k in 0..N {
            fill(k, &|row| set.corner[k][row]);
        }
        let columns: [(usize, &[f32]); 7] = [
            (column::REST, &set.rest),
            (column::REST_ORIGINAL, &set.rest_original),
            (column::SOFT, &cache.soft),
            (column::BREAK_AT, &set.break_at),
            (column::YIELD_AT, &set.yield_at),
            (column::LAMBDA, &set.lambda),
            (column::BUSIEST, &cache.busiest),
        ];
        for (k, values) in columns {
            fill(N + k, &|row| values[row].to_bits());
        }
        fill(N + column::SERIAL, &|row| set.serial[row]);
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
        let Encoder { world, plan, h, .. } = *self;
        for (i, pin) in world.pins.iter().enumerate() {
            out[pins::COLUMNS + pins::LAMBDA * plan.pins + i] = pin.lambda.to_bits();
        }
        pins_of_step(world, plan, h, out);
    }

    fn corrections(&self, before: Option<&Dispatch>) -> &[Vec4] {
        let kind = before.and_then(|d| match d.part {
            Part::Of(kind) => Some(kind),
            _ => Kind::solved_by(d.pass),
        });
        let cache = kind.and_then(|kind| self.scratch.kinds.get(kind as usize));
        cache.map_or(&[], |cache| &cache.corrections)
    }
}

/// Writes the rows of a kind.
struct EncodeSet<'a> {
    from: &'a Encoder<'a>,
    out: &'a mut [u32],
}

impl Visit for EncodeSet<'_> {
    fn visit<K: Stored<N>, const N: usize>(&mut self) {
        self.from.set::<K, N>(self.out);
    }
}

/// `pins` as a step begins: whom they hold, how softly, and where they pull to in each substep. The
/// multipliers are the device's own.
pub(crate) fn pins_of_step(world: &World, plan: &Plan, h: f32, out: &mut [u32]) {
    let cap = plan.pins;
    (out[pins::COUNT], out[pins::STRIDE]) = (world.pins.len() as u32, cap as u32);
    for (i, pin) in world.pins.iter().enumerate() {
        let soft = match world.params.method {
            Method::Xpbd => pin.compliance / (h * h),
            Method::Pbd => pin.stiffness,
        };
        out[pins::COLUMNS + pins::SLOT * cap + i] = pin.particle;
        out[pins::COLUMNS + pins::SOFT * cap + i] = soft.to_bits();
    }
    let mut time = world.time;
    for substep in 0..plan.substeps {
        let end = time + f64::from(h);
        for (i, pin) in world.pins.iter().enumerate() {
            let targets = pins::COLUMNS + pins::TARGETS * cap;
            let at = targets + 4 * (substep * cap + i);
            let target = world.pin_target(pin, end).extend(0.0).to_array().map(f32::to_bits);
            out[at..at + 4].copy_from_slice(&target);
        }
        time = end;
    }
}

/// `materials`.
pub(crate) fn materials(pairs: &MaterialPairs) -> Vec<u32> {
    let flows = pairs.flows().iter().flat_map(FlowRow::words);
    pairs.rows().iter().flat_map(PairRow::words).chain(flows).collect()
}

/// What `globals` says of a world that changes only when it is edited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Traits {
    tile_per_metre: f32,
    largest_radius: f32,
    /// The contact distance of every pair, where all particles are of one size and kind and every
    /// pair may touch; 0 where pairs differ.
    common_contact: f32,
    /// The law of each stored kind.
    laws: [u32; Kind::SETS.len()],
}

impl Traits {
    pub fn of(world: &World, h: f32) -> Self {
        Traits { laws: laws(world, h), ..Traits::default() }.with_particles_of(world)
    }

    /// The same laws, with the particles as they are now.
    pub fn with_particles_of(self, world: &World) -> Self {
        let (p, particles) = (&world.params, &world.particles);
        let (mut sum, mut largest) = (0.0f64, 0.0f32);
        for &radius in &particles.radius {
            sum += f64::from(radius * p.margin);
            largest = largest.max(radius);
        }
        let mean = sum / particles.len().max(1) as f64;
        Traits {
            tile_per_metre: (1.0 / Tiles::side(mean)) as f32,
            largest_radius: largest,
            common_contact: common_contact(world),
            laws: self.laws,
        }
    }
}

/// The number of each set's law.
fn laws(world: &World, h: f32) -> [u32; Kind::SETS.len()] {
    let mut caches = Caches::default();
    solve::update(&mut caches, world, h);
    caches.map(|cache| match cache.law {
        Choice::Rigid => 0,
        Choice::Compliant => 1,
        Choice::Stiff => 2,
    })
}

/// The list that `globals` describes.
pub(crate) struct Listing<'a> {
    pub description: &'a ListDescription,
    /// It is to be made wherever the particles are.
    pub renew: bool,
}

/// Words of `globals`.
pub(crate) fn globals_words(plan: &Plan) -> usize {
    g::FIELDS + g::FIELD * plan.forces
}

/// What `globals` says of a list.
fn list_words(list: &Listing, traits: &Traits, margin: f32, out: &mut [u32]) {
    let Listing { description, renew } = list;
    let (reach, skin) = (description.reach, description.skin);
    let (span, slack) = (reach.span(skin, margin), reach.slack(skin, margin));
    let numbers = [
        (g::MARGIN, span.per_radius),
        (g::REACH_LENGTH, span.length),
        (g::SLACK, slack.per_radius),
        (g::SLACK_LENGTH, slack.length),
        (g::LARGEST_REACH, span.of(traits.largest_radius)),
    ];
    for (at, value) in numbers {
        out[at] = value.to_bits();
    }
    let everything = description.filter == ListFilter::Everything;
    let [asks_mask, asks_value] = description.asks.words();
    let [found_mask, found_value] = description.found.words();
    let words = [
        (g::RENEW, u32::from(*renew)),
        (g::BOTH, u32::from(description.pairs == ListPairs::Full)),
        (g::CHOOSES, u32::from(everything || description.chooses())),
        (g::EVERYTHING, u32::from(everything)),
        (g::ASKS_MASK, asks_mask),
        (g::ASKS_VALUE, asks_value),
        (g::FOUND_MASK, found_mask),
        (g::FOUND_VALUE, found_value),
    ];
    for (at, value) in words {
        out[at] = value;
    }
}

/// `globals` for a step, as the passes have it that are about a list. All others have that of the
/// contacts.
pub(crate) fn globals(
    world: &World,
    plan: &Plan,
    traits: &Traits,
    h: f32,
    list: &Listing,
) -> Vec<u32> {
    let mut out = vec![0; globals_words(plan)];
    let p: &Params = &world.params;
    list_words(list, traits, p.margin, &mut out);
    let words = [
        (g::PARTICLES, plan.particles as u32),
        (g::INTEGRATOR, u32::from(p.integrator == Integrator::Verlet)),
        (g::METHOD, u32::from(p.method == Method::Xpbd)),
        (g::ROTATION, p.rotation as u32),
        (g::OCTREE_LEAF, p.octree_leaf),
        (g::OCTREE_DEPTH, p.octree_depth),
        (g::BVH_LEAF, p.bvh_leaf),
        (g::BVH_VOLUME, p.bvh_volume as u32),
        (g::FORCES, world.forces.len() as u32),
        (g::MATERIALS, world.materials.count() as u32),
        (g::FLOW_ROWS, (plan.material_words / 2) as u32),
        (g::NEIGHBOR_CAP, plan.room[Buffer::Neighbors] as u32),
        (g::ENVIRONMENT_CAP, plan.room[Buffer::EnvironmentContacts] as u32),
        (g::GRIP_CAP, stages::contacts::grip_cap(plan) as u32),
        (g::POINT_CAP, plan.room[Buffer::PointContacts] as u32),
        (g::PAIR_CAP, plan.room[Buffer::ContactRows] as u32),
        (g::BODY_PAIR_CAP, plan.room[Buffer::BodyPairs] as u32),
        (g::GRID_CAP, plan.buckets() as u32),
        (g::NODE_CAP, plan.room[Buffer::OctreeNodes] as u32),
        (g::TILE_CAP, plan.tiles() as u32),
        (g::FLUID_PULLS, u32::from(p.density_rule == DensityRule::Equal)),
    ];
    for (at, value) in words {
        out[at] = value;
    }
    // One word for each kind, in order.
    out[g::LAW..][..traits.laws.len()].copy_from_slice(&traits.laws);
    let lift = world.lift();
    let softness = Softness::of(p, h);
    // The shortest move of a substep that is taken.
    let sleeping = p.sleeping * h;
    let numbers = [
        (g::H, h),
        (g::INV_H, 1.0 / h),
        (g::GRAVITY, p.gravity.x),
        (g::GRAVITY_Y, p.gravity.y),
        (g::GRAVITY_Z, p.gravity.z),
        (g::KEEP, 1.0 / (1.0 + p.damping * h)),
        (g::OMEGA, p.omega),
        (g::CONTACT_OMEGA, p.contact_omega),
        (g::PUSH_OUT, p.push_out * h),
        (g::RESTITUTION_THRESHOLD, p.restitution_threshold),
        (g::LIFT, lift.x),
        (g::LIFT_Y, lift.y),
        (g::LIFT_Z, lift.z),
        (g::SLEEPING_SQ, sleeping * sleeping),
        (g::RHO, p.rho),
        (g::TILE_PER_METRE, traits.tile_per_metre),
        (g::COMMON_CONTACT, traits.common_contact),
        (g::TORN_SQ, world.torn_sq()),
        (g::FLUID_RELAXATION, p.fluid_relaxation),
        (g::FLUID_PRESSURE, p.fluid_pressure),
        (g::FLUID_SHARE, world.fluid_share(h)),
        (g::BODY_RATE, softness.rate),
        (g::BODY_TAKE, softness.take),
        (g::BODY_EASE, softness.ease),
        (g::BODY_PUSH_OUT, softness.push_out),
        (g::FLUID_VORTICITY, p.fluid_vorticity * h),
    ];
    for (at, value) in numbers {
        out[at] = value.to_bits();
    }
    for (force, field) in world.forces.iter().zip(out[g::FIELDS..].chunks_exact_mut(g::FIELD)) {
        let (kind, v, a, b) = match force.kind {
            ForceKind::Gravity { acceleration } => (0, acceleration, 0.0, 0.0),
            ForceKind::Wind { velocity, drag } => (1, velocity, drag, 0.0),
            ForceKind::Point { center, strength, reach } => (2, center, strength, reach),
            // It has a pass and a buffer of its own, and no acceleration.
            ForceKind::SurfaceWind(_) => (0, Vec3::ZERO, 0.0, 0.0),
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

fn common_contact(world: &World) -> f32 {
    let p = &world.particles;
    let (Some(&radius), Some(&phase)) = (p.radius.first(), p.phase.first()) else { return 0.0 };
    let deciding = Phase::SELF_COLLIDE | Phase::SHAPED | Phase::RIGID;
    let simple = phase & deciding == Phase::SELF_COLLIDE;
    let same = p.radius.iter().all(|&r| r == radius)
        && p.phase.iter().all(|&x| x == phase)
        && p.position.iter().all(|x| x.w > 0.0);
    if simple && same && world.sets.distance.is_empty() { radius + radius } else { 0.0 }
}
