//! Bones, and where they are.

use glam::{DAffine3, DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::Clip;
use crate::{Error, Result};

/// A place in the frame of a parent: scaled, then turned, then moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transform {
    /// In the unit of the file.
    pub translation: DVec3,
    /// Of unit length.
    pub rotation: DQuat,
    /// Factors along the three axes.
    pub scale: DVec3,
}

impl Transform {
    /// Where the parent is.
    pub const IDENTITY: Transform =
        Transform { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };

    /// The same as a matrix.
    pub fn affine(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    pub(super) fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }
}

/// A bone in its rest pose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bone {
    /// As the file has it; may be empty.
    pub name: String,
    /// Whom it hangs on. A parent comes before its children.
    pub parent: Option<u32>,
    /// Where it is at rest, in the frame of its parent.
    pub rest: Transform,
    /// Where it ends in its own frame, when the file says so and no child does.
    pub tip: Option<DVec3>,
}

/// Bones, parents before their children.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Skeleton {
    /// The bones.
    pub bones: Vec<Bone>,
}

/// Where every bone of a skeleton is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pose {
    /// In the frame of the parent.
    pub local: Vec<Transform>,
    /// From the frame of the bone to that of the file.
    pub world: Vec<DAffine3>,
    /// How the bone is turned in the frame of the file. Scales have no part in it.
    pub turn: Vec<DQuat>,
}

impl Skeleton {
    /// The pose of a clip at a time of that clip, s; without one, or for bones that it does not move,
    /// the rest pose.
    pub fn pose(&self, clip: Option<&Clip>, time: f64) -> Pose {
        let mut local: Vec<Transform> = self.bones.iter().map(|bone| bone.rest).collect();
        if let Some(clip) = clip {
            clip.sample(time, &mut local);
        }
        self.placed(local)
    }

    /// The pose in which bones are in these places in the frames of their parents. Bones without a
    /// place are at rest.
    pub fn placed(&self, mut local: Vec<Transform>) -> Pose {
        let given = local.len();
        local.truncate(self.bones.len());
        local.extend(self.bones.iter().skip(given).map(|bone| bone.rest));
        let mut world: Vec<DAffine3> = Vec::with_capacity(local.len());
        let mut turn: Vec<DQuat> = Vec::with_capacity(local.len());
        for (bone, own) in self.bones.iter().zip(&local) {
            // A parent comes first; what says otherwise does not pass `validate`.
            let parent = bone.parent.map(|p| p as usize).filter(|&p| p < world.len());
            world.push(parent.map_or(own.affine(), |p| world[p] * own.affine()));
            turn.push(parent.map_or(own.rotation, |p| turn[p] * own.rotation));
        }
        Pose { local, world, turn }
    }

    /// From where to where each bone goes, in its own frame: from its origin to the origin of each of
    /// its children, or to its tip. Bones that end where they begin are left out.
    pub fn segments(&self) -> Vec<(u32, DVec3)> {
        let child = |(_, bone): (usize, &Bone)| Some((bone.parent?, bone.rest.translation));
        let tip = |(k, bone): (usize, &Bone)| Some((k as u32, bone.tip?));
        let all = self.bones.iter().enumerate();
        let mut segments: Vec<(u32, DVec3)> =
            all.clone().filter_map(child).chain(all.filter_map(tip)).collect();
        segments.retain(|(_, end)| end.length_squared() > 0.0);
        // Stable: the children of a bone stay in their order.
        segments.sort_by_key(|&(bone, _)| bone);
        segments
    }

    /// How long each bone is at rest, in the unit of the file: to its furthest child or its tip. A bone
    /// without either has no length.
    pub fn lengths(&self) -> Vec<f64> {
        let rest = self.pose(None, 0.0);
        let mut lengths = vec![0.0; self.bones.len()];
        for (bone, end) in self.segments() {
            let length = rest.world[bone as usize].transform_vector3(end).length();
            lengths[bone as usize] = f64::max(lengths[bone as usize], length);
        }
        lengths
    }

    /// The number of the bone of this name.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.bones.iter().position(|bone| bone.name == name).map(|k| k as u32)
    }

    /// # Errors
    /// Names the first bone whose parent does not come before it or whose place is not finite.
    pub(super) fn validate(&self) -> Result<()> {
        for (k, bone) in self.bones.iter().enumerate() {
            let field = |what: &str| format!("bones.{k}.{what}");
            if bone.parent.is_some_and(|parent| parent as usize >= k) {
                return Err(Error::value(field("parent"), "must come before the bone"));
            }
            if !bone.rest.is_finite() || bone.tip.is_some_and(|tip| !tip.is_finite()) {
                let message = format!("{:?} has a place that is not finite", bone.name);
                return Err(Error::value(field("rest"), message));
            }
        }
        Ok(())
    }
}

/// A matrix as what was done one after the other; none when it cannot be: a plane or a shear.
pub(super) fn taken_apart(matrix: DAffine3) -> Option<Transform> {
    let [x, y, z] = matrix.matrix3.to_cols_array_2d().map(DVec3::from);
    let mirrored = x.cross(y).dot(z) < 0.0;
    let scale = DVec3::new(if mirrored { -x.length() } else { x.length() }, y.length(), z.length());
    if !scale.is_finite() || scale.abs().min_element() < 1e-12 {
        return None;
    }
    let axes = DMat3::from_cols(x / scale.x, y / scale.y, z / scale.z);
    let shear = axes.x_axis.dot(axes.y_axis).abs().max(axes.y_axis.dot(axes.z_axis).abs());
    if shear.max(axes.z_axis.dot(axes.x_axis).abs()) > 1e-3 {
        return None;
    }
    let rotation = DQuat::from_mat3(&axes).normalize();
    Some(Transform { translation: matrix.translation, rotation, scale })
}
