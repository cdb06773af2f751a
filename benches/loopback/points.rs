//! Calls over loopback: every server at every point, again and again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::caller::Taken;
use super::goals::Goals;
use super::median;
use super::process::{Server, finish, function, ourselves, pinned};
use crate::authority::{Authority, mount};
use crate::cases::Case;
use crate::corpus::Life;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Raw,
    Tree,
    Ours,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Raw, Self::Tree, Self::Ours];

    fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Tree => "tree",
            Self::Ours => "ours",
        }
    }
}

/// What a server is asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Call {
    /// The first call of a reconcile.
    Ask,
    /// The second call of a reconcile, in which nothing has changed.
    Answer,
    /// The second call of a reconcile after somebody has edited the actor.
    Edited,
}

impl Call {
    fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Answer => "answer",
            Self::Edited => "answer, edited",
        }
    }

    /// The requests that take turns: those of many actors, as in a cluster.
    fn lives(self) -> Vec<Life> {
        const ACTORS: usize = 64;
        let actors = 0..ACTORS;
        match self {
            Self::Ask => actors.map(|actor| Life { actor, ..Life::ASKING }).collect(),
            Self::Answer => actors.map(|actor| Life { actor, ..Life::USUAL }).collect(),
            Self::Edited => {
                actors.flat_map(|actor| [false, true].map(|edited| Life { actor, edited, ..Life::USUAL })).collect()
            }
        }
    }
}

/// How a server is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    mtls: bool,
    call: Call,
    streams: usize,
}

impl Point {
    fn all() -> Vec<Self> {
        let transport = |mtls| {
            let answers = [1, 8, 64].map(|streams| Self { mtls, call: Call::Answer, streams });
            answers.into_iter().chain([Call::Ask, Call::Edited].map(|call| Self { mtls, call, streams: 1 }))
        };
        [false, true].into_iter().flat_map(transport).collect()
    }

    fn is_pinned(self) -> bool {
        self.streams == 1
    }
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let transport = if self.mtls { "mTLS" } else { "plaintext" };
        write!(f, "{}, {transport}, {}", self.call.name(), self.streams)
    }
}

/// What one server showed at one point.
struct Shown {
    taken: Taken,
    /// Memory before the first call, in MiB.
    idle: f64,
    /// The most memory it ever had, in MiB.
    peak: f64,
}

/// What must be there before anything is measured.
struct Stage {
    folder: tempfile::TempDir,
    /// The length of an answer by call and server.
    lengths: BTreeMap<(Call, Kind), usize>,
    seconds: f64,
}

impl Stage {
    fn set(seconds: f64) -> Self {
        let folder = tempfile::tempdir().expect("a folder for a while");
        mount(folder.path(), 0, &Authority::ours().files());
        let mut lengths = BTreeMap::new();
        for call in [Call::Ask, Call::Answer, Call::Edited] {
            let (name, lives) = (call.name(), call.lives());
            let (ours, tree) = (Case::in_turn(name, &lives), Case::tree(name, lives[0]));
            let requests = folder.path().join(format!("{name}.requests"));
            fs::create_dir(&requests).expect("a folder");
            for (index, request) in ours.requests.iter().enumerate() {
                fs::write(requests.join(format!("{index:03}")), request).expect("a file");
            }
            let prepared = ours.answer();
            fs::write(folder.path().join(format!("{name}.answer")), &prepared).expect("a file");
            lengths.insert((call, Kind::Ours), prepared.len());
            lengths.insert((call, Kind::Raw), prepared.len());
            lengths.insert((call, Kind::Tree), tree.answer().len());
        }
        Self { folder, lengths, seconds }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the server, calls it, and ends it.
    fn show(&self, kind: Kind, point: Point) -> Shown {
        let mut command = match kind {
            Kind::Ours => function(&["serve", "--address", "127.0.0.1:0", "--metrics-address", ""]),
            Kind::Raw | Kind::Tree => {
                let mut command = ourselves("serve");
                let answer = self.file(&format!("{}.answer", point.call.name()));
                command.args(["--kind", kind.name(), "--answer"]).arg(answer);
                command
            }
        };
        match (point.mtls, kind) {
            (true, _) => drop(command.arg("--tls-certs-dir").arg(self.folder.path())),
            (false, Kind::Ours) => drop(command.arg("--insecure")),
            (false, _) => {}
        }
        let server = Server::start(if point.is_pinned() { pinned(0, command) } else { command });
        std::thread::sleep(Duration::from_millis(50));
        let idle = server.memory("VmRSS");
        let taken = self.call(kind, point, &server);
        Shown { taken, idle, peak: server.memory("VmHWM") }
    }

    fn call(&self, kind: Kind, point: Point, server: &Server) -> Taken {
        let mut client = ourselves("call");
        client.arg("--requests").arg(self.file(&format!("{}.requests", point.call.name())));
        client.args(["--address", &server.address.to_string(), "--server", &server.id().to_string()]);
        client.args(["--answer", &self.lengths[&(point.call, kind)].to_string()]);
        client.args(["--streams", &point.streams.to_string(), "--seconds", &self.seconds.to_string()]);
        if point.mtls {
            client.arg("--mtls");
        }
        let mut client = if point.is_pinned() { pinned(1, client) } else { client };
        serde_json::from_slice(&finish(&mut client).stdout).expect("what the client prints")
    }
}

/// Medians of what was shown.
struct Table(BTreeMap<(Point, Kind), Vec<Shown>>);

impl Table {
    fn of(&self, point: Point, kind: Kind, part: impl Fn(&Shown) -> f64) -> f64 {
        median(self.0[&(point, kind)].iter().map(part))
    }

    /// Ours by another's.
    fn ratio(&self, point: Point, other: Kind, part: fn(&Shown) -> f64) -> f64 {
        self.of(point, Kind::Ours, part) / self.of(point, other, part)
    }

    /// The largest number of all these points, and where it is.
    fn worst(&self, points: impl Fn(&Point) -> bool, number: impl Fn(Point) -> f64) -> (f64, String) {
        let numbers = Point::all().into_iter().filter(points).map(|point| (number(point), point.to_string()));
        numbers.max_by(|one, other| one.0.total_cmp(&other.0)).expect("points")
    }
}

/// Measures all servers at all points.
pub fn measure(quick: bool, goals: &mut Goals) -> String {
    let (rounds, seconds) = if quick { (1, 0.3) } else { (3, 2.0) };
    let stage = Stage::set(seconds);
    let mut shown: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for round in 0..rounds {
        for point in Point::all() {
            eprintln!("round {} of {rounds}: {point}", round + 1);
            for kind in Kind::ALL {
                shown.entry((point, kind)).or_default().push(stage.show(kind, point));
            }
        }
    }
    let table = Table(shown);
    judge(&table, goals);
    print(&table)
}

fn judge(table: &Table, goals: &mut Goals) {
    let answers = |point: &Point| point.call == Call::Answer;
    let full = |point: &Point| point.call == Call::Answer && point.streams == 64;
    let alone = |point: &Point| point.call == Call::Answer && point.streams == 1;
    let cpu = |shown: &Shown| shown.taken.cpu;
    let rate = |shown: &Shown| shown.taken.per_second;
    for (kind, most) in [(Kind::Raw, 1.6), (Kind::Tree, 0.4)] {
        let (worst, at) = table.worst(answers, |point| table.ratio(point, kind, cpu));
        goals.at_most(format!("CPU of a call, by {}'s", kind.name()), most, worst, "", &at);
    }
    for (kind, least) in [(Kind::Raw, 0.45), (Kind::Tree, 4.0)] {
        let (worst, at) = table.worst(full, |point| -table.ratio(point, kind, rate));
        goals.at_least(format!("throughput at 64 streams, by {}'s", kind.name()), least, -worst, "", &at);
    }
    let (worst, at) = table.worst(alone, |point| table.ratio(point, Kind::Raw, |shown| shown.taken.p99));
    goals.at_most("p99 at 1 stream, by raw's", 1.6, worst, "", &at);
    let (idle, at) = table.worst(|_| true, |point| table.of(point, Kind::Ours, |shown| shown.idle));
    goals.at_most("memory before the first call", 6.0, idle, " MiB", &at);
    let (peak, at) = table.worst(full, |point| table.of(point, Kind::Ours, |shown| shown.peak));
    goals.at_most("memory under 64 streams", 16.0, peak, " MiB", &at);
    reconcile(table, goals);
}

/// One reconcile is two calls: ask, then answer. What it takes of today's pipeline, which was measured once.
fn reconcile(table: &Table, goals: &mut Goals) {
    const TODAY: f64 = 90_000.0;
    let call = |call| Point { mtls: true, call, streams: 1 };
    let of = |kind| -> f64 {
        [Call::Ask, Call::Answer].map(|name| table.of(call(name), kind, |shown| shown.taken.cpu)).iter().sum()
    };
    let (taken, raw, most) = (of(Kind::Ours), of(Kind::Raw), TODAY / 500.0);
    let part = TODAY / taken;
    let at = format!("1/{part:.0} of the 90 ms of today's pipeline; raw, which does nothing, takes {raw:.0} µs");
    goals.at_most("CPU of a reconcile, ask and answer over mTLS", most, taken, " µs", &at);
}

fn print(table: &Table) -> String {
    let mut out =
        "### Calls\n\nEach row: calls a second, latency with the client's part in it, and the server's processor \
        time and page faults for a call. `by raw`, `by tree`: ours divided by theirs.\n\n\
        | call | streams | server | calls/s | p50 µs | p99 µs | CPU µs | by raw | by tree | faults | idle MiB | peak MiB |\n\
        |---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
            .to_owned();
    for (point, kind) in table.0.keys().copied() {
        let of = |part: fn(&Shown) -> f64| table.of(point, kind, part);
        let ratio = |other| match kind {
            Kind::Ours => format!("{:.2}", table.ratio(point, other, |shown| shown.taken.cpu)),
            _ => String::new(),
        };
        let transport = if point.mtls { "mTLS" } else { "plaintext" };
        writeln!(
            out,
            "| {}, {transport} | {} | {} | {:.0} | {:.0} | {:.0} | {:.1} | {} | {} | {:.1} | {:.1} | {:.1} |",
            point.call.name(),
            point.streams,
            kind.name(),
            of(|shown| shown.taken.per_second),
            of(|shown| shown.taken.p50),
            of(|shown| shown.taken.p99),
            of(|shown| shown.taken.cpu),
            ratio(Kind::Raw),
            ratio(Kind::Tree),
            of(|shown| shown.taken.faults),
            of(|shown| shown.idle),
            of(|shown| shown.peak),
        )
        .expect("text can be written");
    }
    out
}
