//! The Deployment: the user's runtime beside our sidecar and state connectors.

mod connector;
mod runtime;
mod sidecar;

use k8s_openapi::api::core::v1::{ConfigMapVolumeSource, VolumeMount};
use serde::Serialize;
use serde_json::{Value, json};

use super::{DEPLOYMENT, Subject, Wrapper};
use crate::api::{Live, condition, is_true};
use crate::composed::Plan;
use crate::tree;

/// The names of the pod's own volumes; a user's volume cannot have them.
pub const VOLUMES_OF_OURS: &[&str] = &["socket-dir", "tmp", "asya-runtime", "state-sockets"];

/// Where the runtime container's own volumes are mounted, besides the two paths of the platform settings.
pub const MOUNTS_OF_OURS: &[&str] = &["/tmp", STATE_DIR];

/// Where state connectors and the runtime meet.
const STATE_DIR: &str = "/var/run/asya/state";

/// The actors at the end of every route; they take messages no schema describes.
const END_ACTORS: &[&str] = &["x-sink", "x-sump", "happy-end", "error-end"];

/// True for the wrapper once the rollout is seen and the Deployment is available.
const AVAILABLE: &str = "has(object.status) && has(object.status.observedGeneration) && \
     object.status.observedGeneration >= object.metadata.generation && has(object.status.conditions) && \
     object.status.conditions.exists(c, c.type == \"Available\" && c.status == \"True\")";

/// Emitted once its pods can start; from then on always.
pub fn plan(subject: &Subject<'_>) -> Plan {
    match subject.awaits() {
        Some(reason) if !subject.observed.objects.contains_key(DEPLOYMENT) => Plan::Wait(reason),
        _ => Plan::Compose(build(subject)),
    }
}

fn build(subject: &Subject<'_>) -> Value {
    let manifest = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": subject.metadata(&subject.identity.actor, "actor"),
        "spec": tree::object([
            // KEDA owns the number of pods while scaling is on.
            ("replicas", (!subject.spec.scaling.enabled).then(|| subject.spec.replicas.into())),
            ("progressDeadlineSeconds", Some(1800.into())),
            ("selector", Some(json!({"matchLabels": {"app.kubernetes.io/name": subject.identity.actor}}))),
            ("template", Some(json!({"metadata": {"labels": pod_labels(subject)}, "spec": pod(subject)}))),
        ]),
    });
    subject.wrap(Wrapper {
        labels: subject.labels("actor"),
        manifest,
        readiness: json!({"policy": "DeriveFromCelQuery", "celQuery": AVAILABLE}),
        watch: true,
        management_policies: None,
    })
}

fn pod_labels(subject: &Subject<'_>) -> Value {
    let mut labels = subject.plain_labels();
    labels.insert("app.kubernetes.io/name".to_owned(), subject.identity.actor.as_str().into());
    labels.insert("app.kubernetes.io/component".to_owned(), "actor".into());
    labels.insert("asya.sh/actor".to_owned(), subject.identity.actor.as_str().into());
    labels.insert("asya.sh/inject".to_owned(), "true".into());
    Value::Object(labels)
}

fn pod(subject: &Subject<'_>) -> Value {
    let (spec, platform) = (subject.spec, subject.platform);
    let account = platform.service_account(&subject.identity.namespace, &subject.identity.actor);
    tree::object([
        ("serviceAccountName", account.map(Value::String)),
        ("terminationGracePeriodSeconds", Some(30.into())),
        ("initContainers", tree::list(spec.init_containers.clone())),
        ("containers", Some(Value::Array(containers(subject)))),
        ("volumes", Some(Value::Array(volumes(subject)))),
        ("nodeSelector", spec.node_selector.clone().filter(is_filled)),
        ("tolerations", tree::list(spec.tolerations.clone())),
    ])
}

fn is_filled(value: &Value) -> bool {
    !matches!(value, Value::Object(map) if map.is_empty()) && !value.is_null()
}

fn containers(subject: &Subject<'_>) -> Vec<Value> {
    let connectors = subject.spec.state_proxy.iter().map(|proxy| connector::connector(subject, proxy));
    let ours = [runtime::runtime(subject), sidecar::sidecar(subject)].into_iter().chain(connectors);
    ours.chain(subject.spec.sidecars.iter().cloned()).collect()
}

fn volumes(subject: &Subject<'_>) -> Vec<Value> {
    let runtime = ConfigMapVolumeSource {
        name: subject.platform.sidecar.runtime_config_map.clone(),
        default_mode: Some(0o755),
        ..ConfigMapVolumeSource::default()
    };
    let mut volumes = vec![
        json!({"name": "socket-dir", "emptyDir": {}}),
        json!({"name": "tmp", "emptyDir": {}}),
        json!({"name": "asya-runtime", "configMap": to_value(runtime)}),
    ];
    if !subject.spec.state_proxy.is_empty() {
        volumes.push(json!({"name": "state-sockets", "emptyDir": {}}));
    }
    volumes.extend(subject.spec.volumes.iter().cloned());
    volumes
}

fn common_mounts(socket_dir: &str) -> Vec<Value> {
    vec![mount("socket-dir", socket_dir), mount("tmp", "/tmp")]
}

fn mount(name: &str, path: &str) -> Value {
    to_value(VolumeMount { name: name.to_owned(), mount_path: path.to_owned(), ..VolumeMount::default() })
}

/// Resources with quantities as strings (`4` is `"4"`); nothing if they are empty.
fn resources(resources: Option<&Value>) -> Option<Value> {
    let mut resources = resources?.clone();
    for key in ["limits", "requests"] {
        let Some(Value::Object(quantities)) = resources.get_mut(key) else { continue };
        for quantity in quantities.values_mut().filter(|quantity| quantity.is_number()) {
            *quantity = Value::String(quantity.to_string());
        }
        if quantities.is_empty() {
            tree::remove(&mut resources, &crate::path::Path::keys(key));
        }
    }
    Some(resources).filter(is_filled)
}

fn is_end_actor(subject: &Subject<'_>) -> bool {
    END_ACTORS.contains(&subject.identity.actor.as_str())
}

fn to_value(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("a Kubernetes type is JSON")
}

/// The number of pods that are wanted: what the live object says, and 1 if it says nothing.
pub fn wanted(live: &Live) -> i64 {
    live.number("/spec/replicas").unwrap_or(1)
}

/// A number in the live status: absent means 0 once the controller has looked at the object, unknown before.
pub fn counted(live: &Live, field: &str) -> Option<i64> {
    live.number("/status/observedGeneration")?;
    Some(live.number(&format!("/status/{field}")).unwrap_or(0))
}

/// True once the controller has seen the newest spec.
pub fn is_seen(live: &Live) -> bool {
    let generation = live.number("/metadata/generation").unwrap_or(0);
    live.number("/status/observedGeneration").is_some_and(|observed| observed >= generation)
}

/// True once the latest rollout has completed; waking from a nap later does not take that back.
pub fn is_rolled_out(live: &Live) -> bool {
    is_seen(live) && has_rolled_out(live)
}

/// True if the last rollout that the controller has looked at has completed.
pub fn has_rolled_out(live: &Live) -> bool {
    let conditions = live.conditions();
    let progressing = condition(&conditions, "Progressing");
    let done =
        progressing.is_some_and(|progress| progress.status == "True" && progress.reason == "NewReplicaSetAvailable");
    done && !is_true(&conditions, "ReplicaFailure")
}
