//! Who is let in, who is not, and what both sides hear of it.

use std::net::SocketAddr;

use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::authority::{Authority, Leaf, mount};
use crate::client::{BOTH, Client, tls};
use crate::process::{Process, eventually};
use crate::requests::{fatal, good};

fn server(folder: &tempfile::TempDir, more: &[&str]) -> Process {
    mount(folder.path(), 1, &Authority::ours().files());
    let folder = folder.path().to_str().unwrap();
    Process::start(&[&["--tls-certs-dir", folder], more].concat())
}

/// What the server's only refusal says: its reason, in words.
fn refused(server: &Process) -> (String, String) {
    let line = server.line("Connection refused");
    let text = |field: &str| line[field].as_str().unwrap().to_owned();
    assert!(text("peer").starts_with("127.0.0.1:") && !text("hint").is_empty() && text("level") == "warn", "{line}");
    (text("reason"), text("what"))
}

/// Row: a client, what the log says, what the client hears (part of it).
#[tokio::test(flavor = "multi_thread")]
async fn every_wrong_client_is_refused_once_with_the_reason() {
    let (ours, other) = (Authority::ours(), Authority::other());
    let own = |leaf| tls(&ours, leaf, BOTH);
    let rows = [
        ("unknown-issuer", "was not signed by our `ca.crt`", "ecrypt", own(Some((&other, Leaf::Client)))),
        ("expired", "has expired", "CertificateExpired", own(Some((&ours, Leaf::ExpiredClient)))),
        ("expired", "is not valid yet", "CertificateExpired", own(Some((&ours, Leaf::FutureClient)))),
        ("wrong-purpose", "is not for clients", "UnsupportedCertificate", own(Some((&ours, Leaf::Server)))),
        ("no-certificate", "brought no certificate", "CertificateRequired", own(None)),
        ("client-refused", "refused our certificate", "BadSignature", tls(&other, Some((&other, Leaf::Client)), BOTH)),
    ];
    for (reason, what, heard, config) in rows {
        let folder = tempfile::tempdir().unwrap();
        let server = server(&folder, &[]);
        let hears = hears(&Client::with(server.address, config)).await;
        let (found, said) = refused(&server);
        assert_eq!(found, reason);
        assert!(said.contains(what), "{said}");
        println!("| {reason} | {said} | {hears} |");
        assert!(hears.contains(heard), "{reason}: {hears}");
        lives_on(&server).await;
        assert_eq!(server.said("Connection refused").len(), 1, "once");
    }
}

/// What a client is told that speaks first, as HTTP/2 does.
async fn hears(client: &Client) -> String {
    let mut stream = match client.connect().await {
        Ok(stream) => stream,
        Err(error) => return error.to_string(),
    };
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    stream.read(&mut [0; 64]).await.unwrap_err().to_string()
}

async fn lives_on(server: &Process) {
    let response = Client::crossplane(server.address).call(good()).await.unwrap();
    assert_eq!(fatal(&response), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plaintext_client_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder, &[]);
    Client::plain(server.address).call(good()).await.unwrap_err();
    assert_eq!(refused(&server), ("not-tls".to_owned(), "the client does not speak TLS".to_owned()));
    lives_on(&server).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tls_client_of_a_plaintext_server_is_told_apart() {
    let server = Process::start(&["--insecure"]);
    Client::crossplane(server.address).call(good()).await.unwrap_err();
    assert_eq!(refused(&server).0, "speaks-tls");
    Client::plain(server.address).call(good()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn both_versions_of_tls_are_spoken() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder, &[]);
    let ours = Authority::ours();
    for version in [&TLS12, &TLS13] {
        let client = Client::with(server.address, tls(&ours, Some((&ours, Leaf::Client)), &[version]));
        assert_eq!(fatal(&client.call(good()).await.unwrap()), None, "{version:?}");
    }
    let refused = Client::with(server.address, tls(&ours, None, &[&TLS12])).call(good()).await;
    refused.expect_err("TLS 1.2 without a certificate");
}

/// A client that says nothing, and one that stops in the middle.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_handshake_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    for (server, first) in [
        (server(&folder, &["--handshake-timeout", "300ms"]), &[0x16, 3, 1, 2, 0, 1][..]),
        (Process::start(&["--insecure", "--handshake-timeout", "300ms"]), &[]),
    ] {
        let mut tcp = TcpStream::connect(server.address).await.unwrap();
        tcp.write_all(first).await.unwrap();
        assert_eq!(tcp.read(&mut [0; 64]).await.unwrap_or_default(), 0, "the server hangs up");
        assert_eq!(refused(&server).0, "too-slow");
    }
}

/// More connections than are let in: the others wait, and are served when one goes.
#[tokio::test(flavor = "multi_thread")]
async fn connections_are_bounded() {
    let server = Process::start(&["--insecure", "--max-connections", "4", "--handshake-timeout", "1h"]);
    let mut idle = Vec::new();
    for _ in 0..4 {
        idle.push(TcpStream::connect(server.address).await.unwrap());
    }
    let line = eventually("the limit is told", || server.said("Connection refused").into_iter().next());
    assert_eq!(line["reason"], "full");
    let waiting = tokio::spawn(patient(server.address));
    drop(idle);
    waiting.await.unwrap();
}

async fn patient(address: SocketAddr) {
    Client::plain(address).call(good()).await.unwrap();
}
