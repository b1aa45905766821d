//! What a type looks like to serde, as text: names of structs, fields and variants in order, and the
//! primitive types below them. Two builds whose texts are equal read each other's bytes.
//!
//! A type is asked what it wants to read and is given zeros. Every sequence is given one element and
//! every option a value, so that all of the type is asked for. An enum can be asked for one variant
//! at a time, so the type is read again until each variant of each enum has had its turn.

use serde::de::value::{StrDeserializer, U32Deserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use std::collections::BTreeMap;

/// Turns after which an enum that never comes to an end is given up.
const TURNS: usize = 256;
/// A type nested deeper than this contains itself, and has no end.
const DEPTH: usize = 64;

type Error = serde::de::value::Error;

/// The text of a type.
///
/// # Errors
/// When the type cannot be read whole from zeros, contains itself, or asks for whatever is there.
pub(super) fn text_of<'de, T: Deserialize<'de>>() -> Result<String, Error> {
    let mut trace = Trace::default();
    let mut whole = Err(Error::custom("no turn was taken"));
    for _ in 0..TURNS {
        trace.text.push_str("\n= ");
        // A type may refuse the zeros of one variant; what comes behind it is seen in another turn.
        let turn = T::deserialize(Reader { trace: &mut trace, depth: 0 });
        whole = whole.or(turn.map(drop));
        if trace.turns.values().all(|&(next, variants)| next >= variants) {
            break;
        }
    }
    whole.map(|()| trace.text)
}

#[derive(Default)]
struct Trace {
    text: String,
    /// For each enum: which variant is next, counted on and on, and how many there are.
    turns: BTreeMap<&'static str, (usize, usize)>,
}

struct Reader<'a> {
    trace: &'a mut Trace,
    depth: usize,
}

impl Reader<'_> {
    fn say(&mut self, words: &str) {
        self.trace.text.push_str(words);
        self.trace.text.push(' ');
    }
    fn below(&mut self) -> Result<Reader<'_>, Error> {
        if self.depth >= DEPTH {
            return Err(Error::custom("the type contains itself"));
        }
        Ok(Reader { trace: self.trace, depth: self.depth + 1 })
    }
}

/// Elements that are left to give; in a struct, whose fields are named, each says its name.
struct Elements<'a> {
    reader: Reader<'a>,
    names: &'static [&'static str],
    given: usize,
    count: usize,
}

impl<'a> Elements<'a> {
    fn of(reader: Reader<'a>, count: usize) -> Self {
        Elements { reader, names: &[], given: 0, count }
    }
    fn fields(reader: Reader<'a>, names: &'static [&'static str]) -> Self {
        Elements { reader, names, given: 0, count: names.len() }
    }
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Error;
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        if self.given == self.count {
            self.reader.say("]");
            return Ok(None);
        }
        if let Some(name) = self.names.get(self.given) {
            self.reader.say(&format!("{name}:"));
        }
        self.given += 1;
        seed.deserialize(self.reader.below()?).map(Some)
    }
}

impl<'de> MapAccess<'de> for Elements<'_> {
    type Error = Error;
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.next_element_seed(seed)
    }
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self.reader.below()?)
    }
}

/// One variant of an enum.
struct Variant<'a> {
    reader: Reader<'a>,
    number: u32,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Error;
    type Variant = Reader<'a>;
    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Reader<'a>), Error> {
        let number: U32Deserializer<Error> = self.number.into_deserializer();
        Ok((seed.deserialize(number)?, self.reader))
    }
}

impl<'de> VariantAccess<'de> for Reader<'_> {
    type Error = Error;
    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self.below()?)
    }
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Elements::of(self, len))
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(Elements::fields(self, fields))
    }
}

/// Types without parts: their name is said, and they are given a zero.
macro_rules! primitives {
    ($($ask:ident $give:ident $name:literal $zero:expr;)+) => {
        $(fn $ask<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
            self.say($name);
            visitor.$give($zero)
        })+
    };
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Error;

    primitives! {
        deserialize_bool visit_bool "bool" false;
        deserialize_i8 visit_i8 "i8" 0;
        deserialize_i16 visit_i16 "i16" 0;
        deserialize_i32 visit_i32 "i32" 0;
        deserialize_i64 visit_i64 "i64" 0;
        deserialize_u8 visit_u8 "u8" 0;
        deserialize_u16 visit_u16 "u16" 0;
        deserialize_u32 visit_u32 "u32" 0;
        deserialize_u64 visit_u64 "u64" 0;
        deserialize_f32 visit_f32 "f32" 0.0;
        deserialize_f64 visit_f64 "f64" 0.0;
        deserialize_char visit_char "char" '0';
        deserialize_str visit_str "str" "";
        deserialize_string visit_str "string" "";
        deserialize_bytes visit_bytes "bytes" &[];
        deserialize_byte_buf visit_bytes "bytes" &[];
    }

    fn deserialize_unit<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        self.say("()");
        visitor.visit_unit()
    }
    fn deserialize_unit_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.say(name);
        visitor.visit_unit()
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.say(name);
        visitor.visit_newtype_struct(self.below()?)
    }
    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        self.say("option");
        visitor.visit_some(self.below()?)
    }
    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        self.say("seq [");
        visitor.visit_seq(Elements::of(self, 1))
    }
    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        self.say("map [");
        visitor.visit_map(Elements::of(self, 1))
    }
    fn deserialize_tuple<V: Visitor<'de>>(
        mut self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.say(&format!("tuple {len} ["));
        visitor.visit_seq(Elements::of(self, len))
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.say(&format!("{name} {len} ["));
        visitor.visit_seq(Elements::of(self, len))
    }
    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.say(&format!("{name} {} [", fields.len()));
        visitor.visit_seq(Elements::fields(self, fields))
    }
    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let turn = self.trace.turns.entry(name).or_insert((0, variants.len()));
        let number = turn.0 % variants.len().max(1);
        turn.0 += 1;
        self.say(&format!("{name} {variants:?} {number}"));
        visitor.visit_enum(Variant { reader: self, number: number as u32 })
    }
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        StrDeserializer::new("").deserialize_any(visitor)
    }
    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("the type does not say what it reads"))
    }
    forward_to_deserialize_any! { i128 u128 ignored_any }

    /// As the format of snapshots.
    fn is_human_readable(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;

    /// The fingerprint of snapshots up to format 2: the bytes of an empty value.
    fn bytes_of_nothing<T: Default + Serialize>() -> Vec<u8> {
        postcard::to_stdvec(&T::default()).unwrap()
    }

    /// Worlds in miniature that differ in one thing.
    macro_rules! miniatures {
        ($($module:ident { $($field:ident: $type:ty),+ })+) => {
            $(mod $module {
                #[derive(Default, serde::Serialize, serde::Deserialize)]
                pub struct World { $($field: $type),+ }
            })+
        };
    }
    miniatures! {
        of_numbers { time: f64, values: Vec<f32>, next: u32 }
        of_counts { time: f64, values: Vec<u32>, next: u32 }
        renamed { time: f64, amounts: Vec<f32>, next: u32 }
        reordered { time: f64, next: u32, values: Vec<f32> }
    }

    #[test]
    fn an_element_type_that_changed_is_seen_and_was_not_before() {
        let texts = [
            text_of::<of_numbers::World>().unwrap(),
            text_of::<of_counts::World>().unwrap(),
            text_of::<renamed::World>().unwrap(),
            text_of::<reordered::World>().unwrap(),
        ];
        for (i, a) in texts.iter().enumerate() {
            assert!(texts[..i].iter().all(|b| a != b), "{a}");
        }
        let before = bytes_of_nothing::<of_numbers::World>();
        assert_eq!(before, bytes_of_nothing::<of_counts::World>());
        assert_eq!(before, bytes_of_nothing::<renamed::World>());
        assert_eq!(before, bytes_of_nothing::<reordered::World>());
        assert_eq!(texts[0], text_of::<of_numbers::World>().unwrap());
    }

    #[derive(Deserialize)]
    #[allow(dead_code)]
    enum Inner {
        First,
        Second(u8),
        Third { depth: f32 },
    }
    #[derive(Deserialize)]
    #[allow(dead_code)]
    enum Outer {
        Nothing,
        Maybe(Option<Inner>),
    }

    #[test]
    fn every_variant_has_its_turn() {
        let text = text_of::<Vec<(Outer, i64)>>().unwrap();
        for part in ["Nothing", "option", "u8", "depth: f32", "i64"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Endless(Vec<Endless>);

    #[test]
    fn a_type_without_end_is_an_error() {
        assert!(text_of::<Endless>().is_err_and(|e| e.to_string().contains("contains itself")));
    }
}
