//! Schemas out of CRDs and XRDs.

use std::fmt;

use serde_json::Value;

use super::Schema;

/// Why a schema cannot be had from a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError(String);

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

impl Schema {
    /// The schema of the objects that `crd`, a CustomResourceDefinition, defines in `version`.
    ///
    /// The object's own `metadata` is never checked.
    ///
    /// # Errors
    /// If `crd` has no schema for `version`, or one with a pattern that cannot be compiled.
    pub fn of_crd(crd: &Value, version: &str) -> Result<Self, LoadError> {
        Self::of_definition(crd, version)
    }

    /// The schema of the composites that `xrd`, a CompositeResourceDefinition, defines in `version`.
    ///
    /// As written: the fields that Crossplane adds to `spec` and `status` are not known to it.
    ///
    /// # Errors
    /// If `xrd` has no schema for `version`, or one with a pattern that cannot be compiled.
    pub fn of_xrd(xrd: &Value, version: &str) -> Result<Self, LoadError> {
        Self::of_definition(xrd, version)
    }

    fn of_definition(definition: &Value, version: &str) -> Result<Self, LoadError> {
        let name = definition.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("?");
        let schema = definition
            .pointer("/spec/versions")
            .and_then(Value::as_array)
            .and_then(|versions| versions.iter().find(|candidate| candidate["name"] == version))
            .and_then(|found| found.pointer("/schema/openAPIV3Schema"))
            .ok_or_else(|| LoadError(format!("`{name}` has no schema for version `{version}`")))?;
        let mut root: Self = serde_json::from_value(schema.clone())
            .map_err(|error| LoadError(format!("the schema of `{name}`, version `{version}`: {error}")))?;
        root.properties.remove("metadata");
        root.embedded = true;
        Ok(root)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::path::Path;

    fn crd(root: &Value) -> Value {
        json!({"metadata": {"name": "things.asya.sh"},
            "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": root}}]}})
    }

    #[test]
    fn the_metadata_of_an_object_is_not_checked() {
        let root = json!({"type": "object", "properties": {
            "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}},
            "spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}});
        let schema = Schema::of_crd(&crd(&root), "v1").expect("a good schema");
        let thing = json!({"apiVersion": "asya.sh/v1", "kind": "Thing", "metadata": {"name": "long", "labels": {}},
            "spec": {"size": "1"}, "extra": 1});
        let breaches = schema.breaches(&thing, &Path::root(), &|_| false);
        let texts: Vec<_> = breaches.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["extra: unknown field", "spec.size: must be an integer, not a string"]);
    }

    #[test]
    fn what_cannot_be_loaded_says_why() {
        let cases = [
            ("an unknown version", crd(&json!({})), "v2", "`things.asya.sh` has no schema for version `v2`"),
            ("no CRD at all", json!([]), "v1", "`?` has no schema for version `v1`"),
            ("a bad pattern", crd(&json!({"properties": {"a": {"pattern": "("}}})), "v1", "the pattern `(` "),
            (
                "a bad pattern of a map's values",
                crd(&json!({"properties": {"a": {"additionalProperties": {"pattern": "("}}}})),
                "v1",
                "the pattern `(` ",
            ),
            ("an unknown type", crd(&json!({"type": "blob"})), "v1", "unknown variant `blob`"),
        ];
        for (why, crd, version, expected) in cases {
            let error = Schema::of_crd(&crd, version).expect_err(why).to_string();
            assert!(error.contains(expected), "{why}: {error}");
        }
    }
}
