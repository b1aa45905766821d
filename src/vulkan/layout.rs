//! Which word means what, in every buffer that host and device share: `globals`, written by the host
//! before a step, `state`, kept by the device, and the rows of the other buffers. Shaders name the
//! same words (`%g_omega`, `%set_stride`); the driver that assembles them takes the places from here
//! and refuses a word that is not here.

use crate::step::Pass;
use crate::world::Kind;

macro_rules! words {
    ($(#[$doc:meta])* $table:ident: $($name:ident $word:literal = $at:expr;)+) => {
        // Some are the shaders' alone.
        $(#[allow(dead_code)] pub(crate) const $name: usize = $at;)+
        $(#[$doc])*
        pub const $table: &[(&str, usize)] = &[$(($word, $at)),+];
    };
}

/// The passes whose shaders read the number of the substep, which is the first push constant.
pub const READ_SUBSTEP: &[Pass] =
    &[Pass::CatchWind, Pass::Bounds, Pass::CollideEnvironment, Pass::CollidePoints, Pass::SolvePin];

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
        PUSH_OUT "g_push_out" = 8;
        METHOD "g_method" = 9;
        ROTATION "g_rotation" = 14;
        OMEGA "g_omega" = 10;
        CONTACT_OMEGA "g_contact_omega" = 11;
        MARGIN "g_margin" = 12;
        MATERIALS "g_materials" = 13;
        FLOW_ROWS "g_flow_rows" = 31;
        FLUID_RELAXATION "g_fluid_relaxation" = 30;
        FLUID_PRESSURE "g_fluid_pressure" = 15;
        RESTITUTION_THRESHOLD "g_restitution_threshold" = 16;
        FLUID_PULLS "g_fluid_pulls" = 17;
        LIFT "g_lift_x" = 18;
        LIFT_Y "g_lift_y" = 19;
        LIFT_Z "g_lift_z" = 20;
        SLEEPING_SQ "g_sleeping_sq" = 21;
        RHO "g_rho" = 22;
        OCTREE_LEAF "g_octree_leaf" = 23;
        OCTREE_DEPTH "g_octree_depth" = 24;
        BVH_LEAF "g_bvh_leaf" = 25;
        GRIP_CAP "g_grip_cap" = 26;
        BVH_VOLUME "g_bvh_volume" = 27;
        BODY_RATE "g_body_rate" = 49;
        BODY_TAKE "g_body_take" = 32;
        BODY_EASE "g_body_ease" = 46;
        BODY_PUSH_OUT "g_body_push_out" = 47;
        BODY_PAIR_CAP "g_body_pair_cap" = 54;
        FLUID_SHARE "g_fluid_share" = 28;
        FLUID_VORTICITY "g_fluid_vorticity" = 55;
        FORCES "g_forces" = 29;
        BOTH "g_both" = 33;
        NEIGHBOR_CAP "g_neighbor_cap" = 34;
        ENVIRONMENT_CAP "g_environment_cap" = 35;
        PAIR_CAP "g_pair_cap" = 36;
        GRID_CAP "g_grid_cap" = 37;
        NODE_CAP "g_node_cap" = 38;
        TILE_CAP "g_tile_cap" = 39;
        RENEW "g_renew" = 40;
        SLACK "g_slack" = 41;
        POINT_CAP "g_point_cap" = 42;
        TORN_SQ "g_torn_sq" = 43;
        LARGEST_REACH "g_largest_reach" = 44;
        COMMON_CONTACT "g_common_contact" = 45;
        TILE_PER_METRE "g_tile_per_metre" = 48;
        REACH_LENGTH "g_reach_length" = 56;
        SLACK_LENGTH "g_slack_length" = 57;
        CHOOSES "g_chooses" = 58;
        EVERYTHING "g_everything" = 59;
        ASKS_MASK "g_asks_mask" = 60;
        ASKS_VALUE "g_asks_value" = 61;
        FOUND_MASK "g_found_mask" = 62;
        FOUND_VALUE "g_found_value" = 63;
    }
    /// The first word of the laws of the kinds: `g_law_distance` and so on.
    pub(crate) const LAW: usize = 50;
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
        LISTS_SINCE_SORT "s_lists_since_sort" = 2;
        LIST_BUILDS "s_list_builds" = 3;
        QUARANTINED "s_quarantined" = 4;
        BROKEN "s_broken" = 5;
        CONTACTS "s_contacts" = 6;
        OVERFLOW_POINTS "s_overflow_points" = 7;
        OVERFLOW_NEIGHBORS "s_overflow_neighbors" = 8;
        OVERFLOW_ENVIRONMENT "s_overflow_environment" = 9;
        OVERFLOW_PAIRS "s_overflow_pairs" = 10;
        OVERFLOW_NODES "s_overflow_nodes" = 11;
        NEIGHBORS_USED "s_neighbors_used" = 12;
        ENVIRONMENT_USED "s_environment_used" = 13;
        PAIRS_USED "s_pairs_used" = 14;
        MEMORY_PAIRS "s_memory_pairs" = 15;
        LOW "s_low_x" = 16;
        LOW_Y "s_low_y" = 17;
        LOW_Z "s_low_z" = 18;
        HIGH "s_high_x" = 19;
        HIGH_Y "s_high_y" = 20;
        HIGH_Z "s_high_z" = 21;
        MEMORY_BEHIND "s_memory_behind" = 22;
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
        TILES_HOLD_PAIRS "s_tiles_hold_pairs" = 60;
        FAR_PAIRS "s_far_pairs" = 61;
        OCTREE_NODES "s_octree_nodes" = 62;
        OVERFLOW_BODY_PAIRS "s_overflow_body_pairs" = 68;
        ACCELERATE_COUNT "s_accelerate_count" = 76;
        ACCELERATE_OMEGA "s_accelerate_omega" = 77;
        ACCELERATE_RHO "s_accelerate_rho" = 78;
        ACCELERATE_LEAST "s_accelerate_least" = 79;
        FAR_PAIRS_FIRST "s_far_pairs_first" = 80;
        ENVIRONMENT_LISTED "s_environment_listed" = 81;
        GAVE_UP "s_gave_up" = 82;
        POINTS_USED "s_points_used" = 83;
        POINTS_STIRRED "s_points_stirred" = 64;
        POINTS_LOOKED "s_points_looked" = 65;
        IMPACTS_EVEN "s_impacts_even" = 66;
        IMPACTS_ODD "s_impacts_odd" = 67;
        ARGUMENTS "s_arguments" = 96;
        GROUPS_PARTICLES "s_groups_particles" = arguments(slot::PARTICLES);
        GROUPS_ONE "s_groups_one" = arguments(slot::ONE);
        GROUPS_BUCKETS "s_groups_buckets" = arguments(slot::BUCKETS);
        GROUPS_TILES "s_groups_tiles" = arguments(slot::TILE_COLOR);
        GROUPS_NODES "s_groups_nodes" = arguments(slot::NODES);
        GROUPS_BLOCKS "s_groups_blocks" = arguments(slot::BLOCKS);
        TILE_FIRST "s_tile_first" = 192;
    }
    /// The first word of the rows that broke, by kind: `s_marked_distance` and so on.
    pub(crate) const MARKED: usize = 84;
    const fn arguments(slot: u32) -> usize {
        ARGUMENTS + 3 * slot as usize
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

/// Buffers of constraints: `distance`, `bend`, `volume`.
pub mod set {
    words! {
        /// Names and places of the words before the columns. A column has `set_stride` words.
        SET:
        STRIDE "set_stride" = 0;
        CORNERS "set_corners" = 1;
        COLORS "set_colors" = 2;
        INCIDENT_START "set_incident_start" = 3;
        INCIDENT "set_incident" = 4;
        INCIDENT_LIVE "set_incident_live" = 5;
        NATURAL "set_natural" = 6;
        NATURAL_LIVE "set_natural_live" = 7;
        FIRST "set_first" = 64;
        LIVE "set_live" = 128;
        COLUMNS "set_columns" = 256;
    }
}

/// Columns of constraints, counted from behind those of the corners. Shaders of one kind name
/// them counted from the first corner: `column_bend_rest` is 4 further on than `column_rest`.
pub mod column {
    words! {
        /// Names and places of the columns.
        COLUMN:
        REST "column_rest" = 0;
        REST_ORIGINAL "column_rest_original" = 1;
        SOFT "column_soft" = 2;
        BREAK_AT "column_break_at" = 3;
        YIELD_AT "column_yield_at" = 4;
        LAMBDA "column_lambda" = 5;
        BUSIEST "column_busiest" = 6;
        SERIAL "column_serial" = 7;
        SCRATCH "column_scratch" = 8;
    }
    /// How many there are.
    pub(crate) const COUNT: usize = COLUMN.len();
}

/// The buffer of pins.
pub mod pins {
    words! {
        /// Names and places of the words before the columns, then of the columns; behind them
        /// stand the targets, 4 words a pin and substep.
        PINS:
        COUNT "pins_count" = 0;
        STRIDE "pins_stride" = 1;
        COLUMNS "pins_columns" = 16;
        SLOT "pins_column_slot" = 0;
        SOFT "pins_column_soft" = 1;
        LAMBDA "pins_column_lambda" = 2;
        TARGETS "pins_column_targets" = 3;
    }
}

/// The buffer of materials: rows by material and other material, then by obstacle and material. Behind
/// them, from `g_flow_rows` on, what the same pairs are as fluids.
pub mod materials {
    words! {
        /// Names and places of the words of a row.
        MATERIALS:
        WORDS "pair_words" = 4;
        STATIC_FRICTION "pair_static_friction" = 0;
        FRICTION "pair_friction" = 1;
        RESTITUTION "pair_restitution" = 2;
        SHARE "flow_share" = 1;
        TENSION "flow_tension" = 2;
        ADHESION "flow_adhesion" = 3;
    }
}

/// The buffer of obstacles; `stages/environment.rs` tells what the words hold.
pub mod colliders {
    words! {
        /// Names and places of the words of the head, a collider, a pose, a node and a triangle.
        COLLIDERS:
        COUNT "colliders_count" = 0;
        SUBSTEPS "colliders_substeps" = 1;
        POSES "colliders_poses" = 2;
        FIRST "colliders_first" = 16;
        WORDS "collider_words" = 32;
        KIND "collider_kind" = 0;
        SIZES "collider_sizes" = 1;
        THICKNESS "collider_thickness" = 11;
        NODES "collider_nodes" = 12;
        NODE_COUNT "collider_node_count" = 13;
        TRIANGLES "collider_triangles" = 14;
        TRIANGLE_COUNT "collider_triangle_count" = 15;
        POSE_WORDS "pose_words" = 32;
        POSE_START "pose_start" = 0;
        POSE_START_TURN "pose_start_turn" = 3;
        POSE_END "pose_end" = 7;
        POSE_END_TURN "pose_end_turn" = 10;
        POSE_GUARD "pose_guard" = 14;
        POSE_GUARD_NUMBERS "pose_guard_numbers" = 15;
        NODE_WORDS "mesh_node_words" = 9;
        NODE_LOW "mesh_node_low" = 0;
        NODE_HIGH "mesh_node_high" = 3;
        NODE_SKIP "mesh_node_skip" = 6;
        NODE_FIRST "mesh_node_first" = 7;
        NODE_LEAF "mesh_node_count" = 8;
        TRIANGLE_WORDS "triangle_words" = 16;
        TRIANGLE_A "triangle_a" = 0;
        TRIANGLE_B "triangle_b" = 3;
        TRIANGLE_C "triangle_c" = 6;
        TRIANGLE_NORMAL "triangle_normal" = 9;
        TRIANGLE_NUMBER "triangle_number" = 12;
        TRIANGLE_FLAGS "triangle_flags" = 13;
    }
}

/// The buffers of `catch_wind`; `stages/surfaces.rs` tells what the words hold.
pub mod surfaces {
    words! {
        /// Names and places of the words before the fans; then of a wind and of its gusts.
        SURFACES:
        ENTRIES "fans_entries" = 0;
        FANS "fans_first" = 4;
        COUNT "winds_count" = 0;
        WINDS "winds_first" = 4;
        WIND_WORDS "wind_words" = 16;
        VELOCITY "wind_velocity" = 0;
        FACTOR "wind_factor" = 3;
        DRAG "wind_drag" = 4;
        LIFT "wind_lift" = 5;
        GUST_SPEED "wind_gust_speed" = 6;
        PER_METRE "wind_per_metre" = 7;
        BOUNDED "wind_bounded" = 8;
        LOW "wind_low" = 9;
        HIGH "wind_high" = 12;
        GUST_WORDS "gust_words" = 8;
        CELL "gust_cell" = 0;
        LAYER "gust_layer" = 3;
        SHIFT "gust_shift" = 4;
        BLEND "gust_blend" = 7;
    }
}

/// The buffers of bodies; `stages/bodies.rs` tells what the words hold.
pub mod bodies {
    words! {
        /// Names and places of the words of a body, and sizes of rows.
        BODY:
        BODIES "bodies_first" = 4;
        LINKS "links_first" = 4;
        BODY_WORDS "body_words" = 121;
        ENTRY_WORDS "entry_words" = 2;
        LINK_WORDS "link_words" = 6;
        CHUNK_WORDS "chunk_words" = 3;
        SUM_WORDS "sum_words" = 16;
        LANES "lane_count" = 8;
        FIRST "body_links" = 0;
        CHUNKS "body_chunks" = 2;
        CHUNK_COUNT "body_chunk_count" = 3;
        STRETCH "body_stretch" = 4;
        SOFTNESS "body_softness" = 5;
        SCALE "body_scale" = 6;
        MOMENTS "body_moments" = 8;
        INVERSE "body_inverse" = 14;
        TURN "body_turn" = 20;
        BASE_TURN "body_base_turn" = 24;
        BASE "body_pose" = 28;
        CENTER "body_center" = 37;
        GOAL "body_goal" = 40;
        SHIFT "body_shift" = 49;
        FROM "body_from" = 52;
        DRIFT "body_drift" = 55;
        SWING "body_swing" = 58;
        CARRY "body_carry" = 67;
        INV_MASS "body_inv_mass" = 7;
        SPIN "body_spin" = 76;
        FROM_BASE "body_from_base" = 85;
        OWN "body_own" = 94;
        FIRST_ROW "body_first_row" = 95;
        ROWS "body_rows_count" = 96;
        MOBILITY "body_mobility" = 97;
        OMEGA "body_omega" = 106;
        AFTER "body_after" = 109;
        AFTER_BY_PLACE "body_after_by_place" = 112;
        PAIR_COUNT "pairs_count" = 0;
        COLOR_COUNT "pairs_colors" = 1;
        PAIRS "pairs_first" = 4;
        PAIR_WORDS "body_pair_words" = 4;
        PAIR_A "body_pair_a" = 0;
        PAIR_B "body_pair_b" = 1;
        PAIR_ROWS "body_pair_rows_count" = 2;
        PAIR_COLOR "body_pair_color" = 3;
        PAIR_ROOM "body_pair_room" = 54;
        NEAR_BODY_WORDS "near_body_words" = 8;
        NEAR_BODY_HIGH "near_body_high" = 3;
        NEAR_BODY_COUNT "near_body_count" = 6;
        NEAR_BODY_FIRST "near_body_first" = 7;
        FIELD_LOW "field_low" = 0;
        FIELD_SPACING "field_spacing" = 3;
        FIELD_SIZE "field_size" = 4;
        FIELD_MIDDLE "field_middle" = 7;
        FIELD_HALF "field_half" = 10;
        FIELD_RADIUS "field_radius" = 13;
        FIELD_EXTENT "field_extent" = 14;
        FIELD_SURFACE_COUNT "field_surface_count" = 15;
        FIELD_SURFACE "field_surface" = 16;
        FIELD_OWNERS "field_owners" = 17;
        FIELD_NODES "field_nodes" = 18;
        TOUCHING_COUNT "touching_count" = 0;
        TOUCHING_ROOM "touching_room" = 1;
        TOUCHING "touching_first" = 4;
        TOUCHING_WORDS "touching_words" = 4;
        TOUCH_WORDS "body_touch_words" = 12;
        TOUCH_KEY "body_touch_key" = 0;
        TOUCH_PUSH "body_touch_push" = 1;
        TOUCH_HELD "body_touch_held" = 2;
        TOUCH_FRICTION "body_touch_friction" = 5;
        TOUCH_NORMAL "body_touch_normal" = 6;
        TOUCH_PLACE "body_touch_place" = 9;
        ROW_OTHER_ARM "walls_row_other_arm" = 24;
        ROW_OTHER_TURNS "walls_row_other_turns" = 27;
        ROW_WORDS "walls_row_words" = 30;
        ROW_NORMAL "walls_row_normal" = 0;
        ROW_ARM "walls_row_arm" = 3;
        ROW_SWEEP "walls_row_sweep" = 6;
        ROW_TURNS "walls_row_turns" = 9;
        ROW_GAP "walls_row_gap" = 12;
        ROW_MASS "walls_row_mass" = 13;
        ROW_BOUNCE "walls_row_bounce" = 14;
        ROW_FRICTION "walls_row_friction" = 15;
        ROW_FIXED "walls_row_fixed" = 16;
        ROW_KINETIC "walls_row_kinetic" = 17;
        ROW_PUSH "walls_row_push" = 18;
        ROW_HELD "walls_row_held" = 19;
        ROW_SLOT "walls_row_slot" = 22;
        ROW_NTH "walls_row_nth" = 23;
    }
}

/// Rows of `point_contacts`; `stages/points.rs` tells what the words hold.
pub mod points {
    words! {
        /// Names and places of the words of a row.
        POINTS:
        WORDS "point_words" = 13;
        CORNERS "point_corners" = 0;
        SHARES "point_shares" = 2;
        PLANE "point_plane" = 4;
        MOTION "point_motion" = 8;
        COLLIDER "point_collider" = 11;
        PASSED "point_passed" = 12;
    }
}

/// The trees; `stages/trees.rs` tells what the words hold.
pub mod trees {
    words! {
        /// Names and places of the words of a node of the octree and of the tree of volumes.
        TREES:
        OCTREE_NODE "octree_node_words" = 12;
        OCTREE_HIGH "octree_node_high" = 3;
        OCTREE_FIRST "octree_node_first" = 6;
        OCTREE_END "octree_node_end" = 7;
        OCTREE_FIRST_CHILD "octree_node_first_child" = 8;
        OCTREE_CHILD_COUNT "octree_node_child_count" = 9;
        OCTREE_PARENT "octree_node_parent" = 10;
        OCTREE_ARRIVED "octree_node_arrived" = 11;
        BVH_NODE "bvh_node_words" = 16;
        BVH_HIGH "bvh_node_high" = 6;
        BVH_FIRST "bvh_node_first" = 12;
        BVH_SPLIT "bvh_node_split" = 13;
        BVH_LAST "bvh_node_last" = 14;
        BVH_ARRIVED "bvh_node_arrived" = 15;
    }
}

/// Tiles in `contact_rows`; `stages/lists.rs` tells what the words hold.
pub mod tile {
    words! {
        /// Names and places of the words of a tile: where each colour of its pairs begins and the
        /// last ends, then its members.
        TILE:
        PAIR_COLORS "tile_pair_colors" = 64;
        MEMBERS "tile_members" = 65;
        MEMBERS_END "tile_members_end" = 66;
        NUMBER "tile_number" = 67;
        WORDS "tile_words" = 68;
    }
}

/// What contacts hold, in `grips`, `wall_grips` and `contact_memory`; `stages/contacts.rs` tells what
/// the words are.
pub mod memory {
    words! {
        /// The names of these words.
        MEMORY:
        GRIP "held_words" = 10;
        WORDS "memory_words" = 12;
        WALL "kept_wall_words" = 14;
        WALL_NORMAL "kept_wall_normal" = 11;
    }
}

/// The radix sort.
pub mod radix {
    words! {
        /// Names of sizes: places that a group counts, and values of a digit.
        RADIX:
        BLOCK "radix_block" = 8192;
        VALUES "radix_values" = 1024;
    }
}

/// The kinds of constraint that have rows on the device, and the particles of a row of each.
pub const KINDS: [(&str, usize); Kind::SETS.len()] = {
    let mut kinds = [("", 0); Kind::SETS.len()];
    let mut at = 0;
    while at < kinds.len() {
        kinds[at] = (Kind::SETS[at].name(), Kind::SETS[at].corners());
        at += 1;
    }
    kinds
};

/// Words of which every kind has one, in the order of [`KINDS`]: the name before that of the kind,
/// and the place of the first.
pub const WORDS_OF_KINDS: [(&str, usize); 2] =
    [("g_law_", globals::LAW), ("s_marked_", state::MARKED)];
// The words behind them are taken.
const _: () = assert!(globals::LAW + KINDS.len() <= globals::BODY_PAIR_CAP);
const _: () = assert!(state::MARKED + KINDS.len() <= state::ARGUMENTS);

/// Every table.
pub const TABLES: &[&[(&str, usize)]] = &[
    globals::GLOBALS,
    state::STATE,
    set::SET,
    column::COLUMN,
    pins::PINS,
    materials::MATERIALS,
    colliders::COLLIDERS,
    surfaces::SURFACES,
    points::POINTS,
    bodies::BODY,
    trees::TREES,
    tile::TILE,
    memory::MEMORY,
    radix::RADIX,
];

/// The place of a word, by its name in the shaders.
pub fn word(name: &str) -> Option<usize> {
    let place = |name: &str| {
        let mut words = TABLES.iter().copied().flatten();
        words.find(|(known, _)| *known == name).map(|(_, at)| *at)
    };
    let of_kind = || {
        let (first, kind) = WORDS_OF_KINDS
            .iter()
            .find_map(|(before, first)| Some((first, name.strip_prefix(before)?)))?;
        Some(first + KINDS.iter().position(|(known, _)| *known == kind)?)
    };
    place(name).or_else(of_kind).or_else(|| {
        // A column of one kind of constraint.
        let (kind, column) = name.strip_prefix("column_")?.split_once('_')?;
        let (_, corners) = KINDS.iter().find(|(known, _)| *known == kind)?;
        Some(corners + place(&format!("column_{column}"))?)
    })
}

pub(crate) use column::COUNT as SET_COLUMNS;
pub(crate) use pins::COLUMNS as PIN_HEADER;
pub(crate) use radix::BLOCK as COUNTED;
pub(crate) use set::{COLUMNS as SET_HEADER, FIRST as SET_FIRST, LIVE as SET_LIVE};
