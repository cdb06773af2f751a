//! `kubernetes.crossplane.io/v1alpha2` Object, provider-kubernetes' wrapper, as much of it as we read.

use serde::Deserialize;
use serde_json::Value;

use super::Condition;
use crate::inputs::{Metadata, or_default};
use crate::unread::Unread;

/// An observed Object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Object {
    /// Its kind; anything but `Object` is not ours.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    /// The wrapper's own metadata, not the wrapped object's.
    #[serde(deserialize_with = "or_default")]
    pub metadata: Metadata,
    /// What was asked of the provider, whole: an Object may have to be emitted as it is observed.
    #[serde(deserialize_with = "or_default")]
    pub spec: Unread,
    #[serde(deserialize_with = "or_default")]
    status: Status,
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

    /// A field of the real object, else of the one that was asked for.
    pub fn manifest_text(&self, pointer: &str) -> Option<&str> {
        let live = self.live().and_then(|live| live.0.at(pointer));
        live.or_else(|| self.asked(pointer)).filter(|text: &&str| !text.is_empty())
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

/// A live Kubernetes object, whose `managedFields` nobody reads though they may be most of it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(transparent)]
pub struct Live(pub Unread);

impl Live {
    /// The conditions in the object's status; none if they are not what conditions are.
    pub fn conditions(&self) -> Vec<Condition> {
        self.0.at("/status/conditions").unwrap_or_default()
    }

    /// A whole number in the object.
    pub fn number(&self, pointer: &str) -> Option<i64> {
        self.0.at(pointer)
    }

    /// A text in the object, if it is there and not empty.
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.0.at(pointer).filter(|text: &&str| !text.is_empty())
    }
}
