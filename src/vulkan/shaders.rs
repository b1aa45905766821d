//! The assembled shaders, one module a pass. `spirv/<pass>.spvasm` is what was written by hand.

use crate::step::Pass;

macro_rules! modules {
    ($($pass:ident $name:literal)*) => {
        /// The module of a pass, if it has one yet.
        pub(crate) fn module(pass: Pass) -> Option<&'static [u8]> {
            match pass {
                $(Pass::$pass => Some(include_bytes!(concat!("../../spirv/", $name, ".spv"))),)*
                #[allow(unreachable_patterns)]
                _ => None,
            }
        }
    };
}

modules! {
    BreakConstraints "break_constraints"
    SortParticles "sort_particles"
    Predict "predict"
    Bounds "bounds"
    GridCount "grid_count"
    GridScan "grid_scan"
    GridSort "grid_sort"
    MortonCodes "morton_codes"
    RadixCount "radix_count"
    RadixScan "radix_scan"
    RadixScatter "radix_scatter"
    OctreeBuild "octree_build"
    BvhBuild "bvh_build"
    BvhBoxes "bvh_boxes"
    FindNeighborsGrid "find_neighbors_grid"
    FindNeighborsOctree "find_neighbors_octree"
    FindNeighborsBvh "find_neighbors_bvh"
    FindNeighborsBrute "find_neighbors_brute"
    ColorContacts "color_contacts"
    CollideEnvironment "collide_environment"
    StabilizeContacts "stabilize_contacts"
    SolveContacts "solve_contacts"
    ApplyDeltas "apply_deltas"
    SolveEnvironment "solve_environment"
    SolveDistance "solve_distance"
    SolveBend "solve_bend"
    SolveVolume "solve_volume"
    SolvePin "solve_pin"
    Accelerate "accelerate"
    UpdateVelocity "update_velocity"
    Restitution "restitution"
    Sleep "sleep"
}
