//! Bytes that nobody should send: an error or a Fatal result, within the limits, and the next call works.

use function_asya::wire::proto::v1::RunFunctionResponse;
use prost::Message as _;
use serde_json::{Value, json};
use tonic::Code;
use tonic::transport::Channel;

use crate::client::{Client, V1, call, unary};
use crate::lifecycle::{announce, http2, started};
use crate::observed::get;
use crate::process::{Process, eventually};
use crate::requests::{composite, fatal, good};

/// A message of any bytes.
#[derive(Clone, Debug, Default)]
struct Bytes(Vec<u8>);

impl prost::Message for Bytes {
    fn encode_raw(&self, buffer: &mut impl prost::bytes::BufMut) {
        buffer.put_slice(&self.0);
    }

    fn merge_field(
        &mut self,
        _: u32,
        _: prost::encoding::WireType,
        _: &mut impl prost::bytes::Buf,
        _: prost::encoding::DecodeContext,
    ) -> Result<(), prost::DecodeError> {
        unreachable!("it is only sent")
    }

    fn encoded_len(&self) -> usize {
        self.0.len()
    }

    fn clear(&mut self) {}
}

async fn send(channel: &Channel, bytes: Vec<u8>) -> Result<RunFunctionResponse, tonic::Status> {
    unary(channel.clone(), V1, Bytes(bytes)).await
}

/// The codes a broken request may end with.
fn told(outcome: &Result<RunFunctionResponse, tonic::Status>, what: &str) {
    if let Err(error) = outcome {
        let expected = [Code::Internal, Code::InvalidArgument, Code::ResourceExhausted];
        assert!(expected.contains(&error.code()), "{what}: {error:?}");
    }
}

async fn lives_on(channel: &Channel) {
    assert_eq!(fatal(&call(channel.clone(), good()).await.unwrap()), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_cut_or_altered_at_any_byte_is_told_and_the_next_call_works() {
    let server = Process::start(&["--insecure"]);
    let channel = Client::plain(server.address).channel();
    let whole = good().encode_to_vec();
    for end in 0..whole.len() {
        told(&send(&channel, whole[..end].to_vec()).await, &format!("cut at {end}"));
    }
    for at in 0..whole.len() {
        for altered in [whole[at].wrapping_add(1), whole[at].wrapping_sub(1), 0, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = altered;
            told(&send(&channel, bytes).await, &format!("{altered:#x} at {at}"));
        }
    }
    lives_on(&channel).await;
    assert!(!server.lines().concat().contains("panicked"), "{:?}", server.lines());
}

fn nested(depth: usize) -> Vec<u8> {
    // A list in a list in a list, written from the inside out: prost's own encoder would overflow the stack.
    let delimited = |number: u8, content: Vec<u8>| {
        let mut field = vec![number << 3 | 2];
        prost::encoding::encode_varint(content.len() as u64, &mut field);
        field.extend(content);
        field
    };
    let value = (0..depth).fold(Vec::new(), |value, _| delimited(6, delimited(1, value)));
    let entry = delimited(1, [delimited(1, b"spec".to_vec()), delimited(2, value)].concat());
    delimited(2, delimited(1, delimited(1, entry)))
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_nesting_and_many_flavors_are_refused() {
    let server = Process::start(&["--insecure"]);
    let channel = Client::plain(server.address).channel();
    for depth in [100, 255, 1_000, 100_000] {
        told(&send(&channel, nested(depth)).await, &format!("{depth} levels"));
    }
    let names: Vec<String> = (0..1000).map(|number| format!("flavor-{number}")).collect();
    for flavors in [json!(names), json!(vec![Value::Null; 1000]), json!({"a": 1}), json!("x".repeat(1 << 20))] {
        let response = call(channel.clone(), composite(json!({"actor": "hello", "flavors": flavors}))).await.unwrap();
        let asked = response.requirements.as_ref().map_or(0, |asked| asked.resources.len());
        assert!(asked <= 9, "{asked} EnvironmentConfigs asked for");
        assert!(asked > 0 || fatal(&response).is_some());
    }
    lives_on(&channel).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_beyond_the_limit_is_refused() {
    let server = Process::start(&["--insecure", "--max-recv-message-size", "1"]);
    let channel = Client::plain(server.address).channel();
    for size in [1 << 20, 64 << 20] {
        let error = send(&channel, vec![0; size + 1]).await.unwrap_err();
        assert_eq!(error.code(), Code::ResourceExhausted, "{error:?}");
        assert!(error.message().contains("--max-recv-message-size"), "{error}");
    }
    told(&send(&channel, vec![0; 1 << 20]).await, "zeros up to the limit");
    lives_on(&channel).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_mebibytes_of_zeros_are_told_and_so_is_a_cut_amid_them() {
    let server = Process::start(&["--insecure", "--max-recv-message-size", "65"]);
    let channel = Client::plain(server.address).channel();
    send(&channel, vec![0; 64 << 20]).await.expect_err("zeros are no request");
    // As the content of an object: one field of 64 MiB that nobody knows.
    let mut object = vec![0x12, 0x85, 0x80, 0x80, 0x20, 0x0a, 0x80, 0x80, 0x80, 0x20];
    object.resize(object.len() + (64 << 20), 0);
    told(&send(&channel, object.clone()).await, "zeros for a composite");
    object.truncate(32 << 20);
    told(&send(&channel, object).await, "half of them");
    lives_on(&channel).await;
}

/// As many connections as are let in, each with as many calls as it may have, each of which announces the largest
/// request and then sends no more than it must: 32 GiB announced.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_do_not_take_memory_without_bound() {
    const CONNECTIONS: usize = 16;
    const CALLS: usize = 64;
    let server = Process::start(&["--insecure", "--max-connections", "17", "--max-concurrent-streams", "64"]);
    // One place is kept for whoever means well.
    let good_channel = Client::plain(server.address).channel();
    lives_on(&good_channel).await;
    let before = server.memory();
    let piece = hyper::body::Bytes::from(vec![7; 64 * 1024]);
    let (mut clients, mut bodies, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..CONNECTIONS {
        let mut client = http2(&server).await;
        for _ in 0..CALLS {
            let (pieces, answer) = announce(&mut client, 32 << 20);
            for _ in 0..4 {
                let _ = pieces.try_send(piece.clone());
            }
            bodies.push(pieces);
            answers.push(tokio::spawn(answer));
        }
        clients.push(client);
    }
    let calls = 1 + (CONNECTIONS * CALLS) as u64;
    eventually("the calls began", || get(server.page(), "/metrics").1.contains(&started(calls)).then_some(()));
    let grown = server.memory().saturating_sub(before);
    println!("{calls} calls announced {} GiB and took {} MiB", calls * 32 / 1024, grown >> 20);
    // What a connection may send ahead, and what the requests together may take.
    let most = CONNECTIONS as u64 * (2 << 20) + (256 << 20);
    assert!(grown < most, "{} MiB", grown >> 20);
    answers.iter().for_each(tokio::task::JoinHandle::abort);
    drop((clients, bodies, answers));
    lives_on(&good_channel).await;
}

/// Far more connections than are let in, none of which ever says a word.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_connections_does_not_take_memory_without_bound() {
    let server = Process::start(&["--insecure", "--max-connections", "32", "--handshake-timeout", "500ms"]);
    lives_on(&Client::plain(server.address).channel()).await;
    let before = server.memory();
    let flood: Vec<_> = (0..500).map(|_| std::net::TcpStream::connect(server.address).unwrap()).collect();
    eventually("the limit is told", || server.lines().concat().contains(r#""reason":"full""#).then_some(()));
    let grown = server.memory().saturating_sub(before);
    println!("{} connections took {} KiB", flood.len(), grown >> 10);
    assert!(grown < 16 << 20, "{} KiB", grown >> 10);
    // Nobody goes away; the silent ones are sent away, and it is the next one's turn.
    lives_on(&Client::plain(server.address).channel()).await;
    let told = server.lines().iter().filter(|line| line.contains("too-slow")).count();
    assert!(told <= 51, "{told} lines about the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_beyond_the_limit_are_refused() {
    let server = Process::start(&["--insecure"]);
    let channel = Client::plain(server.address).channel();
    let mut request = tonic::Request::new(good());
    request.metadata_mut().insert("x-long", "x".repeat(64 * 1024).parse().unwrap());
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.unwrap();
    let codec = tonic_prost::ProstCodec::<_, RunFunctionResponse>::default();
    let path = http::uri::PathAndQuery::from_static(V1);
    client.unary(request, path, codec).await.expect_err("too long");
    // Beyond measure, they cost the connection, which is the client's own.
    lives_on(&Client::plain(server.address).channel()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_services_and_methods_are_unimplemented() {
    let server = Process::start(&["--insecure"]);
    let channel = Client::plain(server.address).channel();
    for path in ["/nobody/RunFunction", "/apiextensions.fn.proto.v1.FunctionRunnerService/Walk", "/"] {
        let outcome: Result<RunFunctionResponse, _> = unary(channel.clone(), path, good()).await;
        assert_eq!(outcome.unwrap_err().code(), Code::Unimplemented, "{path}");
    }
}
