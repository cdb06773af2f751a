//! Calls a server of its own over mTLS, on loopback, so many times and no more:
//! `cargo run --release --example load -- --server target/release/function-asya --calls 1000000 --streams 64 --rotate 1000`.
//!
//! Prints calls, errors, p50 and p99, and the server's RSS after the first ten thousand calls and at the end. With
//! `--starts 50` it starts the server so many times instead, and prints how long it takes from exec to the first call.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a tool for those who develop, with parts of the tests"
)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use function_asya::wire::proto::v1::RunFunctionRequest;
use prost::Message as _;

#[path = "../server/authority.rs"]
mod authority;
#[path = "../server/client.rs"]
mod client;
#[path = "../server/requests.rs"]
mod requests;

use authority::{Authority, mount};
use client::Client;

#[derive(Parser)]
struct Load {
    /// The binary
    #[arg(long)]
    server: PathBuf,
    /// How many calls
    #[arg(long, default_value_t = 100_000)]
    calls: u64,
    /// How many at a time, all on one connection
    #[arg(long, default_value_t = 64)]
    streams: u64,
    /// The longest it may take, in seconds
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Change all certificates every so many milliseconds
    #[arg(long)]
    rotate: Option<u64>,
    /// An encoded RunFunctionRequest to send; else a small actor's
    #[arg(long)]
    request: Option<PathBuf>,
    /// Start the server so many times, and make two calls each time, instead of many calls
    #[arg(long, conflicts_with_all = ["rotate"])]
    starts: Option<usize>,
}

fn main() {
    let load = Load::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let errors = runtime.block_on(async {
        match load.starts {
            Some(times) => load.starts(times).await,
            None => load.run().await,
        }
    });
    std::process::exit(i32::from(errors > 0));
}

impl Load {
    async fn run(&self) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        mount(folder.path(), 0, &Authority::ours().files());
        let (mut server, address) = self.start(folder.path());
        let request = self.request();
        let count = Arc::new(Count { left: AtomicU64::new(self.calls), errors: AtomicU64::new(0) });
        let channel = Client::crossplane(address.parse().unwrap()).channel();
        let end = Instant::now() + Duration::from_secs(self.seconds);
        let begun = Instant::now();
        let streams: Vec<_> = (0..self.streams)
            .map(|_| tokio::spawn(Arc::clone(&count).calls(channel.clone(), request.clone(), end)))
            .collect();
        let rotations =
            self.rotate.map(|every| tokio::spawn(rotate(folder.path().to_owned(), Duration::from_millis(every))));
        let early = loop {
            let made = self.calls - count.left.load(Ordering::Relaxed).min(self.calls);
            if made >= 10_000.min(self.calls) || Instant::now() > end {
                break rss(&server);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        let mut taken = Vec::new();
        for stream in streams {
            taken.extend(stream.await.unwrap());
        }
        let seconds = begun.elapsed().as_secs_f64();
        let late = rss(&server);
        taken.sort_unstable();
        let at = |part: f64| taken.get((taken.len() as f64 * part) as usize).copied().unwrap_or_default();
        let errors = count.errors.load(Ordering::Relaxed);
        println!(
            "calls {}  errors {errors}  {:.0} calls/s over {seconds:.1} s",
            taken.len(),
            taken.len() as f64 / seconds
        );
        println!("p50 {} µs  p99 {} µs  longest {} µs", at(0.5), at(0.99), taken.last().unwrap_or(&0));
        println!(
            "RSS after 10 000 calls {early} kB, at the end {late} kB ({:+.1} %)",
            (late as f64 / early as f64 - 1.0) * 100.0
        );
        if let Some(rotations) = rotations {
            rotations.abort();
            println!("rotations {}", fs::read_link(folder.path().join("..data")).unwrap().display());
        }
        server.kill().unwrap();
        server.wait().unwrap();
        errors
    }

    fn request(&self) -> RunFunctionRequest {
        match &self.request {
            Some(file) => RunFunctionRequest::decode(&*fs::read(file).unwrap()).unwrap(),
            None => requests::good(),
        }
    }

    /// From exec to the first call that is answered over mTLS, again and again; beside it what any process takes that
    /// is this binary, and what a call takes once it is warm. Medians, so that the machine's other work does not count.
    async fn starts(&self, times: usize) -> u64 {
        let folder = tempfile::tempdir().unwrap();
        mount(folder.path(), 0, &Authority::ours().files());
        let (request, mut rows) = (self.request(), [const { Vec::new() }; 4]);
        for _ in 0..times {
            let began = Instant::now();
            assert!(Command::new(&self.server).arg("--version").stdout(Stdio::null()).status().unwrap().success());
            rows[0].push(began.elapsed());
            let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let client = Client::crossplane(address);
            let mut command = self.command(folder.path(), &address.to_string());
            let began = Instant::now();
            let mut server = command.stderr(Stdio::null()).spawn().unwrap();
            while tokio::net::TcpStream::connect(address).await.is_err() {
                assert!(began.elapsed() < Duration::from_secs(self.seconds), "it does not listen");
                tokio::task::yield_now().await;
            }
            rows[1].push(began.elapsed());
            let channel = client.channel();
            client::call(channel.clone(), request.clone()).await.unwrap();
            rows[2].push(began.elapsed());
            let began = Instant::now();
            client::call(channel, request.clone()).await.unwrap();
            rows[3].push(began.elapsed());
            server.kill().unwrap();
            server.wait().unwrap();
        }
        let [process, listens, first, second] = rows.map(|mut taken| {
            taken.sort_unstable();
            taken[taken.len() / 2].as_secs_f64() * 1000.0
        });
        println!("starts {times}, medians from exec: `--version` ends {process:.1} ms, listens {listens:.1} ms");
        println!(
            "first call answered over mTLS {first:.1} ms ({:.1} times --version); the second call takes {second:.1} ms",
            first / process
        );
        0
    }

    fn command(&self, folder: &Path, address: &str) -> Command {
        let mut command = Command::new(&self.server);
        command.args(["serve", "--address", address, "--metrics-address", "", "--tls-reload-interval", "200ms"]);
        command.args(["--tls-certs-dir".as_ref(), folder.as_os_str()]);
        command
    }

    fn start(&self, folder: &Path) -> (Child, String) {
        let mut server = self.command(folder, "127.0.0.1:0").stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(server.stderr.take().unwrap()).lines();
        let first: serde_json::Value = serde_json::from_str(&log.next().unwrap().unwrap()).unwrap();
        // Its log is read to the end, lest it wait for us.
        std::thread::spawn(move || log.for_each(drop));
        (server, first["address"].as_str().unwrap().to_owned())
    }
}

struct Count {
    left: AtomicU64,
    errors: AtomicU64,
}

impl Count {
    /// Calls until none are left; how long each took, in microseconds.
    async fn calls(
        self: Arc<Self>,
        channel: tonic::transport::Channel,
        request: RunFunctionRequest,
        end: Instant,
    ) -> Vec<u32> {
        let mut taken = Vec::new();
        let one_less = |left: u64| left.checked_sub(1);
        while Instant::now() < end && self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
            let begun = Instant::now();
            if let Err(error) = client::call(channel.clone(), request.clone()).await {
                eprintln!("{error:?}");
                self.errors.fetch_add(1, Ordering::Relaxed);
            }
            taken.push(u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX));
        }
        taken
    }
}

async fn rotate(folder: PathBuf, every: Duration) {
    for generation in 1.. {
        tokio::time::sleep(every).await;
        let authority = if generation % 2 == 0 { Authority::ours() } else { Authority::other() };
        mount(&folder, generation, &authority.files());
    }
}

fn rss(server: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
