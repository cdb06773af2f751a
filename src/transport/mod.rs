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
    /// What KEDA watches.
    pub trigger: Trigger,
    /// How KEDA authenticates: the `spec` of a TriggerAuthentication.
    pub authentication: Node,
    /// The sidecar's environment, in order.
    pub env: Vec<(&'static str, String)>,
    /// A Secret whose keys become environment variables of the sidecar.
    pub env_secret: Option<String>,
}

/// The trigger of the actor's own queue, without its `authenticationRef`.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// The queue exists, and this is where.
    Known(Node),
    /// The queue was there; good for what exists already.
    LastKnown(Node),
    /// Nobody knows where the queue is.
    Unknown,
}

/// Binds an actor to its broker.
pub fn bind(
    broker: Broker,
    identity: &Identity,
    spec: &Spec,
    platform: &Platform,
    composite: &Composite,
    observed: &Observed,
) -> Binding {
    match broker {
        Broker::Sqs => sqs::bind(identity, spec, platform, composite, observed),
    }
}

/// The broker's own rules on a resolved spec: path, what is wrong, hint.
pub fn check(spec: &Value) -> Vec<(Path, String, String)> {
    sqs::check(spec)
}
