//! What EnvironmentConfigs said when they were last read. Every actor's calls bring the same few again and again, so they
//! are compared with what was read before, and read anew only if they say something else.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::read::from_struct_as;
use super::{RawStruct, ReadError, from_struct};
use crate::inputs::{EnvironmentConfig, Metadata};

/// How much memory all that is remembered may take, in bytes: some hundred flavors.
const MOST: usize = 2 * 1024 * 1024;

/// How much memory one may take. A larger one is read every time.
const LARGEST: usize = MOST / 16;

/// What was read before.
#[derive(Default)]
pub(super) struct Shelf(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// The data of EnvironmentConfigs by the key under which they were asked for.
    data: BTreeMap<String, Arc<Value>>,
    /// What they take, and what those took that they replaced.
    bytes: usize,
}

impl Shelf {
    /// Reads an EnvironmentConfig. The answer is the same whatever is on the shelf.
    pub(super) fn read(&self, key: &str, object: &RawStruct) -> Result<EnvironmentConfig, ReadError> {
        let known = self.known().data.get(key).cloned();
        if let Some(same) = known.and_then(|data| from_struct_as(object, Same { data: &data }).ok()) {
            return Ok(same);
        }
        let read: EnvironmentConfig = from_struct(object)?;
        self.remember(key, &read.data);
        Ok(read)
    }

    fn remember(&self, key: &str, data: &Arc<Value>) {
        let bytes = key.len() + size(data);
        if bytes > LARGEST {
            return;
        }
        let mut known = self.known();
        if known.bytes + bytes > MOST {
            *known = Known::default();
        }
        known.bytes += bytes;
        known.data.insert(key.to_owned(), Arc::clone(data));
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// About how much memory a tree takes, in bytes. A map takes room for eleven entries however few it has.
fn size(value: &Value) -> usize {
    const MAP: usize = 640;
    size_of::<Value>()
        + match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.len(),
            Value::Array(list) => list.iter().map(size).sum(),
            Value::Object(map) => MAP + map.iter().map(|(key, value)| key.len() + size(value)).sum::<usize>(),
        }
}

/// Reads an EnvironmentConfig that holds this data, and no other.
struct Same<'a> {
    data: &'a Arc<Value>,
}

impl<'de> DeserializeSeed<'de> for Same<'_> {
    type Value = EnvironmentConfig;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<EnvironmentConfig, D::Error> {
        // As a struct: there the last one of a key that stands twice is the only one.
        deserializer.deserialize_struct("", &[], self)
    }
}

impl<'de> Visitor<'de> for Same<'_> {
    type Value = EnvironmentConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an EnvironmentConfig that is known")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<EnvironmentConfig, A::Error> {
        let (mut metadata, mut same) = (Metadata::default(), self.data.is_null());
        while let Some(key) = access.next_key::<&str>()? {
            match key {
                "metadata" => metadata = access.next_value()?,
                "data" => {
                    access.next_value_seed(Equal(self.data))?;
                    same = true;
                }
                _ => drop(access.next_value::<IgnoredAny>()?),
            }
        }
        if !same {
            return Err(different());
        }
        Ok(EnvironmentConfig { metadata, data: Arc::clone(self.data) })
    }
}

fn different<E: Error>() -> E {
    E::custom("different")
}

/// Reads a value that equals this one; the first difference is an error.
struct Equal<'a>(&'a Value);

impl Equal<'_> {
    fn if_same<E: Error>(same: bool) -> Result<(), E> {
        if same { Ok(()) } else { Err(different()) }
    }
}

impl<'de> DeserializeSeed<'de> for Equal<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_struct("", &[], self)
    }
}

impl<'de> Visitor<'de> for Equal<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what is known")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Value::Object(known) = self.0 else { return Err(different()) };
        let mut count = 0;
        while let Some(key) = access.next_key::<&str>()? {
            let value = known.get(key).ok_or_else(different)?;
            access.next_value_seed(Equal(value))?;
            count += 1;
        }
        Self::if_same(count == known.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Value::Array(known) = self.0 else { return Err(different()) };
        for value in known {
            access.next_element_seed(Equal(value))?.ok_or_else(different)?;
        }
        Self::if_same(access.next_element::<IgnoredAny>()?.is_none())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        Self::if_same(self.0.as_str() == Some(text))
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<(), E> {
        Self::if_same(*self.0 == Value::Bool(truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        Self::if_same(self.0.as_i64() == Some(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        Self::if_same(self.0.is_f64() && self.0.as_f64().is_some_and(|known| known.to_bits() == number.to_bits()))
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Self::if_same(self.0.is_null())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::to_struct;

    #[test]
    fn what_is_known_never_changes_what_is_read() {
        let shelf = Shelf::default();
        let data = [
            json!({"env": [{"name": "A", "value": "1"}], "replicas": 2}),
            json!({"env": [{"name": "A", "value": "2"}], "replicas": 2}),
            json!({"env": [{"name": "A", "value": "1"}]}),
            json!({"env": [{"name": "A", "value": "1"}], "replicas": 2, "more": null}),
            json!({"env": [{"name": "A", "value": "1"}, {}], "replicas": 2.5}),
            json!({"env": [], "replicas": -0.0}),
            json!({"env": {}, "replicas": 0}),
            json!({"env": true, "replicas": "0"}),
            json!({}),
            json!([]),
            Value::Null,
        ];
        for before in &data {
            for after in &data {
                for data in [before, after, after] {
                    let labels = json!({"labels": {"asya.sh/deprecated": "true"}});
                    let object = to_struct(&json!({"metadata": labels, "data": data})).expect("an object");
                    let plain: EnvironmentConfig = from_struct(&object).expect("it can be read");
                    let shelved = shelf.read("flavor-a", &object).expect("it can be read");
                    assert_eq!((&shelved.data, &shelved.metadata), (&plain.data, &plain.metadata), "{before}, {after}");
                }
            }
        }
        let nothing = to_struct(&json!({"metadata": {}})).expect("an object");
        assert_eq!(*shelf.read("flavor-a", &nothing).expect("it can be read").data, Value::Null);
    }

    #[test]
    fn a_key_that_stands_twice_counts_once() {
        let entry = |key: &str, value: i64| {
            let object = to_struct(&json!({ key: value })).expect("an object");
            prost::Message::encode_to_vec(&object)
        };
        let shelf = Shelf::default();
        let known = to_struct(&json!({"data": {"a": 1, "b": 2}})).expect("an object");
        shelf.read("flavor-a", &known).expect("it can be read");
        let twice = [entry("a", 1), entry("a", 1)].concat();
        let value = [&[0x2a, twice.len() as u8][..], &twice].concat();
        let data = [&[0x0a, 4][..], b"data", &[0x12, value.len() as u8], &value].concat();
        let bytes = [&[0x0a, data.len() as u8][..], &data].concat();
        let object = <RawStruct as prost::Message>::decode(&*bytes).expect("an object");
        assert_eq!(*from_struct::<EnvironmentConfig>(&object).expect("it can be read").data, json!({"a": 1}));
        assert_eq!(*shelf.read("flavor-a", &object).expect("it can be read").data, json!({"a": 1}));
    }

    #[test]
    fn what_is_known_stays_small() {
        let shelf = Shelf::default();
        let data = json!({"maps": vec![json!({"a": null}); 50]});
        for index in 0..300 {
            let object = to_struct(&json!({"data": data})).expect("an object");
            shelf.read(&format!("flavor-{index}"), &object).expect("it can be read");
            let known = shelf.known();
            assert!(known.data.values().map(|data| size(data)).sum::<usize>() <= MOST);
            assert!(known.data.contains_key(&format!("flavor-{index}")));
        }
        let large = to_struct(&json!({"data": {"text": "x".repeat(LARGEST)}})).expect("an object");
        shelf.read("flavor-large", &large).expect("it can be read");
        assert!(!shelf.known().data.contains_key("flavor-large"));
    }
}
