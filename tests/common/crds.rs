//! Real CRDs as the judge of what we emit: would the API server take this manifest whole?

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::{env, fs};

use function_asya::path::Path;
use function_asya::schema::{Breach, Schema};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ServiceAccount;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

type Schemas = BTreeMap<(String, String), Option<Arc<Schema>>>;

/// Schemas that were asked for, by apiVersion and kind.
static SCHEMAS: LazyLock<Mutex<Schemas>> = LazyLock::new(Mutex::default);

/// Every way in which the API server would refuse `manifest` or drop a part of it, one a line.
///
/// A provider-kubernetes Object is judged along with the manifest it carries.
pub fn conformance(manifest: &Value) -> Vec<String> {
    let (api_version, kind) = (text(manifest, "/apiVersion"), text(manifest, "/kind"));
    match (api_version, kind) {
        ("apps/v1", "Deployment") => round_trip::<Deployment>(manifest),
        ("v1", "ServiceAccount") => round_trip::<ServiceAccount>(manifest),
        _ => match schema(api_version, kind) {
            Some(schema) => custom(manifest, kind, &schema),
            None => vec![format!("no schema for apiVersion `{api_version}`, kind `{kind}`")],
        },
    }
}

/// The CRDs whose file name starts with `prefix`, in order of name.
///
/// # Panics
/// If the folder is missing: a test that judges nothing must not pass.
pub fn definitions(prefix: &str) -> Vec<(String, Value)> {
    let folder = folder();
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| {
        panic!("cannot read the CRDs in {}: {error}; set ASYA_SHARED to the folder that holds `crds`", folder.display())
    });
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    files.sort();
    let wanted = files.iter().filter_map(|file| {
        let name = file.file_name()?.to_str()?;
        (name.starts_with(prefix) && name.ends_with(".yaml")).then(|| (name.to_owned(), file))
    });
    wanted.map(|(name, file)| (name, read(file))).collect()
}

fn folder() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    env::var_os("ASYA_SHARED").map_or_else(beside, PathBuf::from).join("crds")
}

fn read(file: &PathBuf) -> Value {
    let yaml = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_yaml::from_str(&yaml).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The schema for `kind` in `api_version`; files are named `{group}_{plural}.yaml`.
fn schema(api_version: &str, kind: &str) -> Option<Arc<Schema>> {
    let (group, version) = api_version.split_once('/')?;
    let mut schemas = SCHEMAS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let found = schemas.entry((api_version.to_owned(), kind.to_owned())).or_insert_with(|| {
        let crds = definitions(&format!("{group}_"));
        let crd = crds.iter().find(|(_, crd)| text(crd, "/spec/names/kind") == kind)?;
        Schema::of_crd(&crd.1, version).ok().map(Arc::new)
    });
    found.clone()
}

fn custom(manifest: &Value, kind: &str, schema: &Schema) -> Vec<String> {
    let mut found: Vec<_> = schema.breaches(manifest, &Path::root(), &|_| false).iter().map(line).collect();
    match kind {
        "ScaledObject" => found.extend(scaled_object_rule(manifest)),
        "Object" => {
            found.extend(object_rule(manifest));
            found.extend(carried(manifest));
        }
        _ => {}
    }
    found
}

fn line(breach: &Breach) -> String {
    match &breach.hint {
        Some(hint) => format!("{breach} (hint: {hint})"),
        None => breach.to_string(),
    }
}

/// The findings on the manifest within an Object.
fn carried(object: &Value) -> Vec<String> {
    const WITHIN: &str = "spec.forProvider.manifest";
    match object.pointer("/spec/forProvider/manifest") {
        Some(manifest) => conformance(manifest).iter().map(|finding| format!("{WITHIN}: {finding}")).collect(),
        None => Vec::new(),
    }
}

/// KEDA's rule in CEL: `!has(self.minReplicaCount) ||
/// self.minReplicaCount <= (has(self.maxReplicaCount) ? self.maxReplicaCount : 100)`.
fn scaled_object_rule(manifest: &Value) -> Option<String> {
    let count = |key: &str| manifest.pointer(key).and_then(Value::as_f64);
    let least = count("/spec/minReplicaCount")?;
    let most = count("/spec/maxReplicaCount").unwrap_or(100.0);
    (least > most).then(|| "spec: minReplicaCount must be less than or equal to maxReplicaCount".to_owned())
}

/// provider-kubernetes's rule in CEL, with its default policy left out: `self.policy != 'DeriveFromCelQuery' || size(self.celQuery) > 0`.
fn object_rule(manifest: &Value) -> Option<String> {
    let wants_query = text(manifest, "/spec/readiness/policy") == "DeriveFromCelQuery";
    (wants_query && text(manifest, "/spec/readiness/celQuery").is_empty())
        .then(|| "spec.readiness: celQuery must be set if policy is DeriveFromCelQuery".to_owned())
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Reads the manifest as the typed `T` and writes it again; what does not come back was not understood.
fn round_trip<T: DeserializeOwned + Serialize>(manifest: &Value) -> Vec<String> {
    match serde_json::from_value::<T>(manifest.clone()) {
        Err(error) => vec![format!("cannot be read: {error}")],
        Ok(typed) => {
            let mut found = Vec::new();
            let again = serde_json::to_value(typed).expect("k8s types serialise");
            compare(Some(manifest), Some(&again), &Path::root(), &mut found);
            found
        }
    }
}

fn compare(before: Option<&Value>, after: Option<&Value>, at: &Path, found: &mut Vec<String>) {
    match (before, after) {
        (Some(before), Some(after)) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let added = after.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(added) {
                compare(before.get(key), after.get(key), &at.key(key), found);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) if before.len() == after.len() => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                compare(Some(before), Some(after), &at.index(index), found);
            }
        }
        (Some(Value::Null), None) => found.push(format!("{at}: is null, and would be dropped")),
        (Some(_), None) => found.push(format!("{at}: unknown field")),
        (None, Some(_)) => found.push(format!("{at}: is required")),
        (before, after) => {
            let [before, after] = [before, after].map(|value| value.map(Value::to_string).unwrap_or_default());
            found.push(format!("{at}: {before} is read as {after}"));
        }
    }
}
