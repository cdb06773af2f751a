//! From a path to the service it names, with what holds for every call: counting, deadlines, an end to streams.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service};
use tonic::server::NamedService;
use tonic::{Code, Status};

use super::budget::{Budget, Budgeted};
use super::counted::{Call, Received};
use super::ending::{Ending, Ends};
use super::function::Function;
use super::health::Health;
use super::messages::Watched;
use super::method::Method;
use super::metrics::Metrics;
use super::settings::Limits;
use super::traces::Span;
use super::{deadline, reflection};
use crate::wire::proto::{v1, v1beta1};

/// Our service under its newer name.
pub(super) type V1 = v1::function_runner_service_server::FunctionRunnerServiceServer<Function>;
/// Our service under its older name.
pub(super) type V1Beta1 = v1beta1::function_runner_service_server::FunctionRunnerServiceServer<Function>;

/// A service of any type.
type Route = Arc<dyn Fn(Request<Body>) -> BoxFuture<Response<Body>, Infallible> + Send + Sync>;

/// All services by their names.
pub(super) struct Router {
    routes: BTreeMap<&'static str, Route>,
    metrics: Arc<Metrics>,
    budget: Budget,
    largest: usize,
    longest: Duration,
}

impl Router {
    /// The services, within the limits.
    pub(super) fn new(function: Function, health: &Health, limits: &Limits) -> Self {
        let metrics = Arc::clone(&function.metrics);
        let largest = function.settings.max_request;
        let budget = Budget::new(limits.memory, largest);
        let mut router = Self { routes: BTreeMap::new(), metrics, budget, largest, longest: limits.call };
        router.add(V1::new(function.clone()).max_decoding_message_size(largest));
        router.add(V1Beta1::new(function).max_decoding_message_size(largest));
        router.add(health.service());
        router.add(reflection::v1());
        router.add(reflection::v1alpha());
        router
    }

    fn add<S>(&mut self, service: S)
    where
        S: NamedService + Clone + Send + Sync + 'static,
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
        S::Future: Send + 'static,
    {
        self.routes.insert(S::NAME, Arc::new(move |call| Box::pin(service.clone().call(call))));
    }

    /// Answers one call on a connection that `ends`.
    pub(super) async fn call(&self, call: Request<Incoming>, ends: Ends) -> Response<Body> {
        let path = call.uri().path();
        let method = Method::at(path);
        let service = path.split('/').nth(1).unwrap_or_default();
        let Some(route) = self.routes.get(service) else {
            return Status::unimplemented("no such service").into_http();
        };
        let Some(method) = method else { return never(route(call.map(Body::new)).await) };
        let counted = Call::start(method, Arc::clone(&self.metrics));
        let budget = self.budget.clone();
        let received = Received::new(method, Arc::clone(&self.metrics));
        let limit =
            (!method.streams()).then(|| deadline::of(call.headers()).map_or(self.longest, |it| it.min(self.longest)));
        let largest = self.largest;
        let span = Span::begin(method, call.headers());
        let answer =
            span.around(route(call.map(|body| Body::new(Watched::new(Budgeted::new(body, budget), received)))));
        let response = match limit {
            Some(limit) => tokio::time::timeout(limit, answer).await.unwrap_or_else(|_| Ok(late())),
            None => answer.await.map(|response| response.map(|body| Body::new(Ending::new(body, ends)))),
        };
        let response = sized(never(response), largest);
        span.end(&response);
        counted.follow(response)
    }
}

/// Says of a request that is too large what to do about it, with the code that Go's servers use.
fn sized(response: Response<Body>, largest: usize) -> Response<Body> {
    match Status::from_header_map(response.headers()).map(|status| status.code()) {
        // Nothing but tonic's check of the size ends with this code here.
        Some(Code::OutOfRange) => {
            let what = format!("the request is larger than {largest} bytes: raise --max-recv-message-size");
            Status::resource_exhausted(what).into_http()
        }
        _ => response,
    }
}

fn late() -> Response<Body> {
    Status::deadline_exceeded("the client's deadline passed before the answer was ready").into_http()
}

fn never<T>(outcome: Result<T, Infallible>) -> T {
    match outcome {
        Ok(value) => value,
    }
}
