//! Runs the binary on folders, each of which is a case: `args` holds the command line, and what comes out must be what
//! `stdout.txt`, `stderr.txt` and `exit.txt` say (missing: nothing, and 0). `BLESS=1` rewrites them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs every case below `tests/{folder}`.
pub fn check(folder: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut cases: Vec<PathBuf> =
        fs::read_dir(root).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    cases.retain(|case| case.join("args").exists());
    cases.sort();
    assert!(cases.len() >= 8, "only {} cases", cases.len());
    let wrong: Vec<String> = cases.iter().flat_map(|case| differences(case)).collect();
    assert!(wrong.is_empty(), "{}\nBLESS=1 takes what came out", wrong.join("\n"));
}

/// What comes out otherwise than expected.
fn differences(case: &Path) -> Vec<String> {
    let Output { status, stdout, stderr } = run(case);
    let code = status.code().map_or("killed".to_owned(), |code| code.to_string());
    let exit = if code == "0" { String::new() } else { format!("{code}\n") };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let outcome = [("stdout.txt", text(stdout)), ("stderr.txt", text(stderr)), ("exit.txt", exit)];
    outcome.into_iter().filter_map(|(name, found)| difference(&case.join(name), &found)).collect()
}

fn run(case: &Path) -> Output {
    let args = fs::read_to_string(case.join("args")).expect("args");
    let stdin = fs::File::open(case.join("stdin.yaml")).map_or_else(|_| Stdio::null(), Stdio::from);
    let mut command = Command::new(env!("CARGO_BIN_EXE_function-asya"));
    command.args(args.split_whitespace()).current_dir(case).stdin(stdin).output().expect("it runs")
}

fn difference(file: &Path, found: &str) -> Option<String> {
    if std::env::var_os("BLESS").is_some() {
        if found.is_empty() {
            drop(fs::remove_file(file))
        } else {
            fs::write(file, found).expect("written")
        }
        return None;
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    (expected != found).then(|| format!("{}\n--- expected\n{expected}--- found\n{found}", file.display()))
}
