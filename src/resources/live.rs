//! Whether a wrapped object is applied: nothing refused it, and what lives is what we emit.

use serde_json::Value;

use crate::api::{Condition, Live, Object, when_false};
use crate::go;

/// How far an Object has brought our manifest.
#[derive(Clone, Debug)]
pub enum Applied<'a> {
    /// There is no live object yet.
    Missing,
    /// The provider or Kubernetes refused it.
    Refused(&'a Condition),
    /// The live object is not yet the one we emit.
    Differs(&'a Live),
    /// The live object is the one we emit.
    Same(&'a Live),
}

impl<'a> Applied<'a> {
    /// Compares what lives with `manifest`; without one, whatever lives is taken for ours.
    pub fn read(object: Option<&'a Object>, manifest: Option<&Value>) -> Self {
        let Some(object) = object else { return Applied::Missing };
        if let Some(refused) = when_false(object.conditions(), "Synced") {
            return Applied::Refused(refused);
        }
        match (object.live(), manifest) {
            (None, _) => Applied::Missing,
            (Some(live), Some(manifest)) if !covers(manifest, &live.0, Meaning::of(manifest)) => Applied::Differs(live),
            (Some(live), _) => Applied::Same(live),
        }
    }

    /// The live object, if it is the one we emit.
    pub fn same(&self) -> Option<&'a Live> {
        match self {
            Applied::Same(live) => Some(live),
            _ => None,
        }
    }
}

/// How values are compared.
#[derive(Clone, Copy, PartialEq)]
enum Meaning {
    /// As they are.
    Plain,
    /// As they are in a workload, of which Kubernetes leaves out counts that are 0.
    Workload,
    /// As Kubernetes quantities: `1` is `1000m`.
    Quantity,
    /// As maps of quantities.
    Quantities,
}

impl Meaning {
    /// How the values of a manifest are compared.
    fn of(manifest: &Value) -> Self {
        let workload = manifest.get("kind").and_then(Value::as_str) == Some("Deployment");
        if workload { Meaning::Workload } else { Meaning::Plain }
    }
}

/// True if every field of `wanted` is in `live` with equal meaning. Lists have equal length; what is empty may be absent.
fn covers(wanted: &Value, live: &Value, meaning: Meaning) -> bool {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => wanted.iter().all(|(key, wanted)| match live.get(key) {
            Some(live) => covers(wanted, live, below(key, meaning)),
            None => is_zero(wanted, meaning),
        }),
        (Value::Array(wanted), Value::Array(live)) => {
            wanted.len() == live.len() && wanted.iter().zip(live).all(|(wanted, live)| covers(wanted, live, meaning))
        }
        (wanted, live) if meaning == Meaning::Quantity => {
            quantity(wanted).is_some_and(|own| Some(own) == quantity(live)) || wanted == live
        }
        (Value::Number(wanted), Value::Number(live)) => wanted.as_f64() == live.as_f64(),
        (wanted, live) => wanted == live || (live.is_null() && is_zero(wanted, meaning)),
    }
}

fn below(key: &str, meaning: Meaning) -> Meaning {
    match (key, meaning) {
        (_, Meaning::Quantities) | ("sizeLimit" | "divisor", _) => Meaning::Quantity,
        ("limits" | "requests", _) => Meaning::Quantities,
        (_, Meaning::Workload) => Meaning::Workload,
        _ => Meaning::Plain,
    }
}

/// What Kubernetes may leave out of an object because it says nothing.
fn is_zero(value: &Value, meaning: Meaning) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => meaning == Meaning::Workload && number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.values().all(|value| is_zero(value, meaning)),
    }
}

fn quantity(value: &Value) -> Option<i128> {
    match value {
        Value::String(text) => go::quantity(text),
        Value::Number(number) => go::quantity(&number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_meaning_is_what_counts() {
        let rows = [
            ("more in the live object is fine", json!({"a": 1}), json!({"a": 1, "b": 2}), true),
            ("less is not", json!({"a": 1, "b": 2}), json!({"a": 1}), false),
            ("an empty string may be absent", json!({"value": ""}), json!({}), true),
            ("false may be absent", json!({"readOnly": false}), json!({}), true),
            ("quantities by value", json!({"limits": {"cpu": "1000m"}}), json!({"limits": {"cpu": "1"}}), true),
            ("quantities that differ", json!({"limits": {"cpu": "2"}}), json!({"limits": {"cpu": "1"}}), false),
            ("text is no quantity", json!({"value": "1000m"}), json!({"value": "1"}), false),
            ("lists of equal length", json!([{"a": 1}]), json!([{"a": 1, "b": 2}]), true),
            ("a list that grew", json!([{"a": 1}]), json!([{"a": 1}, {"a": 2}]), false),
            ("a count of 0 is not absent in a custom resource", json!({"a": 0}), json!({}), false),
            (
                "a count of 0 may be absent in a workload",
                json!({"kind": "Deployment", "a": 0}),
                json!({"kind": "Deployment"}),
                true,
            ),
            ("whole doubles", json!({"a": 3}), json!({"a": 3.0}), true),
        ];
        for (why, wanted, live, same) in rows {
            assert_eq!(covers(&wanted, &live, Meaning::of(&wanted)), same, "{why}");
        }
    }
}
