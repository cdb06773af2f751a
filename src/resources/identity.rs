//! Identity never changes in place: a queue or Deployment under another name is another queue or Deployment.

use std::collections::BTreeMap;

use super::{OBJECTS, SERVICE_ACCOUNT, manifest_text, serviceaccount};
use crate::composed::Plan;
use crate::identity::Identity;
use crate::inputs::Observed;
use crate::path::Path;
use crate::platform::Platform;
use crate::problem::{Problem, Source};
use crate::transport::sqs;

/// Every observed resource of ours that is not the one we would emit. The shared ServiceAccount may change its name.
pub fn check(
    identity: &Identity,
    platform: &Platform,
    observed: &Observed,
    plans: &BTreeMap<&'static str, Plan>,
) -> Vec<Problem> {
    let mut problems = queue(identity, platform, observed);
    for name in OBJECTS {
        let Some(object) = observed.objects.get(name) else { continue };
        if object.kind != "Object" && !object.kind.is_empty() {
            let what = format!("is of kind {}, where an Object of provider-kubernetes is expected", object.kind);
            problems.push(problem(name, &what).hint(FOREIGN));
            continue;
        }
        let Some(Plan::Compose(ours)) = plans.get(name) else { continue };
        // An account that is this actor's alone, before and after, keeps its name too.
        let is_own = || platform.account_is_own() && serviceaccount::is_actors_own(object, &identity.actor);
        if name == SERVICE_ACCOUNT && !is_own() {
            continue;
        }
        for (field, real) in [("name", object.name()), ("namespace", object.namespace())] {
            problems.extend(moved(name, field, real, manifest_text(ours, field)));
        }
    }
    problems
}

fn queue(identity: &Identity, platform: &Platform, observed: &Observed) -> Vec<Problem> {
    let Some(queue) = &observed.queue else { return Vec::new() };
    let name = sqs::QUEUE;
    if queue.kind != "Queue" && !queue.kind.is_empty() {
        let what = format!("is of kind {}, where a Queue of provider-aws-sqs is expected", queue.kind);
        return vec![problem(name, &what).hint(FOREIGN)];
    }
    let own = identity.queue();
    let mut problems = Vec::new();
    problems.extend(moved(name, "name", queue.name(), Some(&own)));
    problems.extend(moved(name, "region", queue.region(), Some(&platform.aws_region)));
    problems.extend(foreign(name, sqs::NAMESPACE_TAG, queue.namespace(), &identity.namespace));
    problems.extend(foreign(name, sqs::ACTOR_TAG, queue.actor(), &identity.actor));
    problems
}

/// What to do about a resource of another kind under a name of ours.
const FOREIGN: &str = "another pipeline made it; remove it there first, nothing was changed";

fn moved(resource: &str, field: &str, real: Option<&str>, ours: Option<&str>) -> Option<Problem> {
    let (real, ours) = (real?, ours?);
    (real != ours).then(|| {
        problem(
            resource,
            &format!("its {field} is `{real}` and would become `{ours}`; identity never changes in place"),
        )
        .hint("put the old value back, or delete the actor and create it anew")
    })
}

fn foreign(resource: &str, tag: &str, real: Option<&str>, ours: &str) -> Option<Problem> {
    real.filter(|real| *real != ours).map(|real| {
        problem(resource, &format!("the queue's tag {tag} says `{real}`, not `{ours}`: it belongs to another actor"))
            .hint("two actors whose names make the same queue name cannot live together; set another `spec.actor`")
    })
}

fn problem(resource: &str, what: &str) -> Problem {
    Problem::value(Path::root(), Source::Nobody, format!("observed resource `{resource}`: {what}"))
}
