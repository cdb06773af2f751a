//! Two actors that would take each other's messages: the queue's name joins namespace and actor with a hyphen.

use super::{Actor, Finding, Level, Lot};
use crate::identity::{Identity, identify};
use crate::path::Path;
use crate::problem::{Problem, Problems, Source};

/// Each actor whose queue belongs to one before it.
pub fn check(lot: &Lot<'_>) -> Vec<Finding> {
    if lot.platform.only_resolves_flavors() {
        return Vec::new();
    }
    let identities: Vec<Option<Identity>> =
        lot.actors.iter().map(|actor| identify(&actor.inputs, &mut Problems::default())).collect();
    let mut found = Vec::new();
    for (index, mine) in identities.iter().enumerate() {
        let Some(mine) = mine else { continue };
        let first = identities[..index].iter().zip(lot.actors).position(|(other, actor)| {
            other.as_ref().is_some_and(|other| other.queue() == mine.queue())
                && !is_its_composite(actor, &lot.actors[index])
        });
        if let Some((first, Some(theirs))) = first.map(|first| (first, &identities[first])) {
            let mut finding = Finding::new(Level::Problem, clash(mine, theirs)).of_actor(index);
            finding.other = Some(first);
            found.push(finding);
        }
    }
    found
}

fn clash(mine: &Identity, theirs: &Identity) -> Problem {
    let what = if mine == theirs {
        format!("namespace `{}` has two actors called `{}`", mine.namespace, mine.actor)
    } else {
        let Identity { namespace, actor } = theirs;
        format!("shares its queue `{}` with actor `{actor}` of namespace `{namespace}`", mine.queue())
    };
    Problem::value(Path::keys("spec.actor"), Source::Actor, what).hint("set another `spec.actor`")
}

/// True for a claim and the composite that Crossplane makes of it: one actor in two files.
fn is_its_composite(a: &Actor, b: &Actor) -> bool {
    let (mine, theirs) = (&a.inputs.composite.claim, &b.inputs.composite.claim);
    a.is_claim != b.is_claim && mine == theirs && !mine.name.is_empty() && !mine.namespace.is_empty()
}
