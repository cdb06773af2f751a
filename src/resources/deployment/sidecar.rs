//! The routing sidecar's container.

use serde::Serialize;

use super::super::Subject;
use super::super::env::Environment;
use super::{common_mounts, is_end_actor, resources};
use crate::node::{Node, list, map};
use crate::platform::Image;

/// The container.
pub fn sidecar(subject: &Subject<'_>) -> Node {
    let (own, platform) = (&subject.spec.sidecar, &subject.platform.sidecar);
    let image = own.image.as_ref().map(|image| Image::read(image, &platform.image));
    let policies = [
        &own.image_pull_policy,
        &image.as_ref().and_then(|image| image.pull_policy.clone()),
        &platform.image_pull_policy,
        &platform.image.pull_policy,
    ];
    let policy = policies.into_iter().flatten().next().map_or("IfNotPresent", String::as_str);
    let image = image.as_ref().unwrap_or(&platform.image);
    let secret = subject.binding.env_secret.as_ref();
    map! {
        "name" => "asya-sidecar",
        "image" => image.reference(),
        "imagePullPolicy" => policy.to_owned(),
        "ports" => list![map! { "name" => "metrics", "containerPort" => 8080, "protocol" => "TCP" }],
        "env" => sidecar_env(subject),
        "envFrom" => secret.map(|secret| list![map! { "secretRef" => map! { "name" => secret } }]),
        "volumeMounts" => common_mounts(&platform.socket_dir),
        "resources" => resources(own.resources.as_ref()).or_else(|| resources(Some(&platform.resources))),
    }
}

fn sidecar_env(subject: &Subject<'_>) -> Node {
    let (spec, platform, actor) = (subject.spec, &subject.platform.sidecar, &subject.identity.actor);
    let mut env = Environment::default();
    env.set("ASYA_LOG_LEVEL", "info");
    env.set("ASYA_SOCKET_DIR", platform.socket_dir.as_str());
    env.set("ASYA_ACTOR_NAME", actor.as_str());
    env.set("ASYA_NAMESPACE", subject.identity.namespace.as_str());
    env.set("ASYA_ACTOR_SINK", "x-sink");
    env.set("ASYA_ACTOR_SUMP", "x-sump");
    for (name, value) in &subject.binding.env {
        env.set(name, value.as_str());
    }
    env.set_filled("ASYA_GATEWAY_URL", &platform.gateway_url);
    if is_end_actor(subject) {
        env.set("ASYA_IS_END_ACTOR", "true");
    }
    resiliency_env(subject, &mut env);
    let endpoint = spec.tracing.endpoint.as_deref().unwrap_or(&platform.tracing_endpoint);
    let protocol = spec.tracing.protocol.as_deref().unwrap_or(&platform.tracing_protocol);
    env.set_filled("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    env.set_filled("OTEL_EXPORTER_OTLP_PROTOCOL", protocol);
    env.extend(&spec.sidecar.env);
    env.into_node()
}

/// Retries as the sidecar reads them: compact JSON.
fn resiliency_env(subject: &Subject<'_>, env: &mut Environment) {
    let Some(resiliency) = &subject.spec.resiliency else { return };
    if !resiliency.policies.is_empty() {
        env.set("ASYA_RESILIENCY_POLICIES", compact(&resiliency.policies));
    }
    if !resiliency.rules.is_empty() {
        env.set("ASYA_RESILIENCY_RULES", compact(&resiliency.rules));
    }
    env.set_filled("ASYA_RESILIENCY_ACTOR_TIMEOUT", resiliency.actor_timeout.as_deref().unwrap_or_default());
}

fn compact(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a spec is JSON")
}
