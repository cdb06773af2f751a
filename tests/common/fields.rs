//! What a Rust type reads, found by letting it read everything it asks for.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, Error as Plain};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// What a type reads at each path: `scaling.enabled` is `boolean`, `env[]` the entries of a list, `policies.*` of a map.
pub type Fields = BTreeMap<String, String>;

/// What `T` reads.
pub fn of<T: DeserializeOwned>() -> Fields {
    let mut fields = Fields::new();
    let read = T::deserialize(Recorder { at: String::new(), fields: &mut fields });
    read.map(drop).unwrap_or_else(|error| panic!("a type that cannot be made of examples: {error}"));
    fields
}

/// Gives an example of whatever is asked for, and remembers what it was.
struct Recorder<'a> {
    at: String,
    fields: &'a mut Fields,
}

impl Recorder<'_> {
    fn note(&mut self, what: impl fmt::Display) {
        self.fields.insert(self.at.clone(), what.to_string());
    }
}

macro_rules! scalars {
    ($($method:ident $visit:ident $what:literal $example:expr),+ $(,)?) => {$(
        fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Plain> {
            self.note($what);
            visitor.$visit($example)
        }
    )+};
}

impl<'de> Deserializer<'de> for Recorder<'_> {
    type Error = Plain;

    scalars! {
        deserialize_bool visit_bool "boolean" true,
        deserialize_i8 visit_i8 "integer" 1, deserialize_i16 visit_i16 "integer" 1,
        deserialize_i32 visit_i32 "integer" 1, deserialize_i64 visit_i64 "integer" 1,
        deserialize_u8 visit_u8 "integer" 1, deserialize_u16 visit_u16 "integer" 1,
        deserialize_u32 visit_u32 "integer" 1, deserialize_u64 visit_u64 "integer" 1,
        deserialize_f32 visit_f32 "number" 1.0, deserialize_f64 visit_f64 "number" 1.0,
        deserialize_str visit_str "string" "1s", deserialize_string visit_str "string" "1s",
        deserialize_identifier visit_str "string" "1s", deserialize_any visit_str "any" "1s",
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Plain> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Plain> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Plain> {
        self.note("array");
        visitor.visit_seq(One { at: format!("{}[]", self.at), fields: self.fields, done: false })
    }

    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Plain> {
        self.note("object");
        visitor.visit_map(Keys { at: self.at, fields: self.fields, keys: &["*"], value: "" })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Plain> {
        self.note("object");
        visitor.visit_map(Keys { at: self.at, fields: self.fields, keys, value: "" })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Plain> {
        self.note(format!("one of {}", variants.join(", ")));
        visitor.visit_enum(BorrowedStrDeserializer::new(variants[0]))
    }

    serde::forward_to_deserialize_any! { i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct ignored_any }
}

/// A list of one entry.
struct One<'a> {
    at: String,
    fields: &'a mut Fields,
    done: bool,
}

impl<'de> SeqAccess<'de> for One<'_> {
    type Error = Plain;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Plain> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        seed.deserialize(Recorder { at: self.at.clone(), fields: self.fields }).map(Some)
    }
}

/// A map of the keys that are asked for.
struct Keys<'a> {
    at: String,
    fields: &'a mut Fields,
    keys: &'static [&'static str],
    value: &'static str,
}

impl<'de> MapAccess<'de> for Keys<'_> {
    type Error = Plain;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Plain> {
        let Some((key, rest)) = self.keys.split_first() else { return Ok(None) };
        (self.value, self.keys) = (key, rest);
        seed.deserialize(BorrowedStrDeserializer::<Plain>::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Plain> {
        let dot = if self.at.is_empty() { "" } else { "." };
        let at = format!("{}{dot}{}", self.at, self.value);
        seed.deserialize(Recorder { at, fields: self.fields })
    }
}
