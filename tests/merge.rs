//! How layers become one spec: the rows of `tests/merge.yaml`, each with its reason. `CASE=part-of-why` chooses some.

mod common;

use std::fmt;

use common::case;
use common::report::Report;
use function_asya::inputs::{EnvironmentConfig, Inputs, flavor_key};
use function_asya::platform;
use function_asya::problem::Problems;
use function_asya::resolve;
use function_asya::resolve::layers::Findings;
use function_asya::wire::{from_struct, to_struct};
use function_asya::words::Words;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

/// A rule of the merge.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// The rule in words.
    why: String,
    /// The flavors' data, in the order the actor lists them.
    #[serde(default)]
    flavors: Flavors,
    /// The actor's own spec; image and handler are filled in where no layer sets them.
    #[serde(default)]
    actor: Value,
    /// Platform settings.
    #[serde(default)]
    settings: Value,
    /// What comes out; only these top-level fields are compared, and `null` means that a field is not there.
    spec: Option<Value>,
    /// The whole text of each problem, in order.
    problems: Option<Vec<String>>,
    /// The whole text of each warning, in order; not compared unless given.
    warnings: Option<Vec<String>>,
}

/// Flavors by name, in order; those of a list are called `a`, `b`, `c`…
#[derive(Default)]
struct Flavors(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Flavors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Flavors;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list or a map of flavors")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Flavors, A::Error> {
                let mut flavors = Vec::new();
                while let Some(data) = list.next_element()? {
                    flavors.push((char::from(b'a' + flavors.len() as u8).to_string(), data));
                }
                Ok(Flavors(flavors))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Flavors, A::Error> {
                let mut flavors = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    flavors.push(entry);
                }
                Ok(Flavors(flavors))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl Row {
    fn inputs(&self) -> Inputs {
        let mut spec = if self.actor.is_null() { json!({}) } else { self.actor.clone() };
        for (field, value) in [("image", "image:v1"), ("handler", "module.handle")] {
            let flavors = self.flavors.0.iter().map(|(_, data)| data);
            if spec.is_object() && flavors.chain([&spec]).all(|layer| layer.get(field).is_none()) {
                spec[field] = value.into();
            }
        }
        let mut inputs = Inputs { input: Some(self.settings.clone().into()), strict: true, ..Inputs::default() };
        inputs.composite.spec = Words::of_tree(as_read(&spec)).into();
        for (name, data) in &self.flavors.0 {
            let mut config = EnvironmentConfig { data: as_read(data).into(), ..EnvironmentConfig::default() };
            config.name = name.into();
            inputs.required.insert(flavor_key(name), vec![config]);
        }
        inputs
    }

    /// The resolved spec or the problems, and the warnings.
    fn resolve(&self) -> (Result<Value, Problems>, Problems) {
        let inputs = self.inputs();
        let platform =
            platform::settle(&inputs).unwrap_or_else(|problems| panic!("{}: settings: {problems}", self.why));
        let names: Vec<_> = self.flavors.0.iter().map(|(name, _)| name.clone()).collect();
        let mut found = Findings::default();
        let layers = resolve::gather(&inputs, &names, &platform, &mut found);
        let outcome = resolve::resolve(&layers, &platform).map(|resolved| resolved.fields.value());
        let outcome = match outcome {
            Ok(value) => found.problems.unless_empty(value),
            Err(problems) => {
                found.problems.extend(problems);
                Err(found.problems.sorted())
            }
        };
        (outcome, found.warnings.sorted())
    }
}

/// The value as it comes out of a request or a file, where `5.0` is 5; what a request cannot hold stays as it is.
fn as_read(value: &Value) -> Value {
    let carried = to_struct(&json!({"value": value})).ok();
    let read = carried.and_then(|carried| from_struct::<Value>(&carried).ok());
    read.map_or_else(|| value.clone(), |mut read| read["value"].take())
}

fn texts(problems: &Problems) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

fn wanted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("{}\n", text.trim_end())).collect()
}

fn pretty(value: &Value) -> String {
    common::expected::document(value)
}

fn compare(row: &Row, report: &mut Report) {
    let (outcome, warnings) = row.resolve();
    if let Some(expected) = &row.warnings {
        report.same(&row.why, "warnings", &wanted(expected), &texts(&warnings));
    }
    match (outcome, &row.spec, &row.problems) {
        (Ok(actual), Some(Value::Object(expected)), None) => {
            let actual = expected.keys().map(|key| (key.clone(), actual.get(key).cloned().unwrap_or_default()));
            report.same(&row.why, "the resolved spec", &pretty(&as_read(&json!(expected))), &pretty(&actual.collect()));
        }
        (Err(actual), None, Some(expected)) => {
            report.same(&row.why, "problems", &wanted(expected), &texts(&actual));
        }
        (Ok(actual), None, Some(_)) => report.fail(&row.why, format!("is not refused but gives\n{}", pretty(&actual))),
        (Err(actual), Some(_), None) => report.fail(&row.why, format!("is refused\n{actual}")),
        _ => report.fail(&row.why, "a row has either `spec`, a map, or `problems`"),
    }
}

#[test]
fn every_row_holds() {
    let file = case::root().join("tests/merge.yaml");
    let text = std::fs::read_to_string(&file).expect("tests/merge.yaml is there");
    let rows: Vec<Row> = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("tests/merge.yaml: {error}"));
    let part = std::env::var("CASE").unwrap_or_default();
    let mut report = Report::default();
    for row in rows.iter().filter(|row| row.why.contains(&part)) {
        report.look();
        compare(row, &mut report);
    }
    report.end();
}
