//! Numbers about a world or one of its objects.

use crate::world::{ObjectId, World};
use glam::Vec3;

/// Lowest, highest and mean of something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub low: f64,
    pub high: f64,
    pub mean: f64,
}

impl Spread {
    /// All three are not numbers when there is nothing, or when one value is not a number.
    fn of(values: impl Iterator<Item = f64>) -> Spread {
        let (mut low, mut high, mut sum, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0);
        for value in values {
            low = low.min(value);
            high = high.max(value);
            sum += value;
            count += 1.0;
        }
        let mean = sum / count;
        if mean.is_nan() {
            Spread { low: mean, high: mean, mean }
        } else {
            Spread { low, high, mean }
        }
    }
}

/// Slots of an object's particles, or of all. An object that was removed has none.
pub(super) fn slots(world: &World, object: Option<ObjectId>) -> impl Iterator<Item = usize> + '_ {
    let all = object.is_none().then(|| world.particles.slots_by_id());
    let some = object.and_then(|id| world.object(id).ok()).map(|object| object.particles());
    let some = some.into_iter().flatten().filter_map(|id| world.particles.slot(id));
    all.into_iter().flatten().chain(some)
}

/// Places of the centres along an axis, m.
pub(super) fn along(world: &World, object: Option<ObjectId>, axis: Vec3) -> Spread {
    let at = world.particles.positions();
    let axis = axis.as_dvec3();
    Spread::of(slots(world, object).map(|s| at[s].truncate().as_dvec3().dot(axis)))
}

/// Heights of the centres against gravity, m.
pub(super) fn heights(world: &World, object: Option<ObjectId>) -> Spread {
    along(world, object, world.up())
}

/// Speeds, m/s.
pub(super) fn speeds(world: &World, object: Option<ObjectId>) -> Spread {
    let velocity = world.particles.velocities();
    Spread::of(slots(world, object).map(|s| velocity[s].truncate().as_dvec3().length()))
}

/// How deep a particle reaches into a collider, as a share of its radius; 0 when none does.
pub(super) fn penetration(world: &World, object: Option<ObjectId>) -> f64 {
    let p = &world.particles;
    let moved = |s: &usize| p.positions()[*s].w > 0.0;
    let mut worst = 0.0f64;
    for collider in &world.colliders {
        let pose = collider.pose_at(world.time());
        for s in slots(world, object).filter(moved) {
            let local = pose.inverse_point(p.positions()[s].truncate());
            let radius = p.radii()[s];
            let depth = f64::from((radius - collider.shape.distance(local).0) / radius);
            // Not `max`: what is not a number must stay.
            worst = if depth <= worst { worst } else { depth };
        }
    }
    worst
}

/// How much energy has come in since the start, as a share of what there was above `floor`.
pub(super) fn energy_rise(world: &World, start: f64, floor: f64) -> f64 {
    let p = world.particles.positions();
    let mass: f64 = p.iter().filter(|x| x.w > 0.0).map(|x| 1.0 / f64::from(x.w)).sum();
    let below = mass * f64::from(world.params.gravity.length()) * floor;
    (world.energy() - start) / (start - below).abs().max(1e-9)
}

/// l / l0 - 1 of the distance constraints inside an object.
fn each_strain(world: &World, object: Option<ObjectId>) -> impl Iterator<Item = f64> + '_ {
    let at = world.particles.positions();
    let inside = membership(world, object);
    let edges = world.distance();
    (0..edges.len()).filter_map(move |i| {
        let [a, b] = edges.particles(i).map(|s| s as usize);
        let rest = f64::from(edges.rest()[i]);
        let length = at[a].truncate().as_dvec3().distance(at[b].truncate().as_dvec3());
        (inside[a] && inside[b] && rest > 0.0).then(|| length / rest - 1.0)
    })
}

/// Strains, longer being positive. Nothing is strained in a world without edges.
pub(super) fn strains(world: &World, object: Option<ObjectId>) -> Spread {
    let spread = Spread::of(each_strain(world, object));
    if each_strain(world, object).next().is_some() {
        spread
    } else {
        Spread { low: 0.0, high: 0.0, mean: 0.0 }
    }
}

/// Mean of the strains' sizes.
pub(super) fn mean_strain(world: &World, object: Option<ObjectId>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for strain in each_strain(world, object) {
        sum += strain.abs();
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Parts of at least `size` particles that hang together by distance constraints.
pub(super) fn parts(world: &World, object: Option<ObjectId>, size: usize) -> usize {
    let inside = membership(world, object);
    let mut parent: Vec<u32> = (0..inside.len() as u32).collect();
    fn root(parent: &mut [u32], mut i: u32) -> u32 {
        while parent[i as usize] != i {
            parent[i as usize] = parent[parent[i as usize] as usize];
            i = parent[i as usize];
        }
        i
    }
    for i in 0..world.distance().len() {
        let [a, b] = world.distance().particles(i);
        if inside[a as usize] && inside[b as usize] {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut members = vec![0usize; inside.len()];
    for i in (0..inside.len()).filter(|&i| inside[i]) {
        members[root(&mut parent, i as u32) as usize] += 1;
    }
    members.iter().filter(|&&m| m > 0 && m >= size).count()
}

/// Particles the object was built with that are gone or not finite; not a number when the object
/// itself was removed.
pub(super) fn missing(world: &World, object: Option<ObjectId>) -> f64 {
    let built = match object {
        None => world.objects().map(|(_, object)| object.made_of()).sum(),
        Some(id) => match world.object(id) {
            Ok(object) => object.made_of(),
            Err(_) => return f64::NAN,
        },
    };
    let p = &world.particles;
    let sound = |s: &usize| p.positions()[*s].is_finite() && p.velocities()[*s].is_finite();
    built.saturating_sub(slots(world, object).filter(sound).count()) as f64
}

/// By slot: whether the particle belongs to the object.
pub(super) fn membership(world: &World, object: Option<ObjectId>) -> Vec<bool> {
    let mut inside = vec![false; world.particles().len()];
    for slot in slots(world, object) {
        inside[slot] = true;
    }
    inside
}
