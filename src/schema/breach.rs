//! One way in which a value breaks a schema.

use std::fmt;

use crate::path::Path;

/// Which rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BreachKind {
    /// A field that the schema does not know, and the API server would drop.
    Unknown,
    /// A value of another type, or a null where none may stand.
    Type,
    /// A whole number that JSON cannot carry exactly.
    Inexact,
    /// A value that is not among those listed.
    Enum,
    /// A number below the minimum or above the maximum.
    Bound,
    /// A string that is too short or too long.
    Length,
    /// A string that does not match the pattern.
    Pattern,
    /// A required field that is missing.
    Required,
    /// A list or map with too few or too many entries.
    Items,
    /// A value that breaks `allOf`, `anyOf`, `oneOf` or `not`.
    Form,
}

/// One broken rule: where, which, what is wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The value at fault; for a missing field, where it should stand.
    pub path: Path,
    /// Which rule is broken.
    pub kind: BreachKind,
    /// What is wrong: lower case, no full stop. Never holds a value from a secret path.
    pub what: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// `spec.replicas: must be at least 1, not 0`, without the hint.
impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.steps().is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.what)
    }
}
