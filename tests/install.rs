//! The install kit fits what the function makes and tells: rights for the kinds it composes, monitoring of metrics that exist.
//! `tests/xrd.rs` compares its settings with the schema, `tests/validate.rs` asks Crossplane's validators about every file.

mod common;

use std::collections::BTreeSet;
use std::fs;

use common::case;
use common::play;
use function_asya::cli::files;
use serde_json::Value;

fn read(path: &str) -> String {
    fs::read_to_string(case::root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// An API group and a plural, as rules of a ClusterRole name them.
type Resource = (String, String);

/// What an object is called in a rule. All our kinds have plain plurals.
fn resource(object: &Value) -> Resource {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let group = text("apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    (group.to_owned(), text("kind").to_lowercase() + "s")
}

/// What the function composes in some case, and what it wraps for provider-kubernetes.
fn made() -> [BTreeSet<Resource>; 2] {
    let (mut composed, mut wrapped) = (BTreeSet::new(), BTreeSet::new());
    for played in case::all().iter().filter_map(|case| play::play(case).ok()) {
        for object in
            function_asya::cli::crossplane::documents(&played.scene, &played.composition, false).iter().skip(1)
        {
            composed.insert(resource(object));
            wrapped.extend(object.pointer("/spec/forProvider/manifest").map(resource));
        }
    }
    [composed, wrapped]
}

/// What the first ClusterRole of a file may write, and every verb in it.
fn allowed(path: &str) -> (BTreeSet<Resource>, BTreeSet<String>) {
    let (mut resources, mut verbs) = (BTreeSet::new(), BTreeSet::new());
    let role = files::parse(path, read(path).as_bytes()).expect("YAML").remove(0).value;
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    for rule in role["rules"].as_array().expect("rules") {
        verbs.extend(texts(&rule["verbs"]));
        for group in texts(&rule["apiGroups"]) {
            // A part of an object, such as its status, is no kind of its own.
            let whole = texts(&rule["resources"]).into_iter().filter(|name| !name.contains('/'));
            resources.extend(whole.map(|name| (group.clone(), name)));
        }
    }
    (resources, verbs)
}

#[test]
fn each_side_may_do_what_it_must_and_no_more() {
    let [mut composed, wrapped] = made();
    composed.extend(["xasyncactors", "asyncactors"].map(|name| ("asya.sh".to_owned(), name.to_owned())));
    let verbs: BTreeSet<_> = ["get", "list", "watch", "create", "update", "patch", "delete"].map(str::to_owned).into();
    for (file, needed) in [("provider-kubernetes-rbac.yaml", wrapped), ("rbac-crossplane.yaml", composed)] {
        assert_eq!(allowed(&format!("examples/install/{file}")), (needed, verbs.clone()), "{file}");
    }
}

/// The names of our metrics in a text.
fn metrics(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !(it.is_ascii_alphanumeric() || it == '_'));
    let ours = words.filter(|word| word.starts_with("function_asya_") || word.starts_with("grpc_server_"));
    ours.map(|name| name.trim_end_matches("_bucket").to_owned()).collect()
}

#[test]
fn alerts_and_dashboard_ask_for_metrics_that_exist() {
    // A test of the server compares that page with what it serves.
    let known = metrics(&read("docs/metrics.md"));
    let mut asked = BTreeSet::new();
    for file in ["examples/install/prometheusrule.yaml", "examples/install/dashboard.json", "docs/operations.md"] {
        let found = metrics(&read(file));
        assert!(found.len() > 2, "{file} asks for nothing");
        asked.extend(found);
    }
    assert!(known.is_superset(&asked), "unknown: {:?}", asked.difference(&known));
}

#[test]
fn every_alert_has_a_row_in_operations() {
    let rules: Value = serde_yaml::from_str(&read("examples/install/prometheusrule.yaml")).expect("YAML");
    let rules = rules.pointer("/spec/groups/0/rules").and_then(Value::as_array).expect("rules");
    let alerts: BTreeSet<String> = rules.iter().filter_map(|rule| rule["alert"].as_str()).map(str::to_owned).collect();
    let page = read("docs/operations.md");
    let rows =
        page.lines().filter_map(|line| line.strip_prefix("| FunctionAsya")).filter_map(|row| row.split(' ').next());
    assert_eq!(alerts, rows.map(|name| format!("FunctionAsya{name}")).collect());
}
