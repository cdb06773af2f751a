//! The TriggerAuthentication: how KEDA may look at the queue.

use super::{Subject, Wrapper, once_created};
use crate::composed::Plan;
use crate::node::map;

/// Its name, from the actor's.
pub fn name(actor: &str) -> String {
    format!("{actor}-trigger-auth")
}

/// Emitted while scaling is on.
pub fn plan(subject: &Subject<'_>) -> Plan {
    if !subject.spec.scaling.enabled {
        return Plan::Omit;
    }
    let component = "triggerauthentication";
    let manifest = map! {
        "apiVersion" => "keda.sh/v1alpha1",
        "kind" => "TriggerAuthentication",
        "metadata" => subject.metadata(&name(&subject.identity.actor), component),
        "spec" => subject.binding.authentication.clone(),
    };
    Plan::Compose(subject.wrap(Wrapper {
        labels: subject.labels(component),
        manifest,
        readiness: once_created(),
        watch: false,
        management_policies: None,
    }))
}
