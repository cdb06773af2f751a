//! Small things done to JSON trees: dropping nulls, laying one over another, naming shapes.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::path::{Path, Step};

/// The tree without nulls: a key with null is not set, a null in a list is no entry. Borrowed if there is none.
pub fn without_nulls(value: &Value) -> Cow<'_, Value> {
    if !holds_null(value) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value).into_owned())).collect())
        }
        Value::Array(list) => {
            let kept = list.iter().filter(|value| !value.is_null());
            Value::Array(kept.map(|value| without_nulls(value).into_owned()).collect())
        }
        other => other.clone(),
    })
}

/// Writes whole numbers as whole numbers: `5.0` is 5.
pub fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < EXACT);
            if let Some(whole) = whole {
                *value = Value::from(whole as i64);
            }
        }
        Value::Object(map) => map.values_mut().for_each(whole_numbers),
        Value::Array(list) => list.iter_mut().for_each(whole_numbers),
        _ => {}
    }
}

/// The first whole number whose neighbours a double cannot tell apart: 2^53.
pub const EXACT: f64 = 9_007_199_254_740_992.0;

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.values().any(holds_null),
        Value::Array(list) => list.iter().any(holds_null),
        _ => false,
    }
}

/// Lays `over` on `base`: maps leaf by leaf, anything else replaces.
pub fn overlay(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                overlay(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}

/// What a value is, with its article: `a map`, `a string`.
pub fn shape(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// The value at a path of keys and positions.
pub fn get<'a>(value: &'a Value, path: &Path) -> Option<&'a Value> {
    path.steps().iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
        Step::Entry(_) => None,
    })
}

/// The value at keys written with dots: `scaling.minReplicaCount`.
pub fn at<'a>(value: &'a Value, dotted: &str) -> Option<&'a Value> {
    dotted.split('.').try_fold(value, |value, key| value.get(key))
}

/// Takes the value at a path of keys and positions out of the tree.
pub fn remove(value: &mut Value, path: &Path) {
    let Some((last, above)) = path.steps().split_last() else { return };
    let parent = above.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
        Step::Entry(_) => None,
    });
    if let (Some(Value::Object(map)), Step::Key(key)) = (parent, last) {
        map.remove(key);
    }
}

/// A map of the entries whose value is set.
pub fn object<const N: usize>(entries: [(&str, Option<Value>); N]) -> Value {
    let set = entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(set.collect::<Map<_, _>>())
}

/// A text, unless it is empty.
pub fn text(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| Value::String(text.to_owned()))
}

/// A tree with doubles for integers that a double does not hold exactly, as Crossplane hands them on.
pub fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.as_i64().is_none_or(|integer| integer.unsigned_abs() > 1 << 53) => {
            number.as_f64().into()
        }
        Value::Array(list) => list.iter().map(rounded).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), rounded(value))).collect(),
        other => other.clone(),
    }
}

/// About how much memory a tree takes, in bytes. A map takes room for eleven entries however few it has.
pub fn size(value: &Value) -> usize {
    const MAP: usize = 640;
    size_of::<Value>()
        + match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.len(),
            Value::Array(list) => list.iter().map(size).sum(),
            Value::Object(map) => MAP + map.iter().map(|(key, value)| key.len() + size(value)).sum::<usize>(),
        }
}
