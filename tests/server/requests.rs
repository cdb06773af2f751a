//! Requests that Crossplane could send.

use function_asya::wire::proto::v1::{
    RequestMeta, Resource, RunFunctionRequest, RunFunctionResponse, Severity, State, Status,
};
use function_asya::wire::{from_struct, to_struct};
use serde_json::{Value, json};

pub fn composite(spec: Value) -> RunFunctionRequest {
    let object = json!({
        "apiVersion": "asya.sh/v1alpha1",
        "kind": "XAsyncActor",
        "metadata": {"name": "hello-x7k2p", "labels": {
            "crossplane.io/claim-name": "hello", "crossplane.io/claim-namespace": "demo",
        }},
        "spec": spec,
    });
    let resource = Resource { resource: Some(to_struct(&object).unwrap()), ..Resource::default() };
    RunFunctionRequest {
        meta: Some(RequestMeta { tag: "a-tag".to_owned(), ..RequestMeta::default() }),
        observed: Some(State { composite: Some(resource), ..State::default() }),
        ..RunFunctionRequest::default()
    }
}

/// An actor that is fine.
pub fn good() -> RunFunctionRequest {
    composite(json!({"actor": "hello", "image": "ghcr.io/demo/hello:1", "handler": "hello.handle"}))
}

/// The actor of a request once Crossplane has written down what it was answered.
pub fn told(mut request: RunFunctionRequest, answer: &RunFunctionResponse) -> RunFunctionRequest {
    let composite = request.observed.as_mut().and_then(|state| state.composite.as_mut()?.resource.as_mut()).unwrap();
    let mut object: Value = from_struct(composite).unwrap();
    let status = |status| match status {
        Status::ConditionTrue => "True",
        Status::ConditionFalse => "False",
        _ => "Unknown",
    };
    let conditions = answer.conditions.iter().map(|condition| {
        json!({
            "type": condition.r#type, "status": status(condition.status()), "reason": condition.reason,
            "message": condition.message(),
        })
    });
    object["status"] = json!({"conditions": conditions.collect::<Vec<_>>()});
    *composite = to_struct(&object).unwrap();
    request
}

/// An actor that is refused, with a secret in it.
pub fn bad() -> RunFunctionRequest {
    let env = [json!({"name": "TOKEN", "value": "hunter2"})];
    composite(json!({"actor": "hello", "image": 5, "handler": "hello.handle", "env": env}))
}

pub fn fatal(response: &RunFunctionResponse) -> Option<&str> {
    let found = response.results.iter().find(|result| result.severity() == Severity::Fatal);
    found.map(|result| result.message.as_str())
}
