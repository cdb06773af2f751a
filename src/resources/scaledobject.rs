//! The ScaledObject: how KEDA scales the Deployment.

use serde_json::Value;

use super::{SCALED_OBJECT, Subject, Wrapper, triggerauthentication};
use crate::api::{Condition, Live, condition};
use crate::composed::{Plan, Reason};
use crate::design::Design;
use crate::inputs::Observed;
use crate::node::{Node, list, map};
use crate::path::Path;
use crate::problem::{Kind, Problem, Problems, Source};
use crate::spec::Advanced;
use crate::transport::Whereabouts;

/// The name of the trigger that watches the actor's own queue.
pub const OWN_TRIGGER: &str = "queue";

/// The longest actor's name for which KEDA's own name for the HPA, `keda-hpa-{name}`, fits.
const LONGEST_FOR_HPA: usize = 54;

/// Its Object; none while scaling is off or nobody knows where the queue is.
pub fn build(subject: &Subject<'_>) -> Option<Node> {
    let trigger = subject.binding.trigger.as_ref().filter(|_| subject.spec.scaling.enabled)?;
    let component = "scaledobject";
    let manifest = map! {
        "apiVersion" => "keda.sh/v1alpha1",
        "kind" => "ScaledObject",
        "metadata" => subject.metadata(&subject.identity.actor, component),
        "spec" => spec(subject, trigger),
    };
    Some(subject.wrap(Wrapper {
        labels: subject.labels(component),
        manifest,
        readiness: map! { "policy" => "DeriveFromObject" },
        watch: subject.platform.keda.watch,
        management_policies: None,
    }))
}

/// Emitted once its queue is there; from then on always.
///
/// # Errors
/// If it exists and nobody knows the URL any more: leaving it out would delete it.
pub fn plan(design: &Design, whereabouts: &Whereabouts, observed: &Observed) -> Result<Plan, Problems> {
    if !design.scaling {
        return Ok(Plan::Omit);
    }
    let exists = observed.objects.contains_key(SCALED_OBJECT);
    match (&design.scaled_object, whereabouts) {
        (Some(object), Whereabouts::Known(_)) => Ok(Plan::Compose(object.clone())),
        (Some(object), Whereabouts::LastKnown(_)) if exists => Ok(Plan::Compose(object.clone())),
        _ if !exists => Ok(Plan::Wait(Reason::QueueUrl)),
        _ => {
            let what = "the queue has no URL any more, and none is on record";
            let problem = Problem::value(Path::keys("status.queueUrl"), Source::Nobody, what).of_kind(Kind::Transport);
            Err(problem.hint("look at the Queue's conditions; nothing was changed").into())
        }
    }
}

fn spec(subject: &Subject<'_>, trigger: &Node) -> Node {
    let (actor, scaling) = (&subject.identity.actor, &subject.spec.scaling);
    let mut own = trigger.clone();
    own.set("authenticationRef", map! { "name" => triggerauthentication::name(actor) });
    let triggers: Vec<Node> = std::iter::once(own).chain(scaling.additional_triggers.iter().map(Node::from)).collect();
    let target = map! {
        "apiVersion" => "apps/v1",
        "kind" => "Deployment",
        "name" => actor,
        "envSourceContainerName" => env_source(&scaling.additional_triggers),
    };
    map! {
        "scaleTargetRef" => target,
        "minReplicaCount" => scaling.min_replica_count,
        "maxReplicaCount" => scaling.max_replica_count,
        "pollingInterval" => scaling.polling_interval,
        "cooldownPeriod" => scaling.cooldown_period,
        "triggers" => triggers,
        "advanced" => advanced(actor, scaling.advanced.as_ref()),
    }
}

/// The container whose environment KEDA resolves: ours, which cannot lack a Secret, unless a trigger reads the user's.
fn env_source(triggers: &[Value]) -> &'static str {
    let keys = |trigger: &Value| {
        trigger
            .get("metadata")
            .and_then(Value::as_object)
            .is_some_and(|map| map.keys().any(|key| key.ends_with("FromEnv")))
    };
    if triggers.iter().any(keys) { "asya-runtime" } else { "asya-sidecar" }
}

fn advanced(actor: &str, advanced: Option<&Advanced>) -> Node {
    let name = (actor.len() > LONGEST_FOR_HPA).then(|| actor.to_owned());
    map! {
        "horizontalPodAutoscalerConfig" => map! { "name" => name, "behavior" => behavior() },
        "restoreToOriginalReplicaCount" => advanced.and_then(|advanced| advanced.restore_to_original_replica_count),
        "scalingModifiers" => advanced.filter(|advanced| advanced.formula.is_some()).map(modifiers),
    }
}

fn modifiers(advanced: &Advanced) -> Node {
    map! {
        "formula" => advanced.formula.as_ref(),
        "target" => advanced.target.as_ref(),
        "activationTarget" => advanced.activation_target.as_ref(),
        "metricType" => advanced.metric_type.as_ref(),
    }
}

/// Down one pod a minute after five minutes, up ten pods or double a minute at once.
fn behavior() -> Node {
    let policy = |kind: &'static str, value: i64| map! { "type" => kind, "value" => value, "periodSeconds" => 60 };
    let rules = |seconds: i64, policies: Node| map! { "stabilizationWindowSeconds" => seconds, "policies" => policies };
    map! {
        "scaleDown" => rules(300, list![policy("Pods", 1)]),
        "scaleUp" => rules(0, list![policy("Pods", 10), policy("Percent", 100)]),
    }
}

/// The URL in the own trigger of the ScaledObject that exists.
pub fn own_queue_url(observed: &Observed) -> Option<String> {
    const TRIGGERS: &str = "/spec/triggers";
    let object = observed.objects.get(SCALED_OBJECT)?;
    let lists: [Option<Vec<Value>>; 2] =
        [object.live().and_then(|live| live.whole.at(TRIGGERS)), object.asked(TRIGGERS)];
    let is_own = |trigger: &&Value| trigger.get("name").and_then(Value::as_str) == Some(OWN_TRIGGER);
    let own = lists.iter().flatten().find_map(|list| list.iter().find(is_own))?;
    own.pointer("/metadata/queueURL").and_then(Value::as_str).map(str::to_owned)
}

/// What KEDA says of the ScaledObject.
pub fn keda_ready(live: &Live) -> Option<Condition> {
    condition(&live.status.conditions, "Ready").cloned()
}

/// True once KEDA has accepted it and made an HPA; a trigger's later trouble does not take that back.
pub fn is_accepted(live: &Live) -> bool {
    live.status.hpa_name.as_ref().is_some_and(|name| !name.is_empty())
}
