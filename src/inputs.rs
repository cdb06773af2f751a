//! What one call is given: the composite, the flavors and settings that were asked for, and what is observed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::de::Error as _;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::api::{Condition, Object, Queue};
use crate::problem::Problems;
use crate::tree;
use crate::wire::{At, Fault, RawStruct, ReadError, if_right, to_struct};
use crate::words::Words;

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
    /// Only what is wrong or doubtful is wanted, so nothing has to be designed.
    pub only_checks: bool,
    /// Calls like this one come again and again, so it pays to remember what was worked out.
    pub recurs: bool,
    /// Unknown fields of the actor are problems (files) rather than warnings (a cluster, whose XRD may be newer than this function).
    pub strict: bool,
}

/// The XAsyncActor, as much of it as somebody reads.
#[derive(Clone, Debug, Default)]
pub struct Composite {
    /// Name, namespace and labels.
    pub metadata: Metadata,
    /// The actor's spec as its user wrote it: without [`CROSSPLANES`], which [`Said`] leaves out.
    pub spec: Arc<Words>,
    /// The claim that `spec.claimRef` names.
    pub claim: ClaimRef,
    /// What we and Crossplane last said of it.
    pub status: CompositeStatus,
}

impl Composite {
    /// Reads a composite whose `spec` is read already.
    ///
    /// # Errors
    /// The first thing that is not what it should be, of what somebody reads.
    pub fn read(object: &RawStruct, spec: &Arc<Words>) -> Result<Self, ReadError> {
        At::read(object, ["metadata", "spec", "status"], |_, [metadata, noted, status]| {
            Ok(Self {
                metadata: Metadata::read(&metadata)?,
                spec: Arc::clone(spec),
                claim: if_right(ClaimRef::read(&noted))?,
                status: CompositeStatus::read(&status)?,
            })
        })
    }

    /// Reads a composite from a file.
    ///
    /// # Errors
    /// As for [`Composite::read`].
    pub fn of_tree(composite: &Value) -> Result<Self, ReadError> {
        let mut head = composite.clone();
        let spec = head.get_mut("spec").map(Value::take).unwrap_or_default();
        if let Some(claim) = spec.get("claimRef") {
            head["spec"] = json!({ "claimRef": claim });
        }
        let Said(spec) = serde_json::from_value(spec).map_err(ReadError::custom)?;
        Self::read(&to_struct(&tree::rounded(&head))?, &Words::of_tree(spec).into())
    }
}

/// The claim of a composite, as Crossplane 1 notes it. Texts are empty when unset, or when they are no texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimRef {
    /// The claim's name.
    pub name: SmolStr,
    /// The claim's namespace.
    pub namespace: SmolStr,
}

impl ClaimRef {
    fn read(spec: &At<'_, '_>) -> Result<Self, Fault> {
        let [claim] = spec.fields(["claimRef"])?;
        let [name, namespace] = claim.fields(["name", "namespace"])?;
        let text = |at: At<'_, '_>| Ok(if_right(at.string())?.unwrap_or_default());
        Ok(Self { name: text(name)?, namespace: text(namespace)? })
    }
}

/// What the user of a composite says in its spec, beside what Crossplane notes there.
#[derive(Default)]
pub struct Said(pub Value);

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Users)
    }
}

/// Reads what is the user's. A spec that is no map is told later, as what it is.
struct Users;

/// A value of any kind but a map is nobody's but the user's.
macro_rules! users {
    ($($method:ident($type:ty)),*) => {
        $(fn $method<E>(self, value: $type) -> Result<Said, E> {
            Ok(Said(value.into()))
        })*
    };
}

impl<'de> Visitor<'de> for Users {
    type Value = Said;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a spec")
    }

    users! { visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str) }

    fn visit_unit<E>(self) -> Result<Said, E> {
        Ok(Said::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Said, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(access)).map(Said)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Said, A::Error> {
        let mut spec = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if CROSSPLANES.contains(&key.as_str()) {
                access.next_value::<IgnoredAny>()?;
            } else {
                spec.insert(key, access.next_value()?);
            }
        }
        Ok(Said(Value::Object(spec)))
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

/// The metadata of a composite, as much of it as somebody reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata {
    /// The object's name.
    pub name: SmolStr,
    /// The object's namespace; empty when it is cluster-scoped.
    pub namespace: SmolStr,
    /// Labels.
    pub labels: BTreeMap<String, String>,
}

impl Metadata {
    /// Reads metadata.
    ///
    /// # Errors
    /// If a part of it is not what it should be.
    pub fn read(metadata: &At<'_, '_>) -> Result<Self, Fault> {
        let [name, namespace, labels] = metadata.fields(["name", "namespace", "labels"])?;
        let labels = labels.entries()?.map(|label| {
            let (key, value) = label?;
            Ok((key.to_owned(), value.text()?.ok_or_else(|| value.wrong(&"a string"))?.to_owned()))
        });
        Ok(Self {
            name: name.string()?.unwrap_or_default(),
            namespace: namespace.string()?.unwrap_or_default(),
            labels: labels.collect::<Result<_, Fault>>()?,
        })
    }
}

/// The last known status of the composite, as much of it as we fall back on.
#[derive(Clone, Debug, Default)]
pub struct CompositeStatus {
    /// The last known queue URL.
    pub queue_url: Option<SmolStr>,
    /// The last known queue ARN.
    pub queue_identifier: Option<SmolStr>,
    /// The EnvironmentConfig that the actor was last built with.
    pub platform_config: Option<SmolStr>,
    /// The conditions that stand.
    pub conditions: Vec<Condition>,
}

impl CompositeStatus {
    /// Reads a status.
    ///
    /// # Errors
    /// If a part of it is not what it should be.
    pub fn read(status: &At<'_, '_>) -> Result<Self, Fault> {
        let [url, identifier, config, conditions] =
            status.fields(["queueUrl", "queueIdentifier", "platformConfig", "conditions"])?;
        Ok(Self {
            queue_url: url.string()?,
            queue_identifier: identifier.string()?,
            platform_config: config.string()?,
            conditions: Condition::list(&conditions)?,
        })
    }
}

/// An EnvironmentConfig: a flavor or the platform settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvironmentConfig {
    /// Its name.
    pub name: SmolStr,
    /// Its label [`FLAVOR_LABEL`].
    pub flavor: Option<SmolStr>,
    /// Its owner calls it deprecated, and says this about it, perhaps nothing.
    pub deprecated: Option<SmolStr>,
    /// What it holds.
    pub data: Arc<Value>,
}

/// The label by which people list flavors.
pub const FLAVOR_LABEL: &str = "asya.sh/flavor";

impl EnvironmentConfig {
    /// Reads an EnvironmentConfig whose `data` are read already.
    ///
    /// # Errors
    /// The first thing that is not what it should be, of what somebody reads.
    pub fn read(object: &RawStruct, data: &Arc<Value>) -> Result<Self, ReadError> {
        At::read(object, ["metadata"], |_, [metadata]| {
            let [name, labels, annotations] = metadata.fields(["name", "labels", "annotations"])?;
            let [flavor, deprecated] = labels.fields([FLAVOR_LABEL, "asya.sh/deprecated"])?;
            let [message] = annotations.fields(["asya.sh/deprecation-message"])?;
            let is_deprecated = deprecated.text()? == Some("true");
            Ok(Self {
                name: name.string()?.unwrap_or_default(),
                flavor: flavor.string()?,
                deprecated: Some(message.string()?.unwrap_or_default()).filter(|_| is_deprecated),
                data: Arc::clone(data),
            })
        })
    }

    /// Reads an EnvironmentConfig from a file.
    ///
    /// # Errors
    /// As for [`EnvironmentConfig::read`].
    pub fn of_tree(config: &Value) -> Result<Self, ReadError> {
        let head = json!({ "metadata": config.get("metadata") });
        let data = config.get("data").cloned().unwrap_or_default();
        Self::read(&to_struct(&tree::rounded(&head))?, &data.into())
    }
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
        // There are a few, and a key to look one up by would have to be put together.
        let found = self.required.iter().find(|(key, _)| key.strip_prefix(FLAVOR) == Some(name));
        found.map(|(_, items)| items.as_slice())
    }
}

impl Observed {
    /// True if nothing of ours exists yet.
    pub fn is_empty(&self) -> bool {
        self.queue.is_none() && self.objects.is_empty()
    }
}
