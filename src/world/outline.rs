//! The shape that a body was cut out of a lattice as: what its surface would be without the steps of
//! the lattice.

use super::Solid;
use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// A shape, and where it was when the body was made.
///
/// ```
/// use glam::Vec3;
/// use motes::{Lattice, Solid, World};
/// let mut world = World::new();
/// let ball = Lattice { solid: Solid::Sphere, center: Vec3::Y, ..Lattice::default() };
/// let ball = world.add_lattice(&ball)?;
/// let outline = world.object(ball.object)?.surface().outline().expect("it is round");
/// let top = outline.place(Vec3::Y);
/// assert!((top - Vec3::new(0.0, 1.35, 0.0)).length() < 1e-6);
/// assert!((outline.locate(top) - Vec3::Y).length() < 1e-6);
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Which shape.
    pub solid: Solid,
    /// Its middle, m.
    pub center: Vec3,
    /// Its orientation.
    pub rotation: Quat,
    /// From the middle to the outermost points of the lattice along its own axes, m.
    pub half: Vec3,
}

impl Outline {
    /// A point with each axis of the lattice scaled to -1..1.
    pub fn locate(&self, point: Vec3) -> Vec3 {
        let own = self.rotation.inverse() * (point - self.center);
        // A lattice of one layer has no extent there.
        Vec3::select(self.half.cmpgt(Vec3::ZERO), own / self.half, Vec3::ZERO)
    }

    /// The point that [`Outline::locate`] was given.
    pub fn place(&self, unit: Vec3) -> Vec3 {
        self.center + self.rotation * (unit * self.half)
    }
}
