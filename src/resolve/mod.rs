//! From layers to the resolved spec, with the history of every value.

use serde_json::Value;

pub mod env;
pub mod explain;
pub mod field;
pub mod layers;
pub mod merge;
pub mod partial;
mod rules;
pub mod tables;

use field::Field;
use layers::{Findings, Layer, SPEC};

use crate::inputs::Inputs;
use crate::path::{Path, Step};
use crate::platform::Platform;
use crate::problem::{Problem, Problems, Source};
use crate::schema::{Breach, BreachKind};
use crate::spec::Spec;

/// All layers of one actor, lowest rank first.
#[derive(Clone, Debug)]
pub struct Layers {
    /// The built-in defaults.
    pub defaults: Layer,
    /// The flavors in the order the actor lists them.
    pub flavors: Vec<Layer>,
    /// The actor's own spec.
    pub actor: Layer,
}

/// The resolved spec.
#[derive(Debug)]
pub struct Resolved<'a> {
    /// As types.
    pub spec: Spec,
    /// Who set what, and what that overrode.
    pub fields: Field<'a>,
}

/// Reads the layers; `names` are the flavors the actor lists, each with its answer in `inputs`.
pub fn gather(inputs: &Inputs, names: &[String], platform: &Platform, found: &mut Findings) -> Layers {
    let mut flavors = Vec::new();
    for name in names {
        if let Some(config) = inputs.flavor(name).and_then(<[_]>::first) {
            flavors.push(layers::flavor(flavors.len() + 1, name, config, platform, found));
        }
    }
    Layers { defaults: layers::defaults(), flavors, actor: layers::actor(inputs, found) }
}

/// Merges `layers` and checks the outcome against the XRD's schema and the rules beside it.
///
/// # Errors
/// One [`Problem`] for each field that two flavors set, and for each value that breaks a rule.
pub fn resolve<'a>(layers: &'a Layers, platform: &Platform) -> Result<Resolved<'a>, Problems> {
    let mut problems = Problems::default();
    let inline = platform.flavors.inline;
    let fields = merge::merge(&layers.defaults, &layers.flavors, &layers.actor, inline, &mut problems);
    let value = fields.value();
    let check = Check { fields: &fields, value: &value };
    problems.extend(check.schema());
    problems.extend(rules::check(&check, platform));
    problems.unless_empty(())?;
    let spec = serde_json::from_value(value).map_err(|error| unreadable(&error))?;
    Ok(Resolved { spec, fields })
}

/// A spec that the schema lets through and the types do not: a bug, told as a problem.
fn unreadable(error: &serde_json::Error) -> Problem {
    Problem::value(Path::keys("spec"), Source::Nobody, format!("the resolved spec cannot be read: {error}"))
}

/// A merged spec under examination.
pub struct Check<'c, 'a> {
    fields: &'c Field<'a>,
    value: &'c Value,
}

impl Check<'_, '_> {
    /// Every breach of the XRD's schema.
    fn schema(&self) -> Vec<Problem> {
        let secret = |path: &Path| tables::is_secret(path, None);
        let breaches = SPEC.breaches(self.value, &Path::root(), &secret).into_iter();
        // Numbers too big are told layer by layer, and an actor's name by what it is good for.
        let elsewhere = |breach: &Breach| breach.path == Path::keys("actor") && breach.kind != BreachKind::Type;
        let told = breaches.filter(|breach| breach.kind != BreachKind::Inexact && !elsewhere(breach));
        told.map(|breach| {
            let mut problem = self.wrong(&breach.path, breach.what);
            problem.hint = breach.hint;
            problem
        })
        .collect()
    }

    /// A problem with the value at `path`, which is given in keys and positions of the merged spec.
    fn wrong(&self, path: &Path, what: impl Into<String>) -> Problem {
        let source = self.fields.nearest(path).set_by().map_or(Source::Nobody, |layer| layer.source.clone());
        let missing = crate::tree::get(self.value, path).is_none();
        let source = if missing && path.steps().len() == 1 { Source::Nobody } else { source };
        Problem::value(self.place(path).below(&Path::keys("spec")), source, what)
    }

    /// The path as people know it: entries by identity, else by their position in the list of whoever set them.
    fn place(&self, path: &Path) -> Path {
        let named = layers::named(path, self.value);
        let mut above = Path::root();
        let steps = named.steps().iter().zip(path.steps()).map(|(named, plain)| {
            above = above.with(plain.clone());
            match named {
                Step::Index(index) => {
                    let setting = self.fields.nearest(&above).history.last();
                    let whole = |field: &Field<'_>| matches!(field.shape, field::Shape::Leaf(_));
                    let entry = setting.filter(|_| whole(self.fields.nearest(&above)) && is_entry(self.fields, &above));
                    Step::Index(entry.map_or(*index, |setting| setting.index))
                }
                other => other.clone(),
            }
        });
        steps.collect::<Vec<_>>().into_iter().fold(Path::root(), |path, step| path.with(step))
    }

    /// The value at a path of keys.
    fn at(&self, keys: &str) -> Option<&Value> {
        crate::tree::at(self.value, keys)
    }

    /// The list at a path of keys; nothing if it is none.
    fn list(&self, keys: &str) -> &[Value] {
        self.at(keys).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// True if `path` leads to an entry of a list that the history knows, not to somewhere inside one.
fn is_entry(fields: &Field<'_>, path: &Path) -> bool {
    let mut above = Path::root();
    let Some((_, parents)) = path.steps().split_last() else { return false };
    for step in parents {
        above = above.with(step.clone());
    }
    matches!(fields.nearest(&above).shape, field::Shape::List(_))
}
