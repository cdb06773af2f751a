//! Every case and example answers the same three ways: in-process, through `render`, and over gRPC from `serve`.
//!
//! `CASE=part-of-a-name` chooses some; `BLESS=1` rewrites the files that exist in `expected/`.

mod common;

use common::case::{self, Case};
use common::crossplane::{self, Version};
use common::expected;
use common::play::{self, Played};
use common::report::Report;
use common::server::{PATHS, Server};

#[test]
fn compose_answers_what_is_expected() {
    let mut report = Report::default();
    let mut wrong = Vec::new();
    for case in case::cases(&mut wrong) {
        report.look();
        expected::check_names(&case, &mut report);
        match play::play(&case) {
            Ok(played) => expected::compare(&case, &played, &mut report),
            Err(_) if case.only_render => {}
            Err(stop) => report.fail(&case.name, format!("cannot be read\n{}", stop.message)),
        }
    }
    for what in wrong {
        report.fail("a folder is not a case", what);
    }
    report.end();
}

#[test]
fn render_prints_what_compose_answers() {
    let mut report = Report::default();
    for case in case::all() {
        report.look();
        let printed = play::render(&case);
        if printed != play::render(&case) {
            report.fail(&case.name, "render prints something else the second time");
        }
        expected::compare_printed(&case, &printed, &mut report);
        let (stdout, stderr, exit) = match play::play(&case) {
            Ok(played) => (played.stdout(), played.stderr(&case), played.exit()),
            Err(stop) => (String::new(), stop.message, stop.code),
        };
        report.same(&case.name, "stdout of render, against compose", &stdout, &printed.stdout);
        let remarks = |line: &&str| !line.starts_with("note: ");
        let told: String = printed.stderr.split_inclusive('\n').filter(remarks).collect();
        if !told.contains(&stderr) {
            report.same(&case.name, "stderr of render, against compose", &stderr, &told);
        }
        report.equal(&case.name, "exit code of render", &i32::from(exit), &printed.exit);
    }
    report.end();
}

#[test]
fn serve_answers_what_compose_answers() {
    let mut report = Report::default();
    let server = Server::start(&[]);
    for case in case::all().iter().filter(|case| !case.only_render) {
        report.look();
        let Ok(played) = play::play(case) else { continue };
        for (path, version) in PATHS.into_iter().zip([Version::Two, Version::One]) {
            answers(case, &played, version, &mut report, &server, path);
        }
    }
    report.end();
}

fn answers(case: &Case, played: &Played, version: Version, report: &mut Report, server: &Server, path: &'static str) {
    let name = format!("{} over gRPC, Crossplane {version:?}", case.name);
    let first = crossplane::request(&played.scene, &case.name, version);
    let call = |request| server.call(path, request).map_err(|status| status.to_string());
    let exchanges = match crossplane::reconcile(&played.scene, first, version, call) {
        Ok(exchanges) => exchanges,
        Err(error) => return report.fail(&name, error),
    };
    for (request, response) in &exchanges {
        crossplane::check_exchange(&name, request, response, report);
        report.equal(&name, "the same requirements every time", &exchanges[0].1.requirements, &response.requirements);
    }
    let Some((request, response)) = exchanges.last() else { return };
    crossplane::check_answer(&name, request, response, &played.composition, report);
}
