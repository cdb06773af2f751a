//! What EnvironmentConfigs and actors said when they were last read. Calls bring the same words again and again, so they
//! are compared with what was read before, and read anew only if they say something else. Equal words are then one and
//! the same tree, for whoever remembers what it made of them.

use std::fmt;
use std::sync::Arc;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::read::from_struct_as;
use super::{RawStruct, ReadError, Written, from_struct};
use crate::inputs::{CLAIM, CROSSPLANES, ClaimRef, Composite, CompositeStatus, EnvironmentConfig, Metadata, Noted};
use crate::memory::Memory;

/// What was read before.
pub(super) struct Shelf {
    /// The data of EnvironmentConfigs, by the key under which they were asked for.
    configs: Memory<Arc<Value>>,
    /// The specs of actors, by name.
    specs: Memory<Arc<Value>>,
}

/// How much memory EnvironmentConfigs may take, in bytes: some hundred flavors.
const CONFIGS: usize = 2 * 1024 * 1024;

/// How much memory specs may take, in bytes: those of some hundred actors.
const SPECS: usize = 4 * 1024 * 1024;

impl Shelf {
    /// With nothing in it.
    pub const fn new() -> Self {
        Self { configs: Memory::new(CONFIGS), specs: Memory::new(SPECS) }
    }

    /// Reads an EnvironmentConfig. The answer is the same whatever is on the shelf.
    pub fn config(&self, key: &str, object: &RawStruct) -> Result<EnvironmentConfig, ReadError> {
        let known = self.configs.get(key);
        if let Some(same) = known.and_then(|data| from_struct_as(object, SameConfig { data: &data }).ok()) {
            return Ok(same);
        }
        let read: EnvironmentConfig = from_struct(object)?;
        self.configs.put(key, Arc::clone(&read.data), size(&read.data));
        Ok(read)
    }

    /// Reads a composite. The answer is the same whatever is on the shelf.
    pub fn composite(&self, object: &RawStruct) -> Result<Composite, ReadError> {
        let text = |key| object.written(&["metadata", key]).and_then(Written::as_str).unwrap_or_default();
        let key = [text("namespace"), text("name")].join("/");
        let known = self.specs.get(&key);
        if let Some(same) = known.and_then(|spec| from_struct_as(object, SameComposite { spec: &spec }).ok()) {
            return Ok(same);
        }
        let read: Composite = from_struct(object)?;
        self.specs.put(&key, Arc::clone(&read.spec), size(&read.spec));
        Ok(read)
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
struct SameConfig<'a> {
    data: &'a Arc<Value>,
}

impl<'de> DeserializeSeed<'de> for SameConfig<'_> {
    type Value = EnvironmentConfig;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<EnvironmentConfig, D::Error> {
        // As a struct: there the last one of a key that stands twice is the only one.
        deserializer.deserialize_struct("", &[], self)
    }
}

impl<'de> Visitor<'de> for SameConfig<'_> {
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

/// Reads a composite whose user said this, and nothing else.
struct SameComposite<'a> {
    spec: &'a Arc<Value>,
}

impl<'de> DeserializeSeed<'de> for SameComposite<'_> {
    type Value = Composite;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Composite, D::Error> {
        deserializer.deserialize_struct("", &[], self)
    }
}

impl<'de> Visitor<'de> for SameComposite<'_> {
    type Value = Composite;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a composite that is known")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Composite, A::Error> {
        let mut composite = Composite { spec: Arc::clone(self.spec), ..Composite::default() };
        let mut same = self.spec.is_null();
        while let Some(key) = access.next_key::<&str>()? {
            match key {
                "metadata" => composite.metadata = access.next_value()?,
                "spec" => {
                    composite.claim = access.next_value_seed(SameSpec(self.spec))?;
                    same = true;
                }
                "status" => composite.status = access.next_value::<Option<CompositeStatus>>()?.unwrap_or_default(),
                _ => drop(access.next_value::<IgnoredAny>()?),
            }
        }
        if same { Ok(composite) } else { Err(different()) }
    }
}

/// Reads a spec that says this beside what Crossplane noted, and of that the claim.
struct SameSpec<'a>(&'a Value);

impl<'de> DeserializeSeed<'de> for SameSpec<'_> {
    type Value = ClaimRef;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ClaimRef, D::Error> {
        if self.0.is_object() {
            return deserializer.deserialize_struct("", &[], self);
        }
        Equal(self.0).deserialize(deserializer)?;
        Ok(ClaimRef::default())
    }
}

impl<'de> Visitor<'de> for SameSpec<'_> {
    type Value = ClaimRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a spec that is known")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<ClaimRef, A::Error> {
        let Value::Object(known) = self.0 else { return Err(different()) };
        let (mut claim, mut count) = (ClaimRef::default(), 0);
        while let Some(key) = access.next_key::<&str>()? {
            match known.get(key) {
                Some(value) => {
                    access.next_value_seed(Equal(value))?;
                    count += 1;
                }
                None if key == CLAIM => Noted(claim) = access.next_value()?,
                None if CROSSPLANES.contains(&key) => drop(access.next_value::<IgnoredAny>()?),
                None => return Err(different()),
            }
        }
        if count == known.len() { Ok(claim) } else { Err(different()) }
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
        let shelf = Shelf::new();
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
                    let shelved = shelf.config("flavor-a", &object).expect("it can be read");
                    assert_eq!((&shelved.data, &shelved.metadata), (&plain.data, &plain.metadata), "{before}, {after}");
                }
            }
        }
        let nothing = to_struct(&json!({"metadata": {}})).expect("an object");
        assert_eq!(*shelf.config("flavor-a", &nothing).expect("it can be read").data, Value::Null);
    }

    #[test]
    fn a_key_that_stands_twice_counts_once() {
        let entry = |key: &str, value: i64| {
            let object = to_struct(&json!({ key: value })).expect("an object");
            prost::Message::encode_to_vec(&object)
        };
        let shelf = Shelf::new();
        let known = to_struct(&json!({"data": {"a": 1, "b": 2}})).expect("an object");
        shelf.config("flavor-a", &known).expect("it can be read");
        let twice = [entry("a", 1), entry("a", 1)].concat();
        let value = [&[0x2a, twice.len() as u8][..], &twice].concat();
        let data = [&[0x0a, 4][..], b"data", &[0x12, value.len() as u8], &value].concat();
        let bytes = [&[0x0a, data.len() as u8][..], &data].concat();
        let object = <RawStruct as prost::Message>::decode(&*bytes).expect("an object");
        assert_eq!(*from_struct::<EnvironmentConfig>(&object).expect("it can be read").data, json!({"a": 1}));
        assert_eq!(*shelf.config("flavor-a", &object).expect("it can be read").data, json!({"a": 1}));
    }

    #[test]
    fn a_known_composite_is_read_as_a_new_one() {
        let shelf = Shelf::new();
        let specs = [
            json!({"image": "a", "flavors": ["x"], "claimRef": {"name": "a", "namespace": "b"}, "resourceRefs": [1]}),
            json!({"image": "a", "flavors": ["x"], "claimRef": {"name": "c", "namespace": "b"}}),
            json!({"image": "a", "flavors": ["x"], "claimRef": 5}),
            json!({"image": "a", "flavors": ["x"]}),
            json!({"image": "a", "flavors": ["x", "y"]}),
            json!({"image": "a", "compositionRef": {"name": "x"}}),
            json!({"image": 1.5}),
            json!({}),
            json!({"crossplane": {}}),
            json!([]),
            json!("text"),
            json!(true),
            Value::Null,
        ];
        for before in &specs {
            for after in &specs {
                for spec in [before, after, after] {
                    let object = to_struct(&json!({"metadata": {"name": "a", "labels": {"b": "c"}}, "spec": spec,
                        "status": {"queueUrl": "d"}}));
                    let object = object.expect("an object");
                    let plain: Composite = from_struct(&object).expect("it can be read");
                    let shelved = shelf.composite(&object).expect("it can be read");
                    assert_eq!(format!("{shelved:?}"), format!("{plain:?}"), "{before}, {after}");
                }
            }
        }
        let nothing = to_struct(&json!({"metadata": {"name": "a"}, "status": null})).expect("an object");
        assert_eq!(*shelf.composite(&nothing).expect("it can be read").spec, Value::Null);
    }

    #[test]
    fn equal_words_are_one_tree() {
        let shelf = Shelf::new();
        let read = |image: &str| {
            let object = to_struct(&json!({"metadata": {"name": "a"}, "spec": {"image": image}})).expect("an object");
            shelf.composite(&object).expect("it can be read").spec
        };
        let first = read("a");
        assert!(Arc::ptr_eq(&first, &read("a")));
        assert!(!Arc::ptr_eq(&first, &read("b")));
    }
}
