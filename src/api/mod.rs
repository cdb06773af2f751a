//! The few fields we read of other people's resources.

mod object;
mod queue;

pub use object::{Live, Object};
pub use queue::Queue;

use serde::Deserialize;

use crate::inputs::or_default;

/// A status condition, as every kind we read has them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    /// What it speaks of, such as `Ready`.
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    #[serde(deserialize_with = "or_default")]
    pub status: String,
    /// One CamelCase word.
    #[serde(deserialize_with = "or_default")]
    pub reason: String,
    /// A sentence for people.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
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
