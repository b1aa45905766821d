//! What can be put into the running scene, and where.

use glam::{Quat, Vec3};

/// What is placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    #[default]
    Box,
    Ball,
    Cylinder,
    Torus,
    Cloth,
    /// Loose particles.
    Grains,
    /// A soft body of the voxels of a mesh.
    SoftMesh,
    /// A block that keeps its shape.
    Block,
    /// A mesh that keeps its shape.
    Body,
    /// An obstacle: nothing moves it.
    Mesh,
}

impl What {
    pub const ALL: [(What, &'static str); 10] = [
        (What::Box, "soft box"),
        (What::Ball, "soft ball"),
        (What::Cylinder, "soft cylinder"),
        (What::Torus, "soft torus"),
        (What::Cloth, "cloth"),
        (What::Grains, "grains"),
        (What::SoftMesh, "soft mesh"),
        (What::Block, "rigid block"),
        (What::Body, "rigid mesh"),
        (What::Mesh, "mesh (fixed)"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(what, _)| *what == self).map_or("", |(_, name)| name)
    }
}

/// A new object or obstacle for the running scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    pub what: What,
    /// Centre; of a mesh its origin, m.
    pub position: Vec3,
    /// About x, then y, then z, degrees.
    pub rotation: Vec3,
    /// Voxels along the longest side of a mesh that is made into particles.
    pub resolution: u32,
    /// Whether voxels deep inside a rigid mesh become larger ones.
    pub merge: bool,
    /// How far a rigid body may be stretched, 0 to 1, and how it comes back, m/N.
    pub stretch: f32,
    pub softness: f32,
    /// Particles along each side.
    pub counts: [u32; 3],
    /// Distance between particles, m.
    pub spacing: f32,
    /// Of the whole object, kg.
    pub mass: f32,
    /// m/N.
    pub compliance: f32,
    /// PBD stiffness, 0 to 1.
    pub stiffness: f32,
    /// Strain beyond which it breaks; 0 for never.
    pub break_at: f32,
    /// The collision group; none for one of its own.
    pub group: Option<u32>,
    pub self_collide: bool,
    /// A mesh by its name.
    pub builtin: &'static str,
    /// A mesh by its file, which goes before the name unless it is empty.
    pub file: String,
    /// Times the size the mesh was made with.
    pub scale: f32,
}

impl Default for Placement {
    fn default() -> Self {
        Placement {
            what: What::Box,
            position: Vec3::Y,
            rotation: Vec3::ZERO,
            resolution: 16,
            merge: false,
            stretch: 0.0,
            softness: 0.0,
            counts: [6, 6, 6],
            spacing: 0.06,
            mass: 1.0,
            compliance: 1e-5,
            stiffness: 1.0,
            break_at: 0.0,
            group: None,
            self_collide: false,
            builtin: "rabbit",
            file: String::new(),
            scale: 1.0,
        }
    }
}

impl Placement {
    /// A mesh where its file has it, as an obstacle or, where these numbers are those of a body of a
    /// mesh, as a body with them.
    pub fn of_file(&self, file: &str) -> Self {
        let wanted = match self.what {
            What::SoftMesh | What::Body => self.clone(),
            _ => Placement { what: What::Mesh, ..Placement::default() },
        };
        Placement { position: Vec3::ZERO, rotation: Vec3::ZERO, file: file.into(), ..wanted }
    }

    pub fn turn(&self) -> Quat {
        let [x, y, z] = self.rotation.to_array().map(f32::to_radians);
        Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x)
    }

    /// Whether it is made of a mesh.
    pub fn is_mesh(&self) -> bool {
        matches!(self.what, What::Mesh | What::SoftMesh | What::Body)
    }

    /// Whether it is matched with its shape, and has no constraints of its own.
    pub fn is_body(&self) -> bool {
        matches!(self.what, What::Block | What::Body)
    }

    /// Sides of what is made of particles, from centre to centre, m; a cloth lies flat.
    pub fn size(&self) -> Vec3 {
        let [x, y, z] = self.counts.map(|n| n.saturating_sub(1) as f32);
        Vec3::new(x, if self.what == What::Cloth { 0.0 } else { y }, z) * self.spacing
    }
}
