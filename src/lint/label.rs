//! The label `asya.sh/flavor`, by which people list flavors.

use super::{Finding, Level, Lot};
use crate::inputs::Metadata;
use crate::path::Path;
use crate::problem::{Problem, Source};

/// The label.
const LABEL: &str = "asya.sh/flavor";

/// Flavors without the label, or with another name in it.
pub fn check(lot: &Lot<'_>) -> Vec<Finding> {
    let configs = lot.flavors.iter().map(|flavor| &flavor.config.metadata);
    configs.filter_map(|metadata| Some(Finding::new(Level::Warning, doubtful(metadata)?))).collect()
}

fn doubtful(metadata: &Metadata) -> Option<Problem> {
    let Metadata { name, labels, .. } = metadata;
    let what = match labels.get(LABEL) {
        Some(label) if label == name => return None,
        Some(label) => format!("says {label:?}, but the flavor is called {name:?}"),
        None => "is missing".to_owned(),
    };
    let path = Path::keys("metadata.labels").key(LABEL);
    let problem = Problem::value(path, Source::Flavor(name.clone()), what);
    Some(problem.hint(format!("`{LABEL}: {name}`; it is what `kubectl get environmentconfig -l {LABEL}` finds")))
}
