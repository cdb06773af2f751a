//! The real renderers, calling `serve`, print what our own `render` prints of the same files.
//!
//! Ignored unless asked for: `tools/check renderers` builds the tools and names them (see [`Tools`]). `CASE=part-of-a-name`
//! chooses some, `RENDERERS=all` takes every case instead of a share.
//!
//! What is known to differ, and is left out on both sides (where they differ among themselves, `render` mostly follows crank 1.20):
//!
//! | left out | for | because |
//! |---|---|---|
//! | the Ready condition, while a resource is held back | crank 1.20 | it does not know `desired.composite.ready` |
//! | labels that name the claim, where the composite's labels and its `claimRef` disagree | crank 1.20 | it believes `claimRef`, the reconciler and we the labels |
//! | `generateName` and the label `crossplane.io/composite`, where the composite has that label | crank 1.20 | it goes by the composite's name, all others by the label |
//! | `generateName` beside a name | crank 2.2 | it leaves it out, crank 1.20 does not |
//! | `generateName`, and `name` where the function gives none | CLI 2.5 | the reconciler makes a name, crank leaves it to the API server |
//! | the uid of the owner | CLI 2.5 | made up |
//! | the composite's `spec`, and `status.claimConditionTypes` | CLI 2.5 | references of the reconciler; what a function says of `spec` it drops |
//! | conditions other than Ready and ours, and the order of conditions | CLI 2.5 | the reconciler's own, or kept for others |
//! | results that are not the function's | CLI 2.5 | the reconciler's own; ours are compared without their prefix |

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::case::{self, Case, root};
use common::play::{self, Played};
use common::report::Report;
use common::server::Server;
use function_asya::cli::files;
use function_asya::cli::print;
use function_asya::composed::Severity;
use function_asya::status::CONDITIONS;
use serde_json::{Value, json};

/// Cases that are always taken, besides every example; of the others, one in [`SHARE`].
const ALWAYS: [&str; 6] = [
    "a-conflict-while-running-deletes-nothing",
    "a-new-actor-waits-for-a-flavor-that-is-missing",
    "an-orphaned-account-is-left-out-at-once",
    "resolve-flavors-alone-hands-the-resolved-spec-over",
    "scaled-to-zero-is-napping",
    "two-of-three-flavors-are-missing",
];

const SHARE: usize = 6;

/// Cases that an engine cannot play, and why.
const CANNOT: [(&str, &[Engine], &str); 4] = [
    ("a-flavor-of-another-api-version-counts", &ALL, "an API server converts between versions, a file does not"),
    ("of-two-environmentconfigs-of-one-name-the-first-counts", &ALL, "no cluster has two of one name"),
    (
        "the-namespace-of-a-namespaced-composite-is-its-own",
        &[Engine::Crank22, Engine::Core],
        "composites of our XRD have no namespace",
    ),
    (
        "user-labels-go-on-everything-but-the-shared-account",
        &[Engine::Core],
        "its label says it is part of another composite",
    ),
];

const ALL: [Engine; 3] = [Engine::Crank120, Engine::Crank22, Engine::Core];

/// A renderer of Crossplane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    /// `crossplane render` of 1.20, which has an imitation of the reconciler.
    Crank120,
    /// `crossplane render` of 2.2, whose imitation is another.
    Crank22,
    /// `crossplane composition render` of 2.5, which runs the reconciler of Crossplane 2.3.
    Core,
}

const ENGINES: [(Engine, &str); 3] =
    [(Engine::Crank120, "crank 1.20"), (Engine::Crank22, "crank 2.2"), (Engine::Core, "CLI 2.5")];

/// The built tools.
struct Tools {
    crank_1_20: PathBuf,
    crank_2_2: PathBuf,
    cli: PathBuf,
    core: PathBuf,
}

impl Tools {
    fn find() -> Self {
        let find = |name: &str| {
            let path = std::env::var_os(name).map(PathBuf::from).filter(|path| path.exists());
            path.unwrap_or_else(|| panic!("{name} must name a built tool; `tools/check renderers` does all of this"))
        };
        Self {
            crank_1_20: find("CRANK_1_20"),
            crank_2_2: find("CRANK_2_2"),
            cli: find("CLI_2_5"),
            core: find("CORE_2_3"),
        }
    }

    fn command(&self, engine: Engine) -> Command {
        let (tool, words) = match engine {
            Engine::Crank120 => (&self.crank_1_20, &["render"][..]),
            Engine::Crank22 => (&self.crank_2_2, &["render"][..]),
            Engine::Core => (&self.cli, &["composition", "render"][..]),
        };
        let mut command = Command::new(tool);
        command.args(words).args(["xr.yaml", "composition.yaml", "functions.yaml"]);
        if engine == Engine::Core {
            command.arg("--crossplane-binary").arg(&self.core).arg("--xrd").arg(root().join("package/xrd.yaml"));
        }
        command
    }
}

/// What a renderer made of a case.
enum Verdict {
    Same,
    Different(String),
    Cannot(&'static str),
}

/// A case's name, and what each of [`ENGINES`] made of it.
type Row = (String, [Verdict; 3]);

#[test]
#[ignore = "needs Crossplane's own tools: `tools/check renderers`"]
fn the_real_renderers_print_what_ours_prints() {
    let (tools, server, cases) = (Tools::find(), Server::start(&[]), chosen());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let share = |cases: &[Case]| cases.iter().filter_map(|case| row(case, &tools, server.address())).collect();
    let rows: Vec<Row> = std::thread::scope(|scope| {
        let shares = cases.chunks(cases.len().div_ceil(workers).max(1));
        let started: Vec<_> = shares.map(|cases| scope.spawn(|| -> Vec<Row> { share(cases) })).collect();
        started.into_iter().flat_map(|thread| thread.join().expect("a worker does not panic")).collect()
    });
    tell(&rows);
}

fn columns<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().fold(String::new(), |line, word| line + &format!("{word:12}")).trim_end().to_owned()
}

/// Prints the table, then fails with everything that differs.
fn tell(rows: &[Row]) {
    let mut report = Report::default();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let mut counts = [0; ENGINES.len()];
    println!("{:width$}  {}", "case", columns(ENGINES.map(|(_, name)| name)));
    for (name, verdicts) in rows {
        report.look();
        let words = verdicts.iter().zip(ENGINES).zip(&mut counts).map(|((verdict, (_, engine)), same)| match verdict {
            Verdict::Same => {
                *same += 1;
                "same"
            }
            Verdict::Cannot(_) => "cannot",
            Verdict::Different(how) => {
                report.fail(name, format!("{engine} prints something else\n{how}"));
                "different"
            }
        });
        println!("{name:width$}  {}", columns(words));
    }
    let reasons = rows.iter().flat_map(|(_, verdicts)| verdicts).filter_map(|verdict| match verdict {
        Verdict::Cannot(why) => Some(*why),
        _ => None,
    });
    for why in reasons.collect::<BTreeSet<_>>() {
        println!("cannot: {why}");
    }
    for ((_, engine), same) in ENGINES.iter().zip(counts) {
        println!("{engine}: {same} of {} the same", rows.len());
    }
    report.end();
}

/// Every example, fresh and observed, with its flavors and without; and a share of the cases.
fn chosen() -> Vec<Case> {
    let all = std::env::var("RENDERERS").is_ok_and(|it| it == "all") || std::env::var_os("CASE").is_some();
    let cases: Vec<_> = case::cases(&mut Vec::new()).into_iter().filter(|case| !case.only_render).collect();
    let named = ALWAYS.into_iter().chain(CANNOT.map(|(name, ..)| name));
    let gone: Vec<_> = named.filter(|name| !cases.iter().any(|case| case.name == *name)).collect();
    assert!(gone.is_empty() || std::env::var_os("CASE").is_some(), "there are no cases called {gone:?}");
    let cases = cases.into_iter().enumerate();
    let cases = cases.filter(|(nth, case)| all || nth % SHARE == 0 || ALWAYS.contains(&case.name.as_str()));
    let examples = case::examples();
    let alone: Vec<_> = examples.iter().filter_map(without_flavors).collect();
    examples.into_iter().chain(alone).chain(cases.map(|(_, case)| case)).collect()
}

/// A fresh example whose flavors nobody has made yet.
fn without_flavors(case: &Case) -> Option<Case> {
    let has = |argument: &str| case.arguments.iter().any(|it| it == argument);
    let mut given = case.arguments.iter();
    let mut arguments = Vec::new();
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "-e" => drop(given.next()),
            _ => arguments.push(argument.clone()),
        }
    }
    let name = format!("{}-alone", case.name);
    (has("flavors.yaml") && !has("--simulate")).then(|| Case { name, arguments, ..case.clone() })
}

/// One case through both engines; nothing for one that is refused before it would reach a cluster.
fn row(case: &Case, tools: &Tools, address: &str) -> Option<Row> {
    let played = play::play(case).ok()?;
    let folder = tempfile::tempdir().expect("a folder for the files");
    let files = Files::write(folder.path(), &played, address);
    let verdicts = ENGINES.map(|(engine, _)| {
        match CANNOT.iter().find(|(name, engines, _)| *name == case.name && engines.contains(&engine)) {
            Some((_, _, why)) => Verdict::Cannot(why),
            None => files.compare(engine, tools, &played),
        }
    });
    Some((case.name.clone(), verdicts))
}

/// The files of a case as the real tools want them: the composite instead of the claim, and one file for `-e`.
struct Files<'a> {
    folder: &'a Path,
    /// The options that both `render` and the real tools understand.
    options: Vec<&'static str>,
}

impl<'a> Files<'a> {
    fn write(folder: &'a Path, played: &Played, address: &str) -> Self {
        let scene = &played.scene;
        let packaged = || {
            let text = include_bytes!("../package/composition.yaml");
            files::parse("composition.yaml", text).expect("the packaged Composition").remove(0)
        };
        let composition = scene.composition.as_ref().map_or_else(packaged, |(document, _)| document.clone()).value;
        let steps = composition.pointer("/spec/pipeline").and_then(Value::as_array).into_iter().flatten();
        let functions: BTreeSet<_> = steps.filter_map(|step| step.pointer("/functionRef/name")?.as_str()).collect();
        let functions: Vec<_> = functions.into_iter().map(|name| function(name, address)).collect();
        let configs: Vec<_> = scene.configs.iter().map(|config| config.value.clone()).collect();
        let observed: Vec<_> = scene.observed.iter().map(|(name, object)| named(name, object)).collect();
        let put = |file: &str, documents: &[Value]| {
            std::fs::write(folder.join(file), print::yaml(documents)).expect("a file can be written");
        };
        put("xr.yaml", std::slice::from_ref(&scene.composite));
        put("composition.yaml", std::slice::from_ref(&composition));
        put("functions.yaml", &functions);
        let mut options = vec!["--include-function-results"];
        for (file, option, documents) in
            [("env.yaml", "--extra-resources", configs), ("observed.yaml", "--observed-resources", observed)]
        {
            if !documents.is_empty() {
                put(file, &documents);
                options.extend([option, file]);
            }
        }
        Self { folder, options }
    }

    fn compare(&self, engine: Engine, tools: &Tools, played: &Played) -> Verdict {
        let mut ours = Command::new(env!("CARGO_BIN_EXE_function-asya"));
        ours.args(["render", "xr.yaml", "--composition", "composition.yaml"]);
        let (ours, theirs) = (self.run(ours), self.run(tools.command(engine)));
        let stderr = String::from_utf8_lossy(&theirs.stderr).into_owned();
        let fatal = played.composition.results.iter().find(|result| result.severity == Severity::Fatal);
        let different = |what: &str| Verdict::Different(format!("{what}\n{stderr}"));
        match fatal {
            None if !ours.status.success() => Verdict::Different(String::from_utf8_lossy(&ours.stderr).into_owned()),
            None if !theirs.status.success() => different("it fails"),
            None => {
                let [ours, theirs] = [(ours, false), (theirs, true)]
                    .map(|(output, real)| print::yaml(&plain(engine, real, played, documents(&output.stdout))));
                let mut report = Report::default();
                report.same("ours and theirs", "differ", &ours, &theirs);
                report.told().map_or(Verdict::Same, Verdict::Different)
            }
            Some(_) if theirs.status.code() != Some(1) || ours.status.code() != Some(1) => {
                different("exit code is not 1")
            }
            Some(_) if !theirs.stdout.is_empty() || !ours.stdout.is_empty() => different("prints despite the refusal"),
            Some(fatal) if !words(&stderr).contains(&words(&fatal.message)) => different("does not tell the problem"),
            Some(_) => Verdict::Same,
        }
    }

    fn run(&self, mut command: Command) -> Output {
        command.args(&self.options).current_dir(self.folder).stdin(Stdio::null()).output().expect("a tool that runs")
    }
}

/// An observed object with a name, as everything that is observed has one: the reconciler finds objects by it.
fn named(resource: &str, object: &Value) -> Value {
    let mut object = object.clone();
    let metadata = object["metadata"].as_object_mut().expect("an annotation names what is observed");
    metadata.entry("name").or_insert_with(|| format!("observed-{resource}").into());
    object
}

/// Tells a renderer that the function is a process that runs already.
fn function(name: &str, address: &str) -> Value {
    json!({
        "apiVersion": "pkg.crossplane.io/v1",
        "kind": "Function",
        "metadata": {"name": name, "annotations": {
            "render.crossplane.io/runtime": "Development",
            "render.crossplane.io/runtime-development-target": address,
        }},
        "spec": {"package": "ghcr.io/deliveryhero/function-asya:v0"},
    })
}

fn documents(yaml: &[u8]) -> Vec<Value> {
    let documents = files::parse("stdout", yaml).unwrap_or_else(|error| panic!("no YAML was printed: {error}"));
    documents.into_iter().map(|document| document.value).collect()
}

/// A text without what wrapping and indenting do to it.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is compared of what was printed, `real` by an engine or else by us.
fn plain(engine: Engine, real: bool, played: &Played, documents: Vec<Value>) -> Vec<Value> {
    let composite = played.scene.composite.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
    let step = format!("Pipeline step \"{}\": ", played.scene.step);
    let kept = documents.into_iter().enumerate().filter_map(|(nth, mut document)| {
        if nth == 0 {
            plain_composite(engine, played.composition.hold, &mut document);
        } else if document["kind"] == "Result" {
            if engine == Engine::Core {
                return plain_result(real, &step, &document);
            }
        } else {
            match engine {
                Engine::Crank120 => plain_labels(&played.scene.composite, &mut document),
                Engine::Crank22 if document.pointer("/metadata/name").is_some() => {
                    remove(&mut document, "/metadata", "generateName");
                }
                Engine::Crank22 => {}
                Engine::Core => plain_resource(composite, &mut document),
            }
        }
        Some(document)
    });
    kept.collect()
}

fn plain_composite(engine: Engine, hold: bool, document: &mut Value) {
    let kind = |condition: &Value| condition["type"].as_str().unwrap_or_default().to_owned();
    if let Some(conditions) = document.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
        match engine {
            Engine::Crank120 if hold => conditions.retain(|condition| kind(condition) != "Ready"),
            Engine::Crank120 | Engine::Crank22 => {}
            Engine::Core => {
                conditions
                    .retain(|condition| kind(condition) == "Ready" || CONDITIONS.contains(&kind(condition).as_str()));
                conditions.sort_by_key(kind);
            }
        }
    }
    if engine == Engine::Core {
        remove(document, "/status", "claimConditionTypes");
        remove(document, "", "spec");
    }
}

fn plain_labels(composite: &Value, document: &mut Value) {
    let labels = [("name", "crossplane.io/claim-name"), ("namespace", "crossplane.io/claim-namespace")];
    let agrees = |(key, label): (&str, &str)| {
        let labelled = composite.pointer("/metadata/labels").and_then(|labels| labels.get(label));
        labelled == composite.pointer("/spec/claimRef").and_then(|claim| claim.get(key))
    };
    if !labels.into_iter().all(agrees) {
        labels.into_iter().for_each(|(_, label)| remove(document, "/metadata/labels", label));
    }
    let of_composite = "crossplane.io/composite";
    if composite.pointer("/metadata/labels").is_some_and(|labels| labels.get(of_composite).is_some()) {
        remove(document, "/metadata/labels", of_composite);
        remove(document, "/metadata", "generateName");
    }
}

fn plain_resource(composite: &str, document: &mut Value) {
    let generated = |name: &str| {
        let (start, end) = name.rsplit_once('-').unwrap_or_default();
        composite.starts_with(start) && end.len() == 12 && end.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if document.pointer("/metadata/name").and_then(Value::as_str).is_some_and(generated) {
        remove(document, "/metadata", "name");
    }
    remove(document, "/metadata", "generateName");
    remove(document, "/metadata/ownerReferences/0", "uid");
}

/// A result of ours in our own form.
fn plain_result(real: bool, prefix: &str, document: &Value) -> Option<Value> {
    let message = document["message"].as_str()?;
    let message = if real { message.strip_prefix(prefix)? } else { message };
    let severity = document["severity"].as_str()?.trim_start_matches("SEVERITY_").to_uppercase();
    Some(json!({"message": message, "severity": severity}))
}

fn remove(document: &mut Value, pointer: &str, key: &str) {
    if let Some(map) = document.pointer_mut(pointer).and_then(Value::as_object_mut) {
        map.remove(key);
    }
}
