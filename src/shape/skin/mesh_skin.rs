//! The mesh of a body that may tear.

use glam::Vec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::barycentric::plane_of;
use super::bonds::Bonds;
use super::hang::{Hang, Hangs};
use super::nearest;
use super::weighted::weights;
use crate::Result;
use crate::shape::mesh::TriangleMesh;

/// Particles near a vertex that it may hang on.
const NEAR: usize = 16;
/// As few as will do.
const AMONG: [usize; 2] = [8, 16];
/// There are fewer.
const NOBODY: u32 = u32::MAX;

/// A mesh that follows the particles of a body, and opens where the body tears.
///
/// Each vertex is a blend of particles near it that bonds join with the nearest of them. When some
/// of these bonds break, the vertex stays with the nearest and leaves those that are no longer joined
/// with it. Triangles whose corners went with different parts are gone, and so are those at particles
/// that were removed.
///
/// A body that something else than bonds keeps together, such as its shape, never tears
/// ([`MeshSkin::of_whole`]): there each particle counts as joined with every other one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeshSkin {
    /// Whether bonds do not matter.
    whole: bool,
    /// The particles at rest, m.
    points: Vec<Vec3>,
    /// How many bonds each particle had at rest.
    bonds: Vec<u32>,
    /// At rest, m.
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Of each vertex the nearest particles, nearest first.
    near: Vec<[u32; NEAR]>,
    /// What the vertices hang on at rest.
    hangs: Hangs,
    /// Whether the corners of each triangle hung together at rest. Parts of a mesh that are thinner
    /// than a voxel may not.
    held: Vec<bool>,
}

/// A skin as it is worn now: what each vertex hangs on, by slot, and the triangles that are whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worn {
    triangles: Vec<[u32; 3]>,
    hangs: Hangs,
    /// By slot: particles that lost a bond or a neighbour, and those that are joined with them.
    exposed: Vec<u32>,
    torn: bool,
}

impl MeshSkin {
    /// Hangs a mesh on particles; `bonds` says which of them are joined.
    ///
    /// # Errors
    /// When a place is not finite.
    pub fn new(mesh: &TriangleMesh, points: &[Vec3], bonds: &Bonds) -> Result<MeshSkin> {
        MeshSkin::hung(mesh, points, bonds, false)
    }

    /// The skin of a body that stays whole, whatever bonds it has. None when a vertex hangs on
    /// nothing, because the particles are too few or in a line.
    ///
    /// # Errors
    /// When a place is not finite.
    pub fn of_whole(mesh: &TriangleMesh, points: &[Vec3]) -> Result<Option<MeshSkin>> {
        let nobody = Bonds::new(points.len(), std::iter::empty);
        let skin = MeshSkin::hung(mesh, points, &nobody, true)?;
        let hangs = (0..skin.vertices.len()).all(|vertex| skin.hangs.at(vertex).is_some());
        Ok(hangs.then_some(skin))
    }

    fn hung(mesh: &TriangleMesh, points: &[Vec3], bonds: &Bonds, whole: bool) -> Result<MeshSkin> {
        let found = nearest(&mesh.vertices, points, NEAR)?;
        let near = |k: usize| {
            let mut all = [NOBODY; NEAR];
            all.iter_mut().zip(found.of(k)).for_each(|(place, &(i, _))| *place = i);
            all
        };
        let mut skin = MeshSkin {
            whole,
            points: points.to_vec(),
            bonds: (0..points.len()).map(|k| bonds.around(k as u32).len() as u32).collect(),
            vertices: mesh.vertices.clone(),
            triangles: mesh.triangles.clone(),
            near: (0..mesh.vertices.len()).map(near).collect(),
            hangs: Hangs::default(),
            held: Vec::new(),
        };
        let slots: Vec<u32> = (0..points.len() as u32).collect();
        let now = Now { slots: &slots, bonds, whole };
        let hang = |k: usize| skin.hang(k, &now);
        skin.hangs = Hangs::of((0..skin.vertices.len()).into_par_iter().map(hang).collect());
        let held = |corners: &[u32; 3]| skin.holds(corners, &now);
        skin.held = skin.triangles.par_iter().map(held).collect();
        Ok(skin)
    }

    /// How many particles it was made with.
    pub fn particles(&self) -> usize {
        self.points.len()
    }

    /// The skin as it is now. `slots` says where each of its particles is, none for those that are
    /// gone; `bonds` is by slot.
    pub fn worn(&self, slots: &[Option<usize>], bonds: &Bonds) -> Worn {
        let slots: Vec<u32> =
            slots.iter().map(|slot| slot.map_or(NOBODY, |slot| slot as u32)).collect();
        let now = Now { slots: &slots, bonds, whole: self.whole };
        let lost = |k: usize| match slots[k] {
            NOBODY => true,
            slot => !self.whole && bonds.around(slot).len() as u32 != self.bonds[k],
        };
        let lost: Vec<bool> = (0..self.points.len()).map(lost).collect();
        if !lost.contains(&true) {
            let hangs = self.hangs.renamed(&slots);
            let triangles = self.shown(|_| true);
            return Worn { triangles, hangs, exposed: Vec::new(), torn: false };
        }
        let is_near = |k: usize| people(&self.near[k]).any(|i| lost[i as usize]);
        let changed: Vec<bool> = (0..self.vertices.len()).into_par_iter().map(is_near).collect();
        let hang = |k: usize| match changed[k] {
            true => self.hang(k, &now),
            false => self.hangs.at(k).map(|(weights, height)| (weights.to_vec(), height)),
        };
        let hangs = Hangs::of((0..self.vertices.len()).into_par_iter().map(hang).collect());
        let whole = |k: usize| {
            let corners = &self.triangles[k];
            let is_safe = !self.held[k] || corners.iter().all(|&v| !changed[v as usize]);
            corners.iter().all(|&v| hangs.at(v as usize).is_some())
                && (is_safe || self.holds(corners, &now))
        };
        let whole: Vec<bool> = (0..self.triangles.len()).into_par_iter().map(whole).collect();
        let triangles = self.shown(|k| whole[k]);
        let lost = lost.iter().zip(&slots).filter(|(lost, slot)| **lost && **slot != NOBODY);
        let around = |(_, &slot): (&bool, &u32)| bonds.around(slot).iter().copied().chain([slot]);
        let mut exposed: Vec<u32> = lost.flat_map(around).collect();
        exposed.sort_unstable();
        exposed.dedup();
        Worn { triangles, hangs: hangs.renamed(&slots), exposed, torn: true }
    }

    /// Triangles with corners that hang on something.
    fn shown(&self, is_whole: impl Fn(usize) -> bool) -> Vec<[u32; 3]> {
        let hangs = |&v: &u32| self.hangs.at(v as usize).is_some();
        let shown = self.triangles.iter().enumerate();
        let shown = shown.filter(|(k, corners)| corners.iter().all(hangs) && is_whole(*k));
        shown.map(|(_, &corners)| corners).collect()
    }

    /// What a vertex hangs on: of the particles near it those that are joined with the nearest one,
    /// directly or through others of them. Nothing, when that one is gone.
    fn hang(&self, vertex: usize, now: &Now) -> Option<Hang> {
        people(&self.near[vertex]).next().filter(|&i| now.lives(i))?;
        let near: Vec<u32> = people(&self.near[vertex]).filter(|&i| now.lives(i)).collect();
        let joined = now.joined_with_first(&near);
        let at = self.vertices[vertex];
        let far: Vec<(u32, f32)> =
            joined.iter().map(|&i| (i, at.distance(self.points[i as usize]))).collect();
        let blend = |among: usize| weights(at, &far[..among.min(far.len())], &self.points);
        let blended = AMONG.into_iter().filter(|_| far.len() > 3).find_map(blend);
        blended.map(|weights| (weights, 0.0)).or_else(|| plane_of(at, &joined, &self.points))
    }

    /// Whether the corners of a triangle hang on one part of the body.
    fn holds(&self, corners: &[u32; 3], now: &Now) -> bool {
        let first = |v: u32| people(&self.near[v as usize]).next().filter(|&i| now.lives(i));
        let [Some(a), Some(b), Some(c)] = corners.map(first) else {
            return false;
        };
        let touch = |a: u32, b: u32| a == b || now.joined(a, b);
        if [touch(a, b), touch(b, c), touch(c, a)].iter().filter(|t| **t).count() >= 2 {
            return true;
        }
        let mut all = vec![a];
        for &corner in corners {
            for particle in people(&self.near[corner as usize]).filter(|&i| now.lives(i)) {
                if !all.contains(&particle) {
                    all.push(particle);
                }
            }
        }
        let joined = now.joined_with_first(&all);
        joined.contains(&b) && joined.contains(&c)
    }

    /// Checks what a snapshot may have broken.
    pub(crate) fn is_sound(&self) -> bool {
        let (count, vertices) = (self.points.len() as u32, self.vertices.len());
        self.bonds.len() == self.points.len()
            && self.points.iter().chain(&self.vertices).all(|p| p.is_finite())
            && self.triangles.iter().flatten().all(|&v| (v as usize) < vertices)
            && self.near.len() == vertices
            && self.near.iter().flatten().all(|&i| i < count || i == NOBODY)
            && self.held.len() == self.triangles.len()
            && self.hangs.are_sound(vertices, count)
    }
}

fn people(near: &[u32; NEAR]) -> impl Iterator<Item = u32> + '_ {
    near.iter().copied().take_while(|&i| i != NOBODY)
}

/// Where the particles of a skin are, and who is joined with whom.
struct Now<'a> {
    slots: &'a [u32],
    bonds: &'a Bonds,
    /// Whether everybody is joined with everybody.
    whole: bool,
}

impl Now<'_> {
    fn lives(&self, particle: u32) -> bool {
        self.slots[particle as usize] != NOBODY
    }

    fn joined(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|k| self.slots[k as usize]);
        self.whole || self.bonds.around(a).contains(&b)
    }

    /// Those of some living particles that are joined with the first of them, in their order.
    fn joined_with_first(&self, among: &[u32]) -> Vec<u32> {
        let mut reached = vec![false; among.len()];
        let mut next = Vec::with_capacity(among.len());
        if !among.is_empty() {
            reached[0] = true;
            next.push(0);
        }
        while let Some(from) = next.pop() {
            for to in 0..among.len() {
                if !reached[to] && self.joined(among[from], among[to]) {
                    reached[to] = true;
                    next.push(to);
                }
            }
        }
        among.iter().zip(reached).filter(|(_, reached)| *reached).map(|(&i, _)| i).collect()
    }
}

impl Worn {
    /// The triangles that are whole, by vertex.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Whether something of it tore, so that the inside may be seen.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// The slots of particles that may be seen where it tore: those that lost a bond, and those that
    /// are joined with them.
    pub fn exposed(&self) -> &[u32] {
        &self.exposed
    }

    /// How many vertices it has, those without triangles included.
    pub fn len(&self) -> usize {
        self.hangs.len()
    }

    /// Whether it has no vertices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the vertices are, m, when the particle of each slot is where `at` says. Vertices that
    /// hang on nothing are at the origin; no triangle has them.
    pub fn vertices(&self, at: impl Fn(usize) -> Vec3 + Sync) -> Vec<Vec3> {
        let place = |k: usize| self.hangs.place(k, &at).unwrap_or_default();
        (0..self.len()).into_par_iter().with_min_len(1024).map(place).collect()
    }

    /// The slot of the particle that a vertex is nearest to; none when it hangs on nothing.
    pub fn nearest(&self, vertex: usize) -> Option<usize> {
        self.hangs.at(vertex).and_then(|(weights, _)| Some(weights.first()?.0 as usize))
    }

    /// The slots that a vertex hangs on, with their weights, which add up to 1.
    pub fn weights(&self, vertex: usize) -> &[(u32, f32)] {
        self.hangs.at(vertex).map_or(&[], |(weights, _)| weights)
    }
}
