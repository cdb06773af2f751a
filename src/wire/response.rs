//! From a [`Step`] to a RunFunctionResponse. What is not ours passes through as the bytes it came in.

use serde_json::{Value, json};
use smol_str::SmolStr;

use super::proto::v1::{
    self, Condition, Ready, Requirements, Resource, ResourceSelector, ResponseMeta, RunFunctionRequest,
    RunFunctionResponse, Severity, State, Status, Target, resource_selector::Match,
};
use super::{At, RawStruct, WriteError, from_struct, to_struct};
use crate::composed::{self, Composition, Notice, Step, Truth, Verdict};
use crate::node::Node;
use crate::tree;

/// The group and version of the EnvironmentConfigs that are asked for.
const ENVIRONMENT_CONFIG: &str = "apiextensions.crossplane.io/v1beta1";

/// Writes the answer to `request`.
///
/// # Errors
/// If something of ours cannot be written: nesting that a Struct does not hold. Nothing is sent then, nothing changes.
pub fn response(request: RunFunctionRequest, step: &Step) -> Result<RunFunctionResponse, WriteError> {
    let tag = request.meta.as_ref().map(|meta| meta.tag.clone()).unwrap_or_default();
    let answered = |ttl| Some(ResponseMeta { tag, ttl: Some(ttl) });
    Ok(match step {
        Step::Ask(asked) => RunFunctionResponse {
            meta: answered(prost_types::Duration::default()),
            desired: request.desired,
            context: request.context,
            requirements: requirements(asked),
            ..RunFunctionResponse::default()
        },
        Step::Answer(composition) => RunFunctionResponse {
            meta: answered(duration(composition.ttl)),
            requirements: requirements(&composition.requirements),
            conditions: composition.conditions.iter().map(condition).collect(),
            results: composition.results.iter().map(result).collect(),
            desired: desired(&request, composition)?,
            context: request.context,
            ..RunFunctionResponse::default()
        },
    })
}

fn duration(duration: std::time::Duration) -> prost_types::Duration {
    let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    prost_types::Duration { seconds, nanos: i32::try_from(duration.subsec_nanos()).unwrap_or_default() }
}

/// The same requirements under both of their names; unset when there is nothing to ask.
fn requirements(asked: &composed::Requirements) -> Option<Requirements> {
    let selectors = asked.iter().map(|(key, name)| {
        let selector = ResourceSelector {
            api_version: ENVIRONMENT_CONFIG.to_owned(),
            kind: "EnvironmentConfig".to_owned(),
            r#match: Some(Match::MatchName(name.clone())),
            ..ResourceSelector::default()
        };
        (key.clone(), selector)
    });
    let resources: std::collections::BTreeMap<_, _> = selectors.collect();
    (!resources.is_empty()).then(|| Requirements {
        extra_resources: resources.clone(),
        resources,
        ..Requirements::default()
    })
}

/// The desired state: the earlier steps' as it came, and ours.
fn desired(request: &RunFunctionRequest, composition: &Composition) -> Result<Option<State>, WriteError> {
    if composition.status.is_none() && composition.spec.is_none() && composition.resources.is_empty() {
        return Ok(request.desired.clone());
    }
    let mut desired = request.desired.clone().unwrap_or_default();
    for (name, composed) in &composition.resources {
        let ready = if composed.ready { Ready::True } else { Ready::False };
        let resource = Some(composed.object.clone());
        desired.resources.insert((*name).to_owned(), Resource { resource, ready: ready.into(), ..Resource::default() });
    }
    let mut composite = desired.composite.take().unwrap_or_default();
    composite.resource = Some(overlaid(composite.resource.as_ref(), request, composition)?);
    if composition.hold {
        composite.ready = Ready::False.into();
    }
    desired.composite = Some(composite);
    Ok(Some(desired))
}

/// The desired composite of earlier steps with our status (and resolved spec) laid over theirs.
fn overlaid(
    before: Option<&RawStruct>,
    request: &RunFunctionRequest,
    composition: &Composition,
) -> Result<RawStruct, WriteError> {
    let before = before.and_then(|before| from_struct::<Value>(before).ok()).filter(Value::is_object);
    let Some(mut object) = before else { return to_struct(&Desired::new(&kind_of(request), composition)) };
    if let Some(status) = &composition.status {
        tree::overlay(&mut object, &json!({"status": status}));
    }
    if let Some(spec) = &composition.spec {
        object["spec"] = spec.clone();
    }
    to_struct(&object)
}

/// A desired composite that nobody has desired before: it needs the observed one's kind.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Desired<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spec: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a Node>,
}

impl<'a> Desired<'a> {
    fn new(kind: &'a [Option<SmolStr>; 2], composition: &'a Composition) -> Self {
        let [api_version, kind] = kind.each_ref().map(Option::as_deref);
        Self { api_version, kind, spec: composition.spec.as_ref(), status: composition.status.as_ref() }
    }
}

/// The apiVersion and kind of the observed composite.
fn kind_of(request: &RunFunctionRequest) -> [Option<SmolStr>; 2] {
    let composite = request.observed.as_ref().and_then(|state| state.composite.as_ref()?.resource.as_ref());
    let read = |composite| {
        At::read(composite, ["apiVersion", "kind"], |_, [version, kind]| Ok([version.string()?, kind.string()?]))
    };
    composite.and_then(|composite| read(composite).ok()).unwrap_or_default()
}

fn condition(verdict: &Verdict) -> Condition {
    let status = match verdict.status {
        Truth::True => Status::ConditionTrue,
        Truth::False => Status::ConditionFalse,
        Truth::Unknown => Status::ConditionUnknown,
    };
    Condition {
        r#type: verdict.kind.to_owned(),
        status: status.into(),
        reason: verdict.reason.to_owned(),
        message: Some(verdict.message.clone()),
        target: Some(Target::CompositeAndClaim.into()),
    }
}

/// A result; Crossplane shows a Fatal one on the composite only, whatever its target.
fn result(notice: &Notice) -> v1::Result {
    let (severity, target) = match notice.severity {
        composed::Severity::Normal => (Severity::Normal, Some(Target::CompositeAndClaim.into())),
        composed::Severity::Warning => (Severity::Warning, Some(Target::CompositeAndClaim.into())),
        composed::Severity::Fatal => (Severity::Fatal, None),
    };
    v1::Result { severity: severity.into(), message: notice.message.clone(), target, ..v1::Result::default() }
}
