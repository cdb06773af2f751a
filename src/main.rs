//! The `function-asya` binary: parse, dispatch, exit code. Start reading at [`function_asya`].

use std::process::ExitCode;

use clap::Parser as _;
use function_asya::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run()
}
