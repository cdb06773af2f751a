//! What can be seen from outside: metrics, probes, reflection, logs.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use function_asya::wire::proto::v1::RunFunctionResponse;
use prost_types::FileDescriptorProto;
use tonic::codegen::tokio_stream;

use crate::client::{Client, V1BETA1, unary};
use crate::process::{Process, eventually};
use crate::requests::{bad, composite, good, told};

/// Asks as an HTTP/1.1 client does; the status and everything after it.
pub fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut tcp = TcpStream::connect(address).unwrap();
    write!(tcp, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    tcp.read_to_string(&mut text).unwrap();
    (text[9..12].parse().unwrap(), text)
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_counted_under_the_go_names_and_ours() {
    let server = Process::start(&["--insecure"]);
    let channel = Client::plain(server.address).channel();
    let _: RunFunctionResponse = unary(channel.clone(), V1BETA1, good()).await.unwrap();
    for request in [good(), bad(), composite(serde_json::json!({"flavors": ["gpu"]})), Default::default()] {
        let _ = crate::client::call(channel.clone(), request).await;
    }
    let method = |version: &str| {
        format!(
            r#"grpc_type="unary",grpc_service="apiextensions.fn.proto.{version}.FunctionRunnerService",grpc_method="RunFunction""#
        )
    };
    let (v1, v1beta1) = (method("v1"), method("v1beta1"));
    let expected = [
        format!("grpc_server_started_total{{{v1}}} 4"),
        format!("grpc_server_started_total{{{v1beta1}}} 1"),
        format!("grpc_server_handled_total{{{v1},grpc_code=\"OK\"}} 3"),
        format!("grpc_server_handled_total{{{v1},grpc_code=\"InvalidArgument\"}} 1"),
        format!("grpc_server_msg_received_total{{{v1}}} 4"),
        format!("grpc_server_msg_sent_total{{{v1}}} 3"),
        r#"function_asya_calls_total{outcome="ask"} 1"#.to_owned(),
        r#"function_asya_calls_total{outcome="refused"} 1"#.to_owned(),
        r#"function_asya_calls_total{outcome="invalid"} 1"#.to_owned(),
        r#"function_asya_problems_total{kind="value"} 1"#.to_owned(),
        r#"function_asya_stage_duration_seconds_count{stage="compose"} 4"#.to_owned(),
        "function_asya_connections 1".to_owned(),
        "# EOF".to_owned(),
    ];
    for line in expected {
        eventually(&line, || get(server.page(), "/metrics").1.lines().any(|found| found == line).then_some(()));
    }
    let page = get(server.page(), "/metrics").1;
    assert!(page.contains("content-type: application/openmetrics-text"), "{page}");
}

/// The table in docs/metrics.md names every metric, and no other.
#[test]
fn the_table_of_metrics_is_complete() {
    let server = Process::start(&["--insecure"]);
    let page = get(server.page(), "/metrics").1;
    let mut served: Vec<String> =
        page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next().map(str::to_owned)).collect();
    let table = include_str!("../../docs/metrics.md");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut written: Vec<String> =
        rows.map(|name| name.trim_end_matches("_total").trim_end_matches("_info").to_owned()).collect();
    served.sort();
    written.sort();
    assert_eq!(served, written);
}

#[test]
fn a_taken_metrics_port_is_a_warning() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let server = Process::start(&["--insecure", "--metrics-address", &address]);
    let line = server.line("No metrics and no probes: cannot listen for them");
    assert_eq!((line["level"].as_str(), line["address"].as_str()), (Some("warn"), Some(address.as_str())));
    std::net::TcpStream::connect(server.address).expect("calls are served all the same");
}

#[test]
fn only_three_pages_are_served() {
    let server = Process::start(&["--insecure"]);
    assert_eq!(get(server.page(), "/").0, 404);
    let mut tcp = TcpStream::connect(server.page()).unwrap();
    write!(tcp, "POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    tcp.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 405"), "{text}");
}

macro_rules! reflection {
    ($version:ident) => {
        #[tokio::test(flavor = "multi_thread")]
        async fn $version() {
            use tonic_reflection::pb::$version::server_reflection_client::ServerReflectionClient;
            use tonic_reflection::pb::$version::server_reflection_request::MessageRequest;
            use tonic_reflection::pb::$version::server_reflection_response::MessageResponse;
            use tonic_reflection::pb::$version::{ServerReflectionRequest, ServerReflectionResponse};
            let server = Process::start(&["--insecure"]);
            let mut client = ServerReflectionClient::new(Client::plain(server.address).channel());
            let mut ask = async |question| {
                let request = ServerReflectionRequest { message_request: Some(question), ..Default::default() };
                let mut answers =
                    client.server_reflection_info(tokio_stream::once(request)).await.unwrap().into_inner();
                let ServerReflectionResponse { message_response, .. } = answers.message().await.unwrap().unwrap();
                message_response.unwrap()
            };
            let MessageResponse::ListServicesResponse(list) = ask(MessageRequest::ListServices(String::new())).await
            else {
                panic!("no list")
            };
            let names: Vec<_> = list.service.iter().map(|service| service.name.as_str()).collect();
            for name in ["v1.FunctionRunnerService", "v1beta1.FunctionRunnerService"] {
                assert!(names.contains(&format!("apiextensions.fn.proto.{name}").as_str()), "{names:?}");
            }
            for name in ["health.v1.Health", "reflection.v1.ServerReflection", "reflection.v1alpha.ServerReflection"] {
                assert!(names.contains(&format!("grpc.{name}").as_str()), "{names:?}");
            }
            let symbol =
                MessageRequest::FileContainingSymbol("apiextensions.fn.proto.v1.RunFunctionRequest".to_owned());
            let MessageResponse::FileDescriptorResponse(found) = ask(symbol).await else { panic!("no file") };
            let file: FileDescriptorProto = prost::Message::decode(&*found.file_descriptor_proto[0]).unwrap();
            let message = file.message_type.iter().find(|message| message.name() == "RunFunctionRequest").unwrap();
            let input = message.field.iter().find(|field| field.name() == "input").unwrap();
            assert_eq!(input.type_name(), ".google.protobuf.Struct", "the official file, not our reading of it");
            for import in &file.dependency {
                let import = MessageRequest::FileByFilename(import.clone());
                assert!(matches!(ask(import).await, MessageResponse::FileDescriptorResponse(_)));
            }
        }
    };
}

/// What grpcurl asks, in both protocols.
mod reflection {
    use super::*;
    reflection!(v1);
    reflection!(v1alpha);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_one_line_that_says_who_and_how_long_and_no_secret() {
    let server = Process::start(&["--insecure"]);
    Client::plain(server.address).call(bad()).await.unwrap();
    let line = server.line("Refused");
    let field = |name: &str| line[name].as_str().unwrap_or_else(|| panic!("{name}: {line}"));
    assert_eq!(field("level"), "warn");
    assert!(field("ts").ends_with('Z'));
    assert_eq!(field("tag"), "a-tag");
    assert_eq!((field("kind"), field("name")), ("XAsyncActor", "hello-x7k2p"));
    assert_eq!((field("namespace"), field("outcome")), ("demo", "refused"));
    assert!(field("problems").contains("spec.image"));
    assert!(line["duration"].as_f64().unwrap() > 0.0);
    assert!(server.lines()[0].starts_with("{\"level\":\"info\",\"ts\":\"20"), "{:?}", server.lines());
    assert!(!server.lines().concat().contains("hunter2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_actor_is_told_of_when_something_changes_and_not_again() {
    let server = Process::start(&["--insecure"]);
    let channel = Client::plain(server.address).channel();
    let answer = crate::client::call(channel.clone(), good()).await.unwrap();
    assert_eq!(answer.conditions.len(), 5);
    let again = told(good(), &answer);
    for _ in 0..3 {
        crate::client::call(channel.clone(), again.clone()).await.unwrap();
    }
    crate::client::call(channel, bad()).await.unwrap();
    server.line("Refused");
    let line = server.line("Composed");
    assert_eq!((line["level"].as_str(), line["actor"].as_str()), (Some("info"), Some("hello")));
    assert_eq!(server.said("Composed").len(), 1, "{:?}", server.lines());
}

#[tokio::test(flavor = "multi_thread")]
async fn debug_is_for_people_and_keeps_secrets_too() {
    let mut child = crate::process::command(&["--insecure", "-d", "--address", "127.0.0.1:0", "--metrics-address", ""]);
    let mut child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut log = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    std::io::BufRead::read_line(&mut log, &mut first).unwrap();
    assert!(first.contains("Serving") && !first.starts_with('{'), "{first}");
    let address = first.split("address=").nth(1).and_then(|rest| rest.split(' ').next());
    let address = address.unwrap_or_else(|| panic!("{first}")).parse().unwrap();
    let env = [serde_json::json!({"name": "TOKEN", "value": "hunter2"})];
    let actor = serde_json::json!({"actor": "hello", "image": "a", "handler": "b.c", "env": env});
    Client::plain(address).call(composite(actor)).await.unwrap();
    std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("TOKEN") && rest.contains("Resolved") && !rest.contains("hunter2"), "{rest}");
    assert!(child.wait().unwrap().success());
}
