//! Which word means what: `globals`, written by the host before a step, and `state`, kept by the
//! device. Shaders name the same words; `tests/mirror.rs` compares them.

macro_rules! words {
    ($(#[$doc:meta])* $table:ident: $($name:ident $word:literal = $at:literal;)+) => {
        // Some are the shaders' alone.
        $(#[allow(dead_code)] pub(crate) const $name: usize = $at;)+
        $(#[$doc])*
        pub const $table: &[(&str, usize)] = &[$(($word, $at)),+];
    };
}

/// Words the host writes before a step.
pub mod globals {
    words! {
        /// Names and places of the words of `globals`.
        GLOBALS:
        PARTICLES "g_particles" = 0;
        H "g_h" = 1;
        INV_H "g_inv_h" = 2;
        GRAVITY "g_gravity_x" = 3;
        GRAVITY_Y "g_gravity_y" = 4;
        GRAVITY_Z "g_gravity_z" = 5;
        KEEP "g_keep" = 6;
        INTEGRATOR "g_integrator" = 7;
        SOLVER "g_solver" = 8;
        METHOD "g_method" = 9;
        OMEGA "g_omega" = 10;
        CONTACT_OMEGA "g_contact_omega" = 11;
        MARGIN "g_margin" = 12;
        STATIC_FRICTION "g_static_friction" = 13;
        FRICTION "g_friction" = 14;
        RESTITUTION "g_restitution" = 15;
        RESTITUTION_THRESHOLD "g_restitution_threshold" = 16;
        MASS_SCALE "g_mass_scale" = 17;
        UP "g_up_x" = 18;
        UP_Y "g_up_y" = 19;
        UP_Z "g_up_z" = 20;
        SLEEPING_SQ "g_sleeping_sq" = 21;
        RHO "g_rho" = 22;
        OCTREE_LEAF "g_octree_leaf" = 23;
        OCTREE_DEPTH "g_octree_depth" = 24;
        BVH_LEAF "g_bvh_leaf" = 25;
        BVH_START "g_bvh_start" = 26;
        BVH_VOLUME "g_bvh_volume" = 27;
        BVH_WALK "g_bvh_walk" = 28;
        FORCES "g_forces" = 29;
        LAW_DISTANCE "g_law_distance" = 30;
        LAW_BEND "g_law_bend" = 31;
        LAW_VOLUME "g_law_volume" = 32;
        BOTH "g_both" = 33;
        NEIGHBOR_CAP "g_neighbor_cap" = 34;
        ENVIRONMENT_CAP "g_environment_cap" = 35;
        PAIR_CAP "g_pair_cap" = 36;
        GRID_CAP "g_grid_cap" = 37;
        NODE_CAP "g_node_cap" = 38;
        TILE_CAP "g_tile_cap" = 39;
        RENEW "g_renew" = 40;
        SLACK "g_slack" = 41;
        MEAN_REACH "g_mean_reach" = 42;
        LEAST_REACH "g_least_reach" = 43;
        LARGEST_REACH "g_largest_reach" = 44;
        ALIKE "g_alike" = 45;
        PAIRS_BOUNCE "g_pairs_bounce" = 46;
        EQUAL "g_equal" = 47;
        TILE_PER_METRE "g_tile_per_metre" = 48;
    }
    /// First word of the force fields, and how many each takes.
    pub(crate) const FIELDS: usize = 64;
    pub(crate) const FIELD: usize = 16;
}

/// Words the device keeps.
pub mod state {
    words! {
        /// Names and places of the words of `state`.
        STATE:
        STALE "s_stale" = 0;
        LIST_FLOOR "s_list_floor" = 1;
        LISTS_SINCE_SORT "s_lists_since_sort" = 2;
        LIST_BUILDS "s_list_builds" = 3;
        QUARANTINED "s_quarantined" = 4;
        BROKEN "s_broken" = 5;
        CONTACTS "s_contacts" = 6;
        LISTED "s_listed" = 7;
        OVERFLOW_NEIGHBORS "s_overflow_neighbors" = 8;
        OVERFLOW_ENVIRONMENT "s_overflow_environment" = 9;
        OVERFLOW_PAIRS "s_overflow_pairs" = 10;
        OVERFLOW_NODES "s_overflow_nodes" = 11;
        NEIGHBORS_USED "s_neighbors_used" = 12;
        ENVIRONMENT_USED "s_environment_used" = 13;
        PAIRS_USED "s_pairs_used" = 14;
        LOW "s_low_x" = 16;
        LOW_Y "s_low_y" = 17;
        LOW_Z "s_low_z" = 18;
        HIGH "s_high_x" = 19;
        HIGH_Y "s_high_y" = 20;
        HIGH_Z "s_high_z" = 21;
        BOX_LOW "s_box_low_x" = 24;
        BOX_HIGH "s_box_high_x" = 27;
        GRID_LOW "s_grid_low_x" = 36;
        GRID_LOW_Y "s_grid_low_y" = 37;
        GRID_LOW_Z "s_grid_low_z" = 38;
        GRID_PER_METRE "s_grid_per_metre" = 39;
        GRID_COUNT "s_grid_count_x" = 40;
        GRID_COUNT_Y "s_grid_count_y" = 41;
        GRID_COUNT_Z "s_grid_count_z" = 42;
        GRID_HASH_MASK "s_grid_hash_mask" = 43;
        GRID_BUCKETS "s_grid_buckets" = 44;
        MORTON_LOW "s_morton_low_x" = 46;
        MORTON_LOW_Y "s_morton_low_y" = 47;
        MORTON_LOW_Z "s_morton_low_z" = 48;
        MORTON_SCALE "s_morton_scale" = 49;
        TILE_LOW "s_tile_low_x" = 52;
        TILE_LOW_Y "s_tile_low_y" = 53;
        TILE_LOW_Z "s_tile_low_z" = 54;
        TILE_PER_METRE "s_tile_per_metre" = 55;
        TILE_COUNT "s_tile_count_x" = 56;
        TILE_COUNT_Y "s_tile_count_y" = 57;
        TILE_COUNT_Z "s_tile_count_z" = 58;
        TILES "s_tiles" = 59;
        TILE_SNUG "s_tile_snug" = 60;
        APART "s_apart" = 61;
        OCTREE_NODES "s_octree_nodes" = 62;
        OCTREE_LEVEL "s_octree_level" = 63;
        ACCELERATE_COUNT "s_accelerate_count" = 76;
        ACCELERATE_OMEGA "s_accelerate_omega" = 77;
        ACCELERATE_RHO "s_accelerate_rho" = 78;
        ACCELERATE_LEAST "s_accelerate_least" = 79;
        APART_FIRST "s_apart_first" = 80;
        MARKED_DISTANCE "s_marked_distance" = 92;
        MARKED_BEND "s_marked_bend" = 93;
        MARKED_VOLUME "s_marked_volume" = 94;
        ENVIRONMENT_LISTED "s_environment_listed" = 81;
        GAVE_UP "s_gave_up" = 82;
        ARGUMENTS "s_arguments" = 96;
        TILE_FIRST "s_tile_first" = 192;
    }
    /// Words of `state`.
    pub(crate) const WORDS: usize = 512;
    /// Indirect arguments stand at `ARGUMENTS + 3 slot`.
    pub(crate) mod slot {
        pub(crate) const PARTICLES: u32 = 0;
        pub(crate) const ONE: u32 = 1;
        pub(crate) const BUCKETS: u32 = 2;
        /// The first of 27, one for each colour of tiles.
        pub(crate) const TILE_COLOR: u32 = 3;
        pub(crate) const TILES: u32 = 30;
        pub(crate) const NODES: u32 = 31;
        /// Behind `TILE_FIRST`: words 258 to 260.
        pub(crate) const BLOCKS: u32 = 54;
    }
}

/// Constraint buffers: words before the columns, and where in them colours begin.
pub(crate) const SET_HEADER: usize = 256;
pub(crate) const SET_FIRST: usize = 64;
pub(crate) const SET_LIVE: usize = 128;
/// Columns behind the corners.
pub(crate) const SET_COLUMNS: usize = 9;
/// Pin buffers: words before the columns.
pub(crate) const PIN_HEADER: usize = 16;
/// Particles counted together by the radix sort.
pub(crate) const COUNTED: usize = 8192;
