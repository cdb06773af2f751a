//! A day of N actors, played against two replicas of the real binary over mTLS on loopback:
//! `cargo run --release --example day -- --server target/release/function-asya --actors 1000 --sample 10`.
//!
//! Timers, wake-ups, naps and edits of a flavor come as `day/plan.rs` says; in the middle of the day the certificates are
//! changed, and then each replica is replaced by a new one. Every answer is compared with what the library answers, byte by
//! byte; a wrong one, or a call that fails, fails the run. `--table --micros 300` prints what that makes in a real cluster.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a tool for those who develop, with parts of the tests"
)]

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clap::Parser;

#[path = "day/actors.rs"]
mod actors;
#[path = "../server/authority.rs"]
mod authority;
#[path = "../server/client.rs"]
mod client;
#[path = "../../benches/corpus/mod.rs"]
mod corpus;
#[path = "day/plan.rs"]
mod plan;
#[path = "raw.rs"]
mod raw;
#[path = "day/replicas.rs"]
mod replicas;
#[path = "day/table.rs"]
mod table;

use actors::Actors;
use plan::{EDITS, HOUR, Plan, Reconcile, Watches};
use replicas::Replicas;
use table::thousands;

#[derive(Parser)]
struct Day {
    /// The binary
    #[arg(long, default_value = "target/release/function-asya")]
    server: PathBuf,
    /// How many actors there are
    #[arg(long, default_value_t = 1000)]
    actors: u64,
    /// How often Crossplane looks at an actor without a reason, as a Go duration
    #[arg(long, default_value = "60s", value_parser = |text: &str| function_asya::go::duration(text).ok_or("write it like 60s"))]
    ttl: Duration,
    /// What else wakes it
    #[arg(long, value_enum, default_value_t = Watches::Provider)]
    watches: Watches,
    /// The first hour that is played
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// How many hours are played
    #[arg(long, default_value_t = 24)]
    hours: u64,
    /// Play each so many-th reconcile only, and tell how much all of them would be
    #[arg(long, default_value_t = 1)]
    sample: u64,
    /// How many seconds of the day pass in one; as fast as it goes unless given
    #[arg(long)]
    speed: Option<f64>,
    /// How many reconciles run at a time
    #[arg(long, default_value_t = 16)]
    streams: usize,
    /// The longest it may take, in seconds
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// The most calls it may make
    #[arg(long, default_value_t = 10_000_000)]
    calls: u64,
    /// Print what 1 000, 10 000 and 100 000 actors cost instead
    #[arg(long, requires = "micros")]
    table: bool,
    /// CPU of one reconcile in microseconds, for the table
    #[arg(long)]
    micros: Option<f64>,
}

fn main() {
    let day = Day::parse();
    if let (true, Some(micros)) = (day.table, day.micros) {
        print!("{}", table::table(micros));
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let failed = runtime.block_on(day.play());
    std::process::exit(i32::from(failed));
}

/// What an hour was like.
#[derive(Default)]
struct Hour {
    reconciles: u64,
    errors: u64,
    taken: Vec<u32>,
}

impl Day {
    fn plan(&self) -> Plan {
        Plan { actors: self.actors, ttl: self.ttl.as_secs().max(1), watches: self.watches }
    }

    /// Plays the day, and tells whether anything failed.
    async fn play(&self) -> bool {
        let replicas = Arc::new(Replicas::start(&self.server, 2));
        let mut actors = Arc::new(Actors::new(0));
        let end = Instant::now() + Duration::from_secs(self.seconds);
        let (mut all, mut all_cpu, mut played) = (Hour::default(), Duration::ZERO, 0);
        println!(
            "{} actors, TTL {:?}, watches: {}; every {}. reconcile is played, counts and CPU are of all; times are of a call",
            thousands(self.actors as f64),
            self.ttl,
            self.watches.name(),
            self.sample,
        );
        println!(
            "| hour | reconciles | calls | errors | moved | CPU s | µs a reconcile | p50 µs | p99 µs | peak RSS kB | |"
        );
        println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|");
        let middle = self.from + self.hours / 2;
        for hour in self.from..self.from + self.hours {
            if Instant::now() > end || all.reconciles * 2 > self.calls {
                println!("stopped before hour {hour}: the bound of time or calls is reached");
                break;
            }
            let mut notes = Vec::new();
            let edits = EDITS.iter().filter(|at| **at / HOUR <= hour % 24).count() as u64;
            if EDITS.iter().any(|at| *at / HOUR == hour % 24) {
                actors = Arc::new(Actors::new(edits));
                notes.push("flavor edited");
            }
            let (cpu, moved) = (replicas.cpu(), replicas.moved.load(Ordering::Relaxed));
            let rolling = (hour == middle).then(|| tokio::spawn(Arc::clone(&replicas).roll()));
            let running = tokio::spawn(self.hour(hour % 24, Arc::clone(&replicas), Arc::clone(&actors), end));
            if hour + 1 == middle {
                notes.push("certificates rotated");
                tokio::task::block_in_place(|| replicas.rotate());
            }
            let mut this = running.await.unwrap();
            if let Some(rolling) = rolling {
                rolling.await.unwrap();
                notes.push("replicas rolled");
            }
            let cpu = replicas.cpu().saturating_sub(cpu);
            let moved = replicas.moved.load(Ordering::Relaxed) - moved;
            self.print(&hour.to_string(), &mut this, moved, cpu, replicas.memory(), &notes.join(", "));
            (all_cpu, played) = (all_cpu + cpu, played + 1);
            all.reconciles += this.reconciles;
            all.errors += this.errors;
            all.taken.append(&mut this.taken);
        }
        let moved = replicas.moved.load(Ordering::Relaxed);
        self.print("all", &mut all, moved, all_cpu, replicas.memory(), "");
        println!(
            "reckoned: {} reconciles an hour in the mean of a day; played: {} in the mean of {played} hours",
            thousands(self.plan().per_hour()),
            thousands((all.reconciles * self.sample) as f64 / f64::from(played)),
        );
        all.errors > 0
    }

    /// Plays one hour with so many reconciles at a time.
    fn hour(
        &self,
        hour: u64,
        replicas: Arc<Replicas>,
        actors: Arc<Actors>,
        end: Instant,
    ) -> impl Future<Output = Hour> + Send + use<> {
        let reconciles = Arc::new(Mutex::new(self.plan().hour(hour, self.sample)));
        let (streams, speed, begun) = (self.streams, self.speed, Instant::now());
        async move {
            let running: Vec<_> = (0..streams)
                .map(|_| {
                    let (reconciles, replicas, actors) =
                        (Arc::clone(&reconciles), Arc::clone(&replicas), Arc::clone(&actors));
                    tokio::spawn(async move {
                        let mut this = Hour::default();
                        while Instant::now() < end {
                            let Some(next) = reconciles.lock().unwrap().next() else { break };
                            if let Some(speed) = speed {
                                let due = Duration::from_secs_f64((next.at - hour * HOUR) as f64 / speed);
                                tokio::time::sleep_until((begun + due).into()).await;
                            }
                            reconcile(&next, &replicas, &actors, &mut this).await;
                        }
                        this
                    })
                })
                .collect();
            let mut all = Hour::default();
            for stream in running {
                let mut this = stream.await.unwrap();
                all.reconciles += this.reconciles;
                all.errors += this.errors;
                all.taken.append(&mut this.taken);
            }
            all
        }
    }

    fn print(&self, name: &str, hour: &mut Hour, moved: usize, cpu: Duration, memory: u64, notes: &str) {
        hour.taken.sort_unstable();
        let at = |part: f64| hour.taken.get((hour.taken.len() as f64 * part) as usize).copied().unwrap_or_default();
        let all = (hour.reconciles * self.sample) as f64;
        println!(
            "| {name} | {} | {} | {} | {moved} | {:.2} | {:.0} | {} | {} | {} | {notes} |",
            thousands(all),
            thousands(all * table::CALLS),
            hour.errors,
            cpu.as_secs_f64() * self.sample as f64,
            cpu.as_secs_f64() * 1e6 / hour.reconciles.max(1) as f64,
            at(0.5),
            at(0.99),
            thousands(memory as f64),
        );
    }
}

/// Both calls of a reconcile, one after the other.
async fn reconcile(next: &Reconcile, replicas: &Replicas, actors: &Actors, hour: &mut Hour) {
    hour.reconciles += 1;
    for (request, expected) in actors.calls(next.look, next.actor) {
        let begun = Instant::now();
        let answer = replicas.call(request).await;
        hour.taken.push(u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX));
        match answer {
            Ok(answer) if answer == expected => {}
            Ok(_) => {
                hour.errors += 1;
                eprintln!("a wrong answer: {next:?}");
            }
            Err(status) => {
                hour.errors += 1;
                eprintln!("{next:?}: {status:?}");
            }
        }
    }
}
