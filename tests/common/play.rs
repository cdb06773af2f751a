//! Answers a case in-process, the way `render` does it.

use std::path::PathBuf;

use clap::Parser;
use function_asya::cli::crossplane;
use function_asya::cli::print;
use function_asya::cli::scene::{Arguments, Scene};
use function_asya::cli::simulate::{self, End};
use function_asya::cli::stop::{FINE, REFUSED, Stop};
use function_asya::composed::Composition;

use super::case::Case;

/// The options of `render`.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    scene: Arguments,
    #[arg(short = 'r', long = "include-function-results")]
    results: bool,
    #[arg(long)]
    simulate: Option<End>,
}

/// A case that was read and answered.
pub struct Played {
    /// What was read; after a simulation, with what is observed last.
    pub scene: Scene,
    /// The answer.
    pub composition: Composition,
    /// Results are printed too.
    pub results: bool,
}

/// Reads and answers a case.
///
/// # Errors
/// What `render` would say before it stops.
pub fn play(case: &Case) -> Result<Played, Stop> {
    let Line { scene, results, simulate } = line(case)?;
    let mut scene = Scene::read(&scene, &mut std::io::empty()).map_err(|stop| stop_in(case, &stop))?;
    let composition = match simulate {
        _ if !scene.problems.is_empty() => {
            return Err(stop_in(case, &Stop::refused(scene.files().errors(&scene.problems))));
        }
        Some(end) => simulate::play(&mut scene, end),
        None => scene.answer(),
    };
    let composition = composition.map_err(|stop| stop_in(case, &stop))?;
    Ok(Played { scene, composition, results })
}

/// The scene of a case before anything is simulated, for tests that change it.
pub fn scene(case: &Case) -> Option<Scene> {
    Scene::read(&line(case).ok()?.scene, &mut std::io::empty()).ok().filter(|scene| scene.problems.is_empty())
}

fn line(case: &Case) -> Result<Line, Stop> {
    let mut line = Line::try_parse_from(&case.arguments).map_err(|error| Stop::unreadable(error.to_string()))?;
    let files = [&mut line.scene.environment, &mut line.scene.observed].into_iter().flatten();
    for file in files.chain([&mut line.scene.actor]).chain(&mut line.scene.composition) {
        if file.as_os_str() != "-" {
            *file = case.folder.join(&*file);
        }
    }
    Ok(line)
}

fn stop_in(case: &Case, stop: &Stop) -> Stop {
    Stop { message: as_in(case, &stop.message), code: stop.code }
}

/// A text with files named as within the case's folder.
fn as_in(case: &Case, text: &str) -> String {
    text.replace(&format!("{}", case.folder.join("").display()), "")
}

impl Played {
    /// What `render` prints on stdout.
    pub fn stdout(&self) -> String {
        if !self.composition.problems.is_empty() {
            return String::new();
        }
        print::yaml(&crossplane::documents(&self.scene, &self.composition, self.results))
    }

    /// The warnings and problems that `render` prints on stderr.
    pub fn stderr(&self, case: &Case) -> String {
        let files = self.scene.files();
        let warnings = files.warnings(self.composition.warnings.iter());
        as_in(case, &(warnings + &files.errors(self.composition.problems.iter())))
    }

    /// How `render` exits.
    pub fn exit(&self) -> u8 {
        if self.composition.problems.is_empty() { FINE } else { REFUSED }
    }
}

/// What the binary did.
#[derive(PartialEq, Eq)]
pub struct Printed {
    /// Data.
    pub stdout: String,
    /// Messages.
    pub stderr: String,
    /// The exit code.
    pub exit: i32,
}

/// Runs the built `render` in the case's folder.
pub fn render(case: &Case) -> Printed {
    // Tests have the binary, tools do not.
    let binary = option_env!("CARGO_BIN_EXE_function-asya").unwrap_or_default();
    let mut command = std::process::Command::new(PathBuf::from(binary));
    command.arg("render").args(&case.arguments).current_dir(&case.folder).stdin(std::process::Stdio::null());
    let output = command.output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output in UTF-8");
    Printed {
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        exit: output.status.code().expect("an exit code, not a signal"),
    }
}
