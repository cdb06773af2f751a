//! From an encoded `google.protobuf.Struct` to any serde type, without a tree in between.
//!
//! What protobuf says about repeated fields and keys holds here too (the last one wins, messages merge). Stricter than
//! protobuf: a number must be finite, as in JSON. More lenient: what nobody reads is not checked.

use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Deserialize, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::entries::{Entries, Entry, Source};
use super::fields::{Fields, Message};
use super::value::{Value, next_item};
use super::{MAX_DEPTH, RawStruct, ReadError};
use crate::path::Step;
use crate::tree::EXACT;

/// Reads an object.
///
/// Whole numbers below 2^53 come as integers, others as doubles, `null` as `None` or unit, enums by their name.
///
/// # Errors
/// The first thing that is malformed, not finite, nested deeper than [`MAX_DEPTH`] or not what `T` expects.
pub fn from_struct<'de, T: Deserialize<'de>>(object: &'de RawStruct) -> Result<T, ReadError> {
    from_struct_as(object, PhantomData)
}

/// Reads an object as `seed` says.
///
/// # Errors
/// As for [`from_struct`].
pub(super) fn from_struct_as<'de, S: DeserializeSeed<'de>>(
    object: &'de RawStruct,
    seed: S,
) -> Result<S::Value, ReadError> {
    seed.deserialize(Reader { value: Value::Root(object), depth: 0 }).map_err(ReadError::shortened)
}

/// Reads an object from the encoded entries of its Struct.
///
/// # Errors
/// As for [`from_struct`].
pub(crate) fn from_entries<'de, S: DeserializeSeed<'de>>(entries: &'de [u8], seed: S) -> Result<S::Value, ReadError> {
    let value = Value::Struct(Message::new(entries));
    seed.deserialize(Reader { value, depth: 0 }).map_err(ReadError::shortened)
}

/// One value, and how many objects and lists it is in.
struct Reader<'de> {
    value: Value<'de>,
    depth: usize,
}

impl<'de> Reader<'de> {
    /// An object for a visitor of any: it puts keys into a map, where the last one wins by itself, or takes none twice.
    /// What stands under a key that comes again has to be readable too.
    fn object<V: Visitor<'de>>(source: Source<'de>, depth: usize, visitor: V) -> Result<V::Value, ReadError> {
        let depth = deeper(depth)?;
        visitor.visit_map(Object { entries: Entries::as_they_stand(source), entry: Entry::default(), depth })
    }

    /// An object for a visitor of fields, each of which comes once.
    fn fields<V: Visitor<'de>>(source: Source<'de>, depth: usize, visitor: V) -> Result<V::Value, ReadError> {
        let depth = deeper(depth)?;
        visitor.visit_map(Object { entries: Entries::each_once(source)?, entry: Entry::default(), depth })
    }

    fn list<V: Visitor<'de>>(message: &Message<'de>, depth: usize, visitor: V) -> Result<V::Value, ReadError> {
        let mut list = List { items: message.fields(), index: 0, depth: deeper(depth)? };
        let value = visitor.visit_seq(&mut list)?;
        match next_item(&mut list.items)? {
            None => Ok(value),
            Some(_) => Err(ReadError::new(format!("more than {} elements", list.index))),
        }
    }

    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Number(number) if number.abs() <= EXACT && number.trunc() == number => {
                visitor.visit_i64(number as i64)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn float<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Number(number) => visitor.visit_f64(finite(number)?),
            _ => self.deserialize_any(visitor),
        }
    }
}

/// The depth inside an object or list at `depth`.
fn deeper(depth: usize) -> Result<usize, ReadError> {
    if depth == MAX_DEPTH {
        return Err(ReadError::new(format!("nested more than {MAX_DEPTH} levels deep")));
    }
    Ok(depth + 1)
}

fn finite(number: f64) -> Result<f64, ReadError> {
    if number.is_finite() { Ok(number) } else { Err(ReadError::new("a number that is not finite")) }
}

#[inline]
fn utf8(bytes: &[u8]) -> Result<&str, ReadError> {
    str::from_utf8(bytes).map_err(|_| ReadError::new("text that is not UTF-8"))
}

/// As an integer if it is one, bit for bit: `-0.0` is not.
fn number<'de, V: Visitor<'de>>(number: f64, visitor: V) -> Result<V::Value, ReadError> {
    let whole = number as i64;
    if number.abs() < EXACT && (whole as f64).to_bits() == number.to_bits() {
        return visitor.visit_i64(whole);
    }
    visitor.visit_f64(finite(number)?)
}

/// Each of these serde methods does the same for its type of number.
macro_rules! numbers {
    ($($method:ident as $kind:ident),*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            self.$kind(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Number(double) => number(double, visitor),
            Value::String(bytes) => visitor.visit_borrowed_str(utf8(bytes)?),
            Value::Bool(truth) => visitor.visit_bool(truth),
            Value::Struct(message) => Self::object(Source::Inner(message.fields()), self.depth, visitor),
            Value::List(message) => Self::list(&message, self.depth, visitor),
            Value::Root(object) => Self::object(Source::Root(object.entries().iter()), self.depth, visitor),
        }
    }

    numbers! {
        deserialize_i8 as integer, deserialize_i16 as integer, deserialize_i32 as integer, deserialize_i64 as integer,
        deserialize_u8 as integer, deserialize_u16 as integer, deserialize_u32 as integer, deserialize_u64 as integer,
        deserialize_f32 as float, deserialize_f64 as float
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Struct(message) => Self::fields(Source::Inner(message.fields()), self.depth, visitor),
            Value::Root(object) => Self::fields(Source::Root(object.entries().iter()), self.depth, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.value {
            Value::String(bytes) => visitor.visit_enum(BorrowedStrDeserializer::new(utf8(bytes)?)),
            _ => self.deserialize_any(visitor),
        }
    }

    /// Text as it came, for whoever compares bytes.
    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            Value::String(bytes) => visitor.visit_borrowed_bytes(bytes),
            _ => self.deserialize_any(visitor),
        }
    }

    /// Names of fields are compared and not kept, so they need not be known to be text.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool char str string byte_buf unit unit_struct seq tuple tuple_struct map
    }
}

/// An object being read.
struct Object<'de> {
    entries: Entries<'de>,
    /// The entry whose key was read last.
    entry: Entry<'de>,
    depth: usize,
}

impl<'de> MapAccess<'de> for Object<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        let Some(entry) = self.entries.next()? else { return Ok(None) };
        self.entry = entry;
        seed.deserialize(Reader { value: Value::String(self.entry.key), depth: self.depth }).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        Value::read(&self.entry.value)
            .map_err(ReadError::from)
            .and_then(|value| seed.deserialize(Reader { value, depth: self.depth }))
            .map_err(|error| error.under(Step::Key(String::from_utf8_lossy(self.entry.key).into_owned())))
    }
}

/// A list being read.
struct List<'de> {
    items: Fields<'de>,
    /// How many were read.
    index: usize,
    depth: usize,
}

impl<'de> SeqAccess<'de> for List<'de> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        let Some(item) = next_item(&mut self.items)? else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        Value::read(&Message::new(item))
            .map_err(ReadError::from)
            .and_then(|value| seed.deserialize(Reader { value, depth: self.depth }))
            .map(Some)
            .map_err(|error| error.under(Step::Index(index)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::from_struct;
    use crate::wire::to_struct;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Spec<'a> {
        image: &'a str,
        replicas: Option<u32>,
        policy: Option<Policy>,
        ratio: Option<f32>,
        labels: Option<BTreeMap<Name, Name>>,
        pair: Option<(i8, u64)>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    enum Policy {
        Delete,
        Orphan,
    }

    #[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
    struct Name(String);

    fn error(spec: Value) -> String {
        let object = to_struct(&json!({ "spec": spec })).unwrap();
        from_struct::<BTreeMap<String, Spec<'_>>>(&object).unwrap_err().to_string()
    }

    #[test]
    fn typed_fields_take_what_they_can_hold() {
        let object = to_struct(&json!({
            "image": "a", "replicas": 3, "policy": "Orphan", "ratio": 2, "labels": {"x": "y"}, "pair": [-1, 9007199254740992_u64],
        }));
        let labels = BTreeMap::from([(Name("x".into()), Name("y".into()))]);
        assert_eq!(
            from_struct::<Spec<'_>>(&object.unwrap()).unwrap(),
            Spec {
                image: "a",
                replicas: Some(3),
                policy: Some(Policy::Orphan),
                ratio: Some(2.0),
                labels: Some(labels),
                pair: Some((-1, 1 << 53)),
            }
        );
        let object = to_struct(&json!({ "image": "a", "replicas": null })).unwrap();
        assert_eq!(from_struct::<Spec<'_>>(&object).unwrap().replicas, None);
    }

    #[test]
    fn errors_say_where() {
        for (spec, expected) in [
            (json!({"image": 5}), "spec.image: invalid type: integer `5`, expected a borrowed string"),
            (json!({"image": "a", "replicas": -1}), "spec.replicas: invalid value: integer `-1`, expected u32"),
            (json!({"image": "a", "replicas": 1.5}), "spec.replicas: invalid type: floating point `1.5`, expected u32"),
            (json!({"image": "a", "pair": [1, "x"]}), "spec.pair[1]: invalid type: string \"x\", expected u64"),
            (json!({"image": "a", "pair": [1, 2, 3]}), "spec.pair: more than 2 elements"),
            (
                json!({"image": "a", "policy": "Keep"}),
                "spec.policy: unknown variant `Keep`, expected `Delete` or `Orphan`",
            ),
            (json!({"image": "a", "policy": 1}), "spec.policy: invalid type: integer `1`, expected enum Policy"),
            (json!({"replicas": 1}), "spec: missing field `image`"),
            (
                json!({"image": "a", "labels": {"a.b/c": 1}}),
                "spec.labels.\"a.b/c\": invalid type: integer `1`, expected a string",
            ),
        ] {
            assert_eq!(error(spec), expected);
        }
        let unknown =
            "spec: unknown field `imag`, expected one of `image`, `replicas`, `policy`, `ratio`, `labels`, `pair`";
        assert_eq!(error(json!({"imag": 1})), unknown);
    }
}
