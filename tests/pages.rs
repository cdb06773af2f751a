//! The pages hold together: links lead somewhere, commands can be typed, and what is printed is printed.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::case;
use common::report::Report;

/// Every file below a folder with one of these endings, by its path.
fn files(folder: &str, kinds: &[&str]) -> BTreeMap<PathBuf, String> {
    let (mut folders, mut files) = (vec![PathBuf::from(folder)], BTreeMap::new());
    while let Some(folder) = folders.pop() {
        for path in case::entries(&case::root().join(&folder)) {
            let name = folder.join(case::name_of(&path));
            let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
            if path.is_dir() && !["target", "tests", ".git"].iter().any(|other| name == Path::new(other)) {
                folders.push(name);
            } else if kinds.contains(&kind) {
                files.insert(name, fs::read_to_string(path).expect("text"));
            }
        }
    }
    files
}

/// Every page for people, by its path.
fn pages() -> BTreeMap<PathBuf, String> {
    let pages = files("", &["md"]);
    assert!(pages.len() >= 15, "only {} pages", pages.len());
    pages
}

/// A page's fenced blocks, each with its mark, and all else of it.
fn split(page: &str) -> (Vec<(&str, String)>, String) {
    let (mut blocks, mut rest, mut within) = (Vec::new(), String::new(), None);
    for line in page.lines() {
        match (line.trim_start().strip_prefix("```"), within.take()) {
            (Some(mark), None) => within = Some((mark, String::new())),
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some((mark, text))) => within = Some((mark, text + line + "\n")),
            (None, None) => rest += &format!("{line}\n"),
        }
    }
    (blocks, rest)
}

/// Where the headings of a page can be linked to.
fn anchors(prose: &str) -> BTreeSet<String> {
    let headings = prose.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |letter: &char| letter.is_alphanumeric() || "-_ ".contains(*letter);
    headings.map(|heading| heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

#[test]
fn links_lead_somewhere() {
    let (pages, mut report) = (pages(), Report::default());
    for (page, text) in &pages {
        let prose = split(text).1;
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            report.look();
            let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
            let folder = page.parent().expect("a folder");
            let path = if file.is_empty() { page.clone() } else { folder.join(file) };
            let Ok(found) = case::root().join(&path).canonicalize() else {
                report.fail(&page.display().to_string(), format!("nothing is at {target}"));
                continue;
            };
            let known =
                |anchor: &str| fs::read_to_string(&found).is_ok_and(|it| anchors(&split(&it).1).contains(anchor));
            if !anchor.is_none_or(known) {
                report.fail(&page.display().to_string(), format!("no heading for {target}"));
            }
        }
    }
    report.end();
}

#[test]
fn commands_can_be_typed() {
    let mut report = Report::default();
    for (page, text) in pages() {
        let name = page.display().to_string();
        for (_, block) in split(&text).0.into_iter().filter(|(mark, _)| ["sh", "bash"].contains(mark)) {
            report.look();
            let checked = Command::new("bash").args(["-n", "-c", &block]).output().expect("bash runs");
            if !checked.status.success() {
                report.fail(&name, String::from_utf8_lossy(&checked.stderr));
            }
            let words = block.split([' ', '\n', '"', '\'']);
            for file in words.filter(|word| ["examples/", "tools/", "package/"].iter().any(|it| word.starts_with(it))) {
                if !case::root().join(file).exists() {
                    report.fail(&name, format!("there is no {file}"));
                }
            }
        }
    }
    report.end();
}

/// What the binary is called on pages and on top of examples.
const CALLED: [&str; 2] = ["cargo run -q -- ", "function-asya "];

/// Runs one of our command lines as it stands there, with the built binary.
fn run(line: &str) -> Output {
    let words = CALLED.iter().find_map(|name| line.strip_prefix(name)).unwrap_or_else(|| panic!("not ours: {line}"));
    let mut command = Command::new("bash");
    command.args(["-c", &format!("'{}' {words}", env!("CARGO_BIN_EXE_function-asya"))]);
    command.current_dir(case::root()).output().expect("bash runs")
}

/// The command lines of ours in a text, in comments too; those that need a reader's own files, or a cluster, are left to the reader.
fn ours(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.trim_start_matches('#').trim());
    let joined = lines.fold(String::new(), |all, line| match line.strip_suffix('\\') {
        Some(part) => all + part,
        None => all + line + "\n",
    });
    let reads = ["render ", "explain ", "lint "];
    let is_ours = |line: &&str| {
        let words = CALLED.iter().find_map(|name| line.strip_prefix(name));
        words.is_some_and(|words| reads.iter().any(|read| words.starts_with(read)) && words.contains("examples/"))
    };
    joined.lines().filter(is_ours).map(str::to_owned).collect()
}

#[test]
fn commands_of_ours_do_what_they_are_there_for() {
    let mut report = Report::default();
    let mut texts = pages();
    texts.extend(files("examples", &["yaml"]));
    for (file, text) in texts {
        for line in ours(&text) {
            report.look();
            let output = run(&line);
            // One story is about a refusal.
            let expected = Some(i32::from(line.contains(" examples/flavor-conflict/")));
            if output.status.code() != expected {
                let told = String::from_utf8_lossy(&output.stderr);
                report.fail(&file.display().to_string(), format!("{line}\n{told}"));
            }
        }
    }
    report.end();
}

#[test]
fn what_a_page_prints_is_printed() {
    let mut report = Report::default();
    for (page, text) in pages() {
        for (_, block) in split(&text).0.into_iter().filter(|(mark, _)| *mark == "console") {
            let (line, told) = block.strip_prefix("$ ").and_then(|block| block.split_once('\n')).expect("a command");
            report.look();
            let printed = String::from_utf8(run(line).stdout).expect("text");
            report.same(&page.display().to_string(), line, told, &printed);
        }
    }
    report.end();
}

/// The long flags in a text, each once.
fn flags(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !(it.is_ascii_lowercase() || it == '-'));
    words.filter(|word| word.starts_with("--") && word.len() > 3).map(str::to_owned).collect()
}

#[test]
fn the_flags_of_serve_are_told_and_no_others() {
    let mut known = flags(&String::from_utf8(run("function-asya serve --help").stdout).expect("text"));
    known.remove("--help");
    let page = fs::read_to_string(case::root().join("docs/server.md")).expect("the page is there");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `--"));
    let cells = rows.filter_map(|row| row.split(" |").next()).map(|cell| format!("--{cell}\n"));
    assert_eq!(known, flags(&cells.collect::<String>()), "`serve --help`, and docs/server.md");
}
