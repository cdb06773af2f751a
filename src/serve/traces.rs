//! Traces: a span for each RunFunction call, sent to a collector over OTLP. Only in builds with the feature `otlp`, and
//! there only if the environment names a collector, by the variables that OpenTelemetry gives it.

use http::{HeaderMap, Response};
use opentelemetry::context::FutureExt as _;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tonic::Code;
use tonic::body::Body;

use super::answer::Outcome;
use super::method::{self, Method};

const NAME: &str = "function-asya";
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
const SERVICE_NAME: &str = "OTEL_SERVICE_NAME";

/// What sends spans for as long as the server lives; nothing if no collector is named.
pub struct Traces(Option<SdkTracerProvider>);

impl Traces {
    /// Starts to send spans, from within the runtime.
    ///
    /// # Errors
    /// What is wrong with the variables.
    pub fn start() -> Result<Self, String> {
        let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let Some(variable) = ENDPOINTS.iter().find(|name| is_set(name)) else { return Ok(Self(None)) };
        let exporter = SpanExporter::builder().with_tonic().build();
        let exporter = exporter.map_err(|error| format!("{variable}: cannot send traces there: {error}"))?;
        let resource = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let resource = if is_set(&SERVICE_NAME) { resource } else { resource.with_service_name(NAME) };
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build());
        let provider = provider.build();
        global::set_tracer_provider(provider.clone());
        tracing::info!(variable, "Sending traces");
        Ok(Self(Some(provider)))
    }

    /// Sends what is left, for a few seconds at most.
    pub async fn end(self) {
        let Some(provider) = self.0 else { return };
        let ended = tokio::task::spawn_blocking(move || provider.shutdown()).await;
        if let Ok(Err(error)) = ended {
            tracing::warn!(%error, hint = "look whether the collector is there", "The last traces are lost");
        }
    }
}

/// One call as a span, below that of whoever calls.
pub(super) struct Span(Context);

impl Span {
    /// Begins with the call. Only RunFunction is worth a span; probes are not.
    pub(super) fn begin(method: &Method, headers: &HeaderMap) -> Self {
        if method.grpc_method != "RunFunction" {
            return Self(Context::new());
        }
        let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(headers));
        let tracer = global::tracer(NAME);
        let span = tracer.span_builder(format!("{}/{}", method.grpc_service, method.grpc_method));
        let span = span.with_kind(SpanKind::Server).with_attributes([
            KeyValue::new("rpc.system", "grpc"),
            KeyValue::new("rpc.service", method.grpc_service),
            KeyValue::new("rpc.method", method.grpc_method),
        ]);
        let span = tracer.build_with_context(span, &parent);
        Self(parent.with_span(span))
    }

    /// Makes it the span of whatever `call` does.
    pub(super) async fn around<T>(&self, call: impl Future<Output = T>) -> T {
        call.with_context(self.0.clone()).await
    }

    /// Ends with the response.
    pub(super) fn end(self, response: &Response<Body>) {
        let code = tonic::Status::from_header_map(response.headers()).map_or(Code::Ok, |status| status.code());
        let span = self.0.span();
        span.set_attribute(KeyValue::new("rpc.grpc.status_code", i64::from(i32::from(code))));
        if code != Code::Ok {
            span.set_status(Status::error(method::code(code)));
        }
        span.end();
    }
}

/// Tells the span of this call what became of it. No more than that: what a request holds is nobody else's business.
pub(super) fn tell(outcome: Outcome, tag: &str) {
    let context = Context::current();
    let span = context.span();
    span.set_attribute(KeyValue::new("function_asya.outcome", outcome.as_str()));
    span.set_attribute(KeyValue::new("function_asya.tag", tag.to_owned()));
}

/// Headers, as the propagator reads them.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
