//! What EnvironmentConfigs said when they were last read. Every actor's calls bring the same few again and again, so they
//! are compared with what was read before, and read anew only if they say something else.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::read::from_struct_as;
use super::{RawStruct, ReadError, from_struct};
use crate::inputs::{EnvironmentConfig, Metadata};

/// How many EnvironmentConfigs are remembered.
const MOST: usize = 256;

/// A larger one is read every time, so that what is remembered stays small.
const LARGEST: usize = 64 * 1024;

/// The data of EnvironmentConfigs by the key under which they were asked for.
#[derive(Default)]
pub(super) struct Shelf(Mutex<BTreeMap<String, Arc<Value>>>);

impl Shelf {
    /// Reads an EnvironmentConfig. The answer is the same whatever is on the shelf.
    pub(super) fn read(&self, key: &str, object: &RawStruct) -> Result<EnvironmentConfig, ReadError> {
        let known = self.data().get(key).cloned();
        if let Some(same) = known.and_then(|data| from_struct_as(object, Same { data: &data }).ok()) {
            return Ok(same);
        }
        let read: EnvironmentConfig = from_struct(object)?;
        if prost::Message::encoded_len(object) <= LARGEST {
            let mut shelf = self.data();
            if shelf.len() >= MOST {
                shelf.clear();
            }
            shelf.insert(key.to_owned(), Arc::clone(&read.data));
        }
        Ok(read)
    }

    fn data(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Value>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads an EnvironmentConfig that holds this data, and no other.
struct Same<'a> {
    data: &'a Arc<Value>,
}

impl<'de> DeserializeSeed<'de> for Same<'_> {
    type Value = EnvironmentConfig;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<EnvironmentConfig, D::Error> {
        deserializer.deserialize_map(self)
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
        deserializer.deserialize_any(self)
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
    fn what_is_known_stays_small() {
        let shelf = Shelf::default();
        for index in 0..3 * MOST {
            let object = to_struct(&json!({"data": {"index": index}})).expect("an object");
            shelf.read(&format!("flavor-{index}"), &object).expect("it can be read");
            assert!(shelf.data().len() <= MOST);
        }
        let large = to_struct(&json!({"data": {"text": "x".repeat(LARGEST)}})).expect("an object");
        shelf.read("flavor-large", &large).expect("it can be read");
        assert!(!shelf.data().contains_key("flavor-large"));
    }
}
