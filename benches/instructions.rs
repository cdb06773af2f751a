//! Counts the instructions of one call, bytes in to bytes out: the same to within a thousandth, whatever else the machine
//! does.
//!
//! `cargo bench --bench instructions` runs each case below callgrind and compares with `benches/instructions.txt`: more
//! than 5 % above is a failure. `BLESS=1` records what was counted. The counts depend on the compiler, so the file names it.

mod cases;
mod corpus;
mod counts;
#[path = "baseline.rs"]
mod wire;

use std::hint::black_box;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if let Some(case) = arguments.find_map(|argument| argument.strip_prefix("case=").map(str::to_owned)) {
        return one(&case);
    }
    let cases = cases::usual();
    let counts: Vec<_> = cases.iter().map(|case| (case.name.clone(), vec![count(&case.name)])).collect();
    counts::settle("instructions.txt", &["instructions"], &counts)
}

/// Answers one request twice, and has callgrind look at the second: the first reads what is read once a process.
fn one(name: &str) -> ExitCode {
    let case = cases::usual().into_iter().find(|case| case.name == name).expect("a case of this name");
    black_box(case.answer());
    for _ in 0..std::env::var("LOOPS").map_or(1, |loops| loops.parse().unwrap_or(1)) {
        measured(&case);
    }
    ExitCode::SUCCESS
}

#[inline(never)]
fn measured(case: &cases::Case) {
    black_box(case.answer());
}

/// The instructions of `measured`, as callgrind counts them.
fn count(case: &str) -> u64 {
    let this = std::env::current_exe().expect("this program");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=instructions::measured*"])
        .arg(format!("--callgrind-out-file={}", std::env::var("CALLGRIND_OUT").unwrap_or("/dev/null".to_owned())))
        .arg(this)
        .arg(format!("case={case}"))
        .output()
        .expect("valgrind is installed");
    let told = String::from_utf8_lossy(&output.stderr);
    let line = told.lines().find_map(|line| line.split_once("Collected :"));
    let count = line.and_then(|(_, count)| count.trim().parse().ok());
    count.filter(|count| *count > 0).unwrap_or_else(|| panic!("callgrind counted nothing:\n{told}"))
}
