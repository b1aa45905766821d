//! What each pass is called and which buffers it touches: declared once, for both backends, the
//! reports, the documentation and the test that keeps them in step.

pub use crate::table::Buffer;

/// A pass's name, one sentence on it, and the buffers it may touch.
#[derive(Clone, Copy, Debug)]
pub struct PassInfo {
    /// The pass.
    pub pass: Pass,
    /// Its name in files, reports and graphs.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Buffers it reads.
    pub reads: &'static [Buffer],
    /// Buffers it writes.
    pub writes: &'static [Buffer],
}

macro_rules! passes {
    ($($pass:ident $name:literal $doc:literal reads [$($r:ident)*] writes [$($w:ident)*];)+) => {
        /// The passes, in the order a step meets them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Pass { $(#[doc = $doc] $pass),+ }

        /// Every pass, in the order a step meets them.
        pub const PASSES: &[PassInfo] = &[$(PassInfo {
            pass: Pass::$pass,
            name: $name,
            doc: $doc,
            reads: &[$(Buffer::$r),*],
            writes: &[$(Buffer::$w),*],
        },)+];

        #[cfg(feature = "vulkan")]
        impl Pass {
            /// The assembled shader: `spirv/<pass>.spvasm` is what was written by hand.
            pub(crate) const fn module(self) -> &'static [u8] {
                match self {
                    $(Pass::$pass => include_bytes!(concat!("../spirv/", $name, ".spv")),)+
                }
            }
        }
    };
}

passes! {
    BreakConstraints "break_constraints" "removes constraints strained past their threshold, lets others yield"
        reads [Position Start Distance Bend Volume] writes [Distance Bend Volume];
    SortParticles "sort_particles" "puts particles that are near in space near in memory, now and then"
        reads [Sorted] writes [Position Predicted Velocity Radius Phase Material Rest Start ListReference Points Codes Sorted Delta Distance Bend Volume Pins Surfaces ContactMemory Links];
    CatchWind "catch_wind" "lets the triangles of cloth catch the wind: drag and lift"
        reads [Position Start Velocity Rest Surfaces Winds] writes [Delta Velocity];
    Predict "predict" "applies forces and moves each particle along its velocity; clears the multipliers"
        reads [Position Start Velocity] writes [Position Velocity Predicted Start Distance Bend Volume Pins];
    BodyPredict "body_predict" "turns bodies as their particles turn about the centre"
        reads [Position Start Velocity Links Bodies BodySums] writes [Predicted Bodies BodySums BodyPushes];
    Bounds "bounds" "finds whether a particle left its list's margin and, if so, the box around all"
        reads [Position Predicted Radius ListReference] writes [ListReference Points];
    RememberContacts "remember_contacts" "tells the world what contacts hold, before lists are made anew and after a step"
        reads [Start Neighbors ContactRows Grips EnvironmentContacts WallGrips] writes [ContactMemory];
    GridCount "grid_count" "finds each particle's grid cell and counts those of each slab of cells"
        reads [Points] writes [GridBucket GridSlab];
    GridScan "grid_scan" "turns the counts of slabs into places"
        reads [GridSlab] writes [GridSlab];
    GridSort "grid_sort" "copies the particles in order of cell"
        reads [Points GridBucket GridSlab] writes [Sorted GridStart GridSlab];
    MortonCodes "morton_codes" "gives each particle its place on a curve that keeps near ones together"
        reads [Points] writes [Codes];
    RadixCount "radix_count" "counts the values of a digit of the codes"
        reads [Codes] writes [RadixNext];
    RadixScan "radix_scan" "turns the counts of a digit into places"
        reads [RadixNext] writes [RadixNext];
    RadixScatter "radix_scatter" "moves the codes to their places by a digit, in the end the particles"
        reads [Codes RadixNext Points] writes [Codes Sorted];
    OctreeBuild "octree_build" "splits the codes into an octree with exact boxes"
        reads [Codes Sorted] writes [OctreeNodes];
    BvhBuild "bvh_build" "makes a binary radix tree of the codes"
        reads [Codes] writes [BvhNodes];
    BvhBoxes "bvh_boxes" "bounds every node of the tree, from the leaves up"
        reads [Sorted Phase] writes [BvhNodes];
    FindNeighborsGrid "find_neighbors_grid" "lists the particles within reach of each, through the grid"
        reads [Position Sorted Points GridStart Radius Phase Rest Distance] writes [Neighbors];
    FindNeighborsOctree "find_neighbors_octree" "lists the particles within reach of each, through the octree"
        reads [Position Sorted OctreeNodes Radius Phase Rest Distance] writes [Neighbors];
    FindNeighborsBvh "find_neighbors_bvh" "lists the particles within reach of each, through the tree of boxes"
        reads [Position Sorted BvhNodes Radius Phase Rest Distance] writes [Neighbors];
    FindNeighborsBrute "find_neighbors_brute" "lists the particles within reach of each, testing every pair"
        reads [Position Points Radius Phase Rest Distance] writes [Neighbors];
    ColorContacts "color_contacts" "sorts the listed pairs into batches that share no particle, tile by tile"
        reads [Neighbors Points] writes [ContactRows];
    CollideEnvironment "collide_environment" "lists the planes of the obstacles each particle may touch, swept"
        reads [Position Start Predicted Radius Phase Colliders Material Materials] writes [EnvironmentContacts WallGrips ContactMemory];
    Restitution "restitution" "bounces what closes fast, handed on from contact to contact"
        reads [Position Start Predicted Velocity Radius Phase Material Materials Neighbors EnvironmentContacts] writes [Velocity Predicted Impacts];
    AnchorContacts "anchor_contacts" "lets contacts go on from what they held, so that friction remembers"
        reads [Position Start Phase Material Materials Neighbors ContactRows ContactMemory Grips] writes [Grips];
    CollidePoints "collide_points" "lists the vertices of meshes that triangles of cloth may meet, swept"
        reads [Position Start Predicted Rest Radius Surfaces Colliders] writes [PointContacts];
    FluidNormals "fluid_normals" "finds where the inside of a fluid is, for its surface tension"
        reads [Position Start Radius Phase Material Materials Neighbors] writes [Normals];
    FluidCohesion "fluid_cohesion" "draws fluids together, and to what they wet"
        reads [Position Start Radius Phase Material Materials Neighbors EnvironmentContacts Normals] writes [Predicted];
    SolveContacts "solve_contacts" "pushes touching particles apart, with static and kinetic friction"
        reads [Position Start Predicted Material Materials Neighbors ContactRows Grips] writes [Delta Predicted Grips];
    ApplyDeltas "apply_deltas" "averages gathered corrections and applies them"
        reads [Delta Corrections Distance Bend Volume] writes [Predicted];
    SolveEnvironment "solve_environment" "puts particles outside the obstacles, with friction"
        reads [Start Predicted Radius Phase Material Materials EnvironmentContacts WallGrips] writes [Predicted WallGrips];
    SolvePoints "solve_points" "keeps triangles of cloth off the vertices of meshes, with friction"
        reads [Position Start Predicted Material Materials PointContacts] writes [Delta Predicted];
    DensityLambda "density_lambda" "finds how compressed the fluid is, and what will put it right"
        reads [Position Start Predicted Radius Phase Neighbors EnvironmentContacts] writes [Lambdas Shores];
    DensityDelta "density_delta" "moves fluid, and what is in it, so that it keeps its density"
        reads [Position Radius Phase Neighbors Lambdas Shores] writes [Predicted];
    SolveDistance "solve_distance" "projects distance constraints"
        reads [Position Predicted Distance] writes [Predicted Distance Corrections];
    SolveBend "solve_bend" "projects dihedral hinges"
        reads [Position Predicted Bend] writes [Predicted Bend Corrections];
    SolveVolume "solve_volume" "projects tetrahedron volumes"
        reads [Position Predicted Volume] writes [Predicted Volume Corrections];
    SolvePin "solve_pin" "pulls pinned particles to their targets"
        reads [Position Predicted Pins] writes [Predicted Pins];
    ShapeMoments "shape_moments" "adds up what the particles of each body say, chunk by chunk"
        reads [Position Predicted Links Bodies] writes [BodySums];
    ShapeRotation "shape_rotation" "finds how each body is turned, and the goals that follow"
        reads [BodySums Bodies] writes [Bodies];
    ShapeApply "shape_apply" "moves the particles of bodies towards their goals"
        reads [Position Predicted Links Bodies BodyPushes] writes [Predicted BodyPushes];
    Accelerate "accelerate" "carries iterates further the way they went, and stops when they diverge"
        reads [Predicted Iterates Distance Bend Volume Pins] writes [Predicted Iterates Distance Bend Volume Pins];
    BodyWalls "body_walls" "lists where rigid bodies meet obstacles, with what they pressed before"
        reads [Position Start Predicted Radius Material Materials EnvironmentContacts WallGrips Links Bodies] writes [Bodies ImpulseRows];
    BodyPairs "body_pairs" "finds which rigid bodies are near each other"
        reads [Position Links Bodies BodyFields] writes [BodyPairs];
    BodyContacts "body_contacts" "finds where rigid bodies may touch each other, with what they pressed before"
        reads [Position Radius Material Materials Links Bodies BodyFields Touches] writes [BodyPairs PairRows];
    ColorBodies "color_bodies" "gives pairs of bodies that touch colours, so that workers can take them side by side"
        reads [Bodies] writes [BodyPairs];
    SolveBodies "solve_bodies" "finds the impulses of obstacles and of each other on rigid bodies, with friction and bounces"
        reads [EnvironmentContacts Bodies BodyPairs] writes [Bodies ImpulseRows PairRows WallGrips Touches];
    PlaceBodies "place_bodies" "moves the particles of rigid bodies as the impulses on them do"
        reads [Predicted Links Bodies] writes [Predicted];
    UpdateVelocity "update_velocity" "makes velocities from the moves; quarantines non-finite particles"
        reads [Position Start Predicted Velocity] writes [Velocity Predicted Position];
    BodyVelocity "body_velocity" "gives the velocities of bodies the direction that they have where they arrive"
        reads [Position Start Links Bodies] writes [Velocity];
    FluidCurls "fluid_curls" "finds how the fluid turns"
        reads [Position Predicted Radius Phase Velocity Neighbors] writes [Curls];
    FluidVorticity "fluid_vorticity" "gives back to whirls what the solver takes from them"
        reads [Position Predicted Radius Phase Neighbors Curls] writes [Velocity];
    FluidViscosity "fluid_viscosity" "lets fluid take part in the velocity of the fluid around it"
        reads [Position Predicted Radius Phase Material Materials Velocity Neighbors] writes [Delta Velocity];
    Sleep "sleep" "takes the new positions, unless a particle is slower than the sleeping threshold"
        reads [Predicted Start] writes [Start];
    Rebase "rebase" "counts moves from where the particles are now, and keeps what rounding leaves over"
        reads [Position Start] writes [Position Start Predicted];
}

impl PassInfo {
    /// The buffers it touches, each once, in the order of [`Buffer`]: what a shader binds, behind
    /// `globals` and `state`.
    pub fn bindings(&self) -> impl Iterator<Item = Buffer> + '_ {
        let touched = |b: &&Buffer| self.reads.contains(b) || self.writes.contains(b);
        Buffer::ALL.iter().filter(touched).copied()
    }
}

impl Pass {
    /// How many passes there are.
    pub const COUNT: usize = PASSES.len();
    /// What is declared of it.
    pub fn info(self) -> &'static PassInfo {
        &PASSES[self as usize]
    }
    /// Whether it makes neighbour lists from a structure that other passes built.
    pub fn finds_neighbors(self) -> bool {
        use Pass::*;
        matches!(
            self,
            FindNeighborsGrid | FindNeighborsOctree | FindNeighborsBvh | FindNeighborsBrute
        )
    }
    /// The name in files, reports and graphs.
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, info) in PASSES.iter().enumerate() {
            assert_eq!(info.pass as usize, i, "{}", info.name);
        }
    }
}
