//! A bug costs the call that met it. Alone in its process, since the panic hook is the process's.

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
#[path = "server/requests.rs"]
mod requests;

use std::io::Write;
use std::sync::{Arc, Mutex};

use function_asya::serve::{self, Network, Server, Settings, logs, panics};
use tracing_subscriber::fmt::MakeWriter;

use crate::client::{Client, call};
use crate::requests::good;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

#[tokio::test]
async fn a_panic_costs_one_call_and_is_told_with_its_tag_and_place_alone() {
    let log = Log::default();
    let lines = tracing_subscriber::fmt().with_writer(log.clone()).event_format(logs::Json).finish();
    let _lines = tracing::subscriber::set_default(lines);
    panics::hook();
    let mut server = Server::new(Settings { max_request: 1024 * 1024, ttl: None });
    server.function.hook = Some(|request| {
        assert!(request.input.is_none(), "hunter2");
        let unwritable = request.context.is_some();
        if unwritable { Err(tonic::Status::internal("the answer cannot be written")) } else { Ok(()) }
    });
    let listener = serve::listen("127.0.0.1:0", Network::Tcp).unwrap();
    let client = Client::plain(listener.local_addr().unwrap());
    let metrics = Arc::clone(&server.function.metrics);
    let calls = async {
        let channel = client.channel();
        let mut request = good();
        request.input = Some(Default::default());
        let error = call(channel.clone(), request).await.unwrap_err();
        assert_eq!(error.code(), tonic::Code::Internal);
        assert!(!error.message().contains("hunter2"), "{error}");
        let mut request = good();
        request.context = Some(Default::default());
        assert_eq!(call(channel.clone(), request).await.unwrap_err().code(), tonic::Code::Internal);
        call(channel, good()).await.expect("the same connection serves on");
    };
    assert_eq!(server.serve(listener, calls).await, 0);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let told: Vec<_> = log.lines().filter(|line| line.contains("panicked")).collect();
    let [line] = told[..] else { panic!("{log}") };
    assert!(line.contains(r#""level":"error""#) && line.contains(r#""tag":"a-tag""#), "{line}");
    assert!(line.contains("tests/server_panics.rs:") && !log.contains("hunter2"), "{log}");
    let failed = log.lines().find(|line| line.contains("the call failed")).unwrap();
    assert!(failed.contains(r#""level":"error""#) && failed.contains(r#""outcome":"failed""#), "{failed}");
    for outcome in ["panicked", "failed", "waiting"] {
        let line = format!("function_asya_calls_total{{outcome=\"{outcome}\"}} 1\n");
        assert!(metrics.text().contains(&line), "{outcome}: {}", metrics.text());
    }
}
