//! The gRPC server: FunctionRunnerService in both of its versions, answered by one handler.
//!
//! ```text
//! listen ─accept→ (tls ←reload─ files) ─connection→ router ─┬→ function ─answer→ compose
//!                  └→ refusal                               ├→ health, reflection
//!                                                 http ─────┴→ metrics
//! ```

mod accept;
mod answer;
mod budget;
mod connection;
mod counted;
mod deadline;
mod ending;
mod function;
mod health;
mod heap;
mod http;
mod lent;
mod listen;
pub mod logs;
mod messages;
mod method;
mod metrics;
pub mod panics;
mod reflection;
mod refusal;
mod reload;
mod router;
mod settings;
mod tls;
#[cfg_attr(not(feature = "otlp"), path = "traces_off.rs")]
mod traces;

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;

pub use answer::{Outcome, run};
pub use function::{Function, Hook};
pub use health::Health;
pub use heap::keep_freed;
pub use listen::{Network, listen};
pub use method::Method;
pub use metrics::Metrics;
pub use refusal::Reason;
pub use reload::Certificates;
pub use settings::{Limits, Settings};
pub use tls::{Identity, Trouble};
pub use traces::Traces;

/// A server that is ready to run.
pub struct Server {
    /// What answers calls.
    pub function: Function,
    /// What clients may take.
    pub limits: Limits,
    /// Who we are to clients; nobody for plaintext.
    pub identity: Option<Identity>,
    /// What probes are told.
    pub health: Health,
}

impl Server {
    /// A plaintext server with the usual limits.
    pub fn new(settings: Settings) -> Self {
        let function = Function { settings, metrics: Arc::default(), hook: None };
        Self { function, limits: Limits::default(), identity: None, health: Health::default() }
    }

    /// Serves metrics and probes on `listener`, for ever.
    pub fn watched(&self, listener: TcpListener) -> impl Future<Output = ()> + Send + use<> {
        http::Page { metrics: Arc::clone(&self.function.metrics), health: self.health.clone() }.serve(listener)
    }

    /// Serves calls on `listener` until `stop` completes; then says so to whoever asks, goes on for the delay, and finishes
    /// the running calls.
    ///
    /// Tells how many connections did not end within the grace.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) -> usize {
        let Self { function, limits, identity, health } = self;
        let (metrics, delay) = (Arc::clone(&function.metrics), limits.delay);
        let router = Arc::new(router::Router::new(function, &health, &limits));
        let door = accept::Door { router, limits, identity, metrics, refusals: refusal::Refusals::default() };
        let (drain, draining) = watch::channel(false);
        health.tell(true).await;
        let asked = async {
            stop.await;
            health.tell(false).await;
            tokio::time::sleep(delay).await;
            drain.send_replace(true);
        };
        tokio::join!(door.keep(listener, draining), asked).0
    }
}
