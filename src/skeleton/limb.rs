//! Capsules that stand for bones.

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::{Rig, Skeleton, SkinnedMesh};

/// Without a mesh a limb is as thick as this share of the height of the skeleton, and at most as half
/// of its length.
const THICKNESS: f64 = 0.03;
/// This share of the vertices of a bone lies within the radius of its limb.
const INSIDE: f64 = 0.95;
/// A bone with fewer vertices of its own has no limb.
const FEWEST: usize = 4;

/// A capsule that goes with a bone. A bone may have several, or none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limb {
    /// Number of the bone.
    pub bone: u32,
    /// Its middle from the origin of the bone, in the axes of the bone and the unit of the file. Scales
    /// of the bone at rest are in it already.
    pub centre: DVec3,
    /// From the axes of the capsule, which lies along y, to those of the bone.
    pub turn: DQuat,
    /// In the unit of the file.
    pub radius: f64,
    /// Half the length of the straight part; 0 for a ball.
    pub half_height: f64,
}

impl Rig {
    /// A capsule for each bone: around the vertices that follow it most, or without a mesh one for each
    /// of its segments ([`Skeleton::segments`]). `radius`, in the unit of the file, is the thickness of
    /// limbs without a mesh.
    pub fn limbs(&self, radius: Option<f64>) -> Vec<Limb> {
        match &self.mesh {
            Some(mesh) => around_vertices(&self.skeleton, mesh),
            None => along_segments(&self.skeleton, radius),
        }
    }
}

fn along_segments(skeleton: &Skeleton, radius: Option<f64>) -> Vec<Limb> {
    let rest = skeleton.pose(None, 0.0);
    let ends: Vec<(u32, DVec3)> = skeleton
        .segments()
        .into_iter()
        .map(|(bone, end)| {
            // In the axes of the bone, but as long as it is in the file.
            let way = rest.world[bone as usize].transform_vector3(end);
            (bone, rest.turn[bone as usize].inverse() * way)
        })
        .collect();
    let places = rest.world.iter().map(|bone| bone.translation);
    let tips = ends.iter().map(|&(bone, end)| {
        let bone = bone as usize;
        rest.world[bone].translation + rest.turn[bone] * end
    });
    let (low, high) = places
        .chain(tips)
        .fold((DVec3::MAX, DVec3::MIN), |(low, high), at| (low.min(at), high.max(at)));
    let usual = THICKNESS * (high - low).max_element();
    let limb = |&(bone, end): &(u32, DVec3)| {
        let length = end.length();
        let radius = radius.unwrap_or(usual).min(0.5 * length);
        let turn = DQuat::from_rotation_arc(DVec3::Y, end / length);
        Limb { bone, centre: 0.5 * end, turn, radius, half_height: 0.5 * length - radius }
    };
    ends.iter().filter(|(_, end)| end.length() > 1e-9).map(limb).collect()
}

fn around_vertices(skeleton: &Skeleton, mesh: &SkinnedMesh) -> Vec<Limb> {
    let rest = skeleton.pose(None, 0.0);
    let mut own: Vec<Vec<DVec3>> = vec![Vec::new(); skeleton.bones.len()];
    for (k, place) in mesh.vertices_in(&rest).into_iter().enumerate() {
        if let Some(bone) = mesh.strongest(k).map(|bone| bone as usize) {
            own[bone].push(rest.turn[bone].inverse() * (place - rest.world[bone].translation));
        }
    }
    let limb =
        |(bone, places): (usize, &Vec<DVec3>)| Some(Limb { bone: bone as u32, ..around(places)? });
    own.iter().enumerate().filter_map(limb).collect()
}

/// The capsule along the longest axis of places; none for a few, or where all are one.
fn around(places: &[DVec3]) -> Option<Limb> {
    if places.len() < FEWEST {
        return None;
    }
    let mean = places.iter().sum::<DVec3>() / places.len() as f64;
    let along = longest_axis(places, mean)?;
    let height = |place: &DVec3| (*place - mean).dot(along);
    let (low, high) = places
        .iter()
        .map(height)
        .fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at), high.max(at)));
    let mut away: Vec<f64> =
        places.iter().map(|place| (*place - mean - along * height(place)).length()).collect();
    let inside = ((away.len() as f64 * INSIDE) as usize).min(away.len() - 1);
    let radius = *away.select_nth_unstable_by(inside, f64::total_cmp).1;
    // A flat bone is a ball as long as it is.
    let radius = if radius > 0.0 { radius } else { 0.5 * (high - low) };
    Some(Limb {
        bone: 0,
        centre: mean + along * (0.5 * (low + high)),
        turn: DQuat::from_rotation_arc(DVec3::Y, along),
        radius,
        half_height: (0.5 * (high - low) - radius).max(0.0),
    })
}

/// Where places are spread the most, by repeated multiplication with their moments.
fn longest_axis(places: &[DVec3], mean: DVec3) -> Option<DVec3> {
    let moments = places.iter().fold(DMat3::ZERO, |sum, place| {
        let r = *place - mean;
        sum + DMat3::from_cols(r * r.x, r * r.y, r * r.z)
    });
    let widest = [moments.x_axis, moments.y_axis, moments.z_axis]
        .into_iter()
        .max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))?;
    let mut axis = widest.try_normalize()?;
    for _ in 0..100 {
        axis = (moments * axis).try_normalize()?;
    }
    Some(axis)
}
