//! What cannot be served ends with code 2, and says what, where and what to do.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::authority::{Authority, CLIENT_KEY, write};
use crate::process::command;

fn stderr(arguments: &[&str]) -> String {
    let output = command(arguments).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty());
    text
}

fn told(arguments: &[&str], parts: &[&str]) {
    let text = stderr(arguments);
    assert!(text.starts_with("error: ") && text.contains("\n  hint: "), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn flags_that_cannot_be_meant() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let rows: &[(&[&str], &[&str])] = &[
        (&["serve"], &["no certificates", "TLS_SERVER_CERTS_DIR", "--insecure"]),
        (&["--insecure", "--max-recv-message-size", "0"], &["--max-recv-message-size 0"]),
        (&["--insecure", "--max-recv-message-size", "4096"], &["--max-recv-message-size 4096", "1 to 4095"]),
        (&["--insecure", "--max-concurrent-streams", "0"], &["--max-concurrent-streams is 0"]),
        (&["--insecure", "--max-connections", "0"], &["--max-connections is 0"]),
        (&["--insecure", "--max-connection-age", "0"], &["--max-connection-age is 0"]),
        (&["--insecure", "--handshake-timeout", "0s"], &["--handshake-timeout is 0"]),
        (&["--insecure", "--tls-reload-interval", "0"], &["--tls-reload-interval is 0"]),
        (&["--insecure", "--address", &taken], &[&taken, "in use", "another process"]),
        (&["--insecure", "--address", "9443"], &["--address 9443", "HOST:PORT"]),
        (&["--insecure", "--address", ":http"], &["--address :http", "HOST:PORT"]),
        (&["--insecure", "--address", "203.0.113.9:0"], &["203.0.113.9", "of this machine"]),
        (&["--insecure", "--address", "127.0.0.1:0", "--network", "tcp6"], &["fits --network"]),
    ];
    for (arguments, parts) in rows {
        told(arguments, parts);
    }
    for arguments in [["--insecure", "--ttl", "soon"], ["--insecure", "--network", "udp"]] {
        assert!(stderr(&arguments).contains("error: invalid value"));
    }
}

#[test]
fn folders_that_hold_no_identity() {
    let rows: &[Row] = &[
        ("missing", &|folder| std::fs::remove_dir_all(folder).unwrap(), &["does not exist"]),
        ("empty", &|folder| remove(folder, &["tls.crt", "tls.key", "ca.crt"]), &["tls.crt", "tls.key", "ca.crt"]),
        ("half there", &|folder| remove(folder, &["ca.crt"]), &["ca.crt`: does not exist"]),
        ("other key", &|folder| put(folder, "tls.key", CLIENT_KEY), &["tls.key`: the key of another certificate"]),
        (
            "encrypted",
            &|folder| put(folder, "tls.key", ENCRYPTED),
            &["tls.key`: the private key is encrypted", "passphrase"],
        ),
        ("encrypted, old", &|folder| put(folder, "tls.key", ENCRYPTED_PKCS1), &["the private key is encrypted"]),
        ("no key", &|folder| put(folder, "tls.key", "?"), &["tls.key`: holds no private key"]),
        ("empty CA", &|folder| put(folder, "ca.crt", ""), &["ca.crt`: is empty"]),
        ("key as CA", &|folder| put(folder, "ca.crt", CLIENT_KEY), &["ca.crt`: holds no `CERTIFICATE`"]),
        ("nonsense", &|folder| put(folder, "tls.crt", NONSENSE), &["tls.crt`: cannot be used"]),
        ("huge", &|folder| put(folder, "ca.crt", &" ".repeat(2 << 20)), &["ca.crt`: 2097152 bytes"]),
    ];
    for (name, spoil, parts) in rows {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &Authority::ours().files());
        spoil(folder.path());
        println!("{name}");
        told(&["--tls-certs-dir", folder.path().to_str().unwrap()], parts);
    }
}

#[test]
fn a_file_where_the_folder_belongs_and_one_that_may_not_be_read() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Authority::ours().files());
    told(&["--tls-certs-dir", folder.path().join("ca.crt").to_str().unwrap()], &["is not a folder"]);
    let key = folder.path().join("tls.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&key).is_err() {
        told(&["--tls-certs-dir", folder.path().to_str().unwrap()], &["tls.key`: may not be read", "user"]);
    }
}

#[test]
fn the_folder_comes_from_the_environment_too() {
    let output = command(&[]).env("TLS_SERVER_CERTS_DIR", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("`/nowhere`: does not exist"));
}

type Row<'a> = (&'a str, &'a dyn Fn(&Path), &'a [&'a str]);

fn remove(folder: &Path, names: &[&str]) {
    names.iter().for_each(|name| std::fs::remove_file(folder.join(name)).unwrap());
}

fn put(folder: &Path, name: &str, text: &str) {
    write(folder, &[(name, text.to_owned())]);
}

const ENCRYPTED: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
const ENCRYPTED_PKCS1: &str =
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n";
const NONSENSE: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
