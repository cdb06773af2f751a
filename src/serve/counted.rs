//! Counts a call from its start to its code.

use std::sync::Arc;

use http::{HeaderMap, Response};
use tonic::body::Body;
use tonic::{Code, Status};

use super::messages::{Watched, Watcher};
use super::method::{self, Method};
use super::metrics::Metrics;

/// A call under way. One that is dropped before it has a code was given up by the client.
pub(super) struct Call {
    method: &'static Method,
    metrics: Arc<Metrics>,
    code: Option<Code>,
}

impl Call {
    pub(super) fn start(method: &'static Method, metrics: Arc<Metrics>) -> Self {
        metrics.started(method);
        Self { method, metrics, code: None }
    }

    /// Follows the call to the end of its response.
    pub(super) fn follow(mut self, response: Response<Body>) -> Response<Body> {
        if let Some(status) = Status::from_header_map(response.headers()) {
            self.code = Some(status.code());
            return response;
        }
        response.map(|body| Body::new(Watched::new(body, self)))
    }
}

impl Watcher for Call {
    fn message(&mut self) {
        self.metrics.sent(self.method);
    }

    fn trailers(&mut self, trailers: &HeaderMap) {
        self.code = Status::from_header_map(trailers).map(|status| status.code());
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.metrics.handled(self.method, method::code(self.code.unwrap_or(Code::Cancelled)));
    }
}

/// Counts what a client sends.
pub(super) struct Received {
    method: &'static Method,
    metrics: Arc<Metrics>,
}

impl Received {
    pub(super) fn new(method: &'static Method, metrics: Arc<Metrics>) -> Self {
        Self { method, metrics }
    }
}

impl Watcher for Received {
    fn message(&mut self) {
        self.metrics.received(self.method);
    }
}
