//! Why a connection is refused, in words for whoever must fix it, and at most so many of them.

use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustls::{AlertDescription, CertificateError, Error};

use super::metrics::Metrics;

/// Why a connection is refused, as metrics label it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Another CA signed the client's certificate.
    UnknownIssuer,
    /// The client's certificate is no longer valid, or not yet.
    Expired,
    /// The client's certificate is not for clients.
    WrongPurpose,
    /// The client's certificate is wrong in another way.
    BadCertificate,
    /// The client brings no certificate.
    NoCertificate,
    /// The client does not speak TLS.
    NotTls,
    /// The client speaks TLS, and plaintext is served.
    SpeaksTls,
    /// The client does not accept our certificate.
    ClientRefused,
    /// No version or cipher in common.
    Incompatible,
    /// The handshake took too long.
    TooSlow,
    /// The client went away in the handshake.
    Gone,
    /// All connections are taken.
    Full,
    /// The system gives no more connections.
    NotAccepted,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 13] = [
        Reason::UnknownIssuer,
        Reason::Expired,
        Reason::WrongPurpose,
        Reason::BadCertificate,
        Reason::NoCertificate,
        Reason::NotTls,
        Reason::SpeaksTls,
        Reason::ClientRefused,
        Reason::Incompatible,
        Reason::TooSlow,
        Reason::Gone,
        Reason::Full,
        Reason::NotAccepted,
    ];

    /// As metrics and logs write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::UnknownIssuer => "unknown-issuer",
            Reason::Expired => "expired",
            Reason::WrongPurpose => "wrong-purpose",
            Reason::BadCertificate => "bad-certificate",
            Reason::NoCertificate => "no-certificate",
            Reason::NotTls => "not-tls",
            Reason::SpeaksTls => "speaks-tls",
            Reason::ClientRefused => "client-refused",
            Reason::Incompatible => "incompatible",
            Reason::TooSlow => "too-slow",
            Reason::Gone => "gone",
            Reason::Full => "full",
            Reason::NotAccepted => "not-accepted",
        }
    }
}

/// A refused connection.
#[derive(Debug)]
pub(super) struct Refusal {
    reason: Reason,
    what: String,
    hint: &'static str,
}

impl Refusal {
    pub(super) fn new(reason: Reason, what: impl Into<String>, hint: &'static str) -> Self {
        Self { reason, what: what.into(), hint }
    }

    /// The handshake did not end in time.
    pub(super) fn slow(limit: Duration) -> Self {
        let what = format!("the client did not shake hands within {} s", limit.as_secs_f64());
        Self::new(Reason::TooSlow, what, "not a gRPC client, or a network that loses packets")
    }

    /// The client went away; probes that only open a port do.
    pub(super) fn gone() -> Self {
        Self::new(Reason::Gone, "the client closed the connection before it said anything", "a port probe does this")
    }

    /// A client that speaks TLS to a server that does not.
    pub(super) fn speaks_tls() -> Self {
        let hint = "drop --insecure and give --tls-certs-dir, which Crossplane sets as TLS_SERVER_CERTS_DIR";
        Self::new(Reason::SpeaksTls, "the client speaks TLS, and the server was told --insecure", hint)
    }

    /// What a failed handshake means.
    pub(super) fn of(error: &io::Error) -> Self {
        match error.get_ref().and_then(|error| error.downcast_ref::<Error>()) {
            Some(Error::InvalidCertificate(error)) => Self::certificate(error),
            Some(Error::NoCertificatesPresented) => {
                let what = "the client brought no certificate";
                Self::new(Reason::NoCertificate, what, "only Crossplane, which has one, can call; or serve --insecure")
            }
            Some(Error::InvalidMessage(_)) => {
                let what = "the client does not speak TLS";
                Self::new(Reason::NotTls, what, "an HTTP or plaintext gRPC client or probe; point it elsewhere")
            }
            Some(Error::AlertReceived(alert)) => Self::alert(*alert),
            Some(Error::PeerIncompatible(why)) => {
                let what = format!("no TLS in common with the client: {why:?}");
                Self::new(Reason::Incompatible, what, "the client needs TLS 1.2 or 1.3 with an ECDHE cipher")
            }
            Some(error) => {
                Self::new(Reason::BadCertificate, format!("the handshake failed: {error}"), "see the client's log")
            }
            None => Self::gone(),
        }
    }

    fn certificate(error: &CertificateError) -> Self {
        use CertificateError as E;
        match error {
            // Crossplane's CAs all have one name, so another CA shows as a signature that does not fit.
            E::UnknownIssuer | E::BadSignature => {
                let what = "the client's certificate was not signed by our `ca.crt`";
                let hint = "a rotated root CA: wait until the mounted secret follows, or restart Crossplane, which \
                            reads its own certificate at start only";
                Self::new(Reason::UnknownIssuer, what, hint)
            }
            E::Expired | E::ExpiredContext { .. } => {
                let hint = "renew the secret crossplane-tls-client, and compare the clocks";
                Self::new(Reason::Expired, "the client's certificate has expired", hint)
            }
            E::NotValidYet | E::NotValidYetContext { .. } => {
                Self::new(Reason::Expired, "the client's certificate is not valid yet", "compare the clocks")
            }
            E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
                let what = "the client's certificate is not for clients (extended key usage)";
                Self::new(Reason::WrongPurpose, what, "a server's certificate was mounted where the client's belongs")
            }
            error => {
                let what = format!("the client's certificate is not valid: {error}");
                Self::new(Reason::BadCertificate, what, "renew the secret crossplane-tls-client")
            }
        }
    }

    fn alert(alert: AlertDescription) -> Self {
        let what = format!("the client refused our certificate: {alert:?}");
        let hint = "its CA is not ours, or the name it calls is not in `tls.crt`: see the client's log";
        Self::new(Reason::ClientRefused, what, hint)
    }
}

/// Tells of refusals, but never so many that they drown the rest of the log.
#[derive(Debug)]
pub(super) struct Refusals(Mutex<Window>);

#[derive(Debug)]
struct Window {
    since: Instant,
    told: u32,
    untold: u32,
}

impl Default for Refusals {
    fn default() -> Self {
        Self(Mutex::new(Window { since: Instant::now(), told: 0, untold: 0 }))
    }
}

impl Refusals {
    /// How many are told in each [`Self::WINDOW`]; the others are counted.
    const MOST: u32 = 50;
    const WINDOW: Duration = Duration::from_secs(10);

    /// Counts a refusal and logs it once.
    pub(super) fn tell(&self, metrics: &Metrics, peer: Option<SocketAddr>, refusal: &Refusal) {
        let Refusal { reason, what, hint } = refusal;
        metrics.refused(*reason);
        let (peer, reason) = (peer.map(tracing::field::display), reason.as_str());
        if refusal.reason == Reason::Gone {
            return tracing::debug!(peer, reason, what, hint, "Connection refused");
        }
        if let Some(untold) = self.room() {
            let untold = (untold > 0).then_some(untold);
            tracing::warn!(peer, reason, what, hint, untold, "Connection refused");
        }
    }

    /// Whether another may be told, and how many were not since the last.
    fn room(&self) -> Option<u32> {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if window.since.elapsed() > Self::WINDOW {
            (window.since, window.told) = (Instant::now(), 0);
        }
        if window.told == Self::MOST {
            window.untold += 1;
            return None;
        }
        window.told += 1;
        Some(std::mem::take(&mut window.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_is_counted_and_not_told() {
        let refusals = Refusals::default();
        assert_eq!((0..120).filter_map(|_| refusals.room()).count(), 50);
        refusals.0.lock().unwrap().since -= 2 * Refusals::WINDOW;
        assert_eq!(refusals.room(), Some(70));
        assert_eq!(refusals.room(), Some(0));
    }
}
