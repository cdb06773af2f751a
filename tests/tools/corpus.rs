//! Writes what the fuzz targets start from, made of the cases and the examples: `cargo run --example corpus -- fuzz/corpus`.
//!
//! A folder for each target; a file is called by what it holds, so that a second run writes the same.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a tool for those who develop, with parts of the tests"
)]

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use function_asya::cli::files;
use function_asya::cli::scene::Scene;
use function_asya::serve::{Settings, run};
use function_asya::wire::RawStruct;
use function_asya::wire::proto::v1::{RunFunctionRequest, State};
use prost::Message as _;
use serde_json::{Value, json};

#[path = "../common/case.rs"]
mod case;
#[path = "../common/crossplane.rs"]
mod crossplane;
#[path = "../common/play.rs"]
mod play;
#[path = "../common/report.rs"]
mod report;

use crossplane::Version;

fn main() {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).expect("the folder to write to");
    let corpus = Corpus(folder);
    for case in case::all() {
        for file in case::entries(&case.folder).iter().filter(|file| file.extension().is_some_and(|it| it == "yaml")) {
            corpus.add("yaml", &fs::read(file).unwrap());
        }
        let Ok(played) = play::play(&case) else { continue };
        corpus.add("merge", json!(layers(&played.scene)).to_string().as_bytes());
        for version in [Version::One, Version::Two] {
            let first = crossplane::request(&played.scene, &case.name, version);
            let exchanges = crossplane::reconcile(&played.scene, first, version, call).unwrap();
            exchanges.iter().for_each(|(request, _)| corpus.exchange(request));
        }
    }
    let rows = files::parse("merge.yaml", &merge_rows()).unwrap();
    for row in rows.iter().flat_map(|rows| rows.value["rows"].as_array().unwrap()) {
        corpus.add("merge", as_list(row).to_string().as_bytes());
    }
    for amount in AMOUNTS {
        corpus.add("amount", amount.as_bytes());
    }
    for target in fs::read_dir(&corpus.0).unwrap().map(|entry| entry.unwrap().path()) {
        println!("{:<8} {:>5} seeds", case::name_of(&target), fs::read_dir(&target).unwrap().count());
    }
}

/// One of each form; what is longer is found.
const AMOUNTS: [&str; 16] = [
    "1m30s", "1.5h", "300ms", ".5s", "7us", "7µs", "7ns", "0", "+1s", "500m", "1.5Gi", "2e3", "4E-2", "-1", "12k",
    "8Ei",
];

struct Corpus(PathBuf);

impl Corpus {
    fn add(&self, target: &str, bytes: &[u8]) {
        let folder = self.0.join(target);
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("seed-{:016x}", hasher.finish())), bytes).unwrap();
    }

    /// A request, and each object in it.
    fn exchange(&self, request: &RunFunctionRequest) {
        self.add("request", &request.encode_to_vec());
        let of = |state: &Option<State>| -> Vec<RawStruct> {
            let state = state.clone().unwrap_or_default();
            let found = state.composite.into_iter().chain(state.resources.into_values());
            found.filter_map(|found| found.resource).collect()
        };
        for object in of(&request.observed).into_iter().chain(of(&request.desired)) {
            self.add("object", &object.encode_to_vec());
        }
    }
}

fn call(request: RunFunctionRequest) -> Result<function_asya::wire::proto::v1::RunFunctionResponse, String> {
    run(request, &Settings { max_request: usize::MAX, ttl: None }).map_err(|status| status.to_string())
}

/// The layers of a scene: what its actor says, its flavors' data in the order it lists them, its settings.
fn layers(scene: &Scene) -> Value {
    let spec = &scene.composite["spec"];
    let listed = spec["flavors"].as_array().into_iter().flatten();
    let data = listed.filter_map(|name| {
        let found = scene.configs.iter().find(|config| config.value["metadata"]["name"] == *name)?;
        found.value.get("data").cloned()
    });
    json!({"actor": spec, "flavors": data.collect::<Vec<_>>(), "settings": scene.input})
}

/// The rows of `tests/merge.yaml` below a key, since a file of ours holds objects.
fn merge_rows() -> Vec<u8> {
    let text = fs::read_to_string(Path::new(case::root()).join("tests/merge.yaml")).unwrap();
    format!("rows:\n{text}").into_bytes()
}

/// A row with its flavors as a list, whatever their names.
fn as_list(row: &Value) -> Value {
    let flavors = match &row["flavors"] {
        Value::Object(named) => named.values().cloned().collect(),
        other => other.clone(),
    };
    json!({"actor": row["actor"], "flavors": flavors, "settings": row["settings"]})
}
