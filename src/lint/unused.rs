//! Flavors that nobody uses.

use super::{Finding, Level, Lot};
use crate::path::Path;
use crate::problem::{Problem, Source};

/// A note for each flavor that no actor here lists; silent where there is no actor at all.
pub fn check(lot: &Lot<'_>) -> Vec<Finding> {
    let used = |name: &str| lot.looks.iter().any(|look| look.names.iter().any(|listed| listed == name));
    let own = lot.flavors.iter().filter(|flavor| !flavor.is_guest && !lot.looks.is_empty());
    let idle = own.map(|flavor| flavor.config.name.as_str()).filter(|name| !used(name));
    let note = |name: &str| {
        let what = "no actor here uses this flavor";
        Problem::value(Path::keys("metadata.name"), Source::Flavor(name.to_owned()), what)
    };
    idle.map(|name| Finding::new(Level::Note, note(name))).collect()
}
