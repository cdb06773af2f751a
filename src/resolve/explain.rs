//! The resolved spec line by line: what is in force, who set it, and what that overrode. Secrets are left out here
//! already, so that whoever prints the lines cannot give one away.

use serde_json::Value;

use super::Layers;
use super::field::{Field, Setting, Shape};
use super::tables::{identity_key, is_secret};
use crate::path::{Path, Step};
use crate::platform::Inline;
use crate::problem::Source;

/// One value of the spec, or one entry of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Where it stands; entries are called by their identity, if they have one.
    pub path: Path,
    /// What is in force.
    pub value: Shown,
    /// Who set it.
    pub by: Source,
    /// What that overrode, the strongest first.
    pub over: Vec<Over>,
}

/// The word of a layer that did not win.
#[derive(Clone, Debug, PartialEq)]
pub struct Over {
    /// Whose word.
    pub by: Source,
    /// What it says.
    pub value: Shown,
    /// It says the same as the winner.
    pub same: bool,
}

/// A value as people may see it.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// As it is, secrets inside it replaced by [`HIDDEN`].
    Value(Value),
    /// It may be a secret.
    Hidden,
    /// The whole field, whose values follow on lines of their own.
    Whole,
}

/// What stands for a secret.
pub const HIDDEN: &str = "(hidden)";

/// The field of `scaling` whose entries have `metadata` that may hold secrets.
const TRIGGERS: &str = "additionalTriggers";

/// The lines of a merged spec, in order of path; entries of lists in the order of their list.
pub fn lines(layers: &Layers, fields: &Field<'_>, inline: Inline) -> Vec<Line> {
    let mut lines = Vec::new();
    walk(fields, &Path::root(), &mut lines);
    if inline == Inline::Field {
        replaced(layers, &mut lines);
    }
    lines
}

fn walk(field: &Field<'_>, path: &Path, lines: &mut Vec<Line>) {
    match &field.shape {
        Shape::Map(fields) => fields.iter().for_each(|(key, field)| walk(field, &path.key(key), lines)),
        Shape::List(entries) if entries.is_empty() => {
            // Else another field emptied it, as an `env` entry does to `secretRefs`, and that one tells.
            if let Some(last) = field.history.last().filter(|last| last.value.as_array().is_some_and(Vec::is_empty)) {
                lines.extend(line(path.clone(), path, last.value, &field.history));
            }
        }
        Shape::List(entries) => {
            entries.iter().enumerate().for_each(|(index, field)| entry(field, path, index, lines));
        }
        Shape::Leaf(value) => lines.extend(line(path.clone(), path, value, &field.history)),
    }
}

/// An entry of a list: on one line, unless the history knows what is inside it.
fn entry(field: &Field<'_>, list: &Path, index: usize, lines: &mut Vec<Line>) {
    let Shape::Leaf(value) = &field.shape else { return walk(field, &list.index(index), lines) };
    let key = entry_key(list);
    let name = key.and_then(|key| value.get(key)?.as_str());
    let path = name.map_or_else(|| list.index(index), |name| list.entry(name));
    let (inner, value) = inside((*value).clone(), key.filter(|_| name.is_some()));
    let shown_at = inner.map_or_else(|| path.clone(), |key| path.key(&key));
    lines.extend(line(shown_at, &path, &value, &field.history));
}

/// The key of an entry's identity.
fn entry_key(list: &Path) -> Option<&'static str> {
    let last = match list.steps().last() {
        Some(Step::Key(key)) => key.as_str(),
        _ => return None,
    };
    match (list.first_key(), last) {
        (_, "env") => Some("name"),
        (Some("secretRefs"), "keys") => Some("envVar"),
        _ => identity_key(list),
    }
}

/// An entry without its identity; if one key is left, that key and its value.
fn inside(mut entry: Value, identity: Option<&str>) -> (Option<String>, Value) {
    if let (Some(key), Value::Object(map)) = (identity, &mut entry) {
        map.remove(key);
        if map.len() == 1
            && let Some((key, value)) = map.iter().next()
        {
            return (Some(key.clone()), value.clone());
        }
    }
    (None, entry)
}

/// The line of a value that stands `at` a path, whose history may be that of the entry around it.
fn line(at: Path, entry: &Path, value: &Value, history: &[Setting<'_>]) -> Option<Line> {
    let (last, below) = history.split_last()?;
    let over = below.iter().rev().map(|setting| Over {
        by: setting.by.source.clone(),
        value: if is_variable(entry) { Shown::Hidden } else { shown(entry, setting.value) },
        same: if is_variable(entry) { last.by.source != Source::Actor } else { setting.value == last.value },
    });
    Some(Line { value: shown(&at, value), path: at, by: last.by.source.clone(), over: over.collect() })
}

/// True below `secretRefs`, whose history may hold entries of `env` and is no history of what is shown: a variable
/// has one owner, however it is set. Two flavors that set it say the same, else they would be in conflict.
fn is_variable(path: &Path) -> bool {
    path.first_key() == Some("secretRefs")
}

/// A value as people may see it.
pub fn shown(path: &Path, value: &Value) -> Shown {
    if is_secret(path, None) && path.first_key() != Some("nodeSelector") {
        return Shown::Hidden;
    }
    let trigger = path.steps().get(1) == Some(&Step::Key(TRIGGERS.to_owned()));
    let selector = path.first_key() == Some("nodeSelector");
    Shown::Value(if selector { value.clone() } else { redacted(value, trigger) })
}

/// The value without what may be a secret in it; `trigger` is true within KEDA's triggers.
fn redacted(value: &Value, trigger: bool) -> Value {
    let secret = |key: &str| key == "env" || key == "metadata" && trigger;
    let entry = |(key, value): (&String, &Value)| {
        let inner = || redacted(value, trigger || key == TRIGGERS);
        // A node's label may be called `env`; it is no variable.
        let shown = if key == "nodeSelector" {
            value.clone()
        } else if secret(key) {
            HIDDEN.into()
        } else {
            inner()
        };
        (key.clone(), shown)
    };
    match value {
        Value::Object(map) => Value::Object(map.iter().map(entry).collect()),
        Value::Array(list) => Value::Array(list.iter().map(|value| redacted(value, trigger)).collect()),
        other => other.clone(),
    }
}

/// `flavors.inline: Field`: what the actor's whole fields took the place of.
fn replaced(layers: &Layers, lines: &mut Vec<Line>) {
    for (key, own) in layers.actor.fields() {
        let path = Path::root().key(key);
        let said = layers.flavors.iter().rev().filter_map(|layer| Some((&layer.source, layer.spec.get(key)?)));
        let over: Vec<Over> =
            said.map(|(by, value)| Over { by: by.clone(), value: shown(&path, value), same: value == own }).collect();
        if over.is_empty() {
            continue;
        }
        match lines.iter_mut().find(|line| line.path == path) {
            Some(line) => {
                line.over.retain(|old| !matches!(old.by, Source::Flavor(_)));
                line.over.splice(0..0, over);
            }
            None => {
                let place = lines.iter().position(|line| line.path > path).unwrap_or(lines.len());
                lines.insert(place, Line { path, value: Shown::Whole, by: Source::Actor, over });
            }
        }
    }
}

#[cfg(test)]
#[path = "explain_tests.rs"]
mod tests;
