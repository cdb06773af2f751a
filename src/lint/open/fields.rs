//! The names of a type's fields, out of the type itself.
//!
//! A struct that derives or writes [`Deserialize`] names its fields before it reads anything. So no type's reader ends up
//! in the binary, which would cost 250 KB for a Volume of Kubernetes alone.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

/// The fields of a struct, in the names of YAML.
pub fn fields_of<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    T::deserialize(Ask).err().map_or(&[], |told| told.0)
}

/// A deserializer that holds nothing: a struct says which fields it wants, and reading ends there.
struct Ask;

/// The fields that were asked for.
#[derive(Debug)]
struct Told(&'static [&'static str]);

impl<'de> Deserializer<'de> for Ask {
    type Error = Told;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Told> {
        Err(Told(fields))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Told> {
        Err(Told(&[]))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing is read")
    }
}

impl std::error::Error for Told {}

impl de::Error for Told {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Told(&[])
    }
}
