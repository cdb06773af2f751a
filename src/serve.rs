//! The gRPC server: FunctionRunnerService in both of its versions, answered by one handler.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service};
use tonic::server::NamedService;
use tonic::{Request, Response, Status};

use crate::composed::{Composition, Step};
use crate::pipeline::compose;
use crate::problem::Problem;
use crate::resolve::tables::without_secrets;
use crate::wire::proto::{v1, v1beta1};
use crate::wire::{request, response};

/// What the server needs to know.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The largest request it takes, in bytes.
    pub max_request: usize,
    /// How long an answer holds unless the platform settings say otherwise.
    pub ttl: Option<Duration>,
}

/// Answers calls.
#[derive(Clone, Debug)]
pub struct Function {
    settings: Settings,
}

/// Answers one request: the whole of what a call does, without the network.
///
/// # Errors
/// `InvalidArgument` if there is no composite resource. A person's mistake is a Fatal result instead.
pub fn run(call: v1::RunFunctionRequest, settings: &Settings) -> Result<v1::RunFunctionResponse, Status> {
    let inputs = request::inputs(&call, settings.ttl);
    let inputs = inputs.ok_or_else(|| Status::invalid_argument(Problem::no_composite().what))?;
    let step = compose(&inputs);
    log(&step);
    response::response(call, &step).map_err(|error| Status::internal(format!("the answer cannot be written: {error}")))
}

/// One line a call: what people grep for when flavors were applied, and every refusal.
fn log(step: &Step) {
    let Step::Answer(answer) = step else { return };
    let Composition { actor, applied, problems, changed, resolved, .. } = answer.as_ref();
    if !problems.is_empty() {
        tracing::warn!(actor, problems = %problems, "Refused");
    } else if !applied.is_empty() && *changed {
        tracing::info!(actor, flavors = ?applied, "Flavors applied");
    } else if !applied.is_empty() {
        tracing::debug!(actor, flavors = ?applied, "Flavors applied");
    }
    if let Some(resolved) = resolved.as_ref().filter(|_| tracing::enabled!(tracing::Level::DEBUG)) {
        tracing::debug!(actor, spec = %without_secrets(resolved), "Resolved");
    }
}

impl Function {
    /// A panic is a bug that costs this one call.
    fn answer(&self, call: v1::RunFunctionRequest) -> Result<Response<v1::RunFunctionResponse>, Status> {
        catch_unwind(AssertUnwindSafe(|| run(call, &self.settings)))
            .unwrap_or_else(|_| {
                tracing::error!("a bug: the call panicked");
                Err(Status::internal("a bug in function-asya: the call panicked, and its log says where"))
            })
            .map(Response::new)
    }
}

#[tonic::async_trait]
impl v1::function_runner_service_server::FunctionRunnerService for Function {
    async fn run_function(
        &self,
        call: Request<v1::RunFunctionRequest>,
    ) -> Result<Response<v1::RunFunctionResponse>, Status> {
        self.answer(call.into_inner())
    }
}

#[tonic::async_trait]
impl v1beta1::function_runner_service_server::FunctionRunnerService for Function {
    async fn run_function(
        &self,
        call: Request<v1::RunFunctionRequest>,
    ) -> Result<Response<v1::RunFunctionResponse>, Status> {
        self.answer(call.into_inner())
    }
}

/// Listens on `address`.
///
/// # Errors
/// If the address cannot be bound.
pub async fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    TcpListener::bind(address).await
}

/// Serves plaintext gRPC on `listener` until `stop` completes, then drains.
///
/// # Errors
/// If the listener fails.
pub async fn serve(
    listener: TcpListener,
    settings: Settings,
    stop: impl Future<Output = ()>,
) -> Result<(), tonic::transport::Error> {
    let router = Router::new(Function { settings });
    tonic::transport::Server::builder()
        .serve_with_incoming_shutdown(
            router,
            tonic::transport::server::TcpIncoming::from(listener).with_nodelay(Some(true)),
            stop,
        )
        .await
}

type V1 = v1::function_runner_service_server::FunctionRunnerServiceServer<Function>;
type V1Beta1 = v1beta1::function_runner_service_server::FunctionRunnerServiceServer<Function>;

/// Which service a call is for, by its path.
#[derive(Clone)]
struct Router {
    v1: V1,
    v1beta1: V1Beta1,
}

impl Router {
    fn new(function: Function) -> Self {
        let largest = function.settings.max_request;
        Self {
            v1: V1::new(function.clone()).max_decoding_message_size(largest),
            v1beta1: V1Beta1::new(function).max_decoding_message_size(largest),
        }
    }
}

impl Service<http::Request<Body>> for Router {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: http::Request<Body>) -> Self::Future {
        match call.uri().path().split('/').nth(1) {
            Some(V1::NAME) => self.v1.call(call),
            Some(V1Beta1::NAME) => self.v1beta1.call(call),
            _ => Box::pin(async { Ok(Status::unimplemented("no such service").into_http()) }),
        }
    }
}
