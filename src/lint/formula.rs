//! `scaling.queueLength` beside a formula, which has a target of its own.

use super::{Finding, Level, Look, Lot, wrong};
use crate::path::Path;
use crate::problem::Source;
use crate::tree;

/// Actors for which somebody set a queue length that no longer matters.
pub fn check(lot: &Lot<'_>) -> Vec<Finding> {
    let (length, formula) = (Path::keys("scaling.queueLength"), Path::keys("scaling.advanced.formula"));
    let says = |look: &Look, path: &Path| {
        let mut layers = look.layers.flavors.iter().chain([&look.layers.actor]);
        layers.any(|layer| tree::get(&layer.spec, path).is_some())
    };
    let mut found = Vec::new();
    let looks = lot.looks.iter().enumerate();
    for (index, look) in looks.filter(|(_, look)| says(look, &length) && says(look, &formula)) {
        let fields = lot.merged(look);
        let value = fields.value();
        let set = fields.nearest(&length).set_by().is_some_and(|by| by.source != Source::Default);
        if set && tree::get(&value, &length).is_some() && tree::get(&value, &formula).is_some() {
            let what = "has no effect beside `scaling.advanced.formula`".to_owned();
            let problem = wrong(&fields, &value, &length, what).hint("drop it; `scaling.advanced.target` decides");
            found.push(Finding::new(Level::Warning, problem).of_actor(index));
        }
    }
    found
}
