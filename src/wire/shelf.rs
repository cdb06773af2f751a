//! What EnvironmentConfigs and actors said when they were last read. Calls bring the same words again and again, so they
//! are compared with what was read before, and read anew only if they say something else. Equal words are then one and
//! the same tree, for whoever remembers what it made of them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::{Encoded, RawStruct, ReadError, from_struct};
use crate::inputs::{Composite, EnvironmentConfig, Said};
use crate::memory::Memory;
use crate::tree;
use crate::words::Words;

/// What was read before.
pub(super) struct Shelf {
    /// The data of EnvironmentConfigs, by the key under which they were asked for.
    configs: Memory<Read>,
    /// The inputs of Compositions' steps, by the EnvironmentConfig that they name.
    inputs: Memory<Read>,
    /// The specs of actors, by name.
    specs: Memory<Arc<Words>>,
}

/// How much memory EnvironmentConfigs may take, in bytes: some hundred flavors.
const CONFIGS: usize = 2 * 1024 * 1024;

/// How much memory inputs may take, in bytes.
const INPUTS: usize = 512 * 1024;

/// How much memory specs may take, in bytes: those of more actors than there is room for designs.
const SPECS: usize = 8 * 1024 * 1024;

impl Shelf {
    /// With nothing in it.
    pub const fn new() -> Self {
        Self { configs: Memory::new(CONFIGS), inputs: Memory::new(INPUTS), specs: Memory::new(SPECS) }
    }

    /// Reads an EnvironmentConfig. The answer is the same whatever is on the shelf.
    pub fn config(&self, key: &str, object: &RawStruct) -> Result<EnvironmentConfig, ReadError> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Holder {
            data: Value,
        }
        let said = object.only("data");
        if let Some(data) = known(&self.configs, key, said) {
            return EnvironmentConfig::read(object, &data);
        }
        let data = Arc::new(from_struct::<Holder>(object)?.data);
        let read = EnvironmentConfig::read(object, &data)?;
        keep(&self.configs, key, said, &data);
        Ok(read)
    }

    /// Reads the input of the Composition's step. The answer is the same whatever is on the shelf.
    pub fn input(&self, object: &RawStruct) -> Result<Arc<Value>, ReadError> {
        let name = object.at(&["environmentConfig"]).and_then(Encoded::as_str).unwrap_or_default();
        let entries = prost::Message::encode_to_vec(object);
        let said = Some(Encoded::of_object(&entries));
        if let Some(input) = known(&self.inputs, name, said) {
            return Ok(input);
        }
        let read = Arc::new(from_struct(object)?);
        keep(&self.inputs, name, said, &read);
        Ok(read)
    }

    /// Reads a composite. The answer is the same whatever is on the shelf.
    pub fn composite(&self, object: &RawStruct) -> Result<Composite, ReadError> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Holder {
            spec: Said,
        }
        let text = |key| object.at(&["metadata", key]).and_then(Encoded::as_str).unwrap_or_default();
        let key = [text("namespace"), text("name")].join("/");
        let said = object.only("spec");
        if let (Some(words), Some(Encoded::Map(said))) = (self.specs.get(&key), said)
            && words.are(said)
        {
            return Composite::read(object, &words);
        }
        let spec = from_struct::<Holder>(object)?.spec.0;
        let words = Arc::new(match said {
            Some(Encoded::Map(said)) => Words::of_encoded(said, &spec),
            _ => Words::of_tree(spec),
        });
        let read = Composite::read(object, &words)?;
        self.specs.put(&key, Arc::clone(&words), words.bytes());
        Ok(read)
    }
}

/// An object as it was said, and what was read of it.
#[derive(Clone)]
struct Read(Arc<(Vec<u8>, Arc<Value>)>);

/// What was read when the same was said before.
fn known(shelf: &Memory<Read>, key: &str, said: Option<Encoded<'_>>) -> Option<Arc<Value>> {
    let Some(Encoded::Map(said)) = said else { return None };
    let Read(words) = shelf.get(key)?;
    let Encoded::Map(before) = Encoded::of_object(&words.0) else { return None };
    before.equal(said, &[]).then(|| Arc::clone(&words.1))
}

fn keep(shelf: &Memory<Read>, key: &str, said: Option<Encoded<'_>>, read: &Arc<Value>) {
    if let Some(Encoded::Map(said)) = said {
        let said = said.to_vec();
        let bytes = said.len() + tree::size(read);
        shelf.put(key, Read(Arc::new((said, Arc::clone(read)))), bytes);
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
                    let plain = Shelf::new().config("flavor-a", &object).expect("it can be read");
                    let shelved = shelf.config("flavor-a", &object).expect("it can be read");
                    assert_eq!(shelved, plain, "{before}, {after}");
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
        assert_eq!(*Shelf::new().config("flavor-a", &object).expect("it can be read").data, json!({"a": 1}));
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
                    let plain = Shelf::new().composite(&object).expect("it can be read");
                    let shelved = shelf.composite(&object).expect("it can be read");
                    let parts = |composite: &Composite| {
                        let Composite { metadata, spec, claim, status } = composite;
                        (metadata.clone(), spec.tree(), claim.clone(), format!("{status:?}"))
                    };
                    assert_eq!(parts(&shelved), parts(&plain), "{before}, {after}");
                }
            }
        }
        let nothing = to_struct(&json!({"metadata": {"name": "a"}, "status": null})).expect("an object");
        assert_eq!(*shelf.composite(&nothing).expect("it can be read").spec.tree(), Value::Null);
    }

    #[test]
    fn what_cannot_be_read_is_told_of_what_is_known_too() {
        let delimited =
            |tag: u8, bytes: &[u8]| [&[tag, u8::try_from(bytes.len()).expect("a short one")], bytes].concat();
        let entry = |key: &str, value: &[u8]| {
            delimited(0x0a, &[delimited(0x0a, key.as_bytes()), delimited(0x12, value)].concat())
        };
        let object = |entries: &[Vec<u8>]| delimited(0x2a, &entries.concat());
        // The beginning of a number.
        let malformed = entry("compositionRef", &[0x08]);
        let words = entry("image", &delimited(0x1a, b"a"));
        let read = |bytes: &[u8]| <RawStruct as prost::Message>::decode(bytes).expect("entries");
        for key in ["spec", "data"] {
            let clean = entry(key, &object(std::slice::from_ref(&words)));
            let inside = entry(key, &object(&[words.clone(), malformed.clone()]));
            for odd in [[&clean[..], &malformed].concat(), inside] {
                let (known, new) = (Shelf::new(), Shelf::new());
                known.composite(&read(&clean)).expect("it can be read");
                known.config("a", &read(&clean)).expect("it can be read");
                let told = |shelf: &Shelf| (shelf.composite(&read(&odd)).err(), shelf.config("a", &read(&odd)).err());
                assert_eq!(told(&known), told(&new), "{key}");
                assert_ne!(told(&new), (None, None), "{key}");
            }
        }
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
