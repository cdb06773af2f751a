//! What the files hold, sorted by what it is; each object once.

use serde_json::Value;

use super::{name, report};
use crate::cli::claim::{is_actor, kind, metadata_texts};
use crate::cli::files::Document;
use crate::cli::stop::Stop;
use crate::inputs::EnvironmentConfig;
use crate::lint::{Flavor, Level};
use crate::path::Path;
use crate::problem::{Problem, Source};

/// One message on stderr. The order is that of its place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// The file; empty where no file is to blame.
    pub file: String,
    /// The line.
    pub line: usize,
    /// How grave it is.
    pub level: Level,
    /// The message, lines and all.
    pub text: String,
}

/// The objects of all files.
pub struct Heap {
    /// Actors in the order of the files.
    pub actors: Vec<Document>,
    /// EnvironmentConfigs, each name once; those of FILES first.
    pub configs: Vec<Document>,
    /// How many of them came with `-e`: the last ones.
    guests: usize,
    /// The name of the platform settings.
    settings: Option<String>,
    /// How many flavors there are.
    pub flavors: usize,
    /// What sorting found.
    pub messages: Vec<Message>,
}

/// An EnvironmentConfig and what it is here.
pub struct Config {
    /// Itself.
    pub config: EnvironmentConfig,
    /// It holds the platform settings.
    pub is_settings: bool,
    /// It came with `-e`.
    pub is_guest: bool,
}

impl Config {
    /// The flavor it is, unless it holds the settings.
    pub fn flavor(&self) -> Option<Flavor<'_>> {
        (!self.is_settings).then_some(Flavor { config: &self.config, is_guest: self.is_guest })
    }
}

impl Heap {
    /// Sorts what was read; `settings` is the name of the EnvironmentConfig with the platform settings.
    ///
    /// # Errors
    /// [`Stop`] if there is nothing to look at, or an EnvironmentConfig has no name.
    pub fn sort(own: Vec<Document>, others: Vec<Document>, settings: Option<&str>) -> Result<Self, Stop> {
        let mut heap = Self {
            actors: Vec::new(),
            configs: Vec::new(),
            guests: 0,
            settings: settings.map(str::to_owned),
            flavors: 0,
            messages: Vec::new(),
        };
        for document in own {
            if is_actor(&document.value) {
                heap.take_actor(document);
            } else {
                heap.take_config(document)?;
            }
        }
        if heap.actors.is_empty() && heap.configs.is_empty() {
            let what = "error: the files hold neither an AsyncActor nor an EnvironmentConfig";
            return Err(Stop::unreadable(format!("{what}\n  hint: name the files that do\n")));
        }
        let before = heap.configs.len();
        for document in others {
            heap.take_config(document)?;
        }
        heap.guests = heap.configs.len() - before;
        heap.flavors = heap.configs.iter().filter(|config| Some(name(&config.value)) != settings).count();
        Ok(heap)
    }

    /// An actor, unless the same file was named twice.
    fn take_actor(&mut self, document: Document) {
        let same = |other: &Document| (&other.file, other.line) == (&document.file, document.line);
        if !self.actors.iter().any(same) {
            self.actors.push(document);
        }
    }

    fn take_config(&mut self, document: Document) -> Result<(), Stop> {
        if kind(&document.value) != ("apiextensions.crossplane.io", "EnvironmentConfig") {
            self.skip(&document);
            return Ok(());
        }
        let called = name(&document.value);
        if called.is_empty() {
            return Err(Stop::unusable(&document, "an EnvironmentConfig without a name", "set `metadata.name`"));
        }
        match self.configs.iter().find(|other| name(&other.value) == called) {
            None => self.add(document),
            Some(other) if other.value == document.value => {}
            Some(other) => {
                let note = format!("the other one is at {}:{}", other.file, other.line);
                let what = format!("EnvironmentConfig `{called}` is there twice, with different content");
                let problem = Problem::value(Path::root(), Source::Nobody, what).note(note).hint("keep one of the two");
                self.tell(&document, &problem);
            }
        }
        Ok(())
    }

    fn add(&mut self, mut document: Document) {
        for problem in metadata_texts(&document.value, &Source::Nobody) {
            self.tell(&document, &problem);
        }
        leave_texts(&mut document.value);
        self.configs.push(document);
    }

    /// Tells a problem with a document's metadata, or with the document as a whole.
    fn tell(&mut self, document: &Document, problem: &Problem) {
        let line = document.line_of(&problem.path);
        let text = report::message("error", problem, Some((&document.file, line)));
        self.messages.push(Message { file: document.file.clone(), line, level: Level::Problem, text });
    }

    fn skip(&mut self, document: &Document) {
        let (_, kind) = kind(&document.value);
        let kind = if kind.is_empty() { "an object without a kind" } else { kind };
        let what = format!("{kind} is neither actor, flavor nor platform settings, skipped");
        let text = format!("note: {}:{}: {what}\n", document.file, document.line);
        self.messages.push(Message { file: document.file.clone(), line: document.line, level: Level::Note, text });
    }

    /// The EnvironmentConfigs as the core reads them.
    pub fn environment(&self) -> Vec<Config> {
        let own = self.configs.len() - self.guests;
        let configs = self.configs.iter().enumerate();
        configs
            .map(|(index, document)| Config {
                config: EnvironmentConfig::of_tree(&document.value).unwrap_or_default(),
                is_settings: Some(name(&document.value)) == self.settings.as_deref(),
                is_guest: index >= own,
            })
            .collect()
    }
}

/// Takes out labels and annotations that are no texts: they were told, and would hide the rest of the object.
fn leave_texts(value: &mut Value) {
    for key in ["/metadata/labels", "/metadata/annotations"] {
        match value.pointer_mut(key) {
            Some(Value::Object(map)) => map.retain(|_, text| text.is_string()),
            Some(other) => *other = Value::Null,
            None => {}
        }
    }
}
