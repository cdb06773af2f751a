//! A container image, given as a reference or in its parts.

use serde::Deserialize;
use serde_json::Value;

use crate::tree;

/// The sidecar's image unless the settings say otherwise.
pub const DEFAULT_IMAGE: &str = "ghcr.io/deliveryhero/asya-sidecar:v0.5.3";

/// When an image is pulled.
const POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// A container image in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Registry and name.
    pub repository: String,
    /// With its separator: `:v1`, `@sha256:…`, or empty.
    pub suffix: String,
    /// The pull policy the object form brings.
    pub pull_policy: Option<String>,
}

impl Image {
    /// Reads `registry/name:tag`, or a map of `repository`, `tag` and `pullPolicy` whose missing parts come from `base`.
    pub fn read(value: &Value, base: &Image) -> Self {
        let Value::Object(map) = value else { return Self::split(value.as_str().unwrap_or_default()) };
        let text = |key: &str| map.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        Self {
            repository: text("repository").unwrap_or(&base.repository).to_owned(),
            suffix: text("tag").map_or_else(|| base.suffix.clone(), |tag| format!(":{tag}")),
            pull_policy: text("pullPolicy").map(str::to_owned),
        }
    }

    fn split(reference: &str) -> Self {
        let name = reference.rfind('/').map_or(0, |slash| slash + 1);
        let at = reference[name..].find([':', '@']).map_or(reference.len(), |at| name + at);
        Self { repository: reference[..at].to_owned(), suffix: reference[at..].to_owned(), pull_policy: None }
    }

    /// What is wrong with a value that should be an image: in which part, and what.
    pub fn faults(value: &Value) -> Vec<(Option<&str>, String)> {
        match value {
            Value::String(reference) if reference.is_empty() => vec![(None, "must not be empty".to_owned())],
            Value::String(_) => Vec::new(),
            Value::Object(map) => {
                map.iter().filter_map(|(key, value)| Some((Some(key.as_str()), part_fault(key, value)?))).collect()
            }
            other => vec![(None, format!("must be a string or a map, not {}", tree::shape(other)))],
        }
    }

    /// The reference as Kubernetes takes it.
    pub fn reference(&self) -> String {
        format!("{}{}", self.repository, self.suffix)
    }
}

/// What is wrong with a part of an image.
fn part_fault(key: &str, value: &Value) -> Option<String> {
    match (key, value) {
        ("repository" | "tag", Value::String(_)) => None,
        ("pullPolicy", Value::String(policy)) if POLICIES.contains(&policy.as_str()) => None,
        ("pullPolicy", Value::String(policy)) => Some(format!("{policy:?} is not one of {}", POLICIES.join(", "))),
        ("repository" | "tag" | "pullPolicy", other) => Some(format!("must be a string, not {}", tree::shape(other))),
        _ => Some("unknown field; an image has `repository`, `tag` and `pullPolicy`".to_owned()),
    }
}

impl<'de> Deserialize<'de> for Image {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Image::read(&Value::deserialize(deserializer)?, &Image::split(DEFAULT_IMAGE)))
    }
}
