//! The binary as a process: what it logs, where it listens, how it ends.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Long enough for a machine with other things to do.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A running server.
pub struct Process {
    child: Child,
    log: Arc<Mutex<Vec<String>>>,
    pub address: SocketAddr,
}

/// The binary without anything from our own environment.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_function-asya"));
    command.env_remove("TLS_SERVER_CERTS_DIR").env_remove("METRICS_ADDRESS").args(arguments);
    command
}

/// Tries until it holds.
pub fn eventually<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Process {
    /// Starts `serve` on a free port, and waits until it listens.
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    /// The same with variables in its environment.
    pub fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut all = vec!["serve", "--address", "127.0.0.1:0"];
        if !arguments.contains(&"--metrics-address") {
            all.extend(["--metrics-address", "127.0.0.1:0"]);
        }
        all.extend(arguments);
        let mut child = command(&all).envs(variables.iter().copied()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (lines, written) = (BufReader::new(child.stderr.take().unwrap()).lines(), Arc::clone(&log));
        std::thread::spawn(move || lines.for_each(|line| written.lock().unwrap().push(line.unwrap())));
        let mut process = Self { child, log, address: SocketAddr::from(([0; 4], 0)) };
        process.address = process.address_in("Serving");
        process
    }

    fn address_in(&self, msg: &str) -> SocketAddr {
        self.line(msg)["address"].as_str().unwrap().parse().unwrap()
    }

    /// Where metrics and probes are.
    pub fn page(&self) -> SocketAddr {
        self.address_in("Serving metrics")
    }

    pub fn lines(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// All lines with this `msg`.
    pub fn said(&self, msg: &str) -> Vec<Value> {
        let lines = self.lines();
        let read = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        read.filter(|line| line["msg"] == msg).collect()
    }

    /// The first line with this `msg`, once it is there.
    pub fn line(&self, msg: &str) -> Value {
        eventually(msg, || self.said(msg).into_iter().next())
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// What it takes of the machine's memory, in bytes.
    pub fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// The exit code, once it ends.
    pub fn code(&mut self) -> Option<i32> {
        eventually("the process ends", || self.child.try_wait().unwrap()).code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
