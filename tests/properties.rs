//! What holds for every case, whatever it is about: nothing is deleted by accident, output fed back changes nothing, and
//! every answer carries all conditions.

mod common;

use std::collections::BTreeSet;

use common::case::{self, Case};
use common::play;
use common::report::Report;
use function_asya::cli::scene::Scene;
use function_asya::cli::simulate::{self, End};
use function_asya::composed::Composition;
use function_asya::inputs::PLATFORM_KEY;
use function_asya::status::CONDITIONS;
use serde_json::Value;

/// A case in which everything exists and is ready, if it can come to that.
fn settled(case: &Case, end: End) -> Option<(Scene, Composition)> {
    let mut scene = play::scene(case)?;
    let composition = simulate::play(&mut scene, end).ok()?;
    composition.problems.is_empty().then_some((scene, composition))
}

/// One thing that may be lost between two calls.
#[derive(Clone, Debug, PartialEq)]
enum Loss {
    Config(String),
    Observed(String),
    /// A field of what is observed; `composite` is the composite itself.
    Field(String, &'static str),
}

/// Everything that could be lost of a scene.
fn losses(scene: &Scene) -> Vec<Loss> {
    const FIELDS: [(&str, &str); 9] = [
        ("sqs-queue", "/status/atProvider/url"),
        ("sqs-queue", "/status/atProvider"),
        ("sqs-queue", "/status/conditions"),
        ("sqs-queue", "/status"),
        ("serviceaccount", "/status"),
        ("scaledobject", "/status/atProvider/manifest"),
        ("deployment", "/status/atProvider/manifest"),
        ("composite", "/status/queueUrl"),
        ("composite", "/status"),
    ];
    let names = scene.configs.iter().filter_map(|config| config.value.pointer("/metadata/name")?.as_str());
    let configs = names.map(|name| Loss::Config(name.to_owned()));
    let observed = scene.observed.keys().map(|name| Loss::Observed(name.clone()));
    let there = |name: &str| name == "composite" || scene.observed.contains_key(name);
    let fields = FIELDS.into_iter().filter(|(name, _)| there(name)).map(|(name, at)| Loss::Field(name.to_owned(), at));
    configs.chain(observed).chain(fields).collect()
}

fn lose(scene: &mut Scene, loss: &Loss) {
    match loss {
        Loss::Config(name) => scene.configs.retain(|config| config.value["metadata"]["name"] != name.as_str()),
        Loss::Observed(name) => drop(scene.observed.remove(name)),
        Loss::Field(name, at) => {
            let object = if name == "composite" { Some(&mut scene.composite) } else { scene.observed.get_mut(name) };
            let (above, key) = at.rsplit_once('/').expect("a pointer");
            if let Some(Value::Object(map)) = object.and_then(|object| object.pointer_mut(above)) {
                map.remove(key);
            }
        }
    }
}

/// True for the two things without which nobody can know that settings were used: they, and the status that says so.
fn forgets_settings(whole: &Composition, losses: [&Loss; 2]) -> bool {
    let settings = whole.requirements.get(PLATFORM_KEY).map(|name| Loss::Config(name.clone()));
    settings.is_some_and(|settings| losses.contains(&&settings))
        && losses.contains(&&Loss::Field("composite".to_owned(), "/status"))
}

/// What an answer would delete of what is observed.
fn deleted<'a>(scene: &'a Scene, answer: &'a Composition) -> impl Iterator<Item = &'a String> {
    let refused = !answer.problems.is_empty();
    scene.observed.keys().filter(move |name| !refused && !answer.resources.contains_key(name.as_str()))
}

/// Pairs for the examples, where everything occurs; single losses for every case.
fn pairs<'a>(case: &Case, all: &'a [Loss]) -> Vec<[&'a Loss; 2]> {
    let seconds = |index: usize| if case.name.starts_with("examples/") { &all[index..] } else { &all[index..=index] };
    all.iter().enumerate().flat_map(|(index, first)| seconds(index).iter().map(move |second| [first, second])).collect()
}

#[test]
fn losing_one_or_two_things_deletes_nothing() {
    let mut report = Report::default();
    for case in case::all().iter().filter(|case| !case.name.ends_with("-ready")) {
        let Some((mut scene, whole)) = settled(case, End::Ready) else { continue };
        let all = losses(&scene);
        let before = (scene.composite.clone(), scene.observed.clone(), scene.configs.clone());
        for [first, second] in pairs(case, &all) {
            if forgets_settings(&whole, [first, second]) {
                continue;
            }
            report.look();
            (scene.composite, scene.observed, scene.configs) = before.clone();
            lose(&mut scene, first);
            lose(&mut scene, second);
            let name = format!("{} without {first:?} and {second:?}", case.name);
            let Ok(answer) = scene.answer() else { continue };
            let unwanted = |name: &&String| !whole.resources.contains_key(name.as_str());
            let gone: Vec<_> = deleted(&scene, &answer).filter(|name| !unwanted(name)).collect();
            report.equal(&name, "what would be deleted", &Vec::new(), &gone);
            let kinds: Vec<_> = answer.conditions.iter().map(|verdict| verdict.kind).collect();
            report.equal(&name, "the conditions", &CONDITIONS.to_vec(), &kinds);
        }
    }
    report.end();
}

#[test]
fn a_missing_flavor_is_refused_once_anything_exists() {
    let mut report = Report::default();
    for case in case::all().iter().filter(|case| !case.name.ends_with("-ready")) {
        let Some((scene, whole)) = settled(case, End::Ready) else { continue };
        for (_, name) in whole.requirements.iter().filter(|(key, _)| key.starts_with("flavor-")) {
            report.look();
            let Some((mut scene, _)) = settled(case, End::Ready) else { continue };
            lose(&mut scene, &Loss::Config(name.clone()));
            let refused = scene.answer().is_ok_and(|answer| !answer.problems.is_empty());
            report.equal(
                &case.name,
                &format!("refused without {name}"),
                &(!scene.observed.is_empty() || whole.spec.is_some()),
                &refused,
            );
        }
        drop(scene);
    }
    report.end();
}

#[test]
fn output_fed_back_as_observed_changes_nothing() {
    let mut report = Report::default();
    for (case, end) in case::all().iter().flat_map(|case| [(case, End::Ready), (case, End::Napping)]) {
        let Some((mut scene, first)) = settled(case, end) else { continue };
        report.look();
        let name = format!("{}, {end:?}", case.name);
        let observed = scene.observed.clone();
        for round in ["once", "twice"] {
            let Ok(again) = simulate::play(&mut scene, end) else { continue };
            report.equal(&name, &format!("resources, fed back {round}"), &first.resources, &again.resources);
            report.equal(&name, &format!("status, fed back {round}"), &first.status, &again.status);
            report.equal(&name, &format!("conditions, fed back {round}"), &first.conditions, &again.conditions);
            report.equal(&name, &format!("observed, fed back {round}"), &observed, &scene.observed);
            let told = again.results.iter().map(|result| result.message.as_str()).collect::<Vec<_>>();
            if first.spec.is_none() && !first.resources.is_empty() {
                report.equal(&name, &format!("nothing is told again, fed back {round}"), &Vec::new(), &told);
            }
        }
    }
    report.end();
}

#[test]
fn the_order_of_files_changes_nothing() {
    let mut report = Report::default();
    for case in case::all() {
        let Some(mut scene) = play::scene(&case) else { continue };
        let names: BTreeSet<_> =
            scene.configs.iter().map(|config| config.value["metadata"]["name"].to_string()).collect();
        if names.len() < scene.configs.len() {
            continue; // Of two with one name the first counts.
        }
        report.look();
        let Ok(before) = scene.answer() else { continue };
        scene.configs.reverse();
        let Ok(after) = scene.answer() else { continue };
        report.equal(&case.name, "the answer", &format!("{before:?}"), &format!("{after:?}"));
    }
    report.end();
}
