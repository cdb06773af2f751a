//! The three layers of the settings, each checked for itself, and what they make together.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};

use super::{Image, Platform, defaults, rules, unknown};
use crate::inputs::{Inputs, PLATFORM_KEY};
use crate::memory::Memory;
use crate::names::is_object_name;
use crate::path::Path;
use crate::problem::{Kind, Problem, Problems, Source};
use crate::schema::{BreachKind, Schema, Type};
use crate::tree;

/// The schema of the settings: the CRD that the Function package carries.
pub static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let crd = serde_yaml::from_str(include_str!("../../package-function/input.yaml")).expect("a packaged file is YAML");
    Schema::of_crd(&crd, "v1beta1").expect("the packaged CRD is a schema")
});

/// The name of the EnvironmentConfig that the input names, if it is one that can be asked for.
pub fn config_name(inputs: &Inputs) -> Option<&str> {
    let name = inputs.input.as_ref()?.get("environmentConfig")?.as_str()?;
    is_object_name(name).then_some(name)
}

/// True if the step's input asks for flavors to be resolved and nothing else, whatever else is wrong with it.
pub fn is_for_flavors_only(inputs: &Inputs) -> bool {
    let stages = inputs.input.as_ref().and_then(|input| input.get("stages")?.as_array());
    stages.is_some_and(|stages| !stages.is_empty())
}

/// The EnvironmentConfig of the settings that this call found, by name.
pub fn config_in_use(inputs: &Inputs) -> Option<&str> {
    let found = inputs.required.get(PLATFORM_KEY).is_some_and(|items| !items.is_empty());
    config_name(inputs).filter(|_| found)
}

/// One layer of settings and who brought it.
pub struct Layer {
    /// Who brought it.
    pub source: Source,
    /// The settings it makes.
    pub values: Value,
}

/// The layers, lowest rank first, and what is wrong with them.
pub fn layers(inputs: &Inputs) -> (Vec<Layer>, Problems) {
    let mut problems = Problems::default();
    let mut layers = vec![Layer { source: Source::Default, values: defaults::defaults() }];
    if let Some(input) = &inputs.input {
        layers.push(read_layer(Source::Input, input, &["apiVersion", "kind", "metadata"], &mut problems));
    }
    let config = inputs.required.get(PLATFORM_KEY).and_then(|items| items.first());
    if let (Some(name), Some(config)) = (config_name(inputs), config) {
        let source = Source::Platform(name.to_owned());
        let layer = read_layer(source.clone(), &config.data, &[], &mut problems);
        for key in ["environmentConfig", "stages"].into_iter().filter(|key| layer.values.get(key).is_some()) {
            let what = "cannot be set in an EnvironmentConfig";
            problems.push(problem(Path::keys(key), &source, what).hint("set it in the Composition step's `input`"));
        }
        layers.push(layer);
    }
    (layers, problems)
}

/// The settings all layers make together. Remembers those of earlier calls, which changes no answer.
///
/// # Errors
/// One [`Problem`] of kind [`Kind::Platform`] for each unknown key and each bad value.
pub fn settle(inputs: &Inputs) -> Result<Arc<Platform>, Problems> {
    let lost = lost_config(inputs);
    let config = inputs.required.get(PLATFORM_KEY).and_then(|items| items.first()).map(|config| &config.data);
    let name = config_name(inputs).unwrap_or_default();
    if let Some(settled) = SETTLED.get(name).filter(|settled| lost.is_none() && settled.is_of(inputs, config)) {
        return Ok(settled.platform);
    }
    let platform = Arc::new(settle_anew(inputs, lost)?);
    let settled = Settled { input: inputs.input.clone(), config: config.cloned(), platform: Arc::clone(&platform) };
    SETTLED.put(name, settled.clone(), settled.bytes());
    Ok(platform)
}

/// The settings of the calls before, by the EnvironmentConfig that the input names: nearly every call brings the same.
static SETTLED: Memory<Settled> = Memory::new(1024 * 1024);

/// Settings, and the words that they come from.
#[derive(Clone)]
struct Settled {
    input: Option<Arc<Value>>,
    config: Option<Arc<Value>>,
    platform: Arc<Platform>,
}

impl Settled {
    /// About how much memory they take, in bytes.
    fn bytes(&self) -> usize {
        const SETTINGS: usize = 4096;
        let words = [&self.input, &self.config].into_iter().flatten();
        SETTINGS + words.map(|words| tree::size(words)).sum::<usize>()
    }

    /// True if these settings come from the same words.
    fn is_of(&self, inputs: &Inputs, config: Option<&Arc<Value>>) -> bool {
        self.input == inputs.input && self.config.as_ref() == config
    }
}

fn settle_anew(inputs: &Inputs, lost: Option<Problem>) -> Result<Platform, Problems> {
    let (layers, mut problems) = layers(inputs);
    problems.extend(lost);
    let mut merged = Value::Null;
    for layer in &layers {
        tree::overlay(&mut merged, &layer.values);
    }
    settle_image(&mut merged, &layers);
    // The rules read values, so types must be right; keys nobody knows do not stand in their way.
    if problems.iter().all(|problem| problem.what == UNKNOWN) {
        problems.extend(rules::check(&merged, &layers));
    }
    problems.unless_empty(())?;
    serde_json::from_value(merged).map_err(|error| {
        Problem::value(Path::root(), Source::Nobody, format!("the platform settings cannot be read: {error}"))
            .of_kind(Kind::Platform)
            .into()
    })
}

/// Parts that a layer's sidecar image lacks come from the layer below, in whichever form that gives them.
fn settle_image(merged: &mut Value, layers: &[Layer]) {
    let said = layers.iter().filter_map(|layer| layer.values.pointer("/sidecar/image"));
    let said: Vec<&Value> = said.collect();
    if said.iter().any(|image| !Image::faults(image).is_empty()) {
        return; // The rules tell.
    }
    let image = said.into_iter().fold(Image::default(), |below, image| {
        let own = Image::read(image, &below);
        Image { pull_policy: own.pull_policy.or(below.pull_policy), ..own }
    });
    if let Some(Value::Object(sidecar)) = merged.get_mut("sidecar") {
        sidecar.insert("image".to_owned(), image.reference().into());
        if let Some(policy) = image.pull_policy {
            sidecar.entry("imagePullPolicy").or_insert(policy.into());
        }
    }
}

/// A warning about settings that an actor was built with and that the step's input names no more.
pub fn forgotten_config(inputs: &Inputs) -> Option<Problem> {
    let before = inputs.composite.status.platform_config.as_deref().filter(|name| !name.is_empty())?;
    let named = inputs.input.as_ref().and_then(|input| input.get("environmentConfig")?.as_str());
    let what = format!("this actor was built with EnvironmentConfig `{before}`, which the step's input names no more");
    named.is_none_or(str::is_empty).then(|| problem(Path::keys("environmentConfig"), &Source::Nobody, &what))
}

/// Settings that an actor was built with and that are gone: building on without them could move its queue.
fn lost_config(inputs: &Inputs) -> Option<Problem> {
    let name = config_name(inputs)?;
    let missing = inputs.required.get(PLATFORM_KEY).is_some_and(Vec::is_empty);
    if !missing || inputs.observed.is_empty() {
        return None;
    }
    let before = inputs.composite.status.platform_config.as_deref().filter(|name| !name.is_empty());
    let what = match before {
        Some(before) if before == name => {
            format!("EnvironmentConfig `{name}` is gone, and this actor was built with it")
        }
        Some(before) => format!("EnvironmentConfig `{name}` does not exist, and this actor was built with `{before}`"),
        None => return None,
    };
    let hint = format!("create EnvironmentConfig `{name}`; nothing was changed");
    Some(problem(Path::keys("environmentConfig"), &Source::Input, &what).hint(hint))
}

pub fn problem(path: Path, source: &Source, what: &str) -> Problem {
    Problem::value(path, source.clone(), what).of_kind(Kind::Platform)
}

/// What is said of a key that is no setting.
const UNKNOWN: &str = "unknown key";

/// Reads one layer: drops nulls and `skip`, keeps a number where a text belongs as its digits, checks the rest.
fn read_layer(source: Source, values: &Value, skip: &[&str], problems: &mut Problems) -> Layer {
    let mut values = tree::without_nulls(values).into_owned();
    tree::whole_numbers(&mut values);
    match &mut values {
        Value::Object(map) => map.retain(|key, _| !skip.contains(&key.as_str())),
        Value::Null => values = Value::Object(Map::new()),
        other => {
            let what = format!("must be a map of settings, not {}", tree::shape(other));
            problems.push(problem(Path::root(), &source, &what));
            values = Value::Object(Map::new());
        }
    }
    digits_for_texts(&mut values, &SCHEMA);
    digits_in_image(&mut values);
    for breach in SCHEMA.breaches(&values, &Path::root(), &|_| false) {
        let (hint, what) = match breach.kind {
            BreachKind::Unknown => (unknown::hint(&breach.path), UNKNOWN.to_owned()),
            _ => (breach.hint, breach.what),
        };
        let mut found = problem(breach.path, &source, &what);
        found.hint = hint;
        problems.push(found);
    }
    Layer { source, values }
}

/// `awsAccountId: 123456789012` means the text of these digits.
fn digits_for_texts(value: &mut Value, schema: &Schema) {
    match value {
        Value::Number(number) if schema.kind() == Some(Type::String) => *value = Value::String(number.to_string()),
        Value::Object(map) => {
            for (key, value) in map {
                if let Some(schema) = schema.at(&Path::root().key(key)) {
                    digits_for_texts(value, schema);
                }
            }
        }
        _ => {}
    }
}

/// The same for the parts of an image, which the schema leaves open: `tag: 20260101`.
fn digits_in_image(values: &mut Value) {
    let image = values.pointer_mut("/sidecar/image").and_then(Value::as_object_mut);
    for part in image.into_iter().flat_map(Map::values_mut).filter(|part| part.is_number()) {
        *part = Value::String(part.to_string());
    }
}
