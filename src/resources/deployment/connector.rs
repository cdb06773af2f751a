//! A container that keeps state outside the pod.

use super::super::Subject;
use super::super::env::Environment;
use super::{STATE_DIR, mount, resources};
use crate::node::{Node, list, map};
use crate::spec::{EnvVar, StateProxy};

/// The container.
pub fn connector(subject: &Subject<'_>, proxy: &StateProxy) -> Node {
    let mut env = Environment::default();
    env.set("CONNECTOR_SOCKET", format!("{STATE_DIR}/{}.sock", proxy.name));
    // In front of the user's, so that `STATE_PREFIX=$(NAMESPACE)/` works.
    env.set("NAMESPACE", subject.identity.namespace.as_str());
    env.set("ASYA_ACTOR_NAME", subject.identity.actor.as_str());
    let own: &[EnvVar] = &proxy.connector.env;
    env.extend(own);
    map! {
        "name" => format!("asya-state-proxy-{}", proxy.name),
        "image" => &proxy.connector.image,
        "imagePullPolicy" => proxy.connector.image_pull_policy.as_deref().unwrap_or("IfNotPresent").to_owned(),
        "env" => env.into_node(),
        "volumeMounts" => list![mount("state-sockets", STATE_DIR)],
        "resources" => resources(proxy.connector.resources.as_ref()),
    }
}
