//! Who we are to clients: the certificate files that Crossplane mounts, and what can be wrong with them.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{Error, RootCertStore, ServerConfig};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// The identity new connections are met with; it follows the files.
#[derive(Clone, Debug)]
pub struct Identity(pub(super) watch::Receiver<Arc<ServerConfig>>);

impl Identity {
    /// What new connections shake hands with.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0.borrow()))
    }
}

/// What is wrong with a file, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The file or folder.
    pub file: PathBuf,
    /// What is wrong with it.
    pub what: String,
    /// What to do.
    pub hint: &'static str,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.file.display(), self.what)
    }
}

/// The three files as they were read.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Files {
    folder: PathBuf,
    certificate: Vec<u8>,
    key: Vec<u8>,
    ca: Vec<u8>,
}

const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";
const CA: &str = "ca.crt";

/// Far more than a chain of certificates needs.
const LARGEST: u64 = 1024 * 1024;

impl Files {
    /// Reads all three, and tells of each that cannot be read.
    pub(super) fn read(folder: &Path) -> Result<Self, Vec<Trouble>> {
        if let Err(error) = fs::read_dir(folder) {
            return Err(vec![unreadable(folder.to_owned(), &error)]);
        }
        let mut troubles = Vec::new();
        let mut read = |name| read(&folder.join(name)).map_err(|trouble| troubles.push(trouble)).unwrap_or_default();
        let files = Self { folder: folder.to_owned(), certificate: read(CERTIFICATE), key: read(KEY), ca: read(CA) };
        if troubles.is_empty() { Ok(files) } else { Err(troubles) }
    }

    /// What they make: TLS 1.2 or 1.3, HTTP/2, and no client without a certificate that the CA signed.
    pub(super) fn identity(&self) -> Result<Arc<ServerConfig>, Vec<Trouble>> {
        let provider = Arc::new(default_provider());
        let roots = self.roots().map_err(|trouble| vec![trouble])?;
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
        let verifier = verifier.map_err(|error| vec![self.wrong(CA, error.to_string(), RENEW)])?;
        let versions = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13, &TLS12]);
        let versions = versions.map_err(|error| vec![self.wrong(CERTIFICATE, error.to_string(), RENEW)])?;
        let chain = self.certificates(CERTIFICATE, &self.certificate).map_err(|trouble| vec![trouble])?;
        let key = self.private_key().map_err(|trouble| vec![trouble])?;
        let config = versions.with_client_cert_verifier(verifier).with_single_cert(chain, key);
        let mut config = config.map_err(|error| vec![self.no_pair(&error)])?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        // Every connection is verified anew: a resumed session would outlive the CA that vouched for it.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    fn roots(&self) -> Result<RootCertStore, Trouble> {
        let mut roots = RootCertStore::empty();
        for certificate in self.certificates(CA, &self.ca)? {
            let added = roots.add(certificate);
            added.map_err(|error| self.wrong(CA, format!("not a CA certificate: {error}"), RENEW))?;
        }
        Ok(roots)
    }

    fn certificates(&self, name: &str, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, Trouble> {
        let read = CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>();
        let read = read.map_err(|error| self.wrong(name, format!("not PEM: {error}"), RENEW))?;
        if read.is_empty() {
            let what = if text.is_empty() { "is empty" } else { "holds no `CERTIFICATE`" };
            return Err(self.wrong(name, what, RENEW));
        }
        Ok(read)
    }

    fn private_key(&self) -> Result<PrivateKeyDer<'static>, Trouble> {
        if self.key.windows(9).any(|word| word == b"ENCRYPTED") {
            return Err(self.wrong(
                KEY,
                "the private key is encrypted",
                "nobody is there to give the passphrase: store it in plain",
            ));
        }
        PrivateKeyDer::from_pem_slice(&self.key).map_err(|error| match self.key.is_empty() {
            true => self.wrong(KEY, "is empty", RENEW),
            false => self.wrong(KEY, format!("holds no private key: {error}"), RENEW),
        })
    }

    fn no_pair(&self, error: &Error) -> Trouble {
        match error {
            Error::InconsistentKeys(_) => self.wrong(KEY, "the key of another certificate than `tls.crt`", RENEW),
            error => self.wrong(CERTIFICATE, format!("cannot be used with `tls.key`: {error}"), RENEW),
        }
    }

    fn wrong(&self, name: &str, what: impl Into<String>, hint: &'static str) -> Trouble {
        Trouble { file: self.folder.join(name), what: what.into(), hint }
    }
}

const RENEW: &str = "the folder needs tls.crt, tls.key and ca.crt in PEM, as in the secret <function>-tls-server; delete the secret and Crossplane makes a new one";

fn read(file: &Path) -> Result<Vec<u8>, Trouble> {
    let trouble = |error| unreadable(file.to_owned(), &error);
    let size = fs::metadata(file).map_err(trouble)?.len();
    if size > LARGEST {
        let what = format!("{size} bytes are too much for certificates");
        return Err(Trouble { file: file.to_owned(), what, hint: RENEW });
    }
    fs::read(file).map_err(trouble)
}

fn unreadable(file: PathBuf, error: &io::Error) -> Trouble {
    let (what, hint) = match error.kind() {
        io::ErrorKind::NotFound => ("does not exist", RENEW),
        io::ErrorKind::PermissionDenied => ("may not be read", "let the user of this process read it"),
        io::ErrorKind::NotADirectory => ("is not a folder", RENEW),
        _ => return Trouble { file, what: format!("cannot be read: {error}"), hint: RENEW },
    };
    Trouble { file, what: what.to_owned(), hint }
}
