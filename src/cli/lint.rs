//! `lint`: everything wrong with actors, flavors and platform settings before they reach a cluster.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::Value;

use super::claim;
use super::files::{self, Document, ReadFailure};
use super::report::{self, Files};
use super::scene::{Scene, read_config};
use super::step::OurStep;
use super::stop::{FINE, REFUSED, Stop};
use crate::inputs::EnvironmentConfig;
use crate::lint::{self, Actor, Finding, Flavor, Level};
use crate::parallel;
use crate::problem::{Problem, Source};

mod heap;

use heap::{Config, Heap, Message};

/// Finds everything wrong with actors, flavors and platform settings before they reach a cluster
#[derive(Clone, Debug, clap::Args)]
pub struct Lint {
    /// Actors and EnvironmentConfigs, any number of them: files, directories or `-`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Flavors and platform settings of others, which need not be used here: files, directories or `-`
    #[arg(short = 'e', long = "required-resources", visible_alias = "extra-resources", value_name = "FILE", num_args = 1..)]
    environment: Vec<PathBuf>,
    /// The namespace, for actors whose files name none
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// The Composition whose step's input holds; the packaged one unless given
    #[arg(long, value_name = "FILE")]
    composition: Option<PathBuf>,
    /// Count warnings as problems
    #[arg(long)]
    strict: bool,
}

impl Lint {
    /// Runs the command; the exit code tells how it went.
    ///
    /// # Errors
    /// [`Stop`] if an input cannot be read, or stderr cannot be written.
    pub fn run(&self, stdin: &mut dyn Read, stderr: &mut dyn Write) -> Result<u8, Stop> {
        let (heap, step) = self.read(stdin)?;
        let messages = self.look(heap, &step)?;
        let failed = |error: io::Error| Stop::unreadable(format!("error: cannot write: {error}\n"));
        write!(stderr, "{messages}").map_err(failed)?;
        let count = |level| messages.count(level);
        let refused = count(Level::Problem) > 0 || self.strict && count(Level::Warning) > 0;
        Ok(if refused { REFUSED } else { FINE })
    }

    /// Reads all files.
    fn read(&self, stdin: &mut dyn Read) -> Result<(Heap, OurStep), Stop> {
        let mut stdin = files::Stdin::new(stdin);
        let own = files::read(&self.files, &mut stdin);
        let others = files::read(&self.environment, &mut stdin);
        let composition = self.composition.as_ref();
        let composition = composition.map(|file| files::read(std::slice::from_ref(file), &mut stdin));
        let failures = [own.as_ref().err(), others.as_ref().err(), composition.as_ref().and_then(|c| c.as_ref().err())];
        let text: String = failures.into_iter().flatten().map(|failure| format!("{failure}\n")).collect();
        let unreadable = |_: ReadFailure| Stop::unreadable(text.clone());
        let (own, others) = (own.map_err(unreadable)?, others.map_err(unreadable)?);
        let step = OurStep::read(composition.transpose().map_err(unreadable)?)?;
        let config = step.input.as_ref().and_then(|input| input.get("environmentConfig")?.as_str());
        let heap = Heap::sort(own, others, config)?;
        Ok((heap, step))
    }

    /// Looks at everything that was read.
    fn look(&self, mut heap: Heap, step: &OurStep) -> Result<Messages, Stop> {
        let mut told = std::mem::take(&mut heap.messages);
        let (count, flavors) = (heap.actors.len(), heap.flavors);
        let (actors, documents) = self.answers(&mut heap, step, &mut told)?;
        let configs = heap.environment();
        let lot: Vec<Flavor<'_>> = configs.iter().filter_map(Config::flavor).collect();
        let settings = configs.iter().find(|config| config.is_settings).map(|config| &config.config);
        let found = lint::lint(&actors, &lot, step.input.as_ref(), settings);
        told.extend(found.iter().map(|finding| located(finding, &documents, &heap.configs, step)));
        told.sort();
        told.dedup();
        drop(lot);
        // Nothing but the end of the process comes after this, and to take apart all that was read would take a while.
        std::mem::forget((actors, documents, configs, heap));
        Ok(Messages { actors: count, flavors, told })
    }

    /// What each actor that can be read is answered, and its document.
    fn answers(
        &self,
        heap: &mut Heap,
        step: &OurStep,
        messages: &mut Vec<Message>,
    ) -> Result<(Vec<Actor>, Vec<Document>), Stop> {
        let actors = std::mem::take(&mut heap.actors);
        let known = Known::new(&heap.configs);
        let answers = parallel::map(actors, |document| {
            let is_claim = claim::kind(&document.value).1 == "AsyncActor";
            let mut scene = Scene::of_actor(document, self.namespace.as_deref());
            scene.take_step(step.clone());
            scene.only_checks = true;
            let told = scene.problems.iter().map(|problem| told(Level::Problem, problem, &scene.files())).collect();
            let actor = (!scene.is_unreadable).then(|| {
                let (inputs, composition) = scene.asked_of(&|name| known.called(name))?;
                Ok(Actor { inputs, composition, is_claim })
            });
            Answer { told, actor, document: scene.actor }
        });
        let (mut actors, mut documents) = (Vec::new(), Vec::new());
        for Answer { told, actor, document } in answers {
            messages.extend(told);
            if let Some(actor) = actor {
                actors.push(actor?);
                documents.push(document);
            }
        }
        Ok((actors, documents))
    }
}

/// What there is to say of an actor, and what it is answered: nothing if it cannot be read.
struct Answer {
    told: Vec<Message>,
    actor: Option<Result<Actor, Stop>>,
    document: Document,
}

/// EnvironmentConfigs by name, each read once, when the first actor asks for it.
struct Known<'a>(BTreeMap<&'a str, (&'a Document, OnceLock<EnvironmentConfig>)>);

impl<'a> Known<'a> {
    fn new(configs: &'a [Document]) -> Self {
        Self(configs.iter().map(|config| (name(&config.value), (config, OnceLock::new()))).collect())
    }

    fn called(&self, name: &str) -> Result<Vec<EnvironmentConfig>, Stop> {
        let Some((document, read)) = self.0.get(name) else { return Ok(Vec::new()) };
        let config = match read.get() {
            Some(config) => config.clone(),
            None => read_config(document).map(|config| read.get_or_init(|| config).clone())?,
        };
        Ok(vec![config])
    }
}

/// A finding with its place, and those of the actors that take part in it.
fn located(finding: &Finding, actors: &[Document], configs: &[Document], step: &OurStep) -> Message {
    let actor = finding.actor.map(|index| &actors[index]);
    let composition = step.composition.as_ref().map(|(document, path)| (document, path.clone()));
    let files = Files { actor, composition, configs };
    let mut problem = finding.problem.clone();
    if let Some(other) = finding.other.map(|other| &actors[other]) {
        problem = problem.note(format!("the other one is at {}:{}", other.file, other.line));
    }
    if let (Some(actor), Source::Flavor(_)) = (actor, &problem.source) {
        problem = problem.note(format!("it shows with the actor at {}:{}", actor.file, actor.line));
    }
    told(finding.level, &problem, &files)
}

/// A message at the place it speaks of, or at its actor's first line.
fn told(level: Level, problem: &Problem, files: &Files<'_>) -> Message {
    let place = files.locate(problem).or_else(|| files.actor.map(|actor| (actor.file.as_str(), actor.line)));
    let (file, line) = place.map_or((String::new(), 0), |(file, line)| (file.to_owned(), line));
    Message { file, line, level, text: report::message(word(level), problem, place) }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Problem => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

/// Everything there is to say, and what it is about.
struct Messages {
    actors: usize,
    flavors: usize,
    told: Vec<Message>,
}

impl Messages {
    fn count(&self, level: Level) -> usize {
        self.told.iter().filter(|message| message.level == level).count()
    }
}

/// The messages in order of place, then one line that counts them.
impl std::fmt::Display for Messages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for message in &self.told {
            f.write_str(&message.text)?;
        }
        let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (problems, warnings) = (self.count(Level::Problem), self.count(Level::Warning));
        writeln!(
            f,
            "{}, {}: {}, {}",
            many(self.actors, "actor"),
            many(self.flavors, "flavor"),
            many(problems, "problem"),
            many(warnings, "warning")
        )
    }
}

/// The name of an object.
fn name(value: &Value) -> &str {
    value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}
