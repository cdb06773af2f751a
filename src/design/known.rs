//! The designs of the actors that were last looked at. A cluster's actors come back every minute, nearly always with the
//! same words.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Arc, Weak};

use serde_json::Value;

use super::Design;
use crate::identity::Identity;
use crate::memory::Memory;
use crate::platform::Platform;
use crate::problem::Problems;
use crate::words::Words;

/// How much memory all designs together may take, in bytes: those of a thousand actors.
const MOST: usize = 16 * 1024 * 1024;

/// The designs of this process. What is in it saves work and changes no answer.
static DESIGNS: Memory<Known> = Memory::new(MOST);

/// Everything that a design is made from. Words that came before are shared ([`crate::wire::request`]), so a design holds
/// for the same ones, not for equal ones.
#[derive(Clone, Copy)]
pub struct Brief<'a> {
    /// Who the actor is.
    pub identity: &'a Identity,
    /// The labels of its composite.
    pub labels: &'a BTreeMap<String, String>,
    /// Its own spec.
    pub spec: &'a Arc<Words>,
    /// What its flavors say, in the order it lists them.
    pub flavors: &'a [&'a Arc<Value>],
    /// The settings of the installation.
    pub platform: &'a Arc<Platform>,
    /// Where its queue is.
    pub url: Option<&'a str>,
    /// Unknown fields of the actor are problems.
    pub strict: bool,
}

/// A brief that is kept. It does not keep the words themselves: those are remembered or forgotten elsewhere, and once they
/// are forgotten it is the brief of nobody.
struct Kept {
    identity: Identity,
    labels: BTreeMap<String, String>,
    spec: Weak<Words>,
    flavors: Vec<Weak<Value>>,
    platform: Weak<Platform>,
    url: Option<String>,
    strict: bool,
}

impl Kept {
    /// None if nobody will bring the same words again: too many to be remembered.
    fn new(brief: Brief<'_>) -> Option<Self> {
        let Brief { identity, labels, spec, flavors, platform, url, strict } = brief;
        // Whoever remembers them holds them too.
        let flavors_are = flavors.iter().all(|flavor| Arc::strong_count(flavor) > 1);
        (flavors_are && Arc::strong_count(spec) > 1).then(|| Self {
            identity: identity.clone(),
            labels: labels.clone(),
            spec: Arc::downgrade(spec),
            flavors: flavors.iter().copied().map(Arc::downgrade).collect(),
            platform: Arc::downgrade(platform),
            url: url.map(str::to_owned),
            strict,
        })
    }

    fn is(&self, brief: &Brief<'_>) -> bool {
        let Brief { identity, labels, spec, flavors, platform, url, strict } = brief;
        // What is pointed at weakly keeps its place in memory, so nothing else can have come to stand there.
        ptr::eq(self.spec.as_ptr(), Arc::as_ptr(spec))
            && ptr::eq(self.platform.as_ptr(), Arc::as_ptr(platform))
            && self.flavors.len() == flavors.len()
            && self.flavors.iter().zip(*flavors).all(|(ours, theirs)| ptr::eq(ours.as_ptr(), Arc::as_ptr(theirs)))
            && (&self.identity, &self.labels, self.url.as_deref(), &self.strict) == (*identity, *labels, *url, strict)
    }

    /// About how much memory it takes, in bytes.
    fn bytes(&self) -> usize {
        let labels = self.labels.iter().map(|(key, value)| key.len() + value.len() + 2 * size_of::<String>());
        size_of::<Self>() + labels.sum::<usize>() + self.flavors.len() * size_of::<Weak<Value>>()
    }
}

/// A design, and what it was made from.
#[derive(Clone)]
pub struct Known(Arc<(Kept, Design, Problems)>);

impl Known {
    /// What is known from this brief.
    pub fn from(brief: &Brief<'_>) -> Option<Self> {
        DESIGNS.get(&key(brief.identity)).filter(|known| known.0.0.is(brief))
    }

    /// The design.
    pub fn design(&self) -> &Design {
        &self.0.1
    }

    /// What was doubtful about the words that it was made from.
    pub fn warnings(&self) -> &Problems {
        &self.0.2
    }

    /// Keeps a design for the actor's next call.
    pub fn keep(brief: Brief<'_>, design: Design, warnings: Problems) {
        if let Some(kept) = Kept::new(brief) {
            let told: usize = warnings.iter().map(|warning| size_of_val(warning) + 2 * warning.to_string().len()).sum();
            let bytes = kept.bytes() + design.bytes() + told;
            DESIGNS.put(&key(brief.identity), Self(Arc::new((kept, design, warnings))), bytes);
        }
    }
}

fn key(identity: &Identity) -> String {
    [&*identity.namespace, &*identity.actor].join("/")
}
