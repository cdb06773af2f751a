//! A flavor that no actor can list because of its name.

use super::{Finding, Level, Lot};
use crate::names::is_object_name;
use crate::path::Path;
use crate::problem::{Problem, Source};

/// The shortest name that `spec.flavors` takes.
const SHORTEST: usize = 3;

/// Flavors whose names are too short, or no names of objects at all.
pub fn check(lot: &Lot<'_>) -> Vec<Finding> {
    let names = lot.flavors.iter().map(|flavor| &flavor.config.name);
    names.filter_map(|name| Some(Finding::new(Level::Problem, bad(name)?))).collect()
}

fn bad(name: &str) -> Option<Problem> {
    let (what, hint) = if name.len() < SHORTEST {
        (format!("{name:?} is too short for a flavor"), "spec.flavors takes names of at least 3 characters")
    } else if is_object_name(name) {
        return None;
    } else {
        (format!("{name:?} is no name that an EnvironmentConfig can have"), "lower-case letters, digits, `-` and `.`")
    };
    Some(Problem::value(Path::keys("metadata.name"), Source::Flavor(name.to_owned()), what).hint(hint))
}
