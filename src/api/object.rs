//! `kubernetes.crossplane.io/v1alpha2` Object, provider-kubernetes' wrapper, as much of it as we read.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::Condition;
use crate::inputs::{Metadata, or_default};

/// An observed Object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Object {
    /// Its kind; anything but `Object` is not ours.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    /// The wrapper's own metadata, not the wrapped object's.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Metadata,
    /// What was asked of the provider, whole: an Object may have to be emitted as it is observed.
    #[serde(deserialize_with = "map")]
    pub spec: Value,
    #[serde(deserialize_with = "or_default")]
    status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    #[serde(deserialize_with = "or_default")]
    at_provider: AtProvider,
    #[serde(deserialize_with = "or_default")]
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct AtProvider {
    manifest: Option<Live>,
}

impl Object {
    /// The live object that the wrapper names, up to 10 minutes old unless the provider watches.
    pub fn live(&self) -> Option<&Live> {
        self.status.at_provider.manifest.as_ref().filter(|live| !live.0.is_null())
    }

    /// The manifest that was last asked for.
    pub fn asked(&self) -> Option<&Value> {
        self.spec.pointer("/forProvider/manifest")
    }

    /// A field of the real object, else of the one that was asked for.
    pub fn manifest_text(&self, pointer: &str) -> Option<&str> {
        let live = self.live().and_then(|live| live.0.pointer(pointer));
        live.or_else(|| self.asked()?.pointer(pointer))?.as_str().filter(|text| !text.is_empty())
    }

    /// The wrapper's own conditions.
    pub fn conditions(&self) -> &[Condition] {
        &self.status.conditions
    }

    /// True if the provider deletes the wrapped object together with the wrapper.
    pub fn deletes(&self) -> bool {
        let holds = |item: &str, list: &[Value]| list.iter().any(|policy| policy.as_str() == Some(item));
        let orphan = self.spec.get("deletionPolicy").and_then(Value::as_str) == Some("Orphan");
        match self.spec.get("managementPolicies").and_then(Value::as_array) {
            Some(list) if !list.is_empty() => holds("Delete", list) || (holds("*", list) && !orphan),
            _ => !orphan,
        }
    }
}

/// Reads a map; null is an empty one, and anything else cannot be emitted again as it is.
fn map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Ok(Value::Object(Option::<Map<String, Value>>::deserialize(deserializer)?.unwrap_or_default()))
}

/// A live Kubernetes object without its `managedFields`, which nobody reads and which may be most of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live(pub Value);

impl Live {
    /// The conditions in the object's status; none if they are not what conditions are.
    pub fn conditions(&self) -> Vec<Condition> {
        let conditions = self.0.pointer("/status/conditions").cloned();
        conditions.and_then(|conditions| serde_json::from_value(conditions).ok()).unwrap_or_default()
    }

    /// A whole number in the object.
    pub fn number(&self, pointer: &str) -> Option<i64> {
        self.0.pointer(pointer).and_then(Value::as_i64)
    }

    /// A text in the object, if it is there and not empty.
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.0.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
}

impl<'de> Deserialize<'de> for Live {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Live(Value::Object(deserializer.deserialize_map(Without { name: "metadata", inside: true })?)))
    }
}

/// Reads a map; in its `metadata` the entry `managedFields` is skipped.
struct Without {
    name: &'static str,
    inside: bool,
}

impl<'de> Visitor<'de> for Without {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if key != self.name {
                map.insert(key, access.next_value()?);
            } else if self.inside {
                map.insert(key, Value::Object(access.next_value::<LiveMetadata>()?.0));
            } else {
                access.next_value::<IgnoredAny>()?;
            }
        }
        Ok(map)
    }
}

struct LiveMetadata(Map<String, Value>);

impl<'de> Deserialize<'de> for LiveMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(LiveMetadata(deserializer.deserialize_map(Without { name: "managedFields", inside: false })?))
    }
}
