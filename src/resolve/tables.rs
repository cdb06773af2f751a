//! The exceptions of the merge: lists whose entries have an identity, fields that take no part, names of old.

use serde_json::Value;

use crate::path::{Path, Step};

/// Lists whose entries have an identity, and the key that holds it. `env` and `secretRefs` are one list, see [`super::env`].
const KEYED: &[(&str, &str)] = &[
    ("sidecar.env", "name"),
    ("volumes", "name"),
    ("volumeMounts", "mountPath"),
    ("stateProxy", "name"),
    ("initContainers", "name"),
    ("sidecars", "name"),
    ("scaling.additionalTriggers", "name"),
];

/// Lists in which an equal entry stands once, though entries have no identity.
const COLLAPSING: &[&str] = &["tolerations"];

/// Lists in which the actor's entries come first: at run time the first match wins.
const ACTOR_FIRST: &[&str] = &["resiliency.rules"];

/// Fields of an actor that a flavor cannot set.
pub const ACTORS_OWN: &[&str] = &["actor", "transport", "flavors"];

/// Fields that had another name or place in the operator's days, and where they went.
pub const RENAMED: &[(&str, &str)] = &[
    ("scaling.minReplicas", "`minReplicaCount`"),
    ("scaling.maxReplicas", "`maxReplicaCount`"),
    ("workload", "`image`, `handler`, `env`, `resources` and the other fields of the spec itself"),
    ("timeout", "`resiliency.actorTimeout`"),
    ("socket", "the platform setting `sidecar.socketDir`"),
];

/// The key that holds an entry's identity in the list at `path`.
pub fn identity_key(path: &Path) -> Option<&'static str> {
    KEYED.iter().find(|(list, _)| is(path, list)).map(|(_, key)| *key)
}

/// An entry's identity in the list at `path`, if it has one.
pub fn identity<'v>(path: &Path, entry: &'v Value) -> Option<&'v str> {
    entry.get(identity_key(path)?)?.as_str()
}

/// True if equal entries of the list at `path` stand once.
pub fn collapses(path: &Path) -> bool {
    COLLAPSING.iter().any(|list| is(path, list))
}

/// True if the actor's entries of the list at `path` come first.
pub fn actor_first(path: &Path) -> bool {
    ACTOR_FIRST.iter().any(|list| is(path, list))
}

fn is(path: &Path, dotted: &str) -> bool {
    let mut keys = dotted.split('.');
    path.steps().iter().all(|step| matches!(step, Step::Key(key) if Some(key.as_str()) == keys.next()))
        && keys.next().is_none()
}

/// True if a value must never be printed: environment and trigger metadata may hold secrets.
pub fn is_secret(path: &Path, value: Option<&Value>) -> bool {
    let key = |name: &str| path.steps().iter().any(|step| matches!(step, Step::Key(key) if key == name));
    // Whoever writes a text where `secretRefs` belongs may have written the secret itself.
    *path == Path::keys("secretRefs") ||
    // A node's label may be called `env`; it is no variable.
    (key("env") && path.first_key() != Some("nodeSelector"))
        || (key("additionalTriggers") && key("metadata"))
        || value.is_some_and(holds_secret)
}

fn holds_secret(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| key == "env" || key == "metadata" || holds_secret(value)),
        Value::Array(list) => list.iter().any(holds_secret),
        _ => false,
    }
}

/// A resolved spec that may be printed: environment values and trigger metadata are left out.
pub fn without_secrets(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let shown = map.iter().map(|(key, value)| match key.as_str() {
                "env" | "metadata" => (key.clone(), names_only(value)),
                _ => (key.clone(), without_secrets(value)),
            });
            Value::Object(shown.collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(without_secrets).collect()),
        other => other.clone(),
    }
}

/// The names of variables, or the keys of a map.
fn names_only(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().filter_map(|entry| entry.get("name").cloned()).collect(),
        Value::Object(map) => map.keys().map(|key| Value::String(key.clone())).collect(),
        _ => Value::Null,
    }
}
