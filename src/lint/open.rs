//! Unknown fields where the XRD takes anything and Kubernetes or KEDA do not: they would be dropped silently.

use serde_json::Value;

use super::{Finding, Level, Lot};
use crate::path::Path;
use crate::problem::{Problem, nearest};
use crate::resolve::layers::{Layer, named};

mod fields;
mod parts;

use parts::{Part, SPEC};

/// Every field of an open part that its owner does not know, in every layer.
pub fn check(lot: &Lot<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (actor, layer) in lot.all_layers() {
        let mut unknown = Vec::new();
        walk(&SPEC, &layer.spec, &Path::root(), &mut unknown);
        for (path, part) in unknown {
            let finding = Finding::new(Level::Warning, problem(layer, &path, part));
            found.push(Finding { actor, ..finding });
        }
    }
    found
}

fn walk<'p>(part: &'p Part, value: &Value, path: &Path, unknown: &mut Vec<(Path, &'p Part)>) {
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, value)| walk(part, value, &path.index(index), unknown));
        }
        Value::Object(map) => {
            for (key, value) in map {
                let path = path.key(key);
                if !part.takes(key) {
                    unknown.push((path, part));
                } else if let Some(below) = part.below(key) {
                    walk(below, value, &path, unknown);
                }
            }
        }
        _ => {}
    }
}

fn problem(layer: &Layer, path: &Path, part: &Part) -> Problem {
    let last = path.steps().last().map(ToString::to_string).unwrap_or_default();
    let path = named(path, &layer.spec).below(&Path::keys("spec"));
    let owner = part.owner();
    let what = format!("{owner} does not know this field");
    let hint = match nearest(&last, part.fields().iter().copied()) {
        Some(near) => format!("`{near}`; it would otherwise be dropped"),
        None => format!("known here: {}", part.fields().join(", ")),
    };
    Problem::value(path, layer.source.clone(), what).hint(hint)
}
