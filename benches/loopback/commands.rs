//! From exec to exit, or to the first call that is answered.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use function_asya::cli::files::{self, Stdin};

use super::goals::Goals;
use super::process::{finish, function, ourselves, size};
use super::{caller, median};
use crate::authority::{Authority, mount};
use crate::client::Client;
use crate::corpus::Life;

/// Reads YAML and JSON as every command does, and does nothing with it.
pub fn parse(inputs: &[PathBuf]) {
    let documents = files::read(inputs, &mut Stdin::new(&mut std::io::empty()));
    println!("{}", documents.unwrap_or_else(|failure| panic!("{failure}")).len());
}

/// Measures commands and starts.
pub fn measure(quick: bool, goals: &mut Goals) -> String {
    let mut table =
        Table("### Commands\n\nFrom exec to exit, or as said; medians.\n\n| what | ms |\n|---|---:|\n".to_owned());
    let times = if quick { 5 } else { 30 };
    let version = repeated(times, || function(&["--version"]));
    table.row("`--version`", version);
    starts(if quick { 3 } else { 20 }, &mut table, goals);
    renders(times, &mut table, goals);
    directory(if quick { 100 } else { 1000 }, if quick { 2 } else { 7 }, &mut table, goals);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let released = root.join("target/x86_64-unknown-linux-gnu/release/function-asya");
    match size(&released) {
        Some(size) => goals.at_most("static binary, stripped", 8.0, size, " MiB", ""),
        None => table.0 += "\nNo static binary is here to weigh: `tools/package` builds it.\n",
    }
    table.0
}

struct Table(String);

impl Table {
    fn row(&mut self, what: &str, milliseconds: f64) {
        self.0 += &format!("| {what} | {milliseconds:.2} |\n");
    }
}

/// Milliseconds from exec to exit.
fn timed(mut command: Command) -> f64 {
    let begun = Instant::now();
    finish(&mut command);
    begun.elapsed().as_secs_f64() * 1000.0
}

fn repeated(times: usize, command: impl Fn() -> Command) -> f64 {
    median((0..times).map(|_| timed(command())))
}

/// From exec to the first call that is answered over mTLS.
fn starts(times: usize, table: &mut Table, goals: &mut Goals) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder for a while");
    mount(folder.path(), 0, &Authority::ours().files());
    let request = caller::frame(&Life::USUAL.bytes());
    let taken: Vec<[f64; 3]> = (0..times)
        .map(|_| {
            tokio::task::LocalSet::new().block_on(&runtime, async {
                let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
                let address = free.expect("a free port");
                let client = Client::crossplane(address);
                let mut command = function(&["serve", "--address", &address.to_string(), "--metrics-address", ""]);
                command.arg("--tls-certs-dir").arg(folder.path()).stderr(Stdio::null());
                let begun = Instant::now();
                let passed = || begun.elapsed().as_secs_f64() * 1000.0;
                let mut server = command.spawn().expect("the server starts");
                while tokio::net::TcpStream::connect(address).await.is_err() {
                    assert!(passed() < 30_000.0, "it does not listen");
                    tokio::task::yield_now().await;
                }
                let listens = passed();
                let sender = caller::connect(&client).await;
                caller::call(&sender, request.clone()).await.expect("an answer");
                let first = passed();
                caller::call(&sender, request.clone()).await.expect("an answer");
                let second = passed() - first;
                server.kill().and_then(|()| server.wait()).expect("it ends");
                [listens, first, second]
            })
        })
        .collect();
    let [listens, first, second] = [0, 1, 2].map(|column| median(taken.iter().map(|row| row[column])));
    table.row("`serve`, until it listens", listens);
    table.row("`serve`, until the first call is answered over mTLS", first);
    table.row("the second call on that connection", second);
    goals.at_most("first call over mTLS, from exec", 10.0, first, " ms", "");
}

/// An actor of thirty fields, with four flavors and platform settings.
fn renders(times: usize, table: &mut Table, goals: &mut Goals) {
    let corpus = |file: &str| format!("{}/benches/corpus/{file}.yaml", env!("CARGO_MANIFEST_DIR"));
    let (actor, flavors, platform) = (corpus("actor"), corpus("flavors"), corpus("platform"));
    let plain = ["render", &actor, "-e", &flavors, &platform];
    let rendered = repeated(times, || function(&plain));
    table.row("`render` of one actor with eight flavors", rendered);
    let simulated = repeated(times, || {
        let mut command = function(&plain);
        command.args(["--simulate", "ready"]);
        command
    });
    table.row("the same with `--simulate ready`", simulated);
    goals.at_most("`render` of one actor", 15.0, rendered.max(simulated), " ms", "the slower of both");
}

/// Many actors of one directory, beside reading their YAML alone.
fn directory(actors: usize, times: usize, table: &mut Table, goals: &mut Goals) {
    let folder = tempfile::tempdir().expect("a folder for a while");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/corpus");
    for file in ["flavors.yaml", "platform.yaml"] {
        fs::copy(corpus.join(file), folder.path().join(file)).expect("a file");
    }
    let actor = fs::read_to_string(corpus.join("actor.yaml")).expect("the actor");
    for index in 0..actors {
        let one = actor.replace(": text-to-image\n", &format!(": text-to-image-{index}\n"));
        fs::write(folder.path().join(format!("actor-{index:04}.yaml")), one).expect("a file");
    }
    let of = |mut command: Command| {
        command.arg(folder.path());
        timed(command)
    };
    let (mut parsed, mut linted) = (Vec::new(), Vec::new());
    for _ in 0..times {
        parsed.push(of(ourselves("parse")));
        linted.push(of(function(&["lint"])));
    }
    let (parsed, linted) = (median(parsed), median(linted));
    table.row(&format!("reading the YAML of {actors} actors alone"), parsed);
    table.row("`lint` of the same directory", linted);
    goals.at_most(format!("`lint` of {actors} actors, by reading alone"), 3.0, linted / parsed, "", "");
}
