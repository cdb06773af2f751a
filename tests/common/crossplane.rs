//! Plays Crossplane: builds requests from a scene, answers what is asked for, and checks every response.

use std::collections::BTreeMap;

use function_asya::cli::claim::kind;
use function_asya::cli::scene::Scene;
use function_asya::composed::{Composition, Severity, Truth};
use function_asya::status::CONDITIONS;
use function_asya::tree;
use function_asya::wire::proto::v1::{
    self, Capability, Condition, Ready, RequestMeta, Requirements, Resource, Resources, RunFunctionRequest,
    RunFunctionResponse, State, Target, resource_selector::Match,
};
use function_asya::wire::{RawStruct, from_struct, to_struct};
use serde_json::{Value, json};

use super::report::Report;

/// How often Crossplane calls a function again until its requirements are stable.
const ROUNDS: usize = 5;

/// A resource that an earlier step of the pipeline desires.
pub const OTHER: &str = "other";

/// Which Crossplane plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Fills `extra_resources` and tells nothing about itself.
    One,
    /// Fills both maps and tells what it can do.
    Two,
}

fn encode(value: &Value) -> RawStruct {
    to_struct(value).expect("JSON is a Struct")
}

/// A Struct as JSON.
pub fn decode(object: Option<&RawStruct>) -> Value {
    object.map_or(Value::Null, |object| from_struct(object).expect("a Struct that can be read"))
}

fn resource(object: &Value) -> Resource {
    Resource { resource: Some(encode(object)), ..Resource::default() }
}

/// The first request of a scene, with an earlier step's resource, status and context in it.
pub fn request(scene: &Scene, tag: &str, version: Version) -> RunFunctionRequest {
    let capabilities = [Capability::Capabilities, Capability::RequiredResources, Capability::Conditions];
    let capabilities = capabilities.iter().filter(|_| version == Version::Two).map(|it| i32::from(*it)).collect();
    let observed = scene.observed.iter().map(|(name, object)| (name.clone(), resource(object)));
    let before = json!({"apiVersion": scene.composite["apiVersion"], "kind": scene.composite["kind"], "status": {"others": [1]}});
    let other = json!({"apiVersion": "example.org/v1", "kind": "Other", "spec": {"empty": {}, "nothing": null}});
    RunFunctionRequest {
        meta: Some(RequestMeta { tag: tag.to_owned(), capabilities }),
        observed: Some(State { composite: Some(resource(&scene.composite)), resources: observed.collect() }),
        desired: Some(State {
            composite: Some(resource(&before)),
            resources: [(OTHER.to_owned(), Resource { ready: Ready::True.into(), ..resource(&other) })].into(),
        }),
        input: scene.input.as_ref().map(encode),
        context: Some(encode(&json!({"apiextensions.crossplane.io/environment": {"kept": [null, 1.5, "x"]}}))),
        ..RunFunctionRequest::default()
    }
}

/// Calls until nothing more is asked for; every exchange, in order.
///
/// # Errors
/// What the function says of a request it cannot take, or that it never stops asking.
pub fn reconcile(
    scene: &Scene,
    mut request: RunFunctionRequest,
    version: Version,
    call: impl Fn(RunFunctionRequest) -> Result<RunFunctionResponse, String>,
) -> Result<Vec<(RunFunctionRequest, RunFunctionResponse)>, String> {
    let mut exchanges = Vec::new();
    for _ in 0..ROUNDS {
        let response = call(request.clone())?;
        let asked = response.requirements.clone();
        exchanges.push((request.clone(), response));
        let answers = answers(scene, asked.as_ref());
        if answers == request.extra_resources {
            return Ok(exchanges);
        }
        if version == Version::Two {
            request.required_resources.clone_from(&answers);
        }
        request.extra_resources = answers;
    }
    Err(format!("still asks after {ROUNDS} rounds"))
}

/// What is found for requirements; nothing found is an empty list.
fn answers(scene: &Scene, asked: Option<&Requirements>) -> BTreeMap<String, Resources> {
    let selectors = asked.into_iter().flat_map(|asked| &asked.extra_resources);
    selectors
        .map(|(key, selector)| {
            let Some(Match::MatchName(wanted)) = &selector.r#match else { panic!("{key} is not asked for by name") };
            let found = scene.configs.iter().map(|config| &config.value).filter(|config| {
                kind(config) == ("apiextensions.crossplane.io", selector.kind.as_str())
                    && config.pointer("/metadata/name").and_then(Value::as_str) == Some(wanted)
            });
            (key.clone(), Resources { items: found.map(resource).collect() })
        })
        .collect()
}

/// Checks what holds for every response to anything.
pub fn check_exchange(name: &str, request: &RunFunctionRequest, response: &RunFunctionResponse, report: &mut Report) {
    let tag = |meta: Option<&str>| meta.map(str::to_owned);
    let asked = request.meta.as_ref().map(|meta| meta.tag.as_str());
    report.equal(name, "the tag", &tag(asked), &tag(response.meta.as_ref().map(|meta| meta.tag.as_str())));
    report.equal(name, "the context as received", &request.context, &response.context);
    let desired = |state: &Option<State>| state.as_ref().and_then(|state| state.resources.get(OTHER).cloned());
    report.equal(name, "an earlier step's resource", &desired(&request.desired), &desired(&response.desired));
    if let Some(asked) = &response.requirements {
        report.equal(name, "both forms of the requirements", &asked.resources, &asked.extra_resources);
        if asked.resources.is_empty() {
            report.fail(name, "requirements are set and empty");
        }
    }
    let kinds: Vec<_> = response.conditions.iter().map(|condition| condition.r#type.as_str()).collect();
    let ttl = response.meta.as_ref().and_then(|meta| meta.ttl);
    if kinds.is_empty() {
        report.equal(name, "desired state of an open response", &request.desired, &response.desired);
        report.equal(name, "TTL of an open response", &Some(prost_types::Duration::default()), &ttl);
        if response.requirements.is_none() || !response.results.is_empty() {
            report.fail(name, "an open response asks for something and says nothing else");
        }
    } else {
        report.equal(name, "all conditions", &CONDITIONS.to_vec(), &kinds);
    }
}

/// Checks that the last response says what `composition` says.
pub fn check_answer(
    name: &str,
    request: &RunFunctionRequest,
    response: &RunFunctionResponse,
    composition: &Composition,
    report: &mut Report,
) {
    let ttl = response.meta.as_ref().and_then(|meta| meta.ttl);
    let seconds = i64::try_from(composition.ttl.as_secs()).expect("a short TTL");
    report.equal(
        name,
        "TTL",
        &Some(prost_types::Duration { seconds, nanos: composition.ttl.subsec_nanos().cast_signed() }),
        &ttl,
    );
    report.equal(name, "conditions", &conditions(composition), &response.conditions);
    report.equal(name, "results", &results(composition), &response.results);
    let empty = State::default();
    let (before, after) = [&request.desired, &response.desired].map(|state| state.as_ref().unwrap_or(&empty)).into();
    let ours = after.resources.iter().filter(|(resource, _)| *resource != OTHER);
    let ours = ours.map(|(resource, found)| (resource.as_str(), (decode(found.resource.as_ref()), found.ready())));
    let expected = composition.resources.iter().map(|(resource, composed)| {
        let ready = if composed.ready { Ready::True } else { Ready::False };
        (*resource, (composed.object.to_value(), ready))
    });
    report.equal::<BTreeMap<_, _>>(name, "desired resources", &expected.collect(), &ours.collect());
    let composite = |state: &State| decode(state.composite.as_ref().and_then(|composite| composite.resource.as_ref()));
    let mut expected = composite(before);
    if let Some(status) = &composition.status {
        tree::overlay(&mut expected, &json!({"status": status}));
    }
    if let Some(spec) = &composition.spec {
        expected["spec"] = spec.clone();
    }
    report.equal(name, "desired composite", &expected, &composite(after));
    let ready = if composition.hold { Ready::False } else { Ready::Unspecified };
    let told = after.composite.as_ref().map_or(Ready::Unspecified, Resource::ready);
    report.equal(name, "readiness of the composite", &ready, &told);
}

fn conditions(composition: &Composition) -> Vec<Condition> {
    let of = |status| match status {
        Truth::True => v1::Status::ConditionTrue,
        Truth::False => v1::Status::ConditionFalse,
        Truth::Unknown => v1::Status::ConditionUnknown,
    };
    let expected = composition.conditions.iter().map(|verdict| Condition {
        r#type: verdict.kind.to_owned(),
        status: of(verdict.status).into(),
        reason: verdict.reason.to_owned(),
        message: Some(verdict.message.clone()),
        target: Some(Target::CompositeAndClaim.into()),
    });
    expected.collect()
}

fn results(composition: &Composition) -> Vec<v1::Result> {
    let of = |severity| match severity {
        Severity::Normal => (v1::Severity::Normal, Some(Target::CompositeAndClaim)),
        Severity::Warning => (v1::Severity::Warning, Some(Target::CompositeAndClaim)),
        Severity::Fatal => (v1::Severity::Fatal, None),
    };
    let expected = composition.results.iter().map(|notice| {
        let (severity, target) = of(notice.severity);
        let target = target.map(i32::from);
        v1::Result { severity: severity.into(), message: notice.message.clone(), target, ..v1::Result::default() }
    });
    expected.collect()
}
