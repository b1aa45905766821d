//! Which parameters belong together, in the order in which they are looked for: what a scene is
//! made of first, how neighbours are found last.

use motes::Params;
use motes::world::ParamInfo;

/// Where a group is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// In the panel Run, and only there.
    Run,
    /// In the panel Parameters.
    Open,
    /// There, below a fold.
    Advanced,
}

/// Parameters that belong together.
pub struct Group {
    pub title: &'static str,
    pub shown: Shown,
    names: &'static [&'static str],
}

const fn group(title: &'static str, shown: Shown, names: &'static [&'static str]) -> Group {
    Group { title, shown, names }
}

/// Each parameter is in one of them.
pub const GROUPS: &[Group] = &[
    group("Choices", Shown::Run, &["solver", "method", "broad_phase"]),
    group("World", Shown::Open, &["gravity", "dt", "damping"]),
    group(
        "Contacts",
        Shown::Open,
        &["friction", "static_friction", "restitution", "restitution_threshold", "push_out"],
    ),
    group("Accuracy", Shown::Open, &["substeps", "iterations"]),
    group(
        "Fluids",
        Shown::Open,
        &[
            "fluid_viscosity",
            "fluid_tension",
            "fluid_adhesion",
            "fluid_vorticity",
            "density_rule",
            "fluid_pressure",
            "fluid_relaxation",
        ],
    ),
    group(
        "Solving",
        Shown::Advanced,
        &[
            "integrator",
            "omega",
            "contact_omega",
            "acceleration",
            "rho",
            "mass_scale",
            "rotation",
            "rigid_contacts",
        ],
    ),
    group("Stopping early", Shown::Advanced, &["sleeping", "until_residual", "budget_ms"]),
    group(
        "Neighbours",
        Shown::Advanced,
        &[
            "margin",
            "octree_leaf",
            "octree_depth",
            "bvh_leaf",
            "bvh_volume",
            "bvh_start",
            "bvh_walk",
        ],
    ),
];

impl Group {
    /// Its rows of the table.
    pub fn rows(&self) -> impl Iterator<Item = &'static ParamInfo> + '_ {
        let row = |name: &&str| Params::TABLE.iter().find(|info| info.name == *name);
        self.names.iter().filter_map(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_in_one_group() {
        let listed: Vec<&str> = GROUPS.iter().flat_map(|g| g.names.iter().copied()).collect();
        for info in Params::TABLE {
            let times = listed.iter().filter(|name| **name == info.name).count();
            assert_eq!(times, 1, "`{}` is in {times} groups of the panel Parameters", info.name);
        }
        for name in &listed {
            assert!(Params::TABLE.iter().any(|info| info.name == *name), "no parameter `{name}`");
        }
    }

    #[test]
    fn what_is_turned_most_comes_before_the_fold() {
        let place = |name: &str| GROUPS.iter().position(|g| g.names.contains(&name)).unwrap();
        assert!(place("friction") < place("bvh_walk"));
        let folded = GROUPS.iter().skip_while(|g| g.shown != Shown::Advanced);
        assert!(folded.clone().count() > 0 && folded.clone().all(|g| g.shown == Shown::Advanced));
    }
}
