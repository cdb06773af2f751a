//! What is answered when nothing can be built: a refusal with everything that is wrong, or a wait for a flavor.

use std::time::Duration;

use super::Call;
use super::outcome::{cut, verdict};
use crate::composed::{Composition, Notice, Severity, Truth, Verdict};
use crate::identity;
use crate::node::map;
use crate::platform;
use crate::problem::{Kind, Problem, Problems, Source};
use crate::resolve::layers::Findings;
use crate::status::{self, FLAVORS_RESOLVED, SPEC_ACCEPTED};

/// How soon to look again for a flavor that is missing.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

impl Call<'_> {
    /// A flavor is missing and nothing exists yet: wait for it.
    pub(super) fn wait(&self, found: Findings, missing: Problem) -> Composition {
        let actor = identity::actor_name(self.inputs).unwrap_or_default();
        let unknown = "the spec is checked once all flavors are there";
        let mut conditions = vec![
            verdict(SPEC_ACCEPTED, Truth::Unknown, "FlavorNotFound", unknown),
            verdict(FLAVORS_RESOLVED, Truth::False, "FlavorNotFound", &missing.what),
        ];
        conditions.extend(self.view(None, None).verdicts());
        let status = map! {
            "phase" => "Waiting",
            "actor" => actor,
            "platformConfig" => platform::config_in_use(self.inputs).map(str::to_owned),
        };
        let mut composition = self.composition(found, conditions, LOOK_AGAIN);
        composition.tell(Severity::Normal, missing.what);
        composition.status = Some(status);
        composition.hold = true;
        composition
    }

    /// Refuses the call: one Fatal result with everything that is wrong, preceded by a Warning the claim sees too.
    pub(super) fn refuse(&self, mut found: Findings) -> Composition {
        let problems = std::mem::take(&mut found.problems).sorted();
        let text = problems.to_string();
        let mut conditions = self.blame(&problems, &text);
        let [mut transport, scaling, workload] =
            if self.only_flavors() { self.nothing() } else { self.view(None, None).verdicts() };
        if problems.iter().any(|problem| problem.kind == Kind::Transport) {
            transport = verdict(status::TRANSPORT_READY, Truth::False, "Creating", &cut(&text));
        }
        conditions.extend([transport, scaling, workload]);
        let mut composition = self.composition(found, conditions, Duration::ZERO);
        composition.tell(Severity::Warning, text.clone());
        composition.results.push(Notice { severity: Severity::Fatal, message: text });
        composition.problems = problems;
        composition
    }

    /// SpecAccepted and FlavorsResolved beside a refusal.
    fn blame(&self, problems: &Problems, text: &str) -> Vec<Verdict> {
        let any = |test: &dyn Fn(&Problem) -> bool| problems.iter().any(test);
        let of_flavor = |problem: &Problem| matches!(problem.source, Source::Flavor(_));
        let missing = any(&|problem| problem.kind == Kind::Missing);
        let refusing = |kind, reason| verdict(kind, Truth::False, reason, &cut(text));
        let spec = if any(&|problem| problem.kind == Kind::Platform) {
            refusing(SPEC_ACCEPTED, "InvalidPlatform")
        } else if any(&|problem| problem.kind == Kind::Value && !of_flavor(problem)) {
            refusing(SPEC_ACCEPTED, "InvalidSpec")
        } else if missing {
            verdict(SPEC_ACCEPTED, Truth::Unknown, "FlavorNotFound", "the spec is checked once all flavors are there")
        } else {
            verdict(SPEC_ACCEPTED, Truth::True, "Accepted", "")
        };
        let flavors = if missing {
            refusing(FLAVORS_RESOLVED, "FlavorNotFound")
        } else if any(&|problem| problem.kind == Kind::Conflict) {
            refusing(FLAVORS_RESOLVED, "FlavorConflict")
        } else if any(&|problem| problem.kind == Kind::Value && of_flavor(problem)) {
            refusing(FLAVORS_RESOLVED, "FlavorInvalid")
        } else if self.inputs.unreadable.is_empty() {
            self.resolved_verdict()
        } else {
            verdict(
                FLAVORS_RESOLVED,
                Truth::Unknown,
                "NotObserved",
                "flavors are looked at once everything can be read",
            )
        };
        vec![spec, flavors]
    }
}
