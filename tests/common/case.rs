//! Folders of files that make a case: those of `tests/cases`, and the stories of `examples`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use function_asya::cli::claim::kind;
use function_asya::cli::files;

/// The files a case may have, besides those its `flags` name; each input is passed as its option says.
const INPUTS: [(&str, &str); 5] = [
    ("actor.yaml", ""),
    ("flavors.yaml", "-e"),
    ("platform.yaml", "-e"),
    ("composition.yaml", "--composition"),
    ("observed.yaml", "-o"),
];

/// One call of `render`, and what it is expected to say.
#[derive(Clone, Debug)]
pub struct Case {
    /// The folder's name, and for an example the actor and how it is rendered.
    pub name: String,
    /// Where the files are; commands run here.
    pub folder: PathBuf,
    /// What stands behind `render` on the command line.
    pub arguments: Vec<String>,
    /// The case is about the command line alone.
    pub only_render: bool,
    /// The files of `expected/` with their texts.
    pub expected: BTreeMap<String, String>,
}

/// The project's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The cases of `tests/cases`, or those that `CASE` names in part; what is wrong with a folder goes to `wrong`.
pub fn cases(wrong: &mut Vec<String>) -> Vec<Case> {
    let folders = folders(&root().join("tests/cases"));
    wanted(folders.into_iter().map(|folder| case(folder, wrong)).collect())
}

/// Every actor of every story, as it is and with `--simulate ready`, or those that `CASE` names in part.
pub fn examples() -> Vec<Case> {
    wanted(folders(&root().join("examples")).into_iter().flat_map(|folder| story(&folder)).collect())
}

/// Cases and examples together.
pub fn all() -> Vec<Case> {
    cases(&mut Vec::new()).into_iter().chain(examples()).collect()
}

fn wanted(mut cases: Vec<Case>) -> Vec<Case> {
    if let Ok(part) = std::env::var("CASE") {
        cases.retain(|case| case.name.contains(&part));
    }
    cases
}

fn case(folder: PathBuf, wrong: &mut Vec<String>) -> Case {
    let name = name_of(&folder);
    let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
    let (flags, only) = (read("flags").unwrap_or_default(), read("only"));
    if only.as_deref().is_some_and(|only| only.trim() != "render") {
        wrong.push(format!("{name}: the file `only` says `render` or does not exist"));
    }
    let mut arguments = Vec::new();
    for (file, option) in INPUTS {
        if file == "actor.yaml" || folder.join(file).exists() {
            arguments.extend((!option.is_empty()).then(|| option.to_owned()));
            arguments.push(file.to_owned());
        }
    }
    arguments.extend(flags.split_whitespace().map(str::to_owned));
    let known =
        |file: &str| ["flags", "only", "expected"].contains(&file) || arguments.iter().any(|argument| argument == file);
    for file in entries(&folder).iter().map(|path| name_of(path)).filter(|file| !known(file)) {
        wrong.push(format!("{name}: nobody reads the file `{file}`"));
    }
    let texts = entries(&folder.join("expected")).into_iter();
    let expected = texts.map(|path| (name_of(&path), fs::read_to_string(&path).unwrap_or_default())).collect();
    Case { name, folder, arguments, only_render: only.is_some(), expected }
}

/// The actors of a story: claims and composites alike.
fn story(folder: &Path) -> Vec<Case> {
    let files: Vec<_> =
        entries(folder).into_iter().filter(|path| path.extension().is_some_and(|it| it == "yaml")).collect();
    let holds = |path: &Path, wanted: &str| {
        let documents = files::read(&[path.to_owned()], &mut files::Stdin::new(&mut std::io::empty()))
            .unwrap_or_else(|error| panic!("{error}"));
        documents.iter().any(|document| kind(&document.value).1 == wanted)
    };
    let mut common = Vec::new();
    for config in files.iter().filter(|path| holds(path, "EnvironmentConfig")) {
        common.extend(["-e".to_owned(), name_of(config)]);
    }
    if folder.join("observed.yaml").exists() {
        common.extend(["-o".to_owned(), "observed.yaml".to_owned()]);
    }
    let actors = files.iter().filter(|path| holds(path, "AsyncActor") || holds(path, "XAsyncActor"));
    let ends = [("", &[][..]), ("-ready", &["--simulate", "ready"][..])];
    let both = actors.flat_map(|actor| ends.map(|end| (name_of(actor), end)));
    both.map(|(actor, (suffix, flags))| Case {
        name: format!("examples/{}/{}{suffix}", name_of(folder), actor.trim_end_matches(".yaml")),
        folder: folder.to_owned(),
        arguments: std::iter::once(actor)
            .chain(common.clone())
            .chain(flags.iter().map(|&flag| flag.to_owned()))
            .collect(),
        only_render: false,
        expected: BTreeMap::new(),
    })
    .collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

/// What a folder holds, sorted; nothing if there is no such folder.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}

/// The last part of a path.
pub fn name_of(path: &Path) -> String {
    path.file_name().and_then(|name| name.to_str()).expect("a name in UTF-8").to_owned()
}
