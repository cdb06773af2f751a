//! What one call is given: the composite, the flavors and settings that were asked for, and what is observed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::api::{Condition, Object, Queue};
use crate::problem::Problems;

/// The key under which the platform settings are asked for.
pub const PLATFORM_KEY: &str = "platform";

/// The key under which a flavor is asked for.
pub fn flavor_key(name: &str) -> String {
    format!("flavor-{name}")
}

/// Everything one call knows, from a gRPC request or from files.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The observed XAsyncActor.
    pub composite: Composite,
    /// The `input` of the Composition's step; absent means built-in settings.
    pub input: Option<Value>,
    /// The answers to what was asked for, by key. A key that is absent was not asked yet; an empty list means there is no such object.
    pub required: BTreeMap<String, Vec<EnvironmentConfig>>,
    /// The composed resources of ours that exist.
    pub observed: Observed,
    /// The names of composed resources that earlier steps of the pipeline desire.
    pub foreign: BTreeSet<String>,
    /// What could not be read at all.
    pub unreadable: Problems,
    /// The caller says what it can do, and required resources are not among it.
    pub cannot_ask: bool,
    /// How long an answer holds unless the platform settings say otherwise (`--ttl`).
    pub ttl: Option<Duration>,
    /// Unknown fields of the actor are problems (files) rather than warnings (a cluster, whose XRD may be newer than this function).
    pub strict: bool,
}

/// The XAsyncActor, as much of it as somebody reads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Composite {
    /// Name, namespace and labels.
    pub metadata: Metadata,
    /// The actor's spec as the user (and Crossplane's own machinery) wrote it.
    #[serde(deserialize_with = "or_default")]
    pub spec: Value,
    /// What we and Crossplane last said of it.
    #[serde(deserialize_with = "or_default")]
    pub status: CompositeStatus,
}

/// The metadata of any object, as much of it as somebody reads.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// The object's name.
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// The object's namespace; empty when it is cluster-scoped.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// Labels.
    #[serde(deserialize_with = "or_default")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(deserialize_with = "or_default")]
    pub annotations: BTreeMap<String, String>,
}

/// The last known status of the composite, as much of it as we fall back on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompositeStatus {
    /// The last known queue URL.
    pub queue_url: Option<String>,
    /// The last known queue ARN.
    pub queue_identifier: Option<String>,
    /// The EnvironmentConfig that the actor was last built with.
    pub platform_config: Option<String>,
    /// The conditions that stand.
    #[serde(deserialize_with = "or_default")]
    pub conditions: Vec<Condition>,
}

/// An EnvironmentConfig: a flavor or the platform settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvironmentConfig {
    /// Its name, labels and annotations.
    pub metadata: Metadata,
    /// What it holds.
    #[serde(deserialize_with = "shared")]
    pub data: Arc<Value>,
}

/// The composed resources of ours that exist, by the names of [`crate::resources`].
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// `sqs-queue`.
    pub queue: Option<Queue>,
    /// The wrapped Kubernetes objects, by composition-resource name.
    pub objects: BTreeMap<String, Object>,
}

impl Observed {
    /// True if nothing of ours exists yet.
    pub fn is_empty(&self) -> bool {
        self.queue.is_none() && self.objects.is_empty()
    }
}

fn shared<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Value>, D::Error> {
    Value::deserialize(deserializer).map(Arc::new)
}

/// Reads a value, taking an explicit null for the default.
pub fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
