//! Messages on stderr: what is wrong, in which file and line, and what to do.

use std::fmt::Write as _;

use super::files::Document;
use crate::path::Path;
use crate::problem::{Problem, Source};

/// The files that problems may point into.
#[derive(Default)]
pub struct Files<'a> {
    /// The actor's.
    pub actor: Option<&'a Document>,
    /// The Composition that was named, and the path of our step in it.
    pub composition: Option<(&'a Document, Path)>,
    /// The EnvironmentConfigs.
    pub configs: &'a [Document],
}

impl Files<'_> {
    /// The problems as `error:` messages, one after another.
    pub fn errors<'p>(&self, problems: impl IntoIterator<Item = &'p Problem>) -> String {
        problems.into_iter().map(|problem| self.message("error", problem)).collect()
    }

    /// The same as `warning:` messages.
    pub fn warnings<'p>(&self, problems: impl IntoIterator<Item = &'p Problem>) -> String {
        problems.into_iter().map(|problem| self.message("warning", problem)).collect()
    }

    fn message(&self, level: &str, problem: &Problem) -> String {
        message(level, problem, self.locate(problem))
    }

    /// The file and line of what a problem speaks of.
    pub fn locate(&self, problem: &Problem) -> Option<(&str, usize)> {
        let found = |document: &'_ Document, path: &Path| document.line_of(path);
        match &problem.source {
            Source::Actor | Source::Nobody if !problem.path.steps().is_empty() => {
                self.actor.map(|actor| (actor.file.as_str(), found(actor, &problem.path)))
            }
            Source::Flavor(name) | Source::Platform(name) if problem.path.first_key() == Some("metadata") => {
                let config = self.config(name)?;
                Some((&config.file, found(config, &problem.path)))
            }
            Source::Flavor(name) => {
                let config = self.config(name)?;
                let path = match problem.path.first_key() {
                    Some("metadata") => problem.path.clone(),
                    _ => problem.path.tail().below(&Path::keys("data")),
                };
                Some((&config.file, found(config, &path)))
            }
            Source::Platform(name) => {
                let config = self.config(name)?;
                Some((&config.file, found(config, &problem.path.below(&Path::keys("data")))))
            }
            Source::Input => {
                let (composition, step) = self.composition.as_ref()?;
                Some((&composition.file, found(composition, &problem.path.below(step))))
            }
            _ => None,
        }
    }

    fn config(&self, name: &str) -> Option<&Document> {
        self.configs
            .iter()
            .find(|config| config.value.pointer("/metadata/name").and_then(|name| name.as_str()) == Some(name))
    }
}

/// One problem with its place, its notes and its hint, each on a line of its own.
pub fn message(level: &str, problem: &Problem, place: Option<(&str, usize)>) -> String {
    let mut text = format!("{level}: {}\n", problem.headline());
    if let Some((file, line)) = place {
        let _ = writeln!(text, "  --> {file}:{line}");
    }
    for note in &problem.notes {
        let _ = writeln!(text, "  {note}");
    }
    if let Some(hint) = &problem.hint {
        let _ = writeln!(text, "  hint: {hint}");
    }
    text
}
