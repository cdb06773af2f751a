//! `sqs.aws.upbound.io/v1beta1` Queue, as much of it as we read.

use smol_str::SmolStr;

use super::Condition;
use crate::transport::sqs::{ACTOR_TAG, NAMESPACE_TAG};
use crate::wire::{At, Fault, RawStruct, ReadError};

/// An observed Queue.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Its kind; anything but `Queue` is not ours.
    pub kind: SmolStr,
    /// What was asked for.
    asked: Parameters,
    /// What there is.
    real: Parameters,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Default)]
struct Parameters {
    name: Option<SmolStr>,
    region: Option<SmolStr>,
    id: Option<SmolStr>,
    url: Option<SmolStr>,
    arn: Option<SmolStr>,
    namespace_tag: Option<SmolStr>,
    actor_tag: Option<SmolStr>,
}

impl Parameters {
    fn read(parameters: &At<'_, '_>) -> Result<Self, Fault> {
        let [name, region, id, url, arn, tags] = parameters.fields(["name", "region", "id", "url", "arn", "tags"])?;
        let [namespace_tag, actor_tag] = tags.fields([NAMESPACE_TAG, ACTOR_TAG])?;
        Ok(Self {
            name: name.string()?,
            region: region.string()?,
            id: id.string()?,
            url: url.string()?,
            arn: arn.string()?,
            namespace_tag: namespace_tag.string()?,
            actor_tag: actor_tag.string()?,
        })
    }
}

impl Queue {
    /// Reads an observed Queue.
    ///
    /// # Errors
    /// The first thing that is not what it should be, of what somebody reads.
    pub fn read(object: &RawStruct) -> Result<Self, ReadError> {
        At::read(object, ["kind", "spec", "status"], |_, [kind, spec, status]| {
            let [asked] = spec.fields(["forProvider"])?;
            let [real, conditions] = status.fields(["atProvider", "conditions"])?;
            Ok(Self {
                kind: kind.string()?.unwrap_or_default(),
                asked: Parameters::read(&asked)?,
                real: Parameters::read(&real)?,
                conditions: Condition::list(&conditions)?,
            })
        })
    }

    /// The queue's real name, else the one that was asked for.
    pub fn name(&self) -> Option<&str> {
        filled(&self.real.name).or_else(|| filled(&self.asked.name))
    }

    /// The queue's real region, else the one that was asked for.
    pub fn region(&self) -> Option<&str> {
        filled(&self.real.region).or_else(|| filled(&self.asked.region))
    }

    /// The queue's URL, once AWS has made it.
    pub fn url(&self) -> Option<&str> {
        filled(&self.real.url).or_else(|| filled(&self.real.id))
    }

    /// The queue's ARN, once AWS has made it.
    pub fn arn(&self) -> Option<&str> {
        filled(&self.real.arn)
    }

    /// The namespace that the real queue's tag names.
    pub fn namespace(&self) -> Option<&str> {
        filled(&self.real.namespace_tag)
    }

    /// The actor that the real queue's tag names.
    pub fn actor(&self) -> Option<&str> {
        filled(&self.real.actor_tag)
    }

    /// The managed resource's conditions.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }
}

fn filled(text: &Option<SmolStr>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}
