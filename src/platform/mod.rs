//! Platform settings: built-in defaults, then the step's input, then the EnvironmentConfig that the input names.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::go;

mod defaults;
pub mod explain;
mod image;
mod layers;
mod rules;
mod unknown;

pub use image::Image;
pub use layers::{Layer, config_in_use, config_name, forgotten_config, is_for_flavors_only, layers, settle};

/// The settings of a whole installation, all three layers merged. The units and bounds stand in `package-function/input.yaml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Platform {
    /// The EnvironmentConfig that holds further settings; empty for none.
    pub environment_config: String,
    /// `[resolve-flavors]`, or empty for everything.
    pub stages: Vec<Stage>,
    /// AWS region of queues and triggers.
    pub aws_region: String,
    /// AWS account, twelve digits; empty when nothing needs it.
    pub aws_account_id: String,
    /// The provider configuration of the Queue.
    pub aws_provider_config: AwsProviderConfig,
    /// Tags of every queue.
    pub aws_resource_tags: BTreeMap<String, String>,
    /// Queue attributes.
    pub sqs: Sqs,
    /// The provider configuration of wrapped Kubernetes objects.
    pub kubernetes_provider_config: Named,
    /// AWS identity of the pods.
    pub irsa: Irsa,
    /// How KEDA authenticates.
    pub keda: Keda,
    /// The routing sidecar.
    pub sidecar: Sidecar,
    /// How flavors are merged.
    pub flavors: Flavors,
    /// How long an answer holds, if the settings say so; a Go duration.
    #[serde(default, deserialize_with = "read_ttl")]
    pub ttl: Option<Duration>,
}

/// A stage that may be asked for alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Write the resolved spec into the desired composite for other functions.
    ResolveFlavors,
}

/// The provider-aws-sqs side.
#[derive(Clone, Debug, Deserialize)]
pub struct AwsProviderConfig {
    /// Name of the ProviderConfig.
    pub name: String,
    /// Another endpoint than AWS's own.
    pub endpoint: Endpoint,
}

/// An endpoint other than AWS's own, for KEDA.
#[derive(Clone, Debug, Deserialize)]
pub struct Endpoint {
    /// Its URL; empty for AWS.
    pub url: String,
}

/// A reference by name.
#[derive(Clone, Debug, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
}

/// Queue attributes; seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sqs {
    /// How long a received message stays hidden from others, in seconds.
    pub visibility_timeout_seconds: u32,
    /// How long a message is kept, in seconds.
    pub message_retention_seconds: u32,
    /// How long a receive waits for messages, in seconds.
    pub receive_wait_time_seconds: u32,
    /// Where messages go that fail too often.
    pub dlq: Dlq,
    /// Whether the queue goes with its actor.
    pub deletion_policy: DeletionPolicy,
}

/// Where messages go that fail too often.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dlq {
    /// None, or one dead-letter queue a namespace.
    pub mode: DlqMode,
    /// How often a message is received before it goes there.
    pub max_receive_count: i64,
}

/// See [`Dlq::mode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum DlqMode {
    /// No dead-letter queue.
    None,
    /// `asya-{namespace}-dlq`, which must exist.
    Shared,
}

/// Whether the real queue goes with the actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum DeletionPolicy {
    /// It does.
    Delete,
    /// It stays.
    Orphan,
}

/// AWS identity of the pods.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Irsa {
    /// Whether pods get a ServiceAccount of ours.
    pub enabled: bool,
    /// By annotation, or by an association that EKS keeps.
    pub mode: IrsaMode,
    /// The ServiceAccount's name; `{actor}` and `{namespace}` are filled in.
    pub service_account_name: String,
    /// The role, taken as it is.
    pub role_arn: String,
    /// The role with `{namespace}`, `{actor}` and `ACCOUNT_ID` to fill in.
    pub role_arn_pattern: String,
}

/// See [`Irsa::mode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum IrsaMode {
    /// Annotation `eks.amazonaws.com/role-arn`.
    #[serde(rename = "IRSA")]
    Irsa,
    /// EKS Pod Identity: no annotation.
    PodIdentity,
}

/// How KEDA authenticates at AWS.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Keda {
    /// By KEDA's own identity or by keys in a Secret.
    pub auth_provider: AuthProvider,
    /// The Secret, for `secret`.
    pub secret_ref: SecretRef,
    /// Watch the ScaledObject (KEDA writes its status at every poll).
    pub watch: bool,
}

/// See [`Keda::auth_provider`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AuthProvider {
    /// KEDA's own identity.
    PodIdentity,
    /// Keys in a Secret of the actor's namespace.
    Secret,
}

/// A Secret with AWS keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretRef {
    /// The Secret's name.
    pub name: String,
    /// The key that holds the access key id.
    pub access_key_id_key: String,
    /// The key that holds the secret access key.
    pub secret_access_key_key: String,
}

/// The routing sidecar. Texts are empty when unset.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sidecar {
    /// Its image, filled up from the built-in one.
    pub image: Image,
    /// Its pull policy; wins over the one the object form of `image` brings.
    pub image_pull_policy: Option<String>,
    /// Its resources.
    pub resources: Value,
    /// Where sidecar and runtime meet.
    pub socket_dir: String,
    /// The ConfigMap that holds `asya_runtime.py`.
    pub runtime_config_map: String,
    /// Where `asya_runtime.py` is mounted.
    pub runtime_mount_path: String,
    /// The gateway's URL.
    #[serde(rename = "gatewayURL")]
    pub gateway_url: String,
    /// Another SQS endpoint than AWS's own.
    pub sqs_endpoint: String,
    /// How long a receive waits, as text.
    pub sqs_wait_time_seconds: String,
    /// A Secret whose keys become environment variables of the sidecar.
    pub aws_creds_secret: String,
    /// The sidecar's region; empty for the platform's.
    pub aws_region: String,
    /// Where traces go.
    pub tracing_endpoint: String,
    /// How traces go there.
    pub tracing_protocol: String,
}

/// How flavors are merged.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Flavors {
    /// What an inline field replaces.
    pub inline: Inline,
    /// What becomes of unknown fields in a flavor.
    pub unknown_fields: UnknownFields,
}

/// See [`Flavors::inline`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Inline {
    /// The leaves it sets.
    Leaf,
    /// The whole top-level field.
    Field,
}

/// See [`Flavors::unknown_fields`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum UnknownFields {
    /// They are problems.
    Reject,
    /// They are dropped with a warning.
    Warn,
}

fn read_ttl<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Ok(ttl(&Value::deserialize(deserializer)?))
}

/// A TTL: a Go duration, or the number 0.
fn ttl(value: &Value) -> Option<Duration> {
    match value {
        Value::Number(number) if number.as_i64() == Some(0) => Some(Duration::ZERO),
        Value::String(text) => go::duration(text),
        _ => None,
    }
}

impl Platform {
    /// The built-in defaults alone.
    pub fn built_in() -> Self {
        serde_json::from_value(defaults::defaults()).expect("the built-in defaults are settings")
    }

    /// How long an answer holds: the settings, else `--ttl`, else a minute.
    pub fn ttl(&self, flag: Option<Duration>) -> Duration {
        self.ttl.or(flag).unwrap_or(Duration::from_secs(60))
    }

    /// True if only flavors are to be resolved.
    pub fn only_resolves_flavors(&self) -> bool {
        self.stages == [Stage::ResolveFlavors]
    }

    /// The pods' ServiceAccount of an actor, if they get one.
    pub fn service_account(&self, namespace: &str, actor: &str) -> Option<String> {
        self.irsa.enabled.then(|| fill(&self.irsa.service_account_name, namespace, actor))
    }

    /// True if each actor has a ServiceAccount of its own.
    pub fn account_is_own(&self) -> bool {
        self.irsa.service_account_name.contains("{actor}")
    }

    /// The role of an actor's pods; empty when no annotation is wanted.
    pub fn role_arn(&self, namespace: &str, actor: &str) -> String {
        match self.irsa.mode {
            IrsaMode::PodIdentity => String::new(),
            IrsaMode::Irsa if !self.irsa.role_arn.is_empty() => self.irsa.role_arn.clone(),
            IrsaMode::Irsa => {
                let pattern = fill(&self.irsa.role_arn_pattern, namespace, actor);
                if self.aws_account_id.is_empty() {
                    pattern
                } else {
                    pattern.replace("ACCOUNT_ID", &self.aws_account_id)
                }
            }
        }
    }

    /// The SQS endpoint that KEDA asks; empty for AWS's own.
    pub fn keda_endpoint(&self) -> &str {
        let url = &self.aws_provider_config.endpoint.url;
        if url.is_empty() { &self.sidecar.sqs_endpoint } else { url }
    }
}

fn fill(pattern: &str, namespace: &str, actor: &str) -> String {
    pattern.replace("{namespace}", namespace).replace("{actor}", actor)
}
