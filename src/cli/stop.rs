//! Why a command ends early: what to say on stderr, and the exit code.

use super::files::Document;

/// Everything is fine.
pub const FINE: u8 = 0;
/// What was read is refused.
pub const REFUSED: u8 = 1;
/// The command could not run: an input cannot be read as what it should be.
pub const COULD_NOT_RUN: u8 = 2;

/// An early end.
#[derive(Debug)]
pub struct Stop {
    /// What to print on stderr, lines and all.
    pub message: String,
    /// The exit code.
    pub code: u8,
}

impl Stop {
    /// An input cannot be read.
    pub fn unreadable(message: String) -> Self {
        Self { message, code: COULD_NOT_RUN }
    }

    /// An object was read and is not what it should be.
    pub fn unusable(document: &Document, what: &str, hint: &str) -> Self {
        Self::unreadable(format!("error: {}:{}: {what}\n  hint: {hint}\n", document.file, document.line))
    }

    /// What was read is refused.
    pub fn refused(message: String) -> Self {
        Self { message, code: REFUSED }
    }
}
