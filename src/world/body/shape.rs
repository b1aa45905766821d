//! What a body is made of: particles in its own frame.

use super::MadeOf;
use crate::error::{Error, Result};
use crate::shape::mesh::TriangleMesh;
use crate::shape::skin::MeshSkin;
use crate::shape::solid::{Recipe, Solid};
use glam::{Quat, Vec3};
use std::sync::Arc;

/// The particles of a body in its own frame, whose origin is the centre of mass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyShape {
    /// Centres, m.
    pub(crate) places: Vec<Vec3>,
    /// m.
    pub(crate) radii: Vec<f32>,
    /// kg.
    pub(crate) masses: Vec<f32>,
    /// The mesh that bodies of this shape are drawn as; all of them share it.
    pub(crate) skin: Option<Arc<MeshSkin>>,
    /// What the particles stand for.
    pub(crate) made_of: MadeOf,
}

impl BodyShape {
    /// A block of balls that touch: `counts` along x, y and z, `spacing` metres apart, each with the
    /// mass of its cube at this density in kg/m³.
    ///
    /// # Errors
    /// When a count is 0, or a number is not above 0 and finite.
    pub fn block(counts: [u32; 3], spacing: f32, density: f32) -> Result<Self> {
        if counts.contains(&0) {
            return Err(Error::value("counts", "expected at least 1 on each axis"));
        }
        positive("spacing", spacing)?;
        positive("density", density)?;
        let middle = Vec3::from(counts.map(|n| 0.5 * (n as f32 - 1.0)));
        let places: Vec<Vec3> = super::super::build::lattice_points(counts)
            .map(|(x, y, z)| (Vec3::new(x as f32, y as f32, z as f32) - middle) * spacing)
            .collect();
        let mass = density * spacing * spacing * spacing;
        let count = places.len();
        let (radii, masses) = (vec![0.5 * spacing; count], vec![mass; count]);
        let made_of = MadeOf::Cubes;
        let mut shape = BodyShape { places, radii, masses, skin: None, made_of };
        shape.wear(&TriangleMesh::cuboid(Vec3::from(counts.map(|n| n as f32)) * spacing))?;
        Ok(shape)
    }

    /// Balls that are given one by one: centre in m, radius in m, mass in kg.
    ///
    /// # Errors
    /// When there is none, or a number is not legal.
    pub fn balls(balls: &[(Vec3, f32, f32)]) -> Result<Self> {
        if balls.is_empty() {
            return Err(Error::value("balls", "a body needs at least one"));
        }
        for &(place, radius, mass) in balls {
            positive("radius", radius)?;
            positive("mass", mass)?;
            if !place.is_finite() {
                return Err(Error::value("place", format!("{place} is not finite")));
            }
        }
        let mut shape = BodyShape {
            places: balls.iter().map(|ball| ball.0).collect(),
            radii: balls.iter().map(|ball| ball.1).collect(),
            masses: balls.iter().map(|ball| ball.2).collect(),
            skin: None,
            made_of: MadeOf::Balls,
        };
        shape.center();
        Ok(shape)
    }

    /// A closed mesh made into cubes, as [`Solid::of`] makes them, each a ball as wide as its cube
    /// and with its mass at this density in kg/m³. The second value is where the centre of mass is in
    /// the frame of the mesh.
    ///
    /// # Errors
    /// When the mesh or the recipe is not valid, or nothing is inside.
    pub fn of_mesh(mesh: &TriangleMesh, recipe: &Recipe, density: f32) -> Result<(Self, Vec3)> {
        positive("density", density)?;
        let solid = Solid::of(mesh, recipe)?;
        let grid = solid.voxels.grid();
        if solid.cubes.is_empty() {
            let message = "nothing is inside at this resolution; use more voxels";
            return Err(Error::value("resolution", message));
        }
        let mass = |radius: f32| density * (2.0 * radius).powi(3);
        let radii: Vec<f32> = solid.cubes.iter().map(|cube| cube.radius(grid)).collect();
        let mut shape = BodyShape {
            places: solid.cubes.iter().map(|cube| cube.centre(grid)).collect(),
            masses: radii.iter().map(|&radius| mass(radius)).collect(),
            radii,
            skin: None,
            made_of: MadeOf::Cubes,
        };
        let center = shape.center();
        shape.wear(&mesh.transformed(Vec3::ONE, Quat::IDENTITY, -center))?;
        Ok((shape, center))
    }

    /// Its mass, kg.
    pub fn mass(&self) -> f32 {
        self.masses.iter().map(|&m| f64::from(m)).sum::<f64>() as f32
    }

    /// Makes it as heavy as this, kg; the shares of its particles stay.
    ///
    /// # Errors
    /// When that is not above 0 and finite.
    pub fn set_mass(&mut self, mass: f32) -> Result<()> {
        positive("mass", mass)?;
        let times = mass / self.mass();
        self.masses.iter_mut().for_each(|m| *m *= times);
        Ok(())
    }

    /// How many particles it has.
    pub fn len(&self) -> usize {
        self.places.len()
    }
    /// True when it has none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Hangs a mesh in its own frame on the particles. A row of them cannot carry one, and is drawn
    /// as balls.
    fn wear(&mut self, mesh: &TriangleMesh) -> Result<()> {
        self.skin = MeshSkin::of_whole(mesh, &self.places)?.map(Arc::new);
        Ok(())
    }

    /// Counts places from the centre of mass; returns where that was.
    fn center(&mut self) -> Vec3 {
        let weighted = self.places.iter().zip(&self.masses);
        let (sum, mass) = weighted.fold((glam::DVec3::ZERO, 0.0), |(sum, mass), (p, &m)| {
            (sum + p.as_dvec3() * f64::from(m), mass + f64::from(m))
        });
        let center = (sum / mass).as_vec3();
        self.places.iter_mut().for_each(|place| *place -= center);
        center
    }
}

fn positive(field: &str, value: f32) -> Result<()> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => {
            Err(Error::value(field, format!("{value} is not legal; expected a number above 0")))
        }
    }
}
