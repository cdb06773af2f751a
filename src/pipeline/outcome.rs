//! The parts every answer has: conditions, warnings, and whether anything changed.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Call;
use crate::composed::{Composition, Notice, Severity, Truth, Verdict};
use crate::identity;
use crate::problem::Problems;
use crate::resolve::layers::Findings;
use crate::status::FLAVORS_RESOLVED;

/// The longest message of a condition, in characters.
const LONGEST_MESSAGE: usize = 1024;

impl Call<'_> {
    /// FlavorsResolved when all flavors were found and agree.
    pub(super) fn resolved_verdict(&self) -> Verdict {
        let deprecated = self.deprecated();
        let names = self.names.join(", ");
        if self.names.is_empty() {
            verdict(FLAVORS_RESOLVED, Truth::True, "NoFlavors", "")
        } else if deprecated.is_empty() {
            verdict(FLAVORS_RESOLVED, Truth::True, "Resolved", &names)
        } else {
            let told = deprecated.iter().map(|(name, message)| match *message {
                "" => format!("{name} is deprecated"),
                message => format!("{name} is deprecated: {message}"),
            });
            let told: Vec<String> = std::iter::once(names).chain(told).collect();
            verdict(FLAVORS_RESOLVED, Truth::True, "ResolvedDeprecated", &cut(&told.join("; ")))
        }
    }

    /// An answer with its warnings and conditions, and nothing else yet.
    pub(super) fn composition(&self, found: Findings, conditions: Vec<Verdict>, ttl: Duration) -> Composition {
        let before = &self.inputs.composite.status.conditions;
        let stands = |verdict: &Verdict| {
            before.iter().any(|condition| {
                condition.kind == verdict.kind
                    && condition.status == verdict.status.as_str()
                    && condition.reason == verdict.reason
                    && condition.message == verdict.message
            })
        };
        let changed = self.inputs.observed.is_empty() || !conditions.iter().all(stands);
        let warnings = found.warnings.sorted();
        let mut composition = Composition {
            requirements: self.requirements.clone(),
            spec: None,
            status: None,
            resources: BTreeMap::new(),
            waiting: BTreeMap::new(),
            hold: false,
            conditions,
            results: Vec::new(),
            ttl,
            problems: Problems::default(),
            warnings,
            applied: Vec::new(),
            changed,
            actor: identity::actor_name(self.inputs).unwrap_or_default(),
            resolved: None,
        };
        for warning in composition.warnings.clone() {
            composition.tell(Severity::Warning, warning.to_string());
        }
        composition
    }
}

impl Composition {
    /// Tells something once: only while a condition of ours is about to change.
    pub(super) fn tell(&mut self, severity: Severity, message: String) {
        if self.changed {
            self.results.push(Notice { severity, message });
        }
    }

    /// Tells which flavors were applied.
    pub(super) fn told_flavors(&mut self, names: &[String]) {
        if !names.is_empty() {
            self.tell(Severity::Normal, format!("Applied {} flavors: {}", names.len(), names.join(", ")));
        }
        self.applied = names.to_vec();
    }
}

/// A condition of ours.
pub(super) fn verdict(kind: &'static str, status: Truth, reason: &'static str, message: &str) -> Verdict {
    Verdict { kind, status, reason, message: message.to_owned() }
}

/// A text cut to what a condition's message may hold.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some(_) => text.chars().take(LONGEST_MESSAGE - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}
