//! `kubernetes.crossplane.io/v1alpha2` Object, provider-kubernetes' wrapper, as much of it as we read.

use serde::Deserialize;
use serde_json::Value;
use smol_str::SmolStr;

use super::Condition;
use crate::resources::ACTOR_LABEL;
use crate::unread::Unread;
use crate::wire::{At, Fault, RawStruct, ReadError, if_right};

/// An observed Object.
#[derive(Clone, Debug, Default)]
pub struct Object {
    /// Its kind; anything but `Object` is not ours.
    pub kind: SmolStr,
    /// What was asked of the provider, whole: an Object may have to be emitted as it is observed.
    pub spec: Unread,
    /// The actor that its label names.
    actor: Option<SmolStr>,
    live: Option<Live>,
    conditions: Vec<Condition>,
}

impl Object {
    /// Reads an observed Object.
    ///
    /// # Errors
    /// The first thing that is not what it should be, of what somebody reads.
    pub fn read(object: &RawStruct) -> Result<Self, ReadError> {
        At::read(object, ["kind", "metadata", "spec", "status"], |object, [kind, metadata, spec, status]| {
            let [labels] = metadata.fields(["labels"])?;
            let [actor] = labels.fields([ACTOR_LABEL])?;
            let [provider, conditions] = status.fields(["atProvider", "conditions"])?;
            let [live] = provider.fields(["manifest"])?;
            let unread = |keys: &[&str]| Unread::inside(object, keys).map_err(|_| Fault::Odd);
            Ok(Self {
                kind: kind.string()?.unwrap_or_default(),
                actor: actor.string()?,
                conditions: Condition::list(&conditions)?,
                spec: if spec.is_object("a map")? { unread(&["spec"])?.unwrap_or_default() } else { Unread::default() },
                live: if live.is_object("a Kubernetes object")? {
                    Some(Live::read(&live, unread(&["status", "atProvider", "manifest"])?)?)
                } else {
                    None
                },
            })
        })
    }

    /// The live object that the wrapper names, up to 10 minutes old unless the provider watches.
    pub fn live(&self) -> Option<&Live> {
        self.live.as_ref()
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

    fn real(&self, pointer: &str, part: fn(&Live) -> &Option<SmolStr>) -> Option<&str> {
        let live = self.live().and_then(|live| part(live).as_deref());
        live.or_else(|| self.asked(pointer)).filter(|text| !text.is_empty())
    }

    /// The actor that the wrapper's label names.
    pub fn actor(&self) -> Option<&str> {
        self.actor.as_deref()
    }

    /// The wrapper's own conditions.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
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
/// which may be most of it. A part of another type than it should have says nothing, and takes no other with it.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// All of it.
    pub whole: Unread,
    /// Its metadata.
    pub metadata: LiveMetadata,
    /// Its spec.
    pub spec: LiveSpec,
    /// Its status.
    pub status: LiveStatus,
}

/// The metadata of a live object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveMetadata {
    /// Its name.
    pub name: Option<SmolStr>,
    /// Its namespace.
    pub namespace: Option<SmolStr>,
    /// What the API server calls it.
    pub uid: Option<SmolStr>,
    /// How often its spec has changed.
    pub generation: Option<i64>,
}

/// The spec of a live object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveSpec {
    /// How many pods are wanted.
    pub replicas: Option<i64>,
}

/// The status of a live object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveStatus {
    /// Which generation its controller has looked at.
    pub observed_generation: Option<i64>,
    /// How many pods there are.
    pub replicas: Option<i64>,
    /// How many pods are ready.
    pub ready_replicas: Option<i64>,
    /// How many pods have been ready long enough.
    pub available_replicas: Option<i64>,
    /// The HPA that KEDA has made.
    pub hpa_name: Option<SmolStr>,
    /// Its conditions; none if they are not what conditions are.
    pub conditions: Vec<Condition>,
}

impl Live {
    fn read(object: &At<'_, '_>, whole: Option<Unread>) -> Result<Self, Fault> {
        let [metadata, spec, status] = object.fields(["metadata", "spec", "status"])?;
        Ok(Self {
            whole: whole.unwrap_or_default(),
            metadata: if_right(LiveMetadata::read(&metadata))?,
            spec: if_right(LiveSpec::read(&spec))?,
            status: if_right(LiveStatus::read(&status))?,
        })
    }
}

impl LiveMetadata {
    fn read(metadata: &At<'_, '_>) -> Result<Self, Fault> {
        let [name, namespace, uid, generation] = metadata.fields(["name", "namespace", "uid", "generation"])?;
        Ok(Self {
            name: text(&name)?,
            namespace: text(&namespace)?,
            uid: text(&uid)?,
            generation: if_right(generation.integer())?,
        })
    }
}

impl LiveSpec {
    fn read(spec: &At<'_, '_>) -> Result<Self, Fault> {
        let [replicas] = spec.fields(["replicas"])?;
        Ok(Self { replicas: if_right(replicas.integer())? })
    }
}

impl LiveStatus {
    fn read(status: &At<'_, '_>) -> Result<Self, Fault> {
        let [observed, replicas, ready, available, hpa, conditions] = status.fields([
            "observedGeneration",
            "replicas",
            "readyReplicas",
            "availableReplicas",
            "hpaName",
            "conditions",
        ])?;
        Ok(Self {
            observed_generation: if_right(observed.integer())?,
            replicas: if_right(replicas.integer())?,
            ready_replicas: if_right(ready.integer())?,
            available_replicas: if_right(available.integer())?,
            hpa_name: text(&hpa)?,
            conditions: if_right(Condition::list(&conditions))?,
        })
    }
}

fn text(at: &At<'_, '_>) -> Result<Option<SmolStr>, Fault> {
    if_right(at.string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::to_struct;

    #[test]
    fn a_part_that_is_not_what_it_should_be_says_nothing_and_takes_no_other_with_it() {
        let read = |manifest: Value| {
            let object = to_struct(&json!({"status": {"atProvider": {"manifest": manifest}}})).expect("an object");
            Object::read(&object).expect("it can be read").live.expect("it is there")
        };
        let live = read(json!({
            "metadata": {"name": "ocr", "generation": 1.5, "uid": 7},
            "spec": {"replicas": "3"},
            "status": {"observedGeneration": 2, "conditions": [null], "readyReplicas": 1},
        }));
        let LiveMetadata { name, generation, uid, .. } = &live.metadata;
        assert_eq!((name.as_deref(), *generation, uid.as_deref()), (Some("ocr"), None, None));
        assert_eq!(live.spec, LiveSpec::default());
        let LiveStatus { observed_generation, ready_replicas, conditions, .. } = &live.status;
        assert_eq!((*observed_generation, *ready_replicas, conditions.as_slice()), (Some(2), Some(1), &[][..]));
        let odd = read(json!({"metadata": [], "status": 5}));
        assert_eq!((odd.metadata, odd.status), (LiveMetadata::default(), LiveStatus::default()));
    }
}
