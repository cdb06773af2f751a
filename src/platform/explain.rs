//! The platform settings that somebody set, with who did and what that overrode.

use serde_json::Value;

use super::Layer;
use crate::path::Path;
use crate::problem::Source;
use crate::resolve::explain::{Line, Over, Shown};
use crate::tree;

/// The settings that are not left to the built-in defaults, in order of path.
pub fn lines(layers: &[Layer]) -> Vec<Line> {
    let mut merged = Value::Null;
    for layer in layers {
        tree::overlay(&mut merged, &layer.values);
    }
    let mut lines = Vec::new();
    walk(&merged, &Path::root(), layers, &mut lines);
    lines.retain(|line| line.by != Source::Default);
    lines
}

fn walk(value: &Value, path: &Path, layers: &[Layer], lines: &mut Vec<Line>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| walk(value, &path.key(key), layers, lines));
        }
        value => lines.extend(line(value, path, layers)),
    }
}

fn line(value: &Value, path: &Path, layers: &[Layer]) -> Option<Line> {
    let mut said = layers.iter().rev().filter_map(|layer| Some((&layer.source, tree::get(&layer.values, path)?)));
    let (by, _) = said.next()?;
    let over =
        said.map(|(by, other)| Over { by: by.clone(), value: Shown::Value(other.clone()), same: other == value });
    Some(Line { path: path.clone(), value: Shown::Value(value.clone()), by: by.clone(), over: over.collect() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_somebody_set_is_told() {
        let layers = [
            Layer { source: Source::Default, values: json!({"awsRegion": "us-east-1", "sqs": {"a": 1, "b": 2}}) },
            Layer { source: Source::Input, values: json!({"awsRegion": "eu-west-1", "tags": {"x.y/z": "1"}}) },
            Layer {
                source: Source::Platform("p".to_owned()),
                values: json!({"awsRegion": "eu-west-2", "sqs": {"b": 2}}),
            },
        ];
        let lines = lines(&layers);
        let paths: Vec<_> = lines.iter().map(|line| line.path.to_string()).collect();
        assert_eq!(paths, ["awsRegion", "sqs.b", "tags.\"x.y/z\""]);
        let over: Vec<_> = lines[0].over.iter().map(|over| (over.by.clone(), over.same)).collect();
        assert_eq!(over, [(Source::Input, false), (Source::Default, false)]);
        assert!(lines[1].over[0].same);
    }
}
