//! How a call grows with what it is given, within the process, bytes in to bytes out: a table, and a plot.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use plotters::prelude::*;

use crate::cases::Case;
use crate::corpus::Life;
use crate::loopback::goals::Goals;
use crate::loopback::median;

/// One thing that grows.
struct Series {
    what: &'static str,
    points: Vec<Point>,
}

struct Point {
    size: f64,
    /// Bytes of the request.
    bytes: usize,
    /// Microseconds of a call.
    taken: f64,
}

/// The usual call, with and without managedFields, and after an edit.
struct Usual {
    cases: [Case; 3],
    ours: [f64; 3],
    tree: [f64; 3],
    /// What managedFields add to our time.
    added: f64,
    /// What it takes to copy their bytes.
    copied: f64,
}

/// Times everything, in rounds in which every case takes its turn.
pub fn measure(quick: bool, plot: Option<&Path>, goals: &mut Goals) -> String {
    let bare = Life { managed_fields: false, ..Life::USUAL };
    let [usual, edited] = Life::EDITS;
    let cases = [
        Case::ours("with managedFields", usual),
        Case::ours("without managedFields", bare),
        Case::in_turn("after an edit", &[usual, edited]),
    ];
    let trees = [usual, bare, edited].map(|life| Case::tree("tree", life));
    let grown = grown();
    let all = cases.iter().chain(&trees).chain(grown.iter().flat_map(|(_, cases)| cases.iter().map(|(_, case)| case)));
    let turns = interleaved(&all.collect::<Vec<_>>(), if quick { 5 } else { 60 });
    // Turns of the same round are close to each other in time, so what slows one slows the other.
    let added = median(turns[0].iter().zip(&turns[1]).map(|(with, without)| with - without));
    let mut taken = turns.into_iter().map(median);
    let mut next = || taken.next().expect("a time for each case");
    let [ours, tree] = [[next(), next(), next()], [next(), next(), next()]];
    let copied = copying(cases[0].requests[0].len() - cases[1].requests[0].len());
    let usual = Usual { cases, ours, tree, added, copied };
    let series = grown.map(|(what, cases)| {
        let point =
            |(size, case): &(usize, Case)| Point { size: *size as f64, bytes: case.requests[0].len(), taken: next() };
        Series { what, points: cases.iter().map(point).collect() }
    });
    judge(&usual, &series, goals);
    if let Some(file) = plot {
        draw(&series, file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    print(&usual, &series)
}

fn judge(usual: &Usual, series: &[Series], goals: &mut Goals) {
    for ((case, ours), tree) in usual.cases.iter().zip(usual.ours).zip(usual.tree) {
        goals.at_most("a call within the process, by tree's", 0.2, ours / tree, "", &case.name);
    }
    goals.at_most("what managedFields add to a call, by copying them once", 1.0, usual.added / usual.copied, "", "");
    for series in series {
        goals.at_most(format!("exponent of growth in {}", series.what), 1.0, series.exponent(), "", "");
    }
}

fn print(usual: &Usual, series: &[Series]) -> String {
    let mut out = "### Within the process\n\n| call | request, kB | ours µs | tree µs | ours by tree |\n|---|---:|---:|---:|---:|\n".to_owned();
    for ((case, ours), tree) in usual.cases.iter().zip(usual.ours).zip(usual.tree) {
        let kilobytes = case.requests[0].len() as f64 / 1000.0;
        row(&mut out, &format!("{} | {kilobytes:.1} | {ours:.1} | {tree:.1} | {:.3}", case.name, ours / tree));
    }
    let Usual { added, copied, .. } = usual;
    out += &format!("\nmanagedFields add {added:.1} µs; copying their bytes once takes {copied:.1} µs.\n");
    out += "\n### Growth\n\n| in | size | request, kB | µs | for each more, µs |\n|---|---:|---:|---:|---:|\n";
    series.iter().for_each(|series| series.print(&mut out));
    let exponents = series.iter().map(|series| format!("{}: {:.2}", series.what, series.exponent()));
    out += &format!("\nFitted exponents (1 is linear): {}.\n", exponents.collect::<Vec<_>>().join("; "));
    out
}

fn row(out: &mut String, cells: &str) {
    writeln!(out, "| {cells} |").expect("text can be written");
}

/// What is made to grow, and how far.
fn grown() -> [(&'static str, Vec<(usize, Case)>); 3] {
    let cases = |sizes: [usize; 4], life: fn(usize) -> Life| {
        sizes.map(|size| (size, Case::ours(size.to_string(), life(size)))).into_iter().collect()
    };
    [
        ("flavors", cases([0, 1, 4, 8], |flavors| Life { flavors, ..Life::USUAL })),
        (
            "kB of each observed resource",
            cases([1, 4, 16, 64], |kilo| Life { observed_bytes: kilo * 1024, ..Life::USUAL }),
        ),
        ("resources of other steps", cases([0, 10, 25, 50], |foreign| Life { foreign, ..Life::USUAL })),
    ]
}

/// The time of a call of each case in each round, in microseconds: the middle one of its turn, so that a call during which
/// the machine does other work does not count.
fn interleaved(cases: &[&Case], rounds: usize) -> Vec<Vec<f64>> {
    let mut taken = vec![Vec::new(); cases.len()];
    for _ in 0..rounds {
        for (case, taken) in cases.iter().zip(&mut taken) {
            taken.push(median(turn(case)));
        }
    }
    taken
}

fn turn(case: &Case) -> Vec<f64> {
    const TURN: Duration = Duration::from_millis(4);
    let (end, mut taken) = (Instant::now() + TURN, Vec::new());
    while taken.len() < 5 || Instant::now() < end {
        let begun = Instant::now();
        black_box(case.answer());
        taken.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    taken
}

/// What it takes to copy so many bytes into memory of their own, in microseconds.
fn copying(bytes: usize) -> f64 {
    const TIMES: u32 = 10_000;
    let from = vec![1_u8; bytes];
    let turn = |_| {
        let begun = Instant::now();
        (0..TIMES).for_each(|_| drop(black_box(black_box(&from).clone())));
        begun.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES)
    };
    median((0..9).map(turn))
}

impl Series {
    fn print(&self, out: &mut String) {
        for (index, Point { size, bytes, taken }) in self.points.iter().enumerate() {
            let before = index.checked_sub(1).map(|index| &self.points[index]);
            let each =
                before.map_or(String::new(), |before| format!("{:.2}", (taken - before.taken) / (size - before.size)));
            row(out, &format!("{} | {size} | {:.1} | {taken:.1} | {each}", self.what, *bytes as f64 / 1000.0));
        }
    }

    /// The slope of the line through logarithms of sizes and times, by least squares.
    fn exponent(&self) -> f64 {
        let grown = self.points.iter().filter(|point| point.size > 0.0);
        slope(&grown.map(|point| (point.size.ln(), point.taken.ln())).collect::<Vec<_>>()).0
    }

    /// Times by that of the first point: what another machine would show too.
    fn relative(&self) -> Vec<(f64, f64)> {
        let first = self.points.first().map_or(1.0, |point| point.taken);
        self.points.iter().map(|point| (point.size, point.taken / first)).collect()
    }
}

/// Slope and intercept, by least squares.
fn slope(points: &[(f64, f64)]) -> (f64, f64) {
    let mean = |number: fn(&(f64, f64)) -> f64| points.iter().map(number).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let rise: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let run: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    (rise / run, y - rise / run * x)
}

/// A panel a series: what was measured, and the straight line nearest to it.
fn draw(series: &[Series], file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::new(file, (960, 320)).into_drawing_area();
    root.fill(&WHITE)?;
    for (panel, series) in root.split_evenly((1, series.len())).iter().zip(series) {
        let points = series.relative();
        let most = points.iter().fold((1.0, 1.0), |most: (f64, f64), point| (most.0.max(point.0), most.1.max(point.1)));
        let mut chart = ChartBuilder::on(panel)
            .margin(12)
            .caption(format!("{} (exponent {:.2})", series.what, series.exponent()), ("sans-serif", 15))
            .x_label_area_size(28)
            .y_label_area_size(36)
            .build_cartesian_2d(0.0..most.0 * 1.05, 0.0..most.1 * 1.15)?;
        let times = |times: &f64| format!("{times:.1}×");
        let size = |size: &f64| format!("{size:.0}");
        chart
            .configure_mesh()
            .x_labels(5)
            .y_labels(5)
            .light_line_style(TRANSPARENT)
            .x_label_formatter(&size)
            .y_label_formatter(&times)
            .draw()?;
        let (rise, base) = slope(&points);
        let line = [0.0, most.0].map(|x| (x, base + rise * x));
        chart.draw_series(LineSeries::new(line, BLACK.mix(0.35)))?;
        chart.draw_series(LineSeries::new(points.iter().copied(), BLUE.stroke_width(2)))?;
        chart.draw_series(points.iter().map(|point| Circle::new(*point, 4, BLUE.filled())))?;
    }
    root.present()?;
    Ok(())
}
