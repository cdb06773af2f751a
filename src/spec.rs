//! The resolved spec of an actor: what `package/xrd.yaml` declares, as types. A test compares the two field by field.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The resolved spec: defaults, flavors and the actor's own values, merged and checked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// The actor's name, if it is not the object's.
    pub actor: Option<String>,
    /// The flavors the actor lists.
    #[serde(default)]
    pub flavors: Vec<String>,
    /// `sqs`; older manifests carry it, nobody reads it.
    pub transport: Option<String>,
    /// The image of the user's code.
    pub image: String,
    /// The Python function or method that gets the messages.
    pub handler: String,
    /// When the image is pulled. Default `IfNotPresent`.
    pub image_pull_policy: String,
    /// The Python that runs the handler. Default `python3`.
    pub python_executable: String,
    /// How many pods run while scaling is off. Default 1.
    pub replicas: i64,
    /// Environment of the runtime container.
    #[serde(default)]
    pub env: Vec<EnvVar>,
    /// Keys of Secrets as environment of the runtime container.
    #[serde(default)]
    pub secret_refs: Vec<SecretRef>,
    /// Resources of the runtime container; open.
    pub resources: Option<Value>,
    /// Labels a node must bear; open, but every value is a string.
    pub node_selector: Option<Value>,
    /// Taints the pods tolerate; open.
    #[serde(default)]
    pub tolerations: Vec<Value>,
    /// Volumes of the pod; open.
    #[serde(default)]
    pub volumes: Vec<Value>,
    /// Mounts of the runtime container; open.
    #[serde(default)]
    pub volume_mounts: Vec<Value>,
    /// Containers that run before ours; open but for the name.
    #[serde(default)]
    pub init_containers: Vec<Value>,
    /// Containers that run beside ours; open but for the name.
    #[serde(default)]
    pub sidecars: Vec<Value>,
    /// How KEDA scales the actor.
    pub scaling: Scaling,
    /// Timeouts and retries.
    pub resiliency: Option<Resiliency>,
    /// The routing sidecar.
    #[serde(default)]
    pub sidecar: Sidecar,
    /// Where traces go.
    #[serde(default)]
    pub tracing: Tracing,
    /// State that is kept outside the pod.
    #[serde(default)]
    pub state_proxy: Vec<StateProxy>,
}

/// An environment variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnvVar {
    /// Its name.
    pub name: String,
    /// Its value; a secret, perhaps.
    pub value: Option<String>,
    /// Where its value comes from; open.
    pub value_from: Option<Value>,
}

/// Keys of one Secret as environment variables.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecretRef {
    /// The Secret's name.
    pub secret_name: String,
    /// Which of its keys become which variable.
    pub keys: Vec<SecretKey>,
}

/// One key of a Secret as an environment variable.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecretKey {
    /// The key.
    pub key: String,
    /// The variable's name.
    pub env_var: String,
}

/// How KEDA scales the actor. Times in seconds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scaling {
    /// Whether KEDA scales at all. Default true.
    pub enabled: bool,
    /// The fewest pods, 0 to nap. Default 0.
    pub min_replica_count: i64,
    /// The most pods. Default 10.
    pub max_replica_count: i64,
    /// How often KEDA looks at an idle actor's queue, in seconds. Default 30.
    pub polling_interval: i64,
    /// How long an idle actor waits before it naps, in seconds. Default 300.
    pub cooldown_period: i64,
    /// Messages for each pod. Default 5.
    pub queue_length: i64,
    /// KEDA's `advanced`.
    pub advanced: Option<Advanced>,
    /// Further triggers; open, but metadata values are strings.
    #[serde(default)]
    pub additional_triggers: Vec<Value>,
}

/// The part of KEDA's `advanced` that an actor may set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Advanced {
    /// Whether the number of pods from before KEDA comes back when scaling goes.
    pub restore_to_original_replica_count: Option<bool>,
    /// An expression over trigger names; ours is `queue`.
    pub formula: Option<String>,
    /// What the formula's result is divided by.
    pub target: Option<String>,
    /// The result from which on an idle actor wakes.
    pub activation_target: Option<String>,
    /// `AverageValue` or `Value`.
    pub metric_type: Option<String>,
}

/// Timeouts and retries, which the sidecar applies.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resiliency {
    /// The longest one message may take; a Go duration.
    pub actor_timeout: Option<String>,
    /// Named ways of retrying.
    #[serde(default)]
    pub policies: BTreeMap<String, Policy>,
    /// Which error is retried by which policy; the first match wins.
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// One way of retrying; durations are Go's. In the order of names, in which the sidecar is told.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// `constant`, `linear` or `exponential`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<String>,
    /// The first wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_delay: Option<String>,
    /// Whether waits vary a little.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<bool>,
    /// How often a message is tried, at least once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<i64>,
    /// The longest time all tries may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_duration: Option<String>,
    /// The longest wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_interval: Option<String>,
    /// Actors that get a message no try could handle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_exhausted: Vec<String>,
}

/// Which errors are retried by which policy.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    /// Names of error types.
    pub errors: Vec<String>,
    /// The policy's name.
    pub policy: String,
}

/// The routing sidecar of this actor.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sidecar {
    /// Its image: a reference, or `repository`, `tag` and `pullPolicy`.
    pub image: Option<Value>,
    /// Its pull policy.
    pub image_pull_policy: Option<String>,
    /// Its resources; open.
    pub resources: Option<Value>,
    /// Its environment; wins over ours.
    #[serde(default)]
    pub env: Vec<EnvVar>,
}

/// Where traces go.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Tracing {
    /// The OTLP endpoint.
    pub endpoint: Option<String>,
    /// `grpc` or `http`.
    pub protocol: Option<String>,
}

/// State that is kept outside the pod, seen as a folder by the handler.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StateProxy {
    /// Its name; a container and a socket are called after it.
    pub name: String,
    /// Where the handler sees it.
    pub mount: StateMount,
    /// `buffered` or `passthrough`. Default `buffered`.
    pub write_mode: Option<String>,
    /// The container that keeps it.
    pub connector: Connector,
}

/// Where the handler sees the state.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateMount {
    /// An absolute path.
    pub path: String,
}

/// The container that keeps the state.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Connector {
    /// Its image.
    pub image: String,
    /// Its pull policy. Default `IfNotPresent`.
    pub image_pull_policy: Option<String>,
    /// Its environment.
    #[serde(default)]
    pub env: Vec<EnvVar>,
    /// Its resources; open.
    pub resources: Option<Value>,
}
