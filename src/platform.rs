//! Platform settings: built-in defaults, then the step's input, then the EnvironmentConfig that the input names.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::go;
use crate::inputs::{Inputs, PLATFORM_KEY};
use crate::path::{Path, Step};
use crate::problem::{Kind, Problem, Problems, Source, nearest};
use crate::schema::{BreachKind, Schema, Type};
use crate::tree;

pub mod explain;
mod rules;

/// The schema of the settings: the CRD that the Function package carries.
static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let crd = serde_yaml::from_str(include_str!("../package-function/input.yaml")).expect("a packaged file is YAML");
    Schema::of_crd(&crd, "v1beta1").expect("the packaged CRD is a schema")
});

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
    pub max_receive_count: u32,
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
    /// Its pull policy.
    pub image_pull_policy: String,
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

/// A container image in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Registry and name.
    pub repository: String,
    /// With its separator: `:v1`, `@sha256:…`, or empty.
    pub suffix: String,
    /// The pull policy the object form brings.
    pub pull_policy: Option<String>,
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

/// The settings nobody has to set.
fn defaults() -> Value {
    json!({
        "environmentConfig": "",
        "stages": [],
        "awsRegion": "us-east-1",
        "awsAccountId": "",
        "awsProviderConfig": {"name": "default", "endpoint": {"url": ""}},
        "awsResourceTags": {},
        "sqs": {
            "visibilityTimeoutSeconds": 30,
            "messageRetentionSeconds": 345_600,
            "receiveWaitTimeSeconds": 20,
            "dlq": {"mode": "None", "maxReceiveCount": 3},
            "deletionPolicy": "Delete",
        },
        "kubernetesProviderConfig": {"name": "in-cluster"},
        "irsa": {"enabled": false, "mode": "IRSA", "serviceAccountName": "asya-actors", "roleArn": "", "roleArnPattern": ""},
        "keda": {
            "authProvider": "podIdentity",
            "secretRef": {"name": "", "accessKeyIdKey": "AWS_ACCESS_KEY_ID", "secretAccessKeyKey": "AWS_SECRET_ACCESS_KEY"},
            "watch": false,
        },
        "sidecar": {
            "image": DEFAULT_IMAGE,
            "imagePullPolicy": "IfNotPresent",
            "resources": {},
            "socketDir": "/var/run/asya",
            "runtimeConfigMap": "asya-runtime",
            "runtimeMountPath": "/opt/asya/asya_runtime.py",
            "gatewayURL": "",
            "sqsEndpoint": "",
            "sqsWaitTimeSeconds": "",
            "awsCredsSecret": "",
            "awsRegion": "",
            "tracingEndpoint": "",
            "tracingProtocol": "",
        },
        "flavors": {"inline": "Leaf", "unknownFields": "Reject"},
    })
}

const DEFAULT_IMAGE: &str = "ghcr.io/deliveryhero/asya-sidecar:v0.5.3";

/// The name of the EnvironmentConfig that the input names, if it is one that can be asked for.
pub fn config_name(inputs: &Inputs) -> Option<&str> {
    let name = inputs.input.as_ref()?.get("environmentConfig")?.as_str()?;
    is_object_name(name).then_some(name)
}

/// True for what Kubernetes takes as an object's name: a DNS subdomain of at most 253 characters.
pub fn is_object_name(name: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

/// True for a DNS label of at most 63 characters.
pub fn is_dns_label(name: &str) -> bool {
    name.len() <= 63 && !name.contains('.') && is_object_name(name)
}

/// The EnvironmentConfig of the settings that this call found, by name.
pub fn config_in_use(inputs: &Inputs) -> Option<&str> {
    let found = inputs.required.get(PLATFORM_KEY).is_some_and(|items| !items.is_empty());
    config_name(inputs).filter(|_| found)
}

/// One layer of settings and who brought it.
pub struct Layer {
    /// Who brought it.
    pub source: Source,
    /// The settings it makes.
    pub values: Value,
}

/// The layers, lowest rank first, and what is wrong with them.
pub fn layers(inputs: &Inputs) -> (Vec<Layer>, Problems) {
    let mut problems = Problems::default();
    let mut layers = vec![Layer { source: Source::Default, values: defaults() }];
    if let Some(input) = &inputs.input {
        layers.push(read_layer(Source::Input, input, &["apiVersion", "kind", "metadata"], &mut problems));
    }
    let config = inputs.required.get(PLATFORM_KEY).and_then(|items| items.first());
    if let (Some(name), Some(config)) = (config_name(inputs), config) {
        let source = Source::Platform(name.to_owned());
        let layer = read_layer(source.clone(), &config.data, &[], &mut problems);
        for key in ["environmentConfig", "stages"].into_iter().filter(|key| layer.values.get(key).is_some()) {
            let what = "cannot be set in an EnvironmentConfig";
            problems.push(problem(Path::keys(key), &source, what).hint("set it in the Composition step's `input`"));
        }
        layers.push(layer);
    }
    (layers, problems)
}

/// The settings all layers make together.
///
/// # Errors
/// One [`Problem`] of kind [`Kind::Platform`] for each unknown key and each bad value.
pub fn settle(inputs: &Inputs) -> Result<Platform, Problems> {
    let (layers, mut problems) = layers(inputs);
    problems.extend(lost_config(inputs));
    let mut merged = Value::Null;
    for layer in &layers {
        tree::overlay(&mut merged, &layer.values);
    }
    if problems.is_empty() {
        problems.extend(rules::check(&merged, &layers));
    }
    problems.unless_empty(())?;
    serde_json::from_value(merged).map_err(|error| {
        Problem::value(Path::root(), Source::Nobody, format!("the platform settings cannot be read: {error}"))
            .of_kind(Kind::Platform)
            .into()
    })
}

/// Settings that an actor was built with and that are gone: building on without them could move its queue.
fn lost_config(inputs: &Inputs) -> Option<Problem> {
    let before = inputs.composite.status.platform_config.as_deref().filter(|name| !name.is_empty())?;
    let name = config_name(inputs)?;
    let missing = inputs.required.get(PLATFORM_KEY).is_some_and(Vec::is_empty);
    (missing && !inputs.observed.is_empty()).then(|| {
        let what = if name == before {
            format!("EnvironmentConfig `{name}` is gone, and this actor was built with it")
        } else {
            format!("EnvironmentConfig `{name}` does not exist, and this actor was built with `{before}`")
        };
        problem(Path::keys("environmentConfig"), &Source::Input, &what)
            .hint(format!("create EnvironmentConfig `{name}`; nothing was changed"))
    })
}

fn problem(path: Path, source: &Source, what: &str) -> Problem {
    Problem::value(path, source.clone(), what).of_kind(Kind::Platform)
}

/// Reads one layer: drops nulls and `skip`, keeps a number where a text belongs as its digits, checks the rest.
fn read_layer(source: Source, values: &Value, skip: &[&str], problems: &mut Problems) -> Layer {
    let mut values = tree::without_nulls(values).into_owned();
    match &mut values {
        Value::Object(map) => map.retain(|key, _| !skip.contains(&key.as_str())),
        Value::Null => values = Value::Object(Map::new()),
        other => {
            let what = format!("must be a map of settings, not {}", tree::shape(other));
            problems.push(problem(Path::root(), &source, &what));
            values = Value::Object(Map::new());
        }
    }
    digits_for_texts(&mut values, &SCHEMA);
    for breach in SCHEMA.breaches(&values, &Path::root(), &|_| false) {
        let (hint, what) = match breach.kind {
            BreachKind::Unknown => (unknown_hint(&breach.path).or(breach.hint), "unknown key".to_owned()),
            _ => (breach.hint, breach.what),
        };
        let mut found = problem(breach.path, &source, &what);
        found.hint = hint;
        problems.push(found);
    }
    Layer { source, values }
}

/// `awsAccountId: 123456789012` means the text of these digits.
fn digits_for_texts(value: &mut Value, schema: &Schema) {
    match value {
        Value::Number(number) if schema.kind() == Some(Type::String) => *value = Value::String(number.to_string()),
        Value::Object(map) => {
            for (key, value) in map {
                if let Some(schema) = schema.field(key) {
                    digits_for_texts(value, schema);
                }
            }
        }
        _ => {}
    }
}

/// Keys people know from the Helm chart and that are no settings of ours.
const HELM: &[(&str, &str)] = &[
    ("transport", "a Helm value; the Composition decides the transport"),
    ("functions", "a Helm value; this function replaces the others"),
    ("providers", "a Helm value; the providers belong to the install kit"),
    ("providerConfigs", "a Helm value; the ProviderConfigs belong to the install kit"),
    ("actorNamespace", "a Helm value; the runtime ConfigMap belongs to the install kit"),
    ("runtime", "a Helm value; the runtime ConfigMap belongs to the install kit"),
    ("awsProviderConfig.credentialsSource", "a Helm value; the ProviderConfig belongs to the install kit"),
    ("awsProviderConfig.secretRef", "a Helm value; the ProviderConfig belongs to the install kit"),
    ("awsProviderConfig.endpoint.enabled", "a Helm value; `awsProviderConfig.endpoint.url` alone switches it on"),
    ("awsProviderConfig.endpoint.localstackEnabled", "a Helm value; set `awsProviderConfig.endpoint.url`"),
    ("sidecar.sqsLocalstackEnabled", "a Helm value; set `sidecar.sqsEndpoint`"),
    ("sidecar.rabbitmqURL", "a Helm value of another transport"),
    ("sidecar.rabbitmqCredsSecret", "a Helm value of another transport"),
    ("sidecar.pubsubEndpoint", "a Helm value of another transport"),
    ("sidecar.gcpCredsSecret", "a Helm value of another transport"),
    ("sidecar.gcpProjectId", "a Helm value of another transport"),
    ("sqs.dlq.enabled", "a Helm value; set `sqs.dlq.mode` to None or Shared"),
    ("rabbitmq", "a Helm value of another transport"),
    ("pubsub", "a Helm value of another transport"),
    ("gcpProviderConfig", "a Helm value of another transport"),
];

/// What to do about an unknown key: where a Helm value went, else the nearest key anywhere.
fn unknown_hint(path: &Path) -> Option<String> {
    let printed = path.to_string();
    let helm = HELM.iter().find(|(key, _)| *key == printed);
    if let Some((_, hint)) = helm {
        return Some((*hint).to_owned());
    }
    let Some(Step::Key(name)) = path.steps().last() else { return None };
    if SCHEMA.field(name).is_some() {
        return Some(format!("`{name}` is a key of the top level"));
    }
    nearest(name, SCHEMA.properties().map(|(key, _)| key))
        .filter(|_| path.steps().len() == 1)
        .map(|near| format!("`{near}`"))
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

impl Image {
    /// Reads `registry/name:tag`, or a map of `repository`, `tag` and `pullPolicy` whose missing parts come from `base`.
    pub fn read(value: &Value, base: &Image) -> Self {
        let Value::Object(map) = value else { return Self::split(value.as_str().unwrap_or_default()) };
        let text = |key: &str| map.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        Self {
            repository: text("repository").unwrap_or(&base.repository).to_owned(),
            suffix: text("tag").map_or_else(|| base.suffix.clone(), |tag| format!(":{tag}")),
            pull_policy: text("pullPolicy").map(str::to_owned).or_else(|| base.pull_policy.clone()),
        }
    }

    fn split(reference: &str) -> Self {
        let name = reference.rfind('/').map_or(0, |slash| slash + 1);
        let at = reference[name..].find([':', '@']).map_or(reference.len(), |at| name + at);
        Self { repository: reference[..at].to_owned(), suffix: reference[at..].to_owned(), pull_policy: None }
    }

    /// The reference as Kubernetes takes it.
    pub fn reference(&self) -> String {
        format!("{}{}", self.repository, self.suffix)
    }
}

impl<'de> Deserialize<'de> for Image {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Image::read(&Value::deserialize(deserializer)?, &Image::split(DEFAULT_IMAGE)))
    }
}

impl Platform {
    /// The built-in defaults alone.
    pub fn built_in() -> Self {
        serde_json::from_value(defaults()).expect("the built-in defaults are settings")
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
