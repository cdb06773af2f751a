//! One connection from its first frame to its last, and when it is asked to end.

use std::convert::Infallible;
use std::hash::{BuildHasher as _, RandomState};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, copy, sink};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::ending::Ends;
use super::lent;
use super::router::Router;
use super::settings::Limits;

/// Serves a connection until it is old, or `draining`, or the client goes; its running calls are finished first.
pub(super) async fn serve<IO>(io: IO, router: Arc<Router>, limits: &Limits, draining: Ends)
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (io, back) = lent::lend(io);
    if speak(io, router, limits, draining).await
        && let Ok(io) = back.await
    {
        hear_out(io, Duration::from_secs(5)).await;
    }
}

/// Tells whether the connection came to its end; else the client's time for that is over.
async fn speak<IO>(io: IO, router: Arc<Router>, limits: &Limits, mut draining: Ends) -> bool
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (end, ends) = watch::channel(false);
    let service = service_fn(move |call| {
        let (router, ends) = (Arc::clone(&router), ends.clone());
        async move { Ok::<_, Infallible>(router.call(call, ends).await) }
    });
    let mut connection = pin!(builder(limits).serve_connection(TokioIo::new(io), service));
    tokio::select! {
        outcome = &mut connection => {
            note(outcome);
            return true;
        }
        () = sleep(jittered(limits.age)) => {}
        _ = draining.wait_for(|draining| *draining) => {}
    }
    connection.as_mut().graceful_shutdown();
    end.send_replace(true);
    timeout(limits.grace, connection).await.map(note).is_ok()
}

/// Reads on until the client closes its side too, for so much `longer` at most. A socket that is closed with its client's
/// last words unread is reset, and answers that are still under way are thrown away with it.
pub(super) async fn hear_out(io: impl AsyncRead + Unpin, longer: Duration) {
    const MOST: u64 = 1024 * 1024;
    // Whether it hears or not, we are done.
    let _ = timeout(longer, copy(&mut io.take(MOST), &mut sink())).await;
}

fn note(outcome: hyper::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!(%error, "Connection broke");
    }
}

fn builder(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(Limits::HEADERS)
        .initial_stream_window_size(Limits::STREAM_WINDOW)
        .initial_connection_window_size(Limits::CONNECTION_WINDOW)
        .keep_alive_interval(Limits::KEEPALIVE)
        .keep_alive_timeout(Limits::KEEPALIVE_ANSWER);
    builder
}

/// Give or take a tenth, so that the connections of one moment do not all end in one moment.
fn jittered(age: Duration) -> Duration {
    // The standard library's hash keys are random: a number nobody can tell, without a crate for it.
    let random = RandomState::new().hash_one(()) % 2001;
    age.mul_f64(0.9 + random as f64 / 10_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_varies_by_a_tenth() {
        let age = Duration::from_secs(100);
        let ages: Vec<_> = (0..1000).map(|_| jittered(age)).collect();
        assert!(ages.iter().all(|age| (90..=110).contains(&age.as_secs())), "{ages:?}");
        assert!(ages.iter().any(|age| age.as_secs() < 95) && ages.iter().any(|age| age.as_secs() > 105));
    }
}
