//! What one call answers: requirements, resources, status, conditions and results.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::node::Node;
use crate::problem::Problems;
use crate::wire::RawStruct;

/// The EnvironmentConfigs a call asks for: name by key. Ordered, and the same on every response.
pub type Requirements = BTreeMap<String, String>;

/// What to do after looking at the inputs.
#[derive(Clone, Debug)]
pub enum Step {
    /// Something was not asked for yet: say so and change nothing.
    Ask(Requirements),
    /// The whole answer.
    Answer(Box<Composition>),
}

/// One desired composed resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed {
    /// The whole object, without nulls and without empty values of ours.
    pub object: RawStruct,
    /// Crossplane may count it as ready.
    pub ready: bool,
}

/// What becomes of a resource. Leaving one out of a response deletes it, so say which you mean.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Emit it.
    Compose(RawStruct),
    /// It cannot be built yet and does not exist: leave it out and say what it waits for.
    Wait(Reason),
    /// The spec does not want it: leave it out, and if it exists, let it be deleted.
    Omit,
}

/// What a withheld resource waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The queue has no URL yet.
    QueueUrl,
    /// The ServiceAccount does not exist yet; pods started before it get no credentials.
    ServiceAccount,
}

impl Reason {
    /// In words, for status and stderr.
    pub fn text(self) -> &'static str {
        match self {
            Reason::QueueUrl => "waiting for the queue URL",
            Reason::ServiceAccount => "waiting for the ServiceAccount",
        }
    }
}

/// The status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not.
    False,
    /// It cannot be told.
    Unknown,
}

impl Truth {
    /// As Kubernetes writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Truth::True => "True",
            Truth::False => "False",
            Truth::Unknown => "Unknown",
        }
    }
}

/// One of our conditions, on the composite and the claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The condition's type, one of [`crate::status::CONDITIONS`].
    pub kind: &'static str,
    /// Its status.
    pub status: Truth,
    /// Its reason.
    pub reason: &'static str,
    /// Why, for people; may be empty when the status is True.
    pub message: String,
}

/// How grave a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Something worth knowing.
    Normal,
    /// Something doubtful.
    Warning,
    /// The call is refused; nothing is applied and nothing deleted.
    Fatal,
}

/// A result of the call; Crossplane makes an event of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How grave it is.
    pub severity: Severity,
    /// What to tell. Never a secret.
    pub message: String,
}

/// The whole answer of a call.
#[derive(Clone, Debug)]
pub struct Composition {
    /// What was asked for, again.
    pub requirements: Requirements,
    /// The resolved spec, when the platform settings ask for that stage alone.
    pub spec: Option<Value>,
    /// What to write into the composite's status; absent beside a refusal.
    pub status: Option<Node>,
    /// Our desired resources by composition-resource name.
    pub resources: BTreeMap<&'static str, Composed>,
    /// Resources that wait, and for what.
    pub waiting: BTreeMap<&'static str, Reason>,
    /// The composite must not count as ready.
    pub hold: bool,
    /// All our conditions.
    pub conditions: Vec<Verdict>,
    /// What to tell, in order.
    pub results: Vec<Notice>,
    /// How long the answer holds.
    pub ttl: Duration,
    /// What is wrong; not empty beside a Fatal result.
    pub problems: Problems,
    /// What is doubtful, told or not.
    pub warnings: Problems,
    /// The flavors that were merged, for the log.
    pub applied: Vec<String>,
    /// One of our conditions differs from what stands on the composite, or nothing is observed yet.
    pub changed: bool,
    /// The actor's name, when it has one.
    pub actor: String,
    /// The resolved spec for the log, if it was wanted, secrets and all: print it through [`crate::resolve::tables::without_secrets`].
    pub resolved: Option<Value>,
}
