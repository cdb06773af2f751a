//! What an XRD or CRD lets an object say: Kubernetes structural schemas, and every way in which a value breaks one.
//!
//! The API server silently drops unknown fields; here they are breaches. CEL (`x-kubernetes-validations`) and
//! `uniqueItems` are not looked at.

mod breach;
mod check;
mod forms;
mod load;
mod scalar;
mod types;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

pub use self::breach::{Breach, BreachKind};
pub use self::load::LoadError;
use self::scalar::Pattern;
pub use self::types::Type;
use crate::path::{Path, Step};

/// What every Kubernetes object may hold, whether or not its schema says so.
const OF_EVERY_OBJECT: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// One node of a schema, with all below it. Names mirror the keywords; unknown keywords are ignored.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Schema {
    #[serde(rename = "type")]
    kind: Option<Type>,
    description: Option<String>,
    default: Option<Value>,
    nullable: bool,
    properties: BTreeMap<String, Schema>,
    additional_properties: Option<Additional>,
    required: Vec<String>,
    min_properties: Option<usize>,
    max_properties: Option<usize>,
    items: Option<Box<Schema>>,
    min_items: Option<usize>,
    max_items: Option<usize>,
    #[serde(rename = "enum")]
    values: Vec<Value>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    exclusive_minimum: bool,
    exclusive_maximum: bool,
    min_length: Option<usize>,
    max_length: Option<usize>,
    pattern: Option<Pattern>,
    format: Option<String>,
    all_of: Vec<Schema>,
    any_of: Vec<Schema>,
    one_of: Vec<Schema>,
    not: Option<Box<Schema>>,
    #[serde(rename = "x-kubernetes-int-or-string")]
    int_or_string: bool,
    #[serde(rename = "x-kubernetes-preserve-unknown-fields")]
    preserve_unknown: bool,
    #[serde(rename = "x-kubernetes-embedded-resource")]
    embedded: bool,
}

/// What the keys of a map that are not listed as properties may hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
enum Additional {
    Forbidden,
    Anything,
    Each(Box<Schema>),
}

impl TryFrom<Value> for Additional {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::Bool(false) => Ok(Self::Forbidden),
            Value::Bool(true) => Ok(Self::Anything),
            schema => serde_json::from_value(schema).map(Self::Each),
        }
    }
}

impl Schema {
    /// The schema of the value at `path`; none where this schema does not say, as below an open field.
    pub fn at(&self, path: &Path) -> Option<&Schema> {
        path.steps().iter().try_fold(self, |node, step| match step {
            Step::Key(key) => node.field(key).or_else(|| node.each_value()),
            Step::Index(_) | Step::Entry(_) => node.items.as_deref(),
        })
    }

    /// The schema of the property `key`.
    pub fn field(&self, key: &str) -> Option<&Schema> {
        self.properties.get(key)
    }

    /// The properties with their schemas, by name.
    pub fn properties(&self) -> impl Iterator<Item = (&str, &Schema)> {
        self.properties.iter().map(|(key, schema)| (key.as_str(), schema))
    }

    /// The schema of each entry of a list.
    pub fn items(&self) -> Option<&Schema> {
        self.items.as_deref()
    }

    /// True if unknown keys are kept: the field takes any key, or may hold anything at all.
    pub fn is_open(&self) -> bool {
        match self.additional_properties {
            Some(Additional::Anything | Additional::Each(_)) => true,
            Some(Additional::Forbidden) => false,
            None => self.preserve_unknown || self.is_silent(),
        }
    }

    /// True if an object without `key` is refused. A field with a default never is: the API server fills it in first.
    pub fn requires(&self, key: &str) -> bool {
        self.required.iter().any(|required| required == key)
            && self.field(key).is_none_or(|field| field.default.is_none())
    }

    /// The declared type, if there is one.
    pub fn kind(&self) -> Option<Type> {
        self.kind
    }

    /// The text for people.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The schema of the values of a map.
    fn each_value(&self) -> Option<&Schema> {
        match &self.additional_properties {
            Some(Additional::Each(schema)) => Some(schema),
            _ => None,
        }
    }

    /// True if this node has no type and no fields: anything goes.
    fn is_silent(&self) -> bool {
        self.kind.is_none() && !self.int_or_string && self.properties.is_empty()
    }

    /// The keys this object is known to take, by name.
    fn known(&self) -> impl Iterator<Item = &str> {
        let implied = OF_EVERY_OBJECT.iter().filter(|key| self.embedded && !self.properties.contains_key(**key));
        implied.copied().chain(self.properties.keys().map(String::as_str))
    }

    /// True if `key` may stand here without being declared.
    fn tolerates(&self, key: &str) -> bool {
        self.is_open() || (self.embedded && OF_EVERY_OBJECT.contains(&key))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        serde_json::from_value(json!({"type": "object", "properties": {
            "env": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "limits": {"type": "object", "additionalProperties": true},
            "shut": {"type": "object", "additionalProperties": false},
            "resources": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "nothing": {"type": "object"},
            "any": {"x-kubernetes-preserve-unknown-fields": true},
        }}))
        .expect("a good schema")
    }

    #[test]
    fn a_path_leads_to_the_schema_of_what_stands_there() {
        let cases = [
            ("the root is the schema itself", Path::root(), Some(Type::Object)),
            ("keys lead to properties", Path::keys("env"), Some(Type::Array)),
            ("a position leads to the items", Path::keys("env").index(3).key("name"), Some(Type::String)),
            ("an identity leads to the items", Path::keys("env").entry("A").key("name"), Some(Type::String)),
            ("any key of a map has the map's schema", Path::keys("labels.app"), Some(Type::String)),
            ("an open field does not say", Path::keys("resources.limits"), None),
            ("nor does a map of anything", Path::keys("limits.cpu"), None),
            ("an unknown key leads nowhere", Path::keys("envs"), None),
            ("a map has no positions", Path::keys("labels").index(0), None),
        ];
        for (why, path, expected) in cases {
            assert_eq!(schema().at(&path).and_then(Schema::kind), expected, "{why}");
        }
    }

    #[test]
    fn open_means_that_unknown_keys_are_kept() {
        let open: Vec<_> = schema().properties().filter(|(_, s)| s.is_open()).map(|(key, _)| key.to_owned()).collect();
        assert_eq!(open, ["any", "labels", "limits", "resources"]);
    }
}
