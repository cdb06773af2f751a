//! The ServiceAccount of the pods: one for all actors of a namespace, unless its name holds `{actor}`.

use k8s_openapi::Resource as _;
use k8s_openapi::api::core::v1::ServiceAccount;
use serde_json::Value;

use super::{SERVICE_ACCOUNT, Subject, Wrapper, object, once_created};
use crate::api::{Object, is_true};
use crate::composed::Plan;
use crate::design::{self, Design};
use crate::identity::Identity;
use crate::inputs::Observed;
use crate::node::{Node, list, map};
use crate::path::Path;
use crate::problem::{Problem, Problems, Source};
use crate::wire::ReadError;

/// Its Object; none without IRSA.
pub fn build(subject: &Subject<'_>) -> Option<Node> {
    let name = subject.platform.service_account(&subject.identity.namespace, &subject.identity.actor)?;
    let own = subject.platform.account_is_own();
    let mut wrapper_labels = subject.plain_labels();
    if own {
        wrapper_labels = subject.labels("serviceaccount");
    } else {
        SHARED_LABELS.iter().for_each(|(key, value)| wrapper_labels.set(key, *value));
    }
    let labels = if own { wrapper_labels.clone() } else { shared_labels() };
    Some(subject.wrap(Wrapper {
        labels: wrapper_labels,
        manifest: manifest(subject, name, labels),
        readiness: once_created(),
        watch: false,
        management_policies: (!own).then(keep),
    }))
}

/// Emitted if it is wanted. If not, a shared one that would be deleted with its Object first loses that power.
///
/// # Errors
/// If it exists and has to be emitted as it is, and cannot be read.
pub fn plan(design: &Design, identity: &Identity, observed: &Observed) -> Result<Plan, Problems> {
    match &design.service_account {
        Some(object) => Ok(Plan::Compose(object.clone())),
        None => disarm(identity, observed),
    }
}

/// Everything but Delete: the account stays for the other actors.
fn keep() -> Node {
    list!["Observe", "Create", "Update"]
}

/// The labels that are the same whichever actor emits the account.
const SHARED_LABELS: [(&str, &str); 2] =
    [("app.kubernetes.io/part-of", "asya"), ("app.kubernetes.io/managed-by", "crossplane")];

fn shared_labels() -> Node {
    Node::map(SHARED_LABELS.map(|(key, value)| (key.into(), value.into())))
}

fn manifest(subject: &Subject<'_>, name: String, labels: Node) -> Node {
    let role = subject.platform.role_arn(&subject.identity.namespace, &subject.identity.actor);
    let metadata = map! {
        "name" => name,
        "namespace" => &subject.identity.namespace,
        "labels" => labels,
        "annotations" => (!role.is_empty()).then(|| map! { "eks.amazonaws.com/role-arn" => role }),
    };
    map! { "apiVersion" => ServiceAccount::API_VERSION, "kind" => ServiceAccount::KIND, "metadata" => metadata }
}

/// An observed account that is not wanted any more: emitted once more without Delete if it is shared, else let go.
fn disarm(identity: &Identity, observed: &Observed) -> Result<Plan, Problems> {
    let Some(account) = observed.objects.get(SERVICE_ACCOUNT).filter(|object| object.deletes()) else {
        return Ok(Plan::Omit);
    };
    if is_actors_own(account, &identity.actor) {
        return Ok(Plan::Omit);
    }
    let mut spec = Node::from(account.spec.read::<Value>().map_err(unreadable)?);
    spec.set("managementPolicies", without_delete(spec.at(&["managementPolicies"])));
    Ok(Plan::Compose(design::written(SERVICE_ACCOUNT, &object(shared_labels(), spec))?))
}

fn unreadable(error: ReadError) -> Problem {
    let source = Source::Observed(SERVICE_ACCOUNT.to_owned());
    let problem = Problem::value(error.path.below(&Path::keys("spec")), source, error.what);
    problem.hint("look at what wrote it; nothing was changed")
}

/// What the provider may do already, but for Delete.
fn without_delete(policies: Option<&Node>) -> Node {
    let says = |policy: &Node, word: &str| policy.as_str() == Some(word);
    match policies {
        Some(Node::List(list)) if !list.is_empty() && !list.iter().any(|policy| says(policy, "*")) => {
            Node::List(list.iter().filter(|policy| !says(policy, "Delete")).cloned().collect())
        }
        _ => keep(),
    }
}

/// True for an account that only this actor uses: its wrapper bears the actor's label, which neither our wrapper of a
/// shared account nor any of today's pipeline does. In doubt it is shared, and stays.
pub fn is_actors_own(object: &Object, actor: &str) -> bool {
    object.actor() == Some(actor)
}

/// True once Crossplane may count the account as ready.
pub fn is_ready(object: Option<&Object>) -> bool {
    object.is_some_and(|object| is_true(object.conditions(), "Ready") && object.live().is_some())
}
