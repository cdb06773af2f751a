//! Certificates change under a running server.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::authority::{Authority, CLIENT_KEY, Leaf, mount, write};
use crate::client::{BOTH, Client, call, tls};
use crate::lifecycle::{begin, grpc_status, http2_as, started};
use crate::observed::get;
use crate::process::{Process, eventually};
use crate::requests::good;

fn start(folder: &Path, more: &[&str]) -> Process {
    let folder = folder.to_str().unwrap();
    Process::start(&[&["--tls-certs-dir", folder, "--tls-reload-interval", "50ms"], more].concat())
}

fn client_of(server: &Process, authority: &Authority) -> Client {
    Client::with(server.address, tls(authority, Some((authority, Leaf::Client)), BOTH))
}

/// Sixteen streams on one connection that stays, and sixteen callers that connect anew for each call, which are
/// Crossplane's before and after: each succeeds with one of both CAs.
#[tokio::test(flavor = "multi_thread")]
async fn no_call_fails_while_everything_is_swapped() {
    let folder = tempfile::tempdir().unwrap();
    mount(folder.path(), 0, &Authority::ours().files());
    let server = start(folder.path(), &[]);
    let (stop, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let channel = client_of(&server, &Authority::ours()).channel();
    call(channel.clone(), good()).await.unwrap();
    let streams: Vec<_> = (0..16)
        .map(|_| {
            let (channel, stop, calls) = (channel.clone(), Arc::clone(&stop), Arc::clone(&calls));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    call(channel.clone(), good()).await.unwrap();
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for generation in 1..=6 {
        let authority = if generation % 2 == 0 { Authority::ours() } else { Authority::other() };
        mount(folder.path(), generation, &authority.files());
        eventually("the swap is seen", || (server.said("Certificates reloaded").len() == generation).then_some(()));
        client_of(&server, &authority).call(good()).await.expect("the new CA is taken");
        let old = if generation % 2 == 0 { Authority::other() } else { Authority::ours() };
        client_of(&server, &old).call(good()).await.expect_err("the old CA is not");
    }
    let enough = Instant::now() + Duration::from_secs(20);
    eventually("calls were made", || (calls.load(Ordering::Relaxed) > 100 || Instant::now() > enough).then_some(()));
    stop.store(true, Ordering::Relaxed);
    for stream in streams {
        stream.await.unwrap();
    }
    println!("{} calls through 6 rotations", calls.load(Ordering::Relaxed));
    assert_eq!(server.said("Certificates changed and cannot be used: kept the old ones").len(), 0);
}

/// Its first half was sent before the swap, its second half after: by a client that the new CA does not know.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_runs_while_everything_is_swapped_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    mount(folder.path(), 0, &Authority::ours().files());
    let server = start(folder.path(), &[]);
    let mut client = http2_as(&client_of(&server, &Authority::ours())).await;
    let (rest, pieces, answer) = begin(&mut client, &[]);
    let answer = tokio::spawn(answer);
    eventually("the call began", || get(server.page(), "/metrics").1.contains(&started(1)).then_some(()));
    mount(folder.path(), 1, &Authority::other().files());
    server.line("Certificates reloaded");
    client_of(&server, &Authority::ours()).call(good()).await.expect_err("a new connection is not let in");
    pieces.send(rest).await.unwrap();
    drop(pieces);
    assert_eq!(grpc_status(answer.await.unwrap().unwrap()).await.0, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pair_that_does_not_fit_keeps_the_old_one_and_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let good_files = Authority::ours().files();
    write(folder.path(), &good_files);
    let server = start(folder.path(), &[]);
    let broken = [
        ("tls.key", CLIENT_KEY.to_owned(), "the key of another certificate than `tls.crt`"),
        ("tls.key", good_files[1].1[..200].to_owned(), "holds no private key"),
        ("tls.crt", String::new(), "is empty"),
        ("ca.crt", "nonsense".to_owned(), "holds no `CERTIFICATE`"),
    ];
    let kept = || server.said("Certificates changed and cannot be used: kept the old ones");
    for (index, (name, text, what)) in broken.into_iter().enumerate() {
        write(folder.path(), &[(name, text)]);
        let line = eventually(what, || kept().into_iter().nth(index));
        assert!(line["what"].as_str().unwrap().contains(what), "{line}");
        assert!(line["file"].as_str().unwrap().ends_with(name) && line["level"] == "warn", "{line}");
        Client::crossplane(server.address).call(good()).await.expect("the old ones serve");
        assert_eq!(kept().len(), index + 1, "told once");
        write(folder.path(), &good_files);
        eventually("it is good again", || (server.said("Certificates reloaded").len() == index + 1).then_some(()));
    }
    fs::remove_file(folder.path().join("ca.crt")).unwrap();
    let line = eventually("a file is gone", || kept().into_iter().nth(4));
    assert_eq!(line["what"], "does not exist");
    Client::crossplane(server.address).call(good()).await.expect("the old ones serve");
}
