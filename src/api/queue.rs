//! `sqs.aws.upbound.io/v1beta1` Queue, as much of it as we read.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Condition;
use crate::inputs::or_default;

/// An observed Queue.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Queue {
    /// Its kind; anything but `Queue` is not ours.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    #[serde(deserialize_with = "or_default")]
    spec: Spec,
    #[serde(deserialize_with = "or_default")]
    status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    #[serde(deserialize_with = "or_default")]
    for_provider: Parameters,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    #[serde(deserialize_with = "or_default")]
    at_provider: Parameters,
    #[serde(deserialize_with = "or_default")]
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Parameters {
    name: Option<String>,
    region: Option<String>,
    id: Option<String>,
    url: Option<String>,
    arn: Option<String>,
    #[serde(deserialize_with = "or_default")]
    tags: BTreeMap<String, Option<String>>,
}

impl Queue {
    /// The queue's real name, else the one that was asked for.
    pub fn name(&self) -> Option<&str> {
        filled(&self.status.at_provider.name).or_else(|| filled(&self.spec.for_provider.name))
    }

    /// The queue's real region, else the one that was asked for.
    pub fn region(&self) -> Option<&str> {
        filled(&self.status.at_provider.region).or_else(|| filled(&self.spec.for_provider.region))
    }

    /// The queue's URL, once AWS has made it.
    pub fn url(&self) -> Option<&str> {
        filled(&self.status.at_provider.url).or_else(|| filled(&self.status.at_provider.id))
    }

    /// The queue's ARN, once AWS has made it.
    pub fn arn(&self) -> Option<&str> {
        filled(&self.status.at_provider.arn)
    }

    /// A tag that the real queue bears.
    pub fn tag(&self, key: &str) -> Option<&str> {
        self.status.at_provider.tags.get(key).and_then(filled)
    }

    /// The managed resource's conditions.
    pub fn conditions(&self) -> &[Condition] {
        &self.status.conditions
    }
}

fn filled(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}
