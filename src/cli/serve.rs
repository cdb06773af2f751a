//! `serve`: the gRPC function as a process.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use super::stop::{FINE, REFUSED, Stop};
use crate::go;
use crate::serve::{self, Certificates, Limits, Network, Server, Settings, Traces, Trouble, logs, panics};

/// Serve the gRPC function
#[derive(Clone, Debug, clap::Args)]
pub struct Serve {
    /// Serve without TLS; what `crossplane render` uses
    #[arg(long)]
    insecure: bool,
    /// The folder of tls.crt, tls.key and ca.crt; changes are picked up
    #[arg(long, env = "TLS_SERVER_CERTS_DIR", value_name = "FOLDER")]
    tls_certs_dir: Option<PathBuf>,
    /// How often to look whether the certificates changed, as a Go duration
    #[arg(long, default_value = "5s", value_name = "DURATION", value_parser = read_duration)]
    tls_reload_interval: Duration,
    /// The network to listen on
    #[arg(long, value_enum, default_value_t)]
    network: Network,
    /// The address to listen on
    #[arg(long, default_value = ":9443", value_name = "HOST:PORT")]
    address: String,
    /// Where to serve /metrics, /healthz and /readyz; empty for nowhere
    #[arg(long, env = "METRICS_ADDRESS", default_value = ":8080", value_name = "HOST:PORT")]
    metrics_address: String,
    /// Emit human-readable logs, more of them
    #[arg(short, long)]
    debug: bool,
    /// The largest request, in MB
    #[arg(long, default_value_t = 32, value_name = "MB")]
    max_recv_message_size: usize,
    /// How long an answer holds unless the platform settings say otherwise, as a Go duration
    #[arg(long, value_name = "DURATION", value_parser = read_duration)]
    ttl: Option<Duration>,
    /// How long to go on serving after SIGTERM while probes are told otherwise, as a Go duration
    #[arg(long, default_value = "0", value_name = "DURATION", value_parser = read_duration)]
    shutdown_delay: Duration,
    /// How long running calls may then take to finish, as a Go duration
    #[arg(long, default_value = "25s", value_name = "DURATION", value_parser = read_duration)]
    shutdown_grace: Duration,
    /// The most calls at a time on one connection
    #[arg(long, default_value_t = 256, value_name = "CALLS")]
    max_concurrent_streams: u32,
    /// The most connections at a time
    #[arg(long, default_value_t = 1024, value_name = "CONNECTIONS")]
    max_connections: u32,
    /// How old a connection gets, give or take a tenth, as a Go duration
    #[arg(long, default_value = "30m", value_name = "DURATION", value_parser = read_duration)]
    max_connection_age: Duration,
    /// How long a client may take to shake hands, as a Go duration
    #[arg(long, default_value = "10s", value_name = "DURATION", value_parser = read_duration)]
    handshake_timeout: Duration,
}

fn read_duration(text: &str) -> Result<Duration, String> {
    go::duration(text).ok_or_else(|| "write it like `60s` or `1m30s`; `0` is allowed".to_owned())
}

const MEGABYTE: usize = 1024 * 1024;
/// A gRPC message tells its length in 32 bits.
const LARGEST: usize = 4095;

impl Serve {
    /// Serves until it is told to stop.
    pub fn run(&self) -> Result<u8, Stop> {
        let (settings, limits) = (self.settings()?, self.limits()?);
        let certificates = self.certificates()?;
        logs::start(self.debug);
        panics::hook();
        serve::keep_freed();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime
            .map_err(|error| wrong(&format!("start the runtime: {error}"), "look at the limits of this process"))?;
        let outcome = runtime.block_on(self.serve(settings, limits, certificates));
        // Whatever is left was given its time.
        runtime.shutdown_background();
        outcome
    }

    async fn serve(&self, settings: Settings, limits: Limits, certificates: Option<Certificates>) -> Result<u8, Stop> {
        let signals = Signals::new().map_err(|error| wrong(&format!("listen for signals: {error}"), "report this"))?;
        let listener = serve::listen(&self.address, self.network);
        let listener = listener.map_err(|error| unbound("--address", &self.address, &error))?;
        let traces =
            Traces::start().map_err(|what| wrong(&what, "name an OTLP collector that speaks gRPC, or none"))?;
        let identity = certificates.as_ref().map(Certificates::identity);
        let server = Server { limits, identity, ..Server::new(settings) };
        if let Some(certificates) = certificates {
            tokio::spawn(certificates.follow(self.tls_reload_interval, server.function.metrics.clone()));
        }
        let (address, tls) = (local(&listener), server.identity.is_some());
        tracing::info!(%address, tls, version = env!("CARGO_PKG_VERSION"), "Serving");
        self.watch(&server);
        let code = until_stopped(server, listener, signals).await;
        traces.end().await;
        Ok(code)
    }

    /// Serves metrics and probes if there is a port for them.
    fn watch(&self, server: &Server) {
        if self.metrics_address.is_empty() {
            return;
        }
        match serve::listen(&self.metrics_address, self.network) {
            Ok(listener) => {
                let address = local(&listener);
                tracing::info!(%address, "Serving metrics");
                tokio::spawn(server.watched(listener));
            }
            Err(error) => {
                let (address, hint) = (&self.metrics_address, "give --metrics-address, or empty for none");
                tracing::warn!(address, %error, hint, "No metrics and no probes: cannot listen for them");
            }
        }
    }

    fn settings(&self) -> Result<Settings, Stop> {
        let size = self.max_recv_message_size;
        if !(1..=LARGEST).contains(&size) {
            let hint = format!("give the largest request in MB, 1 to {LARGEST}; 32 is enough for most");
            return Err(wrong(&format!("--max-recv-message-size {size} is out of range"), &hint));
        }
        Ok(Settings { max_request: size * MEGABYTE, ttl: self.ttl })
    }

    fn limits(&self) -> Result<Limits, Stop> {
        let nothing = [
            ("--max-concurrent-streams", self.max_concurrent_streams == 0),
            ("--max-connections", self.max_connections == 0),
            ("--max-connection-age", self.max_connection_age.is_zero()),
            ("--handshake-timeout", self.handshake_timeout.is_zero()),
            ("--tls-reload-interval", self.tls_reload_interval.is_zero()),
        ];
        if let Some((flag, _)) = nothing.into_iter().find(|(_, zero)| *zero) {
            return Err(wrong(
                &format!("{flag} is 0, which lets nobody in"),
                "give more than nothing, or leave it out for the default",
            ));
        }
        Ok(Limits {
            connections: self.max_connections,
            streams: self.max_concurrent_streams,
            handshake: self.handshake_timeout,
            age: self.max_connection_age,
            delay: self.shutdown_delay,
            grace: self.shutdown_grace,
            ..Limits::default()
        })
    }

    /// The certificates to serve with; none when told to serve plaintext.
    fn certificates(&self) -> Result<Option<Certificates>, Stop> {
        if self.insecure {
            return Ok(None);
        }
        let Some(folder) = self.tls_certs_dir.as_ref().filter(|folder| !folder.as_os_str().is_empty()) else {
            let hint = "give --tls-certs-dir (Crossplane sets TLS_SERVER_CERTS_DIR), or --insecure";
            return Err(wrong("no certificates: the function serves plaintext only when told so", hint));
        };
        Certificates::read(folder).map(Some).map_err(|troubles| unusable(&troubles))
    }
}

fn wrong(what: &str, hint: &str) -> Stop {
    Stop::unreadable(format!("error: {what}\n  hint: {hint}\n"))
}

fn unusable(troubles: &[Trouble]) -> Stop {
    let told = troubles.iter().map(|trouble| format!("error: certificates: {trouble}\n  hint: {}\n", trouble.hint));
    Stop::unreadable(told.collect())
}

fn unbound(flag: &str, address: &str, error: &io::Error) -> Stop {
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => "another process listens there: stop it, or choose another port",
        io::ErrorKind::PermissionDenied => "ports below 1024 need a privilege: choose a higher one",
        io::ErrorKind::InvalidInput => "write HOST:PORT, such as `:9443` or `127.0.0.1:9443`",
        _ => "choose an address of this machine that fits --network",
    };
    wrong(&format!("{flag} {address}: cannot listen: {error}"), hint)
}

fn local(listener: &TcpListener) -> String {
    listener.local_addr().map(|address| address.to_string()).unwrap_or_default()
}

/// Serves until the first signal, and drains until the second. Tells the exit code.
async fn until_stopped(server: Server, listener: TcpListener, mut signals: Signals) -> u8 {
    let (stop, stopped) = oneshot::channel();
    let served = server.serve(listener, async {
        // The other end is not dropped before it has sent.
        let _ = stopped.await;
    });
    let stopping = async {
        signals.next().await;
        tracing::info!("Draining");
        let _ = stop.send(());
        signals.next().await;
    };
    tokio::select! {
        open = served => drained(open),
        () = stopping => {
            tracing::warn!("Stopped at once: a second signal came");
            REFUSED
        }
    }
}

/// Says how the drain went.
fn drained(open: usize) -> u8 {
    if open > 0 {
        tracing::warn!(connections = open, hint = "raise --shutdown-grace", "Stopped with connections open");
    } else {
        tracing::info!("Stopped");
    }
    FINE
}

/// SIGTERM and SIGINT.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
