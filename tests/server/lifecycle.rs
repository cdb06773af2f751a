//! From ready to the last call.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use function_asya::wire::proto::v1::RunFunctionResponse;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Bytes, Frame};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message as _;
use tokio::sync::mpsc;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::client::{Client, V1, call};
use crate::observed::get;
use crate::process::{Process, eventually};
use crate::requests::good;

type Body = StreamBody<Pieces>;

/// A request body that is sent when the test says so.
pub struct Pieces(mpsc::Receiver<Bytes>);

impl tonic::codegen::tokio_stream::Stream for Pieces {
    type Item = Result<Frame<Bytes>, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

pub async fn http2(server: &Process) -> SendRequest<Body> {
    http2_as(&Client::plain(server.address)).await
}

pub async fn http2_as(client: &Client) -> SendRequest<Body> {
    let stream = client.connect().await.unwrap();
    let (client, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A call whose request is under way: what is left of it, where to put it, and the answer.
pub fn begin(
    client: &mut SendRequest<Body>,
    headers: &[(&'static str, &str)],
) -> (Bytes, mpsc::Sender<Bytes>, impl Future<Output = hyper::Result<http::Response<hyper::body::Incoming>>> + use<>) {
    let message = good().encode_to_vec();
    let framed = [&[0][..], &(message.len() as u32).to_be_bytes(), &message].concat();
    let (first, rest) = framed.split_at(10);
    let (pieces, answer) = post(client, headers, Bytes::copy_from_slice(first));
    (Bytes::copy_from_slice(rest), pieces, answer)
}

/// A call that says how long its request is, and nothing of it.
pub fn announce(
    client: &mut SendRequest<Body>,
    length: u32,
) -> (mpsc::Sender<Bytes>, impl Future<Output = hyper::Result<http::Response<hyper::body::Incoming>>> + use<>) {
    post(client, &[], Bytes::from([&[0][..], &length.to_be_bytes()].concat()))
}

fn post(
    client: &mut SendRequest<Body>,
    headers: &[(&'static str, &str)],
    first: Bytes,
) -> (mpsc::Sender<Bytes>, impl Future<Output = hyper::Result<http::Response<hyper::body::Incoming>>> + use<>) {
    let (pieces, body) = mpsc::channel(8);
    pieces.try_send(first).unwrap();
    let mut request = http::Request::post(format!("http://function{V1}")).header("content-type", "application/grpc");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = client.send_request(request.body(StreamBody::new(Pieces(body))).unwrap());
    (pieces, answer)
}

pub async fn grpc_status(response: http::Response<hyper::body::Incoming>) -> (String, Bytes) {
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap();
    let trailers = body.trailers().cloned().unwrap_or_default();
    let status = trailers.get("grpc-status").or_else(|| head.headers.get("grpc-status")).unwrap();
    (status.to_str().unwrap().to_owned(), body.to_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_runs_at_sigterm_is_finished_and_nobody_else_is_let_in() {
    let mut server = Process::start(&["--insecure"]);
    let mut client = http2(&server).await;
    let (rest, pieces, answer) = begin(&mut client, &[]);
    let answer = tokio::spawn(answer);
    let page = server.page();
    eventually("the call began", || get(page, "/metrics").1.contains(&started(1)).then_some(()));
    assert_eq!(get(page, "/readyz").0, 200);
    server.signal("TERM");
    server.line("Draining");
    eventually("not ready", || (get(page, "/readyz").0 == 503).then_some(()));
    assert_eq!(get(page, "/healthz").0, 200);
    eventually("nobody is let in", || TcpStream::connect(server.address).is_err().then_some(()));
    assert!(server.ended().is_none(), "it waits for the call");
    pieces.send(rest).await.unwrap();
    drop(pieces);
    let (status, body) = grpc_status(answer.await.unwrap().unwrap()).await;
    assert_eq!(status, "0");
    RunFunctionResponse::decode(body.slice(5..)).unwrap();
    assert_eq!(server.code(), Some(0));
    assert_eq!(server.said("Stopped").len(), 1);
}

/// The line of /metrics that says so many calls began.
pub fn started(calls: u64) -> String {
    let labels =
        r#"grpc_type="unary",grpc_service="apiextensions.fn.proto.v1.FunctionRunnerService",grpc_method="RunFunction""#;
    format!("grpc_server_started_total{{{labels}}} {calls}\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_does_not_end_is_dropped_after_the_grace() {
    let mut server = Process::start(&["--insecure", "--shutdown-grace", "200ms"]);
    let mut client = http2(&server).await;
    let (_rest, _pieces, answer) = begin(&mut client, &[]);
    let answer = tokio::spawn(answer);
    let page = server.page();
    eventually("the call began", || get(page, "/metrics").1.contains(&started(1)).then_some(()));
    server.signal("TERM");
    assert_eq!(server.code(), Some(0));
    answer.await.unwrap().expect_err("dropped");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_at_once() {
    let mut server = Process::start(&["--insecure", "--shutdown-grace", "1h"]);
    let mut client = http2(&server).await;
    let (_rest, _pieces, answer) = begin(&mut client, &[]);
    let answer = tokio::spawn(answer);
    let page = server.page();
    eventually("the call began", || get(page, "/metrics").1.contains(&started(1)).then_some(()));
    server.signal("TERM");
    server.line("Draining");
    server.signal("INT");
    assert_eq!(server.code(), Some(1));
    answer.await.unwrap().expect_err("dropped");
}

/// Clients that found it by name before it was told to stop may still come.
#[tokio::test(flavor = "multi_thread")]
async fn until_the_delay_is_over_calls_are_served_and_probes_are_told_otherwise() {
    let mut server = Process::start(&["--insecure", "--shutdown-delay", "1h"]);
    let page = server.page();
    server.signal("TERM");
    server.line("Draining");
    eventually("not ready", || (get(page, "/readyz").0 == 503).then_some(()));
    let channel = Client::plain(server.address).channel();
    let health = HealthClient::new(channel.clone()).check(HealthCheckRequest::default()).await.unwrap().into_inner();
    assert_eq!(health.status(), ServingStatus::NotServing);
    call(channel, good()).await.expect("a new client is served");
    server.signal("TERM");
    assert_eq!(server.code(), Some(1), "at once");

    let mut server = Process::start(&["--insecure", "--shutdown-delay", "100ms"]);
    server.signal("TERM");
    assert_eq!(server.code(), Some(0));
    assert_eq!(server.said("Stopped").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_server_stops_at_once_and_watchers_hear_why() {
    let mut server = Process::start(&["--insecure", "--shutdown-grace", "1h"]);
    let mut health = HealthClient::new(Client::plain(server.address).channel());
    let services =
        ["", "apiextensions.fn.proto.v1.FunctionRunnerService", "apiextensions.fn.proto.v1beta1.FunctionRunnerService"];
    let mut watches = Vec::new();
    for service in services {
        let request = HealthCheckRequest { service: service.to_owned() };
        let checked = health.check(request.clone()).await.unwrap().into_inner();
        assert_eq!(checked.status(), ServingStatus::Serving);
        let mut watch = health.watch(request).await.unwrap().into_inner();
        assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
        watches.push(watch);
    }
    let unknown = HealthCheckRequest { service: "nobody".to_owned() };
    assert_eq!(health.check(unknown).await.unwrap_err().code(), tonic::Code::NotFound);
    server.signal("TERM");
    for mut watch in watches {
        assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
        assert_eq!(watch.message().await.unwrap_err().code(), tonic::Code::Unavailable);
    }
    assert_eq!(server.code(), Some(0));
}

/// The connection is asked to end every 200 ms, and a client that does not retry notices nothing.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_connection_is_replaced_without_a_failed_call() {
    let server = Process::start(&["--insecure", "--max-connection-age", "200ms"]);
    let mut served = 0;
    for _ in 0..10 {
        let mut client = http2(&server).await;
        while client.ready().await.is_ok() {
            let (rest, pieces, answer) = begin(&mut client, &[]);
            let answer = tokio::spawn(answer);
            if pieces.send(rest).await.is_err() {
                break;
            }
            drop(pieces);
            match answer.await.unwrap() {
                Ok(response) => assert_eq!(grpc_status(response).await.0, "0"),
                // Not sent, or not looked at: the client knows it may send it elsewhere.
                Err(error) => {
                    let unseen = format!("{error:?}").contains(r#"GoAway(b"", NO_ERROR, Remote)"#);
                    assert!(error.is_canceled() || unseen, "{error:?}");
                    break;
                }
            }
            served += 1;
        }
    }
    assert!(served > 10, "{served}");
}

/// A socket that is closed while its client still speaks is reset, and what was sent to the client last is lost with it.
#[test]
fn a_connection_that_ends_is_not_reset_before_its_client_closes_it() {
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const PING: u8 = 6;
    const GOAWAY: u8 = 7;
    let server = Process::start(&["--insecure", "--max-connection-age", "100ms"]);
    let mut tcp = TcpStream::connect(server.address).unwrap();
    tcp.set_nodelay(true).unwrap();
    tcp.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    tcp.write_all(&SETTINGS).unwrap();
    let (mut ends, mut head) = (0, [0; 9]);
    while tcp.read_exact(&mut head).is_ok() {
        let mut content = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        tcp.read_exact(&mut content).unwrap();
        ends += usize::from(head[3] == GOAWAY);
        if (head[3], head[4]) == (PING, 0) {
            tcp.write_all(&[&[0, 0, 8, PING, 1, 0, 0, 0, 0], &content[..]].concat()).unwrap();
        }
    }
    assert_eq!(ends, 2, "it is asked to end, and told which call was the last");
    for _ in 0..1000 {
        tcp.write_all(&[0, 0, 8, PING, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]).expect("not reset");
    }
    assert_eq!(tcp.read(&mut head).expect("not reset"), 0);
}

/// Two instances, calls go to either, one is told to stop.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_instance_takes_over_without_a_failed_call() {
    let (mut first, second) = (Process::start(&["--insecure"]), Process::start(&["--insecure"]));
    let (stop, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let streams: Vec<_> = (0..16)
        .map(|_| {
            let (one, other) = (Client::plain(first.address).channel(), Client::plain(second.address).channel());
            let (stop, calls) = (Arc::clone(&stop), Arc::clone(&calls));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    // As grpc-go: what was never sent goes to the other one; what was sent must be answered.
                    if let Err(error) = call(one.clone(), good()).await {
                        assert!(unsent(&error), "{error:?}");
                        call(other.clone(), good()).await.unwrap();
                    }
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let more = |than: u64| eventually("calls run", || (calls.load(Ordering::Relaxed) > than).then_some(()));
    more(50);
    first.signal("TERM");
    assert_eq!(first.code(), Some(0));
    let before = calls.load(Ordering::Relaxed);
    more(before + 50);
    stop.store(true, Ordering::Relaxed);
    for stream in streams {
        stream.await.unwrap();
    }
}

fn unsent(error: &tonic::Status) -> bool {
    let text = format!("{error:?}");
    ["ConnectError", "Canceled", "Connection refused", "GoAway", "NO_ERROR", "connection closed"]
        .iter()
        .any(|word| text.contains(word))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_is_honoured() {
    let server = Process::start(&["--insecure"]);
    let mut client = http2(&server).await;
    let (_rest, _pieces, answer) = begin(&mut client, &[("grpc-timeout", "100m")]);
    let response = tokio::time::timeout(Duration::from_secs(20), answer).await.unwrap().unwrap();
    assert_eq!(grpc_status(response).await.0, "4", "DeadlineExceeded");
    let page = server.page();
    eventually("it is counted", || {
        get(page, "/metrics").1.contains(r#"grpc_code="DeadlineExceeded"} 1"#).then_some(())
    });
}
