//! The layers of a spec, each read for itself: what takes no part is left out, what is unknown is told.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use super::tables::{ACTORS_OWN, RENAMED, identity};
use crate::inputs::{CROSSPLANES, EnvironmentConfig, Inputs};
use crate::path::{Path, Step};
use crate::platform::{Platform, UnknownFields};
use crate::problem::{Problem, Problems, Source};
use crate::schema::Schema;
use crate::tree;

/// The schema of the spec: the one the Configuration package carries, without the names of old that it only refuses.
pub static SPEC: LazyLock<Schema> = LazyLock::new(|| {
    let mut xrd: Value = serde_yaml::from_str(include_str!("../../package/xrd.yaml")).expect("a packaged file is YAML");
    for (old, _) in RENAMED {
        tree::remove(&mut xrd, &declaration(old));
    }
    let root = Schema::of_xrd(&xrd, "v1alpha1").expect("the packaged XRD is a schema");
    root.field("spec").expect("the packaged XRD has a spec").clone()
});

/// Where the XRD declares a field of the spec.
fn declaration(field: &str) -> Path {
    let schema = Path::keys("spec.versions").index(0);
    let spec = ["schema", "openAPIV3Schema", "properties", "spec"];
    let spec = spec.into_iter().fold(schema, |path, key| path.key(key));
    field.split('.').fold(spec, |path, key| path.key("properties").key(key))
}

/// One layer: a partial spec and who brought it.
#[derive(Clone, Debug)]
pub struct Layer {
    /// Who brought it.
    pub source: Source,
    /// The fields it sets, a map without nulls.
    pub spec: Arc<Value>,
    /// Its place among the layers: a higher one wins.
    pub rank: usize,
}

impl Layer {
    /// The fields it sets, by name.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.spec.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value))
    }
}

/// The defaults, which are a layer like any other.
pub fn defaults() -> Layer {
    let spec = json!({
        "imagePullPolicy": "IfNotPresent",
        "pythonExecutable": "python3",
        "replicas": 1,
        "scaling": {
            "enabled": true,
            "minReplicaCount": 0,
            "maxReplicaCount": 10,
            "pollingInterval": 30,
            "cooldownPeriod": 300,
            "queueLength": 5,
        },
    });
    Layer { source: Source::Default, spec: spec.into(), rank: 0 }
}

/// What reading the layers found.
#[derive(Debug, Default)]
pub struct Findings {
    /// What is wrong.
    pub problems: Problems,
    /// What is doubtful.
    pub warnings: Problems,
}

/// Reads one flavor.
pub fn flavor(rank: usize, name: &str, config: &EnvironmentConfig, platform: &Platform, found: &mut Findings) -> Layer {
    let source = Source::Flavor(name.to_owned());
    let mut spec = fields(Arc::clone(&config.data), &source, found);
    let empty = spec.as_object().is_some_and(Map::is_empty);
    if empty && (config.data.is_null() || config.data.is_object()) {
        let what = format!("flavor `{name}` has no data, so it adds nothing");
        found.warnings.push(warning(Path::root(), &source, &what));
    }
    for key in ACTORS_OWN.iter().chain(CROSSPLANES).filter(|key| config.data.get(key).is_some()) {
        // What is null was dropped already.
        if Arc::make_mut(&mut spec).as_object_mut().and_then(|map| map.remove(*key)).is_some() {
            let what = "is ignored: a flavor cannot set it";
            found.warnings.push(warning(Path::keys("spec").key(key), &source, what));
        }
    }
    refuse_renamed(&mut spec, &source, found);
    let reject = platform.flavors.unknown_fields == UnknownFields::Reject;
    drop_unknown(&mut spec, &source, reject, found);
    Layer { source, spec, rank }
}

/// Reads the actor itself.
pub fn actor(inputs: &Inputs, found: &mut Findings) -> Layer {
    let source = Source::Actor;
    let mut spec = fields(inputs.composite.spec.tree(), &source, found);
    refuse_renamed(&mut spec, &source, found);
    drop_unknown(&mut spec, &source, inputs.strict, found);
    Layer { source, spec, rank: usize::MAX }
}

/// The fields of a partial spec, nulls dropped; a value that is no map sets nothing and is a problem.
fn fields(value: Arc<Value>, source: &Source, found: &mut Findings) -> Arc<Value> {
    let value = if is_tidy(&value) { value } else { tidied(&value, source, found).into() };
    if !value.is_object() {
        if !value.is_null() {
            let what = format!("must be a map of spec fields, not {}", tree::shape(&value));
            found.problems.push(Problem::value(Path::keys("spec"), source.clone(), what));
        }
        return Value::Object(Map::new()).into();
    }
    value
}

/// True if there is nothing to drop, to write otherwise or to refuse: no nulls, no numbers but exact integers.
fn is_tidy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Number(number) => number.as_i64().is_some_and(|number| (number.unsigned_abs() as f64) < tree::EXACT),
        Value::Object(map) => map.values().all(is_tidy),
        Value::Array(list) => list.iter().all(is_tidy),
        Value::Bool(_) | Value::String(_) => true,
    }
}

fn tidied(value: &Value, source: &Source, found: &mut Findings) -> Value {
    beyond_exact(value, (&Path::root(), value), source, found);
    let mut value = tree::without_nulls(value).into_owned();
    tree::whole_numbers(&mut value);
    value
}

/// Numbers beyond 2^53 lose digits on their way through protobuf. `value` stands at the path given, below the root given.
fn beyond_exact(root: &Value, (path, value): (&Path, &Value), source: &Source, found: &mut Findings) {
    match value {
        Value::Number(number) if number.as_f64().is_none_or(|number| number.abs() >= tree::EXACT) => {
            let path = named(path, root).below(&Path::keys("spec"));
            let problem = Problem::value(path, source.clone(), "is beyond 2^53 and cannot be carried exactly");
            found.problems.push(problem.hint("use a smaller number, or quote it if it is a text"));
        }
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| beyond_exact(root, (&path.key(key), value), source, found));
        }
        Value::Array(list) => {
            let entries = list.iter().enumerate();
            entries.for_each(|(index, value)| beyond_exact(root, (&path.index(index), value), source, found));
        }
        _ => {}
    }
}

/// Fields of old would be dropped silently, so they are problems everywhere.
fn refuse_renamed(spec: &mut Arc<Value>, source: &Source, found: &mut Findings) {
    for (old, new) in RENAMED {
        if tree::at(spec, old).is_some() {
            let path = Path::keys(old);
            tree::remove(Arc::make_mut(spec), &path);
            let hint = format!("{new}; an unknown field would otherwise be dropped");
            let path = path.below(&Path::keys("spec"));
            found.problems.push(Problem::value(path, source.clone(), "unknown field").hint(hint));
        }
    }
}

/// Takes out fields the XRD does not declare: problems if `reject`, else warnings.
fn drop_unknown(spec: &mut Arc<Value>, source: &Source, reject: bool, found: &mut Findings) {
    for breach in SPEC.unknown_fields(spec) {
        let path = named(&breach.path, spec).below(&Path::keys("spec"));
        let mut problem = Problem::value(path, source.clone(), breach.what);
        problem.hint = breach.hint;
        if reject {
            found.problems.push(problem);
        } else {
            problem.what = "unknown field, dropped".to_owned();
            found.warnings.push(problem);
        }
        tree::remove(Arc::make_mut(spec), &breach.path);
    }
}

/// The path with entries of keyed lists called by their identity.
pub fn named(path: &Path, spec: &Value) -> Path {
    let (mut plain, mut named, mut value) = (Path::root(), Path::root(), Some(spec));
    for step in path.steps() {
        value = value.and_then(|value| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(index),
            Step::Entry(_) => None,
        });
        let list = if is_environment(&plain) { Path::keys("sidecar.env") } else { plain.clone() };
        let name = value.filter(|_| matches!(step, Step::Index(_))).and_then(|value| identity(&list, value));
        named = match name {
            Some(name) => named.entry(name),
            None => named.with(step.clone()),
        };
        plain = plain.with(step.clone());
    }
    named
}

/// True for the lists of environment variables outside the table of keyed lists.
fn is_environment(path: &Path) -> bool {
    matches!(path.steps().last(), Some(Step::Key(key)) if key == "env")
}

fn warning(path: Path, source: &Source, what: &str) -> Problem {
    Problem::value(path, source.clone(), what)
}
