//! One call without the network: decode, compose, encode, and one log line.

use std::time::{Duration, Instant};

use smol_str::SmolStr;
use tonic::Status;
use tracing::Level;

use super::settings::Settings;
use crate::composed::{Composition, Step};
use crate::inputs::{CompositeStatus, Metadata};
use crate::pipeline::compose;
use crate::problem::{Kind, Problem};
use crate::resolve::tables::without_secrets;
use crate::wire::proto::v1;
use crate::wire::{At, RawStruct, ReadError, request, response};

/// Answers one request.
///
/// # Errors
/// `InvalidArgument` if there is no composite resource, `Internal` for a bug. A person's mistake is a Fatal result instead.
pub fn run(call: v1::RunFunctionRequest, settings: &Settings) -> Result<v1::RunFunctionResponse, Status> {
    answer(call, settings).map(|(response, _)| response)
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It asks for EnvironmentConfigs.
    Ask,
    /// It was answered with everything there is to desire.
    Answered,
    /// It was answered, and something waits for something else.
    Waiting,
    /// It was refused with a Fatal result.
    Refused,
    /// It broke the protocol.
    Invalid,
    /// It met a bug that showed itself in time: the answer cannot be written.
    Failed,
    /// It met a bug and panicked.
    Panicked,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 7] = [
        Outcome::Ask,
        Outcome::Answered,
        Outcome::Waiting,
        Outcome::Refused,
        Outcome::Invalid,
        Outcome::Failed,
        Outcome::Panicked,
    ];

    /// As metrics and logs write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Ask => "ask",
            Outcome::Answered => "answered",
            Outcome::Waiting => "waiting",
            Outcome::Refused => "refused",
            Outcome::Invalid => "invalid",
            Outcome::Failed => "failed",
            Outcome::Panicked => "panicked",
        }
    }

    fn of(step: &Step) -> Self {
        match step {
            Step::Ask(_) => Outcome::Ask,
            Step::Answer(answer) if !answer.problems.is_empty() => Outcome::Refused,
            Step::Answer(answer) if answer.hold || !answer.waiting.is_empty() => Outcome::Waiting,
            Step::Answer(_) => Outcome::Answered,
        }
    }
}

/// What the metrics want to know of a call.
#[derive(Debug)]
pub(super) struct Report {
    pub outcome: Outcome,
    pub problems: Vec<Kind>,
    pub flavors: usize,
    pub decode: Duration,
    pub compose: Duration,
    pub encode: Duration,
}

/// Answers one request and tells how it went.
pub(super) fn answer(
    call: v1::RunFunctionRequest,
    settings: &Settings,
) -> Result<(v1::RunFunctionResponse, Report), Status> {
    let mut watch = Stopwatch(Instant::now());
    let inputs = request::inputs(&call, settings.ttl);
    let mut inputs = inputs.ok_or_else(|| Status::invalid_argument(Problem::no_composite().what))?;
    inputs.tell_spec = tracing::enabled!(Level::DEBUG);
    let decode = watch.lap();
    let step = compose(&inputs);
    let compose = watch.lap();
    let line = Line::of(&call, &step);
    watch.lap();
    let response = response::response(call, &step);
    let response = response.map_err(|error| Status::internal(format!("the answer cannot be written: {error}")))?;
    let (problems, flavors) = match &step {
        Step::Ask(_) => (Vec::new(), 0),
        Step::Answer(answer) => (answer.problems.iter().map(|problem| problem.kind).collect(), answer.applied.len()),
    };
    let report = Report { outcome: Outcome::of(&step), problems, flavors, decode, compose, encode: watch.lap() };
    if let Some(line) = line {
        line.write(&step, &report);
    }
    Ok((response, report))
}

struct Stopwatch(Instant);

impl Stopwatch {
    /// The time since the last lap.
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.0, now))
    }
}

/// The tag of a request, by which Crossplane's and our logs find each other.
pub(super) fn tag(call: &v1::RunFunctionRequest) -> &str {
    call.meta.as_ref().map_or("", |meta| &meta.tag)
}

/// Who a log line is about.
struct Line {
    level: Level,
    tag: String,
    composite: Head,
}

/// The head of a composite.
#[derive(Default)]
struct Head {
    kind: SmolStr,
    metadata: Metadata,
}

impl Head {
    fn read(composite: &RawStruct) -> Result<Self, ReadError> {
        At::read(composite, ["kind", "metadata"], |_, [kind, metadata]| {
            let kind = kind.string()?.unwrap_or_default();
            Ok(Self { kind, metadata: Metadata::read(&metadata)? })
        })
    }
}

impl Line {
    /// Reads who the call is about; nothing if nobody would see the line.
    fn of(call: &v1::RunFunctionRequest, step: &Step) -> Option<Self> {
        let composite = call.observed.as_ref().and_then(|state| state.composite.as_ref()?.resource.as_ref());
        let level = match level(step) {
            Level::INFO if composite.is_some_and(|composite| stands(composite, step)) => Level::DEBUG,
            level => level,
        };
        if level > tracing::level_filters::LevelFilter::current() {
            return None;
        }
        let composite = composite.and_then(|composite| Head::read(composite).ok()).unwrap_or_default();
        Some(Self { level, tag: tag(call).to_owned(), composite })
    }

    /// One line a call: what people grep for when flavors were applied, and every refusal.
    fn write(&self, step: &Step, report: &Report) {
        let Metadata { name, namespace, labels, .. } = &self.composite.metadata;
        // Crossplane 1 keeps composites outside of namespaces; the claim's is what people know.
        let claims = labels.get("crossplane.io/claim-namespace").map_or("", String::as_str);
        let namespace = if namespace.is_empty() { claims } else { namespace };
        let name = name.as_str();
        let (tag, kind, outcome) = (&*self.tag, &*self.composite.kind, report.outcome.as_str());
        let duration = (report.decode + report.compose + report.encode).as_secs_f64();
        macro_rules! tell {
            ($level:ident, $actor:expr, $($rest:tt)+) => {
                tracing::$level!(tag, kind, namespace, name, actor = $actor, outcome, duration, $($rest)+)
            };
        }
        let Step::Answer(answer) = step else {
            return tell!(debug, "", "Asked");
        };
        let Composition { actor, applied, problems, resolved, .. } = answer.as_ref();
        match (report.outcome, self.level) {
            (Outcome::Refused, _) => tell!(warn, actor, problems = %problems, "Refused"),
            (_, Level::INFO) if applied.is_empty() => tell!(info, actor, "Composed"),
            (_, Level::INFO) => tell!(info, actor, flavors = ?applied, "Flavors applied"),
            _ if applied.is_empty() => tell!(debug, actor, "Composed"),
            _ => tell!(debug, actor, flavors = ?applied, "Flavors applied"),
        }
        if let Some(resolved) = resolved.as_ref().filter(|_| tracing::enabled!(Level::DEBUG)) {
            tracing::debug!(tag, actor, spec = %without_secrets(resolved), "Resolved");
        }
    }
}

/// True if the composite carries every condition of the answer already. Until the first resource exists an actor counts
/// as changed at every call, and nobody wants to read of it each time.
fn stands(composite: &RawStruct, step: &Step) -> bool {
    let Step::Answer(answer) = step else { return false };
    let told = At::read(composite, ["status"], |_, [status]| CompositeStatus::read(&status));
    let told = told.unwrap_or_default().conditions;
    answer.conditions.iter().all(|verdict| {
        told.iter().any(|condition| {
            (verdict.kind, verdict.status.as_str(), verdict.reason, &*verdict.message)
                == (&*condition.kind, &*condition.status, &*condition.reason, &*condition.message)
        })
    })
}

/// How loud a call is: refusals always, changes usually, the rest only for who wants to see everything.
fn level(step: &Step) -> Level {
    match step {
        Step::Answer(answer) if !answer.problems.is_empty() => Level::WARN,
        Step::Answer(answer) if answer.changed => Level::INFO,
        _ => Level::DEBUG,
    }
}
