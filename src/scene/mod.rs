//! Scene files: TOML that says what is in a world and what its run must keep to.
//!
//! [`Scene::load`] reads a built-in scene or a file, [`Scene::build`] makes the world, a
//! [`Checker`] watches the run. Units are SI, y is up. Every number must be finite and at most 1e9
//! in size; a key that is not in the tables below is an error. Errors name the file, the line and
//! the field.
//!
//! A run goes: text -> tree with lines (`document`) -> variant and `--set` laid over it -> typed
//! tables (`file`, `objects`) -> size of the whole (`size`) -> materials, skeletons, objects, joints,
//! colliders, forces (`build`).
//!
//! # Top level
//!
//! | key | unit | default | meaning |
//! |---|---|---|---|
//! | `name` | | file name | name in reports |
//! | `title` | | "" | what it shows, in one line |
//! | `source` | | "" | where it comes from |
//! | `seed` | | 1 | of everything random |
//! | `steps` | 1 | 300 | steps after which the checks are meant to hold |
//! | `[params]` | | | any of [`Params::TABLE`]: `dt`, `gravity`, `iterations`, `solver`... |
//! | `[camera]` | | | `eye` (m), `target` (m), `fov` (degrees, vertical); all optional |
//! | `[variants.NAME]` | | | see below |
//!
//! # Objects
//!
//! Objects are built in the order cloth, box, granular, particles, mesh, body, fluid, emitter, and are
//! called by their `name` or else by their place: `cloth.0`, `box.2`. [`ObjectKinds`] is the page of their tables
//! [`[[cloth]]`](ObjectKinds::CLOTH), [`[[box]]`](ObjectKinds::BOX),
//! [`[[granular]]`](ObjectKinds::GRANULAR), [`[[particles]]`](ObjectKinds::PARTICLES),
//! [`[[mesh]]`](ObjectKinds::MESH), [`[[body]]`](ObjectKinds::BODY),
//! [`[[fluid]]`](ObjectKinds::FLUID) and [`[[emitter]]`](ObjectKinds::EMITTER), with every key.
//!
//! # Values of several keys
//!
//! - A *direction* is any vector but 0; its length does not matter.
//! - A *rotation* is `{ axis = [0, 1, 0], degrees = 45 }`, counter-clockwise looking against the axis.
//!
//! # `[[material]]`: how things slide and bounce
//!
//! | key | unit | default | meaning |
//! |---|---|---|---|
//! | `name` | | needed | what objects and colliders call it; `default` is the material of `[params]` |
//! | `friction`, `static_friction` | 1 | of `[params]` | coefficients; `friction` alone sets both |
//! | `restitution` | 1 | of `[params]` | 0 to 1 |
//!
//! Objects and colliders name one with `material = "NAME"`; an object may instead have these numbers
//! among its own keys, and then has a material of its own. All others are of the default material,
//! which is `[params]`. Where two materials meet, each kind of friction is the geometric mean of
//! theirs, and restitution is the larger one. Static friction is never below kinetic friction.
//!
//! # `[[material_pair]]`: two materials that do not follow that rule
//!
//! | key | unit | default | meaning |
//! |---|---|---|---|
//! | `materials` | | needed | two names: `["rubber", "ice"]`; they may be the same |
//! | `friction`, `static_friction`, `restitution` | 1 | by the rule | at least one of them; `friction` alone sets both |
//!
//! # `[[joint]]`: an edge between two particles
//!
//! | key | unit | default | meaning |
//! |---|---|---|---|
//! | `a`, `b` | | needed | `"object:index"`, on a cloth also `"object:column,row"`; negative from the end |
//! | `rest` | m | their distance | rest length |
//! | `compliance`, `stiffness`, `break_at`, `yield_at` | | rigid | as for edges |
//!
//! # `[[collider]]`: a solid on a prescribed path
//!
//! | key | unit | default | meaning |
//! |---|---|---|---|
//! | `name` | | its place | for messages |
//! | `shape` | | needed | `plane sphere box capsule cylinder cone mesh` |
//! | `normal` | direction | y | plane: out of the ground |
//! | `radius` | m | needed | sphere, capsule, cylinder, cone (its base) |
//! | `half` | m | needed | box: half the size on each axis |
//! | `half_height` | m | needed | capsule (of the straight part), cylinder; axis y |
//! | `height` | m | needed | cone: base at local y = 0, apex above |
//! | `mesh` | | needed | an .obj file, relative to the scene's folder, or a built-in mesh |
//! | `scale` | 1 | 1 | mesh: one factor, or one for each axis |
//! | `closed` | | true | mesh: a solid; false: a sheet with two sides |
//! | `thickness` | m | 0 | mesh: of the sheet |
//! | `position` | m | [0, 0, 0] | of the local origin |
//! | `rotation` | rotation | none | about the local origin |
//! | `material` | | "default" | what it is made of |
//! | `friction`, `static_friction` | 1 | by the materials | against particles of any material; `friction` alone sets both |
//! | `restitution` | 1 | by the materials | against particles of any material, 0 to 1 |
//! | `keyframes` | | [] | `[{ time = 0 [s], position = [..], rotation = {..} }]`; what a keyframe leaves out is the collider's own |
//! | `looped` | | false | starts over after the last keyframe |
//!
//! Built-in meshes: see [`Scene::builtin_mesh_names`].
//!
//! # `[[sink]]`: where fluid and loose grains go out
//!
//! It takes the keys of `[[collider]]` that say what shape it has and where it is when. Whoever's
//! centre is inside at the beginning of a step is taken out; parts of cloth, soft bodies and bodies, and
//! what is pinned, stay. `shape = "plane"` takes all that lies below it. What is fast goes some way in
//! a step, so a sink is best thicker than that.
//!
//! # `[[skeleton]]`: a character that a clip drives
//!
//! Every bone is an obstacle, a capsule called `NAME.BONE`: around the vertices that follow the bone
//! most, or without a mesh along the bone. Obstacles follow the clip on every substep (docs/skeletons.md).
//!
//! | key | unit | default | meaning |
//! |---|---|---|---|
//! | `name` | | its place | for messages, and of its obstacles |
//! | `file` | | needed | a BVH, glTF or GLB file, relative to the scene's folder, or a built-in skeleton |
//! | `clip` | | the rest pose | name of the clip; a BVH file has one, `motion` |
//! | `speed` | 1 | 1 | seconds of the clip in a second; below 0 backwards |
//! | `looped` | | true | the clip starts over after its end |
//! | `start` | s | 0 | of the clip, from its first keyframe |
//! | `scale` | m | 1 | metres in a unit of the file |
//! | `position` | m | [0, 0, 0] | of the origin of the file |
//! | `rotation` | rotation | none | about it |
//! | `keyframes` | | [] | where it goes, as of a collider |
//! | `radius` | m | 3 % of its height | of capsules along bones; only without a mesh |
//! | `material`, `friction`, `static_friction`, `restitution` | | | as of a collider |
//!
//! Built-in skeletons: see [`Scene::builtin_skeleton_names`].
//!
//! # `[[force]]`
//!
//! | key | unit | meaning |
//! |---|---|---|
//! | `kind` | | `gravity`, `wind`, `surface_wind` or `point` |
//! | `acceleration` | m/s² | gravity: added to that of `[params]` |
//! | `velocity`, `drag` | m/s, kg/s | wind: F = drag (velocity - v) on each particle |
//! | `velocity` | m/s | surface wind: drag and lift on each triangle of cloth, whichever way it faces |
//! | `density` | kg/m³ | surface wind: of the air, default 1.2 |
//! | `drag_coefficient`, `lift_coefficient` | 1 | surface wind: default 1.2 and 0.8 |
//! | `gust` | 1 | surface wind: how far the air's velocity may be off, as a share of its speed, default 0 |
//! | `gust_length`, `gust_time` | m, s | surface wind: width and age of a gust, default 1 and 1 |
//! | `center`, `strength`, `reach` | m, m/s², m | point: attracts (above 0) or repels, falling to 0 at `reach` |
//! | `region` | m | `[low, high]`: only inside this box; default everywhere |
//!
//! # `[[check]]`
//!
//! `name` says which; `of` is an object (default: all particles). Heights are of centres, against
//! gravity. Checks marked *run* look at every step from time `after` (s, default 0) on; the others
//! look at the end.
//!
//! | name | keys | holds when |
//! |---|---|---|
//! | `mean_height`, `min_height`, `max_height` | `of`, `min` and/or `max` (m), `axis` (up) | the mean, lowest, highest height is in the range; along another `axis`, what lies furthest that way is highest |
//! | `nothing_below` | `bound` (m), `of`, `after` | *run*: no centre is lower |
//! | `max_overlap` | `bound`, `of` | no two particles that collide overlap by more than this share of the smaller radius |
//! | `max_speed` | `bound` (m/s), `of`, `after` | *run*: no particle is faster |
//! | `at_rest` | `bound` (m/s), `of` | the mean speed is at most this |
//! | `energy_not_above` | `bound`, `floor` (m, 0), `after` | *run*: kinetic + gravitational energy has risen by at most this share of what there was at the start, counted from the height `floor` (elastic energy is not counted) |
//! | `max_strain` | `bound`, `of` | no edge is longer than (1 + bound) times its rest length |
//! | `mean_strain` | `bound`, `of` | the mean of abs(l/l0 - 1) is at most this |
//! | `residual_below` | `bound`, `kind` | the sum of abs(C) of a kind of constraints (`distance`, `bend`, `volume`, `pin`; default distance) is at most this |
//! | `broken_constraints_at_least`, `..._at_most` | `bound` | so many constraints have broken |
//! | `connected_parts_at_least`, `..._at_most` | `bound`, `of`, `size` (2) | edges hold it together in so many parts of at least `size` particles |
//! | `particles_accounted_for` | `of` | every particle is there and finite, but for those that sinks took |
//! | `particle_count` | `of`, `min` and/or `max` | so many particles are there |
//! | `steady_count` | `bound`, `of`, `after` | *run*: how many there are stays within a band of this share of the most |
//! | `quarantined_at_most` | `bound` | so many particles became non-finite and were pinned |
//! | `bounces_at_least` | `bound`, `of` (needed), `axis` (up), `tolerance` (m, 0.001), `after` | *run*: the mean height had so many maxima, each after a minimum; smaller turns than the tolerance do not count |
//! | `no_particle_passed` | `of` (needed), `through` or `bound` (m), `axis` (up), `tolerance` (m, 0), `after` | *run*: no centre of `of` lies further against `axis` than the furthest centre of the object `through` (or the level `bound`), but for the tolerance |
//! | `particles_tunnelled` | `of`, `through` (needed), `bound` (0), `after` | *run*: at most so many times has a particle of `of` gone through a triangle of the object `through` between two steps; going around its edge is allowed |
//! | `max_penetration` | `bound`, `of`, `after` | *run*: no particle reaches deeper into a collider than this share of its radius |
//! | `steady_height` | `bound`, `of`, `after` | *run*: the mean height stays within a band of this share of itself |
//! | `out_of_round_at_most` | `bound`, `of` | the largest over the smallest extent of the centres; 1 for a ball |
//! | `volume_error_at_most` | `bound` (share), `of` | the ellipsoid with the same moments is as large as the cells of the particles at rest |
//! | `mixing_layer_at_most` | `bound` (m), `of`, `through` | so far the fluid `of` reaches down into `through`, which is to lie below it; 5 % of each may stray |
//! | `slope_at_least`, `slope_at_most` | `bound` (degrees), `of` | the heap has this angle: of the cone with the same mean height over its lowest grain and the same mean distance from its axis |
//!
//! # Variants and overrides
//!
//! `[variants.NAME]` holds what differs: `[variants.fine.params]`, `[[variants.fine.cloth]]`. Tables
//! merge key by key, lists of tables merge place by place (the first `[[variants.fine.cloth]]`
//! changes the first `[[cloth]]`; further ones are added; `cloth = []` removes all), anything else
//! is replaced. `cloth_hang:fine` or `my.toml:fine` asks for it.
//!
//! `--set PATH=VALUE` comes last: `cloth.0.columns=100`, `params.dt=0.01`, or the name of a
//! parameter alone: `iterations=20`. VALUE is a TOML value, and a bare word is a string.

mod bond;
mod build;
mod builtin;
mod check;
mod document;
mod file;
mod idle;
mod keys;
mod load;
mod names;
mod objects;
mod size;
mod value;

pub use check::{CheckResult, Checker};
pub use objects::ObjectKinds;

use crate::world::{MemoryNeed, Params};
use file::SceneFile;
use glam::Vec3;
use load::Source;
use std::path::PathBuf;

/// Where the scene wants to be looked at from; what is not given is up to the viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Camera {
    /// Position of the eye, m.
    pub eye: Option<Vec3>,
    /// Point looked at, m.
    pub target: Option<Vec3>,
    /// Vertical angle of view, degrees.
    pub fov: Option<f32>,
}

/// A scene that has been read and checked, ready to be built any number of times.
///
/// ```
/// use motes::scene::{Checker, Scene};
/// use motes::{Backend, Engine};
///
/// let text = r#"
///     title = "a block falls on the floor"
///     [[box]]
///     name = "block"
///     counts = [3, 3, 3]
///     spacing = 0.1
///     center = [0, 0.5, 0]
///     [[collider]]
///     shape = "plane"
///     [[check]]
///     name = "nothing_below"
///     of = "block"
///     bound = 0.0
/// "#;
/// let scene = Scene::parse("block.toml", text, None, &["iterations=20".into()])?;
/// let mut engine = Engine::new(scene.build()?, Backend::Cpu { threads: 1 })?;
/// let mut checker = Checker::new(&scene, engine.world());
/// for _ in 0..30 {
///     engine.step(scene.params().dt)?;
///     checker.observe(engine.world());
/// }
/// assert!(checker.finish(engine.world()).iter().all(|r| r.passed));
/// # Ok::<(), motes::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scene {
    source: Source,
    file: SceneFile,
    name: String,
    variants: Vec<String>,
    params: Params,
    checks: Vec<check::Check>,
    need: MemoryNeed,
}

/// Steps a scene is run for when it does not say.
const DEFAULT_STEPS: u32 = 300;

impl Scene {
    /// The name it says it has, or else the one of its file; with the variant, if any.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// What it shows, in one line.
    pub fn title(&self) -> &str {
        &self.file.title
    }
    /// Where it comes from.
    pub fn source(&self) -> &str {
        &self.file.source
    }
    /// Seed of everything random.
    pub fn seed(&self) -> u64 {
        self.file.seed.map_or(1, |s| s.0)
    }
    /// Steps after which its checks are meant to hold.
    pub fn steps(&self) -> u32 {
        self.file.steps.map_or(DEFAULT_STEPS, |s| u32::try_from(s.0).unwrap_or(u32::MAX))
    }
    /// The parameters, as the built world has them.
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// Where it wants to be looked at from.
    pub fn camera(&self) -> Camera {
        let camera = &self.file.camera;
        Camera {
            eye: camera.eye.map(|v| v.0),
            target: camera.target.map(|v| v.0),
            fov: camera.fov.map(|a| a.0),
        }
    }
    /// Names of its variants.
    pub fn variants(&self) -> &[String] {
        &self.variants
    }
    /// How many checks it carries.
    pub fn check_count(&self) -> usize {
        self.checks.len()
    }
    /// The files of its meshes and skeletons, which are read when it is built.
    pub fn mesh_files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let folder = self.source.folder.as_deref();
        let shapes = self.file.collider.iter().chain(&self.file.sink);
        let obstacles = shapes.filter_map(|collider| collider.mesh.as_deref());
        let bodies = self.file.objects().filter_map(|entry| entry.object.mesh_name());
        let meshes = obstacles.chain(bodies).filter_map(move |name| build::mesh_file(name, folder));
        let skeletons = self.file.skeleton.iter();
        let rigs = skeletons.filter_map(move |file| build::skeleton_file(&file.file, folder));
        meshes.chain(rigs)
    }
    /// What the built world will hold at most. Fluids and soft bodies that a mesh gives its shape are not
    /// in it: what they take is known, and looked for, when the mesh is read.
    pub fn need(&self) -> MemoryNeed {
        self.need
    }
}
