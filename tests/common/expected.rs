//! The files of a case's `expected/`: what an answer says in each, and the comparison. `BLESS=1` rewrites what exists.

use std::fs;

use function_asya::cli::{crossplane, print};
use function_asya::composed::Severity;
use function_asya::node::Node;
use function_asya::problem::Problems;
use function_asya::resources;
use serde_json::Value;

use super::case::Case;
use super::play::{Played, Printed};
use super::report::Report;

/// The files that only the command line can fill.
const PRINTED: [&str; 3] = ["stdout.yaml", "stderr.txt", "exit"];

/// Every case has one of these, or one of [`PRINTED`] if it is about the command line.
const ONE_OF: [&str; 2] = ["resources.txt", "problems.txt"];

/// Fails unless the case expects something, and only what there is.
pub fn check_names(case: &Case, report: &mut Report) {
    let has = |names: &[&str]| names.iter().any(|name| case.expected.contains_key(*name));
    let about_the_command_line = case.only_render && has(&PRINTED);
    if !has(&ONE_OF) && !about_the_command_line {
        report.fail(&case.name, "expected/ holds neither resources.txt nor problems.txt");
    }
    for name in case.expected.keys() {
        let known = ["warnings.txt", "results.txt", "status.yaml", "spec.yaml"].contains(&name.as_str());
        let resource = name.strip_suffix(".yaml").is_some_and(resources::is_ours);
        if !known && !resource && !ONE_OF.contains(&name.as_str()) && !PRINTED.contains(&name.as_str()) {
            report.fail(&case.name, format!("expected/{name} is no file that a case can have"));
        }
    }
}

/// Compares what was answered with the files in `expected/`.
pub fn compare(case: &Case, played: &Played, report: &mut Report) {
    for (file, expected) in case.expected.iter().filter(|(file, _)| !PRINTED.contains(&file.as_str())) {
        compare_file(case, file, expected, &said(played, file), report);
    }
}

/// Compares what was printed with the files in `expected/`.
pub fn compare_printed(case: &Case, printed: &Printed, report: &mut Report) {
    let Printed { stdout, stderr, exit } = printed;
    for (file, actual) in PRINTED.into_iter().zip([stdout, stderr, &format!("{exit}\n")]) {
        if let Some(expected) = case.expected.get(file) {
            compare_file(case, file, expected, actual, report);
        }
    }
}

fn compare_file(case: &Case, file: &str, expected: &str, actual: &str, report: &mut Report) {
    let same = expected.trim_end() == actual.trim_end()
        || !PRINTED.contains(&file)
            && file.ends_with(".yaml")
            && !expected.is_empty()
            && yaml(expected) == yaml(actual);
    if same {
        return;
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(case.folder.join("expected").join(file), actual).expect("expected/ can be written");
    } else {
        report.same(&case.name, &format!("expected/{file} (BLESS=1 rewrites it)"), expected, actual);
    }
}

/// What a YAML text means; an error is equal to nothing but itself.
fn yaml(text: &str) -> Result<Value, String> {
    serde_yaml::from_str(text).map_err(|error| format!("{error}: {text}"))
}

/// What the answer says in one of the files.
fn said(played: &Played, file: &str) -> String {
    let composition = &played.composition;
    match file {
        "resources.txt" => resource_lines(played),
        "problems.txt" => problem_lines(&composition.problems),
        "warnings.txt" => problem_lines(&composition.warnings),
        "results.txt" => composition
            .results
            .iter()
            .map(|result| format!("{}: {}\n", name(result.severity), result.message))
            .collect(),
        "status.yaml" => {
            let mut status = composition.status.as_ref().map_or_else(|| serde_json::json!({}), Node::to_value);
            status["conditions"] = Value::Array(crossplane::conditions(composition));
            document(&status)
        }
        "spec.yaml" => composition.spec.as_ref().map(document).unwrap_or_default(),
        resource => {
            let name = resource.trim_end_matches(".yaml");
            composition.resources.get(name).map(|composed| document(&composed.object.to_value())).unwrap_or_default()
        }
    }
}

fn resource_lines(played: &Played) -> String {
    let composition = &played.composition;
    let ready = |ready: bool| if ready { "ready" } else { "not ready" };
    let there = composition.resources.iter().map(|(name, composed)| format!("{name} {}\n", ready(composed.ready)));
    let mut lines: Vec<_> = there.collect();
    lines.extend(composition.waiting.iter().map(|(name, reason)| format!("{name} {}\n", reason.text())));
    lines.sort();
    lines.concat()
}

fn problem_lines(problems: &Problems) -> String {
    if problems.is_empty() { String::new() } else { format!("{problems}\n") }
}

fn name(severity: Severity) -> &'static str {
    match severity {
        Severity::Normal => "Normal",
        Severity::Warning => "Warning",
        Severity::Fatal => "Fatal",
    }
}

/// One object as YAML, without the line that starts a document.
pub fn document(value: &Value) -> String {
    print::yaml(std::slice::from_ref(value)).trim_start_matches("---\n").to_owned()
}
