//! Builders: cloth, soft lattices and loose grains, made of particles and constraints.

use super::particles::Phase;
use super::{Constraint, MemoryNeed, Object, Particle, ParticleId, World};
use crate::error::{Error, Result};
use glam::{Quat, Vec3};

/// How stiff and how strong constraints are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// PBD stiffness, 0..=1 (1 = rigid).
    pub stiffness: f32,
    /// XPBD compliance (0 = rigid): m/N for edges, rad/(N m) for hinges, m⁵/N for volumes.
    pub compliance: f32,
    /// Strain beyond which a constraint breaks; infinite for never.
    pub break_at: f32,
    /// Strain beyond which it yields; infinite for never.
    pub yield_at: f32,
}

impl Default for Material {
    fn default() -> Self {
        Material {
            stiffness: 1.0,
            compliance: 0.0,
            break_at: f32::INFINITY,
            yield_at: f32::INFINITY,
        }
    }
}

impl Material {
    /// An unbreakable material of this compliance.
    pub fn compliant(compliance: f32) -> Self {
        Material { compliance, ..Default::default() }
    }

    pub(crate) fn constraint<const N: usize>(
        &self,
        particles: [u32; N],
        rest: f32,
    ) -> Constraint<N> {
        Constraint {
            particles,
            rest,
            stiffness: self.stiffness,
            compliance: self.compliance,
            break_at: self.break_at,
            yield_at: self.yield_at,
            color_hint: None,
        }
    }

    /// Checks the ranges; `field` names it in the message.
    pub fn validate(&self, field: &str) -> Result<()> {
        let wrong = |name: &str, message: &str| {
            Err(Error::value(format!("{field}.{name}"), message.to_string()))
        };
        if !(0.0..=1.0).contains(&self.stiffness) {
            return wrong("stiffness", "expected a number from 0 to 1");
        }
        if !(self.compliance.is_finite() && self.compliance >= 0.0) {
            return wrong("compliance", "expected a number of at least 0");
        }
        if self.break_at.is_nan() || self.break_at <= 0.0 {
            return wrong("break_at", "expected a strain above 0");
        }
        if self.yield_at.is_nan() || self.yield_at <= 0.0 {
            return wrong("yield_at", "expected a strain above 0");
        }
        Ok(())
    }
}

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
    pub stretch: Material,
    /// Diagonals.
    pub shear: Material,
    /// Dihedral hinges, or none.
    pub bend: Option<Material>,
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
            stretch: Material::default(),
            shear: Material::default(),
            bend: None,
        }
    }
}

/// Which particles of a lattice are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// All.
    Box,
    /// The inscribed ellipsoid.
    Sphere,
    /// The inscribed elliptic cylinder with its axis along y.
    Cylinder,
    /// The inscribed torus around the y axis; `tube` is its thickness as a share of the outer
    /// radius (0..0.5).
    Torus {
        /// Tube radius over outer radius.
        tube: f32,
    },
}

impl Solid {
    /// Whether the point (each axis -1..1 over the lattice) is inside.
    fn contains(self, u: Vec3) -> bool {
        // A little slack keeps points that lie on the surface but for rounding.
        const ON: f32 = 1.0 + 1e-4;
        match self {
            Solid::Box => true,
            Solid::Sphere => u.length_squared() <= ON,
            Solid::Cylinder => u.x * u.x + u.z * u.z <= ON,
            Solid::Torus { tube } => {
                let ring = (u.x * u.x + u.z * u.z).sqrt() - (1.0 - tube);
                let (a, b) = (ring / tube, u.y);
                a * a + b * b <= ON
            }
        }
    }
}

/// Which pairs of a lattice are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatticeEdges {
    /// Neighbours along the three axes.
    Axis,
    /// Every particle within the cell diagonal: 26 neighbours.
    Full,
}

/// A soft body: a lattice of particles joined by edges and, if wanted, tetrahedra.
#[derive(Clone, Debug)]
pub struct Lattice {
    /// Name in reports.
    pub name: String,
    /// Centre, m.
    pub center: Vec3,
    /// Orientation.
    pub rotation: Quat,
    /// Particles along x, y, z, at least 1 each.
    pub counts: [u32; 3],
    /// Distance between neighbours, m.
    pub spacing: f32,
    /// Mass of one particle, kg.
    pub mass: f32,
    /// Radius of one particle, m.
    pub radius: f32,
    /// Initial velocity, m/s.
    pub velocity: Vec3,
    /// Which lattice points are kept.
    pub solid: Solid,
    /// Which pairs are joined.
    pub edges: LatticeEdges,
    /// Whether the body collides with itself.
    pub self_collide: bool,
    /// The edges' material.
    pub stretch: Material,
    /// Six tetrahedra a cell, or none.
    pub volume: Option<Material>,
}

impl Default for Lattice {
    fn default() -> Self {
        Lattice {
            name: "box".into(),
            center: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            counts: [8, 8, 8],
            spacing: 0.1,
            mass: 0.1,
            radius: 0.05,
            velocity: Vec3::ZERO,
            solid: Solid::Box,
            edges: LatticeEdges::Full,
            self_collide: false,
            stretch: Material::default(),
            volume: None,
        }
    }
}

/// Loose grains on a jittered lattice.
#[derive(Clone, Debug)]
pub struct Grains {
    /// Name in reports.
    pub name: String,
    /// Lower corner of the lattice (centre of its first grain), m.
    pub origin: Vec3,
    /// Grains along x, y, z.
    pub counts: [u32; 3],
    /// Distance between neighbours, m.
    pub spacing: f32,
    /// Mass of one grain, kg.
    pub mass: f32,
    /// Radius of one grain, m.
    pub radius: f32,
    /// Initial velocity, m/s.
    pub velocity: Vec3,
    /// Which lattice points are kept.
    pub solid: Solid,
    /// Largest random displacement, as a share of the spacing.
    pub jitter: f32,
    /// Seed of the displacement.
    pub seed: u64,
}

impl Default for Grains {
    fn default() -> Self {
        Grains {
            name: "grains".into(),
            origin: Vec3::ZERO,
            counts: [10, 10, 10],
            spacing: 0.1,
            mass: 0.1,
            radius: 0.05,
            velocity: Vec3::ZERO,
            solid: Solid::Box,
            jitter: 0.0,
            seed: 1,
        }
    }
}

impl World {
    /// Adds a cloth. Returns its particles row by row.
    ///
    /// Edges are made cell by cell (right, down, two diagonals), which is the order `seidel`
    /// sweeps; colours follow the four directions, even and odd, which is what accelerated sweeps
    /// converge best with.
    pub fn add_cloth(&mut self, cloth: &Cloth) -> Result<Vec<ParticleId>> {
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
        let mut join = |a: u32, b: u32, material: &Material, color: u32| {
            let at = |s: u32| self.particles.position[s as usize].truncate();
            let mut edge = material.constraint([a, b], at(a).distance(at(b)));
            edge.color_hint = Some(color as u8);
            self.distance.add(&edge);
        };
        for y in 0..rows {
            for x in 0..columns {
                let (right, down) = (x + 1 < columns, y + 1 < rows);
                if right {
                    join(slot(x, y), slot(x + 1, y), &cloth.stretch, x & 1);
                }
                if down {
                    join(slot(x, y), slot(x, y + 1), &cloth.stretch, 2 + (y & 1));
                }
                if right && down {
                    join(slot(x, y), slot(x + 1, y + 1), &cloth.shear, 4 + (y & 1));
                    join(slot(x + 1, y), slot(x, y + 1), &cloth.shear, 6 + (y & 1));
                }
            }
        }
        if let Some(bend) = &cloth.bend {
            self.add_cloth_hinges(base, columns, rows, bend);
        }
        let triangles =
            cloth_triangles(columns, rows).map(|t| t.map(|k| ids[k as usize].0)).collect();
        self.add_object(&cloth.name, &ids, triangles);
        self.commit();
        Ok(ids)
    }

    /// Hinges over every inner edge of the cloth's triangulation: cell diagonals, then the edges
    /// between cells.
    fn add_cloth_hinges(&mut self, base: u32, columns: u32, rows: u32, bend: &Material) {
        let slot = |x: u32, y: u32| base + y * columns + x;
        let mut hinge = |wings: [u32; 2], edge: [u32; 2]| {
            let corners = [wings[0], wings[1], edge[0], edge[1]];
            let p = corners.map(|s| self.particles.position[s as usize]);
            let rest = crate::cpu::solve_bend::angle(&p);
            self.bend.add(&bend.constraint(corners, rest));
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

    /// Adds a soft lattice. Returns its particles.
    pub fn add_lattice(&mut self, lattice: &Lattice) -> Result<Vec<ParticleId>> {
        self.validate_lattice(lattice)?;
        let [nx, ny, nz] = lattice.counts;
        let mut phase = Phase::group(self.new_group()).shaped();
        if lattice.self_collide {
            phase = phase.self_colliding();
        }
        let mut slots = Slots::new(lattice.counts);
        let mut ids = Vec::new();
        for (x, y, z) in lattice_points(lattice.counts) {
            if !lattice.solid.contains(unit_point(lattice.counts, x, y, z)) {
                continue;
            }
            let middle = Vec3::new(nx as f32 - 1.0, ny as f32 - 1.0, nz as f32 - 1.0) * 0.5;
            let local = (Vec3::new(x as f32, y as f32, z as f32) - middle) * lattice.spacing;
            slots.set(x, y, z, self.particles.len() as u32);
            ids.push(self.add_particle(&Particle {
                position: lattice.center + lattice.rotation * local,
                velocity: lattice.velocity,
                mass: lattice.mass,
                radius: lattice.radius,
                phase,
            })?);
        }
        if ids.is_empty() {
            return Err(Error::value(
                format!("{}.counts", lattice.name),
                "no lattice point lies inside the shape; use more points",
            ));
        }
        self.add_lattice_edges(lattice, &slots);
        if let Some(volume) = &lattice.volume {
            self.add_lattice_volumes(lattice.counts, &slots, volume);
        }
        let triangles = slots.surface().map(|t| t.map(|s| self.particles.id[s as usize])).collect();
        self.add_object(&lattice.name, &ids, triangles);
        self.commit();
        Ok(ids)
    }

    fn add_lattice_edges(&mut self, lattice: &Lattice, slots: &Slots) {
        let directions: &[[i64; 3]] = match lattice.edges {
            LatticeEdges::Axis => &HALF_NEIGHBORS[..3],
            LatticeEdges::Full => &HALF_NEIGHBORS,
        };
        for (x, y, z) in lattice_points(lattice.counts) {
            let Some(a) = slots.get(x.into(), y.into(), z.into()) else { continue };
            for (k, d) in directions.iter().enumerate() {
                let (ux, uy, uz) = (i64::from(x) + d[0], i64::from(y) + d[1], i64::from(z) + d[2]);
                let Some(b) = slots.get(ux, uy, uz) else { continue };
                // Along a direction every other edge is free of the one before it.
                let parity = if d[2] != 0 {
                    z
                } else if d[1] != 0 {
                    y
                } else {
                    x
                } & 1;
                let [pa, pb] = [a, b].map(|s| self.particles.position[s as usize].truncate());
                let mut edge = lattice.stretch.constraint([a, b], pa.distance(pb));
                edge.color_hint = Some((2 * k) as u8 + parity as u8);
                self.distance.add(&edge);
            }
        }
    }

    fn add_lattice_volumes(&mut self, counts: [u32; 3], slots: &Slots, material: &Material) {
        for (x, y, z) in lattice_points(counts) {
            let Some(corner) = slots.cell(x, y, z) else { continue };
            for tet in KUHN_TETRAHEDRA {
                let corners = tet.map(|k| corner[k]);
                let p = corners.map(|s| self.particles.position[s as usize]);
                let rest = crate::cpu::solve_volume::volume(&p);
                self.volume.add(&material.constraint(corners, rest));
            }
        }
    }

    /// Adds loose grains. Returns them.
    pub fn add_grains(&mut self, grains: &Grains) -> Result<Vec<ParticleId>> {
        self.validate_grains(grains)?;
        let phase = Phase::group(self.new_group()).self_colliding();
        let mut random = SplitMix(grains.seed);
        let mut ids = Vec::new();
        for (x, y, z) in lattice_points(grains.counts) {
            // Drawn for every point, kept or not, so that a shape does not change the others.
            let push = Vec3::new(random.signed(), random.signed(), random.signed());
            if !grains.solid.contains(unit_point(grains.counts, x, y, z)) {
                continue;
            }
            let local = Vec3::new(x as f32, y as f32, z as f32) + push * grains.jitter;
            ids.push(self.add_particle(&Particle {
                position: grains.origin + local * grains.spacing,
                velocity: grains.velocity,
                mass: grains.mass,
                radius: grains.radius,
                phase,
            })?);
        }
        self.add_object(&grains.name, &ids, Vec::new());
        Ok(ids)
    }

    /// Registers a run of particles as a named part of the world.
    pub(crate) fn add_object(&mut self, name: &str, ids: &[ParticleId], triangles: Vec<[u32; 3]>) {
        self.objects.push(Object {
            name: name.into(),
            first_id: ids.first().map_or(0, |id| id.0),
            id_count: ids.len() as u32,
            triangles,
        });
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

impl Lattice {
    /// What it will need at most, before anything is allocated.
    pub fn memory(&self) -> MemoryNeed {
        let n = self.counts.iter().map(|&c| u128::from(c)).product::<u128>();
        let edges = if self.edges == LatticeEdges::Full { 13 * n } else { 3 * n };
        let tetrahedra = if self.volume.is_some() { 6 * n } else { 0 };
        let neighbors = if self.self_collide { neighbors(n, self.radius, self.spacing) } else { 0 };
        MemoryNeed { particles: n, edges, corners4: tetrahedra, neighbors }
    }
}

impl Grains {
    /// What it will need at most, before anything is allocated.
    pub fn memory(&self) -> MemoryNeed {
        let n = self.counts.iter().map(|&c| u128::from(c)).product::<u128>();
        let neighbors = neighbors(n, self.radius, self.spacing);
        MemoryNeed { particles: n, edges: 0, corners4: 0, neighbors }
    }
}

/// Contact candidates of `n` particles on a lattice, at half as much again as the radii.
fn neighbors(n: u128, radius: f32, spacing: f32) -> u128 {
    let across = 2.0 * (2.0 * 1.5 * f64::from(radius) / f64::from(spacing)) + 1.0;
    let each = (across * across * across) as u128; // saturates; not a number gives 0
    n.saturating_mul(each.min(n))
}

/// Half of the 26 neighbours; the three axes first.
const HALF_NEIGHBORS: [[i64; 3]; 13] = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 1, 0],
    [1, -1, 0],
    [1, 0, 1],
    [-1, 0, 1],
    [0, 1, 1],
    [0, -1, 1],
    [1, 1, 1],
    [-1, 1, 1],
    [1, -1, 1],
    [-1, -1, 1],
];

/// Six tetrahedra around the diagonal of a cube whose corner k has bits x, y, z of k.
const KUHN_TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];

fn lattice_points(counts: [u32; 3]) -> impl Iterator<Item = (u32, u32, u32)> {
    let [nx, ny, nz] = counts;
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| (x, y, z))))
}

/// The lattice point with each axis scaled to -1..1.
fn unit_point(counts: [u32; 3], x: u32, y: u32, z: u32) -> Vec3 {
    let scale = |k: u32, n: u32| if n > 1 { 2.0 * k as f32 / (n - 1) as f32 - 1.0 } else { 0.0 };
    Vec3::new(scale(x, counts[0]), scale(y, counts[1]), scale(z, counts[2]))
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

/// Which particle sits at a lattice point.
struct Slots {
    counts: [u32; 3],
    slots: Vec<u32>,
}

impl Slots {
    fn new(counts: [u32; 3]) -> Self {
        let n = counts.iter().map(|&c| c as usize).product();
        Slots { counts, slots: vec![u32::MAX; n] }
    }
    fn index(&self, x: u32, y: u32, z: u32) -> usize {
        let [nx, ny, _] = self.counts.map(|c| c as usize);
        (z as usize * ny + y as usize) * nx + x as usize
    }
    fn set(&mut self, x: u32, y: u32, z: u32, slot: u32) {
        let index = self.index(x, y, z);
        self.slots[index] = slot;
    }
    fn get(&self, x: i64, y: i64, z: i64) -> Option<u32> {
        let inside = [x, y, z].iter().zip(self.counts).all(|(&k, n)| 0 <= k && k < i64::from(n));
        if !inside {
            return None;
        }
        Some(self.slots[self.index(x as u32, y as u32, z as u32)]).filter(|&s| s != u32::MAX)
    }
    /// The eight corners of the cell above a point, when all exist; corner k has bits x, y, z.
    fn cell(&self, x: u32, y: u32, z: u32) -> Option<[u32; 8]> {
        let mut corners = [0; 8];
        for (k, corner) in corners.iter_mut().enumerate() {
            let bit = |b: usize| (k >> b & 1) as i64;
            *corner =
                self.get(i64::from(x) + bit(0), i64::from(y) + bit(1), i64::from(z) + bit(2))?;
        }
        Some(corners)
    }
    /// Outward triangles of the faces that belong to one cell only.
    fn surface(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        /// Corner numbers of each face, outward, with the step to the neighbouring cell.
        const FACES: [([i64; 3], [usize; 4]); 6] = [
            ([-1, 0, 0], [0, 4, 6, 2]),
            ([1, 0, 0], [1, 3, 7, 5]),
            ([0, -1, 0], [0, 1, 5, 4]),
            ([0, 1, 0], [2, 6, 7, 3]),
            ([0, 0, -1], [0, 2, 3, 1]),
            ([0, 0, 1], [4, 5, 7, 6]),
        ];
        let has_cell = |x: i64, y: i64, z: i64| {
            u32::try_from(x).is_ok_and(|x| {
                u32::try_from(y)
                    .is_ok_and(|y| u32::try_from(z).is_ok_and(|z| self.cell(x, y, z).is_some()))
            })
        };
        lattice_points(self.counts)
            .flat_map(move |(x, y, z)| {
                let corners = self.cell(x, y, z);
                FACES.iter().filter_map(move |(step, quad)| {
                    let c = corners?;
                    let next =
                        (i64::from(x) + step[0], i64::from(y) + step[1], i64::from(z) + step[2]);
                    (!has_cell(next.0, next.1, next.2)).then(|| quad.map(|k| c[k]))
                })
            })
            .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]])
    }
}

/// A small, well-mixed generator (Steele et al. 2014): the same numbers on every machine.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Uniform in -1..1.
    fn signed(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}
