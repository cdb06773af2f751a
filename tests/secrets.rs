//! Values under `env`, `sidecar.env`, `connector.env` and trigger `metadata` are never printed, whatever is wrong with them.

mod common;

use std::fs;
use std::path::Path;

use common::case::Case;
use common::crossplane::{self, Version};
use common::play;
use common::report::Report;
use common::server::{PATHS, Server};
use serde_json::{Value, json};

const MARKER: &str = "s3cr3t-marker";

/// Environment lists as they should not be, and as they should; `S` and `T` become two different secrets.
const LISTS: [&str; 22] = [
    r#"[{"name": "A", "value": "S"}]"#,
    r#"[{"name": "A", "value": "T"}]"#,
    r#"[{"name": "A", "value": "S"}, {"name": "A", "value": "T"}]"#,
    r#"[{"name": "A", "value": ["S"]}]"#,
    r#"[{"name": "A", "value": {"S": "S"}}]"#,
    r#"[{"name": "A", "value": "S", "valueFrom": {"secretKeyRef": {"name": "x", "key": "y"}}}]"#,
    r#"[{"name": "A", "valueFrom": "S"}]"#,
    r#"[{"name": "A", "valueFrom": {"value": "S"}}]"#,
    r#"[{"name": "A", "vaule": "S"}]"#,
    r#"[{"name": "A", "Value": {"x": ["S"]}}]"#,
    r#"[{"name": ["S"], "value": "S"}]"#,
    r#"[{"value": "S"}]"#,
    r#"[{"name": "", "value": "S"}]"#,
    r#"[{"name": 1, "value": "S"}]"#,
    r#"["S"]"#,
    r#"[["S"]]"#,
    r#"{"A": "S"}"#,
    r#"{"name": "A", "value": "S"}"#,
    r#""S""#,
    r#"[{"name": "ASYA_HANDLER", "value": "S"}, {"name": "ASYA_ACTOR_NAME", "value": "S"}]"#,
    r#"[{"name": "A", "value": "S"}, null, 5]"#,
    r#"[]"#,
];

/// Where an environment or the like stands.
const PLACES: [&str; 6] = [
    r#"{"env": L}"#,
    r#"{"sidecar": {"env": L}}"#,
    r#"{"stateProxy": [{"name": "s", "mount": {"path": "/s"}, "connector": {"image": "i", "env": L}}]}"#,
    r#"{"scaling": {"additionalTriggers": [{"type": "x", "name": "t", "metadata": {"key": L, "x": "S"}}]}}"#,
    r#"{"scaling": {"additionalTriggers": [{"type": "x", "name": "t", "metadata": L}]}}"#,
    r#"{"scaling": {"env": L}, "evn": L}"#,
];

/// Spec parts with secrets in them.
fn parts() -> Vec<Value> {
    let filled = PLACES.iter().flat_map(|place| LISTS.map(|list| place.replace('L', list)));
    let secret = |text: String| {
        text.replace("\"S\"", &format!("\"{MARKER}-one\"")).replace("\"T\"", &format!("\"{MARKER}-two\""))
    };
    filled.map(|text| serde_json::from_str(&secret(text)).expect("JSON")).collect()
}

fn config(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "apiextensions.crossplane.io/v1beta1", "kind": "EnvironmentConfig",
        "metadata": {"name": name}, "data": data})
}

fn actor(own: &Value) -> Value {
    let mut spec = json!({"image": "i", "handler": "h.h", "flavors": ["flavor-one", "flavor-two"]});
    function_asya::tree::overlay(&mut spec, own);
    json!({"apiVersion": "asya.sh/v1alpha1", "kind": "AsyncActor", "metadata": {"name": "a", "namespace": "n"}, "spec": spec})
}

/// A case of an actor's own spec and two flavors.
fn case(folder: &Path, [own, one, two]: [&Value; 3]) -> Case {
    let write = |file: &str, documents: &[Value]| {
        let text = function_asya::cli::print::yaml(documents);
        fs::write(folder.join(file), text).expect("a temporary folder can be written");
    };
    write("actor.yaml", &[actor(own)]);
    write("flavors.yaml", &[config("flavor-one", one), config("flavor-two", two)]);
    Case {
        name: format!("actor {own}, flavors {one} and {two}"),
        folder: folder.to_owned(),
        arguments: ["actor.yaml", "-e", "flavors.yaml"].map(str::to_owned).to_vec(),
        only_render: false,
        expected: Default::default(),
    }
}

/// Each part on the actor and in a flavor; two flavors and actor and flavor with each pair of the same place.
fn cases(folder: &Path) -> Vec<Case> {
    let (parts, none) = (parts(), json!({}));
    let mut cases = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let place = index / LISTS.len() * LISTS.len();
        let next = &parts[place + (index + 1) % LISTS.len()];
        let good = &parts[place];
        for layers in
            [[part, &none, &none], [&none, part, &none], [&none, part, next], [&none, good, part], [next, part, part]]
        {
            let folder = folder.join(cases.len().to_string());
            fs::create_dir(&folder).expect("a temporary folder can be written");
            cases.push(case(&folder, layers));
        }
    }
    cases
}

fn check(name: &str, what: &str, text: &str, report: &mut Report) {
    if let Some(line) = text.lines().find(|line| line.contains(MARKER)) {
        report.fail(name, format!("{what} holds a secret: {line}"));
    }
}

#[test]
fn no_message_holds_a_secret() {
    let mut report = Report::default();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&["--debug"]);
    let (mut refused, mut warned) = (0, 0);
    for case in cases(folder.path()) {
        report.look();
        let played = match play::play(&case) {
            Ok(played) => played,
            Err(stop) => {
                check(&case.name, "the message of render", &stop.message, &mut report);
                continue;
            }
        };
        let answer = &played.composition;
        refused += usize::from(!answer.problems.is_empty());
        warned += usize::from(!answer.warnings.is_empty());
        check(&case.name, "stderr of render", &played.stderr(&case), &mut report);
        let said = format!("{:?}{:?}{:?}{:?}", answer.conditions, answer.results, answer.status, answer.waiting);
        check(&case.name, "the answer", &said, &mut report);
        let first = crossplane::request(&played.scene, "tag", Version::Two);
        let call = |request| server.call(PATHS[0], request).map_err(|status| status.to_string());
        let exchanges = crossplane::reconcile(&played.scene, first, Version::Two, call);
        for (_, response) in exchanges.unwrap_or_else(|error| panic!("{}: {error}", case.name)) {
            let said = format!("{:?}{:?}", response.conditions, response.results);
            check(&case.name, "the response of serve", &said, &mut report);
        }
    }
    check("serve --debug", "the log", &server.log(), &mut report);
    assert!(server.log().contains("Refused"), "the log is looked at");
    assert!(refused > 100, "only {refused} are refused, {warned} warned of: these are to be broken flavors");
    report.end();
}
