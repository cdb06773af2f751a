//! What the server is told, and the limits it keeps.

use std::time::Duration;

/// What answering a call depends on besides the call.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The largest request it takes, in bytes.
    pub max_request: usize,
    /// How long an answer holds unless the platform settings say otherwise.
    pub ttl: Option<Duration>,
}

/// What one client, or all of them together, may take from the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections that are open at a time, those in their handshake included; more wait in the kernel's queue.
    pub connections: u32,
    /// Calls on one connection at a time; a client holds back the others itself.
    pub streams: u32,
    /// How long a client may take to shake hands.
    pub handshake: Duration,
    /// How old a connection gets, give or take a tenth: gRPC clients look for new replicas only when they reconnect.
    pub age: Duration,
    /// How long a shutdown goes on serving, with the probes saying no: clients that look for replicas by name need it to
    /// notice.
    pub delay: Duration,
    /// How long a connection that was asked to end may take to finish its calls; also how long a shutdown may take
    /// from then on.
    pub grace: Duration,
    /// What requests may take in memory, all together, in bytes; others wait, unread.
    pub memory: usize,
    /// How long a call may take whatever the client allows: as long as Crossplane gives a reconcile.
    pub call: Duration,
}

impl Limits {
    /// The largest headers of a call, in bytes.
    pub const HEADERS: u32 = 16 * 1024;
    /// How often a quiet client is asked whether it is still there. grpc-go's clients take any rhythm from a server.
    pub const KEEPALIVE: Duration = Duration::from_secs(60);
    /// How long it may take to say so.
    pub const KEEPALIVE_ANSWER: Duration = Duration::from_secs(20);
    /// What a call may send ahead of being read, in bytes.
    pub const STREAM_WINDOW: u32 = 256 * 1024;
    /// What a connection may send ahead of being read, in bytes.
    pub const CONNECTION_WINDOW: u32 = 1024 * 1024;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            streams: 256,
            handshake: Duration::from_secs(10),
            age: Duration::from_secs(30 * 60),
            delay: Duration::ZERO,
            grace: Duration::from_secs(25),
            memory: 256 * 1024 * 1024,
            call: Duration::from_secs(120),
        }
    }
}
