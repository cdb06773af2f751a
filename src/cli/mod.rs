//! The command line: the only place that knows disk, stdout and YAML text.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;

pub mod claim;
pub mod crossplane;
pub mod explain;
pub mod files;
pub mod lint;
pub mod print;
pub mod render;
pub mod report;
pub mod scene;
pub mod simulate;
pub mod step;
pub mod stop;

use stop::{COULD_NOT_RUN, FINE, Stop};

use crate::{go, serve};

/// Turns an AsyncActor into its resources: as a Crossplane function, or from files.
#[derive(Debug, clap::Parser)]
#[command(name = "function-asya", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Serve the gRPC function; also what runs when no command is named
    Serve(Serve),
    /// Show every resource of an actor and its status, as `crossplane render` would
    Render(render::Render),
    /// Show the resolved spec, each line with who set it and what it overrode
    Explain(explain::Explain),
    /// Find everything wrong with actors, flavors and platform settings before they reach a cluster
    Lint(lint::Lint),
}

/// Serve the gRPC function
#[derive(Clone, Debug, clap::Args)]
pub struct Serve {
    /// Serve without TLS; what `crossplane render` uses
    #[arg(long)]
    insecure: bool,
    /// The address to listen on
    #[arg(long, default_value = ":9443", value_name = "HOST:PORT")]
    address: String,
    /// Emit human-readable logs, more of them
    #[arg(short, long)]
    debug: bool,
    /// The largest request, in MB
    #[arg(long, default_value_t = 32, value_name = "MB")]
    max_recv_message_size: usize,
    /// How long an answer holds unless the platform settings say otherwise, as a Go duration
    #[arg(long, value_name = "DURATION", value_parser = read_duration)]
    ttl: Option<Duration>,
}

fn read_duration(text: &str) -> Result<Duration, String> {
    go::duration(text).ok_or_else(|| "write it like `60s` or `1m30s`; `0` is allowed".to_owned())
}

impl Cli {
    /// Runs the command that was named.
    pub fn run(self) -> ExitCode {
        let (mut stdin, mut stdout, mut stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let outcome = match self.command {
            None => self.serve.run(),
            Some(Command::Serve(serve)) => serve.run(),
            Some(Command::Render(render)) => render.run(&mut stdin, &mut stdout, &mut stderr),
            Some(Command::Explain(explain)) => explain.run(&mut stdin, &mut stdout, &mut stderr),
            Some(Command::Lint(lint)) => lint.run(&mut stdin, &mut stderr),
        };
        ExitCode::from(outcome.unwrap_or_else(|Stop { message, code }| {
            eprint!("{message}");
            code
        }))
    }
}

impl Serve {
    fn run(&self) -> Result<u8, Stop> {
        if !self.insecure {
            let what =
                "error: no certificates: the function serves plaintext only when told so\n  hint: give --insecure\n";
            return Err(Stop { message: what.to_owned(), code: COULD_NOT_RUN });
        }
        self.start_logs();
        let settings =
            serve::Settings { max_request: self.max_recv_message_size.saturating_mul(1024 * 1024), ttl: self.ttl };
        let run = async {
            let address = read_address(&self.address)?;
            let listener = serve::listen(address).await.with_context(|| format!("listen on {}", self.address))?;
            tracing::info!(address = %listener.local_addr().context("read the own address")?, "Serving");
            serve::serve(listener, settings, asked_to_stop()).await.context("serve")
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let outcome = runtime.context("start the runtime").and_then(|runtime| runtime.block_on(run));
        outcome.map(|()| FINE).map_err(|error| Stop { message: format!("error: {error:#}\n"), code: COULD_NOT_RUN })
    }

    fn start_logs(&self) {
        let level = if self.debug { tracing::Level::DEBUG } else { tracing::Level::INFO };
        let logs = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
        if self.debug { logs.init() } else { logs.json().flatten_event(true).init() }
    }
}

/// Reads `HOST:PORT`; an empty host is every interface, as Go has it.
fn read_address(address: &str) -> anyhow::Result<SocketAddr> {
    let full = match address.strip_prefix(':') {
        Some(port) => format!("[::]:{port}"),
        None => address.replacen("localhost:", "127.0.0.1:", 1),
    };
    full.parse().with_context(|| format!("read --address {address:?}: expected HOST:PORT such as 127.0.0.1:9443"))
}

/// Completes when the process is asked to stop.
async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    tracing::info!("Draining");
}
