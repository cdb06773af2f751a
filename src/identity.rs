//! Which actor this is: its namespace, its name, its queue. Identity never changes in place.

use crate::inputs::{Inputs, Metadata};
use crate::names::is_dns_label;
use crate::path::Path;
use crate::platform::{DlqMode, Platform};
use crate::problem::{Problem, Problems, Source};

/// The longest name SQS takes.
const LONGEST_QUEUE: usize = 80;

/// Who an actor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The namespace of its claim.
    pub namespace: String,
    /// Its own name.
    pub actor: String,
}

impl Identity {
    /// The name of its queue.
    pub fn queue(&self) -> String {
        format!("asya-{}-{}", self.namespace, self.actor)
    }
}

/// Tells who the actor is.
///
/// # Errors
/// Into `problems`: no namespace, namespaces that disagree, a name that is none.
pub fn identify(inputs: &Inputs, problems: &mut Problems) -> Option<Identity> {
    let before = problems.iter().count();
    let namespace = namespace(inputs, problems);
    let actor = actor_name(inputs);
    problems.extend(bad_name(inputs));
    let identity = Identity { namespace: namespace?, actor: actor? };
    if identity.queue().len() > LONGEST_QUEUE {
        problems.push(long_queue(&identity));
    }
    (problems.iter().count() == before).then_some(identity)
}

/// The actor's name as far as it can be told, good or bad.
pub fn actor_name(inputs: &Inputs) -> Option<String> {
    let Metadata { name, labels, .. } = &inputs.composite.metadata;
    let written =
        inputs.composite.spec.actor().filter(|actor| !actor.is_null()).map(|actor| actor.as_str().unwrap_or_default());
    let claim = || Some(inputs.composite.claim.name.as_str()).filter(|name| !name.is_empty());
    let label = || labels.get("crossplane.io/claim-name").map(String::as_str);
    let found = written.or_else(claim).or_else(label).unwrap_or(name);
    (written.is_some() || !found.is_empty()).then(|| found.to_owned())
}

/// What is wrong with the actor's name, if it is none.
pub fn bad_name(inputs: &Inputs) -> Option<Problem> {
    let actor = actor_name(inputs);
    if actor.as_deref().is_some_and(is_dns_label) {
        return None;
    }
    let path = Path::keys("spec.actor");
    let written = inputs.composite.spec.actor().filter(|actor| !actor.is_null());
    if written.is_some_and(|written| !written.is_string()) {
        return None; // The schema tells.
    }
    let name = actor.unwrap_or_default();
    let rule = "at most 63 lower-case letters, digits and `-`, with a letter or digit at both ends";
    let problem = match written {
        Some(_) => Problem::value(path, Source::Actor, format!("{name:?} is no actor's name: {rule}")),
        None if name.is_empty() => Problem::value(path, Source::Nobody, "the actor has no name"),
        None => {
            let what = format!("the object is called {name:?}, which no actor can be called: {rule}");
            Problem::value(path, Source::Nobody, what)
        }
    };
    Some(problem.hint("set `spec.actor` to a short name of its own"))
}

/// Where a composite says its namespace.
#[derive(Clone, Copy)]
enum Place {
    Metadata,
    Claim,
    Label,
}

impl Place {
    fn path(self) -> Path {
        match self {
            Place::Metadata => Path::keys("metadata.namespace"),
            Place::Claim => Path::keys("spec.claimRef.namespace"),
            Place::Label => Path::keys("metadata.labels").key("crossplane.io/claim-namespace"),
        }
    }
}

fn namespace(inputs: &Inputs, problems: &mut Problems) -> Option<String> {
    let Metadata { namespace, labels, .. } = &inputs.composite.metadata;
    let places = [
        (Place::Metadata, namespace.as_str()),
        (Place::Claim, &inputs.composite.claim.namespace),
        (Place::Label, labels.get("crossplane.io/claim-namespace").map_or("", String::as_str)),
    ];
    let mut said = places.into_iter().filter(|(_, name)| !name.is_empty());
    let Some((place, first)) = said.next() else {
        let what = "the actor has no namespace: its resources have nowhere to go";
        let problem = Problem::value(Place::Metadata.path(), Source::Nobody, what);
        problems.push(problem.hint("a composite names its claim in `spec.claimRef`; for a file, give `-n NAMESPACE`"));
        return None;
    };
    for (other, name) in said.filter(|(_, name)| *name != first) {
        let what = format!("says namespace {name:?}, but {} says {first:?}", place.path());
        problems.push(
            Problem::value(other.path(), Source::Actor, what).hint("an actor lives in one namespace; make them agree"),
        );
    }
    if !is_dns_label(first) {
        problems.push(Problem::value(place.path(), Source::Actor, format!("{first:?} is no namespace's name")));
        return None;
    }
    Some(first.to_owned())
}

fn long_queue(identity: &Identity) -> Problem {
    let queue = identity.queue();
    let what = format!("the queue's name `{queue}` has {} characters; SQS allows {LONGEST_QUEUE}", queue.len());
    Problem::value(Path::keys("spec.actor"), Source::Actor, what).hint("set a shorter `spec.actor`")
}

/// An actor whose queue would be a namespace's dead-letter queue.
pub fn takes_dead_letters(identity: &Identity, platform: &Platform) -> Option<Problem> {
    let suffix = platform.sqs.dlq.mode == DlqMode::Shared && identity.actor.ends_with("-dlq");
    (identity.actor == "dlq" || suffix).then(|| {
        let what =
            format!("an actor called `{}` would share its queue with a namespace's dead-letter queue", identity.actor);
        Problem::value(Path::keys("spec.actor"), Source::Actor, what).hint("set another `spec.actor`")
    })
}
