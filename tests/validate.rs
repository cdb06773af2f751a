//! Crossplane's own validators take everything we print, and refuse the actors that must be refused.
//!
//! Ignored unless asked for: `tools/check validate` builds the tools and names them. `conformance.rs` judges the same
//! objects by our own reading of the schemas; here is another's.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::case;
use common::crds;
use common::play;
use function_asya::cli::crossplane;
use function_asya::cli::files;
use function_asya::cli::print;
use serde_json::{Value, json};

/// Kinds that Kubernetes brings: their schemas are in no CRD. CLI 2.5 knows them, crank 1.20 does not.
const BUILT_IN: [&str; 2] = ["Deployment", "ServiceAccount"];

/// The one kind of the install kit that has no schema: it never reaches a cluster, and kustomize itself judges it.
const NO_SCHEMA: &str = "[!] could not find CRD/XRD for: kustomize.config.k8s.io/v1beta1, Kind=Kustomization";

/// Cases whose actor says what no API server would keep, to show that we let it through.
const NOT_VALID: [&str; 2] = ["crossplanes-own-fields-in-the-actor-are-known", "user-parts-of-the-pod-pass-through"];

/// The validators, and schemas for them in one folder: the collected CRDs, those of the kinds that only the install kit has, our
/// XRD, and the CRD of our step's input.
struct Validator {
    crank: PathBuf,
    cli: PathBuf,
    schemas: tempfile::TempDir,
    cache: tempfile::TempDir,
}

/// What a validator said.
struct Verdict {
    /// `Total 9 resources: 1 missing schemas, 2 success cases, 6 failure cases`, as numbers.
    counts: [usize; 4],
    failed: bool,
    text: String,
}

impl Validator {
    fn find() -> Self {
        let [schemas, cache] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        for (name, definition) in crds::definitions("") {
            put(schemas.path(), &name, &[definition]);
        }
        for (name, file) in [("xrd.yaml", "package/xrd.yaml"), ("input.yaml", "package-function/input.yaml")] {
            fs::copy(case::root().join(file), schemas.path().join(name)).expect("a schema can be copied");
        }
        for file in fs::read_dir(tool("INSTALL_CRDS")).expect("a folder of CRDs") {
            let file = file.expect("a readable folder");
            fs::copy(file.path(), schemas.path().join(file.file_name())).expect("a schema can be copied");
        }
        // An image is "there" when its folder is: nothing is pulled.
        fs::create_dir(cache.path().join("offline@none")).expect("a folder");
        Self { crank: tool("CRANK_1_20"), cli: tool("CLI_2_5"), schemas, cache }
    }

    /// Judges all files of a folder, or one file, by CLI 2.5.
    fn cli(&self, files: &Path) -> Verdict {
        let mut command = Command::new(&self.cli);
        command.args(["resource", "validate"]).arg(self.schemas.path()).arg(files);
        self.run(command.args(["--crossplane-image=", "--error-on-missing-schemas"]))
    }

    /// The same by crank 1.20.
    fn crank(&self, files: &Path) -> Verdict {
        let mut command = Command::new(&self.crank);
        command.args(["beta", "validate"]).arg(self.schemas.path()).arg(files);
        self.run(command.arg("--crossplane-image=offline:none"))
    }

    fn run(&self, command: &mut Command) -> Verdict {
        command.arg("--cache-dir").arg(self.cache.path()).stdin(Stdio::null());
        let output = command.output().expect("a tool that runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let last = text.lines().find(|line| line.starts_with("Total ")).unwrap_or_else(|| panic!("no sum: {text}"));
        let mut numbers = last.split(|it: char| !it.is_ascii_digit()).filter_map(|number| number.parse().ok());
        let counts = std::array::from_fn(|_| numbers.next().expect("four numbers"));
        Verdict { counts, failed: !output.status.success(), text }
    }
}

fn tool(name: &str) -> PathBuf {
    let path = std::env::var_os(name).map(PathBuf::from).filter(|path| path.exists());
    path.unwrap_or_else(|| panic!("{name} must name a built tool; `tools/check validate` does all of this"))
}

fn put(folder: &Path, file: &str, documents: &[Value]) {
    fs::write(folder.join(file), print::yaml(documents)).expect("a file can be written");
}

fn read(file: &str) -> Vec<Value> {
    let text = fs::read(case::root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let documents = files::parse(file, &text).unwrap_or_else(|error| panic!("{error}"));
    documents.into_iter().map(|document| document.value).collect()
}

/// The claim, what is printed for it, the manifests within, and the EnvironmentConfigs; one list a case.
fn rendered() -> Vec<Documents> {
    let mut all = Vec::new();
    for case in case::all().into_iter().filter(|case| !NOT_VALID.contains(&case.name.as_str())) {
        let Ok(played) = play::play(&case) else { continue };
        let mut documents = Vec::new();
        if case.name.starts_with("examples/") {
            documents.push(played.scene.actor.value.clone());
            documents.extend(played.scene.configs.iter().map(|config| config.value.clone()));
        }
        if played.composition.problems.is_empty() {
            let mut printed = crossplane::documents(&played.scene, &played.composition, false);
            // Only the status is printed; the API server would have the rest.
            printed[0]["spec"] = played.scene.composite["spec"].clone();
            let within = printed.iter().filter_map(|object| object.pointer("/spec/forProvider/manifest").cloned());
            let within: Vec<_> = within.collect();
            documents.extend(printed.into_iter().chain(within));
        }
        if !documents.is_empty() {
            all.push((case.name, documents));
        }
    }
    all
}

/// Documents of one case, by its name.
type Documents = (String, Vec<Value>);

type Judge<'a> = &'a dyn Fn(&Path) -> Verdict;

#[test]
#[ignore = "needs Crossplane's own tools: `tools/check validate`"]
fn everything_that_is_printed_is_valid() {
    let validator = Validator::find();
    let (mut all, composition) = (rendered(), read("package/composition.yaml"));
    // The validators take the input of the Composition's step for a document of its own.
    let input = composition[0]["spec"]["pipeline"][0]["input"].clone();
    all.push(("package/composition.yaml".to_owned(), composition));
    let documents = || all.iter().flat_map(|(_, documents)| documents).chain([&input]);
    let total = documents().count();
    let built_in = documents().filter(|it| it["kind"].as_str().is_some_and(|kind| BUILT_IN.contains(&kind))).count();
    assert!(total > 500, "only {total} documents");
    let cli: Judge<'_> = &|files| validator.cli(files);
    let crank: Judge<'_> = &|files| validator.crank(files);
    for (name, judge, missing) in [("CLI 2.5", cli, 0), ("crank 1.20", crank, built_in)] {
        let (counts, wrong) = judge_all(&all, judge);
        println!("{name}: {} documents, {} without a schema, {} valid", counts[0], counts[1], counts[2]);
        let expected = [total, missing, total - missing, 0];
        assert!(counts == expected, "{name} says {counts:?}, expected {expected:?}\n{}", wrong.join("\n"));
    }
    // crank does not fill in the defaults of XRDs, on which their own rules rest.
    let verdict = validator.cli(&case::root().join("package/xrd.yaml"));
    assert_eq!(verdict.counts, [1, 0, 1, 0], "{}", verdict.text);
}

/// The counts of all documents together; and what is wrong, by case.
fn judge_all(all: &[Documents], judge: Judge<'_>) -> ([usize; 4], Vec<String>) {
    let mut counts = [0; 4];
    let mut wrong = Vec::new();
    // A folder at a time: a tool takes as long to start as for hundreds of documents.
    for part in all.chunks(50) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |at: usize| format!("{at:03}.yaml");
        part.iter().enumerate().for_each(|(at, (_, documents))| put(folder.path(), &file(at), documents));
        let verdict = judge(folder.path());
        counts.iter_mut().zip(verdict.counts).for_each(|(sum, count)| *sum += count);
        if verdict.counts[3] > 0 {
            let told = |at: usize| judge(&folder.path().join(file(at))).text;
            let lines = |text: String| {
                text.lines().filter(|line| line.starts_with("[x]")).fold(String::new(), |all, line| all + "\n  " + line)
            };
            let all = part.iter().enumerate().map(|(at, (name, _))| (name, lines(told(at))));
            wrong.extend(all.filter(|(_, told)| !told.is_empty()).map(|(name, told)| format!("{name}{told}")));
        }
    }
    (counts, wrong)
}

#[test]
#[ignore = "needs Crossplane's own tools: `tools/check validate`"]
fn every_file_of_the_examples_is_valid() {
    let verdict = Validator::find().cli(&case::root().join("examples"));
    let unknown: Vec<_> = verdict.text.lines().filter(|line| line.starts_with("[!]")).collect();
    println!("CLI 2.5: {} documents of examples/, {} without a schema", verdict.counts[0], verdict.counts[1]);
    assert_eq!(unknown, [NO_SCHEMA], "kinds that nobody judges");
    assert!(verdict.counts[0] > 80 && verdict.counts[1] == 1 && verdict.counts[3] == 0, "{}", verdict.text);
}

#[test]
#[ignore = "needs kustomize: `tools/check validate`"]
fn the_runtime_becomes_the_configmap_that_pods_mount() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "kustomization.yaml";
    fs::copy(case::root().join("examples/install/runtime").join(file), folder.path().join(file)).expect("a copy");
    fs::write(folder.path().join("asya_runtime.py"), "print('hello')\n").expect("a file can be written");
    let built = Command::new(tool("KUSTOMIZE")).arg("build").arg(folder.path()).output().expect("a tool that runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let built: Value = serde_yaml::from_slice(&built.stdout).expect("one document");
    // The default of the platform key `sidecar.runtimeConfigMap`, and the file that the runtime is started with.
    let wanted =
        [("/kind", "ConfigMap"), ("/metadata/name", "asya-runtime"), ("/data/asya_runtime.py", "print('hello')\n")];
    for (pointer, wanted) in wanted {
        assert_eq!(built.pointer(pointer).and_then(Value::as_str), Some(wanted), "{pointer} of {built}");
    }
}

/// What a release's manifest goes through before Helm is asked to let go of it, as docs/migrating.md has it.
#[test]
#[ignore = "needs kustomize: `tools/check validate`"]
fn the_mark_that_keeps_a_release_reaches_every_object() {
    let page = fs::read_to_string(case::root().join("docs/migrating.md")).expect("the page is there");
    let start = "cat > keep/kustomization.yaml <<'EOF'\n";
    let kustomization =
        page.split_once(start).and_then(|(_, rest)| rest.split_once("EOF\n")).expect("a here-document").0;
    let folder = tempfile::tempdir().expect("a folder");
    let release: Vec<_> = ["package/xrd.yaml", "package/composition.yaml", "examples/install/provider-aws-sqs.yaml"]
        .iter()
        .flat_map(|file| read(file))
        .collect();
    fs::write(folder.path().join("kustomization.yaml"), kustomization).expect("a file can be written");
    put(folder.path(), "all.yaml", &release);
    let built = Command::new(tool("KUSTOMIZE")).arg("build").arg(folder.path()).output().expect("a tool that runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let built = files::parse("stdout", &built.stdout).unwrap_or_else(|error| panic!("{error}"));
    let kept =
        |object: &Value| object.pointer("/metadata/annotations/helm.sh~1resource-policy") == Some(&json!("keep"));
    assert_eq!(built.iter().filter(|document| kept(&document.value)).count(), release.len());
}

#[test]
#[ignore = "needs Crossplane's own tools: `tools/check validate`"]
fn actors_are_taken_and_refused_as_the_table_says() {
    let (validator, folder) = (Validator::find(), tempfile::tempdir().expect("a folder"));
    let rows: Value = serde_yaml::from_str(include_str!("admission.yaml")).expect("the table is YAML");
    let rows: Vec<_> = rows.as_array().expect("rows").iter().filter(|row| row.get("old").is_none()).collect();
    let mut wrong = Vec::new();
    for row in &rows {
        let objects = ["AsyncActor", "XAsyncActor"].map(|kind| {
            json!({"apiVersion": "asya.sh/v1alpha1", "kind": kind, "metadata": {"name": "echo"}, "spec": row["spec"]})
        });
        put(folder.path(), "actor.yaml", &objects);
        let refused = row.get("refused").and_then(Value::as_str);
        for verdict in [validator.cli(folder.path()), validator.crank(folder.path())] {
            let as_told = match refused {
                None => verdict.counts == [2, 0, 2, 0],
                Some(text) => verdict.counts[1..3] == [0, 0] && verdict.text.matches(text).count() >= 2,
            };
            if !as_told || verdict.failed != refused.is_some() {
                wrong.push(format!("{}: expected {refused:?}\n{}", row["why"], verdict.text));
            }
        }
    }
    println!("{} rows, {} wrong", rows.len(), wrong.len());
    assert!(wrong.is_empty() && !rows.is_empty(), "{}", wrong.join("\n"));
}

/// The paths of what a schema declares, or of what a value holds.
fn paths(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, below)| paths(below, &format!("{at}.{key}"), found)),
        _ => drop(found.insert(at.to_owned())),
    }
}

fn declared(schema: &Value, at: &str, found: &mut BTreeSet<String>) {
    match schema["properties"].as_object() {
        Some(map) => map.iter().for_each(|(key, below)| declared(below, &format!("{at}.{key}"), found)),
        None => drop(found.insert(at.to_owned())),
    }
}

#[test]
fn the_status_that_is_declared_is_the_status_that_is_written() {
    let xrd = &read("package/xrd.yaml")[0];
    let (mut wanted, mut written) = (BTreeSet::new(), BTreeSet::new());
    declared(&xrd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"], "status", &mut wanted);
    for played in case::all().iter().filter_map(|case| play::play(case).ok()) {
        paths(&played.composition.status.unwrap_or_default().to_value(), "status", &mut written);
    }
    written.remove("status");
    assert_eq!(wanted, written, "declared in the XRD, and written in some case");
}
