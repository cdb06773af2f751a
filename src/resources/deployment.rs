//! The Deployment: the user's runtime beside our sidecar and state connectors.

use k8s_openapi::api::core::v1::{ConfigMapVolumeSource, ExecAction, Probe, VolumeMount};
use serde::Serialize;
use serde_json::{Value, json};

use super::env::Environment;
use super::{DEPLOYMENT, Subject, Wrapper};
use crate::api::{Live, condition, is_true};
use crate::composed::Plan;
use crate::platform::Image;
use crate::spec::{EnvVar, StateProxy};
use crate::tree;

/// The names of the pod's own volumes; a user's volume cannot have them.
pub const VOLUMES_OF_OURS: &[&str] = &["socket-dir", "tmp", "asya-runtime", "state-sockets"];

/// Where the runtime container's own volumes are mounted, besides the two paths of the platform settings.
pub const MOUNTS_OF_OURS: &[&str] = &["/tmp", STATE_DIR];

/// Where state connectors and the runtime meet.
const STATE_DIR: &str = "/var/run/asya/state";

/// The actors at the end of every route; they take messages no schema describes.
const END_ACTORS: &[&str] = &["x-sink", "x-sump", "happy-end", "error-end"];

/// True for the wrapper once the rollout is seen and the Deployment is available.
const AVAILABLE: &str = "has(object.status) && has(object.status.observedGeneration) && \
     object.status.observedGeneration >= object.metadata.generation && has(object.status.conditions) && \
     object.status.conditions.exists(c, c.type == \"Available\" && c.status == \"True\")";

/// Emitted once its pods can start; from then on always.
pub fn plan(subject: &Subject<'_>) -> Plan {
    match subject.awaits() {
        Some(reason) if !subject.observed.objects.contains_key(DEPLOYMENT) => Plan::Wait(reason),
        _ => Plan::Compose(build(subject)),
    }
}

fn build(subject: &Subject<'_>) -> Value {
    let manifest = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": subject.metadata(&subject.identity.actor, "actor"),
        "spec": tree::object([
            // KEDA owns the number of pods while scaling is on.
            ("replicas", (!subject.spec.scaling.enabled).then(|| subject.spec.replicas.into())),
            ("progressDeadlineSeconds", Some(1800.into())),
            ("selector", Some(json!({"matchLabels": {"app.kubernetes.io/name": subject.identity.actor}}))),
            ("template", Some(json!({"metadata": {"labels": pod_labels(subject)}, "spec": pod(subject)}))),
        ]),
    });
    subject.wrap(Wrapper {
        labels: subject.labels("actor"),
        manifest,
        readiness: json!({"policy": "DeriveFromCelQuery", "celQuery": AVAILABLE}),
        watch: true,
        management_policies: None,
    })
}

fn pod_labels(subject: &Subject<'_>) -> Value {
    let mut labels = subject.plain_labels();
    labels.insert("app.kubernetes.io/name".to_owned(), subject.identity.actor.as_str().into());
    labels.insert("app.kubernetes.io/component".to_owned(), "actor".into());
    labels.insert("asya.sh/actor".to_owned(), subject.identity.actor.as_str().into());
    labels.insert("asya.sh/inject".to_owned(), "true".into());
    Value::Object(labels)
}

fn pod(subject: &Subject<'_>) -> Value {
    let (spec, platform) = (subject.spec, subject.platform);
    let account = platform.service_account(&subject.identity.namespace, &subject.identity.actor);
    tree::object([
        ("serviceAccountName", account.map(Value::String)),
        ("terminationGracePeriodSeconds", Some(30.into())),
        ("initContainers", tree::list(spec.init_containers.clone())),
        ("containers", Some(Value::Array(containers(subject)))),
        ("volumes", Some(Value::Array(volumes(subject)))),
        ("nodeSelector", spec.node_selector.clone().filter(is_filled)),
        ("tolerations", tree::list(spec.tolerations.clone())),
    ])
}

fn is_filled(value: &Value) -> bool {
    !matches!(value, Value::Object(map) if map.is_empty()) && !value.is_null()
}

fn containers(subject: &Subject<'_>) -> Vec<Value> {
    let connectors = subject.spec.state_proxy.iter().map(|proxy| connector(subject, proxy));
    let ours = [runtime(subject), sidecar(subject)].into_iter().chain(connectors);
    ours.chain(subject.spec.sidecars.iter().cloned()).collect()
}

fn volumes(subject: &Subject<'_>) -> Vec<Value> {
    let runtime = ConfigMapVolumeSource {
        name: subject.platform.sidecar.runtime_config_map.clone(),
        default_mode: Some(0o755),
        ..ConfigMapVolumeSource::default()
    };
    let mut volumes = vec![
        json!({"name": "socket-dir", "emptyDir": {}}),
        json!({"name": "tmp", "emptyDir": {}}),
        json!({"name": "asya-runtime", "configMap": to_value(runtime)}),
    ];
    if !subject.spec.state_proxy.is_empty() {
        volumes.push(json!({"name": "state-sockets", "emptyDir": {}}));
    }
    volumes.extend(subject.spec.volumes.iter().cloned());
    volumes
}

/// The user's code.
fn runtime(subject: &Subject<'_>) -> Value {
    let (spec, sidecar) = (subject.spec, &subject.platform.sidecar);
    let [startup, liveness, readiness] = probes(&sidecar.socket_dir);
    tree::object([
        ("name", Some("asya-runtime".into())),
        ("image", Some(spec.image.as_str().into())),
        ("imagePullPolicy", Some(spec.image_pull_policy.as_str().into())),
        ("command", Some(json!([spec.python_executable, sidecar.runtime_mount_path]))),
        ("env", Some(runtime_env(subject))),
        ("volumeMounts", Some(Value::Array(runtime_mounts(subject)))),
        ("resources", resources(spec.resources.as_ref())),
        ("startupProbe", Some(startup)),
        ("livenessProbe", Some(liveness)),
        ("readinessProbe", Some(readiness)),
    ])
}

fn runtime_env(subject: &Subject<'_>) -> Value {
    let spec = subject.spec;
    let mut env = Environment::default();
    env.set("ASYA_SOCKET_DIR", subject.platform.sidecar.socket_dir.as_str());
    env.set("ASYA_HANDLER", spec.handler.as_str());
    if is_end_actor(subject) {
        env.set("ASYA_ENABLE_VALIDATION", "false");
    }
    env.extend(&spec.env);
    for secret in &spec.secret_refs {
        for key in &secret.keys {
            env.secret(&key.env_var, &secret.secret_name, &key.key);
        }
    }
    let mounts: Vec<String> = spec.state_proxy.iter().map(state_mount).collect();
    env.set_filled("ASYA_STATE_PROXY_MOUNTS", &mounts.join(";"));
    env.into_value()
}

fn state_mount(proxy: &StateProxy) -> String {
    format!("{}:{}:write={}", proxy.name, proxy.mount.path, proxy.write_mode.as_deref().unwrap_or("buffered"))
}

fn runtime_mounts(subject: &Subject<'_>) -> Vec<Value> {
    let sidecar = &subject.platform.sidecar;
    let mut mounts = common_mounts(&sidecar.socket_dir);
    mounts.push(to_value(VolumeMount {
        name: "asya-runtime".to_owned(),
        mount_path: sidecar.runtime_mount_path.clone(),
        sub_path: Some("asya_runtime.py".to_owned()),
        read_only: Some(true),
        ..VolumeMount::default()
    }));
    if !subject.spec.state_proxy.is_empty() {
        mounts.push(mount("state-sockets", STATE_DIR));
    }
    mounts.extend(subject.spec.volume_mounts.iter().cloned());
    mounts
}

fn common_mounts(socket_dir: &str) -> Vec<Value> {
    vec![mount("socket-dir", socket_dir), mount("tmp", "/tmp")]
}

fn mount(name: &str, path: &str) -> Value {
    to_value(VolumeMount { name: name.to_owned(), mount_path: path.to_owned(), ..VolumeMount::default() })
}

/// Startup, liveness and readiness: the runtime's socket is there and the handler is imported.
fn probes(socket_dir: &str) -> [Value; 3] {
    let test = format!("test -S {socket_dir}/asya-runtime.sock && test -f {socket_dir}/runtime-ready");
    let probe = |delay: Option<i32>, period: i32, timeout: i32, failures: i32| {
        to_value(Probe {
            exec: Some(ExecAction { command: Some(vec!["sh".to_owned(), "-c".to_owned(), test.clone()]) }),
            initial_delay_seconds: delay,
            period_seconds: Some(period),
            timeout_seconds: Some(timeout),
            failure_threshold: Some(failures),
            ..Probe::default()
        })
    };
    [probe(Some(3), 2, 3, 150), probe(None, 30, 5, 3), probe(None, 10, 3, 3)]
}

/// The routing sidecar.
fn sidecar(subject: &Subject<'_>) -> Value {
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
    let env_from = subject.binding.env_secret.as_ref().map(|secret| json!([{"secretRef": {"name": secret}}]));
    tree::object([
        ("name", Some("asya-sidecar".into())),
        ("image", Some(image.reference().into())),
        ("imagePullPolicy", Some(policy.into())),
        ("ports", Some(json!([{"name": "metrics", "containerPort": 8080, "protocol": "TCP"}]))),
        ("env", Some(sidecar_env(subject))),
        ("envFrom", env_from),
        ("volumeMounts", Some(Value::Array(common_mounts(&platform.socket_dir)))),
        ("resources", resources(own.resources.as_ref().or(Some(&platform.resources)))),
    ])
}

fn sidecar_env(subject: &Subject<'_>) -> Value {
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
    env.into_value()
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
    serde_json::to_value(value).expect("a spec is JSON").to_string()
}

/// A container that keeps state.
fn connector(subject: &Subject<'_>, proxy: &StateProxy) -> Value {
    let mut env = Environment::default();
    env.set("CONNECTOR_SOCKET", format!("{STATE_DIR}/{}.sock", proxy.name));
    // In front of the user's, so that `STATE_PREFIX=$(NAMESPACE)/` works.
    env.set("NAMESPACE", subject.identity.namespace.as_str());
    env.set("ASYA_ACTOR_NAME", subject.identity.actor.as_str());
    let own: &[EnvVar] = &proxy.connector.env;
    env.extend(own);
    tree::object([
        ("name", Some(format!("asya-state-proxy-{}", proxy.name).into())),
        ("image", Some(proxy.connector.image.as_str().into())),
        ("imagePullPolicy", Some(proxy.connector.image_pull_policy.as_deref().unwrap_or("IfNotPresent").into())),
        ("env", Some(env.into_value())),
        ("volumeMounts", Some(json!([mount("state-sockets", STATE_DIR)]))),
        ("resources", resources(proxy.connector.resources.as_ref())),
    ])
}

/// Resources with quantities as strings (`4` is `"4"`); nothing if they are empty.
fn resources(resources: Option<&Value>) -> Option<Value> {
    let mut resources = resources?.clone();
    for key in ["limits", "requests"] {
        let Some(Value::Object(quantities)) = resources.get_mut(key) else { continue };
        for quantity in quantities.values_mut().filter(|quantity| quantity.is_number()) {
            *quantity = Value::String(quantity.to_string());
        }
        if quantities.is_empty() {
            tree::remove(&mut resources, &crate::path::Path::keys(key));
        }
    }
    Some(resources).filter(is_filled)
}

fn is_end_actor(subject: &Subject<'_>) -> bool {
    END_ACTORS.contains(&subject.identity.actor.as_str())
}

fn to_value(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("a Kubernetes type is JSON")
}

/// The number of pods that are wanted: what the live object says, and 1 if it says nothing.
pub fn wanted(live: &Live) -> i64 {
    live.number("/spec/replicas").unwrap_or(1)
}

/// A number in the live status: absent means 0 once the controller has looked at the object, unknown before.
pub fn counted(live: &Live, field: &str) -> Option<i64> {
    live.number("/status/observedGeneration")?;
    Some(live.number(&format!("/status/{field}")).unwrap_or(0))
}

/// True once the controller has seen the newest spec.
pub fn is_seen(live: &Live) -> bool {
    let generation = live.number("/metadata/generation").unwrap_or(0);
    live.number("/status/observedGeneration").is_some_and(|observed| observed >= generation)
}

/// True once the latest rollout has completed; waking from a nap later does not take that back.
pub fn is_rolled_out(live: &Live) -> bool {
    let conditions = live.conditions();
    let progressing = condition(&conditions, "Progressing");
    let done =
        progressing.is_some_and(|progress| progress.status == "True" && progress.reason == "NewReplicaSetAvailable");
    is_seen(live) && done && !is_true(&conditions, "ReplicaFailure")
}
