//! A flavor is checked for itself too: nobody may use it yet, or the actor may win over what is wrong.

use super::{Finding, Level, Lot};
use crate::problem::Source;
use crate::resolve::layers::{self, Layer};
use crate::resolve::{Layers, partial};

/// What is wrong with each flavor whatever an actor says.
pub fn check(lot: &Lot<'_>) -> Vec<Finding> {
    let problems = lot.read.problems.iter().cloned().map(|problem| Finding::new(Level::Problem, problem));
    let warnings = lot.read.warnings.iter().cloned().map(|warning| Finding::new(Level::Warning, warning));
    let mut found: Vec<Finding> = problems.chain(warnings).collect();
    for layer in &lot.layers {
        let nothing = Layer { source: Source::Actor, spec: serde_json::json!({}).into(), rank: usize::MAX };
        let layers = Layers { defaults: layers::defaults(), flavors: vec![layer.clone()], actor: nothing };
        let problems = partial::check(&layers, &lot.platform);
        found.extend(problems.into_iter().map(|problem| Finding::new(Level::Problem, problem)));
    }
    found
}
