//! The ServiceAccount of the pods: one for all actors of a namespace, unless its name holds `{actor}`.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Map, Value, json};

use super::{ACTOR_LABEL, SERVICE_ACCOUNT, Subject, Wrapper, once_created};
use crate::api::{Object, is_true};
use crate::composed::Plan;
use crate::tree;

/// Emitted with IRSA. Without it, a shared one that would be deleted with its Object first loses that power.
pub fn plan(subject: &Subject<'_>) -> Plan {
    let Some(name) = subject.platform.service_account(&subject.identity.namespace, &subject.identity.actor) else {
        return disarm(subject);
    };
    let own = subject.platform.account_is_own();
    let labels = if own { subject.labels("serviceaccount") } else { shared_labels() };
    let manifest = manifest(subject, name, labels.clone());
    let mut wrapper_labels = subject.plain_labels();
    wrapper_labels.extend(labels);
    Plan::Compose(subject.wrap(Wrapper {
        labels: wrapper_labels,
        manifest,
        readiness: once_created(),
        watch: false,
        management_policies: (!own).then(keep),
    }))
}

/// Everything but Delete: the account stays for the other actors.
fn keep() -> Value {
    json!(["Observe", "Create", "Update"])
}

/// The labels that are the same whichever actor emits the account.
fn shared_labels() -> Map<String, Value> {
    let labels = [("app.kubernetes.io/part-of", "asya"), ("app.kubernetes.io/managed-by", "crossplane")];
    labels.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

fn manifest(subject: &Subject<'_>, name: String, labels: Map<String, Value>) -> Value {
    let role = subject.platform.role_arn(&subject.identity.namespace, &subject.identity.actor);
    let annotations = (!role.is_empty()).then(|| BTreeMap::from([("eks.amazonaws.com/role-arn".to_owned(), role)]));
    let labels = labels.into_iter().filter_map(|(key, value)| Some((key, value.as_str()?.to_owned()))).collect();
    let metadata = ObjectMeta {
        name: Some(name),
        namespace: Some(subject.identity.namespace.clone()),
        labels: Some(labels),
        annotations,
        ..ObjectMeta::default()
    };
    let account = ServiceAccount { metadata, ..ServiceAccount::default() };
    serde_json::to_value(account).expect("a ServiceAccount is JSON")
}

/// An observed account that is not wanted any more: emitted once more without Delete if it is shared, else let go.
fn disarm(subject: &Subject<'_>) -> Plan {
    let Some(object) = subject.observed.objects.get(SERVICE_ACCOUNT).filter(|object| object.deletes()) else {
        return Plan::Omit;
    };
    if is_actors_own(object, &subject.identity.actor) {
        return Plan::Omit;
    }
    let mut spec = object.spec.clone();
    let policies = without_delete(spec.get("managementPolicies"));
    tree::overlay(&mut spec, &json!({"managementPolicies": policies}));
    Plan::Compose(json!({
        "apiVersion": "kubernetes.crossplane.io/v1alpha2",
        "kind": "Object",
        "metadata": {"labels": shared_labels()},
        "spec": spec,
    }))
}

/// What the provider may do already, but for Delete.
fn without_delete(policies: Option<&Value>) -> Value {
    match policies.and_then(Value::as_array) {
        Some(policies) if !policies.is_empty() && !policies.contains(&"*".into()) => {
            policies.iter().filter(|policy| *policy != "Delete").cloned().collect()
        }
        _ => keep(),
    }
}

/// True for an account that only this actor uses: its wrapper bears the actor's label, which neither our wrapper of a
/// shared account nor any of today's pipeline does. In doubt it is shared, and stays.
pub fn is_actors_own(object: &Object, actor: &str) -> bool {
    object.metadata.labels.get(ACTOR_LABEL).is_some_and(|label| label == actor)
}

/// True once Crossplane may count the account as ready.
pub fn is_ready(object: Option<&Object>) -> bool {
    object.is_some_and(|object| is_true(object.conditions(), "Ready") && object.live().is_some())
}
