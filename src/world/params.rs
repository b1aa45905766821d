//! Every knob of the engine in one table: name, unit, default, legal range, meaning.
//!
//! Scene files, `--set`, the documentation and the viewer all read [`Params::TABLE`], so a knob is
//! written once. Values are checked when they are set; a [`Params`] in hand is always legal.

use crate::error::{Error, Result};
use crate::suggest;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use toml::Value;

/// What the docs and the viewer need to know of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// Name in scene files and on the command line.
    pub name: &'static str,
    /// SI unit, `1` for pure numbers.
    pub unit: &'static str,
    /// Smallest legal value (numbers only).
    pub min: f64,
    /// Largest legal value (numbers only).
    pub max: f64,
    /// Legal words (choices only).
    pub choices: &'static [&'static str],
    /// One sentence on what it does.
    pub doc: &'static str,
}

/// A type a parameter may have.
trait Knob: Sized {
    const CHOICES: &'static [&'static str] = &[];
    fn to_toml(&self) -> Value;
    fn from_toml(value: &Value) -> Option<Self>;
    fn within(&self, min: f64, max: f64) -> bool;
    fn expected(min: f64, max: f64) -> String;
}

impl Knob for f32 {
    fn to_toml(&self) -> Value {
        // Through the shortest decimal, so that 0.1 is shown as 0.1 and not as its f64 expansion.
        Value::Float(self.to_string().parse().unwrap_or(f64::from(*self)))
    }
    fn from_toml(value: &Value) -> Option<Self> {
        match value {
            Value::Float(v) => Some(*v as f32),
            Value::Integer(v) => Some(*v as f32),
            _ => None,
        }
    }
    fn within(&self, min: f64, max: f64) -> bool {
        (min as f32..=max as f32).contains(self)
    }
    fn expected(min: f64, max: f64) -> String {
        format!("a number from {min} to {max}")
    }
}

impl Knob for u32 {
    fn to_toml(&self) -> Value {
        Value::Integer(i64::from(*self))
    }
    fn from_toml(value: &Value) -> Option<Self> {
        value.as_integer().and_then(|v| u32::try_from(v).ok())
    }
    fn within(&self, min: f64, max: f64) -> bool {
        (min..=max).contains(&f64::from(*self))
    }
    fn expected(min: f64, max: f64) -> String {
        format!("a whole number from {min} to {max}")
    }
}

impl Knob for Vec3 {
    fn to_toml(&self) -> Value {
        Value::Array(self.to_array().iter().map(Knob::to_toml).collect())
    }
    fn from_toml(value: &Value) -> Option<Self> {
        match value.as_array()?.as_slice() {
            [x, y, z] => {
                Some(Vec3::new(f32::from_toml(x)?, f32::from_toml(y)?, f32::from_toml(z)?))
            }
            _ => None,
        }
    }
    fn within(&self, min: f64, max: f64) -> bool {
        self.to_array().iter().all(|v| v.within(min, max))
    }
    fn expected(min: f64, max: f64) -> String {
        format!("three numbers [x, y, z], each from {min} to {max}")
    }
}

/// An enum whose variants are words in scene files and on the command line.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vmeta])* $variant),+ }

        impl $name {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
            /// The word for it.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
        impl std::str::FromStr for $name {
            type Err = Error;
            fn from_str(word: &str) -> Result<Self> {
                match word {
                    $($word => Ok($name::$variant),)+
                    _ => Err(Error::value(
                        stringify!($name).to_lowercase(),
                        format!("`{word}` is not known; use {}", Self::expected(0.0, 0.0)),
                    )),
                }
            }
        }
        impl Knob for $name {
            const CHOICES: &'static [&'static str] = &[$($word),+];
            fn to_toml(&self) -> Value {
                Value::String(self.word().into())
            }
            fn from_toml(value: &Value) -> Option<Self> {
                value.as_str()?.parse().ok()
            }
            fn within(&self, _: f64, _: f64) -> bool {
                true
            }
            fn expected(_: f64, _: f64) -> String {
                let words: Vec<String> = Self::CHOICES.iter().map(|w| format!("\"{w}\"")).collect();
                format!("one of {}", words.join(", "))
            }
        }
    };
}

words! {
    /// How the constraints of one kind are swept (docs/physics.md, section 2).
    Solver {
        /// Sequential Gauss-Seidel in order of creation: the reference.
        Seidel = "seidel",
        /// Parallel Gauss-Seidel without locks; lost updates are accepted. Not deterministic.
        Lockfree = "lockfree",
        /// Graph-coloured Gauss-Seidel, the same bits for any number of threads.
        Colored = "colored",
        /// Averaged Jacobi: every correction from the same positions, then the mean.
        Jacobi = "jacobi",
    }
}
words! {
    /// What stiffness means.
    Method {
        /// Position-based dynamics: stiffness 0..1, depends on the iteration count.
        Pbd = "pbd",
        /// Extended PBD: compliance in physical units, independent of the iteration count.
        Xpbd = "xpbd",
    }
}
words! {
    /// How the turn of a body is found that keeps its shape (docs/physics.md, section 7).
    RotationMethod {
        /// Newton's method on the fit itself (Kugelstadt 2018), from the turn before.
        Newton = "newton",
        /// Steps along the gradient of the fit (Mueller 2016), from the turn before: slow where a
        /// body is long.
        Exponential = "exponential",
        /// Polar decomposition, by the eigenvectors of A^T A.
        Polar = "polar",
        /// Gram-Schmidt: quick, and wrong where a body is sheared. To compare.
        GramSchmidt = "gram_schmidt",
    }
}
words! {
    /// How rigid bodies answer to obstacles and to each other (docs/physics.md, section 7).
    RigidContacts {
        /// By impulses on the whole body, which remember what they were in the substep before.
        Impulses = "impulses",
        /// Particle by particle; the shape is matched with them afterwards. To compare.
        Matching = "matching",
    }
}
words! {
    /// How the iterations of a substep are sped up.
    Acceleration {
        /// Not at all.
        None = "none",
        /// Chebyshev semi-iteration (Wang 2015), for `colored` and `jacobi` where nothing touches.
        Chebyshev = "chebyshev",
    }
}
words! {
    /// What fluids keep.
    DensityRule {
        /// Their density is at most that at rest: they resist being pressed, but fall apart freely.
        AtMost = "at_most",
        /// Their density is that at rest: they resist being pulled apart, too.
        Equal = "equal",
    }
}
words! {
    /// How positions are predicted from velocities.
    Integrator {
        /// v += h a; p = x + h v.
        Symplectic = "symplectic",
        /// p = x + h v + h²a/2, and half of the acceleration again after the solve: second order.
        Verlet = "verlet",
    }
}
words! {
    /// Which structure finds neighbours.
    BroadPhase {
        /// The engine chooses and reports its choice.
        Auto = "auto",
        /// Uniform grid: the quickest where all particles are about equally large.
        Grid = "grid",
        /// Linear octree.
        Octree = "octree",
        /// Tree of bounding volumes: the choice for particles of many sizes.
        Bvh = "bvh",
        /// Every pair: the oracle, for small scenes.
        Brute = "brute",
    }
}

words! {
    /// What bounds the nodes of the `bvh`.
    BvhVolume {
        /// Boxes along the axes.
        Aabb = "aabb",
        /// Spheres.
        Sphere = "sphere",
    }
}
words! {
    /// Where a search of the `bvh` begins.
    BvhStart {
        /// At the root.
        Root = "root",
        /// At the particle's own leaf, going up.
        Leaf = "leaf",
    }
}
words! {
    /// How a search of the `bvh` finds its way back.
    BvhWalk {
        /// A stack of nodes.
        Stack = "stack",
        /// A counter whose carries say how far to go up.
        Sparse = "sparse",
        /// A bit a level that says whether the other child is still to do.
        Mbvh2 = "mbvh2",
    }
}

/// Parameters that earlier versions had, and what to do about them.
const GONE: &[(&str, &str)] = &[(
    "stabilization",
    "contacts push old overlap out themselves, no faster than `push_out` m/s; remove the line",
)];

/// Parameters that mean something else than in earlier versions, and what to do about a value that is
/// not legal any more.
const CHANGED: &[(&str, &str)] = &[(
    "mass_scale",
    "it is a pure number now, not one per metre, and the default holds deep piles; remove the line",
)];

/// A value that a parameter cannot have.
fn illegal(name: &str, value: &Value, expected: &str) -> Error {
    let changed = CHANGED.iter().find(|(changed, _)| *changed == name);
    let remedy = changed.map_or(String::new(), |(_, remedy)| format!(" ({remedy})"));
    Error::value(name, format!("{value} is not legal; expected {expected}{remedy}"))
}

/// Whether a name is, or was, that of a parameter.
pub(crate) fn is_parameter(name: &str) -> bool {
    let known = Params::TABLE.iter().map(|p| p.name);
    known.chain(GONE.iter().map(|(name, _)| *name)).any(|known| known == name)
}

macro_rules! params {
    ($($(#[doc = $doc:literal])+ $name:ident : $ty:ty = $default:expr, $unit:literal, $min:expr, $max:expr;)+) => {
        /// The engine's parameters. Set them by field or by name; [`Params::check`] guards both.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct Params { $($(#[doc = $doc])+ pub $name: $ty,)+ }

        impl Default for Params {
            fn default() -> Self {
                Params { $($name: $default,)+ }
            }
        }

        impl Params {
            /// Every parameter, in the order of the documentation.
            pub const TABLE: &'static [ParamInfo] = &[$(ParamInfo {
                name: stringify!($name),
                unit: $unit,
                min: $min as f64,
                max: $max as f64,
                choices: <$ty as Knob>::CHOICES,
                doc: concat!($($doc),+),
            },)+];

            /// Sets a parameter by name. The error says what would be legal.
            pub fn set(&mut self, name: &str, value: &Value) -> Result<()> {
                match name {
                    $(stringify!($name) => {
                        let legal = <$ty as Knob>::from_toml(value)
                            .filter(|v| v.within($min as f64, $max as f64));
                        match legal {
                            Some(v) => { self.$name = v; Ok(()) }
                            None => Err(illegal(
                                name, value, &<$ty as Knob>::expected($min as f64, $max as f64),
                            )),
                        }
                    })+
                    _ if let Some((_, remedy)) = GONE.iter().find(|(gone, _)| *gone == name) => {
                        Err(Error::value(name, format!("`{name}` is gone: {remedy}")))
                    }
                    _ => Err(Error::value(name, format!(
                        "no such parameter; {}",
                        suggest::instead(name, Self::TABLE.iter().map(|p| p.name)),
                    ))),
                }
            }

            /// Reads a parameter by name.
            pub fn get(&self, name: &str) -> Option<Value> {
                match name { $(stringify!($name) => Some(self.$name.to_toml()),)+ _ => None }
            }

            /// True when every field is inside its range (fields may have been set directly).
            pub fn check(&self) -> Result<()> {
                $(if !self.$name.within($min as f64, $max as f64) {
                    let expected = <$ty as Knob>::expected($min as f64, $max as f64);
                    return Err(illegal(stringify!($name), &self.$name.to_toml(), &expected));
                })+
                Ok(())
            }
        }
    };
}

params! {
    /// Acceleration of gravity.
    gravity: Vec3 = Vec3::new(0.0, -9.81, 0.0), "m/s²", -1e4, 1e4;
    /// Length of a step.
    dt: f32 = 1.0 / 60.0, "s", 1e-6, 1.0;
    /// Substeps a step; more of them beat more iterations.
    substeps: u32 = 4, "1", 1, 1000;
    /// Solver iterations a substep.
    iterations: u32 = 6, "1", 0, 100_000;
    /// Overlap from before a substep is pushed out at most so fast: what was put into each other does not fly apart.
    push_out: f32 = 1.0, "m/s", 0.0, 1e6;
    /// How constraints are swept.
    solver: Solver = Solver::Colored, "1", 0, 0;
    /// What stiffness means.
    method: Method = Method::Xpbd, "1", 0, 0;
    /// How positions are predicted.
    integrator: Integrator = Integrator::Symplectic, "1", 0, 0;
    /// Over-relaxation of constraints; above about 1.6 sweeps tend to stall.
    omega: f32 = 1.0, "1", 0.01, 2.0;
    /// How iterations are sped up: many of them on stiff constraints, where nothing can touch.
    acceleration: Acceleration = Acceleration::None, "1", 0, 0;
    /// Spectral radius the acceleration counts on, about 1 - 25/n² for a cloth n particles across; less is slower, more overshoots.
    rho: f32 = 0.95, "1", 0.0, 0.9999;
    /// How the turn of a body is found that keeps its shape.
    rotation: RotationMethod = RotationMethod::Newton, "1", 0, 0;
    /// How rigid bodies answer to obstacles and to each other.
    rigid_contacts: RigidContacts = RigidContacts::Impulses, "1", 0, 0;
    /// Over-relaxation of the averaged contacts.
    contact_omega: f32 = 1.0, "1", 0.01, 2.0;
    /// Neighbour lists reach this times the sum of the radii.
    margin: f32 = 1.2, "1", 1.01, 4.0;
    /// Which structure finds neighbours.
    broad_phase: BroadPhase = BroadPhase::Auto, "1", 0, 0;
    /// Particles an octree leaf holds at most, above the greatest depth.
    octree_leaf: u32 = 64, "1", 1, 4096;
    /// Levels of an octree at most.
    octree_depth: u32 = 10, "1", 1, 10;
    /// Particles that a search of the `bvh` tests at once; 1 for a tree down to single particles.
    bvh_leaf: u32 = 16, "1", 1, 64;
    /// What bounds the nodes of the `bvh`.
    bvh_volume: BvhVolume = BvhVolume::Aabb, "1", 0, 0;
    /// Where a search of the `bvh` begins.
    bvh_start: BvhStart = BvhStart::Leaf, "1", 0, 0;
    /// How a search of the `bvh` finds its way back.
    bvh_walk: BvhWalk = BvhWalk::Stack, "1", 0, 0;
    /// Kinetic friction coefficient.
    friction: f32 = 0.4, "1", 0.0, 100.0;
    /// Static friction coefficient; never below the kinetic one.
    static_friction: f32 = 0.5, "1", 0.0, 100.0;
    /// Share of the closing speed that a contact gives back.
    restitution: f32 = 0.0, "1", 0.0, 1.0;
    /// Closing speeds below this do not bounce.
    restitution_threshold: f32 = 0.3, "m/s", 0.0, 1e4;
    /// Of two loose grains that lie on each other the upper counts as lighter by about exp(k cos), which holds up piles (0: not at all).
    mass_scale: f32 = 0.4, "1", 0.0, 1.5;
    /// What fluids keep.
    density_rule: DensityRule = DensityRule::AtMost, "1", 0, 0;
    /// How softly an iteration corrects the density of fluids: by about 1 / (1 + this) of the error; below 0.4 it may overshoot.
    fluid_relaxation: f32 = 0.6, "1", 1e-4, 1e4;
    /// Pressure between particles of fluid that are nearly in one place is this much higher, as a share.
    fluid_pressure: f32 = 0.1, "1", 0.0, 10.0;
    /// How fast fluid takes on the velocity of the fluid around it, unless its material says otherwise (0: not at all).
    fluid_viscosity: f32 = 20.0, "1/s", 0.0, 1e6;
    /// Surface tension of fluids, unless their material says otherwise.
    fluid_tension: f32 = 0.0, "N/m", 0.0, 1e6;
    /// How solids and obstacles hold fluids, unless a material says otherwise: as much as the tension wets, less makes drops.
    fluid_adhesion: f32 = 0.0, "N/m", 0.0, 1e6;
    /// How fast small whirls of fluid are fed, to make up for what the solver takes from them (0: not at all).
    fluid_vorticity: f32 = 0.0, "1/s", 0.0, 1e4;
    /// Linear damping of all velocities.
    damping: f32 = 0.0, "1/s", 0.0, 1e4;
    /// Particles slower than this stay where they are (0: never).
    sleeping: f32 = 0.0, "m/s", 0.0, 100.0;
    /// Ends the iterations of a substep once the summed |C| is at or below this (0: never).
    until_residual: f32 = 0.0, "m", 0.0, 1e9;
    /// Ends the iterations of a step once this much time has passed (0: never). Not deterministic.
    budget_ms: f32 = 0.0, "ms", 0.0, 1e9;
}

impl Params {
    /// Static friction as used: never below kinetic friction.
    pub fn static_friction_used(&self) -> f32 {
        self.static_friction.max(self.friction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_legal_and_reads_back() {
        let mut params = Params::default();
        params.check().unwrap();
        for info in Params::TABLE {
            let value = params.get(info.name).unwrap();
            params.set(info.name, &value).unwrap();
            assert!(!info.doc.is_empty() && !info.unit.is_empty());
        }
        assert_eq!(params, Params::default());
    }

    /// Scenes of earlier versions counted it per metre.
    #[test]
    fn an_old_mass_scale_tells_the_remedy() {
        let mut params = Params::default();
        for old in [20.0, 5.3, 2.7] {
            let message = params.set("mass_scale", &Value::Float(old)).unwrap_err().to_string();
            assert!(message.contains("from 0 to 1.5"), "{message}");
            assert!(message.contains("per metre") && message.contains("remove the line"));
            let message = Params { mass_scale: old as f32, ..params.clone() }.check();
            assert!(message.unwrap_err().to_string().contains("remove the line"));
        }
        let message = params.set("damping", &Value::Float(-1.0)).unwrap_err().to_string();
        assert!(!message.contains("remove the line"), "{message}");
    }

    #[test]
    fn illegal_values_name_the_range() {
        let mut params = Params::default();
        for (name, value) in [
            ("dt", Value::Float(-1.0)),
            ("dt", Value::Float(f64::NAN)),
            ("substeps", Value::Integer(0)),
            ("solver", Value::String("fast".into())),
            ("gravity", Value::Float(9.81)),
            ("nonsense", Value::Integer(1)),
        ] {
            let message = params.set(name, &value).unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
        assert_eq!(params, Params::default());
    }
}
