//! Every check in one table: its name, the keys it takes, what it measures.

use crate::error::{Error, Result};
use crate::scene::document::Document;
use crate::scene::file::{CheckFile, SceneFile};
use crate::scene::keys::require;
use crate::scene::names::Names;
use crate::suggest;
use crate::world::{Kind, ObjectId};
use glam::Vec3;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    MeanHeight,
    MinHeight,
    MaxHeight,
    NothingBelow,
    MaxOverlap,
    MaxSpeed,
    EnergyNotAbove,
    MaxStrain,
    MeanStrain,
    BrokenAtLeast,
    BrokenAtMost,
    PartsAtLeast,
    PartsAtMost,
    ParticlesAccountedFor,
    AtRest,
    ResidualBelow,
    BouncesAtLeast,
    NoParticlePassed,
    ParticlesTunnelled,
    MaxPenetration,
    SteadyHeight,
    ParticleCount,
    SteadyCount,
    SlopeAtLeast,
    SlopeAtMost,
    QuarantinedAtMost,
    OutOfRoundAtMost,
    VolumeErrorAtMost,
    MixingLayerAtMost,
}

/// A row of the table: name, test, keys it needs, keys it may have.
type Row = (&'static str, Test, &'static [&'static str], &'static [&'static str]);

/// The documentation of each is in the page of [`crate::scene`].
const TABLE: &[Row] = &[
    ("mean_height", Test::MeanHeight, &[], &["of", "min", "max", "axis"]),
    ("min_height", Test::MinHeight, &[], &["of", "min", "max", "axis"]),
    ("max_height", Test::MaxHeight, &[], &["of", "min", "max", "axis"]),
    ("nothing_below", Test::NothingBelow, &["bound"], &["of", "after"]),
    ("max_overlap", Test::MaxOverlap, &["bound"], &["of"]),
    ("max_speed", Test::MaxSpeed, &["bound"], &["of", "after"]),
    ("energy_not_above", Test::EnergyNotAbove, &["bound"], &["after", "floor"]),
    ("max_strain", Test::MaxStrain, &["bound"], &["of"]),
    ("mean_strain", Test::MeanStrain, &["bound"], &["of"]),
    ("broken_constraints_at_least", Test::BrokenAtLeast, &["bound"], &[]),
    ("broken_constraints_at_most", Test::BrokenAtMost, &["bound"], &[]),
    ("connected_parts_at_least", Test::PartsAtLeast, &["bound"], &["of", "size"]),
    ("connected_parts_at_most", Test::PartsAtMost, &["bound"], &["of", "size"]),
    ("particles_accounted_for", Test::ParticlesAccountedFor, &[], &["of"]),
    ("at_rest", Test::AtRest, &["bound"], &["of"]),
    ("residual_below", Test::ResidualBelow, &["bound"], &["kind"]),
    ("bounces_at_least", Test::BouncesAtLeast, &["bound", "of"], &["axis", "after", "tolerance"]),
    (
        "no_particle_passed",
        Test::NoParticlePassed,
        &["of"],
        &["through", "bound", "axis", "tolerance", "after"],
    ),
    ("particles_tunnelled", Test::ParticlesTunnelled, &["of", "through"], &["bound", "after"]),
    ("max_penetration", Test::MaxPenetration, &["bound"], &["of", "after"]),
    ("steady_height", Test::SteadyHeight, &["bound"], &["of", "after"]),
    ("particle_count", Test::ParticleCount, &[], &["of", "min", "max"]),
    ("steady_count", Test::SteadyCount, &["bound"], &["of", "after"]),
    ("slope_at_least", Test::SlopeAtLeast, &["bound"], &["of"]),
    ("slope_at_most", Test::SlopeAtMost, &["bound"], &["of"]),
    ("quarantined_at_most", Test::QuarantinedAtMost, &["bound"], &[]),
    ("out_of_round_at_most", Test::OutOfRoundAtMost, &["bound"], &["of"]),
    ("volume_error_at_most", Test::VolumeErrorAtMost, &["bound"], &["of"]),
    ("mixing_layer_at_most", Test::MixingLayerAtMost, &["bound", "of", "through"], &[]),
];

/// A check that has been read: objects found, keys sorted out.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(super) name: &'static str,
    pub(super) test: Test,
    /// (handle in the built world, name).
    pub(super) of: Option<(ObjectId, String)>,
    pub(super) through: Option<(ObjectId, String)>,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) after: f64,
    pub(super) tolerance: Option<f64>,
    /// Unit vector; none is the world's up.
    pub(super) axis: Option<Vec3>,
    pub(super) kind: Kind,
    pub(super) floor: f64,
    pub(super) size: usize,
    /// The level that `no_particle_passed` uses without a cloth.
    pub(super) level: f64,
}

/// Reads the checks of a scene.
pub(crate) fn read(file: &SceneFile, names: &Names, document: &Document) -> Result<Vec<Check>> {
    let checks = file.check.iter().enumerate();
    checks.map(|(i, check)| read_one(&format!("check.{i}"), check, names, document)).collect()
}

fn read_one(path: &str, file: &CheckFile, names: &Names, document: &Document) -> Result<Check> {
    let Some(&(name, test, needs, may)) = TABLE.iter().find(|row| row.0 == file.name) else {
        let instead = suggest::instead(&file.name, TABLE.iter().map(|row| row.0));
        let message = format!("`{}` is not a check; {instead}", file.name);
        return Err(document.error_at(&format!("{path}.name"), message));
    };
    let given = [
        ("of", file.of.is_some()),
        ("through", file.through.is_some()),
        ("min", file.min.is_some()),
        ("max", file.max.is_some()),
        ("bound", file.bound.is_some()),
        ("after", file.after.is_some()),
        ("tolerance", file.tolerance.is_some()),
        ("axis", file.axis.is_some()),
        ("kind", file.kind.is_some()),
        ("floor", file.floor.is_some()),
        ("size", file.size.is_some()),
    ];
    require(path, name, &given, needs, may).map_err(|e| document.explain(e, path))?;
    if may.contains(&"min") && file.min.is_none() && file.max.is_none() {
        return Err(document.error_at(path, format!("`{name}` needs `min`, `max` or both")));
    }
    if test == Test::NoParticlePassed && file.through.is_some() == file.bound.is_some() {
        let message = "`no_particle_passed` needs `through` (an object) or `bound` (a level)";
        return Err(document.error_at(path, message));
    }
    let object = |key: &str, name: &Option<String>| match name {
        None => Ok(None),
        Some(name) => match names.find(name) {
            // `Scene::build` adds the objects to a new world in this order.
            Some(place) => Ok(Some((ObjectId::nth(place), name.clone()))),
            None => Err(document.error_at(&format!("{path}.{key}"), names.instead_of(name))),
        },
    };
    let kind = match file.kind.as_deref() {
        None => Kind::Distance,
        Some(word) => match word.parse() {
            Ok(kind) => kind,
            Err(Error::Value { message, .. }) => {
                return Err(document.error_at(&format!("{path}.kind"), message));
            }
            Err(other) => return Err(other),
        },
    };
    let bound = file.bound.map(|b| b.0);
    let (min, max) = match test {
        Test::MeanHeight | Test::MinHeight | Test::MaxHeight | Test::ParticleCount => {
            (file.min.map(|b| b.0), file.max.map(|b| b.0))
        }
        Test::NothingBelow
        | Test::BrokenAtLeast
        | Test::PartsAtLeast
        | Test::BouncesAtLeast
        | Test::SlopeAtLeast => (bound, None),
        Test::ParticlesAccountedFor => (None, Some(0.0)),
        Test::ParticlesTunnelled => (None, Some(bound.unwrap_or(0.0))),
        Test::NoParticlePassed => (None, Some(file.tolerance.map_or(0.0, |t| t.0))),
        _ => (None, bound),
    };
    Ok(Check {
        name,
        test,
        of: object("of", &file.of)?,
        through: object("through", &file.through)?,
        min: min.unwrap_or(f64::NEG_INFINITY),
        max: max.unwrap_or(f64::INFINITY),
        after: file.after.map_or(0.0, |t| t.0),
        tolerance: file.tolerance.map(|t| t.0),
        axis: file.axis.map(|a| a.0),
        kind,
        floor: file.floor.map_or(0.0, |f| f.0),
        size: file.size.map_or(2, |s| s.0 as usize),
        level: bound.unwrap_or(0.0),
    })
}
