//! Requests of many actors, each with its own name and namespace, made of four prepared ones by writing over a few bytes.

use std::collections::BTreeMap;

use bytes::Bytes;
use function_asya::serve::{Settings, run};
use function_asya::wire::proto::v1::{RunFunctionRequest, RunFunctionResponse, Severity, State, Status};
use function_asya::wire::{RawStruct, from_struct, to_struct};
use prost::Message as _;
use serde_json::{Value, json};

use crate::corpus::{self, Life};
use crate::plan::Look;

/// As `serve` has them without flags.
const SETTINGS: Settings = Settings { max_request: 32 * 1024 * 1024, ttl: None };

/// The one name and namespace that requests are made with; others are as long.
const NAME: &[u8] = corpus::NAME.as_bytes();
const NAMESPACE: &[u8] = b"media";

/// One call: what is sent and what must come back, but for names.
struct Call {
    request: Template,
    answer: Template,
}

/// The two calls of a reconcile, for each state of an actor.
pub struct Actors(BTreeMap<Look, [Call; 2]>);

impl Actors {
    /// Prepares all calls, with a flavor that was edited so many times; makes sure that the answers are what they should be.
    pub fn new(edits: u64) -> Self {
        let looks = [Look::New, Look::Waking, Look::Ready, Look::Napping];
        Self(looks.map(|look| (look, calls(look, edits))).into())
    }

    /// What is asked at a look, and what must be answered.
    pub fn calls(&self, look: Look, actor: u64) -> [(Bytes, Bytes); 2] {
        self.0[&look].each_ref().map(|call| (call.request.of(actor), call.answer.of(actor)))
    }
}

fn calls(look: Look, edits: u64) -> [Call; 2] {
    let answer = observed(look, edits);
    let mut ask = answer.clone();
    (ask.extra_resources, ask.required_resources) = Default::default();
    [ask, answer].map(|request| {
        let call = Call {
            request: Template::new(&head(&request), &rest(&request)),
            answer: Template::new(&run(request, &SETTINGS).expect("an answer").encode_to_vec(), &[]),
        };
        let other = RunFunctionRequest::decode(call.request.of(4711)).expect("a request");
        let other = run(other, &SETTINGS).expect("an answer").encode_to_vec();
        assert!(other == call.answer.of(4711), "{look:?}: the answer to another actor differs by more than its name");
        call
    })
}

/// The part of a request that speaks of the actor.
fn head(request: &RunFunctionRequest) -> Vec<u8> {
    RunFunctionRequest { observed: request.observed.clone(), ..RunFunctionRequest::default() }.encode_to_vec()
}

/// The part that all actors have in common: flavors and settings.
fn rest(request: &RunFunctionRequest) -> Vec<u8> {
    RunFunctionRequest { observed: None, ..request.clone() }.encode_to_vec()
}

/// An actor as it is observed at a look, once Crossplane has written down what it was told before.
fn observed(look: Look, edits: u64) -> RunFunctionRequest {
    let mut request = if look == Look::New { Life::NEW } else { Life::USUAL }.request();
    let flavor =
        request.required_resources.get_mut("flavor-observed").expect("the corpus lists it").items[0].resource.as_mut();
    let edited = json!({"name": "EDITION", "value": format!("edition {edits}")});
    change(flavor.expect("an object"), |flavor| push(&mut flavor["data"]["env"], edited.clone()));
    request.extra_resources = request.required_resources.clone();
    // An actor that wakes up was napping, and says so. The first answer changes the pod template, since the flavor is edited.
    let before = if look == Look::Waking { Look::Napping } else { look };
    for look in [before, before, look, look] {
        let state = request.observed.as_mut().expect("a state");
        if let Some(deployment) = state.resources.get_mut("deployment") {
            let live = "/status/atProvider/manifest";
            change(deployment.resource.as_mut().expect("an object"), |object| {
                scale(object.pointer_mut(live).expect("the corpus observes one"), look);
            });
        }
        let answer = run(request.clone(), &SETTINGS).expect("an answer");
        settle(request.observed.as_mut().expect("a state"), &answer);
    }
    check(look, &run(request.clone(), &SETTINGS).expect("an answer"));
    request
}

/// Applies what was answered to what is observed.
fn settle(state: &mut State, answer: &RunFunctionResponse) {
    for (name, desired) in &answer.desired.as_ref().expect("a state").resources {
        let (Some(observed), Some(desired)) = (state.resources.get_mut(name), &desired.resource) else { continue };
        let desired: Value = from_struct(desired).expect("an object");
        change(observed.resource.as_mut().expect("an object"), |object| {
            overlay(&mut object["spec"], &desired["spec"]);
            if let Some(manifest) = desired.pointer("/spec/forProvider/manifest") {
                overlay(&mut object["status"]["atProvider"]["manifest"], manifest);
            }
        });
    }
    let composite = state.composite.as_mut().and_then(|composite| composite.resource.as_mut());
    let desired = answer.desired.as_ref().and_then(|state| state.composite.as_ref()?.resource.as_ref());
    let desired: Value = desired.map(|desired| from_struct(desired).expect("an object")).unwrap_or_default();
    change(composite.expect("a composite"), |object| {
        object["status"] = desired["status"].clone();
        object["status"]["conditions"] = conditions(answer);
    });
}

fn conditions(answer: &RunFunctionResponse) -> Value {
    let status = |status| match status {
        Status::ConditionTrue => "True",
        Status::ConditionFalse => "False",
        _ => "Unknown",
    };
    let told = answer.conditions.iter().map(|condition| {
        json!({"type": condition.r#type, "status": status(condition.status()), "reason": condition.reason,
            "message": condition.message(), "lastTransitionTime": "2026-11-01T09:30:00Z"})
    });
    told.collect()
}

/// A Deployment as KEDA and its pods make it.
fn scale(live: &mut Value, look: Look) {
    let condition = |kind: &str, status: &str, reason: &str| json!({"type": kind, "status": status, "reason": reason});
    let progressing = condition("Progressing", "True", "NewReplicaSetAvailable");
    let available = condition("Available", "True", "MinimumReplicasAvailable");
    match look {
        Look::New | Look::Ready => {}
        Look::Napping => {
            live["spec"]["replicas"] = 0.into();
            live["status"] = json!({"observedGeneration": 1, "conditions": [available, progressing]});
        }
        Look::Waking => {
            let available = condition("Available", "False", "MinimumReplicasUnavailable");
            live["spec"]["replicas"] = 1.into();
            live["status"] = json!({"observedGeneration": 1, "conditions": [available, progressing], "replicas": 1,
                "updatedReplicas": 1, "unavailableReplicas": 1});
        }
    }
}

/// What an answer must say, whoever computed it.
fn check(look: Look, answer: &RunFunctionResponse) {
    let fatal = answer.results.iter().find(|result| result.severity() == Severity::Fatal);
    assert!(fatal.is_none(), "{look:?}: {fatal:?}");
    let desired = answer.desired.as_ref().expect("a state");
    let composite = desired.composite.as_ref().and_then(|composite| composite.resource.as_ref());
    let status: Value = from_struct(composite.expect("a composite")).expect("an object");
    let phase = status["status"]["phase"].as_str().unwrap_or_default();
    let workload = answer.conditions.iter().find(|condition| condition.r#type == "WorkloadReady");
    let reason = workload.map(|workload| workload.reason.as_str()).unwrap_or_default();
    let (expected, resources) = match look {
        Look::New => (("Creating", reason), 1..5),
        Look::Waking => (("Creating", "WakingUp"), 5..6),
        Look::Ready => (("Ready", "Available"), 5..6),
        Look::Napping => (("Napping", "Napping"), 5..6),
    };
    assert_eq!((phase, reason), expected, "{look:?}: {:?}", answer.conditions);
    let desired = desired.resources.len();
    assert!(resources.contains(&desired), "{look:?}: {desired} resources");
}

fn change(object: &mut RawStruct, how: impl FnOnce(&mut Value)) {
    let mut value: Value = from_struct(object).expect("an object");
    how(&mut value);
    *object = to_struct(&value).expect("an object");
}

fn push(list: &mut Value, entry: Value) {
    list.as_array_mut().expect("a list").push(entry);
}

/// Lays one tree over another; lists are replaced.
fn overlay(target: &mut Value, source: &Value) {
    match (target, source) {
        (Value::Object(target), Value::Object(source)) => {
            for (key, value) in source {
                overlay(target.entry(key).or_insert(Value::Null), value);
            }
        }
        (target, source) => *target = source.clone(),
    }
}

/// Encoded bytes, and where names stand in them.
struct Template {
    bytes: Vec<u8>,
    names: Vec<usize>,
    namespaces: Vec<usize>,
}

impl Template {
    fn new(head: &[u8], rest: &[u8]) -> Self {
        let found = |what: &[u8]| -> Vec<usize> {
            let at = head.windows(what.len()).enumerate();
            at.filter(|(_, window)| *window == what).map(|(at, _)| at).collect()
        };
        // A namespace is a whole text (of five bytes, as its head says), or part of the name of something of the actor's.
        let whole = |at: &usize| head[..*at].ends_with(&[0x1a, 5]) || head[..*at].ends_with(b"asya-");
        let namespaces = found(NAMESPACE).into_iter().filter(whole).collect();
        Self { bytes: [head, rest].concat(), names: found(NAME), namespaces }
    }

    fn of(&self, actor: u64) -> Bytes {
        let mut bytes = self.bytes.clone();
        let mut write = |places: &[usize], text: String| {
            places.iter().for_each(|at| bytes[*at..*at + text.len()].copy_from_slice(text.as_bytes()));
        };
        write(&self.names, format!("actor-{actor:07}"));
        write(&self.namespaces, format!("ns-{:02}", actor % 50));
        bytes.into()
    }
}
