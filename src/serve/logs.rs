//! Logs: one JSON object a line for machines, or text for people.

use std::fmt::{self, Write as _};
use std::io::IsTerminal as _;

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Starts the process's logs, on stderr: JSON from info on, or with `debug` text and everything of ours.
///
/// Libraries speak from warnings on, whatever is asked: what they say below that may quote what clients send.
pub fn start(debug: bool) {
    let level = if debug { Level::DEBUG } else { Level::INFO };
    let ours = Targets::new().with_target(env!("CARGO_CRATE_NAME"), level).with_default(Level::WARN);
    let lines =
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let lines = if debug { lines.boxed() } else { lines.event_format(Json).boxed() };
    // A second start would be a test's; the first one stands.
    let _ = tracing_subscriber::registry().with(lines.with_filter(ours)).try_init();
}

/// One object a line: `level`, `ts`, `msg`, then the fields in the order they were given.
pub struct Json;

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = event.metadata().level().as_str().to_lowercase();
        write!(line, "{{\"level\":\"{level}\",\"ts\":\"")?;
        SystemTime.format_time(&mut line)?;
        writeln!(line, "\",\"msg\":{}{}}}", Value::from(fields.message), fields.rest)
    }
}

/// What an event says.
#[derive(Default)]
struct Fields {
    message: String,
    rest: String,
}

impl Fields {
    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        // Writing into a String cannot fail.
        let _ = write!(self.rest, ",{}:{}", Value::from(field.name()), value.into());
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            _ => self.add(field, format!("{value:?}")),
        }
    }
}
