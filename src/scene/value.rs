//! Kinds of values a scene file may hold. Each refuses what can never be right while it is read,
//! when toml still knows the line and column.

use glam::{Quat, Vec3};
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Beyond this, products of sizes leave the range of f32 where nobody expects it.
const LARGEST: f64 = 1e9;

/// Reads a number and asks `legal` whether it is allowed.
struct Number {
    expected: &'static str,
    legal: fn(f64) -> bool,
}

impl Number {
    fn check<E: de::Error>(&self, value: f64) -> Result<f64, E> {
        if value.is_finite() && value.abs() > LARGEST {
            Err(E::custom(format!("{value} is too large; numbers go up to {LARGEST:e}")))
        } else if value.is_finite() && (self.legal)(value) {
            Ok(value)
        } else {
            Err(E::custom(format!("{value} is not legal; expected {}", self.expected)))
        }
    }
}

impl Visitor<'_> for Number {
    type Value = f64;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.expected)
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
        self.check(value as f64)
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<f64, E> {
        self.check(value as f64)
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
        self.check(value)
    }
}

macro_rules! number {
    ($(#[$meta:meta])* $name:ident($ty:ty), $expected:literal, $legal:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) struct $name(pub $ty);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let number = Number { expected: $expected, legal: $legal };
                from.deserialize_any(number).map(|v| $name(v as $ty))
            }
        }
    };
}

number!(
    /// Any number but nan and the infinities.
    Real(f32), "a finite number", |_| true
);
number!(
    /// Likewise, in double precision: times and bounds.
    Real64(f64), "a finite number", |_| true
);
number!(
    /// Sizes and masses. The lower end keeps reciprocals finite.
    Positive(f32), "a finite number above 0", |v| v >= 1e-30
);
number!(
    /// Distances of neighbours, from whose products volumes and angles are made.
    Spacing(f32), "a number from 1e-6 to 1e6", |v| (1e-6..=1e6).contains(&v)
);
number!(
    /// Compliances and friction.
    AtLeastZero(f32), "a finite number of at least 0", |v| v >= 0.0
);
number!(
    /// Viscosity, tension and adhesion of fluids.
    Rate(f32), "a number from 0 to 1000000", |v| (0.0..=1e6).contains(&v)
);
number!(
    /// Stiffness, restitution, jitter.
    Share(f32), "a number from 0 to 1", |v| (0.0..=1.0).contains(&v)
);
number!(
    /// Thickness of a torus.
    Tube(f32), "a number above 0 and below 0.5", |v| v > 0.0 && v < 0.5
);
number!(
    /// A camera's angle of view.
    Angle(f32), "an angle in degrees above 0 and below 180", |v| v > 0.0 && v < 180.0
);
number!(
    /// A scale along one axis; mirrors when negative.
    ScaleAxis(f32), "a number whose size is from 1e-6 to 1e6",
    |v| (1e-6..=1e6).contains(&v.abs())
);

/// How many. Far more than fit is refused by the size of the whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Count(pub u64);

impl Count {
    /// For builders: counts too large for them have been refused by the size of the whole.
    pub fn clamped(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Whole;
        impl Visitor<'_> for Whole {
            type Value = Count;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number of at least 0")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Count, E> {
                let wrong = |_| E::invalid_value(de::Unexpected::Signed(value), &self);
                u64::try_from(value).map(Count).map_err(wrong)
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Count, E> {
                Ok(Count(value))
            }
        }
        from.deserialize_any(Whole)
    }
}

/// Exactly `N` values. Not serde's own arrays: those ignore what is too much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exactly<T, const N: usize>(pub [T; N]);

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for Exactly<T, N> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Values<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Values<T, N> {
            type Value = Exactly<T, N>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, "a list of {N}")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::with_capacity(N);
                while values.len() <= N
                    && let Some(value) = seq.next_element()?
                {
                    values.push(value);
                }
                let wrong = |values: Vec<T>| de::Error::invalid_length(values.len(), &self);
                values.try_into().map(Exactly).map_err(wrong)
            }
        }
        from.deserialize_any(Values(PhantomData))
    }
}

/// Three numbers.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(from = "Exactly<Real, 3>")]
pub(crate) struct Vector(pub Vec3);

impl From<Exactly<Real, 3>> for Vector {
    fn from(v: Exactly<Real, 3>) -> Self {
        Vector(Vec3::from(v.0.map(|c| c.0)))
    }
}

/// A direction: three numbers, not all 0.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Vector")]
pub(crate) struct Direction(pub Vec3);

impl TryFrom<Vector> for Direction {
    type Error = &'static str;
    fn try_from(v: Vector) -> Result<Self, Self::Error> {
        // In double precision: the square of a legal f32 may overflow.
        let unit = v.0.as_dvec3().try_normalize();
        unit.map(|d| Direction(d.as_vec3())).ok_or("expected a direction such as [0, 1, 0]")
    }
}

/// A turn: `{ axis = [0, 1, 0], degrees = 45 }`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(from = "AxisAngle")]
pub(crate) struct Rotation(pub Quat);

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a turn such as { axis = [0, 1, 0], degrees = 45 }")]
struct AxisAngle {
    axis: Direction,
    degrees: Real,
}

impl From<AxisAngle> for Rotation {
    fn from(turn: AxisAngle) -> Self {
        // libm gives the same bits on every machine; the standard library need not.
        let half = f64::from(turn.degrees.0).to_radians() / 2.0;
        let [x, y, z] = (turn.axis.0.as_dvec3() * libm::sin(half)).as_vec3().to_array();
        Rotation(Quat::from_xyzw(x, y, z, libm::cos(half) as f32))
    }
}

/// One factor, or one for each axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale(pub Vec3);

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Factors;
        impl<'de> Visitor<'de> for Factors {
            type Value = Scale;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or three of them")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Scale, E> {
                self.visit_f64(value as f64)
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Scale, E> {
                let factor = ScaleAxis::deserialize(de::value::F64Deserializer::new(value))?;
                Ok(Scale(Vec3::splat(factor.0)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Scale, A::Error> {
                let axes = Exactly::<ScaleAxis, 3>::deserialize(
                    de::value::SeqAccessDeserializer::new(seq),
                )?;
                Ok(Scale(Vec3::from(axes.0.map(|a| a.0))))
            }
        }
        from.deserialize_any(Factors)
    }
}

/// Which particles of an object: a word such as `top`, an index, or `[column, row]`.
/// Negative numbers count from the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pick {
    Word(String),
    Index(i64),
    Cell([i64; 2]),
}

impl<'de> Deserialize<'de> for Pick {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Picked;
        impl<'de> Visitor<'de> for Picked {
            type Value = Pick;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a word such as \"top\", an index, or [column, row]")
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Pick, E> {
                Ok(Pick::Word(word.into()))
            }
            fn visit_i64<E: de::Error>(self, index: i64) -> Result<Pick, E> {
                Ok(Pick::Index(index))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Pick, A::Error> {
                let cell = Exactly::deserialize(de::value::SeqAccessDeserializer::new(seq))?;
                Ok(Pick::Cell(cell.0))
            }
        }
        from.deserialize_any(Picked)
    }
}
