//! Objects that came and that nobody has read yet: what is asked of them is read where it stands.

use std::fmt;

use prost::Message as _;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::wire::{self, Encoded, ReadError};

/// An object as it came in a request; only what somebody asks for is read. One from a file is brought into that form.
#[derive(Clone, Default)]
pub struct Unread {
    /// The entries of an encoded `google.protobuf.Struct`.
    entries: Vec<u8>,
}

impl Unread {
    /// Under this name, [`wire`]'s reader hands out an object's bytes instead of its content.
    pub(crate) const NAME: &str = "function_asya::Unread";

    /// Takes an object; anything else is not what was `expected`.
    ///
    /// # Errors
    /// If it is no object.
    pub(crate) fn take<'de, D: Deserializer<'de>>(deserializer: D, expected: &'static str) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(Unread::NAME, Taken { expected })
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// The first thing in it that is not what `T` expects.
    pub fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ReadError> {
        self.read_as(std::marker::PhantomData)
    }

    /// Reads all of it, as `seed` says.
    ///
    /// # Errors
    /// The first thing in it that is not what `seed` expects.
    pub(crate) fn read_as<'a, S: DeserializeSeed<'a>>(&'a self, seed: S) -> Result<S::Value, ReadError> {
        wire::read::from_entries(&self.entries, seed)
    }

    /// The object where it stands, for whoever compares it.
    pub fn encoded(&self) -> Encoded<'_> {
        Encoded::object(&self.entries)
    }

    /// What stands at a pointer such as `/metadata/name`, if it is a `T`.
    pub fn at<'a, T: Deserialize<'a>>(&'a self, pointer: &str) -> Option<T> {
        let (key, rest) = split(pointer);
        self.read_as(At { key, rest, read: std::marker::PhantomData }).ok().flatten()
    }
}

/// How much it holds, never what: objects hold secrets.
impl fmt::Debug for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unread({} bytes)", self.entries.len())
    }
}

impl<'de> Deserialize<'de> for Unread {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Unread::take(deserializer, "a map")
    }
}

/// Takes an object in whatever form it comes.
struct Taken {
    expected: &'static str,
}

impl<'de> Visitor<'de> for Taken {
    type Value = Unread;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Unread, D::Error> {
        deserializer.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Unread, A::Error> {
        let mut object = Value::deserialize(MapAccessDeserializer::new(&mut access))?;
        round(&mut object);
        let entries = wire::to_struct(&object).map_err(A::Error::custom)?.encode_to_vec();
        Ok(Unread { entries })
    }

    fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Unread, E> {
        Ok(Unread { entries: bytes })
    }
}

/// Makes doubles of integers that a double does not hold exactly, as Crossplane does on the way.
fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_i64().is_none_or(|integer| integer.unsigned_abs() > 1 << 53) => {
            *value = number.as_f64().into();
        }
        Value::Array(list) => list.iter_mut().for_each(round),
        Value::Object(map) => map.values_mut().for_each(round),
        _ => {}
    }
}

/// The first key of a pointer, and what is left of it.
fn split(pointer: &str) -> (&str, &str) {
    let pointer = pointer.trim_start_matches('/');
    pointer.split_once('/').unwrap_or((pointer, ""))
}

/// Walks to where a pointer leads, past everything else.
struct At<'p, T> {
    key: &'p str,
    rest: &'p str,
    read: std::marker::PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for At<'_, T> {
    type Value = Option<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        // As a struct: there the last one of a key that stands twice is the only one.
        deserializer.deserialize_struct("", &[], self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for At<'_, T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Option<T>, A::Error> {
        let mut found = None;
        while let Some(is_it) = access.next_key_seed(Is(self.key))? {
            if !is_it {
                access.next_value::<IgnoredAny>()?;
            } else if self.rest.is_empty() {
                found = Some(access.next_value()?);
            } else {
                let (key, rest) = split(self.rest);
                found = access.next_value_seed(At { key, rest, read: self.read })?;
            }
        }
        Ok(found)
    }
}

/// Whether a key is this one.
struct Is<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<bool, E> {
        Ok(key == self.0.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_are_read_alike() {
        let object = json!({"spec": {"name": "a", "counts": [1, 2], "none": null, "inner": {"deep": true}}});
        let wrapped = wire::to_struct(&json!({ "object": object })).expect("an object");
        let encoded: BTreeMap<String, Unread> = wire::from_struct(&wrapped).expect("it can be read");
        let forms: [Unread; 2] = [serde_json::from_value(object.clone()).expect("a map"), encoded["object"].clone()];
        for form in forms {
            assert_eq!(form.read::<Value>().expect("all of it"), object);
            assert_eq!(form.at::<&str>("/spec/name"), Some("a"));
            assert_eq!(form.at::<Vec<i64>>("/spec/counts"), Some(vec![1, 2]));
            assert_eq!(form.at::<bool>("/spec/inner/deep"), Some(true));
            assert_eq!(form.at::<bool>("/spec/inner/shallow"), None, "an unknown key");
            assert_eq!(form.at::<i64>("/spec/name"), None, "another type");
            assert_eq!(form.at::<&str>("/spec/name/deeper"), None, "below a text");
        }
    }

    #[test]
    fn integers_from_files_are_rounded_as_on_the_wire() {
        let object = json!({"counts": [9007199254740993_u64, u64::MAX, -9007199254740993_i64, 9007199254740992_u64]});
        let read: Unread = serde_json::from_value(object).expect("a map");
        let doubles = vec![9007199254740992.0, 18446744073709551616.0, -9007199254740992.0, 9007199254740992.0];
        assert_eq!(read.at::<Vec<f64>>("/counts"), Some(doubles));
    }

    #[test]
    fn only_objects_are_taken() {
        let error = serde_json::from_value::<Unread>(json!([1])).expect_err("a list").to_string();
        assert_eq!(error, "invalid type: sequence, expected a map");
        let wrapped = wire::to_struct(&json!({ "object": 5 })).expect("an object");
        let error = wire::from_struct::<BTreeMap<String, Unread>>(&wrapped).expect_err("a number").to_string();
        assert_eq!(error, "object: invalid type: integer `5`, expected a map");
    }
}
