//! The whole way from inputs to answer. Read it top to bottom.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::composed::{Composed, Composition, Notice, Plan, Requirements, Severity, Step, Truth, Verdict};
use crate::identity::{self, Identity};
use crate::inputs::{Inputs, PLATFORM_KEY, flavor_key};
use crate::path::Path;
use crate::platform::{self, Platform};
use crate::problem::{Kind, Problem, Problems, Source};
use crate::resolve::field::{Field, Shape};
use crate::resolve::layers::Findings;
use crate::resolve::{self, Layers, Resolved};
use crate::resources::{self, Subject};
use crate::status::{self, FLAVORS_RESOLVED, SPEC_ACCEPTED, View};
use crate::transport::{self, Broker};

/// How soon to look again for a flavor that is missing.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// The longest message of a condition, in characters.
const LONGEST_MESSAGE: usize = 1024;

/// Answers one call. The same inputs make the same answer: no clock, no disk, no network, no environment.
pub fn compose(inputs: &Inputs) -> Step {
    let mut found = Findings::default();
    let names = listed_flavors(inputs, &mut found);
    let requirements = requirements(inputs, &names);
    if !requirements.keys().all(|key| inputs.required.contains_key(key)) {
        if !inputs.cannot_ask {
            return Step::Ask(requirements);
        }
        found.problems.push(cannot_ask());
    }
    let call = Call { inputs, names, requirements };
    Step::Answer(Box::new(call.answer(found)))
}

/// The valid flavor names of the actor, each once, in its order.
pub fn listed_flavors(inputs: &Inputs, found: &mut Findings) -> Vec<String> {
    let listed = inputs.composite.spec.get("flavors").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut names: Vec<String> = Vec::new();
    for (index, name) in listed.iter().enumerate() {
        let Some(name) = name.as_str().filter(|name| name.len() >= 3) else { continue };
        let path = Path::keys("spec.flavors").index(index);
        if !platform::is_object_name(name) {
            let what = format!("{name:?} is no name that an EnvironmentConfig can have");
            found
                .problems
                .push(Problem::value(path, Source::Actor, what).hint("lower-case letters, digits, `-` and `.`"));
        } else if names.iter().any(|other| other == name) {
            let what = format!("flavor `{name}` is listed twice and counts once");
            found.warnings.push(Problem::value(path, Source::Actor, what));
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
    requirements: Requirements,
}

impl Call<'_> {
    /// The answer, or the refusal with everything that is wrong.
    fn answer(&self, mut found: Findings) -> Composition {
        let unreadable = self.inputs.unreadable.iter().cloned();
        found.problems.extend(unreadable);
        if !self.inputs.unreadable.is_empty() || self.inputs.cannot_ask && !found.problems.is_empty() {
            return self.refuse(found, None);
        }
        let platform = platform::settle(self.inputs).unwrap_or_else(|problems| {
            found.problems.extend(problems);
            Platform::built_in()
        });
        let identity = self.identify(&platform, &mut found);
        self.look_at_flavors(&mut found);
        if let Some(missing) = self.missing() {
            if found.problems.is_empty() && self.inputs.observed.is_empty() {
                return self.wait(found, missing);
            }
            found.problems.push(missing);
            return self.refuse(found, Some(&platform));
        }
        let layers = resolve::gather(self.inputs, &self.names, &platform, &mut found);
        let resolved = match resolve::resolve(&layers, &platform) {
            Ok(resolved) if found.problems.is_empty() => resolved,
            outcome => {
                found.problems.extend(outcome.err().into_iter().flatten());
                return self.refuse(found, Some(&platform));
            }
        };
        if platform.only_resolves_flavors() {
            return self.hand_over(found, &platform, &layers, resolved);
        }
        match identity {
            Some(identity) => self.build(found, &platform, &identity, resolved),
            None => self.refuse(found, Some(&platform)),
        }
    }

    /// Who the actor is, and whether its names are free.
    fn identify(&self, platform: &Platform, found: &mut Findings) -> Option<Identity> {
        if platform.only_resolves_flavors() {
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
        let configs =
            self.names.iter().filter_map(|name| Some((name, self.inputs.required.get(&flavor_key(name))?.first()?)));
        let old = configs.filter(|(_, config)| {
            config.metadata.labels.get("asya.sh/deprecated").is_some_and(|value| value == "true")
        });
        old.map(|(name, config)| {
            let message = config.metadata.annotations.get("asya.sh/deprecation-message");
            (name.as_str(), message.map_or("", String::as_str))
        })
        .collect()
    }

    /// The flavors that do not exist, in the words people know.
    fn missing(&self) -> Option<Problem> {
        let absent = |name: &&String| self.inputs.required.get(&flavor_key(name)).is_none_or(Vec::is_empty);
        let missing: Vec<&str> = self.names.iter().filter(absent).map(String::as_str).collect();
        let listed = self.names.len();
        let what = format!(
            "Waiting for {} flavor EnvironmentConfigs: {} ({listed} listed)",
            missing.len(),
            missing.join(", ")
        );
        let first = missing.first()?;
        let hint = format!("create the EnvironmentConfig, or remove `{first}` from spec.flavors; nothing was changed");
        Some(Problem::value(Path::root(), Source::Nobody, what).of_kind(Kind::Missing).hint(hint))
    }

    /// A flavor is missing and nothing exists yet: wait for it.
    fn wait(&self, found: Findings, missing: Problem) -> Composition {
        let actor = identity::actor_name(self.inputs).unwrap_or_default();
        let unknown = "the spec is checked once all flavors are there";
        let mut conditions = vec![
            verdict(SPEC_ACCEPTED, Truth::Unknown, "FlavorNotFound", unknown),
            verdict(FLAVORS_RESOLVED, Truth::False, "FlavorNotFound", &missing.what),
        ];
        conditions.extend(self.view(None, None).verdicts());
        let mut status =
            Map::from_iter([("phase".to_owned(), "Waiting".into()), ("actor".to_owned(), actor.as_str().into())]);
        if let Some(config) = platform::config_in_use(self.inputs) {
            status.insert("platformConfig".to_owned(), config.into());
        }
        let mut composition = self.composition(found, conditions, LOOK_AGAIN);
        composition.tell(Severity::Normal, missing.what);
        composition.status = Some(Value::Object(status));
        composition.hold = true;
        composition
    }

    /// Refuses the call: one Fatal result with everything that is wrong, preceded by a Warning the claim sees too.
    fn refuse(&self, mut found: Findings, platform: Option<&Platform>) -> Composition {
        let problems = std::mem::take(&mut found.problems).sorted();
        let text = problems.to_string();
        let mut conditions = self.blame(&problems, &text);
        let stage = platform.is_some_and(Platform::only_resolves_flavors);
        let [mut transport, scaling, workload] = if stage { self.nothing() } else { self.view(None, None).verdicts() };
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
        } else {
            self.resolved_verdict()
        };
        vec![spec, flavors]
    }

    fn resolved_verdict(&self) -> Verdict {
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

    /// `stages: [resolve-flavors]`: the resolved spec for other functions, and nothing else.
    fn hand_over(&self, found: Findings, platform: &Platform, layers: &Layers, resolved: Resolved<'_>) -> Composition {
        let mut conditions = vec![verdict(SPEC_ACCEPTED, Truth::True, "Accepted", ""), self.resolved_verdict()];
        conditions.extend(self.nothing());
        let mut composition = self.composition(found, conditions, platform.ttl(self.inputs.ttl));
        composition.told_flavors(&self.names);
        let said = without_defaults(&resolved.fields).unwrap_or_else(|| layers.actor.spec.clone());
        composition.spec = Some(said);
        composition.resolved = Some(resolved.value);
        composition
    }

    fn nothing(&self) -> [Verdict; 3] {
        [status::TRANSPORT_READY, status::SCALING_READY, status::WORKLOAD_READY].map(status::not_observed)
    }

    /// Builds every resource, or refuses if one that exists cannot be built.
    fn build(
        &self,
        mut found: Findings,
        platform: &Platform,
        identity: &Identity,
        resolved: Resolved<'_>,
    ) -> Composition {
        let (composite, observed) = (&self.inputs.composite, &self.inputs.observed);
        let labels = resources::user_labels(&composite.metadata.labels);
        let binding = transport::bind(Broker::Sqs, identity, &resolved.spec, platform, composite, observed);
        let subject =
            Subject { identity, spec: &resolved.spec, platform, labels: &labels, binding: &binding, observed };
        let plans = resources::plan(&subject);
        let (plans, lost) =
            plans.map_or_else(|problems| (BTreeMap::new(), problems), |plans| (plans, Problems::default()));
        found.problems.extend(lost);
        found.problems.extend(resources::identity::check(&subject, &plans));
        if !found.problems.is_empty() {
            return self.refuse(found, Some(platform));
        }
        let view = self.view(Some(&plans), Some(resolved.spec.scaling.enabled));
        let mut conditions = vec![verdict(SPEC_ACCEPTED, Truth::True, "Accepted", ""), self.resolved_verdict()];
        conditions.extend(view.verdicts());
        let mut composition = self.composition(found, conditions, platform.ttl(self.inputs.ttl));
        composition.told_flavors(&self.names);
        composition.status = Some(view.status(&identity.actor, platform::config_in_use(self.inputs)));
        for (name, plan) in &plans {
            match plan {
                Plan::Compose(object) => {
                    drop(
                        composition
                            .resources
                            .insert(name, Composed { object: object.clone(), ready: view.is_ready(name) }),
                    );
                }
                Plan::Wait(reason) => drop(composition.waiting.insert(name, *reason)),
                Plan::Omit => {}
            }
        }
        composition.hold = !composition.waiting.is_empty();
        composition.resolved = Some(resolved.value);
        composition
    }

    fn view<'v>(&'v self, plans: Option<&'v BTreeMap<&'static str, Plan>>, scaling: Option<bool>) -> View<'v> {
        View { composite: &self.inputs.composite, observed: &self.inputs.observed, plans, scaling }
    }

    /// An answer with its warnings and conditions, and nothing else yet.
    fn composition(&self, found: Findings, conditions: Vec<Verdict>, ttl: Duration) -> Composition {
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
    fn tell(&mut self, severity: Severity, message: String) {
        if self.changed {
            self.results.push(Notice { severity, message });
        }
    }

    fn told_flavors(&mut self, names: &[String]) {
        if !names.is_empty() {
            self.tell(Severity::Normal, format!("Applied {} flavors: {}", names.len(), names.join(", ")));
        }
        self.applied = names.to_vec();
    }
}

/// What the actor and its flavors say, without what only the defaults say.
fn without_defaults(field: &Field<'_>) -> Option<Value> {
    match &field.shape {
        Shape::Map(fields) => {
            let said = fields.iter().filter_map(|(key, field)| Some(((*key).to_owned(), without_defaults(field)?)));
            let said: Map<String, Value> = said.collect();
            (!said.is_empty() || field.set_by().is_none()).then_some(Value::Object(said))
        }
        _ => (field.set_by() != Some(&Source::Default)).then(|| field.value()),
    }
}

fn verdict(kind: &'static str, status: Truth, reason: &'static str, message: &str) -> Verdict {
    Verdict { kind, status, reason, message: message.to_owned() }
}

/// A text cut to what a condition's message may hold.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some(_) => text.chars().take(LONGEST_MESSAGE - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}
