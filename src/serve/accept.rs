//! The door: takes connections up to the limit, has them shake hands, hands them on, and waits for them at the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use super::connection;
use super::ending::Ends;
use super::metrics::Metrics;
use super::refusal::{Reason, Refusal, Refusals};
use super::router::Router;
use super::settings::Limits;
use super::tls::Identity;

/// What every connection needs.
pub(super) struct Door {
    pub router: Arc<Router>,
    pub limits: Limits,
    /// Who we are; nobody when plaintext is served.
    pub identity: Option<Identity>,
    pub metrics: Arc<Metrics>,
    pub refusals: Refusals,
}

impl Door {
    /// Takes connections until `draining`, then waits for those that are open. Tells how many did not end in time.
    pub(super) async fn keep(self, listener: TcpListener, mut draining: Ends) -> usize {
        let slots = Arc::new(Semaphore::new(self.limits.connections as usize));
        let door = Arc::new(self);
        loop {
            let next = door.next(&listener, &slots);
            let (slot, tcp, peer) = tokio::select! {
                next = next => next,
                _ = draining.wait_for(|draining| *draining) => break,
            };
            let (door, draining) = (Arc::clone(&door), draining.clone());
            tokio::spawn(async move {
                let _open = (slot, door.metrics.open());
                door.admit(tcp, peer, draining).await;
            });
        }
        drop(listener);
        let all = slots.acquire_many(door.limits.connections);
        let ended = timeout(door.limits.grace, all).await.is_ok();
        if ended { 0 } else { door.limits.connections as usize - slots.available_permits() }
    }

    /// The next connection, once there is room for it.
    async fn next(
        &self,
        listener: &TcpListener,
        slots: &Arc<Semaphore>,
    ) -> (OwnedSemaphorePermit, TcpStream, SocketAddr) {
        if slots.available_permits() == 0 {
            self.refusals.tell(&self.metrics, None, &Refusal::full(self.limits.connections));
        }
        let slot = Arc::clone(slots).acquire_owned().await.expect("nobody closes the semaphore");
        loop {
            match listener.accept().await {
                Ok((tcp, peer)) => return (slot, tcp, peer),
                Err(error) => {
                    self.refusals.tell(&self.metrics, None, &Refusal::not_accepted(&error));
                    // Out of file descriptors, most likely: give others the time to close theirs.
                    sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    async fn admit(&self, tcp: TcpStream, peer: SocketAddr, draining: Ends) {
        // Answers are small, and waiting to fill a packet costs 40 ms. A connection that is gone shows itself soon enough.
        let _ = tcp.set_nodelay(true);
        let served = match &self.identity {
            Some(identity) => self.shake_hands(identity, tcp, peer, draining).await,
            None => self.listen_first(tcp, draining).await,
        };
        if let Err(refusal) = served {
            self.refusals.tell(&self.metrics, Some(peer), &refusal);
        }
    }

    async fn shake_hands(
        &self,
        identity: &Identity,
        tcp: TcpStream,
        peer: SocketAddr,
        mut draining: Ends,
    ) -> Result<(), Refusal> {
        let shaken = tokio::select! {
            shaken = timeout(self.limits.handshake, identity.acceptor().accept(tcp).into_fallible()) => shaken,
            _ = draining.wait_for(|draining| *draining) => return Ok(()),
        };
        let tls = match shaken.map_err(|_| Refusal::slow(self.limits.handshake))? {
            Ok(tls) => tls,
            Err((error, tcp)) => {
                self.refusals.tell(&self.metrics, Some(peer), &Refusal::of(&error));
                see_off(tcp).await;
                return Ok(());
            }
        };
        connection::serve(tls, Arc::clone(&self.router), &self.limits, draining).await;
        Ok(())
    }

    /// Waits for the first byte, which tells a client that speaks TLS.
    async fn listen_first(&self, tcp: TcpStream, mut draining: Ends) -> Result<(), Refusal> {
        const TLS_HANDSHAKE: u8 = 0x16;
        let mut first = [0];
        let heard = tokio::select! {
            heard = timeout(self.limits.handshake, tcp.peek(&mut first)) => heard,
            _ = draining.wait_for(|draining| *draining) => return Ok(()),
        };
        match heard.map_err(|_| Refusal::slow(self.limits.handshake))? {
            Ok(0) | Err(_) => return Err(Refusal::gone()),
            Ok(_) if first[0] == TLS_HANDSHAKE => return Err(Refusal::speaks_tls()),
            Ok(_) => connection::serve(tcp, Arc::clone(&self.router), &self.limits, draining).await,
        }
        Ok(())
    }
}

/// Lets the client read why it was refused: closing at once, with its next words unread, would throw that away.
async fn see_off(mut tcp: TcpStream) {
    // Whether it hears or not, it is refused.
    let _ = tcp.shutdown().await;
    connection::hear_out(tcp, Duration::from_secs(1)).await;
}

impl Refusal {
    fn full(connections: u32) -> Self {
        let what = format!("{connections} connections are open, which is the limit; new ones wait");
        Self::new(Reason::Full, what, "one Crossplane needs one; find out who holds them, or raise --max-connections")
    }

    fn not_accepted(error: &std::io::Error) -> Self {
        let hint = "if it is out of file descriptors, raise their limit";
        Self::new(Reason::NotAccepted, format!("a connection cannot be accepted: {error}"), hint)
    }
}
