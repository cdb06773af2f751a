//! The client: one connection, so many calls at a time, and a request that was encoded before.

use std::cell::Cell;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::{BufMut as _, Bytes, BytesMut};
use h2::client::SendRequest;
use http::{HeaderMap, Request};
use serde::{Deserialize, Serialize};

use super::process;
use crate::client::{Client, V1};

/// So many calls, for so long.
#[derive(clap::Args)]
pub struct Load {
    /// Where the server listens
    #[arg(long)]
    address: SocketAddr,
    /// Its process
    #[arg(long)]
    server: u32,
    /// The folder of the encoded requests, which take turns
    #[arg(long)]
    requests: PathBuf,
    /// How many bytes it is answered
    #[arg(long)]
    answer: usize,
    /// Calls at a time
    #[arg(long)]
    streams: usize,
    /// How long
    #[arg(long)]
    seconds: f64,
    /// The most calls, however long they take
    #[arg(long, default_value_t = 1_000_000)]
    calls: usize,
    /// With TLS, as Crossplane does
    #[arg(long)]
    mtls: bool,
}

/// What the calls of one run took.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Taken {
    pub per_second: f64,
    /// In microseconds.
    pub p50: f64,
    /// In microseconds.
    pub p99: f64,
    /// The server's processor time for one call, in microseconds.
    pub cpu: f64,
    /// Pages that the kernel put in the server's memory for one call.
    pub faults: f64,
}

impl Load {
    /// Calls, and prints what it took.
    pub fn run(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let taken = tokio::task::LocalSet::new().block_on(&runtime, self.load());
        println!("{}", serde_json::to_string(&taken).expect("numbers"));
    }

    async fn load(&self) -> Taken {
        let client = if self.mtls { Client::crossplane(self.address) } else { Client::plain(self.address) };
        let caller = Caller {
            sender: connect(&client).await,
            requests: frames(&self.requests),
            turn: Cell::new(0),
            answer: self.answer + 5,
        };
        let caller = Rc::new(caller);
        // The first calls fill caches and buffers.
        self.calls(&caller, (self.seconds / 10.0).max(0.1)).await;
        let (before, begun) = (process::spent(self.server), Instant::now());
        let mut taken = self.calls(&caller, self.seconds).await;
        let (seconds, after) = (begun.elapsed().as_secs_f64(), process::spent(self.server));
        taken.sort_unstable();
        let at = |part: f64| f64::from(taken[(taken.len() as f64 * part) as usize]) / 1000.0;
        let calls = taken.len() as f64;
        Taken {
            per_second: calls / seconds,
            p50: at(0.5),
            p99: at(0.99),
            cpu: (after.cpu - before.cpu).as_secs_f64() * 1e6 / calls,
            faults: (after.faults - before.faults) as f64 / calls,
        }
    }

    /// How long each call took, in nanoseconds.
    async fn calls(&self, caller: &Rc<Caller>, seconds: f64) -> Vec<u32> {
        let (end, most) = (Instant::now() + Duration::from_secs_f64(seconds), self.calls / self.streams);
        let streams: Vec<_> = (0..self.streams)
            .map(|_| tokio::task::spawn_local(Rc::clone(caller).one_after_another(end, most)))
            .collect();
        let mut taken = Vec::new();
        for stream in streams {
            taken.extend(stream.await.expect("no call fails"));
        }
        taken
    }
}

/// A connection with requests to send.
pub struct Caller {
    sender: SendRequest<Bytes>,
    requests: Vec<Bytes>,
    turn: Cell<usize>,
    answer: usize,
}

/// A connection, driven within a [`tokio::task::LocalSet`].
pub async fn connect(client: &Client) -> SendRequest<Bytes> {
    let io = client.connect().await.expect("the server listens");
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(1024 * 1024).initial_connection_window_size(16 * 1024 * 1024);
    let (sender, connection) = builder.handshake(io).await.expect("it speaks HTTP/2");
    tokio::task::spawn_local(connection);
    sender
}

/// The requests of a folder, in the order of their names.
fn frames(folder: &Path) -> Vec<Bytes> {
    let files = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    files.iter().map(|file| frame(&fs::read(file).expect("a request"))).collect()
}

/// A gRPC message with its head.
pub fn frame(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(message.len() + 5);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).expect("a request of less than 4 GB"));
    frame.extend_from_slice(message);
    frame.freeze()
}

impl Caller {
    async fn one_after_another(self: Rc<Self>, end: Instant, most: usize) -> Vec<u32> {
        let mut taken = Vec::new();
        while taken.len() < most {
            let begun = Instant::now();
            if begun >= end && !taken.is_empty() {
                break;
            }
            let turn = self.turn.replace((self.turn.get() + 1) % self.requests.len());
            let length = call(&self.sender, self.requests[turn].clone()).await.unwrap_or_else(|what| panic!("{what}"));
            assert_eq!(length, self.answer, "bytes of an answer");
            taken.push(u32::try_from(begun.elapsed().as_nanos()).unwrap_or(u32::MAX));
        }
        taken
    }
}

/// One call; the length of what it was answered.
pub async fn call(sender: &SendRequest<Bytes>, frame: Bytes) -> Result<usize, String> {
    let told = |error: h2::Error| error.to_string();
    let mut sender = sender.clone().ready().await.map_err(told)?;
    let (answer, mut body) = sender.send_request(head(), false).map_err(told)?;
    body.send_data(frame, true).map_err(told)?;
    let answer = answer.await.map_err(told)?;
    fine(answer.headers(), false)?;
    let (mut body, mut length) = (answer.into_body(), 0);
    while let Some(data) = body.data().await {
        let data = data.map_err(told)?;
        length += data.len();
        body.flow_control().release_capacity(data.len()).map_err(told)?;
    }
    let trailers = body.trailers().await.map_err(told)?.ok_or("an answer without trailers")?;
    fine(&trailers, true).map(|()| length)
}

/// Whether a call went well, as far as these headers say.
fn fine(headers: &HeaderMap, must_say: bool) -> Result<(), String> {
    match headers.get("grpc-status") {
        Some(code) if code == "0" => Ok(()),
        None if !must_say => Ok(()),
        code => Err(format!("gRPC status {code:?}: {:?}", headers.get("grpc-message"))),
    }
}

/// The headers that Crossplane sends.
fn head() -> Request<()> {
    Request::post(format!("http://function-asya.crossplane-system:9443{V1}"))
        .header("content-type", "application/grpc")
        .header("user-agent", "grpc-go/1.70.0")
        .header("te", "trailers")
        .header("grpc-timeout", "20S")
        .body(())
        .expect("headers")
}
