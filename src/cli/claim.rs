//! From an actor's file to the composite that Crossplane would make of it.

use serde_json::{Map, Value, json};

use crate::path::Path;
use crate::problem::{Problem, Source};
use crate::tree;

/// True for an AsyncActor or XAsyncActor.
pub fn is_actor(value: &Value) -> bool {
    matches!(kind(value), ("asya.sh", "AsyncActor" | "XAsyncActor"))
}

/// An object's group and kind.
pub fn kind(value: &Value) -> (&str, &str) {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    (text("apiVersion").split('/').next().unwrap_or_default(), text("kind"))
}

/// The composite Crossplane would make of a claim, named like it; a composite stays what it is.
pub fn composite(actor: &Value, namespace: Option<&str>) -> Value {
    let mut composite = actor.clone();
    let metadata = actor.get("metadata");
    let text = |key: &str| metadata.and_then(|metadata| metadata.get(key)?.as_str()).filter(|text| !text.is_empty());
    if kind(actor).1 == "AsyncActor" {
        let namespace = text("namespace").or(namespace);
        composite["kind"] = "XAsyncActor".into();
        if let Some(Value::Object(metadata)) = composite.get_mut("metadata") {
            metadata.remove("namespace");
        }
        let claim = tree::object([
            ("apiVersion", actor.get("apiVersion").cloned()),
            ("kind", Some("AsyncActor".into())),
            ("name", text("name").map(Value::from)),
            ("namespace", namespace.map(Value::from)),
        ]);
        let labels = tree::object([
            ("crossplane.io/claim-name", text("name").map(Value::from)),
            ("crossplane.io/claim-namespace", namespace.map(Value::from)),
        ]);
        set(&mut composite, &["metadata", "labels"], labels);
        set(&mut composite, &["spec"], json!({"claimRef": claim}));
    } else if let Some(namespace) = namespace
        && places(actor).next().is_none()
    {
        set(&mut composite, &["metadata", "labels"], json!({"crossplane.io/claim-namespace": namespace}));
    }
    composite
}

/// Lays `over` on the map at `keys`, which is made if it is not there; another shape is left for the checks to tell.
fn set(object: &mut Value, keys: &[&str], over: Value) {
    let place = keys.iter().try_fold(object, |value, key| {
        let map = value.as_object_mut()?;
        let place = map.entry(*key).or_insert(Value::Null);
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        Some(place)
    });
    if let Some(place @ Value::Object(_)) = place {
        tree::overlay(place, &over);
    }
}

/// The namespaces that an actor's file names, and where.
pub fn places(actor: &Value) -> impl Iterator<Item = (Path, &str)> {
    let label = Path::keys("metadata.labels").key("crossplane.io/claim-namespace");
    let places = [Path::keys("metadata.namespace"), Path::keys("spec.claimRef.namespace"), label];
    places.into_iter().filter_map(|path| {
        let name = tree::get(actor, &path)?.as_str().filter(|name| !name.is_empty())?;
        Some((path, name))
    })
}

/// A namespace on the command line that differs from the file's.
pub fn namespace_clash(actor: &Value, namespace: Option<&str>) -> Option<Problem> {
    let namespace = namespace?;
    let (path, other) = places(actor).find(|(_, other)| *other != namespace)?;
    let what = format!("says namespace {other:?}, but -n says {namespace:?}");
    Some(Problem::value(path, Source::Actor, what).hint("drop -n, or make them agree"))
}

/// Names, labels and annotations are texts; YAML reads `yes` and `1` as something else.
pub fn metadata_texts(object: &Value, source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    let wrong = |path: Path, value: &Value, wanted: &str| {
        Problem::value(path, source.clone(), format!("must be {wanted}, not {}", tree::shape(value)))
    };
    for key in ["name", "namespace"] {
        let path = Path::keys("metadata").key(key);
        if let Some(value) = tree::get(object, &path).filter(|value| !value.is_string() && !value.is_null()) {
            problems.push(wrong(path, value, "a string").hint("quote it"));
        }
    }
    for key in ["labels", "annotations"] {
        let path = Path::keys("metadata").key(key);
        match tree::get(object, &path) {
            Some(Value::Object(map)) => {
                let bad = map.iter().filter(|(_, value)| !value.is_string());
                problems.extend(bad.map(|(name, value)| wrong(path.key(name), value, "a string").hint("quote it")));
            }
            Some(value) if !value.is_null() => problems.push(wrong(path, value, "a map of strings")),
            _ => {}
        }
    }
    match object.get("metadata") {
        Some(value) if !value.is_object() => problems.push(wrong(Path::keys("metadata"), value, "a map")),
        _ => {}
    }
    problems
}
