//! Rules on the merged platform settings that a schema cannot say.

use serde_json::Value;

use super::layers::problem;
use super::{Image, Layer, ttl};
use crate::names::is_object_name;
use crate::path::Path;
use crate::problem::{Problem, Source};
use crate::resources::deployment::MOUNTS_OF_OURS;
use crate::tree;

/// True for what AWS allows in a tag's key and value.
fn is_tag_text(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || "_.:/=+-@".contains(c))
}

/// All breaches of the rules that hold for the settings in use; unused ones are checked for type only.
pub fn check(merged: &Value, layers: &[Layer]) -> Vec<Problem> {
    let settings = Settings { merged, layers };
    let mut problems = Vec::new();
    settings.ttl(&mut problems);
    settings.config_name(&mut problems);
    let only_flavors = merged.get("stages").and_then(Value::as_array).is_some_and(|stages| !stages.is_empty());
    if !only_flavors {
        settings.tags(&mut problems);
        settings.queue(&mut problems);
        settings.irsa(&mut problems);
        settings.keda(&mut problems);
        settings.sidecar(&mut problems);
        settings.names(&mut problems);
    }
    problems
}

struct Settings<'a> {
    merged: &'a Value,
    layers: &'a [Layer],
}

impl Settings<'_> {
    fn text(&self, key: &str) -> &str {
        tree::at(self.merged, key).and_then(Value::as_str).unwrap_or_default()
    }

    fn wrong(&self, path: Path, what: impl AsRef<str>) -> Problem {
        let set_by = self.layers.iter().rev().find(|layer| tree::get(&layer.values, &path).is_some());
        problem(path, set_by.map_or(&Source::Default, |layer| &layer.source), what.as_ref())
    }

    fn tags(&self, problems: &mut Vec<Problem>) {
        let Some(tags) = self.merged.get("awsResourceTags").and_then(Value::as_object) else { return };
        if tags.len() > 45 {
            let what = format!("at most 45 tags, not {}; AWS allows 50 and some are ours", tags.len());
            problems.push(self.wrong(Path::keys("awsResourceTags"), what));
        }
        for (key, value) in tags {
            let path = Path::keys("awsResourceTags").key(key);
            let value = value.as_str().unwrap_or_default();
            if key.starts_with("aws:") || key.starts_with("crossplane-") {
                problems.push(self.wrong(path, "a tag may not start with `aws:` or `crossplane-`"));
            } else if key.is_empty() || key.chars().count() > 128 || value.chars().count() > 256 {
                problems.push(self.wrong(path, "a tag's key has 1 to 128 characters, its value at most 256"));
            } else if !is_tag_text(key) || !is_tag_text(value) {
                problems.push(self.wrong(path, "a tag may hold letters, digits, spaces and `_.:/=+-@`"));
            }
        }
    }

    fn queue(&self, problems: &mut Vec<Problem>) {
        let account = self.text("awsAccountId");
        let used = self.text("sqs.dlq.mode") == "Shared" || self.fills_account_in();
        if used && !account.is_empty() && (account.len() != 12 || !account.bytes().all(|c| c.is_ascii_digit())) {
            let hint = "quote it: YAML reads a number that starts with 0 as another one";
            problems.push(self.wrong(Path::keys("awsAccountId"), "an AWS account id has 12 digits").hint(hint));
        }
        if self.text("sqs.dlq.mode") == "Shared" && account.is_empty() {
            let what = "needs `awsAccountId`: the dead-letter queue's ARN holds it";
            problems
                .push(self.wrong(Path::keys("sqs.dlq.mode"), what).hint("set `awsAccountId`, or `sqs.dlq.mode: None`"));
        }
        let receives = Path::keys("sqs.dlq.maxReceiveCount");
        let count = tree::get(self.merged, &receives).and_then(Value::as_i64);
        if self.text("sqs.dlq.mode") == "Shared" && !count.is_some_and(|count| (1..=1000).contains(&count)) {
            problems.push(self.wrong(receives, "must be 1 to 1000"));
        }
        let region = self.text("awsRegion");
        if region.is_empty() || !region.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-') {
            problems.push(self.wrong(Path::keys("awsRegion"), "must be an AWS region such as `eu-west-1`"));
        }
    }

    /// True if the account id becomes part of a role.
    fn fills_account_in(&self) -> bool {
        let enabled = tree::get(self.merged, &Path::keys("irsa.enabled")) == Some(&Value::Bool(true));
        let patterned = self.text("irsa.mode") == "IRSA" && self.text("irsa.roleArn").is_empty();
        enabled && patterned && self.text("irsa.roleArnPattern").contains("ACCOUNT_ID")
    }

    fn irsa(&self, problems: &mut Vec<Problem>) {
        if tree::get(self.merged, &Path::keys("irsa.enabled")) != Some(&Value::Bool(true)) {
            return;
        }
        let name = self.text("irsa.serviceAccountName");
        if !is_object_name(&name.replace("{namespace}", "n").replace("{actor}", "a")) {
            let what = "must be a ServiceAccount's name; `{namespace}` and `{actor}` are filled in";
            problems.push(self.wrong(Path::keys("irsa.serviceAccountName"), what));
        }
        if self.text("irsa.mode") == "IRSA" {
            problems.extend(self.role(name));
        }
    }

    fn role(&self, account_name: &str) -> Option<Problem> {
        if !self.text("irsa.roleArn").is_empty() {
            return None;
        }
        let path = Path::keys("irsa.roleArnPattern");
        let pattern = self.text("irsa.roleArnPattern");
        if pattern.is_empty() {
            let what = "needs `irsa.roleArn` or `irsa.roleArnPattern`";
            return Some(
                self.wrong(Path::keys("irsa.enabled"), what).hint("or `irsa.mode: PodIdentity`, which needs neither"),
            );
        }
        if pattern.replace("{namespace}", "").replace("{actor}", "").contains(['{', '}']) {
            let what = "holds braces that nothing fills in";
            return Some(self.wrong(path, what).hint("`{namespace}` and `{actor}` are known here"));
        }
        if pattern.contains("ACCOUNT_ID") && self.text("awsAccountId").is_empty() {
            return Some(
                self.wrong(path, "holds `ACCOUNT_ID`, but `awsAccountId` is not set").hint("set `awsAccountId`"),
            );
        }
        if pattern.contains("{actor}") && !account_name.contains("{actor}") {
            let what = "gives each actor a role of its own, but `irsa.serviceAccountName` is shared by a namespace";
            return Some(self.wrong(path, what).hint("put `{actor}` into `irsa.serviceAccountName` too"));
        }
        None
    }

    fn keda(&self, problems: &mut Vec<Problem>) {
        if self.text("keda.authProvider") != "secret" {
            return;
        }
        for (key, what) in [
            ("keda.secretRef.name", "`keda.authProvider: secret` needs the name of the Secret"),
            ("keda.secretRef.accessKeyIdKey", "`keda.authProvider: secret` needs the key of the access key id"),
            ("keda.secretRef.secretAccessKeyKey", "`keda.authProvider: secret` needs the key of the secret access key"),
        ] {
            if self.text(key).is_empty() {
                let asked = self.wrong(Path::keys("keda.authProvider"), what);
                problems.push(Problem { path: Path::keys(key), ..asked });
            }
        }
    }

    fn sidecar(&self, problems: &mut Vec<Problem>) {
        for key in ["sidecar.socketDir", "sidecar.runtimeMountPath"] {
            let path = self.text(key);
            if !path.starts_with('/') || path.contains([':', '\'', '"', ' ', '$', '`', ';', '&', '|']) {
                let what = "must be an absolute path without spaces, colons or shell characters";
                problems.push(self.wrong(Path::keys(key), what));
            }
        }
        let (socket, runtime) = (self.text("sidecar.socketDir"), self.text("sidecar.runtimeMountPath"));
        for (key, path) in [("sidecar.socketDir", socket), ("sidecar.runtimeMountPath", runtime)] {
            let path = path.trim_end_matches('/');
            if MOUNTS_OF_OURS.contains(&path) || path.is_empty() {
                let what = "is where another volume of the pod is mounted";
                problems.push(self.wrong(Path::keys(key), what).hint("choose a path of its own"));
            }
        }
        if socket.trim_end_matches('/') == runtime {
            let what = "is `sidecar.socketDir` too";
            problems.push(self.wrong(Path::keys("sidecar.runtimeMountPath"), what).hint("choose a path of its own"));
        }
        let wait = self.text("sidecar.sqsWaitTimeSeconds");
        if !wait.is_empty() && !wait.parse::<u32>().is_ok_and(|seconds| seconds <= 20) {
            problems.push(self.wrong(Path::keys("sidecar.sqsWaitTimeSeconds"), "must be 0 to 20 seconds"));
        }
        let path = Path::keys("sidecar.image");
        for (key, what) in tree::get(self.merged, &path).map(Image::faults).into_iter().flatten() {
            problems.push(self.wrong(key.map_or_else(|| path.clone(), |key| path.key(key)), what));
        }
    }

    fn ttl(&self, problems: &mut Vec<Problem>) {
        if self.merged.get("ttl").is_some_and(|value| ttl(value).is_none()) {
            let what = "must be a duration such as `60s`, or 0";
            problems.push(self.wrong(Path::keys("ttl"), what).hint("units are h, m, s, ms"));
        }
    }

    fn config_name(&self, problems: &mut Vec<Problem>) {
        let config = self.text("environmentConfig");
        if !config.is_empty() && !is_object_name(config) {
            problems.push(self.wrong(Path::keys("environmentConfig"), "is no name that an EnvironmentConfig can have"));
        }
    }

    fn names(&self, problems: &mut Vec<Problem>) {
        for key in ["awsProviderConfig.name", "kubernetesProviderConfig.name", "sidecar.runtimeConfigMap"] {
            if !is_object_name(self.text(key)) {
                problems.push(self.wrong(Path::keys(key), "must be an object's name"));
            }
        }
    }
}
