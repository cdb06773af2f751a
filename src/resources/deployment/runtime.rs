//! The container that runs the user's code.

use super::super::Subject;
use super::super::env::Environment;
use super::{STATE_DIR, common_mounts, is_end_actor, mount, resources};
use crate::node::{Node, list, map};
use crate::spec::StateProxy;

/// The container.
pub fn runtime(subject: &Subject<'_>) -> Node {
    let (spec, sidecar) = (subject.spec, &subject.platform.sidecar);
    let [startup, liveness, readiness] = probes(&sidecar.socket_dir);
    map! {
        "name" => "asya-runtime",
        "image" => &spec.image,
        "imagePullPolicy" => &spec.image_pull_policy,
        "command" => list![&spec.python_executable, &sidecar.runtime_mount_path],
        "env" => runtime_env(subject),
        "volumeMounts" => runtime_mounts(subject),
        "resources" => resources(spec.resources.as_ref()),
        "startupProbe" => startup,
        "livenessProbe" => liveness,
        "readinessProbe" => readiness,
    }
}

fn runtime_env(subject: &Subject<'_>) -> Node {
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
    env.into_node()
}

fn state_mount(proxy: &StateProxy) -> String {
    format!("{}:{}:write={}", proxy.name, proxy.mount.path, proxy.write_mode.as_deref().unwrap_or("buffered"))
}

fn runtime_mounts(subject: &Subject<'_>) -> Vec<Node> {
    let sidecar = &subject.platform.sidecar;
    let mut mounts = common_mounts(&sidecar.socket_dir);
    mounts.push(map! {
        "name" => "asya-runtime",
        "mountPath" => &sidecar.runtime_mount_path,
        "subPath" => "asya_runtime.py",
        "readOnly" => true,
    });
    if !subject.spec.state_proxy.is_empty() {
        mounts.push(mount("state-sockets", STATE_DIR));
    }
    mounts.extend(subject.spec.volume_mounts.iter().map(Node::from));
    mounts
}

/// Startup, liveness and readiness: the runtime's socket is there and the handler is imported.
fn probes(socket_dir: &str) -> [Node; 3] {
    let test = format!("test -S {socket_dir}/asya-runtime.sock && test -f {socket_dir}/runtime-ready");
    let exec = map! { "command" => list!["sh", "-c", test] };
    let probe = |delay: Option<i64>, period: i64, timeout: i64, failures: i64| {
        map! {
            "exec" => exec.clone(),
            "initialDelaySeconds" => delay,
            "periodSeconds" => period,
            "timeoutSeconds" => timeout,
            "failureThreshold" => failures,
        }
    };
    [probe(Some(3), 2, 3, 150), probe(None, 30, 5, 3), probe(None, 10, 3, 3)]
}
