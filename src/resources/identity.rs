//! Identity never changes in place: a queue or Deployment under another name is another queue or Deployment.

use super::{OBJECTS, SERVICE_ACCOUNT, Subject, manifest, serviceaccount};
use crate::api::Object;
use crate::composed::Plan;
use crate::path::Path;
use crate::problem::{Problem, Source};
use crate::transport::sqs;
use std::collections::BTreeMap;

/// Every observed resource of ours that is not the one we would emit. The shared ServiceAccount may change its name.
pub fn check(subject: &Subject<'_>, plans: &BTreeMap<&'static str, Plan>) -> Vec<Problem> {
    let mut problems = queue(subject);
    for name in OBJECTS {
        let Some(object) = subject.observed.objects.get(name) else { continue };
        if object.kind != "Object" && !object.kind.is_empty() {
            let what = format!("is of kind {}, where an Object of provider-kubernetes is expected", object.kind);
            problems.push(problem(name, &what).hint(FOREIGN));
            continue;
        }
        let Some(Plan::Compose(ours)) = plans.get(name) else { continue };
        let text = |field: &str| manifest(ours).and_then(|manifest| manifest.at(&["metadata", field])?.as_str());
        let fields = if name == SERVICE_ACCOUNT && !is_own_account(subject, object) {
            &[][..]
        } else {
            &[("name", object.name()), ("namespace", object.namespace())][..]
        };
        for (field, real) in fields {
            problems.extend(moved(name, field, *real, text(field)));
        }
    }
    problems
}

/// True for a ServiceAccount that is this actor's alone, before and after.
fn is_own_account(subject: &Subject<'_>, object: &Object) -> bool {
    subject.platform.account_is_own() && serviceaccount::is_actors_own(object, &subject.identity.actor)
}

fn queue(subject: &Subject<'_>) -> Vec<Problem> {
    let Some(queue) = &subject.observed.queue else { return Vec::new() };
    let name = subject.binding.queue_name;
    if queue.kind != "Queue" && !queue.kind.is_empty() {
        let what = format!("is of kind {}, where a Queue of provider-aws-sqs is expected", queue.kind);
        return vec![problem(name, &what).hint(FOREIGN)];
    }
    let own = subject.identity.queue();
    let identity = subject.identity;
    let mut problems = Vec::new();
    problems.extend(moved(name, "name", queue.name(), Some(&own)));
    problems.extend(moved(name, "region", queue.region(), Some(&subject.platform.aws_region)));
    problems.extend(foreign(name, sqs::NAMESPACE_TAG, queue.tag(sqs::NAMESPACE_TAG), &identity.namespace));
    problems.extend(foreign(name, sqs::ACTOR_TAG, queue.tag(sqs::ACTOR_TAG), &identity.actor));
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
