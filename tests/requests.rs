//! Rules about what only a request can hold: files are read more strictly, and know no earlier steps and no time to live.

use std::time::Duration;

use function_asya::serve::{Settings, run};
use function_asya::wire::proto::v1::{
    Condition, Resource, Resources, RunFunctionRequest, RunFunctionResponse, Severity, State, Status,
};
use function_asya::wire::{RawStruct, from_struct, to_struct};
use prost::Message;
use serde_json::{Value, json};

fn encode(object: &Value) -> RawStruct {
    to_struct(object).expect("an object")
}

fn resource(object: &Value) -> Resource {
    Resource { resource: Some(encode(object)), ..Resource::default() }
}

/// An actor that needs nothing looked up, with more in its spec.
fn actor(more: Value) -> Value {
    let mut spec = json!({"image": "ghcr.io/example/ocr:1", "handler": "ocr.read"});
    function_asya::tree::overlay(&mut spec, &more);
    json!({
        "apiVersion": "asya.sh/v1alpha1",
        "kind": "XAsyncActor",
        "metadata": {"name": "ocr", "labels": {"crossplane.io/claim-name": "ocr", "crossplane.io/claim-namespace": "team-a"}},
        "spec": spec,
    })
}

/// A request for an actor, with a queue so that the Deployment comes out.
fn request(actor: &Value) -> RunFunctionRequest {
    let queue = json!({"kind": "Queue", "status": {"atProvider": {"url": "https://sqs.us-east-1.amazonaws.com/1/asya-team-a-ocr"}}});
    let observed =
        State { composite: Some(resource(actor)), resources: [("sqs-queue".to_owned(), resource(&queue))].into() };
    RunFunctionRequest { observed: Some(observed), ..RunFunctionRequest::default() }
}

fn answer_with(request: RunFunctionRequest, ttl: Option<Duration>) -> RunFunctionResponse {
    run(request, &Settings { max_request: usize::MAX, ttl }).expect("a composite is there")
}

fn answer(request: RunFunctionRequest) -> RunFunctionResponse {
    answer_with(request, None)
}

fn told(response: &RunFunctionResponse, severity: Severity) -> Vec<&str> {
    let results = response.results.iter().filter(|result| result.severity() == severity);
    results.map(|result| result.message.as_str()).collect()
}

fn condition<'r>(response: &'r RunFunctionResponse, kind: &str) -> &'r Condition {
    response.conditions.iter().find(|condition| condition.r#type == kind).expect("every condition is there")
}

fn emitted(response: &RunFunctionResponse) -> Vec<&str> {
    response.desired.iter().flat_map(|desired| desired.resources.keys().map(String::as_str)).collect()
}

/// Fatal with these words, all five conditions, no TTL, and the desired state as it came.
fn assert_refused(request: RunFunctionRequest, words: &str) -> RunFunctionResponse {
    let desired = request.desired.clone();
    let response = answer(request);
    let fatal = told(&response, Severity::Fatal);
    assert!(fatal.len() == 1 && fatal[0].contains(words), "{fatal:?} lacks {words:?}");
    assert_eq!(response.conditions.len(), 5);
    assert_eq!(response.desired, desired, "nothing is desired that was not before");
    assert_eq!(seconds(&response), 0);
    response
}

fn seconds(response: &RunFunctionResponse) -> i64 {
    response.meta.as_ref().and_then(|meta| meta.ttl).expect("a TTL").seconds
}

/// A Struct that holds what no JSON does.
fn not_a_number(keys: [&str; 2]) -> RawStruct {
    let number = prost_types::Value { kind: Some(prost_types::value::Kind::NumberValue(f64::NAN)) };
    let inner = prost_types::Struct { fields: [(keys[1].to_owned(), number)].into() };
    let inner = prost_types::Value { kind: Some(prost_types::value::Kind::StructValue(inner)) };
    let outer = prost_types::Struct { fields: [(keys[0].to_owned(), inner)].into() };
    RawStruct::decode(outer.encode_to_vec().as_slice()).expect("a Struct")
}

#[test]
fn an_api_newer_than_the_function_does_not_freeze_its_actors() {
    let response = answer(request(&actor(json!({"colour": "red"}))));
    assert_eq!(told(&response, Severity::Fatal), [""; 0]);
    assert!(told(&response, Severity::Warning)[0].starts_with("spec.colour: unknown field, dropped (from the actor)"));
    assert!(emitted(&response).contains(&"deployment"));
}

#[test]
fn a_field_of_old_is_refused_here_too() {
    let response = assert_refused(
        request(&actor(json!({"scaling": {"minReplicas": 1}}))),
        "spec.scaling.minReplicas: unknown field",
    );
    assert_eq!(condition(&response, "SpecAccepted").reason, "InvalidSpec");
}

#[test]
fn a_resource_of_an_earlier_step_under_our_name_is_refused() {
    let mut request = request(&actor(json!({})));
    let theirs = [("deployment".to_owned(), resource(&json!({"kind": "Other"})))];
    request.desired = Some(State { resources: theirs.into(), ..State::default() });
    let response = assert_refused(request, "already desires a resource called `deployment`");
    let accepted = condition(&response, "SpecAccepted");
    assert_eq!((accepted.status(), accepted.reason.as_str()), (Status::ConditionFalse, "InvalidSpec"));
}

#[test]
fn an_actor_that_cannot_be_read_asks_for_its_flavors_all_the_same() {
    let mut broken = actor(json!({"flavors": ["gpu-t4"]}));
    broken["metadata"]["labels"]["team"] = 7.into();
    let asked = answer(request(&broken));
    let found = Resources { items: vec![resource(&json!({"metadata": {"name": "gpu-t4"}, "data": {"replicas": 2}}))] };
    let mut again = request(&broken);
    again.required_resources = [("flavor-gpu-t4".to_owned(), found)].into();
    let response = assert_refused(again, "metadata.labels.team");
    assert!(asked.requirements.is_some() && asked.requirements == response.requirements);
    let flavors = condition(&response, "FlavorsResolved");
    assert_eq!((flavors.status(), flavors.reason.as_str()), (Status::ConditionUnknown, "NotObserved"));
}

#[test]
fn a_flavor_that_cannot_be_read_is_the_flavors_fault() {
    let mut request = request(&actor(json!({"flavors": ["gpu-t4"]})));
    let broken = Resource { resource: Some(not_a_number(["data", "replicas"])), ..Resource::default() };
    request.required_resources = [("flavor-gpu-t4".to_owned(), Resources { items: vec![broken] })].into();
    let response = assert_refused(request, "data.replicas: a number that is not finite (from flavor `gpu-t4`)");
    assert_eq!(condition(&response, "FlavorsResolved").reason, "FlavorInvalid");
}

#[test]
fn what_exists_and_cannot_be_read_is_left_alone() {
    let mut request = request(&actor(json!({})));
    let broken = Resource { resource: Some(not_a_number(["metadata", "labels"])), ..Resource::default() };
    request.observed.as_mut().expect("observed").resources.insert("deployment".to_owned(), broken);
    assert_refused(request, "(from observed resource `deployment`)");
}

#[test]
fn a_part_of_it_that_nobody_reads_may_be_anything() {
    let mut request = request(&actor(json!({})));
    let odd = Resource { resource: Some(not_a_number(["spec", "watch"])), ..Resource::default() };
    request.observed.as_mut().expect("observed").resources.insert("deployment".to_owned(), odd);
    let response = answer(request);
    assert_eq!(told(&response, Severity::Fatal), [""; 0]);
    assert!(emitted(&response).contains(&"deployment"));
}

#[test]
fn an_account_that_has_to_be_emitted_as_it_is_and_cannot_be_read_is_left_alone() {
    let mut request = request(&actor(json!({})));
    let odd = Resource { resource: Some(not_a_number(["spec", "watch"])), ..Resource::default() };
    request.observed.as_mut().expect("observed").resources.insert("serviceaccount".to_owned(), odd);
    assert_refused(request, "spec.watch: a number that is not finite (from observed resource `serviceaccount`)");
}

#[test]
fn an_account_whose_spec_is_no_map_is_left_alone() {
    for spec in [json!("text"), json!([1])] {
        let mut request = request(&actor(json!({})));
        let account = resource(&json!({"kind": "Object", "spec": spec}));
        request.observed.as_mut().expect("observed").resources.insert("serviceaccount".to_owned(), account);
        assert_refused(request, "(from observed resource `serviceaccount`)");
    }
}

#[test]
fn a_status_of_an_earlier_step_that_cannot_be_read_is_not_lost() {
    let mut request = request(&actor(json!({})));
    let theirs = Resource { resource: Some(not_a_number(["status", "theirs"])), ..Resource::default() };
    request.desired = Some(State { composite: Some(theirs), ..State::default() });
    assert_refused(request, "the desired composite of an earlier step cannot be read");
}

#[test]
fn however_deep_a_spec_is_its_deployment_is_whole_or_refused() {
    for levels in [200, 246, 247, 248, 249, 250, 251, 252, 253, 254, 300] {
        let deep = (0..levels).fold(json!("end"), |inner, _| json!({ "in": inner }));
        let Ok(composite) = to_struct(&actor(json!({"sidecars": [{"name": "helper", "image": "i", "deep": deep}]})))
        else {
            assert!(levels > 253, "{levels} levels can be sent");
            continue;
        };
        let mut request = request(&actor(json!({})));
        request.observed.as_mut().expect("observed").composite =
            Some(Resource { resource: Some(composite), ..Resource::default() });
        let response = answer(request);
        let deployment = response.desired.as_ref().and_then(|desired| desired.resources.get("deployment"));
        let refused = !told(&response, Severity::Fatal).is_empty();
        assert_eq!(refused, deployment.is_none(), "{levels} levels");
        assert!(!refused || levels > 200, "{levels} levels must work");
        if let Some(deployment) = deployment {
            #[derive(serde::Deserialize)]
            struct Kind {
                kind: String,
            }
            let read: Kind =
                from_struct(deployment.resource.as_ref().expect("an object")).expect("an object with a kind");
            assert_eq!(read.kind, "Object", "{levels} levels");
        }
    }
}

#[test]
fn how_long_an_answer_holds() {
    let input = |ttl: Value| {
        let mut request = request(&actor(json!({})));
        request.input =
            Some(encode(&json!({"apiVersion": "asya.fn.crossplane.io/v1beta1", "kind": "Platform", "ttl": ttl})));
        request
    };
    let flag = Some(Duration::from_secs(5));
    assert_eq!(seconds(&answer(request(&actor(json!({}))))), 60, "a minute unless anybody says otherwise");
    assert_eq!(seconds(&answer_with(request(&actor(json!({}))), flag)), 5, "--ttl");
    assert_eq!(seconds(&answer_with(input("90s".into()), flag)), 90, "the settings win over --ttl");
    assert_eq!(seconds(&answer_with(input(0.into()), flag)), 0, "0 is allowed");
    let asking = request(&actor(json!({"flavors": ["gpu-t4"]})));
    assert_eq!(seconds(&answer_with(asking.clone(), flag)), 0, "while something is asked for");
    let mut waiting = asking;
    waiting.observed.as_mut().expect("observed").resources.clear();
    waiting.required_resources = [("flavor-gpu-t4".to_owned(), Resources::default())].into();
    assert_eq!(seconds(&answer_with(waiting, flag)), 10, "while a flavor is missing");
}
