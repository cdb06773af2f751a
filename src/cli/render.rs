//! `render`: an actor's resources and status from files, the same answer as the function's.

use std::io::{Read, Write};

use super::scene::{Arguments, Scene};
use super::simulate::{self, End};
use super::stop::{FINE, REFUSED, Stop};
use super::{crossplane, print};
use crate::composed::Composition;

/// Shows every resource of an actor and its status, as `crossplane render` would
#[derive(Clone, Debug, clap::Args)]
pub struct Render {
    #[command(flatten)]
    scene: Arguments,
    /// Print the function's results too
    #[arg(short = 'r', long = "include-function-results")]
    results: bool,
    /// Play the reconcile loop to its end, inventing what providers, KEDA and Kubernetes would report
    #[arg(long, value_name = "END")]
    simulate: Option<End>,
}

impl Render {
    /// Runs the command; the exit code tells how it went.
    ///
    /// # Errors
    /// [`Stop`] if an input cannot be read, or stdout cannot be written.
    pub fn run(&self, stdin: &mut dyn Read, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<u8, Stop> {
        let mut scene = Scene::read(&self.scene, stdin)?;
        let composition = match self.simulate {
            _ if scene.is_unreadable => return Err(Stop::refused(scene.files().errors(&scene.problems))),
            Some(end) if scene.problems.is_empty() => simulate::play(&mut scene, end)?,
            _ => scene.answer()?,
        };
        let failed = |error: std::io::Error| Stop::unreadable(format!("error: cannot write: {error}\n"));
        let problems: Vec<_> = scene.problems.iter().chain(composition.problems.iter()).collect();
        let files = scene.files();
        for note in &scene.notes {
            writeln!(stderr, "{note}").map_err(failed)?;
        }
        write!(stderr, "{}", files.warnings(composition.warnings.iter())).map_err(failed)?;
        if !problems.is_empty() {
            write!(stderr, "{}", files.errors(problems)).map_err(failed)?;
            return Ok(REFUSED);
        }
        write!(stderr, "{}", self.remarks(&composition)).map_err(failed)?;
        let documents = crossplane::documents(&scene, &composition, self.results);
        stdout.write_all(print::yaml(&documents).as_bytes()).map_err(failed)?;
        Ok(FINE)
    }

    /// What waits for what, and how to see it all the same.
    fn remarks(&self, composition: &Composition) -> String {
        let mut text = String::new();
        let phase = composition.status.as_ref().and_then(|status| status.at(&["phase"])?.as_str());
        if phase == Some("Waiting") {
            let waiting = composition.conditions.iter().find(|verdict| {
                verdict.reason == "FlavorNotFound"
                    && !verdict.message.is_empty()
                    && verdict.kind == crate::status::FLAVORS_RESOLVED
            });
            let waiting = waiting.map_or("", |verdict| verdict.message.as_str());
            text.push_str(&format!("note: {waiting}\n  hint: name the flavors' files with -e\n"));
        }
        for (name, reason) in &composition.waiting {
            text.push_str(&format!("note: {name} is not there yet: {}\n", reason.text()));
        }
        if !composition.waiting.is_empty() && self.scene.observed.is_empty() && self.simulate.is_none() {
            text.push_str("  hint: `--simulate ready` shows it all; -o gives what is observed\n");
        }
        if self.simulate == Some(End::Napping) && phase == Some("Ready") {
            text.push_str("note: this actor never naps: KEDA keeps its minReplicaCount, or scaling is off\n");
        }
        text
    }
}
