//! `[[cloth]]`: a rectangle of particles joined by edges and diagonals.

use super::fasten::{HoldFile, fasten};
use super::pick::{Layout, from_end};
use super::{ObjectKinds, SceneObject, Site, table};
use crate::error::Result;
use crate::scene::bond::bond;
use crate::scene::keys::one_of;
use crate::scene::size::{need, product};
use crate::scene::value::{
    AtLeastZero, Count, Direction, Exactly, Pick, Positive, Share, Spacing, Vector,
};
use crate::world::{Built, Cloth, MemoryNeed, World};
use glam::Vec3;

/// kg/m²: a light fabric.
const AREA_DENSITY: f32 = 0.2;

impl ObjectKinds {
    /// `[[cloth]]`: a rectangle of particles joined by edges and diagonals.
    ///
    /// | key | unit | default | meaning |
    /// |---|---|---|---|
    /// | `columns`, `rows` | 1 | needed | particles in a row, and rows; at least 2 |
    /// | `spacing` | m | needed | between neighbours, 1e-6 to 1e6 |
    /// | `origin` | m | [0, 0, 0] | first corner: column 0, row 0 |
    /// | `along`, `across` | direction | x, z | of a row, and from row to row |
    /// | `mass` | kg | | of one particle; or |
    /// | `area_density` | kg/m² | 0.2 | mass = area_density spacing² |
    /// | `radius` | m | spacing / 2 | of one particle |
    /// | `velocity` | m/s | 0 | at the start |
    /// | `self_collide` | | false | whether it collides with itself |
    /// | `stretch_compliance`, `stretch_stiffness` | m/N, 1 | 0, 1 | edges |
    /// | `shear_compliance`, `shear_stiffness` | m/N, 1 | as stretch | diagonals |
    /// | `bend_compliance`, `bend_stiffness` | rad/(N m), 1 | none | hinges; either of them makes them |
    /// | `break_at`, `yield_at` | strain | never | edges and diagonals |
    /// | `bend_break_at`, `bend_yield_at` | rad | never | hinges |
    /// | `pin` | picks | [] | particles fixed where they start |
    /// | `hold` | holds | [] | particles held on a path |
    /// | `stretch` | 1 | [1, 1] | starts stretched so along and across, about its middle; rest lengths stay |
    ///
    /// Picks know the words `corners border top bottom left right top_left top_right bottom_left
    /// bottom_right all`. The top is row 0, the left is column 0.
    pub const CLOTH: &'static str = "cloth";
}

table! {
    pub(crate) struct ClothFile {
        origin: Option<Vector>,
        along: Option<Direction>,
        across: Option<Direction>,
        columns: Count,
        rows: Count,
        spacing: Spacing,
        mass: Option<Positive>,
        area_density: Option<Positive>,
        radius: Option<Positive>,
        velocity: Option<Vector>,
        #[serde(default)]
        self_collide: bool,
        stretch_compliance: Option<AtLeastZero>,
        stretch_stiffness: Option<Share>,
        shear_compliance: Option<AtLeastZero>,
        shear_stiffness: Option<Share>,
        bend_compliance: Option<AtLeastZero>,
        bend_stiffness: Option<Share>,
        break_at: Option<Positive>,
        yield_at: Option<Positive>,
        bend_break_at: Option<Positive>,
        bend_yield_at: Option<Positive>,
        #[serde(default)]
        pin: Vec<Pick>,
        #[serde(default)]
        hold: Vec<HoldFile>,
        stretch: Option<Exactly<Positive, 2>>,
    }
}

impl ClothFile {
    fn has_bend(&self) -> bool {
        self.bend_compliance.is_some() || self.bend_stiffness.is_some()
    }

    fn layout(&self) -> Rows {
        Rows { columns: self.columns.0 as usize, rows: self.rows.0 as usize }
    }

    /// As the library takes it, with the defaults of the format.
    fn cloth(&self, path: &str) -> Cloth {
        let spacing = self.spacing.0;
        let area_density = self.area_density.map_or(AREA_DENSITY, |d| d.0);
        let edges =
            |c: Option<AtLeastZero>, s: Option<Share>| bond(c, s, self.break_at, self.yield_at);
        Cloth {
            name: path.into(),
            origin: self.origin.map(|v| v.0).unwrap_or_default(),
            along: self.along.map_or(Vec3::X, |v| v.0),
            across: self.across.map_or(Vec3::Z, |v| v.0),
            columns: self.columns.clamped(),
            rows: self.rows.clamped(),
            spacing,
            mass: self.mass.map_or(area_density * spacing * spacing, |m| m.0),
            radius: self.radius.map_or(spacing / 2.0, |r| r.0),
            self_collide: self.self_collide,
            stretch: edges(self.stretch_compliance, self.stretch_stiffness),
            shear: edges(
                self.shear_compliance.or(self.stretch_compliance),
                self.shear_stiffness.or(self.stretch_stiffness),
            ),
            bend: self.has_bend().then(|| {
                let (break_at, yield_at) = (self.bend_break_at, self.bend_yield_at);
                bond(self.bend_compliance, self.bend_stiffness, break_at, yield_at)
            }),
        }
    }
}

impl SceneObject for ClothFile {
    fn need(&self) -> MemoryNeed {
        need(product(&[self.columns, self.rows]), 4, if self.has_bend() { 3 } else { 0 })
    }

    fn build(&self, world: &mut World, path: &str, _: &Site) -> Result<Built> {
        let both = [("mass", self.mass.is_some()), ("area_density", self.area_density.is_some())];
        one_of(path, both)?;
        let cloth = self.cloth(path);
        let built = world.add_cloth(&cloth)?;
        if let Some(Exactly(factors)) = self.stretch {
            stretch(world, &cloth, &built, factors.map(|f| f.0))?;
        }
        if let Some(velocity) = self.velocity {
            for &id in &built {
                world.set_velocity(id, velocity.0)?;
            }
        }
        fasten(world, path, &built, &self.layout(), &self.pin, &self.hold)?;
        Ok(built)
    }

    /// Cloth is points: it goes through itself where the gaps between its particles are wider than
    /// the particles.
    fn doubt(&self, _: &Site) -> Option<(&'static str, String)> {
        let (radius, least) = (self.radius?.0, self.spacing.0 / 2.0);
        (self.self_collide && radius < least).then(|| {
            let why = format!(
                "is less than half of `spacing`, so the cloth can pass through itself; use at \
                 least {least}, or leave it out"
            );
            ("radius", why)
        })
    }

    fn cell(&self, at: [i64; 2]) -> Option<usize> {
        self.layout().index(at)
    }
}

/// Pulls a cloth larger about its middle; the rest lengths stay.
fn stretch(world: &mut World, cloth: &Cloth, built: &Built, [sx, sy]: [f32; 2]) -> Result<()> {
    let (along, across) = (cloth.along.normalize(), cloth.across.normalize());
    let middle = [cloth.columns, cloth.rows].map(|n| (n - 1) as f32 * 0.5);
    let steps =
        |column: f32, row: f32| along * (column * cloth.spacing) + across * (row * cloth.spacing);
    let center = cloth.origin + steps(middle[0], middle[1]);
    for (i, &id) in built.iter().enumerate() {
        let (column, row) = (i as u32 % cloth.columns, i as u32 / cloth.columns);
        let offset = steps((column as f32 - middle[0]) * sx, (row as f32 - middle[1]) * sy);
        world.set_position(id, center + offset)?;
    }
    Ok(())
}

/// Particles row by row.
struct Rows {
    columns: usize,
    rows: usize,
}

impl Rows {
    fn index(&self, [column, row]: [i64; 2]) -> Option<usize> {
        let (column, row) = (from_end(column, self.columns)?, from_end(row, self.rows)?);
        Some(row * self.columns + column)
    }
}

impl Layout for Rows {
    fn count(&self) -> usize {
        self.columns * self.rows
    }

    fn known(&self) -> &'static str {
        "corners, border, top, bottom, left, right, top_left, top_right, bottom_left, \
         bottom_right, all, or [column, row]"
    }

    fn word(&self, word: &str) -> Option<Vec<usize>> {
        let top = |i: usize| i / self.columns == 0;
        let bottom = |i: usize| i / self.columns == self.rows - 1;
        let left = |i: usize| i.is_multiple_of(self.columns);
        let right = |i: usize| i % self.columns == self.columns - 1;
        let all =
            |keep: &dyn Fn(usize) -> bool| Some((0..self.count()).filter(|&i| keep(i)).collect());
        match word {
            "top" => all(&top),
            "bottom" => all(&bottom),
            "left" => all(&left),
            "right" => all(&right),
            "top_left" => all(&|i| top(i) && left(i)),
            "top_right" => all(&|i| top(i) && right(i)),
            "bottom_left" => all(&|i| bottom(i) && left(i)),
            "bottom_right" => all(&|i| bottom(i) && right(i)),
            "corners" => all(&|i| (top(i) || bottom(i)) && (left(i) || right(i))),
            "border" => all(&|i| top(i) || bottom(i) || left(i) || right(i)),
            _ => None,
        }
    }

    fn cell(&self, at: [i64; 2]) -> std::result::Result<usize, String> {
        let Rows { columns, rows } = self;
        self.index(at).ok_or_else(|| {
            format!("{at:?} is outside; the cloth has {columns} columns and {rows} rows")
        })
    }
}
