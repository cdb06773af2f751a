//! Plain HTTP for machines that watch: `/metrics`, `/healthz` and `/readyz`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::health::Health;
use super::metrics::Metrics;

/// Connections at a time; others wait in the kernel's queue.
const CONNECTIONS: usize = 32;
/// How long a client may take to send its request.
const HEADERS: Duration = Duration::from_secs(5);
/// How long a connection lives: scrapers connect again.
const AGE: Duration = Duration::from_secs(300);
/// Read buffer, and so the largest headers.
const BUFFER: usize = 16 * 1024;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is served.
#[derive(Clone)]
pub(super) struct Page {
    pub metrics: Arc<Metrics>,
    pub health: Health,
}

impl Page {
    /// Serves for ever.
    pub(super) async fn serve(self, listener: TcpListener) {
        let slots = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
            let Ok((tcp, _)) = listener.accept().await else {
                sleep(Duration::from_millis(50)).await;
                continue;
            };
            let page = self.clone();
            tokio::spawn(async move {
                let _slot = slot;
                // A client that goes or stalls costs nothing but its connection.
                let _ = timeout(AGE, page.connection(tcp)).await;
            });
        }
    }

    async fn connection(self, tcp: TcpStream) -> hyper::Result<()> {
        let service = service_fn(move |request| {
            let response = self.answer(&request);
            async move { Ok::<_, Infallible>(response) }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(BUFFER);
        builder.serve_connection(TokioIo::new(tcp), service).await
    }

    fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return page(StatusCode::METHOD_NOT_ALLOWED, "only GET\n");
        }
        match request.uri().path() {
            "/metrics" => metrics(self.metrics.text()),
            "/healthz" => page(StatusCode::OK, "ok\n"),
            "/readyz" if self.health.ready() => page(StatusCode::OK, "ok\n"),
            "/readyz" => page(StatusCode::SERVICE_UNAVAILABLE, "not serving\n"),
            _ => page(StatusCode::NOT_FOUND, "/metrics, /healthz or /readyz\n"),
        }
    }
}

fn page(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response
}

fn metrics(text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(OPEN_METRICS));
    response
}
