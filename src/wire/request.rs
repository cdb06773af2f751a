//! From a RunFunctionRequest to [`Inputs`]: only what somebody reads is decoded.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;

use super::proto::v1::{Capability, Resource, Resources, RunFunctionRequest, State};
use super::shelf::Shelf;
use super::{RawStruct, ReadError, from_struct};
use crate::api::{Object, Queue};
use crate::inputs::{Composite, EnvironmentConfig, FLAVOR, Inputs, Observed, PLATFORM_KEY};
use crate::path::Path;
use crate::pipeline;
use crate::problem::{Kind, Problem, Problems, Source};
use crate::resources;
use crate::words::Words;

/// Reads a request; what cannot be read is told in [`Inputs::unreadable`].
///
/// # Errors
/// `None` if there is no composite resource to answer for.
pub fn inputs(request: &RunFunctionRequest, ttl: Option<Duration>) -> Option<Inputs> {
    let observed = request.observed.as_ref()?;
    let composite = observed.composite.as_ref()?.resource.as_ref()?;
    let mut unreadable = Problems::default();
    let mut inputs = Inputs {
        composite: told(SHELF.composite(composite), || Source::Actor, &mut unreadable)
            .unwrap_or_else(|| only_flavors(composite)),
        input: request.input.as_ref().and_then(|input| told(SHELF.input(input), || Source::Input, &mut unreadable)),
        required: required(request, &mut unreadable),
        cannot_ask: cannot_ask(request),
        ttl,
        recurs: true,
        ..Inputs::default()
    };
    // Half of all calls only ask, whatever exists.
    if !pipeline::asks(&inputs) {
        check_desired(request, &mut unreadable);
        inputs.observed = observed_resources(observed, &mut unreadable);
        inputs.foreign =
            request.desired.as_ref().map_or_else(BTreeSet::new, |desired| desired.resources.keys().cloned().collect());
    }
    inputs.unreadable = unreadable;
    Some(inputs)
}

/// What was read before, by any call of this process: what is there saves work and changes no answer.
static SHELF: Shelf = Shelf::new();

/// What was read, or nothing and a problem with what came from `source`.
fn told<T>(read: Result<T, ReadError>, source: impl FnOnce() -> Source, unreadable: &mut Problems) -> Option<T> {
    read.map_err(|error| {
        let source = source();
        let kind = match source {
            Source::Input | Source::Platform(_) => Kind::Platform,
            _ => Kind::Value,
        };
        let problem = Problem::value(error.path, source, error.what).of_kind(kind);
        unreadable.push(problem.hint("look at what wrote it; nothing was changed"));
    })
    .ok()
}

/// Of a composite that cannot be read, the flavors it lists: what is asked for stays the same beside a refusal.
fn only_flavors(composite: &RawStruct) -> Composite {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Listing {
        spec: Spec,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Spec {
        flavors: Vec<String>,
    }
    let listing = from_struct::<Listing>(composite).unwrap_or_default();
    let spec = Words::of_tree(serde_json::json!({"flavors": listing.spec.flavors}));
    Composite { spec: spec.into(), ..Composite::default() }
}

/// Our status is laid over that of earlier steps, so theirs has to be readable, or it would be lost.
fn check_desired(request: &RunFunctionRequest, unreadable: &mut Problems) {
    let composite = request.desired.as_ref().and_then(|desired| desired.composite.as_ref()?.resource.as_ref());
    if let Some(error) = composite.and_then(|composite| from_struct::<serde_json::Value>(composite).err()) {
        let what = format!("the desired composite of an earlier step cannot be read: {error}");
        let problem = Problem::value(Path::root(), Source::Nobody, what);
        unreadable.push(problem.hint("look at the steps before this one; nothing was changed"));
    }
}

/// The answers to what was asked for. Crossplane 1 fills one map, Crossplane 2 both.
fn required(request: &RunFunctionRequest, unreadable: &mut Problems) -> BTreeMap<String, Vec<EnvironmentConfig>> {
    let older = request.extra_resources.iter();
    let answers: BTreeMap<&String, &Resources> = older.chain(&request.required_resources).collect();
    let ours = answers.into_iter().filter(|(key, _)| key.as_str() == PLATFORM_KEY || key.starts_with(FLAVOR));
    ours.map(|(key, answer)| {
        let source = || match key.strip_prefix(FLAVOR) {
            Some(name) => Source::Flavor(name.to_owned()),
            None => Source::Platform(key.clone()),
        };
        let items = answer.items.iter().filter_map(|item| item.resource.as_ref());
        // The first counts; further ones must not drive it off the shelf.
        let key_of = |index: usize| if index == 0 { Cow::from(key) } else { Cow::from(format!("{key} {index}")) };
        let read = items.enumerate();
        let read =
            read.map(|(index, item)| told(SHELF.config(&key_of(index), item), source, unreadable).unwrap_or_default());
        (key.clone(), read.collect())
    })
    .collect()
}

fn observed_resources(state: &State, unreadable: &mut Problems) -> Observed {
    let object = |name: &str| state.resources.get(name).and_then(|Resource { resource, .. }| resource.as_ref());
    let source = |name: &'static str| move || Source::Observed(name.to_owned());
    let queue = crate::transport::sqs::QUEUE;
    let objects = resources::OBJECTS.into_iter().filter_map(|name| {
        let read = told(Object::read(object(name)?), source(name), unreadable).unwrap_or_default();
        Some((name.to_owned(), read))
    });
    let objects = objects.collect();
    Observed {
        objects,
        queue: object(queue).map(|found| told(Queue::read(found), source(queue), unreadable).unwrap_or_default()),
    }
}

/// The caller tells what it can do, and looking up resources is not among it.
fn cannot_ask(request: &RunFunctionRequest) -> bool {
    let told = request.meta.as_ref().map_or(&[][..], |meta| &meta.capabilities);
    let has = |capability: Capability| told.contains(&(capability as i32));
    has(Capability::Capabilities) && !has(Capability::RequiredResources)
}

impl Problem {
    /// A request that has no composite resource is the caller's mistake, not a person's.
    pub fn no_composite() -> Self {
        Self::value(Path::root(), Source::Nobody, "the request has no observed composite resource")
    }
}
