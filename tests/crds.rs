//! The collected CRDs load, and the judge of manifests made from them tells good from bad.

mod common;

use common::crds::{conformance, definitions};
use function_asya::schema::Schema;
use serde_json::{Value, json};

#[test]
fn every_collected_crd_compiles() {
    let crds = definitions("");
    assert!(crds.len() >= 19, "only {} CRDs found", crds.len());
    for (file, crd) in crds {
        for version in crd["spec"]["versions"].as_array().expect("versions") {
            let name = version["name"].as_str().expect("a version's name");
            let schema = Schema::of_crd(&crd, name).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(schema.properties().count() > 0, "{file}: {name} is empty");
        }
    }
}

/// A manifest that the API server takes, at a spot where rows change one thing.
fn good(kind: &str) -> Value {
    match kind {
        "Queue" => json!({
            "apiVersion": "sqs.aws.upbound.io/v1beta1", "kind": "Queue", "metadata": {"name": "asya-x"},
            "spec": {"deletionPolicy": "Delete", "providerConfigRef": {"name": "default"},
                "forProvider": {"region": "us-east-1", "visibilityTimeoutSeconds": 30, "tags": {"a": "b"}}}}),
        "ScaledObject" => json!({
            "apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "metadata": {"name": "x", "namespace": "n"},
            "spec": {"scaleTargetRef": {"name": "x"}, "minReplicaCount": 0, "maxReplicaCount": 10,
                "triggers": [{"type": "aws-sqs-queue", "metadata": {"queueLength": "5"}}]}}),
        "TriggerAuthentication" => json!({
            "apiVersion": "keda.sh/v1alpha1", "kind": "TriggerAuthentication", "metadata": {"name": "x"},
            "spec": {"podIdentity": {"provider": "aws"}}}),
        "ServiceAccount" => json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "x", "annotations": {"a": "b"}}}),
        "Deployment" => json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "n"},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "x"}}, "template": {
                "metadata": {"labels": {"app": "x"}},
                "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "4"}},
                    "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "1"}]}]}}}}),
        kind => panic!("no good {kind} here"),
    }
}

fn object(manifest: Value) -> Value {
    json!({"apiVersion": "kubernetes.crossplane.io/v1alpha2", "kind": "Object", "metadata": {"name": "x"},
        "spec": {"forProvider": {"manifest": manifest}, "providerConfigRef": {"name": "in-cluster"}}})
}

/// `manifest` with `value` at `pointer`, where the last key may be new.
fn with(mut manifest: Value, pointer: &str, value: Value) -> Value {
    let (above, key) = pointer.rsplit_once('/').expect("a pointer");
    manifest.pointer_mut(above).unwrap_or_else(|| panic!("nothing at {above}"))[key] = value;
    manifest
}

#[test]
fn good_manifests_pass_bare_and_within_an_object() {
    for kind in ["Queue", "ScaledObject", "TriggerAuthentication", "ServiceAccount", "Deployment"] {
        assert_eq!(conformance(&good(kind)), Vec::<String>::new(), "{kind}");
        assert_eq!(conformance(&object(good(kind))), Vec::<String>::new(), "{kind} within an Object");
    }
}

#[test]
fn bad_manifests_are_told_why() {
    const CONTAINER: &str = "/spec/template/spec/containers/0";
    let at = |kind: &str, pointer: &str, value: Value| with(good(kind), pointer, value);
    let container = |key: &str, value: Value| at("Deployment", &format!("{CONTAINER}/{key}"), value);
    let rows = [
        (
            "a typo in a field",
            at("Queue", "/spec/forProvider/visibilityTimeout", json!(30)),
            "forProvider.visibilityTimeout: unknown field (hint: `visibilityTimeoutSeconds`;",
        ),
        (
            "a number for a string",
            at("Queue", "/spec/forProvider/tags", json!({"a": 1})),
            "tags.a: must be a string, not an integer",
        ),
        ("a bad enum", at("Queue", "/spec/deletionPolicy", json!("Keep")), "\"Keep\" is not one of Orphan, Delete"),
        ("a missing field", at("Queue", "/spec/forProvider", json!({})), "spec.forProvider.region: is required"),
        (
            "trigger metadata holds strings",
            at("ScaledObject", "/spec/triggers/0/metadata/queueLength", json!(5)),
            "must be a string",
        ),
        ("no triggers", at("ScaledObject", "/spec/triggers", json!([])), "triggers: must have at least 1 entry"),
        (
            "KEDA's own rule",
            at("ScaledObject", "/spec/minReplicaCount", json!(11)),
            "minReplicaCount must be less than or equal",
        ),
        (
            "a bad provider",
            at("TriggerAuthentication", "/spec/podIdentity/provider", json!("gpc")),
            "\"gpc\" is not one of",
        ),
        (
            "a field the kind does not know",
            container("imagePulPolicy", json!("Never")),
            "containers[0].imagePulPolicy: unknown field",
        ),
        (
            "a number for a quantity",
            container("resources", json!({"limits": {"cpu": 4}})),
            "limits.cpu: 4 is read as \"4\"",
        ),
        (
            "a number for an env value",
            container("env", json!([{"name": "A", "value": 1}])),
            "cannot be read: invalid type: integer `1`",
        ),
        (
            "a container without a name",
            at("Deployment", "/spec/template/spec/containers", json!([{"image": "i"}])),
            "containers[0].name: is required",
        ),
        ("a null", container("command", json!(null)), "command: is null, and would be dropped"),
        (
            "an unknown kind",
            at("ServiceAccount", "/kind", json!("Account")),
            "no schema for apiVersion `v1`, kind `Account`",
        ),
    ];
    for (why, manifest, expected) in rows {
        let bare = conformance(&manifest);
        assert!(bare.len() == 1 && bare[0].contains(expected), "{why}: {bare:#?}");
        let carried = conformance(&object(manifest));
        assert_eq!(carried, [format!("spec.forProvider.manifest: {}", bare[0])], "{why}, within an Object");
    }
}

#[test]
fn an_object_is_judged_itself() {
    let readiness = |value: Value| with(object(good("ServiceAccount")), "/spec/readiness", value);
    let rows = [
        ("a policy", readiness(json!({"policy": "DeriveFromObject"})), None),
        ("a query", readiness(json!({"policy": "DeriveFromCelQuery", "celQuery": "true"})), None),
        ("a query is missing", readiness(json!({"policy": "DeriveFromCelQuery"})), Some("celQuery must be set")),
        ("no such policy", readiness(json!({"policy": "Always"})), Some("is not one of")),
        (
            "a field beside the manifest",
            with(object(good("ServiceAccount")), "/spec/forProvider/manifests", json!({})),
            Some("unknown field"),
        ),
    ];
    for (why, manifest, expected) in rows {
        let found = conformance(&manifest).join("\n");
        assert!(expected.map_or(found.is_empty(), |text| found.contains(text)), "{why}: {found}");
    }
}
