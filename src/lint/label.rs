//! The label `asya.sh/flavor`, by which people list flavors.

use super::{Finding, Level, Lot};
use crate::inputs::{EnvironmentConfig, FLAVOR_LABEL as LABEL};
use crate::path::Path;
use crate::problem::{Problem, Source};

/// Flavors without the label, or with another name in it.
pub fn check(lot: &Lot<'_>) -> Vec<Finding> {
    let configs = lot.flavors.iter().map(|flavor| flavor.config);
    configs.filter_map(|config| Some(Finding::new(Level::Warning, doubtful(config)?))).collect()
}

fn doubtful(config: &EnvironmentConfig) -> Option<Problem> {
    let EnvironmentConfig { name, flavor, .. } = config;
    let what = match flavor {
        Some(label) if label == name => return None,
        Some(label) => format!("says {label:?}, but the flavor is called {name:?}"),
        None => "is missing".to_owned(),
    };
    let path = Path::keys("metadata.labels").key(LABEL);
    let problem = Problem::value(path, Source::Flavor(name.to_string()), what);
    Some(problem.hint(format!("`{LABEL}: {name}`; it is what `kubectl get environmentconfig -l {LABEL}` finds")))
}
