//! The few fields we read of other people's resources.

mod object;
mod queue;

pub use object::{Live, Object};
pub use queue::Queue;

use smol_str::SmolStr;

use crate::wire::{At, Fault};

/// A status condition, as every kind we read has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// What it speaks of, such as `Ready`.
    pub kind: SmolStr,
    /// `True`, `False` or `Unknown`.
    pub status: SmolStr,
    /// One CamelCase word.
    pub reason: SmolStr,
    /// A sentence for people.
    pub message: SmolStr,
}

impl Condition {
    /// Reads conditions.
    ///
    /// # Errors
    /// If one is not what a condition should be.
    pub fn list(conditions: &At<'_, '_>) -> Result<Vec<Self>, Fault> {
        let mut list = Vec::new();
        for condition in conditions.items()? {
            if !condition.is_object("a condition")? {
                return Err(condition.wrong(&"a condition"));
            }
            let [kind, status, reason, message] = condition.fields(["type", "status", "reason", "message"])?;
            list.push(Self {
                kind: kind.string()?.unwrap_or_default(),
                status: status.string()?.unwrap_or_default(),
                reason: reason.string()?.unwrap_or_default(),
                message: message.string()?.unwrap_or_default(),
            });
        }
        Ok(list)
    }
}

/// The condition of this type, if there is one.
pub fn condition<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

/// True if the condition of this type has status True.
pub fn is_true(conditions: &[Condition], kind: &str) -> bool {
    condition(conditions, kind).is_some_and(|condition| condition.status == "True")
}

/// The condition of this type, if its status is False.
pub fn when_false<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    condition(conditions, kind).filter(|condition| condition.status == "False")
}
