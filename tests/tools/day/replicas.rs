//! Replicas of the real binary on loopback, and the client that spreads calls over them as Crossplane does.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::uri::PathAndQuery;
use tonic::Status;
use tonic::transport::Channel;

use crate::authority::{Authority, Leaf, mount};
use crate::client::{BOTH, Client, V1, tls};
use crate::raw::Raw;

/// Long enough for a machine with other things to do.
const PATIENCE: Duration = Duration::from_secs(30);

/// All replicas, and what they serve with.
pub struct Replicas {
    binary: PathBuf,
    folder: tempfile::TempDir,
    generation: AtomicUsize,
    running: Mutex<Vec<Replica>>,
    channels: RwLock<Vec<Channel>>,
    next: AtomicUsize,
    /// Calls that found their replica gone before they were sent, and went to another.
    pub moved: AtomicUsize,
}

struct Replica {
    child: Child,
    address: SocketAddr,
    log: mpsc::Receiver<String>,
}

impl Replicas {
    pub fn start(binary: &Path, how_many: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        mount(folder.path(), 0, &Authority::ours().files());
        let running: Vec<_> = (0..how_many).map(|_| Replica::start(binary, folder.path())).collect();
        let all = Self {
            binary: binary.to_owned(),
            folder,
            generation: AtomicUsize::new(0),
            running: Mutex::new(running),
            channels: RwLock::default(),
            next: AtomicUsize::new(0),
            moved: AtomicUsize::new(0),
        };
        all.connect();
        all
    }

    /// Whose certificates are mounted.
    fn authority(&self) -> Authority {
        if self.generation.load(Ordering::Relaxed).is_multiple_of(2) { Authority::ours() } else { Authority::other() }
    }

    fn channel(&self, address: SocketAddr) -> Channel {
        let authority = self.authority();
        Client::with(address, tls(&authority, Some((&authority, Leaf::Client)), BOTH)).channel()
    }

    /// Connects to every replica anew; calls that run on old connections go on there.
    fn connect(&self) {
        let addresses: Vec<_> = self.running.lock().unwrap().iter().map(|replica| replica.address).collect();
        *self.channels.write().unwrap() = addresses.into_iter().map(|address| self.channel(address)).collect();
    }

    /// Changes CA and certificates under all replicas; then Crossplane is restarted, and connects with the new ones.
    pub fn rotate(&self) {
        let generation = self.generation.fetch_add(1, Ordering::Relaxed) + 1;
        mount(self.folder.path(), generation, &self.authority().files());
        self.running.lock().unwrap().iter().for_each(|replica| replica.wait_for("Certificates reloaded"));
        self.connect();
    }

    /// Replaces one replica after the other: the new one is up before the old one is told to go.
    pub async fn roll(self: Arc<Self>) {
        let replicas = self.running.lock().unwrap().len();
        for _ in 0..replicas {
            let new = Replica::start(&self.binary, self.folder.path());
            let channel = self.channel(new.address);
            let mut old = {
                let mut running = self.running.lock().unwrap();
                running.push(new);
                running.remove(0)
            };
            self.channels.write().unwrap().push(channel);
            old.terminate();
            // It takes the client a moment to hear of it.
            tokio::time::sleep(Duration::from_millis(100)).await;
            self.channels.write().unwrap().remove(0);
            let end = Instant::now() + PATIENCE;
            let status = loop {
                if let Some(status) = old.child.try_wait().unwrap() {
                    break status;
                }
                assert!(Instant::now() < end, "a replica does not end");
                tokio::time::sleep(Duration::from_millis(10)).await;
            };
            assert!(status.success(), "a replica ended with {status}");
        }
    }

    /// One call, by turns. A replica that cannot be reached any more is passed over, as gRPC's `waitForReady` does; any other
    /// failure is one.
    pub async fn call(&self, request: Bytes) -> Result<Bytes, Status> {
        let mut attempts = 0;
        loop {
            let channel = {
                let channels = self.channels.read().unwrap();
                channels[self.next.fetch_add(1, Ordering::Relaxed) % channels.len()].clone()
            };
            match unary(channel, request.clone()).await {
                Err(status) if attempts < 8 && is_unreached(&status) => {
                    attempts += 1;
                    self.moved.fetch_add(1, Ordering::Relaxed);
                }
                outcome => return outcome,
            }
        }
    }

    /// What all replicas took of the CPU so far, those that ended included.
    pub fn cpu(&self) -> Duration {
        let own = stat("/proc/self/stat");
        let alive = self.running.lock().unwrap();
        let alive = alive.iter().map(|replica| stat(&format!("/proc/{}/stat", replica.child.id())));
        // Fields 14 and 15 of a process; 16 and 17 of ours are those of children that ended.
        let ticks = own[2] + own[3] + alive.map(|of| of[0] + of[1]).sum::<u64>();
        Duration::from_millis(ticks * 10)
    }

    /// The most memory that a replica took so far, in kB.
    pub fn memory(&self) -> u64 {
        let running = self.running.lock().unwrap();
        running.iter().map(Replica::peak).max().unwrap_or_default()
    }
}

impl Drop for Replicas {
    fn drop(&mut self) {
        for replica in self.running.get_mut().unwrap() {
            let _ = replica.child.kill();
            let _ = replica.child.wait();
        }
    }
}

/// utime, stime, cutime and cstime, in ticks of 10 ms.
fn stat(path: &str) -> [u64; 4] {
    let text = fs::read_to_string(path).unwrap();
    let mut fields = text.rsplit(')').next().unwrap().split_whitespace().skip(11);
    std::array::from_fn(|_| fields.next().unwrap().parse().unwrap())
}

impl Replica {
    fn start(binary: &Path, folder: &Path) -> Self {
        let mut command = Command::new(binary);
        command.args(["serve", "--address", "127.0.0.1:0", "--metrics-address", "", "--tls-reload-interval", "50ms"]);
        command.args(["--tls-certs-dir".as_ref(), folder.as_os_str()]).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (told, log) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // Of calls there are too many.
                if !line.contains("\"tag\"") {
                    let _ = told.send(line);
                }
            }
        });
        let first: serde_json::Value = serde_json::from_str(&log.recv_timeout(PATIENCE).unwrap()).unwrap();
        let address = first["address"].as_str().unwrap().parse().unwrap();
        Self { child, address, log }
    }

    fn wait_for(&self, msg: &str) {
        let end = Instant::now() + PATIENCE;
        while let Ok(line) = self.log.recv_timeout(end.saturating_duration_since(Instant::now())) {
            if line.contains(msg) {
                return;
            }
        }
        panic!("no replica said: {msg}");
    }

    fn terminate(&mut self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    }

    fn peak(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

/// Nobody listens there any more, or the connection ended before the call was written to it: nothing was sent.
fn is_unreached(status: &Status) -> bool {
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        let refused = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        let unsent = error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled);
        // The replica said goodbye between the moment the connection was ready and the moment the call was to be sent. gRPC's
        // own clients send such a call again; a call that was sent fails otherwise.
        let goodbye = error.downcast_ref::<h2::Error>().is_some_and(|error| {
            error.is_go_away() && error.is_remote() && error.reason() == Some(h2::Reason::NO_ERROR)
        });
        if unsent || goodbye || refused == Some(std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        source = error.source();
    }
    false
}

async fn unary(channel: Channel, request: Bytes) -> Result<Bytes, Status> {
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.map_err(|error| Status::from_error(Box::new(error)))?;
    let answer = client.unary(tonic::Request::new(request), PathAndQuery::from_static(V1), Raw).await;
    answer.map(tonic::Response::into_inner)
}
