//! The container that runs the user's code.

use k8s_openapi::api::core::v1::{ExecAction, Probe, VolumeMount};
use serde_json::{Value, json};

use super::super::Subject;
use super::super::env::Environment;
use super::{STATE_DIR, common_mounts, is_end_actor, mount, resources, to_value};
use crate::spec::StateProxy;
use crate::tree;

/// The container.
pub fn runtime(subject: &Subject<'_>) -> Value {
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
