//! A collector hears of each call, below the span of whoever called. `cargo test --features otlp --test traces`.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may fail, and uses its part of the tools"
)]

#[path = "server/authority.rs"]
mod authority;
#[path = "server/client.rs"]
mod client;
#[path = "server/process.rs"]
mod process;
#[path = "server/requests.rs"]
mod requests;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;

use function_asya::wire::proto::v1::{RunFunctionRequest, RunFunctionResponse};
use http::{HeaderMap, HeaderValue, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use process::Process;
use prost::Message;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tonic::transport::Channel;

/// As much as we look at of what OTLP calls an ExportTraceServiceRequest.
#[derive(Clone, PartialEq, Message)]
struct Export {
    #[prost(message, repeated, tag = "1")]
    resources: Vec<OfResource>,
}

#[derive(Clone, PartialEq, Message)]
struct OfResource {
    #[prost(message, optional, tag = "1")]
    resource: Option<Described>,
    #[prost(message, repeated, tag = "2")]
    scopes: Vec<OfScope>,
}

#[derive(Clone, PartialEq, Message)]
struct Described {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct OfScope {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace: Vec<u8>,
    #[prost(string, tag = "3")]
    state: String,
    #[prost(bytes = "vec", tag = "4")]
    parent: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(string, optional, tag = "1")]
    text: Option<String>,
    #[prost(int64, optional, tag = "3")]
    number: Option<i64>,
}

fn attributes(all: &[Attribute]) -> BTreeMap<&str, String> {
    let text = |value: &AnyValue| value.text.clone().or_else(|| Some(value.number?.to_string())).unwrap_or_default();
    all.iter().map(|it| (it.key.as_str(), it.value.as_ref().map(text).unwrap_or_default())).collect()
}

/// A collector that keeps the bytes of what it is sent.
async fn collector() -> (SocketAddr, UnboundedReceiver<Bytes>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (heard, hears) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let heard = heard.clone();
            let service = service_fn(move |request| collect(request, heard.clone()));
            tokio::spawn(http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(tcp), service));
        }
    });
    (address, hears)
}

async fn collect(
    request: http::Request<Incoming>,
    heard: UnboundedSender<Bytes>,
) -> Result<Response<impl hyper::body::Body<Data = Bytes, Error = Infallible>>, Infallible> {
    assert_eq!(request.uri().path(), "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    heard.send(request.into_body().collect().await.unwrap().to_bytes()).unwrap();
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let body = Full::new(Bytes::from_static(&[0; 5])).with_trailers(async { Some(Ok(trailers)) });
    Ok(Response::builder().header("content-type", "application/grpc").body(body).unwrap())
}

async fn call_below(channel: Channel, request: RunFunctionRequest, parent: &[(&'static str, &'static str)]) {
    let mut request = tonic::Request::new(request);
    for (name, value) in parent {
        request.metadata_mut().insert(*name, value.parse().unwrap());
    }
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.unwrap();
    let codec = tonic_prost::ProstCodec::<_, RunFunctionResponse>::default();
    let _ = client.unary(request, http::uri::PathAndQuery::from_static(client::V1), codec).await;
}

fn start(address: SocketAddr) -> Process {
    Process::start_with(&["--insecure"], &[("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{address}"))])
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_a_span_below_its_callers_and_holds_nothing_of_the_request() {
    let (address, mut hears) = collector().await;
    let mut server = start(address);
    let channel = client::Client::plain(server.address).channel();
    let sampled = [("traceparent", concat!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-", "01"))];
    let with_state = [sampled[0], ("tracestate", "vendor=42")];
    call_below(channel.clone(), requests::bad(), &with_state).await;
    let unsampled = [("traceparent", "00-11111111111111111111111111111111-b7ad6b7169203331-00")];
    call_below(channel.clone(), requests::good(), &unsampled).await;
    call_below(channel.clone(), requests::good(), &[]).await;
    call_below(channel, RunFunctionRequest::default(), &sampled).await;
    server.signal("TERM");
    assert_eq!(server.code(), Some(0));

    let mut bytes = Vec::new();
    while let Ok(more) = hears.try_recv() {
        bytes.push(more);
    }
    let exports: Vec<_> = bytes.iter().map(|bytes| Export::decode(&bytes[5..]).unwrap()).collect();
    let resources: Vec<_> = exports.iter().flat_map(|export| &export.resources).collect();
    let about = attributes(&resources[0].resource.as_ref().unwrap().attributes);
    assert_eq!((&*about["service.name"], &*about["service.version"]), ("function-asya", env!("CARGO_PKG_VERSION")));
    let spans: Vec<_> = resources.iter().flat_map(|it| &it.scopes).flat_map(|scope| &scope.spans).collect();
    let [refused, alone, invalid] = spans[..] else { panic!("{spans:#?}") };
    assert_eq!((hex(&refused.trace), hex(&refused.parent)), (TRACE.to_owned(), PARENT.to_owned()));
    assert_eq!((refused.name.as_str(), refused.state.as_str()), (&client::V1[1..], "vendor=42"));
    let told = attributes(&refused.attributes);
    assert_eq!((&*told["function_asya.outcome"], &*told["function_asya.tag"]), ("refused", "a-tag"));
    assert_eq!((&*told["rpc.system"], &*told["rpc.grpc.status_code"]), ("grpc", "0"));
    assert!(alone.parent.is_empty() && hex(&alone.trace) != TRACE, "a trace of its own");
    let told = attributes(&invalid.attributes);
    assert_eq!((&*told["function_asya.outcome"], &*told["rpc.grpc.status_code"]), ("invalid", "3"));
    assert!(!bytes.iter().any(|bytes| bytes.windows(7).any(|it| it == b"hunter2")), "a secret");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_do_not_wait_for_a_collector_that_is_not_there() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut server = start(nobody.local_addr().unwrap());
    client::Client::plain(server.address).call(requests::good()).await.unwrap();
    server.signal("TERM");
    assert_eq!(server.code(), Some(0));
}

#[test]
fn an_endpoint_that_is_none_is_told() {
    let mut command = process::command(&["--insecure", "--address", "127.0.0.1:0", "--metrics-address", ""]);
    let output = command.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "no url").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("error: OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ") && text.contains("  hint: "), "{text}");
}
