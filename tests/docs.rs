//! The examples in `docs/` hold: each actor is rendered with the flavors and settings of its own section, and becomes what
//! the page says. How blocks are marked stands on top of `docs/flavors.md`.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::case;
use common::report::Report;
use function_asya::cli::files;
use serde_json::Value;

/// A fenced block with a mark: `yaml flavor`, `text refused`.
struct Block<'a> {
    mark: &'a str,
    text: &'a str,
}

/// The marked blocks of a section, in order.
fn blocks(section: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = section;
    while let Some((_, after)) = rest.split_once("\n```") {
        let Some((mark, body)) = after.split_once('\n') else { break };
        let end = if body.starts_with("```") { Some(0) } else { body.find("\n```").map(|at| at + 1) };
        let Some(end) = end else { break };
        if let Some((_, mark)) = mark.split_once(' ') {
            blocks.push(Block { mark, text: &body[..end] });
        }
        rest = &body[end + 3..];
    }
    blocks
}

/// All blocks of a mark as one file.
fn file(folder: &Path, name: &str, blocks: &[Block<'_>], mark: &str) -> Option<String> {
    let found: Vec<&str> = blocks.iter().filter(|block| block.mark == mark).map(|block| block.text).collect();
    (!found.is_empty()).then(|| {
        fs::write(folder.join(name), found.join("---\n")).expect("a temporary file");
        name.to_owned()
    })
}

fn render(folder: &Path, actor: &str, environment: &[String]) -> Output {
    fs::write(folder.join("actor.yaml"), actor).expect("a temporary file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_function-asya"));
    command.current_dir(folder).args(["render", "actor.yaml", "--simulate", "ready"]);
    for file in environment {
        command.args(["-e", file]);
    }
    command.output().expect("the binary runs")
}

/// The objects that were printed, those inside Objects too.
fn objects(output: &Output) -> Vec<Value> {
    let printed = files::parse("stdout", &output.stdout).unwrap_or_default();
    let outer: Vec<Value> = printed.into_iter().map(|document| document.value).collect();
    let inner = outer.iter().filter_map(|object| object.pointer("/spec/forProvider/manifest").cloned());
    inner.collect::<Vec<_>>().into_iter().chain(outer).collect()
}

/// Where `wanted` is not in `found`: maps by key, lists of named entries by name, anything else as it is.
fn missing(wanted: &Value, found: &Value, at: &str) -> Option<String> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => wanted
            .iter()
            .find_map(|(key, wanted)| missing(wanted, found.get(key).unwrap_or(&Value::Null), &format!("{at}.{key}"))),
        (Value::Array(wanted), Value::Array(found)) if wanted.iter().any(|entry| entry.get("name").is_some()) => {
            wanted.iter().find_map(|entry| {
                let same = found.iter().find(|other| other.get("name") == entry.get("name"));
                missing(entry, same.unwrap_or(&Value::Null), &format!("{at}[{}]", entry["name"]))
            })
        }
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
            let mut pairs = wanted.iter().zip(found).enumerate();
            pairs.find_map(|(index, (wanted, found))| missing(wanted, found, &format!("{at}[{index}]")))
        }
        _ => (wanted != found).then(|| format!("{at} is {found}, not {wanted}")),
    }
}

/// Renders a section's actors and compares what the page says of them. How many there were.
fn check(page: &str, section: &str, report: &mut Report) -> usize {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let blocks = blocks(section);
    let environment: Vec<String> = [("flavors.yaml", "flavor"), ("platform.yaml", "platform")]
        .into_iter()
        .filter_map(|(name, mark)| file(folder.path(), name, &blocks, mark))
        .collect();
    let name = format!("{page}, {}", section.lines().next().unwrap_or_default());
    let mut last = None;
    let mut actors = 0;
    for (index, block) in blocks.iter().enumerate() {
        match (block.mark, &last) {
            ("actor", _) => {
                report.look();
                actors += 1;
                let output = render(folder.path(), block.text, &environment);
                let refused = blocks.get(index + 1).is_some_and(|next| next.mark == "refused");
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                report.equal(&name, &format!("refused: {told}"), &refused, &(output.status.code() == Some(1)));
                last = Some(output);
            }
            ("refused", Some(output)) => {
                let told = String::from_utf8_lossy(&output.stderr);
                for line in block.text.lines().filter(|line| !told.contains(line)) {
                    report.fail(&name, format!("stderr lacks {line:?}:\n{told}"));
                }
            }
            ("result", Some(output)) => {
                let wanted = files::parse("result", block.text.as_bytes()).expect("a result is YAML");
                for wanted in wanted.into_iter().map(|document| document.value) {
                    let of_kind = |object: &&Value| object["kind"] == wanted["kind"];
                    let found = objects(output).iter().find(of_kind).cloned().unwrap_or_default();
                    if let Some(missing) = missing(&wanted, &found, "") {
                        report.fail(&name, missing);
                    }
                }
            }
            _ => {}
        }
    }
    actors
}

#[test]
fn examples_in_the_docs_hold() {
    let mut report = Report::default();
    let mut actors = 0;
    for page in ["actors.md", "flavors.md", "getting-started.md", "migrating.md"] {
        let text = fs::read_to_string(case::root().join("docs").join(page)).expect("the page is there");
        actors += text.split("\n## ").map(|section| check(page, section, &mut report)).sum::<usize>();
    }
    assert!(actors >= 20, "only {actors} actors were found in the docs");
    report.end();
}
