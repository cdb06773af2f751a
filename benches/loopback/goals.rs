//! What was aimed at, and whether it was met.

use std::fmt;

/// All goals, in the order they were measured.
#[derive(Default)]
pub struct Goals(Vec<Goal>);

struct Goal {
    what: String,
    bound: String,
    measured: String,
    met: bool,
}

impl Goals {
    /// A number that may be so large; `at` says where it was measured.
    pub fn at_most(&mut self, what: impl Into<String>, most: f64, measured: f64, unit: &str, at: &str) {
        self.add(what.into(), format!("≤ {most}{unit}"), measured, unit, at, measured <= most);
    }

    /// A number that may be so small.
    pub fn at_least(&mut self, what: impl Into<String>, least: f64, measured: f64, unit: &str, at: &str) {
        self.add(what.into(), format!("≥ {least}{unit}"), measured, unit, at, measured >= least);
    }

    fn add(&mut self, what: String, bound: String, measured: f64, unit: &str, at: &str, met: bool) {
        let at = if at.is_empty() { String::new() } else { format!(" ({at})") };
        self.0.push(Goal { what, bound, measured: format!("{measured:.2}{unit}{at}"), met });
    }
}

impl fmt::Display for Goals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| goal | bound | measured | met |\n|---|---|---|---|")?;
        for Goal { what, bound, measured, met } in &self.0 {
            writeln!(f, "| {what} | {bound} | {measured} | {} |", if *met { "yes" } else { "**no**" })?;
        }
        Ok(())
    }
}
