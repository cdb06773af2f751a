//! Whatever a case or example emits, the API server would take whole: real CRDs judge every object, and the XRD every status.

mod common;

use std::sync::LazyLock;

use common::case::{self, Case};
use common::crds::conformance;
use common::play;
use common::report::Report;
use function_asya::cli::simulate::{self, End};
use function_asya::composed::Composition;
use function_asya::node::Node;
use function_asya::path::{Path, Step};
use function_asya::resolve::layers::SPEC;
use function_asya::schema::Schema;
use function_asya::tree;
use serde_json::{Value, json};

static STATUS: LazyLock<Schema> = LazyLock::new(|| {
    let xrd = serde_yaml::from_str(include_str!("../package/xrd.yaml")).expect("the XRD is YAML");
    let root = Schema::of_xrd(&xrd, "v1alpha1").expect("the XRD is a schema");
    root.field("status").expect("the XRD has a status").clone()
});

/// Parts of a pod that are the user's own.
const USERS: [&str; 4] = ["nodeSelector", "tolerations", "volumes", "initContainers"];

/// The answers of all cases and examples, worked out once.
static ANSWERS: LazyLock<Vec<(String, Composition)>> = LazyLock::new(|| case::all().iter().flat_map(answers).collect());

/// The answers of a case: as it is, once everything is ready, and napping.
fn answers(case: &Case) -> Vec<(String, Composition)> {
    let mut answers = Vec::new();
    if let Ok(played) = play::play(case) {
        answers.push((case.name.clone(), played.composition));
    }
    for (how, end) in [("ready", End::Ready), ("napping", End::Napping)] {
        let played = play::scene(case).and_then(|mut scene| simulate::play(&mut scene, end).ok());
        answers.extend(played.map(|composition| (format!("{}, {how}", case.name), composition)));
    }
    answers
}

#[test]
fn every_emitted_object_is_one_the_api_server_takes_whole() {
    let mut report = Report::default();
    for (name, answer) in ANSWERS.iter() {
        for (resource, composed) in &answer.resources {
            report.look();
            let object = composed.object.to_value();
            let manifest = object.pointer("/spec/forProvider/manifest");
            let findings = conformance(&object).into_iter();
            for finding in findings.filter(|finding| !manifest.is_some_and(|manifest| is_the_users(manifest, finding)))
            {
                report.fail(name, format!("{resource}: {finding}"));
            }
            for empty in empties(&object) {
                report.fail(name, format!("{resource}: {empty}"));
            }
        }
    }
    report.end();
}

#[test]
fn every_status_and_resolved_spec_is_one_that_the_xrd_declares() {
    let mut report = Report::default();
    for (name, answer) in ANSWERS.iter() {
        report.look();
        let parts =
            [("status", &*STATUS, answer.status.as_ref().map(Node::to_value)), ("spec", &*SPEC, answer.spec.clone())];
        for (part, schema, value) in parts {
            let Some(value) = value else { continue };
            for breach in schema.breaches(&value, &Path::root(), &|_| false) {
                report.fail(name, format!("{part}: {breach}"));
            }
            report.equal(name, &format!("{part} without nulls"), &*tree::without_nulls(&value), &value);
        }
    }
    report.end();
}

#[test]
fn every_answer_carries_all_conditions_each_with_a_reason() {
    let mut report = Report::default();
    for (name, answer) in ANSWERS.iter() {
        report.look();
        let kinds: Vec<_> = answer.conditions.iter().map(|verdict| verdict.kind).collect();
        report.equal(name, "the conditions", &function_asya::status::CONDITIONS.to_vec(), &kinds);
        for verdict in &answer.conditions {
            let told = !verdict.message.is_empty() || verdict.status == function_asya::composed::Truth::True;
            if verdict.reason.is_empty() || !told {
                report.fail(name, format!("{} says not why", verdict.kind));
            }
        }
    }
    report.end();
}

/// True for a finding on a part of a Deployment that passes through as its user wrote it.
fn is_the_users(manifest: &Value, finding: &str) -> bool {
    let Some((_, place)) = finding.split_once("manifest: spec.template.spec.") else { return false };
    let container = place.strip_prefix("containers[").and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
    let name = container.and_then(|index| manifest.pointer(&format!("/spec/template/spec/containers/{index}/name")));
    USERS.iter().any(|part| place.starts_with(part))
        || name.and_then(Value::as_str).is_some_and(|name| !name.starts_with("asya-"))
}

/// Every null, and every empty value that we generate ourselves.
fn empties(object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    look(object, &Path::root(), false, &mut found);
    found
}

fn look(value: &Value, at: &Path, users: bool, found: &mut Vec<String>) {
    if value.is_null() {
        found.push(format!("{at}: is null"));
    }
    let empty = *value == json!({}) || *value == json!([]) || *value == json!("");
    if empty && !users && !may_be_empty(at) {
        found.push(format!("{at}: is empty"));
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                look(value, &at.key(key), users || is_passed_through(at), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                look(value, &at.index(index), users || is_users_entry(at, value), found);
            }
        }
        _ => {}
    }
}

fn last_keys(path: &Path) -> Vec<&str> {
    let keys = path.steps().iter().rev().filter_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        _ => None,
    });
    keys.collect()
}

/// `emptyDir: {}`, user labels and tags, values of environment variables.
fn may_be_empty(at: &Path) -> bool {
    let keys = last_keys(at);
    keys.first() == Some(&"emptyDir")
        || keys.first() == Some(&"value") && keys.get(1) == Some(&"env")
        || matches!(keys.get(1), Some(&"labels" | &"tags"))
}

/// True for what stands below a field whose content is the user's own; the field itself is ours.
fn is_passed_through(at: &Path) -> bool {
    matches!(last_keys(at).first(), Some(&"nodeSelector" | &"resources" | &"valueFrom"))
}

/// True for an entry that the user brought into one of our lists.
fn is_users_entry(list: &Path, entry: &Value) -> bool {
    const OURS: [&str; 4] = ["socket-dir", "tmp", "asya-runtime", "state-sockets"];
    let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
    match last_keys(list).first() {
        Some(&"tolerations" | &"initContainers") => true,
        Some(&"containers") => !name.starts_with("asya-"),
        Some(&"volumes" | &"volumeMounts") => !OURS.contains(&name),
        Some(&"triggers") => name != "queue",
        _ => false,
    }
}
