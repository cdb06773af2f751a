//! Flavors that an actor lists: those that are not there, and those that should go.

use super::{Finding, Level, Look, Lot};
use crate::inputs::EnvironmentConfig;
use crate::path::Path;
use crate::problem::{Problem, Source};

/// Flavors that are not among the files, and deprecated ones, at the place that lists them.
pub fn check(lot: &Lot<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, look) in lot.looks.iter().enumerate() {
        for name in &look.names {
            let problem = match lot.flavor(name) {
                None => Some(missing(look, name)),
                Some(config) => deprecated(look, config),
            };
            found.extend(problem.map(|problem| Finding::new(Level::Warning, problem).of_actor(index)));
        }
    }
    found
}

fn missing(look: &Look, name: &str) -> Problem {
    at(look, name, format!("flavor `{name}` is not among the files"))
        .hint("name its file with -e; until it exists, the actor waits")
}

fn deprecated(look: &Look, config: &EnvironmentConfig) -> Option<Problem> {
    let EnvironmentConfig { name, deprecated, .. } = config;
    let why = match deprecated.as_deref()? {
        "" => String::new(),
        why => format!(": {why}"),
    };
    Some(at(look, name, format!("flavor `{name}` is deprecated{why}")))
}

/// A problem with a name in the list.
fn at(look: &Look, name: &str, what: String) -> Problem {
    let listed = look.layers.actor.spec.get("flavors").and_then(serde_json::Value::as_array);
    let index = listed.and_then(|listed| listed.iter().position(|entry| entry == name));
    let path = index.map_or_else(|| Path::keys("spec.flavors"), |index| Path::keys("spec.flavors").index(index));
    Problem::value(path, Source::Actor, what)
}
