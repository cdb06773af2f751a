//! The built `serve` as a process of its own, and calls to it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use function_asya::wire::proto::v1::{RunFunctionRequest, RunFunctionResponse};
use serde_json::Value;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};

/// The paths of both versions of the service.
pub const PATHS: [&str; 2] = [
    "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction",
    "/apiextensions.fn.proto.v1beta1.FunctionRunnerService/RunFunction",
];

/// A process that ends when it is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that runs until it is dropped.
pub struct Server {
    _process: Process,
    address: String,
    log: Arc<Mutex<String>>,
    runtime: tokio::runtime::Runtime,
    channel: Channel,
}

impl Server {
    /// Starts it on a free port and connects.
    ///
    /// # Panics
    /// If it does not say within ten seconds where it listens.
    pub fn start(more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_function-asya"));
        command.args(["serve", "--insecure", "--address", "127.0.0.1:0"]).args(more);
        command.env("NO_COLOR", "1").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = Process(command.spawn().expect("the binary runs"));
        let log = Arc::new(Mutex::new(String::new()));
        let (tell, told) = mpsc::channel();
        let (lines, kept) = (BufReader::new(process.0.stderr.take().expect("a pipe")).lines(), Arc::clone(&log));
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some(address) = address(&line) {
                    let _ = tell.send(address);
                }
                *kept.lock().expect("no thread panicked") += &format!("{line}\n");
            }
        });
        let address = told.recv_timeout(Duration::from_secs(10)).expect("serve logs its address");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
        let channel = runtime.block_on(endpoint.connect()).expect("serve listens");
        Self { _process: process, address, log, runtime, channel }
    }

    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Calls the function by one of [`PATHS`].
    ///
    /// # Errors
    /// What the server says of a request it cannot take.
    pub fn call(&self, path: &'static str, request: RunFunctionRequest) -> Result<RunFunctionResponse, tonic::Status> {
        let mut client = tonic::client::Grpc::new(self.channel.clone());
        let codec = tonic_prost::ProstCodec::default();
        self.runtime.block_on(async {
            client.ready().await.map_err(|error| tonic::Status::unavailable(error.to_string()))?;
            let path = PathAndQuery::from_static(path);
            client.unary(tonic::Request::new(request), path, codec).await.map(tonic::Response::into_inner)
        })
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        self.log.lock().expect("no thread panicked").clone()
    }
}

/// The address in the line that says where it serves, in JSON or, with `--debug`, as `address=…`.
fn address(line: &str) -> Option<String> {
    match serde_json::from_str::<Value>(line) {
        Ok(line) => Some(line.get("address")?.as_str()?.to_owned()),
        Err(_) => Some(line.split_once("address=")?.1.split_whitespace().next()?.to_owned()),
    }
}
