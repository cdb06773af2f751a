//! The Deployment: the user's runtime beside our sidecar and state connectors.

mod connector;
mod runtime;
mod sidecar;

use k8s_openapi::api::core::v1::ConfigMapVolumeSource;
use serde::Serialize;
use serde_json::Value;

use super::{DEPLOYMENT, SERVICE_ACCOUNT, Subject, Wrapper};
use crate::api::{Live, condition, is_true};
use crate::composed::{Plan, Reason};
use crate::design::Design;
use crate::inputs::Observed;
use crate::node::{Node, map};
use crate::transport::Whereabouts;

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
pub fn plan(design: &Design, whereabouts: &Whereabouts, observed: &Observed) -> Plan {
    match awaits(design, whereabouts, observed) {
        Some(reason) if !observed.objects.contains_key(DEPLOYMENT) => Plan::Wait(reason),
        _ => Plan::Compose(design.deployment.clone()),
    }
}

/// What has to be there before pods may start.
fn awaits(design: &Design, whereabouts: &Whereabouts, observed: &Observed) -> Option<Reason> {
    if !matches!(whereabouts, Whereabouts::Known(_)) {
        return Some(Reason::QueueUrl);
    }
    let wanted = design.service_account.as_ref()?;
    let account = observed.objects.get(SERVICE_ACCOUNT).and_then(|object| object.live());
    let exists = account.is_some_and(|live| {
        live.metadata.uid.as_ref().is_some_and(|uid| !uid.is_empty())
            && live.metadata.name.as_deref() == super::manifest_text(wanted, "name")
    });
    (!exists).then_some(Reason::ServiceAccount)
}

/// Its Object.
pub fn build(subject: &Subject<'_>) -> Node {
    let spec = map! {
        // KEDA owns the number of pods while scaling is on.
        "replicas" => (!subject.spec.scaling.enabled).then_some(subject.spec.replicas),
        "progressDeadlineSeconds" => 1800,
        "selector" => map! { "matchLabels" => map! { "app.kubernetes.io/name" => &subject.identity.actor } },
        "template" => map! { "metadata" => map! { "labels" => pod_labels(subject) }, "spec" => pod(subject) },
    };
    let manifest = map! {
        "apiVersion" => "apps/v1",
        "kind" => "Deployment",
        "metadata" => subject.metadata(&subject.identity.actor, "actor"),
        "spec" => spec,
    };
    subject.wrap(Wrapper {
        labels: subject.labels("actor"),
        manifest,
        readiness: map! { "policy" => "DeriveFromCelQuery", "celQuery" => AVAILABLE },
        watch: true,
        management_policies: None,
    })
}

fn pod_labels(subject: &Subject<'_>) -> Node {
    let mut labels = subject.plain_labels();
    labels.set("app.kubernetes.io/name", &subject.identity.actor);
    labels.set("app.kubernetes.io/component", "actor");
    labels.set("asya.sh/actor", &subject.identity.actor);
    labels.set("asya.sh/inject", "true");
    labels
}

fn pod(subject: &Subject<'_>) -> Node {
    let (spec, platform) = (subject.spec, subject.platform);
    map! {
        "serviceAccountName" => platform.service_account(&subject.identity.namespace, &subject.identity.actor),
        "terminationGracePeriodSeconds" => 30,
        "initContainers" => given(&spec.init_containers).filled(),
        "containers" => containers(subject),
        "volumes" => volumes(subject),
        "nodeSelector" => Node::from(spec.node_selector.as_ref()).filled(),
        "tolerations" => given(&spec.tolerations).filled(),
    }
}

/// A list as the actor or a flavor wrote it.
fn given(list: &[Value]) -> Node {
    Node::List(list.iter().map(Node::from).collect())
}

fn containers(subject: &Subject<'_>) -> Vec<Node> {
    let connectors = subject.spec.state_proxy.iter().map(|proxy| connector::connector(subject, proxy));
    let ours = [runtime::runtime(subject), sidecar::sidecar(subject)].into_iter().chain(connectors);
    ours.chain(subject.spec.sidecars.iter().map(Node::from)).collect()
}

fn volumes(subject: &Subject<'_>) -> Vec<Node> {
    let runtime = ConfigMapVolumeSource {
        name: subject.platform.sidecar.runtime_config_map.clone(),
        default_mode: Some(0o755),
        ..ConfigMapVolumeSource::default()
    };
    let empty = |name: &'static str| map! { "name" => name, "emptyDir" => map! {} };
    let mut volumes = vec![
        empty("socket-dir"),
        empty("tmp"),
        map! { "name" => "asya-runtime", "configMap" => of_kubernetes(runtime) },
    ];
    if !subject.spec.state_proxy.is_empty() {
        volumes.push(empty("state-sockets"));
    }
    volumes.extend(subject.spec.volumes.iter().map(Node::from));
    volumes
}

fn common_mounts(socket_dir: &str) -> Vec<Node> {
    vec![mount("socket-dir", socket_dir), mount("tmp", "/tmp")]
}

fn mount(name: &'static str, path: &str) -> Node {
    map! { "name" => name, "mountPath" => path.to_owned() }
}

/// Resources with quantities as strings (`4` is `"4"`); nothing if they are empty.
fn resources(resources: Option<&Value>) -> Option<Node> {
    let Value::Object(resources) = resources? else {
        return resources.filter(|other| !other.is_null()).map(Node::from);
    };
    let quantities = |value: &Value| match value {
        Value::Object(map) => Node::map(map.iter().map(|(key, quantity)| {
            let text = quantity.as_number().map(ToString::to_string);
            (key.clone().into(), text.map_or_else(|| Node::from(quantity), Node::from))
        }))
        .filled(),
        other => Node::from(other),
    };
    let parts = resources.iter().map(|(key, part)| match key.as_str() {
        "limits" | "requests" => (key.clone().into(), quantities(part)),
        _ => (key.clone().into(), Node::from(part)),
    });
    Some(Node::map(parts).filled()).filter(|resources| *resources != Node::Absent)
}

fn is_end_actor(subject: &Subject<'_>) -> bool {
    END_ACTORS.contains(&subject.identity.actor.as_str())
}

/// A part of a manifest from Kubernetes' own types.
fn of_kubernetes(part: impl Serialize) -> Node {
    serde_json::to_value(part).expect("a Kubernetes type is JSON").into()
}

/// The number of pods that are wanted: what the live object says, and 1 if it says nothing.
pub fn wanted(live: &Live) -> i64 {
    live.spec.replicas.unwrap_or(1)
}

/// A number in the live status: absent means 0 once the controller has looked at the object, unknown before.
pub fn counted(live: &Live, number: Option<i64>) -> Option<i64> {
    live.status.observed_generation?;
    Some(number.unwrap_or(0))
}

/// True once the controller has seen the newest spec.
pub fn is_seen(live: &Live) -> bool {
    let generation = live.metadata.generation.unwrap_or(0);
    live.status.observed_generation.is_some_and(|observed| observed >= generation)
}

/// True once the latest rollout has completed; waking from a nap later does not take that back.
pub fn is_rolled_out(live: &Live) -> bool {
    is_seen(live) && has_rolled_out(live)
}

/// True if the last rollout that the controller has looked at has completed.
pub fn has_rolled_out(live: &Live) -> bool {
    let conditions = &live.status.conditions;
    let progressing = condition(conditions, "Progressing");
    let done =
        progressing.is_some_and(|progress| progress.status == "True" && progress.reason == "NewReplicaSetAvailable");
    done && !is_true(conditions, "ReplicaFailure")
}
