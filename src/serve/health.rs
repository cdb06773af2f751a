//! Whether the server serves: for gRPC clients, by service, and for `/readyz`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tonic::server::NamedService;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

use super::router::{V1, V1Beta1};

/// The state that probes ask for.
#[derive(Clone, Debug, Default)]
pub struct Health {
    reporter: HealthReporter,
    ready: Arc<AtomicBool>,
}

impl Health {
    /// The services whose health can be asked for; the empty name is the whole server.
    const SERVICES: [&'static str; 3] = ["", V1::NAME, V1Beta1::NAME];

    pub(super) fn service(&self) -> HealthServer<HealthService> {
        HealthServer::new(HealthService::from_health_reporter(self.reporter.clone()))
    }

    /// True from the first connection that would be accepted to the signal to stop.
    pub fn ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    /// Tells everybody that asks or watches.
    pub(super) async fn tell(&self, ready: bool) {
        self.ready.store(ready, Ordering::Relaxed);
        let status = if ready { ServingStatus::Serving } else { ServingStatus::NotServing };
        for service in Self::SERVICES {
            self.reporter.set_service_status(service, status).await;
        }
    }
}
