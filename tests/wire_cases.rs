//! The bytes of every case's requests and responses mean the same to prost's own tree as to our encoded Structs.

mod common;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use common::case;
use common::crossplane::{self, Version};
use common::play;
use common::report::Report;
use common::trees::{self, Request, Response};
use function_asya::serve::{Settings, run};
use function_asya::wire::proto::v1::{self, RunFunctionRequest, RunFunctionResponse};
use function_asya::wire::{RawStruct, to_struct};
use prost::Message;
use prost_types::Struct;
use serde_json::Value;

type Exchanges = Vec<(RunFunctionRequest, RunFunctionResponse)>;

fn settings() -> Settings {
    Settings { max_request: usize::MAX, ttl: None }
}

fn call(request: RunFunctionRequest) -> Result<RunFunctionResponse, String> {
    run(request, &settings()).map_err(|status| status.to_string())
}

/// What Crossplane and the function tell each other in every case, worked out once.
static EXCHANGES: LazyLock<Vec<(String, Exchanges)>> = LazyLock::new(exchanges);

fn exchanges() -> Vec<(String, Exchanges)> {
    let played = case::all().into_iter().filter_map(|case| Some((play::play(&case).ok()?, case.name)));
    let both = played.map(|(played, name)| {
        let first = crossplane::request(&played.scene, &name, Version::Two);
        let exchanges = crossplane::reconcile(&played.scene, first, Version::Two, call);
        (name, exchanges.expect("a composite is there"))
    });
    both.collect()
}

/// Every Struct of a State, by its place.
fn ours(state: Option<&v1::State>) -> BTreeMap<String, Value> {
    let of = |object: Option<&RawStruct>| crossplane::decode(object);
    let composite = state.and_then(|state| state.composite.as_ref());
    let resources = state.into_iter().flat_map(|state| &state.resources);
    let named = resources.map(|(name, found)| (name.clone(), of(found.resource.as_ref())));
    named.chain([("/".to_owned(), of(composite.and_then(|found| found.resource.as_ref())))]).collect()
}

fn theirs(state: Option<&trees::State>) -> BTreeMap<String, Value> {
    let of = |object: Option<&Struct>| object.map_or(Value::Null, trees::json);
    let composite = state.and_then(|state| state.composite.as_ref());
    let resources = state.into_iter().flat_map(|state| &state.resources);
    let named = resources.map(|(name, found)| (name.clone(), of(found.resource.as_ref())));
    named.chain([("/".to_owned(), of(composite.and_then(|found| found.resource.as_ref())))]).collect()
}

#[test]
fn every_request_means_the_same_to_prosts_own_tree() {
    let mut report = Report::default();
    for (name, exchanges) in EXCHANGES.iter() {
        for (request, _) in exchanges {
            report.look();
            let bytes = request.encode_to_vec();
            let tree = Request::decode(&*bytes).expect("prost reads it");
            report.equal(name, "a request, written again", &bytes, &tree.encode_to_vec());
            report.equal(name, "observed", &theirs(tree.observed.as_ref()), &ours(request.observed.as_ref()));
            report.equal(name, "desired", &theirs(tree.desired.as_ref()), &ours(request.desired.as_ref()));
            let input = tree.input.as_ref().map_or(Value::Null, trees::json);
            report.equal(name, "input", &input, &crossplane::decode(request.input.as_ref()));
        }
    }
    report.end();
}

#[test]
fn every_response_means_the_same_to_prosts_own_tree() {
    let mut report = Report::default();
    for (name, exchanges) in EXCHANGES.iter() {
        for (_, response) in exchanges {
            report.look();
            let bytes = response.encode_to_vec();
            let tree = Response::decode(&*bytes).expect("prost reads it");
            // Entries of maps stand in the order we write them, which is not prost's; nothing else may differ.
            let sorted = in_prosts_order(response.clone()).encode_to_vec();
            report.equal(name, "a response, written again", &sorted, &tree.encode_to_vec());
            report.equal(name, "the length of a response, written again", &bytes.len(), &sorted.len());
            report.equal(name, "desired", &theirs(tree.desired.as_ref()), &ours(response.desired.as_ref()));
            let context = tree.context.as_ref().map_or(Value::Null, trees::json);
            report.equal(name, "context", &context, &crossplane::decode(response.context.as_ref()));
        }
    }
    report.end();
}

/// The same with the entries of every map in order of key, as prost's trees have them.
fn in_prosts_order(mut response: RunFunctionResponse) -> RunFunctionResponse {
    let states = response.desired.iter_mut();
    let found = states.flat_map(|state| state.resources.values_mut().chain(&mut state.composite));
    let structs = found.filter_map(|found| found.resource.as_mut()).chain(&mut response.context);
    structs.for_each(|object| *object = to_struct(&crossplane::decode(Some(object))).expect("JSON is a Struct"));
    response
}

#[test]
fn the_order_of_entries_and_a_second_run_change_nothing() {
    let mut report = Report::default();
    for (name, exchanges) in EXCHANGES.iter() {
        for (request, response) in exchanges {
            report.look();
            let again = call(request.clone()).expect("a composite is there");
            report.equal(name, "bytes of the second run", &response.encode_to_vec(), &again.encode_to_vec());
            let answer = call(in_other_order(request.clone())).expect("a composite is there");
            report.equal(name, "conditions", &response.conditions, &answer.conditions);
            report.equal(name, "results", &response.results, &answer.results);
            report.equal(name, "desired", &ours(response.desired.as_ref()), &ours(answer.desired.as_ref()));
        }
    }
    report.end();
}

fn in_other_order(mut request: RunFunctionRequest) -> RunFunctionRequest {
    let states = [&mut request.observed, &mut request.desired].into_iter().flatten();
    let found = states.flat_map(|state| state.resources.values_mut().chain(&mut state.composite));
    let answers = request.extra_resources.values_mut().chain(request.required_resources.values_mut());
    let items = answers.flat_map(|answer| &mut answer.items);
    let structs = found.chain(items).filter_map(|found| found.resource.as_mut()).chain(&mut request.input);
    structs.for_each(|object| *object = trees::reversed(object));
    request
}

#[test]
fn a_caller_that_cannot_look_anything_up_is_told_so() {
    let mut report = Report::default();
    for case in case::examples().iter().filter(|case| !case.name.ends_with("-ready")) {
        report.look();
        let Ok(played) = play::play(case) else { continue };
        let mut request = crossplane::request(&played.scene, &case.name, Version::Two);
        request.meta.get_or_insert_default().capabilities = vec![v1::Capability::Capabilities.into()];
        let response = call(request.clone()).expect("a composite is there");
        crossplane::check_exchange(&case.name, &request, &response, &mut report);
        let fatal = response.results.iter().any(|result| result.severity() == v1::Severity::Fatal);
        report.equal(&case.name, "Fatal", &true, &fatal);
        report.equal(&case.name, "the desired state as received", &request.desired, &response.desired);
    }
    report.end();
}

#[test]
fn a_request_without_a_composite_is_an_invalid_argument() {
    let empty = [
        RunFunctionRequest::default(),
        RunFunctionRequest { observed: Some(v1::State::default()), ..RunFunctionRequest::default() },
        RunFunctionRequest {
            observed: Some(v1::State { composite: Some(v1::Resource::default()), ..v1::State::default() }),
            ..RunFunctionRequest::default()
        },
    ];
    for request in empty {
        let status = run(request, &settings()).expect_err("there is nothing to answer for");
        assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status}");
    }
}
