//! What is wrong, where, who set it and what to do: every message a person gets has this one shape.

use std::fmt;

use crate::path::Path;

/// Who brought a value. The order is the order of rank: a later one wins over an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Nobody in particular: something is missing, or the request itself is at fault.
    Nobody,
    /// The defaults that are built in.
    Default,
    /// The EnvironmentConfig of this name, listed in the actor's `spec.flavors`.
    Flavor(String),
    /// The actor itself.
    Actor,
    /// The `input` of the Composition's step.
    Input,
    /// The EnvironmentConfig of this name, which holds the platform settings.
    Platform(String),
    /// The observed composed resource of this name.
    Observed(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Nobody => f.write_str("nobody"),
            Source::Default => f.write_str("the built-in defaults"),
            Source::Flavor(name) => write!(f, "flavor `{name}`"),
            Source::Actor => f.write_str("the actor"),
            Source::Input => f.write_str("the step's input"),
            Source::Platform(name) => write!(f, "EnvironmentConfig `{name}`"),
            Source::Observed(name) => write!(f, "observed resource `{name}`"),
        }
    }
}

/// What kind of trouble a problem is; decides which condition turns False, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Two flavors disagree: FlavorsResolved=False/FlavorConflict.
    Conflict,
    /// A listed flavor does not exist: FlavorsResolved=False/FlavorNotFound.
    Missing,
    /// The platform settings cannot be used: SpecAccepted=False/InvalidPlatform.
    Platform,
    /// A value breaks a rule. Which condition tells depends on the source: a flavor's is FlavorsResolved=False/FlavorInvalid, any other SpecAccepted=False/InvalidSpec.
    Value,
    /// A queue URL that was known is gone: TransportReady=False.
    Transport,
}

/// One thing that is wrong, or (in [`Warning`](crate::composed)) merely doubtful.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of trouble this is.
    pub kind: Kind,
    /// Where: below `spec` for the actor and flavors, below the settings' root for the platform.
    pub path: Path,
    /// Who brought the value.
    pub source: Source,
    /// What is wrong: lower case, no full stop, one line.
    pub what: String,
    /// Further lines, such as the two values of a conflict. Never a secret.
    pub notes: Vec<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A value at `path`, brought by `source`, that breaks a rule.
    pub fn value(path: Path, source: Source, what: impl Into<String>) -> Self {
        Self { kind: Kind::Value, path, source, what: what.into(), notes: Vec::new(), hint: None }
    }

    /// The same problem as one of another kind.
    #[must_use]
    pub fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The same problem with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same problem with one line more below it.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The first line: where, what, and who brought it.
    pub fn headline(&self) -> String {
        let mut line = String::new();
        let whole_sentence = matches!(self.kind, Kind::Conflict | Kind::Missing);
        if !whole_sentence && !self.path.steps().is_empty() {
            line.push_str(&format!("{}: ", self.path));
        }
        line.push_str(&self.what);
        if !whole_sentence && self.source != Source::Nobody {
            line.push_str(&format!(" (from {})", self.source));
        }
        line
    }
}

/// The headline, then the notes and the hint, each on an indented line of its own.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        for note in &self.notes {
            write!(f, "\n  {note}")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong, in order of path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// How many problems one message holds; the rest is counted.
    pub const SHOWN: usize = 20;

    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Adds all of `more`.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Problem>) {
        self.0.extend(more);
    }

    /// True if nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems, as they stand.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }

    /// `Ok(value)` if nothing is wrong, else the problems, sorted by path and each once.
    ///
    /// # Errors
    /// The problems, if there is one.
    pub fn unless_empty<T>(self, value: T) -> Result<T, Problems> {
        if self.0.is_empty() { Ok(value) } else { Err(self.sorted()) }
    }

    /// Sorted by path (positions as numbers), then text; each once.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.0.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| a.to_string().cmp(&b.to_string())));
        self.0.dedup();
        self
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The text of a refusal: at most [`Problems::SHOWN`] problems, then "and 7 more".
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, problem) in self.0.iter().take(Self::SHOWN).enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        match self.0.len().saturating_sub(Self::SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// The known name nearest to a mistyped one, if one is near enough to be meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = name.to_lowercase();
    if folded.is_empty() {
        return None;
    }
    known
        .into_iter()
        .map(|candidate| (distance(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            *distance * 3 <= candidate.len().max(name.len()) || candidate.to_lowercase().starts_with(&folded)
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// The number of edits (insert, delete, replace) between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().take(64).enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = corner + usize::from(left != *right);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_a_hint_only_when_it_is_near() {
        let known = ["minReplicaCount", "maxReplicaCount", "queueLength"];
        assert_eq!(nearest("minReplicas", known), Some("minReplicaCount"));
        assert_eq!(nearest("queuelength", known), Some("queueLength"));
        assert_eq!(nearest("colour", known), None);
    }

    #[test]
    fn twenty_problems_are_shown_and_the_rest_counted() {
        let mut problems = Problems::default();
        problems
            .extend((0..27).map(|n| Problem::value(Path::keys("spec.tolerations").index(n), Source::Actor, "wrong")));
        let text = problems.to_string();
        assert_eq!(text.lines().count(), 21);
        assert!(text.ends_with("\nand 7 more"));
    }
}
