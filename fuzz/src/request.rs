//! A request is answered, or refused as a broken one; never the end of the process, and twice the same.

use function_asya::serve::{Settings, run};
use function_asya::status::CONDITIONS;
use function_asya::wire::from_struct;
use function_asya::wire::proto::v1::{RunFunctionRequest, RunFunctionResponse, Severity};
use prost::Message as _;
use serde_json::Value;
use tonic::Code;

/// Answers the request in `bytes`, through the function that the server calls.
///
/// # Panics
/// If the answer is not what every answer must be.
pub fn check(bytes: &[u8]) {
    let Ok(request) = RunFunctionRequest::decode(bytes) else { return };
    let settings = Settings { max_request: usize::MAX, ttl: None };
    match (run(request.clone(), &settings), run(request.clone(), &settings)) {
        (Ok(response), Ok(again)) => {
            let written = response.encode_to_vec();
            assert_eq!(written, again.encode_to_vec(), "the second answer is another");
            let read = RunFunctionResponse::decode(&*written).expect("prost reads the answer");
            assert_eq!(read, response, "the answer is read as it was written");
            keeps_its_duties(&request, &response);
        }
        (Err(error), Err(_)) => assert_eq!(error.code(), Code::InvalidArgument, "{error}"),
        _ => panic!("one of two equal calls failed"),
    }
}

/// What Crossplane expects of every function, and people of this one.
fn keeps_its_duties(request: &RunFunctionRequest, response: &RunFunctionResponse) {
    let tag = request.meta.as_ref().map_or("", |meta| &meta.tag);
    assert_eq!(response.meta.as_ref().expect("it says how long it holds").tag, tag);
    assert_eq!(request.context, response.context, "the context is as it came");
    let fatal = response.results.iter().any(|result| result.severity() == Severity::Fatal);
    if response.conditions.is_empty() || fatal {
        assert_eq!(request.desired, response.desired, "nothing is changed by a question or a refusal");
    }
    if response.conditions.is_empty() {
        assert!(response.requirements.is_some(), "it answers nothing and asks nothing");
    } else {
        let kinds: Vec<_> = response.conditions.iter().map(|condition| condition.r#type.as_str()).collect();
        assert_eq!(kinds, CONDITIONS);
    }
    let resources = |state: &Option<function_asya::wire::proto::v1::State>| {
        state.as_ref().map(|state| state.resources.clone()).unwrap_or_default()
    };
    let before = resources(&request.desired);
    for (name, resource) in resources(&response.desired) {
        match before.get(&name) {
            Some(earlier) => assert_eq!(*earlier, resource, "`{name}` is an earlier step's"),
            None => {
                let ours = resource.resource.as_ref().map(from_struct::<Value>);
                assert!(ours.is_some_and(|object| object.is_ok()), "`{name}` can be read");
            }
        }
    }
    assert!(before.keys().all(|name| resources(&response.desired).contains_key(name)), "an earlier step's is gone");
}
