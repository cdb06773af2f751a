//! Amazon SQS: the Queue of provider-aws-sqs, KEDA's `aws-sqs-queue` trigger, the sidecar's settings.

use serde_json::{Value, json};

use super::{Binding, Whereabouts};
use crate::go;
use crate::identity::Identity;
use crate::inputs::{Composite, Observed};
use crate::node::{Node, list, map};
use crate::path::Path;
use crate::platform::{AuthProvider, DeletionPolicy, DlqMode, Keda, Platform};
use crate::resources::scaledobject;
use crate::spec::Spec;
use crate::tree;

/// The composition-resource name of the queue; today's pipeline calls it so, and a new name would make a new queue.
pub const QUEUE: &str = "sqs-queue";

/// The longest a received message can stay hidden, in seconds.
const LONGEST_VISIBILITY: u64 = 43_200;

/// The longest actorTimeout, in seconds: the sidecar needs half a minute of visibility beyond it.
const LONGEST_TIMEOUT: u64 = LONGEST_VISIBILITY - 30;

/// The region of an actor's sidecar.
fn sidecar_region(platform: &Platform) -> &str {
    let own = &platform.sidecar.aws_region;
    if own.is_empty() { &platform.aws_region } else { own }
}

/// What SQS contributes to an actor.
pub fn bind(identity: &Identity, spec: &Spec, platform: &Platform, url: Option<&str>) -> Binding {
    Binding {
        queue_name: QUEUE,
        queue: queue(identity, platform),
        trigger: url.map(|url| trigger(url, spec, platform)),
        authentication: authentication(&platform.keda),
        env: env(spec, platform),
        env_secret: Some(platform.sidecar.aws_creds_secret.clone()).filter(|name| !name.is_empty()),
    }
}

/// The Queue, without labels.
fn queue(identity: &Identity, platform: &Platform) -> Node {
    let (deletion, management) = match platform.sqs.deletion_policy {
        DeletionPolicy::Delete => ("Delete", list!["Observe", "Create", "Update", "Delete"]),
        DeletionPolicy::Orphan => ("Orphan", list!["Observe", "Create", "Update"]),
    };
    let queue = map! {
        "name" => identity.queue(),
        "region" => &platform.aws_region,
        "visibilityTimeoutSeconds" => platform.sqs.visibility_timeout_seconds,
        "messageRetentionSeconds" => platform.sqs.message_retention_seconds,
        "receiveWaitTimeSeconds" => platform.sqs.receive_wait_time_seconds,
        "redrivePolicy" => redrive_policy(identity, platform),
        "tags" => tags(identity, platform),
    };
    let spec = map! {
        "forProvider" => queue,
        "providerConfigRef" => map! { "name" => &platform.aws_provider_config.name },
        "deletionPolicy" => deletion,
        "managementPolicies" => management,
    };
    map! { "apiVersion" => "sqs.aws.upbound.io/v1beta1", "kind" => "Queue", "spec" => spec }
}

fn tags(identity: &Identity, platform: &Platform) -> Node {
    let mut tags = Node::from(&platform.aws_resource_tags);
    tags.set(NAMESPACE_TAG, &identity.namespace);
    tags.set(ACTOR_TAG, &identity.actor);
    tags
}

/// The tag that names the namespace a queue belongs to.
pub const NAMESPACE_TAG: &str = "asya.sh/namespace";

/// The tag that names the actor a queue belongs to.
pub const ACTOR_TAG: &str = "asya.sh/actor";

/// The namespace's dead-letter queue as AWS wants it told: JSON in a string.
fn redrive_policy(identity: &Identity, platform: &Platform) -> Option<String> {
    let Platform { aws_region: region, aws_account_id: account, sqs, .. } = platform;
    let arn = format!("arn:{}:sqs:{region}:{account}:asya-{}-dlq", partition(region), identity.namespace);
    let policy = json!({"deadLetterTargetArn": arn, "maxReceiveCount": sqs.dlq.max_receive_count});
    (sqs.dlq.mode == DlqMode::Shared).then(|| policy.to_string())
}

/// The part of AWS a region belongs to.
pub fn partition(region: &str) -> &'static str {
    match region {
        _ if region.starts_with("cn-") => "aws-cn",
        _ if region.starts_with("us-gov-") => "aws-us-gov",
        _ if region.starts_with("us-iso-") => "aws-iso",
        _ if region.starts_with("us-isob-") => "aws-iso-b",
        _ if region.starts_with("eu-isoe-") => "aws-iso-e",
        _ if region.starts_with("us-isof-") => "aws-iso-f",
        _ if region.starts_with("eusc-") => "aws-eusc",
        _ => "aws",
    }
}

fn trigger(url: &str, spec: &Spec, platform: &Platform) -> Node {
    let metadata = map! {
        "queueURL" => url.to_owned(),
        "queueLength" => spec.scaling.queue_length.to_string(),
        "awsRegion" => &platform.aws_region,
        "awsEndpoint" => Node::text(platform.keda_endpoint()),
    };
    map! { "type" => "aws-sqs-queue", "name" => scaledobject::OWN_TRIGGER, "metadata" => metadata }
}

/// Where the queue is: what it says itself, else what its ScaledObject or the status last said.
pub fn whereabouts(composite: &Composite, observed: &Observed) -> Whereabouts {
    if let Some(url) = observed.queue.as_ref().and_then(|queue| queue.url()) {
        return Whereabouts::Known(url.to_owned());
    }
    let own = scaledobject::own_queue_url(observed);
    let last = own.as_deref().or(composite.status.queue_url.as_deref()).filter(|url| !url.is_empty());
    last.map_or(Whereabouts::Unknown, |url| Whereabouts::LastKnown(url.to_owned()))
}

fn authentication(keda: &Keda) -> Node {
    let key = |parameter: &'static str, key: &String| {
        map! { "parameter" => parameter, "name" => &keda.secret_ref.name, "key" => key }
    };
    match keda.auth_provider {
        AuthProvider::PodIdentity => map! { "podIdentity" => map! { "provider" => "aws" } },
        AuthProvider::Secret => map! { "secretTargetRef" => list![
            key("awsAccessKeyID", &keda.secret_ref.access_key_id_key),
            key("awsSecretAccessKey", &keda.secret_ref.secret_access_key_key),
        ] },
    }
}

fn env(spec: &Spec, platform: &Platform) -> Vec<(&'static str, String)> {
    let sidecar = &platform.sidecar;
    let mut env = vec![("ASYA_TRANSPORT", "sqs".to_owned()), ("ASYA_AWS_REGION", sidecar_region(platform).to_owned())];
    let optional =
        [("ASYA_SQS_ENDPOINT", &sidecar.sqs_endpoint), ("ASYA_SQS_WAIT_TIME_SECONDS", &sidecar.sqs_wait_time_seconds)];
    env.extend(optional.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name, value.clone())));
    // The sidecar asks SQS for twice the actorTimeout, which SQS refuses beyond 12 hours.
    let timeout = spec.resiliency.as_ref().and_then(|resiliency| go::duration(resiliency.actor_timeout.as_deref()?));
    if timeout.is_some_and(|timeout| timeout.as_secs_f64() > (LONGEST_VISIBILITY / 2) as f64) {
        env.push(("ASYA_SQS_VISIBILITY_TIMEOUT", LONGEST_VISIBILITY.to_string()));
    }
    env
}

/// SQS's own rules on a resolved spec.
pub fn check(spec: &Value) -> Vec<(Path, String, String)> {
    let path = Path::keys("resiliency.actorTimeout");
    let timeout = tree::get(spec, &path).and_then(Value::as_str).and_then(go::duration);
    let long = timeout.is_some_and(|timeout| timeout.as_secs_f64() > LONGEST_TIMEOUT as f64);
    let what = format!("SQS hides a message for at most 12 hours, so an actor may take at most {LONGEST_TIMEOUT} s");
    if long { vec![(path, what, "shorten it, or split the work".to_owned())] } else { Vec::new() }
}
