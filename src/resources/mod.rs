//! The resources of an actor, one file each: how to build it, and when it is ready.

use std::collections::BTreeMap;

use crate::composed::Plan;
use crate::design::Design;
use crate::identity::Identity;
use crate::inputs::Observed;
use crate::node::{Node, map};
use crate::platform::Platform;
use crate::problem::Problems;
use crate::spec::Spec;
use crate::transport::{Binding, Whereabouts};
use crate::wire::{Encoded, RawStruct};

pub mod deployment;
mod env;
pub mod identity;
pub mod live;
pub mod queue;
pub mod scaledobject;
pub mod serviceaccount;
pub mod triggerauthentication;

/// The composition-resource name of the ServiceAccount's Object.
pub const SERVICE_ACCOUNT: &str = "serviceaccount";
/// The composition-resource name of the TriggerAuthentication's Object.
pub const TRIGGER_AUTHENTICATION: &str = "triggerauthentication";
/// The composition-resource name of the ScaledObject's Object.
pub const SCALED_OBJECT: &str = "scaledobject";
/// The composition-resource name of the Deployment's Object.
pub const DEPLOYMENT: &str = "deployment";
/// The wrapped Kubernetes objects.
pub const OBJECTS: [&str; 4] = [DEPLOYMENT, SCALED_OBJECT, SERVICE_ACCOUNT, TRIGGER_AUTHENTICATION];

/// True for the composition-resource names that are ours.
pub fn is_ours(name: &str) -> bool {
    OBJECTS.contains(&name) || name == crate::transport::sqs::QUEUE
}

/// The label that names the actor; ours alone.
pub(crate) const ACTOR_LABEL: &str = "asya.sh/actor";

/// Prefixes of labels that belong to tools, which would fight over our objects if they were copied.
const TOOLS_LABELS: &[&str] = &[
    "crossplane.io/",
    "app.kubernetes.io/",
    "helm.sh/",
    "kubectl.kubernetes.io/",
    "argocd.argoproj.io/",
    "kustomize.toolkit.fluxcd.io/",
    "helm.toolkit.fluxcd.io/",
];

/// The labels of a composite that its user meant for the actor's objects.
pub fn user_labels(labels: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mine = |key: &str| key != ACTOR_LABEL && !TOOLS_LABELS.iter().any(|prefix| key.starts_with(prefix));
    labels.iter().filter(|(key, _)| mine(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// What the resources are built for.
pub struct Subject<'a> {
    /// Who the actor is.
    pub identity: &'a Identity,
    /// What it wants.
    pub spec: &'a Spec,
    /// The installation's settings.
    pub platform: &'a Platform,
    /// The labels its user set.
    pub labels: &'a BTreeMap<String, String>,
    /// What its broker contributes.
    pub binding: &'a Binding,
}

/// Decides what becomes of each resource of a design, given what exists.
///
/// # Errors
/// If a resource that exists cannot be built: leaving it out would delete it.
pub fn plan(
    design: &Design,
    identity: &Identity,
    whereabouts: &Whereabouts,
    observed: &Observed,
) -> Result<BTreeMap<&'static str, Plan>, Problems> {
    let authentication = design.trigger_authentication.clone().map_or(Plan::Omit, Plan::Compose);
    Ok(BTreeMap::from([
        (design.queue_name, Plan::Compose(design.queue.clone())),
        (SERVICE_ACCOUNT, serviceaccount::plan(design, identity, observed)?),
        (TRIGGER_AUTHENTICATION, authentication),
        (SCALED_OBJECT, scaledobject::plan(design, whereabouts, observed)?),
        (DEPLOYMENT, deployment::plan(design, whereabouts, observed)),
    ]))
}

impl Subject<'_> {
    /// Our labels for a component, over the user's.
    fn labels(&self, component: &'static str) -> Node {
        let mut labels = self.plain_labels();
        labels.set("app.kubernetes.io/name", &self.identity.actor);
        labels.set("app.kubernetes.io/component", component);
        labels.set("app.kubernetes.io/part-of", "asya");
        labels.set("app.kubernetes.io/managed-by", "crossplane");
        labels.set(ACTOR_LABEL, &self.identity.actor);
        labels
    }

    fn plain_labels(&self) -> Node {
        self.labels.into()
    }

    /// The metadata of one of the actor's own Kubernetes objects.
    fn metadata(&self, name: &str, component: &'static str) -> Node {
        map! {
            "name" => name.to_owned(),
            "namespace" => &self.identity.namespace,
            "labels" => self.labels(component),
        }
    }

    /// An Object that wraps a Kubernetes object.
    fn wrap(&self, wrapper: Wrapper) -> Node {
        let spec = map! {
            "forProvider" => map! { "manifest" => wrapper.manifest },
            "managementPolicies" => wrapper.management_policies,
            "providerConfigRef" => map! { "name" => &self.platform.kubernetes_provider_config.name },
            "readiness" => wrapper.readiness,
            "watch" => wrapper.watch.then_some(true),
        };
        object(wrapper.labels, spec)
    }
}

/// An Object of provider-kubernetes.
fn object(labels: Node, spec: impl Into<Node>) -> Node {
    map! {
        "apiVersion" => "kubernetes.crossplane.io/v1alpha2",
        "kind" => "Object",
        "metadata" => map! { "labels" => labels },
        "spec" => spec.into(),
    }
}

/// What distinguishes one Object from another.
struct Wrapper {
    labels: Node,
    manifest: Node,
    readiness: Node,
    watch: bool,
    management_policies: Option<Node>,
}

/// The readiness policy of objects that are ready as soon as they exist.
fn once_created() -> Node {
    map! { "policy" => "SuccessfulCreate" }
}

/// The manifest inside an Object of ours.
pub fn manifest(object: &RawStruct) -> Option<Encoded<'_>> {
    object.at(&["spec", "forProvider", "manifest"])
}

/// A text in the metadata of the manifest inside an Object of ours.
fn manifest_text<'a>(object: &'a RawStruct, field: &str) -> Option<&'a str> {
    manifest(object)?.at(&["metadata", field])?.as_str()
}
