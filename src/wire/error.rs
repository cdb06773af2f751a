//! Why an object could not be read or written, and where in it.

use std::fmt;

use crate::path::{Path, Step};

/// Why a Struct could not be read.
pub type ReadError = WireError;

/// Why a value could not be written as a Struct.
pub type WriteError = WireError;

/// What is wrong in an object, and where: `spec.scaling.queueLength: a number that is not finite`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// Where, from the object's root. What lies deeper than 32 steps is named by its 32 outermost ones.
    pub path: Path,
    /// What is wrong: lower case, no full stop, one line.
    pub what: String,
}

/// A longer path helps nobody; a hostile object would make it as long as itself.
const SHOWN_STEPS: usize = 32;

impl WireError {
    /// Something wrong here; callers further out add where that is.
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { path: Path::root(), what: what.into() }
    }

    /// The same, seen from one level further out.
    pub(super) fn under(self, step: Step) -> Self {
        Self { path: self.path.under(step), what: self.what }
    }

    /// The same, with a path that can be shown.
    pub(super) fn shortened(self) -> Self {
        if self.path.steps().len() <= SHOWN_STEPS {
            return self;
        }
        let outermost = self.path.steps().iter().take(SHOWN_STEPS);
        Self { path: outermost.fold(Path::root(), |path, step| path.with(step.clone())), what: self.what }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.steps().is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for WireError {}

impl serde::de::Error for WireError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self::new(what.to_string())
    }
}

impl serde::ser::Error for WireError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self::new(what.to_string())
    }
}
