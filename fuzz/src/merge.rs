//! What must hold of every merge, whatever the layers say.

use function_asya::composed::Step;
use function_asya::inputs::{Composite, EnvironmentConfig, Inputs, flavor_key};
use function_asya::pipeline::compose;
use function_asya::platform;
use function_asya::problem::Problems;
use function_asya::resolve::layers::Findings;
use function_asya::resolve::{gather, resolve};
use function_asya::wire::{from_struct, to_struct};
use serde_json::{Value, json};

/// More flavors make the same mistakes, slower.
const MOST: usize = 5;

/// Merges the layers in `bytes`: JSON with `actor`, a list of `flavors`, and `settings`.
///
/// # Panics
/// If the outcome depends on what must not matter.
pub fn check(bytes: &[u8]) {
    let Ok(row) = serde_json::from_slice::<Value>(bytes) else { return };
    let Some(mut row) = as_read(&row).filter(Value::is_object) else { return };
    // Who is listed is decided here.
    row["actor"].as_object_mut().map(|spec| spec.remove("flavors"));
    let flavors = row["flavors"].as_array().into_iter().flatten().take(MOST).cloned();
    let mut flavors: Vec<_> = flavors.enumerate().map(|(index, data)| (format!("flavor-{index}"), data)).collect();
    let (actor, settings) = (&row["actor"], &row["settings"]);
    let Some(outcome) = merged(actor, &flavors, settings) else { return };

    composes_like(&outcome, actor, &flavors, settings);
    if let Ok(spec) = &outcome {
        let again = merged(spec, &[], settings).expect("the settings are the same");
        assert_eq!(again.as_ref().map_err(ToString::to_string), Ok(spec), "merged again, it is another");
    }
    flavors.reverse();
    let reversed = merged(actor, &flavors, settings).expect("the settings are the same");
    match (&outcome, &reversed) {
        (Ok(one), Ok(other)) => assert_eq!(in_order(one), in_order(other), "only lists may tell the order of flavors"),
        (Err(_), Err(_)) => {}
        (one, other) => panic!("the order of flavors decides: {one:?}, reversed {other:?}"),
    }
    flavors.reverse();
    flavors.push(("nothing".to_owned(), json!({})));
    let more = merged(actor, &flavors, settings).expect("the settings are the same");
    assert_eq!(text(&outcome), text(&more), "a flavor that says nothing changes something");
}

/// The resolved spec or the problems; nothing if the settings are wrong.
fn merged(actor: &Value, flavors: &[(String, Value)], settings: &Value) -> Option<Result<Value, Problems>> {
    let inputs = inputs(actor, flavors, settings);
    let platform = platform::settle(&inputs).ok()?;
    let names: Vec<_> = flavors.iter().map(|(name, _)| name.clone()).collect();
    let mut found = Findings::default();
    let layers = gather(&inputs, &names, &platform, &mut found);
    let outcome = resolve(&layers, &platform).map(|resolved| resolved.fields.value());
    Some(match outcome {
        Ok(value) => found.problems.unless_empty(value),
        Err(problems) => {
            found.problems.extend(problems);
            Err(found.problems.sorted())
        }
    })
}

fn inputs(actor: &Value, flavors: &[(String, Value)], settings: &Value) -> Inputs {
    let mut inputs = Inputs { input: Some(settings.clone().into()), ..Inputs::default() };
    inputs.composite = Composite::of_tree(&json!({"spec": actor})).expect("a spec is any value");
    for (name, data) in flavors {
        let mut config = EnvironmentConfig { data: data.clone().into(), ..EnvironmentConfig::default() };
        config.name = name.into();
        inputs.required.insert(flavor_key(name), vec![config]);
    }
    inputs
}

/// The whole call refuses what the merge refuses, and changes nothing then.
fn composes_like(outcome: &Result<Value, Problems>, actor: &Value, flavors: &[(String, Value)], settings: &Value) {
    let mut actor = actor.clone();
    if let Value::Object(spec) = &mut actor {
        spec.insert("flavors".to_owned(), flavors.iter().map(|(name, _)| json!(name)).collect());
    } else {
        return;
    }
    let Step::Answer(answer) = compose(&inputs(&actor, flavors, settings)) else { return };
    if outcome.is_err() {
        assert!(!answer.problems.is_empty(), "refused when merged: {}", text(outcome));
    }
    if !answer.problems.is_empty() {
        assert!(answer.resources.is_empty(), "refused, and yet something is desired");
    }
}

/// The value as a request carries it; nothing if none can.
fn as_read(value: &Value) -> Option<Value> {
    let carried = to_struct(&json!({"value": value})).ok()?;
    from_struct::<Value>(&carried).ok().map(|mut read| read["value"].take())
}

/// The value with its lists sorted.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(in_order).collect();
            items.sort_by_key(Value::to_string);
            items.into()
        }
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), in_order(value))).collect(),
        other => other.clone(),
    }
}

fn text(outcome: &Result<Value, Problems>) -> String {
    match outcome {
        Ok(value) => value.to_string(),
        Err(problems) => problems.to_string(),
    }
}
