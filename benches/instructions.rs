//! Counts the instructions of one call, bytes in to bytes out: the same every time, whatever else the machine does.
//!
//! `cargo bench --bench instructions` runs each case below callgrind and compares with `benches/instructions.txt`: more
//! than 5 % above is a failure. `BLESS=1` records what was counted. The counts depend on the compiler, so the file names it.

mod cases;
mod corpus;
#[path = "baseline.rs"]
mod wire;

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};

/// How much more than recorded is too much.
const TOLERATED: f64 = 1.05;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if let Some(case) = arguments.find_map(|argument| argument.strip_prefix("case=").map(str::to_owned)) {
        return one(&case);
    }
    let recorded = std::fs::read_to_string(baseline()).unwrap_or_default();
    let cases = cases::usual();
    let counts: Vec<(String, u64)> = cases.iter().map(|case| (case.name.clone(), count(&case.name))).collect();
    let tree = counts.iter().find(|(name, _)| name == "tree").map_or(1, |(_, count)| *count);
    let table: String = std::iter::once(format!("# {}\n", compiler()))
        .chain(counts.iter().map(|(name, count)| format!("{count:>10}  {name}\n")))
        .collect();
    for (name, count) in &counts {
        println!("{count:>10}  {:.3} of tree  {name}", *count as f64 / tree as f64);
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(baseline(), table).expect("the file can be written");
        return ExitCode::SUCCESS;
    }
    compare(&recorded, &counts)
}

fn baseline() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.txt")
}

fn compiler() -> String {
    let version = Command::new("rustc").arg("--version").output().expect("rustc runs");
    String::from_utf8_lossy(&version.stdout).trim().to_owned()
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

/// Fails if a count has grown.
fn compare(recorded: &str, counts: &[(String, u64)]) -> ExitCode {
    let before = |name: &str| {
        let lines = recorded.lines().filter_map(|line| line.trim().split_once("  "));
        lines.filter(|(_, case)| *case == name).find_map(|(count, _)| count.parse::<u64>().ok())
    };
    let mut grown = false;
    for (name, count) in counts {
        match before(name) {
            None => {
                eprintln!("error: {name}: not in benches/instructions.txt\n  hint: `just bless-counts` records it");
                grown = true;
            }
            Some(before) if *count as f64 > before as f64 * TOLERATED => {
                eprintln!(
                    "error: {name}: {count} instructions, {before} before\n  hint: find out why, or `just bless-counts`"
                );
                grown = true;
            }
            Some(_) => {}
        }
    }
    ExitCode::from(u8::from(grown))
}
