//! `explain`: the resolved spec and the platform settings, each line with who set it and what it overrode.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use super::scene::{Arguments, Scene};
use super::stop::{FINE, REFUSED, Stop};
use crate::composed::Composition;
use crate::inputs::Inputs;
use crate::platform::{self, Platform};
use crate::problem::Problems;
use crate::resolve::explain::Line;
use crate::resolve::layers::Findings;
use crate::resolve::{self, Layers};
use crate::{pipeline, resolve::merge};

mod field;
mod table;

/// Shows the resolved spec, each line with who set it and what it overrode
#[derive(Clone, Debug, clap::Args)]
pub struct Explain {
    /// The AsyncActor claim or XAsyncActor: a file, or `-` for standard input
    #[arg(value_name = "ACTOR")]
    actor: PathBuf,
    /// Only this field and what is in it, such as `scaling` or `env[MODEL_PATH]`
    #[arg(value_name = "FIELD")]
    field: Option<String>,
    /// Flavors and platform settings (EnvironmentConfigs): files, directories or `-`
    #[arg(short = 'e', long = "required-resources", visible_alias = "extra-resources", value_name = "FILE", num_args = 1..)]
    environment: Vec<PathBuf>,
    /// The namespace, for an actor whose file names none
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// The Composition whose step's input holds; the packaged one unless given
    #[arg(long, value_name = "FILE")]
    composition: Option<PathBuf>,
}

impl Explain {
    /// Runs the command; the exit code tells how it went.
    ///
    /// # Errors
    /// [`Stop`] if an input cannot be read, the field is unknown, or stdout cannot be written.
    pub fn run(&self, stdin: &mut dyn Read, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<u8, Stop> {
        let (arguments, field) = self.arguments();
        let field = field.as_deref().map(field::read).transpose()?;
        let scene = Scene::read(&arguments, stdin)?;
        if scene.is_unreadable {
            return Err(Stop::refused(scene.files().errors(&scene.problems)));
        }
        let (inputs, composition) = scene.asked()?;
        let failed = |error: io::Error| Stop::unreadable(format!("error: cannot write: {error}\n"));
        for note in &scene.notes {
            writeln!(stderr, "{note}").map_err(failed)?;
        }
        let (told, outcome) = outcome(&scene, &inputs, &composition);
        write!(stderr, "{told}").map_err(failed)?;
        let Some(explained) = outcome else { return Ok(REFUSED) };
        let text = match field {
            None => table::whole(&explained.spec, &explained.settings),
            Some(path) => table::part(&explained.spec, &path).unwrap_or_else(|| {
                let _ = writeln!(stderr, "note: nobody sets `{path}`");
                String::new()
            }),
        };
        stdout.write_all(text.as_bytes()).map_err(failed)?;
        Ok(FINE)
    }

    /// The files, and the field; `-e` takes all names that follow it, so the field may have come last among them.
    fn arguments(&self) -> (Arguments, Option<String>) {
        let (mut environment, mut field) = (self.environment.clone(), self.field.clone());
        let last = environment.last().and_then(|last| last.to_str());
        if let Some(last) = last.filter(|last| field.is_none() && environment.len() > 1 && field::looks_like_one(last))
        {
            field = Some(last.to_owned());
            environment.pop();
        }
        let arguments = Arguments {
            actor: self.actor.clone(),
            environment,
            observed: Vec::new(),
            namespace: self.namespace.clone(),
            composition: self.composition.clone(),
        };
        (arguments, field)
    }
}

/// What is printed.
struct Explained {
    spec: Vec<Line>,
    settings: Vec<Line>,
}

/// The messages for stderr, and the lines unless something is wrong.
fn outcome(scene: &Scene, inputs: &Inputs, composition: &Composition) -> (String, Option<Explained>) {
    let mut found = Findings { problems: composition.problems.clone(), warnings: composition.warnings.clone() };
    found.problems.extend(scene.problems.iter().cloned());
    let names = pipeline::listed_flavors(inputs, &mut Findings::default());
    let platform = platform::settle(inputs).unwrap_or_else(|_| Platform::built_in().into());
    let mut seen = Findings::default();
    let layers = resolve::gather(inputs, &names, &platform, &mut seen);
    let waiting = waiting(composition);
    if waiting.is_some() && found.problems.is_empty() {
        // The pipeline waits before it looks at any layer.
        found.problems = seen.problems;
        found.problems.extend(resolve::partial::check(&layers, &platform));
        found.warnings.extend(seen.warnings);
    }
    let files = scene.files();
    let mut told = files.warnings(found.warnings.sorted().iter());
    if !found.problems.is_empty() {
        told.push_str(&files.errors(found.problems.sorted().iter()));
        return (told, None);
    }
    if let Some(waiting) = waiting {
        told.push_str(&format!("note: {waiting}; the rest is explained\n  hint: name the flavors' files with -e\n"));
    }
    (told, Some(explained(inputs, &layers, &platform)))
}

fn explained(inputs: &Inputs, layers: &Layers, platform: &Platform) -> Explained {
    let inline = platform.flavors.inline;
    let mut checked = Problems::default();
    let fields = merge::merge(&layers.defaults, &layers.flavors, &layers.actor, inline, &mut checked);
    let (settings, _) = platform::layers(inputs);
    Explained { spec: resolve::explain::lines(layers, &fields, inline), settings: platform::explain::lines(&settings) }
}

/// What an actor with missing flavors waits for.
fn waiting(composition: &Composition) -> Option<&str> {
    let verdict = composition.conditions.iter().find(|verdict| verdict.kind == crate::status::FLAVORS_RESOLVED)?;
    (verdict.reason == "FlavorNotFound").then_some(verdict.message.as_str())
}
