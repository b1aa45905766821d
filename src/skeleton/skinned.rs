//! Meshes that follow bones.

use glam::{DAffine3, DVec3, Vec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Pose;
use crate::{Error, Result};

/// A bone that vertices may follow, with the way from the mesh to its frame at rest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bind {
    /// Number of the bone.
    pub bone: u32,
    /// From the frame of the mesh to that of the bone.
    pub inverse: DAffine3,
}

/// Triangles whose vertices follow a blend of bones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkinnedMesh {
    /// Where vertices are in the frame of the mesh, in the unit of the file.
    pub vertices: Vec<Vec3>,
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The bones that vertices follow.
    pub binds: Vec<Bind>,
    /// Where the weights of each vertex begin, and after the last where they end.
    pub(super) starts: Vec<u32>,
    /// Number of the bind, and its share.
    pub(super) weights: Vec<(u32, f32)>,
}

impl SkinnedMesh {
    /// The binds that a vertex follows, with their shares, which add up to 1.
    pub fn weights(&self, vertex: usize) -> &[(u32, f32)] {
        match (self.starts.get(vertex), self.starts.get(vertex + 1)) {
            (Some(&from), Some(&to)) => &self.weights[from as usize..to as usize],
            _ => &[],
        }
    }

    /// The bone that a vertex follows most.
    pub fn strongest(&self, vertex: usize) -> Option<u32> {
        let most = |a: &(u32, f32), &b: &(u32, f32)| if b.1 > a.1 { b } else { *a };
        let weights = self.weights(vertex);
        let (bind, _) = weights.iter().skip(1).fold(*weights.first()?, |a, b| most(&a, b));
        Some(self.binds.get(bind as usize)?.bone)
    }

    /// Where vertices are in a pose, in the frame of the file: v' = sum of w (bone · inverse bind) v.
    pub fn vertices_in(&self, pose: &Pose) -> Vec<DVec3> {
        let follow = |bind: &Bind| {
            let bone = pose.world.get(bind.bone as usize).copied().unwrap_or(DAffine3::IDENTITY);
            bone * bind.inverse
        };
        let moves: Vec<DAffine3> = self.binds.iter().map(follow).collect();
        let place = |k: usize| {
            let at = self.vertices[k].as_dvec3();
            let part = |&(bind, share): &(u32, f32)| {
                moves[bind as usize].transform_point3(at) * f64::from(share)
            };
            self.weights(k).iter().map(part).sum()
        };
        (0..self.vertices.len()).into_par_iter().with_min_len(1024).map(place).collect()
    }

    /// # Errors
    /// Names the first thing that is not whole. `bones`: how many there are.
    pub(super) fn validate(&self, bones: usize) -> Result<()> {
        let wrong = |field: String, message: &str| Err(Error::value(field, message));
        let count = self.vertices.len();
        if let Some(k) = self.vertices.iter().position(|v| !v.is_finite()) {
            return wrong(format!("vertices.{k}"), "must be finite");
        }
        if let Some(k) = self.triangles.iter().position(|t| t.iter().any(|&i| i as usize >= count))
        {
            return wrong(format!("triangles.{k}"), "names a vertex that is not there");
        }
        for (k, bind) in self.binds.iter().enumerate() {
            if bind.bone as usize >= bones || !bind.inverse.is_finite() {
                return wrong(format!("binds.{k}"), "must be a bone and a finite matrix");
            }
        }
        let ends = self.starts.first() == Some(&0)
            && self.starts.last().is_some_and(|&end| end as usize == self.weights.len());
        let rising = self.starts.windows(2).all(|pair| pair[0] < pair[1]);
        if self.starts.len() != count + 1 || !ends || !rising {
            return wrong("starts".into(), "must lead to the weights of every vertex");
        }
        let legal = |&(bind, share): &(u32, f32)| {
            (bind as usize) < self.binds.len() && share.is_finite() && share >= 0.0
        };
        match self.weights.iter().all(legal) {
            true => Ok(()),
            false => wrong("weights".into(), "must be shares of bones that are there"),
        }
    }
}
