//! `kubernetes.crossplane.io/v1alpha2` Object, provider-kubernetes' wrapper, as much of it as we read.

use serde::Deserialize;
use serde_json::Value;

use super::Condition;
use crate::inputs::{if_readable, or_default};
use crate::unread::Unread;
use crate::wire::{NoObject, RawStruct, ReadError, from_struct, to_struct};

/// An observed Object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Object {
    /// Its kind; anything but `Object` is not ours.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    #[serde(deserialize_with = "or_default")]
    metadata: OwnMetadata,
    /// What was asked of the provider, whole: an Object may have to be emitted as it is observed.
    #[serde(skip)]
    pub spec: Unread,
    #[serde(deserialize_with = "or_default")]
    status: Status,
}

/// Where the live object stands.
const LIVE: [&str; 3] = ["status", "atProvider", "manifest"];

impl Object {
    /// Reads an observed Object.
    ///
    /// # Errors
    /// The first thing that is not what it should be, of what somebody reads.
    pub fn read(object: &RawStruct) -> Result<Self, ReadError> {
        let mut read: Object = from_struct(object)?;
        match read.attach(object) {
            // Written as nobody writes it; the same in usual form is as good.
            Err((_, NoObject::Odd)) => {
                let usual = to_struct(&from_struct::<Value>(object)?)?;
                read.attach(&usual).map_err(|(keys, _)| ReadError::no_object(keys))?;
            }
            attached => attached.map_err(|(keys, _)| ReadError::no_object(keys))?,
        }
        Ok(read)
    }

    /// Takes the parts that are kept unread.
    fn attach(&mut self, object: &RawStruct) -> Result<(), (&'static [&'static str], NoObject)> {
        let inside = |keys: &'static [&'static str]| Unread::inside(object, keys).map_err(|why| (keys, why));
        self.spec = inside(&["spec"])?.unwrap_or_default();
        if let (Some(live), Some(whole)) = (&mut self.status.at_provider.manifest, inside(&LIVE)?) {
            live.whole = whole;
        }
        Ok(())
    }
}

/// The wrapper's own metadata, not the wrapped object's.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct OwnMetadata {
    #[serde(deserialize_with = "or_default")]
    labels: OwnLabels,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct OwnLabels {
    #[serde(rename = "asya.sh/actor")]
    actor: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    #[serde(deserialize_with = "or_default")]
    at_provider: AtProvider,
    #[serde(deserialize_with = "or_default")]
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct AtProvider {
    manifest: Option<Live>,
}

impl Object {
    /// The live object that the wrapper names, up to 10 minutes old unless the provider watches.
    pub fn live(&self) -> Option<&Live> {
        self.status.at_provider.manifest.as_ref()
    }

    /// Something at a pointer into the manifest that was last asked for.
    pub fn asked<'a, T: Deserialize<'a>>(&'a self, pointer: &str) -> Option<T> {
        self.spec.at(&format!("/forProvider/manifest{pointer}"))
    }

    /// The name of the real object, else of the one that was asked for.
    pub fn name(&self) -> Option<&str> {
        self.real("/metadata/name", |live| &live.metadata.name)
    }

    /// The namespace of the real object, else of the one that was asked for.
    pub fn namespace(&self) -> Option<&str> {
        self.real("/metadata/namespace", |live| &live.metadata.namespace)
    }

    fn real(&self, pointer: &str, part: fn(&Live) -> &Option<String>) -> Option<&str> {
        let live = self.live().and_then(|live| part(live).as_deref());
        live.or_else(|| self.asked(pointer)).filter(|text| !text.is_empty())
    }

    /// The actor that the wrapper's label names.
    pub fn actor(&self) -> Option<&str> {
        self.metadata.labels.actor.as_deref()
    }

    /// The wrapper's own conditions.
    pub fn conditions(&self) -> &[Condition] {
        &self.status.conditions
    }

    /// True if the provider deletes the wrapped object together with the wrapper.
    pub fn deletes(&self) -> bool {
        let holds = |item: &str, list: &[Value]| list.iter().any(|policy| policy.as_str() == Some(item));
        let orphan = self.spec.at("/deletionPolicy") == Some("Orphan");
        match self.spec.at::<Vec<Value>>("/managementPolicies") {
            Some(list) if !list.is_empty() => holds("Delete", &list) || (holds("*", &list) && !orphan),
            _ => !orphan,
        }
    }
}

/// A live Kubernetes object: what we ask of it is read once, the rest only to be compared. Nobody reads `managedFields`,
/// which may be most of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, expecting = "a Kubernetes object")]
pub struct Live {
    /// All of it.
    #[serde(skip)]
    pub whole: Unread,
    /// Its metadata.
    #[serde(deserialize_with = "if_readable")]
    pub metadata: LiveMetadata,
    /// Its spec.
    #[serde(deserialize_with = "if_readable")]
    pub spec: LiveSpec,
    /// Its status.
    #[serde(deserialize_with = "if_readable")]
    pub status: LiveStatus,
}

/// The metadata of a live object; a part of another type than it should have says nothing.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct LiveMetadata {
    /// Its name.
    #[serde(deserialize_with = "if_readable")]
    pub name: Option<String>,
    /// Its namespace.
    #[serde(deserialize_with = "if_readable")]
    pub namespace: Option<String>,
    /// What the API server calls it.
    #[serde(deserialize_with = "if_readable")]
    pub uid: Option<String>,
    /// How often its spec has changed.
    #[serde(deserialize_with = "if_readable")]
    pub generation: Option<i64>,
}

/// The spec of a live object.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default)]
pub struct LiveSpec {
    /// How many pods are wanted.
    #[serde(deserialize_with = "if_readable")]
    pub replicas: Option<i64>,
}

/// The status of a live object.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct LiveStatus {
    /// Which generation its controller has looked at.
    #[serde(deserialize_with = "if_readable")]
    pub observed_generation: Option<i64>,
    /// How many pods there are.
    #[serde(deserialize_with = "if_readable")]
    pub replicas: Option<i64>,
    /// How many pods are ready.
    #[serde(deserialize_with = "if_readable")]
    pub ready_replicas: Option<i64>,
    /// How many pods have been ready long enough.
    #[serde(deserialize_with = "if_readable")]
    pub available_replicas: Option<i64>,
    /// The HPA that KEDA has made.
    #[serde(deserialize_with = "if_readable")]
    pub hpa_name: Option<String>,
    /// Its conditions; none if they are not what conditions are.
    #[serde(deserialize_with = "if_readable")]
    pub conditions: Vec<Condition>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_that_is_not_what_it_should_be_says_nothing_and_takes_no_other_with_it() {
        let live: Live = serde_json::from_value(json!({
            "metadata": {"name": "ocr", "generation": 1.5, "uid": 7},
            "spec": {"replicas": "3"},
            "status": {"observedGeneration": 2, "conditions": [null], "readyReplicas": 1},
        }))
        .expect("a live object");
        let LiveMetadata { name, generation, uid, .. } = &live.metadata;
        assert_eq!((name.as_deref(), *generation, uid.as_deref()), (Some("ocr"), None, None));
        assert_eq!(live.spec, LiveSpec::default());
        let LiveStatus { observed_generation, ready_replicas, conditions, .. } = &live.status;
        assert_eq!((*observed_generation, *ready_replicas, conditions.as_slice()), (Some(2), Some(1), &[][..]));
        let odd: Live = serde_json::from_value(json!({"metadata": [], "status": 5})).expect("a live object");
        assert_eq!((odd.metadata, odd.status), (LiveMetadata::default(), LiveStatus::default()));
    }
}
