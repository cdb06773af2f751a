//! The stories of `examples/`: none is refused but the one about a refusal, a claim and its composite come out the same,
//! everything can become ready, and what `render` prints is recorded in `tests/examples/`. `BLESS=1` rewrites that.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use common::case::{self, Case, name_of};
use common::play::{self, Played};
use common::report::Report;

/// The story about a refusal.
const REFUSED: &str = "examples/flavor-conflict/";

fn played(case: &Case) -> Played {
    play::play(case).unwrap_or_else(|stop| panic!("{}: {}", case.name, stop.message))
}

/// What `render` prints: data, or messages where it refuses.
fn printed(case: &Case, played: &Played) -> String {
    let stdout = played.stdout();
    if stdout.is_empty() { played.stderr(case) } else { stdout }
}

/// Where the output of an example is recorded.
fn record(case: &Case) -> PathBuf {
    case::root().join("tests").join(format!("{}.out", case.name))
}

/// The claim to which a composite belongs: `xr-gpu.yaml` to `gpu.yaml`, `xr.yaml` to `actor.yaml`.
fn claim_of<'a>(case: &Case, all: &'a [Case]) -> Option<&'a Case> {
    let (story, actor) = case.name.rsplit_once('/')?;
    let rest = actor.strip_prefix("xr")?;
    let claim = match rest.strip_prefix('-') {
        Some(rest) if rest != "ready" => rest.to_owned(),
        _ => format!("actor{rest}"),
    };
    all.iter().find(|other| other.name == format!("{story}/{claim}"))
}

#[test]
fn every_story_comes_out_as_recorded() {
    let mut report = Report::default();
    let claims = case::examples().into_iter().filter(|case| !is_composite(case));
    for case in claims {
        report.look();
        let (actual, file) = (printed(&case, &played(&case)), record(&case));
        if std::env::var_os("BLESS").is_some() {
            fs::create_dir_all(file.parent().expect("a folder")).expect("tests/examples can be written");
            fs::write(&file, &actual).expect("tests/examples can be written");
        }
        let recorded = fs::read_to_string(&file).unwrap_or_default();
        report.same(&case.name, &format!("{} (BLESS=1 rewrites it)", file.display()), &recorded, &actual);
    }
    report.end();
}

fn is_composite(case: &Case) -> bool {
    case.name.rsplit('/').next().is_some_and(|actor| actor.starts_with("xr"))
}

#[test]
fn nothing_is_recorded_that_is_no_example() {
    let all = case::examples();
    let known: BTreeSet<_> = all.iter().map(record).collect();
    let recorded = case::entries(&case::root().join("tests/examples"));
    let files = recorded.iter().flat_map(|folder| case::entries(folder));
    let stale: Vec<_> = files.filter(|file| !known.contains(file)).collect();
    assert!(stale.is_empty() || std::env::var_os("CASE").is_some(), "no example prints this any more: {stale:#?}");
}

#[test]
fn a_claim_and_its_composite_come_out_the_same() {
    let mut report = Report::default();
    let all = case::examples();
    for composite in all.iter().filter(|case| is_composite(case)) {
        report.look();
        let Some(claim) = claim_of(composite, &all) else {
            report.fail(&composite.name, "belongs to no claim");
            continue;
        };
        let both = [claim, composite].map(|case| printed(case, &played(case)));
        report.same(&composite.name, "what the composite gives, against its claim", &both[0], &both[1]);
    }
    report.end();
}

#[test]
fn no_story_is_refused_or_waits_and_all_can_become_ready() {
    let mut report = Report::default();
    for case in case::examples() {
        report.look();
        let played = played(&case);
        let problems = &played.composition.problems;
        if case.name.starts_with(REFUSED) {
            report.equal(&case.name, "this story is refused", &false, &problems.is_empty());
            continue;
        }
        report.same(&case.name, "problems", "", &problems.to_string());
        let phase =
            played.composition.status.as_ref().and_then(|status| status.at(&["phase"])?.as_str()).unwrap_or_default();
        let wanted: &[&str] =
            if case.name.ends_with("-ready") { &["Ready"] } else { &["Creating", "Ready", "Napping"] };
        if !wanted.contains(&phase) {
            report.fail(&case.name, format!("phase is {phase:?}, not one of {wanted:?}"));
        }
    }
    report.end();
}

#[test]
fn every_story_is_in_the_readme() {
    let readme = fs::read_to_string(case::root().join("examples/README.md")).expect("examples have a README");
    let folders = case::entries(&case::root().join("examples")).into_iter().filter(|path| path.is_dir());
    let missing: Vec<_> =
        folders.map(|path| name_of(&path)).filter(|name| !readme.contains(&format!("({name})"))).collect();
    assert!(missing.is_empty(), "examples/README.md does not list {missing:?}");
}
