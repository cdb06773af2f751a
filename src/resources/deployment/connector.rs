//! A container that keeps state outside the pod.

use serde_json::{Value, json};

use super::super::Subject;
use super::super::env::Environment;
use super::{STATE_DIR, mount, resources};
use crate::spec::{EnvVar, StateProxy};
use crate::tree;

/// The container.
pub fn connector(subject: &Subject<'_>, proxy: &StateProxy) -> Value {
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
