//! Follows the certificate files. Their content is compared, since a mounted secret changes by a swapped link.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use super::metrics::Metrics;
use super::tls::{Files, Identity, Trouble};

/// How long files must have been left alone to count as written. Files are small, and so is what stands between two of them.
const SETTLED: Duration = Duration::from_millis(100);

/// The certificate files, followed.
pub struct Certificates {
    folder: PathBuf,
    /// What was last looked at, good or bad.
    seen: Result<Files, Vec<Trouble>>,
    identity: watch::Sender<Arc<ServerConfig>>,
}

impl Certificates {
    /// Reads the files for the first time.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn read(folder: &Path) -> Result<Self, Vec<Trouble>> {
        let files = Files::read(folder)?;
        let identity = watch::Sender::new(files.identity()?);
        Ok(Self { folder: folder.to_owned(), seen: Ok(files), identity })
    }

    /// Who we are, now and after every change.
    pub fn identity(&self) -> Identity {
        Identity(self.identity.subscribe())
    }

    /// Looks again and again, for ever.
    pub async fn follow(mut self, every: Duration, metrics: Arc<Metrics>) {
        let mut ticks = interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let look = tokio::task::spawn_blocking(move || {
                let change = self.look();
                (self, change)
            });
            let Ok((certificates, change)) = look.await else { return };
            self = certificates;
            if let Some(change) = change {
                tell(&change, &metrics);
            }
        }
    }

    /// Takes over what changed, if it can be used; nothing when nothing changed.
    fn look(&mut self) -> Option<Result<(), Vec<Trouble>>> {
        let found = Files::read(&self.folder);
        if found == self.seen {
            return None;
        }
        // Not the same a moment later: somebody is writing, and the next look will tell.
        sleep(SETTLED);
        if found != Files::read(&self.folder) {
            return None;
        }
        let identity = found.clone().and_then(|files| files.identity());
        self.seen = found;
        Some(identity.map(|identity| {
            self.identity.send_replace(identity);
        }))
    }
}

fn tell(change: &Result<(), Vec<Trouble>>, metrics: &Metrics) {
    match change {
        Ok(()) => {
            metrics.reloaded("loaded");
            tracing::info!("Certificates reloaded");
        }
        Err(troubles) => {
            metrics.reloaded("kept");
            for Trouble { file, what, hint } in troubles {
                tracing::warn!(file = %file.display(), what, hint, "Certificates changed and cannot be used: kept the old ones");
            }
        }
    }
}
