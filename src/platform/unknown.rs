//! What to do about a key that is no setting: most come from the Helm chart people have.

use super::layers::SCHEMA;
use crate::path::{Path, Step};
use crate::problem::nearest;

const PROVIDER_CONFIG: &str = "a Helm value; the ProviderConfig belongs to the install kit";

/// Keys people know from the Helm chart and that are no settings of ours.
const HELM: &[(&str, &str)] = &[
    ("transport", "a Helm value; the Composition decides the transport"),
    ("functions", "a Helm value; this function replaces the others"),
    ("providers", "a Helm value; the providers belong to the install kit"),
    ("providerConfigs", "a Helm value; the ProviderConfigs belong to the install kit"),
    ("actorNamespace", "a Helm value; the runtime ConfigMap belongs to the install kit"),
    ("runtime", "a Helm value; the runtime ConfigMap belongs to the install kit"),
    ("awsProviderConfig.credentialsSource", PROVIDER_CONFIG),
    ("awsProviderConfig.secretRef", PROVIDER_CONFIG),
    ("awsProviderConfig.skipCredentialsValidation", PROVIDER_CONFIG),
    ("awsProviderConfig.skipMetadataApiCheck", PROVIDER_CONFIG),
    ("awsProviderConfig.skipRequestingAccountId", PROVIDER_CONFIG),
    ("awsProviderConfig.skipRegionValidation", PROVIDER_CONFIG),
    ("awsProviderConfig.s3UsePathStyle", PROVIDER_CONFIG),
    ("awsProviderConfig.endpoint.hostnameImmutable", PROVIDER_CONFIG),
    ("kubernetesProviderConfig.credentialsSource", PROVIDER_CONFIG),
    ("awsProviderConfig.endpoint.enabled", "a Helm value; `awsProviderConfig.endpoint.url` alone switches it on"),
    ("awsProviderConfig.endpoint.localstackEnabled", "a Helm value; set `awsProviderConfig.endpoint.url`"),
    ("sidecar.sqsLocalstackEnabled", "a Helm value; set `sidecar.sqsEndpoint`"),
    ("sidecar.rabbitmqURL", "a Helm value of another transport"),
    ("sidecar.rabbitmqCredsSecret", "a Helm value of another transport"),
    ("sidecar.pubsubEndpoint", "a Helm value of another transport"),
    ("sidecar.gcpCredsSecret", "a Helm value of another transport"),
    ("sidecar.gcpProjectId", "a Helm value of another transport"),
    ("sqs.dlq.enabled", "a Helm value; set `sqs.dlq.mode` to None or Shared"),
    ("rabbitmq", "a Helm value of another transport"),
    ("pubsub", "a Helm value of another transport"),
    ("gcpProviderConfig", "a Helm value of another transport"),
];

/// What to do about an unknown key: where a Helm value went, else the nearest key beside it, else those there are below the top.
pub fn hint(path: &Path) -> Option<String> {
    let printed = path.to_string();
    let helm = HELM.iter().find(|(key, _)| *key == printed);
    if let Some((_, hint)) = helm {
        return Some((*hint).to_owned());
    }
    let (Step::Key(name), above) = path.steps().split_last()? else { return None };
    let above = above.iter().fold(Path::root(), |path, step| path.with(step.clone()));
    let beside: Vec<&str> = SCHEMA.at(&above)?.properties().map(|(key, _)| key).collect();
    match nearest(name, beside.iter().copied()) {
        Some(near) => Some(format!("`{near}`")),
        None if SCHEMA.field(name).is_some() => Some(format!("`{name}` is a key of the top level")),
        None if path.steps().len() == 1 => None,
        None => Some(format!("known here: {}", beside.join(", "))),
    }
}
