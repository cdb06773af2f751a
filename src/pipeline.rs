//! The whole way from inputs to answer. Read it top to bottom.

mod outcome;
mod refusal;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::composed::{Composed, Composition, Plan, Requirements, Step, Truth, Verdict};
use crate::design::{self, Brief, Design, Known};
use crate::identity::{self, Identity};
use crate::inputs::{EnvironmentConfig, Inputs, PLATFORM_KEY, flavor_key};
use crate::names;
use crate::path::Path;
use crate::platform::{self, Platform};
use crate::problem::{Kind, Problem, Problems, Source};
use crate::resolve::layers::Findings;
use crate::resolve::{self, Layers, Resolved};
use crate::resources;
use crate::status::{self, SPEC_ACCEPTED, View};
use crate::transport::{self, Broker, Whereabouts};
use outcome::verdict;

/// Answers one call. The same inputs make the same answer: no clock, no disk, no network, no environment.
pub fn compose(inputs: &Inputs) -> Step {
    let mut found = Findings::default();
    let names = listed_flavors(inputs, &mut found);
    let requirements = requirements(inputs, &names);
    if lacks(inputs, &names) {
        if !inputs.cannot_ask {
            return Step::Ask(requirements);
        }
        found.problems.push(cannot_ask());
    }
    let found_flavors = names.iter().map(|name| inputs.flavor(name).and_then(<[_]>::first)).collect();
    let call = Call { inputs, names, found_flavors, requirements };
    Step::Answer(Box::new(call.answer(found)))
}

/// True if something has to be asked for first. What is observed or desired so far makes no difference.
pub fn asks(inputs: &Inputs) -> bool {
    let names = listed_flavors(inputs, &mut Findings::default());
    !inputs.cannot_ask && lacks(inputs, &names)
}

fn lacks(inputs: &Inputs, names: &[String]) -> bool {
    let settings = platform::config_name(inputs).is_some() && !inputs.required.contains_key(PLATFORM_KEY);
    settings || names.iter().any(|name| inputs.flavor(name).is_none())
}

/// The valid flavor names of the actor, each once, in its order.
pub fn listed_flavors(inputs: &Inputs, found: &mut Findings) -> Vec<String> {
    let listed = inputs.composite.spec.flavors();
    let mut names: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, name) in listed.iter().enumerate() {
        let Some(name) = name.as_str().filter(|name| name.len() >= 3) else { continue };
        let path = || Path::keys("spec.flavors").index(index);
        if !names::is_object_name(name) {
            let what = format!("{name:?} is no name that an EnvironmentConfig can have");
            found
                .problems
                .push(Problem::value(path(), Source::Actor, what).hint("lower-case letters, digits, `-` and `.`"));
        } else if !seen.insert(name) {
            let what = format!("flavor `{name}` is listed twice and counts once");
            found.warnings.push(Problem::value(path(), Source::Actor, what));
        } else {
            names.push(name.to_owned());
        }
    }
    names.truncate(MOST_FLAVORS);
    names
}

/// How many flavors an actor may list; the schema says so too.
const MOST_FLAVORS: usize = 8;

/// What to ask for: every flavor, and the platform settings.
fn requirements(inputs: &Inputs, names: &[String]) -> Requirements {
    let flavors = names.iter().map(|name| (flavor_key(name), name.clone()));
    let settings = platform::config_name(inputs).map(|name| (PLATFORM_KEY.to_owned(), name.to_owned()));
    flavors.chain(settings).collect()
}

fn cannot_ask() -> Problem {
    let what = "this actor needs EnvironmentConfigs, and the caller cannot look them up";
    Problem::value(Path::root(), Source::Nobody, what).hint("use Crossplane 1.19 or newer")
}

/// One call, with what it has to ask for.
struct Call<'a> {
    inputs: &'a Inputs,
    names: Vec<String>,
    /// What was found for each name.
    found_flavors: Vec<Option<&'a EnvironmentConfig>>,
    requirements: Requirements,
}

impl Call<'_> {
    /// The answer, or the refusal with everything that is wrong.
    fn answer(&self, mut found: Findings) -> Composition {
        let unreadable = self.inputs.unreadable.iter().cloned();
        found.problems.extend(unreadable);
        if !self.inputs.unreadable.is_empty() || self.inputs.cannot_ask && !found.problems.is_empty() {
            return self.refuse(found);
        }
        // How flavors merge is a setting too, so bad settings are told before anything is merged by the wrong ones.
        let settled = platform::settle(self.inputs);
        let is_settled = settled.is_ok();
        let platform = settled.unwrap_or_else(|problems| {
            found.problems.extend(problems);
            Arc::new(Platform::built_in())
        });
        let identity = self.identify(&platform, &mut found);
        self.look_at_flavors(&mut found);
        found.warnings.extend(platform::forgotten_config(self.inputs));
        if let Some(missing) = self.missing() {
            // Later steps of the pipeline would build from a spec that lacks the flavor, so there is no waiting then.
            let may_wait = self.inputs.observed.is_empty() && !self.only_flavors();
            if found.problems.is_empty() && may_wait {
                return self.wait(found, missing);
            }
            found.problems.push(missing);
            return self.refuse(found);
        }
        if !is_settled {
            return self.refuse(found);
        }
        let whereabouts = transport::whereabouts(Broker::Sqs, &self.inputs.composite, &self.inputs.observed);
        let flavors: Vec<_> = self.flavors().map(|(_, config)| &config.data).collect();
        let brief = identity.as_ref().map(|identity| self.brief(identity, &platform, &flavors, whereabouts.url()));
        let known = brief.as_ref().filter(|_| self.recurs(&found)).and_then(Known::from);
        match (&identity, known) {
            (Some(identity), Some(known)) => {
                found.warnings.extend(known.warnings().iter().cloned());
                self.build(found, &platform, identity, &whereabouts, known.design())
            }
            _ => self.design_anew(found, &platform, brief, &whereabouts),
        }
    }

    /// Designs the actor from its words, and emits that; or refuses with everything that is wrong about the words.
    fn design_anew(
        &self,
        mut found: Findings,
        platform: &Platform,
        brief: Option<Brief<'_>>,
        whereabouts: &Whereabouts,
    ) -> Composition {
        let recurs = self.recurs(&found);
        let mut said = Findings::default();
        let layers = resolve::gather(self.inputs, &self.names, platform, &mut said);
        found.problems.extend(said.problems);
        found.warnings.extend(said.warnings.iter().cloned());
        let resolved = match resolve::resolve(&layers, platform) {
            Ok(resolved) if found.problems.is_empty() => resolved,
            outcome => {
                found.problems.extend(outcome.err().into_iter().flatten());
                return self.refuse(found);
            }
        };
        if platform.only_resolves_flavors() {
            return self.hand_over(found, platform, &layers, resolved);
        }
        let Some(brief) = brief else { return self.refuse(found) };
        if self.inputs.only_checks {
            return self.composition(found, Vec::new(), Duration::ZERO);
        }
        match design::design(brief.identity, &resolved.spec, platform, brief.labels, whereabouts.url()) {
            Err(problems) => {
                found.problems.extend(problems);
                self.refuse(found)
            }
            Ok(design) => {
                let mut composition = self.build(found, platform, brief.identity, whereabouts, &design);
                composition.resolved = self.inputs.tell_spec.then(|| resolved.fields.value());
                if recurs {
                    Known::keep(brief, design, said.warnings);
                }
                composition
            }
        }
    }

    /// All that the design is made from.
    fn brief<'b>(
        &'b self,
        identity: &'b Identity,
        platform: &'b Arc<Platform>,
        flavors: &'b [&'b Arc<Value>],
        url: Option<&'b str>,
    ) -> Brief<'b> {
        let Inputs { composite, strict, .. } = self.inputs;
        let labels = &composite.metadata.labels;
        Brief { identity, labels, spec: &composite.spec, flavors, platform, url, strict: *strict }
    }

    /// The flavors that were found, in the order in which the actor lists them.
    fn flavors(&self) -> impl Iterator<Item = (&str, &EnvironmentConfig)> {
        self.names.iter().zip(&self.found_flavors).filter_map(|(name, config)| Some((name.as_str(), (*config)?)))
    }

    /// True if a design is all that is wanted, and may be known already.
    fn recurs(&self, found: &Findings) -> bool {
        self.inputs.recurs && !self.inputs.tell_spec && found.problems.is_empty()
    }

    /// Nothing but flavors is asked for.
    fn only_flavors(&self) -> bool {
        platform::is_for_flavors_only(self.inputs)
    }

    /// Who the actor is, and whether its names are free.
    fn identify(&self, platform: &Platform, found: &mut Findings) -> Option<Identity> {
        if self.only_flavors() {
            let written = self.inputs.composite.spec.actor().is_some();
            found.problems.extend(identity::bad_name(self.inputs).filter(|_| written));
            return None;
        }
        for name in self.inputs.foreign.iter().filter(|name| resources::is_ours(name)) {
            let what =
                format!("an earlier step of the pipeline already desires a resource called `{name}`, which is ours");
            let problem = Problem::value(Path::root(), Source::Nobody, what);
            found.problems.push(problem.hint("remove that step from the Composition, or rename its resource"));
        }
        let identity = identity::identify(self.inputs, &mut found.problems)?;
        found.problems.extend(identity::takes_dead_letters(&identity, platform));
        Some(identity)
    }

    /// Warnings about the flavors that were found.
    fn look_at_flavors(&self, found: &mut Findings) {
        for (key, name) in &self.requirements {
            let items = self.inputs.required.get(key).map_or(&[][..], Vec::as_slice);
            if items.len() > 1 {
                let what = format!("{} EnvironmentConfigs came for `{name}`; the first counts", items.len());
                found.warnings.push(Problem::value(Path::root(), Source::Nobody, what));
            }
        }
        for (name, message) in self.deprecated() {
            let what = if message.is_empty() { String::new() } else { format!(": {message}") };
            found.warnings.push(Problem::value(
                Path::root(),
                Source::Nobody,
                format!("flavor `{name}` is deprecated{what}"),
            ));
        }
    }

    /// The deprecated flavors among those listed, each with what its owner says of it.
    fn deprecated(&self) -> Vec<(&str, &str)> {
        self.flavors().filter_map(|(name, config)| Some((name, config.deprecated.as_deref()?))).collect()
    }

    /// The flavors that do not exist, in the words people know.
    fn missing(&self) -> Option<Problem> {
        let asked = self.names.iter().zip(&self.found_flavors);
        let missing: Vec<&str> = asked.filter(|(_, found)| found.is_none()).map(|(name, _)| name.as_str()).collect();
        let first = missing.first()?;
        let listed: BTreeSet<_> = self.inputs.composite.spec.flavors().iter().filter_map(Value::as_str).collect();
        let (count, names, listed) = (missing.len(), missing.join(", "), listed.len());
        let what = format!("Waiting for {count} flavor EnvironmentConfigs: {names} ({listed} listed)");
        let hint = format!("create the EnvironmentConfig, or remove `{first}` from spec.flavors; nothing was changed");
        Some(Problem::value(Path::root(), Source::Nobody, what).of_kind(Kind::Missing).hint(hint))
    }

    /// `stages: [resolve-flavors]`: the resolved spec for other functions, and nothing else.
    fn hand_over(&self, found: Findings, platform: &Platform, layers: &Layers, resolved: Resolved<'_>) -> Composition {
        let mut conditions = vec![verdict(SPEC_ACCEPTED, Truth::True, "Accepted", ""), self.resolved_verdict()];
        conditions.extend(self.nothing());
        let mut composition = self.composition(found, conditions, platform.ttl(self.inputs.ttl));
        composition.told_flavors(&self.names);
        let said = resolved.fields.said().unwrap_or_else(|| Value::clone(&layers.actor.spec));
        composition.spec = Some(said);
        composition.resolved = self.inputs.tell_spec.then(|| resolved.fields.value());
        composition
    }

    fn nothing(&self) -> [Verdict; 3] {
        [status::TRANSPORT_READY, status::SCALING_READY, status::WORKLOAD_READY].map(status::not_observed)
    }

    /// Emits every resource, or refuses if one that exists cannot be emitted.
    fn build(
        &self,
        mut found: Findings,
        platform: &Platform,
        identity: &Identity,
        whereabouts: &Whereabouts,
        design: &Design,
    ) -> Composition {
        let observed = &self.inputs.observed;
        let plans = resources::plan(design, identity, whereabouts, observed);
        let (plans, lost) =
            plans.map_or_else(|problems| (BTreeMap::new(), problems), |plans| (plans, Problems::default()));
        found.problems.extend(lost);
        found.problems.extend(resources::identity::check(identity, platform, observed, &plans));
        if !found.problems.is_empty() {
            return self.refuse(found);
        }
        let view = self.view(Some(&plans), Some(design.scaling));
        let mut conditions = vec![verdict(SPEC_ACCEPTED, Truth::True, "Accepted", ""), self.resolved_verdict()];
        conditions.extend(view.verdicts());
        let mut composition = self.composition(found, conditions, platform.ttl(self.inputs.ttl));
        composition.told_flavors(&self.names);
        composition.status = Some(view.status(&identity.actor, platform::config_in_use(self.inputs)));
        let ready: Vec<bool> = plans.keys().map(|name| view.is_ready(name)).collect();
        for ((name, plan), ready) in plans.into_iter().zip(ready) {
            match plan {
                Plan::Compose(object) => drop(composition.resources.insert(name, Composed { object, ready })),
                Plan::Wait(reason) => drop(composition.waiting.insert(name, reason)),
                Plan::Omit => {}
            }
        }
        composition.hold = !composition.waiting.is_empty();
        composition
    }

    fn view<'v>(&'v self, plans: Option<&'v BTreeMap<&'static str, Plan>>, scaling: Option<bool>) -> View<'v> {
        View::new(&self.inputs.composite, &self.inputs.observed, plans, scaling)
    }
}
