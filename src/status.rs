//! Status, conditions and readiness, summed up from what is observed.

use std::collections::BTreeMap;

use crate::api::{Condition, condition, is_true, when_false};
use crate::composed::{Plan, Reason, Truth, Verdict};
use crate::inputs::{Composite, Observed};
use crate::node::{Node, map};
use crate::resources::live::Applied;
use crate::resources::{
    DEPLOYMENT, OBJECTS, SCALED_OBJECT, SERVICE_ACCOUNT, TRIGGER_AUTHENTICATION, deployment, manifest, queue,
    scaledobject, serviceaccount,
};

/// The types of our conditions, in the order they are written.
pub const CONDITIONS: [&str; 5] = [SPEC_ACCEPTED, FLAVORS_RESOLVED, TRANSPORT_READY, SCALING_READY, WORKLOAD_READY];

/// The actor and the platform settings can be built.
pub const SPEC_ACCEPTED: &str = "SpecAccepted";
/// All flavors were found and agree.
pub const FLAVORS_RESOLVED: &str = "FlavorsResolved";
/// The queue is there.
pub const TRANSPORT_READY: &str = "TransportReady";
/// KEDA scales the actor, or scaling is off.
pub const SCALING_READY: &str = "ScalingReady";
/// The Deployment is available.
pub const WORKLOAD_READY: &str = "WorkloadReady";

/// What the status is read from.
pub struct View<'a> {
    composite: &'a Composite,
    observed: &'a Observed,
    plans: Option<&'a BTreeMap<&'static str, Plan>>,
    scaling: Option<bool>,
    applied: [Applied<'a>; OBJECTS.len()],
    /// Queue, scaling and workload.
    parts: [Part; 3],
}

/// One part of the infrastructure.
struct Part {
    ready: bool,
    verdict: Verdict,
}

impl Part {
    fn new(kind: &'static str, status: Truth, reason: &'static str, message: impl Into<String>) -> Self {
        Self { ready: status == Truth::True, verdict: Verdict { kind, status, reason, message: message.into() } }
    }
}

impl<'a> View<'a> {
    /// Looks at what exists.
    ///
    /// `composite` tells what was last known. `plans` is what is emitted and `scaling` whether KEDA scales the actor; both
    /// are absent beside a refusal, when nothing is compared.
    pub fn new(
        composite: &'a Composite,
        observed: &'a Observed,
        plans: Option<&'a BTreeMap<&'static str, Plan>>,
        scaling: Option<bool>,
    ) -> Self {
        let applied = OBJECTS.map(|name| {
            let emitted = match plans.and_then(|plans| plans.get(name)) {
                Some(Plan::Compose(object)) => manifest(object),
                _ => None,
            };
            Applied::read(observed.objects.get(name), emitted)
        });
        let unread = |kind| Part { ready: false, verdict: not_observed(kind) };
        let parts = [TRANSPORT_READY, SCALING_READY, WORKLOAD_READY].map(unread);
        let mut view = Self { composite, observed, plans, scaling, applied, parts };
        if !observed.is_empty() || plans.is_some() {
            view.parts = [view.transport(), view.scaling(), view.workload()];
        }
        view
    }

    /// TransportReady, ScalingReady and WorkloadReady.
    pub fn verdicts(&self) -> [Verdict; 3] {
        [0, 1, 2].map(|part| self.parts[part].verdict.clone())
    }

    /// What to write into the composite's status, besides what the caller adds.
    pub fn status(&self, actor: &str, platform_config: Option<&str>) -> Node {
        let [queue, keda, workload] = &self.parts;
        let part = |part: &Part| map! { "ready" => part.ready, "message" => &part.verdict.message };
        map! {
            "phase" => self.phase(),
            "actor" => actor.to_owned(),
            "queueUrl" => self.queue_url().map(Node::text),
            "queueIdentifier" => self.queue_identifier().map(Node::text),
            "platformConfig" => platform_config.map(Node::text),
            "infrastructure" => map! { "queue" => part(queue), "keda" => part(keda), "workload" => self.counts(workload) },
        }
    }

    fn counts(&self, workload: &Part) -> Node {
        let live = self.observed.objects.get(DEPLOYMENT).and_then(|object| object.live());
        map! {
            "ready" => workload.ready,
            "replicas" => live.map(deployment::wanted),
            "readyReplicas" => live.and_then(|live| deployment::counted(live, live.status.ready_replicas)),
            "message" => &workload.verdict.message,
        }
    }

    fn phase(&self) -> &'static str {
        let live = self.observed.objects.get(DEPLOYMENT).and_then(|object| object.live());
        let replicas = live.map_or(0, deployment::wanted);
        match self.parts.iter().all(|part| part.ready) {
            true if replicas > 0 => "Ready",
            true if self.scaling == Some(true) => "Napping",
            _ => "Creating",
        }
    }

    /// The queue's URL; the last known one while the queue is observed.
    pub fn queue_url(&self) -> Option<&str> {
        let queue = self.observed.queue.as_ref()?;
        queue.url().or(self.composite.status.queue_url.as_deref()).filter(|url| !url.is_empty())
    }

    fn queue_identifier(&self) -> Option<&str> {
        let queue = self.observed.queue.as_ref()?;
        queue.arn().or(self.composite.status.queue_identifier.as_deref())
    }

    fn transport(&self) -> Part {
        let part = |status, reason, message: String| Part::new(TRANSPORT_READY, status, reason, message);
        match queue::health(self.observed.queue.as_ref(), self.queue_url()) {
            queue::Health::Available => part(Truth::True, "Available", String::new()),
            queue::Health::Degraded(message) => part(Truth::True, "Degraded", message),
            queue::Health::Creating(message) => part(Truth::False, "Creating", message),
            queue::Health::CreateFailed(message) => part(Truth::False, "CreateFailed", message),
            queue::Health::Deleting => part(Truth::False, "Deleting", "the queue is being deleted".to_owned()),
            queue::Health::Paused => part(
                Truth::False,
                "Paused",
                "reconciliation is paused by the annotation crossplane.io/paused".to_owned(),
            ),
        }
    }

    /// True if KEDA scales the actor; beside a refusal, as far as what is observed tells.
    fn is_scaling(&self) -> bool {
        self.scaling.unwrap_or_else(|| {
            let before = condition(&self.composite.status.conditions, SCALING_READY);
            self.observed.objects.contains_key(SCALED_OBJECT) || before.is_none_or(|before| before.reason != "Disabled")
        })
    }

    fn scaling(&self) -> Part {
        let part = |status, reason, message: &str| Part::new(SCALING_READY, status, reason, message);
        if !self.is_scaling() {
            return part(Truth::True, "Disabled", "");
        }
        if let Some(Plan::Wait(reason)) = self.plan(SCALED_OBJECT) {
            return part(Truth::False, "WaitingForQueue", reason.text());
        }
        if let Some(refused) = self.refusal(TRIGGER_AUTHENTICATION) {
            return part(Truth::False, "ApplyFailed", &format!("TriggerAuthentication: {}", told(refused)));
        }
        match self.applied(SCALED_OBJECT) {
            Applied::Missing => part(Truth::False, "Creating", "creating the ScaledObject"),
            Applied::Refused(refused) => part(Truth::False, "ApplyFailed", &told(refused)),
            Applied::Differs(_) => part(Truth::False, "Updating", "updating the ScaledObject"),
            Applied::Same(live) => keda(scaledobject::keda_ready(live).as_ref()),
        }
    }

    fn workload(&self) -> Part {
        let part = |status, reason, message: &str| Part::new(WORKLOAD_READY, status, reason, message);
        let account = self.refusal(SERVICE_ACCOUNT).map(|refused| format!("ServiceAccount: {}", told(refused)));
        match self.plan(DEPLOYMENT) {
            Some(Plan::Wait(reason @ Reason::QueueUrl)) => return part(Truth::False, "WaitingForQueue", reason.text()),
            Some(Plan::Wait(reason @ Reason::ServiceAccount)) => {
                return part(Truth::False, "WaitingForServiceAccount", account.as_deref().unwrap_or(reason.text()));
            }
            _ => {}
        }
        if let Some(account) = account {
            return part(Truth::False, "ApplyFailed", &account);
        }
        match self.applied(DEPLOYMENT) {
            Applied::Missing => part(Truth::False, "Creating", "creating the Deployment"),
            Applied::Refused(refused) => part(Truth::False, "ApplyFailed", &told(refused)),
            Applied::Differs(_) => part(Truth::False, "Updating", "updating the Deployment"),
            Applied::Same(live) => self.rollout(live),
        }
    }

    /// What the Deployment's own conditions say.
    fn rollout(&self, live: &crate::api::Live) -> Part {
        let part = |status, reason, message: &str| Part::new(WORKLOAD_READY, status, reason, message);
        let conditions = &live.status.conditions;
        let wanted = deployment::wanted(live);
        let available = deployment::counted(live, live.status.available_replicas).unwrap_or(0);
        let replicas = format!("{available} of {wanted} replicas available");
        if deployment::counted(live, live.status.replicas).is_none() {
            return part(Truth::False, "Creating", "creating the Deployment");
        }
        if !deployment::is_seen(live) && !self.is_waking(live) {
            return part(Truth::False, "Updating", "updating the Deployment");
        }
        if !deployment::is_seen(live) {
            return part(Truth::False, "WakingUp", &replicas);
        }
        if is_true(conditions, "Available") {
            return part(Truth::True, if wanted == 0 { "Napping" } else { "Available" }, "");
        }
        if let Some(failure) = condition(conditions, "ReplicaFailure").filter(|failure| failure.status == "True") {
            return part(Truth::False, "ReplicaFailure", &told(failure));
        }
        match condition(conditions, "Progressing") {
            Some(stuck) if stuck.reason == "ProgressDeadlineExceeded" => {
                part(Truth::False, "RolloutStuck", &told(stuck))
            }
            Some(done) if done.reason == "NewReplicaSetAvailable" && self.was_napping() && available == 0 => {
                part(Truth::False, "WakingUp", &replicas)
            }
            Some(done) if done.reason == "NewReplicaSetAvailable" => part(Truth::False, "Unavailable", &replicas),
            _ if available > 0 => part(Truth::False, "Updating", &replicas),
            _ => part(Truth::False, "Creating", &replicas),
        }
    }

    /// True if all that is new about the Deployment is that KEDA has just asked for the first pods after a nap.
    fn is_waking(&self, live: &crate::api::Live) -> bool {
        self.was_napping() && deployment::has_rolled_out(live)
    }

    /// True if the pods that are missing are the first after a nap, as far as our own last word tells.
    fn was_napping(&self) -> bool {
        let before = condition(&self.composite.status.conditions, WORKLOAD_READY);
        before.is_some_and(|before| before.reason == "Napping" || before.reason == "WakingUp")
    }

    fn plan(&self, name: &str) -> Option<&Plan> {
        self.plans?.get(name)
    }

    fn applied(&self, name: &str) -> &Applied<'a> {
        let place = OBJECTS.iter().position(|object| *object == name);
        place.map_or(&Applied::Missing, |place| &self.applied[place])
    }

    fn refusal(&self, name: &str) -> Option<&Condition> {
        when_false(self.observed.objects.get(name)?.conditions(), "Synced")
    }

    /// Whether Crossplane may count a resource of ours as ready.
    pub fn is_ready(&self, name: &str) -> bool {
        let object = self.observed.objects.get(name);
        let applied = self.applied(name);
        match name {
            SCALED_OBJECT => applied.same().is_some_and(scaledobject::is_accepted),
            DEPLOYMENT => applied.same().is_some_and(|live| deployment::is_rolled_out(live) || self.is_waking(live)),
            SERVICE_ACCOUNT | TRIGGER_AUTHENTICATION => applied.same().is_some() && serviceaccount::is_ready(object),
            _ => queue::is_ready(self.observed.queue.as_ref(), self.queue_url()),
        }
    }
}

/// What KEDA's Ready condition means for scaling.
fn keda(ready: Option<&Condition>) -> Part {
    let part = |status, reason, message: &str| Part::new(SCALING_READY, status, reason, message);
    match ready {
        None => part(Truth::False, "Creating", "waiting for KEDA"),
        Some(ready) if ready.status == "True" => part(Truth::True, "ScaledObjectReady", ""),
        Some(ready) if ready.reason.contains("Trigger") => part(Truth::False, "TriggerError", &told(ready)),
        Some(ready) if ready.status == "False" => part(Truth::False, "ScaledObjectFailed", &told(ready)),
        Some(_) => part(Truth::False, "Creating", "waiting for KEDA"),
    }
}

/// A condition's reason and message, without what changes at every try.
fn told(condition: &Condition) -> String {
    let message = queue::without_request_ids(&condition.message);
    match (condition.reason.as_str(), message.as_str()) {
        ("ReconcilePaused", _) => "reconciliation is paused by the annotation crossplane.io/paused".to_owned(),
        (reason, "") => reason.to_owned(),
        _ => message,
    }
}

/// A condition nobody can tell.
pub fn not_observed(kind: &'static str) -> Verdict {
    Verdict { kind, status: Truth::Unknown, reason: "NotObserved", message: "nothing is observed yet".to_owned() }
}
