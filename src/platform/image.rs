//! A container image, given as a reference or in its parts.

use serde::Deserialize;
use serde_json::Value;

/// The sidecar's image unless the settings say otherwise.
pub const DEFAULT_IMAGE: &str = "ghcr.io/deliveryhero/asya-sidecar:v0.5.3";

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

    /// The reference as Kubernetes takes it.
    pub fn reference(&self) -> String {
        format!("{}{}", self.repository, self.suffix)
    }
}

impl<'de> Deserialize<'de> for Image {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Image::read(&Value::deserialize(deserializer)?, &Image::split(DEFAULT_IMAGE)))
    }
}
