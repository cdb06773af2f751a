//! Why inputs could not be read: every fault of every file at once, each with its place and what to do.

use std::fmt;

use serde_yaml::granit_parser::{ErrorKind, ScanError};

/// One reason why a file cannot be read. Never quotes what the file holds: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file as the user named it, or "standard input".
    pub file: String,
    /// The line, from 1, if it is known.
    pub line: Option<usize>,
    /// The column in characters, from 1, if it is known.
    pub column: Option<usize>,
    /// What is wrong: lower case, no full stop, one line.
    pub what: String,
    /// What to do about it.
    pub hint: String,
}

impl Fault {
    /// A fault of the file as a whole.
    pub(super) fn whole(file: &str, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, column: None, what: what.into(), hint: hint.into() }
    }

    /// The same fault at a line and column, both from 1.
    #[must_use]
    pub(super) fn at(mut self, (line, column): (usize, usize)) -> Self {
        (self.line, self.column) = (Some(line), Some(column));
        self
    }

    /// What the YAML parser stumbled over.
    pub(super) fn syntax(file: &str, error: &ScanError) -> Self {
        let (what, hint) = explain(error.kind());
        let mark = error.marker();
        Self::whole(file, what, hint).at((mark.line(), mark.col() + 1))
    }
}

/// The usual mistakes in plain words; the rest in the parser's, which name no content but single characters.
fn explain(kind: &ErrorKind) -> (String, &'static str) {
    use ErrorKind as E;
    let (what, hint) = match kind {
        E::RecursionLimitExceeded => (super::tree::TOO_DEEP, super::tree::FLATTEN),
        E::TabInIndentation | E::TabInBlockIndentation | E::TabNotAllowed | E::TabAtBlockScalarStart => {
            ("a tab where YAML wants spaces", "indent with spaces")
        }
        E::UnknownAnchor => {
            ("an alias without its anchor before it", "define `&name` first, or quote a value that starts with `*`")
        }
        E::MappingValueNotAllowed => {
            ("a `: ` where no value can begin", "indent keys of one map alike, and quote a value that holds `: `")
        }
        E::UnclosedFlowCollection { open: '[' } | E::UnexpectedEofFlowSequence => ("a `[` is never closed", "add `]`"),
        E::UnclosedFlowCollection { .. } | E::UnexpectedEofFlowMapping => ("a `{` is never closed", "add `}`"),
        E::UnclosedQuotedScalar | E::InvalidQuotedScalarIndent => {
            ("a quote is never closed", "add the closing quote, and indent the lines between the quotes")
        }
        E::SimpleKeyExpected => ("a key without `:`", "write `key: value`"),
        E::ExpectedDocumentStart => {
            ("a line that belongs to no object", "indent keys of one map alike, and put `---` between objects")
        }
        E::ExpectedBlockMappingKey => ("a line that is no `key: value`", "indent keys of one map alike"),
        E::UnexpectedCharacter { character } => {
            return (format!("the character {character:?} cannot start a value"), "quote the value");
        }
        E::UnknownQuotedScalarEscape => {
            ("an escape that YAML does not know", "write `\\\\` for a backslash, or use '..'")
        }
        E::InvalidTrailingDoubleQuotedScalar | E::InvalidTrailingSingleQuotedScalar => {
            ("text behind the closing quote", "quote the whole value, and escape quotes within it")
        }
        _ => return (format!("not YAML: {kind}"), "correct the line, or the one before it"),
    };
    (what.to_owned(), hint)
}

/// `flavors.yaml:12:3: a tab where YAML wants spaces`, and the hint on a line of its own.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        write!(f, ": {}\n  hint: {}", self.what, self.hint)
    }
}

/// Everything that kept the inputs from being read, in the order of the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFailure(Vec<Fault>);

impl ReadFailure {
    /// `Ok(value)` if there is no fault, else all of them.
    ///
    /// # Errors
    /// The faults, if there is one.
    pub(super) fn unless_empty<T>(faults: Vec<Fault>, value: T) -> Result<T, Self> {
        if faults.is_empty() { Ok(value) } else { Err(Self(faults)) }
    }

    /// The faults, at least one.
    pub fn faults(&self) -> &[Fault] {
        &self.0
    }

    /// The faults themselves.
    pub(super) fn into_faults(self) -> Vec<Fault> {
        self.0
    }
}

impl From<Fault> for ReadFailure {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

/// Ready for stderr: each fault starts with `error: `, and nothing ends the last line.
impl fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, fault) in self.0.iter().enumerate() {
            let separator = if position > 0 { "\n" } else { "" };
            write!(f, "{separator}error: {fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadFailure {}
