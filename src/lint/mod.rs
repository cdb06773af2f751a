//! What is wrong with actors, flavors and settings that lie in files together: what each call would say, and what only
//! somebody who sees them all can say. One rule a file; a new one is one line in `RULES`.

use std::sync::Arc;

use serde_json::Value;

use crate::composed::Composition;
use crate::inputs::{EnvironmentConfig, Inputs, PLATFORM_KEY};
use crate::parallel;
use crate::path::Path;
use crate::pipeline;
use crate::platform::{self, Platform};
use crate::problem::{Kind, Problem, Problems, Source};
use crate::resolve::field::Field;
use crate::resolve::layers::{self, Findings, Layer};
use crate::resolve::{self, Layers, merge};

mod alone;
mod formula;
mod label;
mod listed;
mod mounts;
mod name;
mod open;
mod same;
mod unused;

/// All rules.
const RULES: &[fn(&Lot<'_>) -> Vec<Finding>] = &[
    alone::check,
    formula::check,
    label::check,
    listed::check,
    mounts::check,
    name::check,
    open::check,
    same::check,
    unused::check,
];

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A cluster would refuse it, or do something else than what is written.
    Problem,
    /// Doubtful.
    Warning,
    /// Worth knowing.
    Note,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How grave it is.
    pub level: Level,
    /// The actor it was found with, by position.
    pub actor: Option<usize>,
    /// What it is. A path below `metadata` is one of the object itself, also for a flavor.
    pub problem: Problem,
    /// Another actor that takes part, by position.
    pub other: Option<usize>,
}

impl Finding {
    fn new(level: Level, problem: Problem) -> Self {
        Self { level, actor: None, problem, other: None }
    }

    fn of_actor(mut self, actor: usize) -> Self {
        self.actor = Some(actor);
        self
    }
}

/// An actor with what the pipeline answered it.
#[derive(Debug)]
pub struct Actor {
    /// What the call was given, everything it asked for included.
    pub inputs: Inputs,
    /// What it answered.
    pub composition: Composition,
    /// It was written as a claim, not as the composite of one.
    pub is_claim: bool,
}

/// An EnvironmentConfig that is no platform settings.
#[derive(Debug)]
pub struct Flavor<'a> {
    /// Itself.
    pub config: &'a EnvironmentConfig,
    /// Somebody else's: nobody here has to use it.
    pub is_guest: bool,
}

/// Everything that is looked at together.
pub struct Lot<'a> {
    actors: &'a [Actor],
    /// The layers of each actor, and the flavors that are not there.
    looks: Vec<Look>,
    flavors: &'a [Flavor<'a>],
    /// The layer each flavor makes.
    layers: Vec<Layer>,
    /// What reading those layers found.
    read: Findings,
    platform: Arc<Platform>,
}

/// An actor's flavors and layers.
struct Look {
    names: Vec<String>,
    missing: bool,
    layers: Layers,
}

/// Everything that is found with `actors`, `flavors` and the settings that `input` and `config` make.
pub fn lint(
    actors: &[Actor],
    flavors: &[Flavor<'_>],
    input: Option<&Value>,
    config: Option<&EnvironmentConfig>,
) -> Vec<Finding> {
    let settings = Inputs {
        input: input.cloned().map(Arc::new),
        required: config.map(|config| (PLATFORM_KEY.to_owned(), vec![config.clone()])).into_iter().collect(),
        ..Inputs::default()
    };
    let (platform, wrong) = match platform::settle(&settings) {
        Ok(platform) => (platform, Problems::default()),
        Err(problems) => (Platform::built_in().into(), problems),
    };
    let lot = Lot::new(actors, flavors, platform);
    let mut found: Vec<Finding> = wrong.into_iter().map(|problem| Finding::new(Level::Problem, problem)).collect();
    found.extend(RULES.iter().flat_map(|rule| rule(&lot)));
    let calls = lot.answers(&found);
    found.extend(calls);
    found
}

impl<'a> Lot<'a> {
    fn new(actors: &'a [Actor], flavors: &'a [Flavor<'a>], platform: Arc<Platform>) -> Self {
        let mut read = Findings::default();
        let layer = |flavor: &Flavor<'_>, read: &mut Findings| {
            layers::flavor(1, &flavor.config.name, flavor.config, &platform, read)
        };
        let layers = flavors.iter().map(|flavor| layer(flavor, &mut read)).collect();
        let looks = parallel::map(actors.iter().collect(), |actor| Look::at(actor, &platform));
        Self { actors, looks, flavors, layers, read, platform }
    }

    /// What the calls said, without what a rule says better, and what they would say of an actor whose flavors are missing.
    fn answers(&self, said: &[Finding]) -> Vec<Finding> {
        let mut found = Vec::new();
        for (index, (actor, look)) in self.actors.iter().zip(&self.looks).enumerate() {
            let Composition { problems, warnings, .. } = &actor.composition;
            let mut problems: Vec<Problem> = problems.iter().cloned().collect();
            let mut warnings: Vec<Problem> = warnings.iter().cloned().collect();
            if look.missing {
                let mut seen = Findings::default();
                resolve::gather(&actor.inputs, &look.names, &self.platform, &mut seen);
                problems.extend(seen.problems);
                warnings.extend(seen.warnings);
                problems.extend(resolve::partial::check(&look.layers, &self.platform));
            }
            let better = |problem: &Problem| {
                let pathless = problem.path.steps().is_empty() && problem.source == Source::Nobody;
                let same = |other: &Problem| other == problem || pathless && other.what == problem.what;
                said.iter().any(|finding| same(&finding.problem))
            };
            problems.retain(|problem| problem.kind != Kind::Missing && !better(problem));
            warnings.retain(|warning| !better(warning));
            let told = problems.into_iter().map(|problem| Finding::new(Level::Problem, problem));
            let told = told.chain(warnings.into_iter().map(|warning| Finding::new(Level::Warning, warning)));
            found.extend(told.map(|finding| finding.of_actor(index)));
        }
        found
    }

    /// Who has each actor's spec in hand: the actors' own layers by position, then the flavors'.
    fn all_layers(&self) -> impl Iterator<Item = (Option<usize>, &Layer)> {
        let own = self.looks.iter().enumerate().map(|(index, look)| (Some(index), &look.layers.actor));
        own.chain(self.layers.iter().map(|layer| (None, layer)))
    }

    /// The merged spec of an actor, right or wrong.
    fn merged(&self, look: &'a Look) -> Field<'a> {
        let Layers { defaults, flavors, actor } = &look.layers;
        merge::merge(defaults, flavors, actor, self.platform.flavors.inline, &mut Problems::default())
    }

    fn flavor(&self, name: &str) -> Option<&EnvironmentConfig> {
        self.flavors.iter().map(|flavor| flavor.config).find(|config| config.name == name)
    }
}

impl Look {
    fn at(actor: &Actor, platform: &Platform) -> Self {
        let names = pipeline::listed_flavors(&actor.inputs, &mut Findings::default());
        let layers = resolve::gather(&actor.inputs, &names, platform, &mut Findings::default());
        Self { missing: layers.flavors.len() < names.len(), names, layers }
    }
}

/// A problem with the value at `path` of a merged spec, given in keys and positions, and told to whoever set it.
fn wrong(fields: &Field<'_>, value: &Value, path: &Path, what: String) -> Problem {
    let source = fields.nearest(path).set_by().map_or(Source::Nobody, |layer| layer.source.clone());
    Problem::value(layers::named(path, value).below(&Path::keys("spec")), source, what)
}
