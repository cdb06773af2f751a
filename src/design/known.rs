//! The designs of the actors that were last looked at. A cluster's actors come back every minute, nearly always with the
//! same words.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use smallvec::SmallVec;

use super::Design;
use crate::identity::Identity;
use crate::memory::Memory;
use crate::platform::Platform;
use crate::problem::Problems;

/// How much memory all designs together may take, in bytes: those of some hundred actors.
const MOST: usize = 8 * 1024 * 1024;

/// The designs of this process. What is in it saves work and changes no answer.
pub static DESIGNS: Memory<Known> = Memory::new(MOST);

/// Everything that a design is made from. Words that came before are shared ([`crate::wire::request`]), so two briefs are
/// equal if they hold the same ones, not if they hold equal ones.
#[derive(Clone, Debug)]
pub struct Brief {
    /// Who the actor is.
    pub identity: Identity,
    /// The labels of its composite.
    pub labels: BTreeMap<String, String>,
    /// Its own spec.
    pub spec: Arc<Value>,
    /// What its flavors say, in the order it lists them.
    pub flavors: SmallVec<[Arc<Value>; 4]>,
    /// The settings of the installation.
    pub platform: Arc<Platform>,
    /// Where its queue is.
    pub url: Option<String>,
    /// Unknown fields of the actor are problems.
    pub strict: bool,
}

impl PartialEq for Brief {
    fn eq(&self, other: &Self) -> bool {
        let Brief { identity, labels, spec, flavors, platform, url, strict } = self;
        Arc::ptr_eq(spec, &other.spec)
            && Arc::ptr_eq(platform, &other.platform)
            && flavors.len() == other.flavors.len()
            && flavors.iter().zip(&other.flavors).all(|(ours, theirs)| Arc::ptr_eq(ours, theirs))
            && (identity, labels, url, strict) == (&other.identity, &other.labels, &other.url, &other.strict)
    }
}

/// A design, and what it was made from.
#[derive(Clone, Debug)]
pub struct Known(Arc<(Brief, Design, Problems)>);

impl Known {
    /// The design, and what was doubtful about the words it was made from.
    pub fn design(&self) -> (&Design, &Problems) {
        (&self.0.1, &self.0.2)
    }

    /// What is known from this brief.
    pub fn from(brief: &Brief) -> Option<Self> {
        DESIGNS.get(&key(&brief.identity)).filter(|known| known.0.0 == *brief)
    }

    /// A new design.
    pub fn new(brief: Brief, design: Design, warnings: Problems) -> Self {
        Self(Arc::new((brief, design, warnings)))
    }

    /// Keeps it for the actor's next call.
    pub fn keep(&self) {
        let (brief, design, warnings) = &*self.0;
        let labels: usize =
            brief.labels.iter().map(|(key, value)| key.len() + value.len() + 2 * size_of::<String>()).sum();
        let warnings: usize = warnings.iter().map(|warning| size_of_val(warning) + warning.what.len()).sum();
        DESIGNS.put(&key(&brief.identity), self.clone(), size_of::<Brief>() + labels + warnings + design.bytes());
    }
}

fn key(identity: &Identity) -> String {
    format!("{}/{}", identity.namespace, identity.actor)
}
