//! What Prometheus may know. `docs/metrics.md` is the table for people; a test compares the two.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::answer::{Outcome, Report};
use super::method::{METHODS, Method};
use super::refusal::Reason;
use crate::problem::Kind;

/// All that is counted.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    started: Family<Method, Counter>,
    handled: Family<Handled, Counter>,
    received: Family<Method, Counter>,
    sent: Family<Method, Counter>,
    calls: Family<ByOutcome, Counter>,
    problems: Family<ByKind, Counter>,
    stages: Family<ByStage, Histogram, fn() -> Histogram>,
    flavors: Counter,
    connections: Gauge,
    refused: Family<ByReason, Counter>,
    reloads: Family<ByResult, Counter>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Handled {
    #[prometheus(flatten)]
    method: Method,
    grpc_code: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByOutcome {
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByKind {
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByStage {
    stage: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByReason {
    reason: Reason,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByResult {
    result: &'static str,
}

impl EncodeLabelValue for Reason {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        self.as_str().encode(encoder)
    }
}

/// From a fiftieth of a millisecond to a second.
fn histogram() -> Histogram {
    Histogram::new([0.000_02, 0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1.0])
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            started: Family::default(),
            handled: Family::default(),
            received: Family::default(),
            sent: Family::default(),
            calls: Family::default(),
            problems: Family::default(),
            stages: Family::new_with_constructor(histogram),
            flavors: Counter::default(),
            connections: Gauge::default(),
            refused: Family::default(),
            reloads: Family::default(),
        };
        metrics.register();
        metrics.begin_at_zero();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("grpc_server_started", "Calls that began", self.started.clone());
        registry.register("grpc_server_handled", "Calls that ended, by their code", self.handled.clone());
        registry.register("grpc_server_msg_received", "Messages received", self.received.clone());
        registry.register("grpc_server_msg_sent", "Messages sent", self.sent.clone());
        let ours = registry.sub_registry_with_prefix("function_asya");
        ours.register("calls", "RunFunction calls by what became of them", self.calls.clone());
        ours.register("problems", "Problems told, by their kind", self.problems.clone());
        ours.register("stage_duration_seconds", "Time a call takes in each stage", self.stages.clone());
        ours.register("flavors_resolved", "Flavors merged into an actor", self.flavors.clone());
        ours.register("connections", "Open connections, those in their handshake included", self.connections.clone());
        ours.register("connections_refused", "Connections that were refused", self.refused.clone());
        ours.register("certificate_reloads", "Times the certificate files changed", self.reloads.clone());
        ours.register("build", "The version that runs", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
    }

    /// Makes every series exist before it counts, so that its first event is an increase.
    fn begin_at_zero(&self) {
        for method in METHODS {
            for family in [&self.started, &self.received, &self.sent] {
                drop(family.get_or_create(method));
            }
            drop(self.handled.get_or_create(&Handled { method: *method, grpc_code: "OK" }));
        }
        for outcome in Outcome::ALL {
            drop(self.calls.get_or_create(&ByOutcome { outcome: outcome.as_str() }));
        }
        for kind in [Kind::Conflict, Kind::Missing, Kind::Platform, Kind::Value, Kind::Transport] {
            drop(self.problems.get_or_create(&ByKind { kind: name(kind) }));
        }
        for stage in ["decode", "compose", "encode"] {
            drop(self.stages.get_or_create(&ByStage { stage }));
        }
        for reason in Reason::ALL {
            drop(self.refused.get_or_create(&ByReason { reason }));
        }
        for result in ["loaded", "kept"] {
            drop(self.reloads.get_or_create(&ByResult { result }));
        }
    }

    /// Everything in the OpenMetrics text format.
    pub fn text(&self) -> String {
        let mut written = String::new();
        // Writing into a String cannot fail.
        let _ = text::encode(&mut written, &self.registry);
        written
    }

    pub(super) fn started(&self, method: &Method) {
        self.started.get_or_create(method).inc();
    }

    pub(super) fn handled(&self, method: &Method, grpc_code: &'static str) {
        self.handled.get_or_create(&Handled { method: *method, grpc_code }).inc();
    }

    pub(super) fn received(&self, method: &Method) {
        self.received.get_or_create(method).inc();
    }

    pub(super) fn sent(&self, method: &Method) {
        self.sent.get_or_create(method).inc();
    }

    pub(super) fn called(&self, outcome: Outcome) {
        self.calls.get_or_create(&ByOutcome { outcome: outcome.as_str() }).inc();
    }

    pub(super) fn answered(&self, report: &Report) {
        self.called(report.outcome);
        for kind in &report.problems {
            self.problems.get_or_create(&ByKind { kind: name(*kind) }).inc();
        }
        for (stage, taken) in [("decode", report.decode), ("compose", report.compose), ("encode", report.encode)] {
            self.stages.get_or_create(&ByStage { stage }).observe(Duration::as_secs_f64(&taken));
        }
        self.flavors.inc_by(report.flavors as u64);
    }

    pub(super) fn refused(&self, reason: Reason) {
        self.refused.get_or_create(&ByReason { reason }).inc();
    }

    pub(super) fn reloaded(&self, result: &'static str) {
        self.reloads.get_or_create(&ByResult { result }).inc();
    }

    /// Counts a connection as open until the guard is dropped.
    pub(super) fn open(self: &Arc<Self>) -> Open {
        self.connections.inc();
        Open(Arc::clone(self))
    }
}

/// An open connection.
pub(super) struct Open(Arc<Metrics>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.connections.dec();
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Conflict => "conflict",
        Kind::Missing => "missing",
        Kind::Platform => "platform",
        Kind::Value => "value",
        Kind::Transport => "transport",
    }
}
