//! What a broker contributes to an actor: one file each, plain data out.

use serde_json::Value;

use crate::identity::Identity;
use crate::inputs::{Composite, Observed};
use crate::node::Node;
use crate::path::Path;
use crate::platform::Platform;
use crate::spec::Spec;

pub mod sqs;

/// The brokers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broker {
    /// Amazon SQS.
    Sqs,
}

/// What an actor's broker contributes.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The composition-resource name of the queue.
    pub queue_name: &'static str,
    /// The queue's managed resource, without labels.
    pub queue: Node,
    /// What KEDA watches, without its `authenticationRef`; nothing while nobody knows where the queue is.
    pub trigger: Option<Node>,
    /// How KEDA authenticates: the `spec` of a TriggerAuthentication.
    pub authentication: Node,
    /// The sidecar's environment, in order.
    pub env: Vec<(&'static str, String)>,
    /// A Secret whose keys become environment variables of the sidecar.
    pub env_secret: Option<String>,
}

/// Where the actor's queue is, as far as anybody knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// The queue exists, and this is its URL.
    Known(String),
    /// The queue was there; good for what exists already.
    LastKnown(String),
    /// Nobody knows.
    Unknown,
}

impl Whereabouts {
    /// The URL, of today or of yesterday.
    pub fn url(&self) -> Option<&str> {
        match self {
            Whereabouts::Known(url) | Whereabouts::LastKnown(url) => Some(url),
            Whereabouts::Unknown => None,
        }
    }
}

/// Where the queue of an actor is.
pub fn whereabouts(broker: Broker, composite: &Composite, observed: &Observed) -> Whereabouts {
    match broker {
        Broker::Sqs => sqs::whereabouts(composite, observed),
    }
}

/// Binds an actor to its broker; `url` is where its queue is.
pub fn bind(broker: Broker, identity: &Identity, spec: &Spec, platform: &Platform, url: Option<&str>) -> Binding {
    match broker {
        Broker::Sqs => sqs::bind(identity, spec, platform, url),
    }
}

/// The broker's own rules on a resolved spec: path, what is wrong, hint.
pub fn check(spec: &Value) -> Vec<(Path, String, String)> {
    sqs::check(spec)
}
