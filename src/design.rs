//! What is wanted of an actor: every resource as people's words decide it, and where its queue is. Nothing else of what
//! exists has a say, so a design holds for as long as nobody changes a word.

mod known;

use std::collections::BTreeMap;

pub use known::{Brief, Known};

use crate::identity::Identity;
use crate::node::Node;
use crate::path::Path;
use crate::platform::Platform;
use crate::problem::{Problem, Problems, Source};
use crate::resources::{
    self, DEPLOYMENT, SCALED_OBJECT, SERVICE_ACCOUNT, Subject, TRIGGER_AUTHENTICATION, deployment, queue, scaledobject,
    serviceaccount, triggerauthentication,
};
use crate::spec::Spec;
use crate::transport::{self, Broker};
use crate::wire::{RawStruct, to_struct};

/// The resources of an actor, written already.
#[derive(Clone, Debug)]
pub struct Design {
    /// The composition-resource name of the queue.
    pub queue_name: &'static str,
    /// The queue.
    pub queue: RawStruct,
    /// The pods' ServiceAccount; none without IRSA.
    pub service_account: Option<RawStruct>,
    /// How KEDA may look at the queue; none while scaling is off.
    pub trigger_authentication: Option<RawStruct>,
    /// How KEDA scales the pods; none while scaling is off or nobody knows where the queue is.
    pub scaled_object: Option<RawStruct>,
    /// The pods.
    pub deployment: RawStruct,
    /// Whether KEDA scales the actor.
    pub scaling: bool,
}

/// Designs an actor; `labels` are those of its composite, `url` is where its queue is.
///
/// # Errors
/// The first resource that cannot be written: nesting that no Struct holds.
pub fn design(
    identity: &Identity,
    spec: &Spec,
    platform: &Platform,
    labels: &BTreeMap<String, String>,
    url: Option<&str>,
) -> Result<Design, Problems> {
    let labels = resources::user_labels(labels);
    let binding = transport::bind(Broker::Sqs, identity, spec, platform, url);
    let subject = Subject { identity, spec, platform, labels: &labels, binding: &binding };
    let optional = |name, object: Option<Node>| object.map(|object| written(name, &object)).transpose();
    Ok(Design {
        queue_name: binding.queue_name,
        queue: written(binding.queue_name, &queue::build(&subject))?,
        service_account: optional(SERVICE_ACCOUNT, serviceaccount::build(&subject))?,
        trigger_authentication: optional(TRIGGER_AUTHENTICATION, triggerauthentication::build(&subject))?,
        scaled_object: optional(SCALED_OBJECT, scaledobject::build(&subject))?,
        deployment: written(DEPLOYMENT, &deployment::build(&subject))?,
        scaling: spec.scaling.enabled,
    })
}

/// A resource of ours as it goes over the wire.
///
/// # Errors
/// If no Struct can hold it.
pub fn written(name: &str, object: &Node) -> Result<RawStruct, Problems> {
    to_struct(object).map(RawStruct::compact).map_err(|error| {
        let what = format!("the resource `{name}` cannot be written: {error}");
        Problem::value(Path::root(), Source::Nobody, what).hint("nothing was changed").into()
    })
}

impl Design {
    /// About how much memory it takes, in bytes.
    fn bytes(&self) -> usize {
        let optional = [&self.service_account, &self.trigger_authentication, &self.scaled_object];
        let objects = optional.into_iter().flatten().chain([&self.queue, &self.deployment]);
        size_of::<Self>() + objects.map(prost::Message::encoded_len).sum::<usize>()
    }
}
