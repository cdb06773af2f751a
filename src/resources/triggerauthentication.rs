//! The TriggerAuthentication: how KEDA may look at the queue.

use super::{Subject, Wrapper, once_created};
use crate::node::{Node, map};

/// Its name, from the actor's.
pub fn name(actor: &str) -> String {
    format!("{actor}-trigger-auth")
}

/// Its Object; none while scaling is off.
pub fn build(subject: &Subject<'_>) -> Option<Node> {
    if !subject.spec.scaling.enabled {
        return None;
    }
    let component = "triggerauthentication";
    let manifest = map! {
        "apiVersion" => "keda.sh/v1alpha1",
        "kind" => "TriggerAuthentication",
        "metadata" => subject.metadata(&name(&subject.identity.actor), component),
        "spec" => subject.binding.authentication.clone(),
    };
    Some(subject.wrap(Wrapper {
        labels: subject.labels(component),
        manifest,
        readiness: once_created(),
        watch: false,
        management_policies: None,
    }))
}
