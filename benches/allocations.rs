//! Counts what one call allocates, bytes in to bytes out: the same every time, whatever else the machine does.
//!
//! `cargo bench --bench allocations` compares with `benches/allocations.txt`: more than 5 % above is a failure.
//! `BLESS=1` records what was counted.

mod cases;
mod corpus;
mod counts;
#[path = "baseline.rs"]
mod wire;

use std::hint::black_box;
use std::process::ExitCode;

fn main() -> ExitCode {
    let counts: Vec<counts::Count> = cases::usual().iter().map(count).collect();
    counts::settle("allocations.txt", &["allocations", "bytes"], &counts)
}

/// What the second of two calls allocates: the first reads what is read once a process.
fn count(case: &cases::Case) -> counts::Count {
    black_box(case.answer());
    let counted = allocation_counter::measure(|| drop(black_box(case.answer())));
    (case.name.clone(), vec![counted.count_total, counted.bytes_total])
}
