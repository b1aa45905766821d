//! A rectangular cloth.

use super::build::{Bond, neighbors};
use super::particles::Phase;
use super::{Built, MemoryNeed, Particle, Surface, World};
use crate::error::Result;
use crate::kind::{Bend, Constrain};
use glam::Vec3;

/// A rectangular cloth of `columns` x `rows` particles.
#[derive(Clone, Debug)]
pub struct Cloth {
    /// Name in reports.
    pub name: String,
    /// Position of the first corner, m.
    pub origin: Vec3,
    /// Direction of a row (columns run along it).
    pub along: Vec3,
    /// Direction from row to row.
    pub across: Vec3,
    /// Particles in a row, at least 2.
    pub columns: u32,
    /// Rows, at least 2.
    pub rows: u32,
    /// Distance between neighbours, m.
    pub spacing: f32,
    /// Mass of one particle, kg.
    pub mass: f32,
    /// Radius of one particle, m.
    pub radius: f32,
    /// Whether the cloth collides with itself.
    pub self_collide: bool,
    /// Edges along the rows and columns.
    pub stretch: Bond,
    /// Diagonals.
    pub shear: Bond,
    /// Dihedral hinges, or none.
    pub bend: Option<Bond>,
}

impl Default for Cloth {
    fn default() -> Self {
        Cloth {
            name: "cloth".into(),
            origin: Vec3::ZERO,
            along: Vec3::X,
            across: Vec3::Z,
            columns: 32,
            rows: 32,
            spacing: 0.05,
            mass: 0.01,
            radius: 0.02,
            self_collide: false,
            stretch: Bond::default(),
            shear: Bond::default(),
            bend: None,
        }
    }
}

impl World {
    /// Adds a cloth. Returns its handle and its particles row by row.
    ///
    /// Edges are made direction by direction (along, across, two diagonals). That is the order
    /// `seidel` sweeps, and it converges in a quarter fewer iterations than cell by cell. Colours
    /// are the four directions, even and odd, which is what accelerated sweeps converge best with.
    pub fn add_cloth(&mut self, cloth: &Cloth) -> Result<Built> {
        self.validate_cloth(cloth)?;
        let (columns, rows) = (cloth.columns, cloth.rows);
        let (along, across) = (cloth.along.normalize(), cloth.across.normalize());
        let mut phase = Phase::group(self.new_group()).shaped();
        if cloth.self_collide {
            phase = phase.self_colliding();
        }
        let base = self.particles.len() as u32;
        let mut ids = Vec::with_capacity((columns * rows) as usize);
        for row in 0..rows {
            for column in 0..columns {
                let offset =
                    along * (column as f32 * cloth.spacing) + across * (row as f32 * cloth.spacing);
                ids.push(self.add_particle(&Particle {
                    position: cloth.origin + offset,
                    velocity: Vec3::ZERO,
                    mass: cloth.mass,
                    radius: cloth.radius,
                    phase,
                })?);
            }
        }
        let slot = |column: u32, row: u32| base + row * columns + column;
        let mut join = |a: u32, b: u32, bond: &Bond, color: u32| {
            let at = |s: u32| self.particles.position[s as usize].truncate();
            let mut edge = bond.constraint([a, b], at(a).distance(at(b)));
            edge.color_hint = Some(color as u8);
            self.sets.distance.add(&edge);
        };
        // Each direction with its first colour: along it, every other edge is free of the one before.
        for (dx, dy, color) in [(1i32, 0u32, 0), (0, 1, 2), (1, 1, 4), (-1, 1, 6)] {
            let bond = if dx == 0 || dy == 0 { &cloth.stretch } else { &cloth.shear };
            for (y, x) in (0..rows - dy).flat_map(|y| (0..columns).map(move |x| (y, x))) {
                let Some(to) = x.checked_add_signed(dx).filter(|&x| x < columns) else { continue };
                let parity = if dy == 0 { x } else { y } & 1;
                join(slot(x, y), slot(to, y + dy), bond, color + parity);
            }
        }
        if let Some(bend) = &cloth.bend {
            self.add_cloth_hinges(base, columns, rows, bend);
        }
        let triangles =
            cloth_triangles(columns, rows).map(|t| t.map(|k| ids[k as usize])).collect();
        Ok(self.built(
            &cloth.name,
            ids,
            Surface { triangles, closed: false, outline: None, skin: None },
        ))
    }

    /// Hinges over every inner edge of the cloth's triangulation: cell diagonals, then the edges
    /// between cells.
    fn add_cloth_hinges(&mut self, base: u32, columns: u32, rows: u32, bend: &Bond) {
        let slot = |x: u32, y: u32| base + y * columns + x;
        let mut hinge = |wings: [u32; 2], edge: [u32; 2]| {
            let corners = [wings[0], wings[1], edge[0], edge[1]];
            let p = corners.map(|s| self.particles.position[s as usize]);
            let rest = Bend::measure(&p);
            self.sets.bend.add(&bend.constraint(corners, rest));
        };
        for y in 0..rows - 1 {
            for x in 0..columns - 1 {
                let [a, b, c, d] = [slot(x, y), slot(x + 1, y), slot(x, y + 1), slot(x + 1, y + 1)];
                hinge([b, c], [a, d]);
                if x + 2 < columns {
                    hinge([a, slot(x + 2, y + 1)], [b, d]);
                }
                if y + 2 < rows {
                    hinge([a, slot(x + 1, y + 2)], [c, d]);
                }
            }
        }
    }
}

impl Cloth {
    /// What it will need, before anything is allocated.
    pub fn memory(&self) -> MemoryNeed {
        let n = u128::from(self.columns) * u128::from(self.rows);
        let hinges = if self.bend.is_some() { 3 * n } else { 0 };
        let neighbors = if self.self_collide { neighbors(n, self.radius, self.spacing) } else { 0 };
        MemoryNeed { particles: n, edges: 4 * n, corners4: hinges, neighbors }
    }
}

fn cloth_triangles(columns: u32, rows: u32) -> impl Iterator<Item = [u32; 3]> {
    (0..rows - 1).flat_map(move |y| {
        (0..columns - 1).flat_map(move |x| {
            let a = y * columns + x;
            let (b, c, d) = (a + 1, a + columns, a + columns + 1);
            [[a, d, b], [a, c, d]]
        })
    })
}
