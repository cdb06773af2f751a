//! The designs of the actors that were last looked at. A cluster's actors come back every minute, nearly always with the
//! same words.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Design;
use crate::identity::Identity;
use crate::memory::Memory;
use crate::platform::Platform;
use crate::problem::Problems;

/// How much memory all designs together may take, in bytes: those of some hundred actors.
const MOST: usize = 8 * 1024 * 1024;

/// The designs of this process. What is in it saves work and changes no answer.
pub static DESIGNS: Memory<Known> = Memory::new(MOST);

/// Everything that a design is made from. Words that came before are shared ([`crate::wire::request`]), so it holds for
/// the same ones, not for equal ones.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a> {
    /// Who the actor is.
    pub identity: &'a Identity,
    /// The labels of its composite.
    pub labels: &'a BTreeMap<String, String>,
    /// Its own spec.
    pub spec: &'a Arc<Value>,
    /// What its flavors say, in the order it lists them.
    pub flavors: &'a [&'a Arc<Value>],
    /// The settings of the installation.
    pub platform: &'a Arc<Platform>,
    /// Where its queue is.
    pub url: Option<&'a str>,
    /// Unknown fields of the actor are problems.
    pub strict: bool,
}

/// A brief that is kept.
#[derive(Debug)]
struct Kept {
    identity: Identity,
    labels: BTreeMap<String, String>,
    spec: Arc<Value>,
    flavors: Vec<Arc<Value>>,
    platform: Arc<Platform>,
    url: Option<String>,
    strict: bool,
}

impl Kept {
    fn new(brief: Brief<'_>) -> Self {
        Self {
            identity: brief.identity.clone(),
            labels: brief.labels.clone(),
            spec: Arc::clone(brief.spec),
            flavors: brief.flavors.iter().copied().map(Arc::clone).collect(),
            platform: Arc::clone(brief.platform),
            url: brief.url.map(str::to_owned),
            strict: brief.strict,
        }
    }

    fn is(&self, brief: &Brief<'_>) -> bool {
        let Brief { identity, labels, spec, flavors, platform, url, strict } = brief;
        Arc::ptr_eq(&self.spec, spec)
            && Arc::ptr_eq(&self.platform, platform)
            && self.flavors.len() == flavors.len()
            && self.flavors.iter().zip(*flavors).all(|(ours, theirs)| Arc::ptr_eq(ours, theirs))
            && (&self.identity, &self.labels, self.url.as_deref(), &self.strict) == (*identity, *labels, *url, strict)
    }
}

/// A design, and what it was made from.
#[derive(Clone, Debug)]
pub struct Known(Arc<(Kept, Design, Problems)>);

impl Known {
    /// The design, and what was doubtful about the words it was made from.
    pub fn design(&self) -> (&Design, &Problems) {
        (&self.0.1, &self.0.2)
    }

    /// What is known from this brief.
    pub fn from(brief: &Brief<'_>) -> Option<Self> {
        DESIGNS.get(&key(brief.identity)).filter(|known| known.0.0.is(brief))
    }

    /// A new design.
    pub fn new(brief: Brief<'_>, design: Design, warnings: Problems) -> Self {
        Self(Arc::new((Kept::new(brief), design, warnings)))
    }

    /// Keeps it for the actor's next call.
    pub fn keep(&self) {
        let (brief, design, warnings) = &*self.0;
        let labels: usize =
            brief.labels.iter().map(|(key, value)| key.len() + value.len() + 2 * size_of::<String>()).sum();
        let warnings: usize = warnings.iter().map(|warning| size_of_val(warning) + warning.what.len()).sum();
        DESIGNS.put(&key(&brief.identity), self.clone(), size_of::<Kept>() + labels + warnings + design.bytes());
    }
}

fn key(identity: &Identity) -> String {
    [&*identity.namespace, &*identity.actor].join("/")
}
