//! The queue's managed resource.

use super::Subject;
use crate::api::{Condition, Queue, condition, is_true, when_false};
use crate::node::{Node, map};

/// The queue as its broker builds it, with our labels.
pub fn build(subject: &Subject<'_>) -> Node {
    let mut queue = subject.binding.queue.clone();
    queue.set("metadata", map! { "labels" => subject.labels("queue") });
    queue
}

/// What is known of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It is there, and its URL is known.
    Available,
    /// It is there, but the provider could not bring it up to date.
    Degraded(String),
    /// It is being made.
    Creating(String),
    /// It could not be made.
    CreateFailed(String),
    /// It is on its way out.
    Deleting,
    /// Its reconciliation is switched off and it is not there.
    Paused,
}

/// Reads the queue's health; `url` is the last one known.
pub fn health(queue: Option<&Queue>, url: Option<&str>) -> Health {
    let Some(queue) = queue else { return Health::Creating("waiting for the queue to be created".to_owned()) };
    let conditions = queue.conditions();
    let refused = when_false(conditions, "Synced");
    if is_true(conditions, "Ready") {
        return match (refused, url) {
            (_, None) => Health::Creating("waiting for the queue URL".to_owned()),
            (Some(refused), _) => Health::Degraded(told(refused)),
            (None, _) => Health::Available,
        };
    }
    if condition(conditions, "Ready").is_some_and(|ready| ready.reason == "Deleting") {
        return Health::Deleting;
    }
    match (refused, when_false(conditions, "LastAsyncOperation")) {
        (Some(paused), _) if paused.reason == "ReconcilePaused" => Health::Paused,
        (_, Some(failed)) | (Some(failed), None) => Health::CreateFailed(told(failed)),
        (None, None) => Health::Creating("creating the queue".to_owned()),
    }
}

fn told(condition: &Condition) -> String {
    match condition.reason.as_str() {
        "ReconcilePaused" => "reconciliation is paused by the annotation crossplane.io/paused".to_owned(),
        reason if condition.message.is_empty() => reason.to_owned(),
        _ => without_request_ids(&condition.message),
    }
}

/// An AWS error without its request ids: each retry has another, and every new text rewrites the status.
pub fn without_request_ids(message: &str) -> String {
    static REQUEST_ID: std::sync::LazyLock<regex_lite::Regex> = std::sync::LazyLock::new(|| {
        regex_lite::Regex::new(r"(?i)(,\s*)?\brequest\s?id:?\s*[0-9a-z-]+").expect("the pattern is a constant")
    });
    REQUEST_ID.replace_all(message, "").into_owned()
}

/// True once Crossplane may count the queue as ready.
pub fn is_ready(queue: Option<&Queue>, url: Option<&str>) -> bool {
    queue.is_some_and(|queue| is_true(queue.conditions(), "Ready")) && url.is_some()
}

#[cfg(test)]
mod tests {
    use super::without_request_ids;

    #[test]
    fn request_ids_are_cut_off() {
        let rows = [
            (
                "StatusCode: 403, RequestID: 1b2c-3d, api error AccessDenied: no",
                "StatusCode: 403, api error AccessDenied: no",
            ),
            ("AccessDenied: no\n\tstatus code: 403, request id: 0a1b", "AccessDenied: no\n\tstatus code: 403"),
            ("plain", "plain"),
        ];
        for (told, kept) in rows {
            assert_eq!(without_request_ids(told), kept);
        }
    }
}
