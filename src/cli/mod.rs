//! The command line: the only place that knows disk, stdout and YAML text.

use std::process::ExitCode;

pub mod claim;
pub mod crossplane;
pub mod explain;
pub mod files;
pub mod lint;
pub mod print;
pub mod render;
pub mod report;
pub mod scene;
mod serve;
pub mod simulate;
pub mod step;
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
    /// Show the resolved spec, each line with who set it and what it overrode
    Explain(explain::Explain),
    /// Find everything wrong with actors, flavors and platform settings before they reach a cluster
    Lint(lint::Lint),
}

impl Cli {
    /// Runs the command that was named.
    pub fn run(self) -> ExitCode {
        let (mut stdin, mut stdout, mut stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let outcome = match self.command {
            None => self.serve.run(),
            Some(Command::Serve(serve)) => serve.run(),
            Some(Command::Render(render)) => render.run(&mut stdin, &mut stdout, &mut stderr),
            Some(Command::Explain(explain)) => explain.run(&mut stdin, &mut stdout, &mut stderr),
            Some(Command::Lint(lint)) => lint.run(&mut stdin, &mut stderr),
        };
        ExitCode::from(outcome.unwrap_or_else(|Stop { message, code }| {
            eprint!("{message}");
            code
        }))
    }
}
