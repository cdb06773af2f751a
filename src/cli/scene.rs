//! From files to [`Inputs`]: the actor, its flavors and settings, what is observed, and the Composition's step.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::claim::{composite, is_actor, kind, metadata_texts, namespace_clash};
use super::files::{self, Document, Stdin};
use super::report::Files;
use super::step::OurStep;
use super::stop::Stop;
use crate::api::{Object, Queue};
use crate::composed::{Composition, Step};
use crate::inputs::{Composite, EnvironmentConfig, Inputs, Observed, PLATFORM_KEY};
use crate::path::Path;
use crate::pipeline::compose;
use crate::platform;
use crate::problem::{Problem, Source};
use crate::resources;
use crate::tree;
use crate::wire::{ReadError, to_struct};

/// The annotation that names a composed resource.
pub const RESOURCE_NAME: &str = "crossplane.io/composition-resource-name";

/// The files of one call.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The AsyncActor claim or XAsyncActor: a file, or `-` for standard input
    #[arg(value_name = "ACTOR")]
    pub actor: PathBuf,
    /// Flavors and platform settings (EnvironmentConfigs): files, directories or `-`
    #[arg(short = 'e', long = "required-resources", visible_alias = "extra-resources", value_name = "FILE", num_args = 1..)]
    pub environment: Vec<PathBuf>,
    /// Observed composed resources: files, directories or `-`
    #[arg(short = 'o', long = "observed-resources", value_name = "FILE", num_args = 1..)]
    pub observed: Vec<PathBuf>,
    /// The namespace, for an actor whose file names none
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// The Composition whose step's input holds; the packaged one unless given
    #[arg(long, value_name = "FILE")]
    pub composition: Option<PathBuf>,
}

/// Everything that was read.
#[derive(Clone)]
pub struct Scene {
    /// The actor as its file has it.
    pub actor: Document,
    /// The composite as Crossplane would make it.
    pub composite: Value,
    /// The EnvironmentConfigs.
    pub configs: Vec<Document>,
    /// Observed composed resources by name.
    pub observed: BTreeMap<String, Value>,
    /// The Composition that was named, with the path of our step's input.
    pub composition: Option<(Document, Path)>,
    /// The name of our step.
    pub step: String,
    /// Our step's input.
    pub input: Option<Value>,
    /// What was skipped, and other remarks.
    pub notes: Vec<String>,
    /// What is wrong with the files though they could be read.
    pub problems: Vec<Problem>,
    /// Only what is wrong or doubtful is wanted.
    pub only_checks: bool,
    /// The actor's metadata are not what metadata are, so nothing more can be said of it.
    pub is_unreadable: bool,
}

impl Scene {
    /// Reads all files.
    ///
    /// # Errors
    /// [`Stop`] with everything that cannot be read as what it should be.
    pub fn read(arguments: &Arguments, stdin: &mut dyn Read) -> Result<Self, Stop> {
        let mut stdin = Stdin::new(stdin);
        let actor = files::read(std::slice::from_ref(&arguments.actor), &mut stdin);
        let environment = files::read(&arguments.environment, &mut stdin);
        let observed = files::read(&arguments.observed, &mut stdin);
        let composition = arguments.composition.as_ref();
        let composition = composition.map(|file| files::read(std::slice::from_ref(file), &mut stdin));
        let failures = [actor.as_ref().err(), environment.as_ref().err(), observed.as_ref().err()];
        let failures = failures.into_iter().chain([composition.as_ref().and_then(|read| read.as_ref().err())]);
        let text: String = failures.flatten().map(|failure| format!("{failure}\n")).collect();
        let (Ok(actor), Ok(environment), Ok(observed)) = (actor, environment, observed) else {
            return Err(Stop::unreadable(text));
        };
        let composition = composition.transpose().map_err(|_| Stop::unreadable(text))?;
        let (actor, others) = the_actor(actor, arguments)?;
        let mut scene = Self::of_actor(actor, arguments.namespace.as_deref());
        scene.notes.extend(others.iter().map(|other| {
            let (_, kind) = kind(&other.value);
            format!(
                "note: {}:{}: {kind} stands beside the actor and is skipped; give it with -e or -o",
                other.file, other.line
            )
        }));
        scene.take_configs(environment)?;
        scene.take_observed(observed)?;
        scene.take_composition(composition)?;
        scene.check_configs();
        Ok(scene)
    }

    /// A scene that holds an actor and nothing else, with the packaged Composition.
    pub fn of_actor(actor: Document, namespace: Option<&str>) -> Self {
        let mut problems = metadata_texts(&actor.value, &Source::Actor);
        let is_unreadable = !problems.is_empty();
        problems.extend(namespace_clash(&actor.value, namespace));
        let composite = composite(&actor.value, namespace);
        Self {
            actor,
            composite,
            configs: Vec::new(),
            observed: BTreeMap::new(),
            composition: None,
            step: String::new(),
            input: None,
            notes: Vec::new(),
            problems,
            only_checks: false,
            is_unreadable,
        }
    }

    /// Takes the EnvironmentConfigs among `documents`; other kinds are skipped with a note.
    fn take_configs(&mut self, documents: Vec<Document>) -> Result<(), Stop> {
        for document in documents {
            if kind(&document.value) == ("apiextensions.crossplane.io", "EnvironmentConfig") {
                let name = document.value.pointer("/metadata/name").and_then(Value::as_str);
                if name.is_none_or(str::is_empty) {
                    return Err(Stop::unusable(
                        &document,
                        "an EnvironmentConfig without a name",
                        "set `metadata.name`",
                    ));
                }
                self.configs.push(document);
            } else {
                self.notes.push(skipped(&document));
            }
        }
        Ok(())
    }

    /// Tells of EnvironmentConfigs whose metadata are not what metadata are.
    fn check_configs(&mut self) {
        let settings = self.input.as_ref().and_then(|input| input.get("environmentConfig")?.as_str());
        for config in &self.configs {
            let name = config.value.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
            let source = match settings == Some(name) {
                true => Source::Platform(name.to_owned()),
                false => Source::Flavor(name.to_owned()),
            };
            let problems = metadata_texts(&config.value, &source);
            self.is_unreadable |= !problems.is_empty();
            self.problems.extend(problems);
        }
    }

    fn take_observed(&mut self, documents: Vec<Document>) -> Result<(), Stop> {
        for document in documents {
            let annotations = document.value.pointer("/metadata/annotations");
            let name = annotations.and_then(|annotations| annotations.get(RESOURCE_NAME)?.as_str());
            let Some(name) = name.map(str::to_owned) else {
                let what = format!("an observed object without the annotation {RESOURCE_NAME}");
                return Err(Stop::unusable(
                    &document,
                    &what,
                    "set it to the composed resource's name, such as `sqs-queue`",
                ));
            };
            if !resources::is_ours(&name) {
                self.notes.push(format!(
                    "note: {}:{}: `{name}` is no resource of ours, skipped",
                    document.file, document.line
                ));
                continue;
            }
            let what = format!("a second observed object called `{name}`");
            match self.observed.entry(name) {
                Entry::Occupied(_) => return Err(Stop::unusable(&document, &what, "keep one of the two")),
                Entry::Vacant(place) => drop(place.insert(document.value)),
            }
        }
        Ok(())
    }

    fn take_composition(&mut self, documents: Option<Vec<Document>>) -> Result<(), Stop> {
        self.take_step(OurStep::read(documents)?);
        Ok(())
    }

    /// Takes our step of a Composition.
    pub fn take_step(&mut self, step: OurStep) {
        (self.step, self.input, self.composition) = (step.name, step.input, step.composition);
    }

    /// Where problems may point.
    pub fn files(&self) -> Files<'_> {
        let composition = self.composition.as_ref().map(|(document, path)| (document, path.clone()));
        Files { actor: Some(&self.actor), composition, configs: &self.configs }
    }

    /// Answers as Crossplane would have it: asks, looks the answers up among the files, asks again.
    ///
    /// # Errors
    /// [`Stop`] if an observed object is not what its name says.
    pub fn answer(&self) -> Result<Composition, Stop> {
        Ok(self.asked()?.1)
    }

    /// The same, with everything that was asked for.
    ///
    /// # Errors
    /// As for [`Scene::answer`].
    pub fn asked(&self) -> Result<(Inputs, Composition), Stop> {
        self.asked_of(&|name| self.configs_called(name))
    }

    /// The same with other EnvironmentConfigs than ours, looked up by name.
    ///
    /// # Errors
    /// As for [`Scene::answer`], and what `lookup` says.
    pub fn asked_of(
        &self,
        lookup: &dyn Fn(&str) -> Result<Vec<EnvironmentConfig>, Stop>,
    ) -> Result<(Inputs, Composition), Stop> {
        let mut inputs = self.inputs()?;
        loop {
            match compose(&inputs) {
                Step::Answer(composition) => return Ok((inputs, *composition)),
                Step::Ask(requirements) => {
                    for (key, name) in requirements {
                        inputs.required.insert(key, lookup(&name)?);
                    }
                }
            }
        }
    }

    /// The AWS account that the platform settings name.
    ///
    /// # Errors
    /// [`Stop`] if an observed object is not what its name says.
    pub fn account(&self) -> Result<Option<String>, Stop> {
        let mut inputs = self.inputs()?;
        if let Some(name) = platform::config_name(&inputs).map(str::to_owned) {
            inputs.required.insert(PLATFORM_KEY.to_owned(), self.configs_called(&name)?);
        }
        let account = platform::settle(&inputs).ok().map(|platform| platform.aws_account_id.clone());
        Ok(account.filter(|account| !account.is_empty()))
    }

    fn inputs(&self) -> Result<Inputs, Stop> {
        let mut observed = Observed::default();
        for (name, object) in &self.observed {
            let wrong = |error: ReadError| {
                Stop::unreadable(format!(
                    "error: observed resource `{name}` cannot be read: {error}\n  hint: `kubectl get -o yaml` prints what is expected\n"
                ))
            };
            let object = to_struct(&tree::rounded(object)).map_err(wrong)?;
            if name == crate::transport::sqs::QUEUE {
                observed.queue = Some(Queue::read(&object).map_err(wrong)?);
            } else {
                observed.objects.insert(name.clone(), Object::read(&object).map_err(wrong)?);
            }
        }
        let composite = Composite::of_tree(&self.composite).map_err(|error| {
            Stop::unreadable(format!("error: {}: the actor cannot be read: {error}\n", self.actor.file))
        })?;
        let (input, only_checks) = (self.input.clone().map(Arc::new), self.only_checks);
        Ok(Inputs { composite, input, observed, only_checks, strict: true, ..Inputs::default() })
    }

    fn configs_called(&self, name: &str) -> Result<Vec<EnvironmentConfig>, Stop> {
        let called = |config: &&Document| config.value.pointer("/metadata/name").and_then(Value::as_str) == Some(name);
        self.configs.iter().filter(called).map(read_config).collect()
    }
}

/// Reads an EnvironmentConfig.
///
/// # Errors
/// [`Stop`] if it cannot be read.
pub fn read_config(config: &Document) -> Result<EnvironmentConfig, Stop> {
    EnvironmentConfig::of_tree(&config.value).map_err(|error| {
        let what = format!("an EnvironmentConfig that cannot be read: {error}");
        Stop::unusable(config, &what, "compare it with the examples")
    })
}

/// The one actor of the actor's file, and what stands beside it.
fn the_actor(documents: Vec<Document>, arguments: &Arguments) -> Result<(Document, Vec<Document>), Stop> {
    let (mut actors, others): (Vec<_>, Vec<_>) = documents.into_iter().partition(|document| is_actor(&document.value));
    let file = if arguments.actor.as_os_str() == "-" {
        "standard input".to_owned()
    } else {
        arguments.actor.display().to_string()
    };
    match (actors.len(), others.first()) {
        (1, _) => Ok((actors.remove(0), others)),
        (0, Some(other)) => {
            let text = |key: &str| other.value.get(key).and_then(Value::as_str).unwrap_or("(none)");
            let what = format!("holds no AsyncActor of asya.sh, but kind {} of {}", text("kind"), text("apiVersion"));
            Err(Stop::unusable(
                other,
                &what,
                "the first argument is the actor; flavors and settings go to -e, observed resources to -o",
            ))
        }
        (0, None) => Err(Stop::unreadable(format!(
            "error: {file}: holds no AsyncActor\n  hint: give a file with one AsyncActor or XAsyncActor\n"
        ))),
        (count, _) => {
            let what = format!("holds {count} actors; one is rendered at a time");
            Err(Stop::unusable(&actors[1], &what, "put each actor into a file of its own"))
        }
    }
}

/// A remark that a document was not read.
pub fn skipped(document: &Document) -> String {
    let (_, kind) = kind(&document.value);
    let kind = if kind.is_empty() { "an object without a kind" } else { kind };
    format!("note: {}:{}: {kind} is neither flavor nor platform settings, skipped", document.file, document.line)
}
