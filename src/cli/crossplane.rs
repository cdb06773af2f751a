//! What Crossplane adds to a function's answer before people see it: names, owners, labels, conditions.

use serde_json::{Value, json};

use super::scene::{RESOURCE_NAME, Scene};
use crate::composed::{Composition, Severity};
use crate::node::Node;
use crate::tree;
use crate::wire::RawStruct;

/// The time of every condition, as `crossplane render` prints it.
const SOME_TIME: &str = "2024-01-01T00:00:00Z";

/// The labels that name a composite's claim; Crossplane copies both or none.
const CLAIM_NAME: &str = "crossplane.io/claim-name";
const CLAIM_NAMESPACE: &str = "crossplane.io/claim-namespace";

/// How many names a message spells out.
const NAMED: usize = 3;

/// The documents of an answer, in the order of `crossplane render`: composite, resources, results if asked for.
pub fn documents(scene: &Scene, composition: &Composition, results: bool) -> Vec<Value> {
    let resources = composition.resources.iter().map(|(name, composed)| resource(scene, name, &composed.object));
    let mut documents: Vec<Value> = std::iter::once(composite(scene, composition)).chain(resources).collect();
    if results {
        documents.extend(composition.results.iter().map(|result| {
            let severity = match result.severity {
                Severity::Normal => "SEVERITY_NORMAL",
                Severity::Warning => "SEVERITY_WARNING",
                Severity::Fatal => "SEVERITY_FATAL",
            };
            json!({
                "apiVersion": "render.crossplane.io/v1beta1",
                "kind": "Result",
                "message": result.message,
                "severity": severity,
                "step": scene.step,
            })
        }));
    }
    documents
}

/// The composite with its status and conditions; with its spec when that is what was resolved.
fn composite(scene: &Scene, composition: &Composition) -> Value {
    let mut status = composition.status.as_ref().map_or_else(|| json!({}), Node::to_value);
    status["conditions"] = Value::Array(conditions(composition));
    tree::object([
        ("apiVersion", scene.composite.get("apiVersion").cloned()),
        ("kind", scene.composite.get("kind").cloned()),
        ("metadata", Some(json!({"name": name(scene)}))),
        ("spec", composition.spec.clone()),
        ("status", Some(status)),
    ])
}

/// Crossplane's Ready condition, then ours.
pub fn conditions(composition: &Composition) -> Vec<Value> {
    let unready: Vec<&str> =
        composition.resources.iter().filter(|(_, composed)| !composed.ready).map(|(name, _)| *name).collect();
    let ready = match (unready.as_slice(), composition.hold) {
        ([], false) => json!({"type": "Ready", "status": "True", "reason": "Available"}),
        (_, true) => json!({"type": "Ready", "status": "False", "reason": "Creating"}),
        (unready, false) => {
            let message = format!("Unready resources: {}", some(unready));
            json!({"type": "Ready", "status": "False", "reason": "Creating", "message": message})
        }
    };
    let ours = composition.conditions.iter().map(|verdict| {
        tree::object([
            ("type", Some(verdict.kind.into())),
            ("status", Some(verdict.status.as_str().into())),
            ("reason", Some(verdict.reason.into())),
            ("message", tree::text(&verdict.message)),
        ])
    });
    // A refusal leaves Ready as it stands.
    let ready = composition.problems.is_empty().then_some(ready);
    let mut conditions: Vec<Value> = ready.into_iter().chain(ours).collect();
    for condition in &mut conditions {
        condition["lastTransitionTime"] = SOME_TIME.into();
    }
    conditions
}

/// `a, b, c, and 2 more`, as Crossplane counts.
fn some(names: &[&str]) -> String {
    match names {
        [first, second, third] => format!("{first}, {second}, and {third}"),
        names if names.len() > NAMED => format!("{}, and {} more", names[..NAMED].join(", "), names.len() - NAMED),
        names => names.join(", "),
    }
}

fn name(scene: &Scene) -> String {
    let name = scene.composite.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default().to_owned()
}

/// A composed resource as Crossplane would create it.
fn resource(scene: &Scene, resource: &str, object: &RawStruct) -> Value {
    let mut object = object.to_value();
    let label = |key: &str| scene.composite.pointer("/metadata/labels").and_then(|labels| labels.get(key));
    let composite = label("crossplane.io/composite").and_then(Value::as_str).map_or_else(|| name(scene), str::to_owned);
    let existing = scene.observed.get(resource).and_then(|observed| observed.pointer("/metadata/name"));
    let owner = json!({
        "apiVersion": scene.composite.get("apiVersion"),
        "blockOwnerDeletion": true,
        "controller": true,
        "kind": scene.composite.get("kind"),
        "name": name(scene),
        "uid": scene.composite.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default(),
    });
    let mut labels = json!({"crossplane.io/composite": composite});
    if let (Some(claim), Some(namespace)) = (label(CLAIM_NAME), label(CLAIM_NAMESPACE)) {
        (labels[CLAIM_NAME], labels[CLAIM_NAMESPACE]) = (claim.clone(), namespace.clone());
    }
    let metadata = tree::object([
        ("annotations", Some(json!({RESOURCE_NAME: resource}))),
        ("generateName", Some(format!("{composite}-").into())),
        ("labels", Some(labels)),
        ("name", existing.cloned()),
        ("ownerReferences", Some(json!([owner]))),
    ]);
    tree::overlay(&mut object, &json!({"metadata": metadata}));
    object
}
