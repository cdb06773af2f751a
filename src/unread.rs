//! Objects that came and that nobody has read yet: what is asked of them is read where it stands.

use std::fmt;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::wire::{self, Encoded, NoObject, RawStruct, ReadError};

/// An object inside another, in the bytes that it came in; only what somebody asks for is read.
#[derive(Clone, Default)]
pub struct Unread {
    /// The entries of an encoded `google.protobuf.Struct`.
    entries: Bytes,
}

impl Unread {
    /// The object at a path of keys; `None` if there is nothing.
    ///
    /// # Errors
    /// If something else stands there.
    pub(crate) fn inside(object: &RawStruct, keys: &[&str]) -> Result<Option<Self>, NoObject> {
        Ok(object.object_at(keys)?.map(|entries| Self { entries }))
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
        Encoded::of_object(&self.entries)
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
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_asked_for_is_read() {
        let object = json!({"spec": {"name": "a", "counts": [1, 2], "none": null, "inner": {"deep": true}}});
        let wrapped = wire::to_struct(&json!({ "object": object, "list": [1], "nothing": null })).expect("an object");
        let inside = Unread::inside(&wrapped, &["object"]).expect("an object").expect("it is there");
        assert_eq!(inside.read::<Value>().expect("all of it"), object);
        assert_eq!(inside.at::<&str>("/spec/name"), Some("a"));
        assert_eq!(inside.at::<Vec<i64>>("/spec/counts"), Some(vec![1, 2]));
        assert_eq!(inside.at::<bool>("/spec/inner/deep"), Some(true));
        assert_eq!(inside.at::<bool>("/spec/inner/shallow"), None, "an unknown key");
        assert_eq!(inside.at::<i64>("/spec/name"), None, "another type");
        assert_eq!(inside.at::<&str>("/spec/name/deeper"), None, "below a text");
        let deep = Unread::inside(&wrapped, &["object", "spec", "inner"]).expect("an object").expect("it is there");
        assert_eq!(deep.read::<Value>().expect("all of it"), json!({"deep": true}));
        for nothing in [&["nothing"][..], &["nothing", "x"], &["object", "x"], &["object", "spec", "none", "y"]] {
            assert!(Unread::inside(&wrapped, nothing).expect("no error").is_none(), "{nothing:?}");
        }
        for other in [&["list"][..], &["list", "x"], &["object", "spec", "counts"], &["object", "spec", "name", "x"]] {
            assert_eq!(Unread::inside(&wrapped, other).expect_err("no object"), NoObject::Other, "{other:?}");
        }
    }
}
