//! Times one call within the process, bytes in to bytes out, beside a server of trees: `cargo bench --bench in_process`.

mod cases;
mod corpus;
#[path = "baseline.rs"]
mod wire;

use std::hint::black_box;

use cases::Case;
use corpus::Life;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// The calls of a reconcile, and what a server of trees pays for the same.
fn reconcile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call");
    for case in cases::usual() {
        group.bench_function(&case.name, |bencher| bencher.iter(|| black_box(case.answer())));
    }
}

/// How a call grows with what it is given.
fn growth(criterion: &mut Criterion) {
    let flavors = [0, 1, 4, 8].map(|flavors| (flavors, Life { flavors, ..Life::USUAL }));
    let observed = [1, 4, 16, 64].map(|kilo| (kilo, Life { observed_bytes: kilo * 1024, ..Life::USUAL }));
    let foreign = [0, 10, 25, 50].map(|foreign| (foreign, Life { foreign, ..Life::USUAL }));
    for (name, lives) in [("flavors", flavors), ("observed kB each", observed), ("foreign resources", foreign)] {
        let mut group = criterion.benchmark_group(name);
        for (size, life) in lives {
            let case = Case::ours(name, life);
            group.throughput(Throughput::Bytes(case.requests[0].len() as u64));
            group
                .bench_function(BenchmarkId::from_parameter(size), |bencher| bencher.iter(|| black_box(case.answer())));
        }
    }
}

criterion_group!(benches, reconcile, growth);
criterion_main!(benches);
