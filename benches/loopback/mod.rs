//! Servers and a client on loopback, each a process of its own.

pub mod baselines;
pub mod caller;
pub mod commands;
pub mod goals;
pub mod points;
pub mod process;

/// The middle one.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What the numbers come from.
pub fn machine(quick: bool) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("processor unknown", |(_, model)| model);
    let length = if quick { "a short run, nothing to quote" } else { "medians of three interleaved rounds" };
    let pinning = if process::can_pin() { "server on core 0, client on core 1" } else { "not pinned: no taskset" };
    format!("{cores} cores ({model}); {length}. Rows of 1 stream: {pinning}; other rows: not pinned.")
}
