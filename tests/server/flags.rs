//! What cannot be served ends with code 2, and says what, where and what to do.

use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::authority::{Authority, CLIENT_KEY, write};
use crate::process::command;

fn stderr(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{command:?}: {text}");
    assert!(output.stdout.is_empty());
    text
}

fn told(arguments: &[&str], parts: &[&str]) {
    told_by(&mut command(arguments), parts);
}

fn told_by(command: &mut Command, parts: &[&str]) {
    let text = stderr(command);
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
        assert!(stderr(&mut command(&arguments)).contains("error: invalid value"));
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
fn a_file_where_the_folder_belongs() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &Authority::ours().files());
    told(&["--tls-certs-dir", folder.path().join("ca.crt").to_str().unwrap()], &["is not a folder"]);
}

/// What only somebody who may not do everything meets; root starts the server as nobody.
#[test]
fn what_may_not_be_read_and_a_port_that_may_not_be_had() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("certificates");
    std::fs::create_dir(&folder).unwrap();
    write(&folder, &Authority::ours().files());
    let allow = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    allow(place.path(), 0o755);
    // Nobody may not look into the folder of the build.
    let binary = place.path().join("function-asya");
    std::fs::copy(env!("CARGO_BIN_EXE_function-asya"), &binary).unwrap();
    let told = |arguments: &[&str], parts: &[&str]| {
        let mut command = Command::new(&binary);
        if std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
            command.uid(65534).gid(65534);
        }
        told_by(command.env_clear().args(arguments), parts);
    };
    let certificates = ["--tls-certs-dir", folder.to_str().unwrap()];
    allow(&folder.join("tls.key"), 0o000);
    told(&certificates, &["tls.key`: may not be read", "user of this process"]);
    allow(&folder, 0o000);
    told(&certificates, &["certificates`: may not be read", "user of this process"]);
    allow(&folder, 0o755);
    let first = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    if first.is_ok_and(|first| first.trim().parse::<u16>().is_ok_and(|first| first > 81)) {
        told(
            &["--insecure", "--address", "127.0.0.1:81"],
            &["--address 127.0.0.1:81", "Permission denied", "privilege"],
        );
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
