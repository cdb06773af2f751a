//! The command line: the only place that knows disk, stdout and YAML text.

use std::process::ExitCode;

mod crossplane;
pub mod files;
pub mod print;
pub mod render;
pub mod report;
pub mod scene;
mod serve;
pub mod simulate;
pub mod stop;

use serve::Serve;
use stop::Stop;

/// Turns an AsyncActor into its resources: as a Crossplane function, or from files.
#[derive(Debug, clap::Parser)]
#[command(name = "function-asya", version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Serve the gRPC function; also what runs when no command is named
    Serve(Serve),
    /// Show every resource of an actor and its status, as `crossplane render` would
    Render(render::Render),
}

impl Cli {
    /// Runs the command that was named.
    pub fn run(self) -> ExitCode {
        let (mut stdin, mut stdout, mut stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let outcome = match self.command {
            None => self.serve.run(),
            Some(Command::Serve(serve)) => serve.run(),
            Some(Command::Render(render)) => render.run(&mut stdin, &mut stdout, &mut stderr),
        };
        ExitCode::from(outcome.unwrap_or_else(|Stop { message, code }| {
            eprint!("{message}");
            code
        }))
    }
}
