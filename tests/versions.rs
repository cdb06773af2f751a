//! One version everywhere: Cargo.toml, both packages, what they depend on, the examples and the docs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The version of this release, as packages and tags are called.
const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

const FUNCTION: &str = "ghcr.io/deliveryhero/function-asya";
const CONFIGURATION: &str = "ghcr.io/deliveryhero/asya-actors";

/// What Crossplane calls the Function, made from its address: what comes after the host, with dashes.
const INSTALLED: &str = "deliveryhero-function-asya";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn yaml(file: &str) -> Value {
    let text = fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Every file that people read or apply, with its text; what is generated or only tried is none of them.
fn written() -> Vec<(String, String)> {
    let mut folders: Vec<PathBuf> =
        [".", "docs", "examples", "package", "package-function", ".github"].map(|it| root().join(it)).into();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("a readable folder").path();
            let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
            if path.is_dir() && folder != root().join(".") {
                folders.push(path);
            } else if ["md", "yaml", "yml"].contains(&kind) && !path.ends_with("CHANGELOG.md") {
                let text = fs::read_to_string(&path).expect("text");
                let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
                files.push((name, text));
            }
        }
    }
    files
}

/// The tags that stand behind `address` in a text.
fn tags<'a>(text: &'a str, address: &str) -> Vec<&'a str> {
    let ends = |it: char| !(it.is_ascii_alphanumeric() || ".-_".contains(it));
    let found = text.split(address).skip(1).filter_map(|rest| rest.strip_prefix(':'));
    found.map(|rest| rest.split(ends).next().unwrap_or_default().trim_end_matches('.')).collect()
}

#[test]
fn examples_and_docs_name_this_version() {
    let mut seen = 0;
    for (file, text) in written() {
        for tag in [FUNCTION, CONFIGURATION].iter().flat_map(|address| tags(&text, address)) {
            seen += 1;
            // Shell and workflows put the version in themselves.
            assert!(tag == VERSION || tag.is_empty(), "{file} names {tag}, this is {VERSION}");
        }
    }
    assert!(seen > 0, "nobody names a version");
}

#[test]
fn the_configuration_depends_on_the_function_of_its_own_version() {
    let package = yaml("package/crossplane.yaml");
    let dependencies = package["spec"]["dependsOn"].as_array().expect("dependencies");
    let range = |kind: &str, address: &str| {
        let found = dependencies.iter().find(|dependency| text(dependency, kind) == address);
        text(found.unwrap_or_else(|| panic!("no dependency on {address}")), "/version").to_owned()
    };
    assert_eq!(range("/function", FUNCTION), format!(">={VERSION}"));
    range("/provider", "xpkg.crossplane.io/crossplane-contrib/provider-aws-sqs");
    range("/provider", "xpkg.crossplane.io/crossplane-contrib/provider-kubernetes");
    assert_eq!(dependencies.len(), 3, "what else the package needs should be checked here");
}

#[test]
fn both_packages_want_the_same_crossplane() {
    let wants = ["package/crossplane.yaml", "package-function/crossplane.yaml"]
        .map(|file| yaml(file)["spec"]["crossplane"].clone());
    assert!(wants[0].is_object() && wants[0] == wants[1], "{wants:?}");
}

#[test]
fn every_range_has_a_lower_bound_and_no_other() {
    let package = yaml("package/crossplane.yaml");
    let mut ranges = vec![(text(&package, "/spec/crossplane/version"), "-0")];
    // What Crossplane is ends in -0, so that a release candidate of the next one is let in.
    ranges.extend(package["spec"]["dependsOn"].as_array().expect("some").iter().map(|it| (text(it, "/version"), "")));
    for (range, end) in &ranges {
        let bound = range.strip_prefix(">=v").and_then(|range| range.strip_suffix(end)).unwrap_or_default();
        let plain = bound.split('.').filter(|part| part.parse::<u32>().is_ok()).count() == 3;
        assert!(plain, "{range} does not take every newer version: 2.x is one");
    }
    assert_eq!(numbers(ranges[0].0), [1, 19, 0], "the oldest Crossplane we say we run on");
}

#[test]
fn the_function_has_the_name_that_the_composition_calls() {
    let composition = yaml("package/composition.yaml");
    assert_eq!(text(&composition, "/spec/pipeline/0/functionRef/name"), INSTALLED);
    assert_eq!(FUNCTION.split_once('/').map(|(_, path)| path.replace('/', "-")).as_deref(), Some(INSTALLED));
    for file in ["examples/functions.yaml", "examples/install/function.yaml"] {
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        assert!(text.contains(&format!("\n  name: {INSTALLED}")), "{file} names no {INSTALLED}");
    }
}

/// `v1.19.0-0` as numbers.
fn numbers(version: &str) -> Vec<u32> {
    let version = version.trim_start_matches(['>', '=', 'v']);
    version.split(['.', '-']).map_while(|number| number.parse().ok()).take(3).collect()
}

#[test]
fn the_providers_that_are_installed_are_those_the_package_wants() {
    let package = yaml("package/crossplane.yaml");
    for dependency in package["spec"]["dependsOn"].as_array().expect("dependencies") {
        let address = text(dependency, "/provider");
        let range = text(dependency, "/version");
        for (file, text) in written().iter().filter(|_| !address.is_empty()) {
            for tag in tags(text, address) {
                assert!(
                    range.starts_with(">=") && numbers(tag) >= numbers(range),
                    "{file}: {address}:{tag} is not {range}"
                );
            }
        }
    }
}

#[test]
fn the_changelog_has_a_chapter_for_this_version() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).expect("a changelog");
    assert!(text.contains(&format!("\n## [{}]", env!("CARGO_PKG_VERSION"))), "no chapter for {VERSION}");
}

#[test]
fn everything_is_built_by_a_rust_that_is_new_enough() {
    let wanted = numbers(env!("CARGO_PKG_RUST_VERSION"));
    let dockerfile = fs::read_to_string(root().join("Dockerfile")).expect("a Dockerfile");
    let rust = dockerfile.lines().find_map(|line| line.strip_prefix("ARG RUST=")).expect("ARG RUST=");
    assert!(numbers(rust) >= wanted, "Dockerfile: {rust} is older than {wanted:?}");
}
