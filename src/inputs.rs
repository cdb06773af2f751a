//! What one call is given: the composite, the flavors and settings that were asked for, and what is observed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::api::{Condition, Object, Queue};
use crate::problem::Problems;

/// The key under which the platform settings are asked for.
pub const PLATFORM_KEY: &str = "platform";

/// The key under which a flavor is asked for.
pub fn flavor_key(name: &str) -> String {
    [FLAVOR, name].concat()
}

/// What the keys of flavors begin with.
pub const FLAVOR: &str = "flavor-";

/// Everything one call knows, from a gRPC request or from files.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The observed XAsyncActor.
    pub composite: Composite,
    /// The `input` of the Composition's step; absent means built-in settings.
    pub input: Option<Arc<Value>>,
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
    /// The resolved spec is wanted too, for the log.
    pub tell_spec: bool,
    /// Calls like this one come again and again, so it pays to remember what was worked out.
    pub recurs: bool,
    /// Unknown fields of the actor are problems (files) rather than warnings (a cluster, whose XRD may be newer than this function).
    pub strict: bool,
}

/// The XAsyncActor, as much of it as somebody reads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Written")]
pub struct Composite {
    /// Name, namespace and labels.
    pub metadata: Metadata,
    /// The actor's spec as its user wrote it: without [`CROSSPLANES`], which reading takes out.
    pub spec: Arc<Value>,
    /// The claim that `spec.claimRef` names.
    pub claim: ClaimRef,
    /// What we and Crossplane last said of it.
    pub status: CompositeStatus,
}

/// The claim of a composite, as Crossplane 1 notes it. Texts are empty when unset, or when they are no texts.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct ClaimRef {
    /// The claim's name.
    #[serde(deserialize_with = "if_readable")]
    pub name: String,
    /// The claim's namespace.
    #[serde(deserialize_with = "if_readable")]
    pub namespace: String,
}

/// A claim that is none if it is not what a claim should be.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Noted(#[serde(deserialize_with = "if_readable")] pub ClaimRef);

/// A composite as it is written: its spec holds Crossplane's own fields beside the user's.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    metadata: Metadata,
    spec: Said,
    #[serde(deserialize_with = "or_default")]
    status: CompositeStatus,
}

impl From<Written> for Composite {
    fn from(Written { metadata, spec: Said { spec, claim }, status }: Written) -> Self {
        Self { metadata, spec: spec.into(), claim, status }
    }
}

/// A spec, parted into what its user said and what Crossplane noted.
#[derive(Default)]
struct Said {
    spec: Value,
    claim: ClaimRef,
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Parted)
    }
}

/// Parts a spec. One that is no map is told later, as what it is.
struct Parted;

/// A value of any kind but a map is nobody's but the user's.
macro_rules! users {
    ($($method:ident($type:ty)),*) => {
        $(fn $method<E>(self, value: $type) -> Result<Said, E> {
            Ok(Said { spec: value.into(), claim: ClaimRef::default() })
        })*
    };
}

impl<'de> Visitor<'de> for Parted {
    type Value = Said;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a spec")
    }

    users! { visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str) }

    fn visit_unit<E>(self) -> Result<Said, E> {
        Ok(Said::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Said, A::Error> {
        let spec = Value::deserialize(SeqAccessDeserializer::new(access))?;
        Ok(Said { spec, claim: ClaimRef::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Said, A::Error> {
        let (mut spec, mut claim) = (Map::new(), ClaimRef::default());
        while let Some(key) = access.next_key::<String>()? {
            match key.as_str() {
                "claimRef" => Noted(claim) = access.next_value()?,
                other if CROSSPLANES.contains(&other) => drop(access.next_value::<IgnoredAny>()?),
                _ => drop(spec.insert(key, access.next_value()?)),
            }
        }
        Ok(Said { spec: Value::Object(spec), claim })
    }
}

/// Crossplane's own fields in the spec of a claim or composite; they take no part.
pub const CROSSPLANES: &[&str] = &[
    "compositionRef",
    "compositionSelector",
    "compositionRevisionRef",
    "compositionRevisionSelector",
    "compositionUpdatePolicy",
    "claimRef",
    "resourceRefs",
    "resourceRef",
    "writeConnectionSecretToRef",
    "publishConnectionDetailsTo",
    "compositeDeletePolicy",
    "environmentConfigRefs",
    "crossplane",
];

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

impl Inputs {
    /// What was found when the flavor of this name was asked for; `None` if it was not asked for yet.
    pub fn flavor(&self, name: &str) -> Option<&[EnvironmentConfig]> {
        let is_it = |key: &str| key.strip_prefix(FLAVOR) == Some(name);
        self.required.iter().find(|(key, _)| is_it(key)).map(|(_, found)| found.as_slice())
    }
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

/// Reads a part of somebody else's object, which says nothing if it is not what it should be.
pub fn if_readable<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(T::deserialize(deserializer).unwrap_or_default())
}
