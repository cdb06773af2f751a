//! `docs/reference.md` and `docs/fields.md` tell of what there is, and of nothing else.
//!
//! `docs/fields.md` is made of the XRD: `BLESS=1 cargo test --test reference` writes it anew.

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use common::case;
use common::report::Report;
use function_asya::cli::files;
use function_asya::schema::{Schema, Type};
use serde_json::Value;

fn read(path: &str) -> String {
    fs::read_to_string(case::root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn yaml(path: &str) -> Value {
    let read = files::parse(path, read(path).as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    read.into_iter().next().expect("an object").value
}

/// The part of the reference below a heading of its level.
fn section(heading: &str) -> String {
    let reference = read("docs/reference.md");
    let (_, below) = reference.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    below.split("\n## ").next().unwrap_or_default().to_owned()
}

/// The cells of every row of every table.
fn rows(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("|--"));
    // A bar inside a cell is written `\|`.
    let cells = |row: &str| {
        row.replace("\\|", "\u{1}").trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    rows.map(cells).collect()
}

/// What stands in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// All fields below a schema, by path; those of lists with `[]`.
fn fields<'s>(schema: &'s Schema, above: &str, into: &mut Vec<(String, &'s Schema)>) {
    for (name, field) in schema.properties() {
        let path = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        into.push((path.clone(), field));
        fields(field, &path, into);
        if let Some(items) = field.items() {
            fields(items, &format!("{path}[]"), into);
        }
    }
}

#[test]
fn every_setting_is_told_and_no_other() {
    let schema = Schema::of_crd(&yaml("package-function/input.yaml"), "v1beta1").expect("a CRD");
    let mut declared = Vec::new();
    fields(&schema, "", &mut declared);
    let machinery = ["apiVersion", "kind", "metadata"];
    let leaves: BTreeSet<String> = declared
        .iter()
        .filter(|(path, field)| field.properties().next().is_none() && !machinery.contains(&path.as_str()))
        .map(|(path, _)| path.clone())
        .collect();
    let settings = section("Platform settings");
    let table = settings.split("\n### ").next().unwrap_or_default();
    let mut told = BTreeSet::new();
    for row in rows(table).iter().skip(1) {
        told.extend(quoted(&row[0]).into_iter().map(str::to_owned));
    }
    assert_eq!(leaves, told);
}

#[test]
fn every_condition_is_told_and_no_other() {
    let mut seen = BTreeSet::new();
    for folder in case::entries(&case::root().join("tests/cases")) {
        let Ok(text) = fs::read(folder.join("expected/status.yaml")) else { continue };
        let status = files::parse("status.yaml", &text).expect("a status is YAML").remove(0).value;
        for condition in status["conditions"].as_array().into_iter().flatten() {
            let text = |key: &str| condition[key].as_str().unwrap_or_default().to_owned();
            seen.insert((text("type"), text("status"), text("reason")));
        }
    }
    seen.retain(|(kind, ..)| kind != "Ready");
    // Only a request can hold what cannot be read, so no case shows it; tests/requests.rs does.
    seen.insert(("FlavorsResolved".into(), "Unknown".into(), "NotObserved".into()));
    let mut told = BTreeSet::new();
    let mut kinds: Vec<String> = Vec::new();
    for row in rows(&section("Conditions")).iter().skip(1) {
        match row[0].as_str() {
            "" => {}
            "the last three" => kinds = ["TransportReady", "ScalingReady", "WorkloadReady"].map(str::to_owned).into(),
            _ => kinds = quoted(&row[0]).into_iter().map(str::to_owned).collect(),
        }
        for kind in &kinds {
            told.insert((kind.clone(), row[1].clone(), quoted(&row[2]).concat()));
        }
    }
    assert_eq!(seen, told);
}

/// All text below a folder.
fn text_below(folder: &Path, into: &mut String) {
    for path in case::entries(folder) {
        match path.is_dir() {
            true => text_below(&path, into),
            false => into.push_str(&fs::read_to_string(&path).unwrap_or_default()),
        }
    }
}

#[test]
fn every_message_that_is_told_exists() {
    let mut corpus = String::new();
    for folder in ["src", "tests/cases", "tests/lint", "tests/explain"] {
        text_below(&case::root().join(folder), &mut corpus);
    }
    corpus.push_str(&read("tests/merge.yaml"));
    // Backticks are left out on both sides: the table sets whole messages in them.
    let corpus = corpus.replace("\\\"", "\"").replace('`', "");
    let mut report = Report::default();
    for row in rows(&section("Messages")) {
        for message in quoted(&row[0]) {
            // What varies is a word in capitals, `…`, a number or a name in quotes; what does not must be somewhere.
            let varies = |word: &str| {
                let plain = word.trim_end_matches(':');
                let capitals = plain.len() > 1 && plain.chars().all(|c| c.is_ascii_uppercase());
                capitals || word.contains(|c: char| c == '…' || c.is_ascii_digit() || c == '"' || c == '\u{1}')
            };
            let words: Vec<&str> = message.split(' ').collect();
            let parts = words.split(|word| varies(word)).map(|part| part.join(" "));
            let Some(fixed) = parts.max_by_key(String::len) else { continue };
            report.look();
            if !corpus.contains(fixed.trim()) {
                report.fail(message, format!("nothing says {:?}", fixed.trim()));
            }
        }
    }
    report.end();
}

fn type_name(field: &Schema) -> &'static str {
    match field.kind() {
        Some(Type::Object) => "map",
        Some(Type::Array) => "list",
        Some(Type::String) => "string",
        Some(Type::Integer) => "integer",
        Some(Type::Number) => "number",
        Some(Type::Boolean) => "boolean",
        None => "open",
    }
}

/// The page, made of the XRD's own descriptions.
fn page(schema: &Schema) -> String {
    let mut page = String::from(
        "# Fields of an actor\n\nMade of `package/xrd.yaml` by `BLESS=1 cargo test --test reference`; do not edit. A flavor's `data` takes \
         the same fields,\nbut for `actor`, `flavors` and `transport`. `[]` are the entries of a list.\n",
    );
    for part in ["spec", "status"] {
        let mut declared = Vec::new();
        fields(schema.field(part).expect("the XRD has both"), "", &mut declared);
        let _ = write!(page, "\n## {part}\n\n| field | type | what it is |\n|---|---|---|\n");
        for (path, field) in declared {
            let told = field.description().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
            let open = if field.is_open() && field.kind() == Some(Type::Object) { ", open" } else { "" };
            let _ = writeln!(page, "| `{path}` | {}{open} | {} |", type_name(field), told.replace('|', "\\|"));
        }
    }
    page
}

#[test]
fn the_fields_are_those_of_the_xrd() {
    let made = page(&Schema::of_xrd(&yaml("package/xrd.yaml"), "v1alpha1").expect("an XRD"));
    if std::env::var_os("BLESS").is_some() {
        fs::write(case::root().join("docs/fields.md"), &made).expect("docs/fields.md can be written");
    }
    assert!(made == read("docs/fields.md"), "docs/fields.md is not what the XRD says; BLESS=1 writes it anew");
}
