//! Rules on the resolved spec that a schema cannot say, each told with who brought the value.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Check;
use super::tables::identity_key;
use crate::go;
use crate::path::Path;
use crate::platform::{Image, Platform};
use crate::problem::Problem;
use crate::resources::deployment::{MOUNTS_OF_OURS, VOLUMES_OF_OURS};
use crate::tree;

/// The longest stateProxy name: the container `asya-state-proxy-{name}` has at most 63 characters.
const LONGEST_STATE_PROXY: usize = 46;

/// All breaches of all rules.
pub fn check(check: &Check<'_, '_>, platform: &Platform) -> Vec<Problem> {
    let mut problems = Vec::new();
    required(check, &mut problems);
    scaling(check, &mut problems);
    triggers(check, &mut problems);
    durations(check, &mut problems);
    retries(check, &mut problems);
    environments(check, &mut problems);
    containers(check, &mut problems);
    volumes(check, platform, &mut problems);
    state(check, platform, &mut problems);
    node_selector(check, &mut problems);
    sidecar_image(check, &mut problems);
    problems.extend(
        crate::transport::check(check.value).into_iter().map(|(path, what, hint)| check.wrong(&path, what).hint(hint)),
    );
    problems
}

fn required(check: &Check<'_, '_>, problems: &mut Vec<Problem>) {
    for key in ["image", "handler"] {
        if check.at(key).is_none() {
            problems.push(
                check.wrong(&Path::keys(key), "is required").hint("set it on the actor, or in one of its flavors"),
            );
        }
    }
}

/// Counts with the least they may be: KEDA's own webhook, which knows them, may not be there to tell.
const COUNTS: &[(&str, i64)] = &[
    ("replicas", 1),
    ("scaling.minReplicaCount", 0),
    ("scaling.maxReplicaCount", 1),
    ("scaling.pollingInterval", 1),
    ("scaling.cooldownPeriod", 0),
    ("scaling.queueLength", 1),
];

fn scaling(check: &Check<'_, '_>, problems: &mut Vec<Problem>) {
    for (keys, least) in COUNTS {
        if let Some(value) = check.at(keys).and_then(Value::as_i64) {
            // The schema knows the least number of replicas itself.
            if value < *least && *keys != "replicas" {
                problems.push(check.wrong(&Path::keys(keys), format!("must be at least {least}, not {value}")));
            } else if value > i64::from(i32::MAX) {
                problems.push(check.wrong(&Path::keys(keys), format!("must be at most {}, not {value}", i32::MAX)));
            }
        }
    }
    minimum_over_maximum(check, problems);
    let set = |key: &str| check.at("scaling.advanced").is_some_and(|advanced| advanced.get(key).is_some());
    for (key, other) in
        [("formula", "target"), ("target", "formula"), ("activationTarget", "formula"), ("metricType", "formula")]
    {
        if set(key) && !set(other) {
            let what = format!("needs `scaling.advanced.{other}` beside it");
            problems.push(check.wrong(&Path::keys("scaling.advanced").key(key), what).hint("set both, or neither"));
        }
    }
}

fn minimum_over_maximum(check: &Check<'_, '_>, problems: &mut Vec<Problem>) {
    let (low, high) = (Path::keys("scaling.minReplicaCount"), Path::keys("scaling.maxReplicaCount"));
    let number = |path| tree::get(check.value, path).and_then(Value::as_i64);
    let (Some(min), Some(max)) = (number(&low), number(&high)) else { return };
    if min > max && max >= 1 {
        let set_by = |path| {
            check.fields.nearest(path).set_by().map_or_else(String::new, |layer| format!(" from {}", layer.source))
        };
        let note = format!("minReplicaCount {min}{}, maxReplicaCount {max}{}", set_by(&low), set_by(&high));
        // Blame whoever set the higher-ranked of the two, which is the one that broke it.
        let rank = |path| check.fields.nearest(path).set_by().map(|layer| layer.rank);
        let blamed = if rank(&high) > rank(&low) { &high } else { &low };
        let what = format!("minReplicaCount {min} is over maxReplicaCount {max}");
        problems.push(check.wrong(blamed, what).note(note).hint("lower the minimum, or raise the maximum"));
    }
}

/// Trigger metadata is a map of strings in KEDA, and `queue` is the name of our own trigger.
fn triggers(check: &Check<'_, '_>, problems: &mut Vec<Problem>) {
    for (index, trigger) in check.list("scaling.additionalTriggers").iter().enumerate() {
        let path = Path::keys("scaling.additionalTriggers").index(index);
        if trigger.get("name").and_then(Value::as_str) == Some("queue") {
            problems.push(
                check
                    .wrong(&path, "a trigger called `queue` is there already: the actor's own")
                    .hint("give it another name"),
            );
        }
        match trigger.get("metadata") {
            Some(Value::Object(metadata)) => {
                for (key, value) in metadata.iter().filter(|(_, value)| !value.is_string()) {
                    let what = format!("must be a string, not {}", tree::shape(value));
                    problems.push(check.wrong(&path.key("metadata").key(key), what).hint("quote it"));
                }
            }
            Some(other) => {
                let what = format!("must be a map of strings, not {}", tree::shape(other));
                problems.push(check.wrong(&path.key("metadata"), what));
            }
            None => {}
        }
    }
}

/// The sidecar takes a duration it cannot read for 5 minutes, silently.
fn durations(check: &Check<'_, '_>, problems: &mut Vec<Problem>) {
    let mut look = |value: Option<&Value>, path: &dyn Fn() -> Path| {
        let Some(text) = value.and_then(Value::as_str) else { return };
        if go::duration(text).is_none_or(|duration| duration.is_zero()) {
            let what = format!("{text:?} is no positive duration");
            problems.push(check.wrong(&path(), what).hint("write it like `90s`, `1m30s` or `500ms`"));
        }
    };
    look(check.at("resiliency.actorTimeout"), &|| Path::keys("resiliency.actorTimeout"));
    let policies = check.at("resiliency.policies").and_then(Value::as_object);
    for (name, policy) in policies.into_iter().flatten() {
        for key in ["initialDelay", "maxInterval", "maxDuration"] {
            look(policy.get(key), &|| Path::keys("resiliency.policies").key(name).key(key));
        }
    }
}

fn retries(check: &Check<'_, '_>, problems: &mut Vec<Problem>) {
    let policies = check.at("resiliency.policies").and_then(Value::as_object);
    let known: Vec<&str> = policies.into_iter().flat_map(|policies| policies.keys().map(String::as_str)).collect();
    for (index, rule) in check.list("resiliency.rules").iter().enumerate() {
        let Some(name) = rule.get("policy").and_then(Value::as_str) else { continue };
        if !known.contains(&name) {
            let path = Path::keys("resiliency.rules").index(index).key("policy");
            let hint = match known.as_slice() {
                [] => "define it under `resiliency.policies`".to_owned(),
                known => format!("policies here: {}", known.join(", ")),
            };
            problems.push(check.wrong(&path, format!("there is no policy `{name}`")).hint(hint));
        }
    }
}

/// Variables that only we may set, by the list they would stand in.
const RESERVED: &[(&str, &str, &str)] = &[
    ("env", "ASYA_HANDLER", "set `spec.handler`"),
    (
        "env",
        "ASYA_SOCKET_DIR",
        "it follows from the platform setting `sidecar.socketDir`; for the handler set `spec.handler`",
    ),
    ("env", "ASYA_STATE_PROXY_MOUNTS", "it follows from `spec.stateProxy`; for the handler set `spec.handler`"),
    ("sidecar.env", "ASYA_ACTOR_NAME", "set `spec.actor`"),
    ("sidecar.env", "ASYA_NAMESPACE", "it is the claim's namespace"),
    ("sidecar.env", "ASYA_TRANSPORT", "the Composition decides the transport"),
    ("connector.env", "CONNECTOR_SOCKET", "it follows from the stateProxy's name"),
];

fn environments(check: &Check<'_, '_>, problems: &mut Vec<Problem>) {
    environment(check, &Path::keys("env"), "env", problems);
    environment(check, &Path::keys("sidecar.env"), "sidecar.env", problems);
    for index in 0..check.list("stateProxy").len() {
        let path = Path::keys("stateProxy").index(index).key("connector").key("env");
        environment(check, &path, "connector.env", problems);
        listed_twice(check, &path, problems);
    }
    for (group, entry) in check.list("secretRefs").iter().enumerate() {
        let keys = entry.get("keys").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, key) in keys.iter().enumerate() {
            let path = || Path::keys("secretRefs").index(group).key("keys").index(index).key("envVar");
            problems.extend(reserved(check, &path, "env", key.get("envVar").and_then(Value::as_str)));
        }
    }
}

fn environment(check: &Check<'_, '_>, list: &Path, kind: &str, problems: &mut Vec<Problem>) {
    let entries = tree::get(check.value, list).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (index, entry) in entries.iter().enumerate() {
        let path = || list.index(index);
        problems.extend(reserved(check, &path, kind, entry.get("name").and_then(Value::as_str)));
        if entry.get("value").is_some() && entry.get("valueFrom").is_some() {
            problems.push(check.wrong(&path(), "has both `value` and `valueFrom`").hint("keep one of the two"));
        }
    }
}

fn reserved(check: &Check<'_, '_>, path: &dyn Fn() -> Path, kind: &str, name: Option<&str>) -> Option<Problem> {
    let (_, name, hint) = RESERVED.iter().find(|(list, reserved, _)| *list == kind && Some(*reserved) == name)?;
    Some(check.wrong(&path(), format!("`{name}` cannot be set here")).hint(*hint))
}

/// A connector's environment comes whole from one layer, so the merge does not look into it.
fn listed_twice(check: &Check<'_, '_>, list: &Path, problems: &mut Vec<Problem>) {
    let entries = tree::get(check.value, list).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut first = BTreeMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some(name) = entry.get("name").and_then(Value::as_str) else { continue };
        if *first.entry(name).or_insert(entry) != entry {
            let what = "is listed twice, with different content";
            problems.push(check.wrong(&list.index(index), what).hint("keep one of the two"));
        }
    }
}

fn containers(check: &Check<'_, '_>, problems: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    for list in ["initContainers", "sidecars"] {
        for (index, container) in check.list(list).iter().enumerate() {
            let Some(name) = container.get("name").and_then(Value::as_str) else { continue };
            let path = || Path::keys(list).index(index).key("name");
            if name.starts_with("asya-") {
                problems.push(
                    check
                        .wrong(&path(), "names that start with `asya-` are ours")
                        .hint("give the container another name"),
                );
            }
            if !seen.insert(name) {
                problems.push(
                    check
                        .wrong(&path(), format!("the pod has two containers called `{name}`"))
                        .hint("rename one of them"),
                );
            }
        }
    }
}

fn volumes(check: &Check<'_, '_>, platform: &Platform, problems: &mut Vec<Problem>) {
    for (index, volume) in check.list("volumes").iter().enumerate() {
        let name = volume.get("name").and_then(Value::as_str).unwrap_or_default();
        if VOLUMES_OF_OURS.contains(&name) {
            let path = Path::keys("volumes").index(index).key("name");
            problems.push(
                check
                    .wrong(&path, format!("a volume called `{name}` is there already: ours"))
                    .hint("give it another name"),
            );
        }
    }
    for (index, mount) in check.list("volumeMounts").iter().enumerate() {
        let path = mount.get("mountPath").and_then(Value::as_str).unwrap_or_default();
        if is_mount_of_ours(path, platform) {
            let at = Path::keys("volumeMounts")
                .index(index)
                .key(identity_key(&Path::keys("volumeMounts")).unwrap_or_default());
            problems.push(
                check.wrong(&at, format!("`{path}` is where a volume of ours is mounted")).hint("mount it elsewhere"),
            );
        }
    }
}

/// True for a path where the runtime container has a volume of ours already.
fn is_mount_of_ours(path: &str, platform: &Platform) -> bool {
    let (path, sidecar) = (path.trim_end_matches('/'), &platform.sidecar);
    MOUNTS_OF_OURS.contains(&path)
        || path == sidecar.socket_dir.trim_end_matches('/')
        || path == sidecar.runtime_mount_path
}

fn state(check: &Check<'_, '_>, platform: &Platform, problems: &mut Vec<Problem>) {
    let mut taken = BTreeSet::new();
    for (index, proxy) in check.list("stateProxy").iter().enumerate() {
        let path = Path::keys("stateProxy").index(index);
        let name = proxy.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.len() > LONGEST_STATE_PROXY && name.len() <= 63 {
            let what = format!("has {} characters; a stateProxy's name has at most {LONGEST_STATE_PROXY}", name.len());
            problems.push(
                check
                    .wrong(&path.key("name"), what)
                    .hint("its container is called `asya-state-proxy-` and the name, 63 characters at most"),
            );
        }
        let mount = proxy.pointer("/mount/path").and_then(Value::as_str).unwrap_or_default();
        if mount.contains([':', ';']) {
            let what = "may not hold `:` or `;`, which separate the runtime's list of mounts";
            problems.push(check.wrong(&path.key("mount").key("path"), what));
        } else if is_mount_of_ours(mount, platform) {
            let what = format!("`{mount}` is where a volume of ours is mounted");
            problems.push(check.wrong(&path.key("mount").key("path"), what).hint("mount it elsewhere"));
        } else if !mount.is_empty() && !taken.insert(mount.trim_end_matches('/')) {
            let what = format!("`{mount}` is the path of another stateProxy too");
            problems.push(check.wrong(&path.key("mount").key("path"), what).hint("mount it elsewhere"));
        }
    }
}

fn sidecar_image(check: &Check<'_, '_>, problems: &mut Vec<Problem>) {
    let path = Path::keys("sidecar.image");
    for (key, what) in check.at("sidecar.image").map(Image::faults).into_iter().flatten() {
        problems.push(check.wrong(&key.map_or_else(|| path.clone(), |key| path.key(key)), what));
    }
}

fn node_selector(check: &Check<'_, '_>, problems: &mut Vec<Problem>) {
    let Some(Value::Object(labels)) = check.at("nodeSelector") else { return };
    for (key, value) in labels.iter().filter(|(_, value)| !value.is_string()) {
        let what = format!("must be a string, not {}", tree::shape(value));
        problems.push(check.wrong(&Path::keys("nodeSelector").key(key), what).hint("quote it"));
    }
}
