//! Our step of a Composition: where the platform settings start.

use serde_json::Value;

use super::claim::kind;
use super::files::Document;
use super::stop::Stop;
use crate::path::Path;

/// The Composition that the Configuration package carries.
const PACKAGED: &str = include_str!("../../package/composition.yaml");

/// Our step of the Composition.
#[derive(Clone)]
pub struct OurStep {
    /// The Composition that was named, with the path of the step's input.
    pub composition: Option<(Document, Path)>,
    /// The step's name.
    pub name: String,
    /// The step's input.
    pub input: Option<Value>,
}

impl OurStep {
    /// Finds our step in the documents of a Composition's file, or in the packaged Composition.
    ///
    /// # Errors
    /// [`Stop`] if there is no Composition, or no step of ours in it.
    pub fn read(documents: Option<Vec<Document>>) -> Result<Self, Stop> {
        let Some(documents) = documents else {
            let packaged: Value = serde_yaml::from_str(PACKAGED).expect("a packaged file is YAML");
            let (_, step, input) = our_step(&packaged).expect("the packaged Composition has our step");
            return Ok(Self { composition: None, name: step, input });
        };
        let file = documents.first().map_or_else(String::new, |document| document.file.clone());
        let composition = documents.into_iter().find(|document| kind(&document.value).1 == "Composition");
        let Some(document) = composition else {
            return Err(Stop::unreadable(format!(
                "error: {file}: holds no Composition\n  hint: give the file that `kubectl get composition -o yaml` prints\n"
            )));
        };
        let Some((index, step, input)) = our_step(&document.value) else {
            let what = "no step of this Composition calls function-asya";
            return Err(Stop::unusable(&document, what, "its `functionRef.name` ends in `function-asya`"));
        };
        let path = Path::keys("spec.pipeline").index(index).key("input");
        Ok(Self { composition: Some((document, path)), name: step, input })
    }
}

/// Our step of a Composition: its place, its name, its input.
fn our_step(composition: &Value) -> Option<(usize, String, Option<Value>)> {
    let steps = composition.pointer("/spec/pipeline")?.as_array()?;
    let ours = |step: &Value| {
        let function = step.pointer("/functionRef/name").and_then(Value::as_str).unwrap_or_default();
        function == "function-asya" || function.ends_with("-function-asya")
    };
    let index = steps.iter().position(ours)?;
    let step = &steps[index];
    let name = step.get("step").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some((index, name, step.get("input").filter(|input| !input.is_null()).cloned()))
}
