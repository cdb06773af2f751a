//! Measures whole calls over loopback gRPC, and the process around them, beside two servers that do less:
//! `cargo bench --bench wire`, or with `-- --quick` for a look.
//!
//! **raw** answers prepared bytes to whatever it is asked, **tree** decodes every request into a tree and encodes a
//! prepared answer. All servers and the client are processes of their own, and every round measures all of them, so that
//! whatever else the machine does meets all alike. It prints tables with ratios and whether they meet the goals; it fails
//! only when calls fail.

#![allow(dead_code, clippy::unwrap_used, reason = "parts of the tests, which may fail and need more than we do")]

#[path = "../tests/server/authority.rs"]
mod authority;
mod cases;
#[path = "../tests/server/client.rs"]
mod client;
mod corpus;
mod growth;
mod loopback;
#[path = "../tests/tools/raw.rs"]
mod raw;
#[path = "baseline.rs"]
mod wire;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand, ValueEnum};
use loopback::goals::Goals;
use loopback::{baselines, caller, commands, points};

#[derive(Parser)]
struct Wire {
    /// A short run, for a look: its numbers are nothing to quote
    #[arg(long)]
    quick: bool,
    /// Only this part
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Draw how calls grow into this SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write all of it into this page too, below its last comment
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "only"])]
    page: Option<PathBuf>,
    /// What cargo adds
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    role: Option<Role>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// Calls over loopback
    Calls,
    /// From exec to exit, or to the first call
    Commands,
    /// Within the process: how a call grows
    Growth,
}

/// What this program does when it runs itself.
#[derive(Subcommand)]
enum Role {
    /// Be a baseline server
    #[command(hide = true)]
    Serve(baselines::Serve),
    /// Be the client
    #[command(hide = true)]
    Call(caller::Load),
    /// Read the YAML of these files and directories, and do nothing with it
    #[command(hide = true)]
    Parse { inputs: Vec<PathBuf> },
}

fn main() {
    let arguments = Wire::parse();
    match &arguments.role {
        Some(Role::Serve(serve)) => serve.run(),
        Some(Role::Call(load)) => load.run(),
        Some(Role::Parse { inputs }) => commands::parse(inputs),
        None => arguments.measure(),
    }
}

impl Wire {
    fn measure(&self) {
        let mut goals = Goals::default();
        let wanted = |part| self.only.is_none_or(|only| only == part);
        let show = |table: String| {
            println!("{table}");
            table
        };
        let machine = show(loopback::machine(self.quick) + "\n");
        let mut tables = Vec::new();
        if wanted(Part::Calls) {
            tables.push(show(points::measure(self.quick, &mut goals)));
        }
        if wanted(Part::Commands) {
            tables.push(show(commands::measure(self.quick, &mut goals)));
        }
        if wanted(Part::Growth) {
            tables.push(show(growth::measure(self.quick, self.plot.as_deref(), &mut goals)));
        }
        let goals = show(format!("### Goals\n\n{goals}"));
        if let Some(page) = &self.page {
            write(page, &[&[machine, goals], &tables[..]].concat().join("\n"));
        }
    }
}

/// Puts what was printed below the last comment of a page.
fn write(page: &Path, printed: &str) {
    let before = fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
    let (kept, _) = before.rsplit_once("-->").expect("a comment where the tables begin");
    fs::write(page, format!("{kept}-->\n\n{printed}")).expect("the page can be written");
}
