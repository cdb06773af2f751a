//! Processes: where they run, what they take.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// This program, to run itself as something else.
pub fn ourselves(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg(role);
    command
}

/// The function itself: the binary that was built with this program, unless `FUNCTION_ASYA` names another.
pub fn function(arguments: &[&str]) -> Command {
    let named = std::env::var_os("FUNCTION_ASYA");
    let mut command = Command::new(named.as_deref().unwrap_or(env!("CARGO_BIN_EXE_function-asya").as_ref()));
    command.env_remove("TLS_SERVER_CERTS_DIR").env_remove("METRICS_ADDRESS").args(arguments);
    command
}

/// Whether processes can be kept on one core each.
pub fn can_pin() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let tried = Command::new("taskset").args(["-c", "1", "true"]).status();
        cores > 1 && tried.is_ok_and(|status| status.success())
    })
}

/// The same command on this core only, if that can be had.
pub fn pinned(core: usize, command: Command) -> Command {
    if !can_pin() {
        return command;
    }
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", &core.to_string()]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => pinned.env(name, value),
            None => pinned.env_remove(name),
        };
    }
    pinned
}

/// A running server.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

impl Server {
    /// Starts a server, and waits until it says where it listens.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the server starts");
        let mut log = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let first = log.next().expect("it says something").expect("text");
        let said: serde_json::Value =
            serde_json::from_str(&first).unwrap_or_else(|_| panic!("the server says: {first}"));
        let address = said["address"].as_str().unwrap_or_else(|| panic!("the server says: {first}"));
        let address = address.parse().expect("an address");
        // Its log is read to the end, lest it wait for us.
        std::thread::spawn(move || log.for_each(drop));
        Self { child, address }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A line of its status, in MiB: `VmRSS` is what it has in memory, `VmHWM` the most it ever had.
    pub fn memory(&self, line: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).expect("it runs");
        let line = status.lines().find_map(|told| told.strip_prefix(line)?.strip_prefix(':'));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kib.expect("a line of this name") / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a process has taken so far.
pub struct Spent {
    /// Of the processors: its own code and the kernel's.
    pub cpu: Duration,
    /// Pages that the kernel had to put there.
    pub faults: u64,
}

/// What a process has taken so far.
pub fn spent(process: u32) -> Spent {
    /// Linux tells every architecture's time in these.
    const TICKS_PER_SECOND: u64 = 100;
    let told = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    // The name of the program stands in brackets, and may hold anything.
    let (_, fields) = told.rsplit_once(") ").expect("a name");
    // The first of them is the third that the manual counts.
    let fields: Vec<&str> = fields.split(' ').collect();
    let numbered = |number: usize| fields[number - 3].parse::<u64>().expect("a number");
    let ticks = numbered(14) + numbered(15);
    Spent { cpu: Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND), faults: numbered(10) }
}

/// Runs to its end; fails unless that is a good one.
pub fn finish(command: &mut Command) -> std::process::Output {
    let output = command.output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} fails: {told}");
    output
}

/// The size of a file, in MiB.
pub fn size(file: &Path) -> Option<f64> {
    Some(std::fs::metadata(file).ok()?.len() as f64 / 1024.0 / 1024.0)
}
