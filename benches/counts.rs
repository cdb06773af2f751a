//! Counts that come out the same every time, and the file that remembers them.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// How much more than recorded is too much.
const TOLERATED: f64 = 1.05;

/// What was counted for one case, as many numbers as there are units.
pub type Count = (String, Vec<u64>);

/// Prints the counts beside the tree's, and compares with `benches/FILE`, or records there under `BLESS=1`. Fails if
/// anything has grown by more than 5 %.
pub fn settle(file: &str, units: &[&str], counts: &[Count]) -> ExitCode {
    let tree = counts.iter().find(|(name, _)| name == "tree").map(|(_, counts)| counts.as_slice()).unwrap_or_default();
    for (name, counts) in counts {
        let parts = counts.iter().zip(units).zip(tree);
        let parts = parts
            .map(|((count, unit), tree)| format!("{count:>10} {unit} ({:.3} of tree)", *count as f64 / *tree as f64));
        println!("{}  {name}", parts.collect::<Vec<_>>().join("  "));
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches").join(file);
    if std::env::var_os("BLESS").is_some() {
        let lines = counts.iter().map(|(name, counts)| format!("{}  {name}\n", columns(counts)));
        let table = format!("# {}; {}\n{}", compiler(), units.join(", "), lines.collect::<String>());
        std::fs::write(path, table).expect("the file can be written");
        return ExitCode::SUCCESS;
    }
    compare(file, &std::fs::read_to_string(path).unwrap_or_default(), units, counts)
}

fn columns(counts: &[u64]) -> String {
    counts.iter().map(|count| format!("{count:>10}")).collect()
}

/// Counts depend on the compiler.
fn compiler() -> String {
    let version = Command::new("rustc").arg("--version").output().expect("rustc runs");
    String::from_utf8_lossy(&version.stdout).trim().to_owned()
}

fn compare(file: &str, recorded: &str, units: &[&str], counts: &[Count]) -> ExitCode {
    let before = |name: &str| {
        let mut lines = recorded.lines().filter_map(|line| line.trim().rsplit_once("  "));
        let (counts, _) = lines.find(|(_, case)| *case == name)?;
        counts.split_whitespace().map(|count| count.parse::<u64>().ok()).collect::<Option<Vec<_>>>()
    };
    let mut problems = Vec::new();
    for (name, counts) in counts {
        let Some(before) = before(name).filter(|before| before.len() == counts.len()) else {
            problems.push(format!("{name}: not in benches/{file}\n  hint: `just bless-counts` records it"));
            continue;
        };
        for ((count, before), unit) in counts.iter().zip(before).zip(units) {
            if *count as f64 > before as f64 * TOLERATED {
                let hint = "find out why; if it is worth it, `just bless-counts`";
                problems.push(format!("{name}: {count} {unit}, {before} before\n  hint: {hint}"));
            }
        }
    }
    problems.iter().for_each(|problem| eprintln!("error: {problem}"));
    if !problems.is_empty() && !recorded.starts_with(&format!("# {};", compiler())) {
        eprintln!("  note: these were recorded by another compiler than {}", compiler());
    }
    ExitCode::from(u8::from(!problems.is_empty()))
}
