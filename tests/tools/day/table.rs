//! What a number of actors costs, reckoned from the CPU that one reconcile takes; docs/scaling.md holds what is printed.

use std::fmt::Write as _;

use crate::plan::{Plan, Watches};

/// Calls of a reconcile: ask, and answer.
pub const CALLS: f64 = 2.0;
/// What Crossplane writes at a reconcile: the references, five composed resources, the status, the conditions.
pub const WRITES: f64 = 8.0;
/// How many times the busiest hour's CPU we keep free, for restarts of Crossplane and whatever else comes at once.
pub const HEADROOM: f64 = 3.0;

/// One row for each size, TTL and kind of watches.
pub fn table(micros: f64) -> String {
    let mut out = String::from(
        "| actors | TTL | watches | reconciles/h | calls/h | reconciles/s, busiest hour | our CPU, cores | replicas | writes/s of Crossplane |\n\
         |---:|---:|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for actors in [1_000, 10_000, 100_000] {
        for (ttl, name) in [(60, "60s"), (600, "10m")] {
            for watches in Watches::ALL {
                let plan = Plan { actors, ttl, watches };
                let second = plan.busiest() / 3600.0;
                let cores = second * micros / 1e6;
                writeln!(
                    out,
                    "| {} | {name} | {} | {} | {} | {second:.1} | {cores:.3} | {} | {} |",
                    thousands(actors as f64),
                    watches.name(),
                    thousands(plan.per_hour()),
                    thousands(plan.per_hour() * CALLS),
                    replicas(cores),
                    thousands(second * WRITES),
                )
                .expect("a text takes everything");
            }
        }
    }
    out
}

/// Two, so that one may go; more where one of two could not bear the busiest hour alone on one core, with headroom.
fn replicas(cores: f64) -> u64 {
    2.max((cores * HEADROOM).ceil() as u64 + 1)
}

/// `1234567` as `1 234 567`.
pub fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}
