//! One object out of a file, which knows the line of every value.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::tree::{Content, Node};
use crate::path::{Path, Step};

/// One object of an input, and where its values stand.
#[derive(Clone, Debug)]
pub struct Document {
    /// The file as the user named it; `-` is shown as "standard input".
    pub file: String,
    /// The line it starts in, from 1: its first key, not the `---` above.
    pub line: usize,
    /// What kubectl would send to the API server: always an object.
    pub value: Value,
    lines: Lines,
}

/// The line of a value (of its key, where it has one), and the same for what it holds.
#[derive(Clone, Debug)]
struct Lines {
    line: usize,
    below: Below,
}

#[derive(Clone, Debug)]
enum Below {
    Nothing,
    List(Vec<Lines>),
    Map(BTreeMap<String, Lines>),
}

impl Document {
    /// The line of the value at `path`, from 1; for a value with a key, the key's line.
    ///
    /// Where the path leads nowhere, such as to a missing field, it is the line of what would hold it. An entry of a
    /// keyed list is found by its `name`, its `mountPath` or one of its `keys[].envVar`.
    pub fn line_of(&self, path: &Path) -> usize {
        let mut here = (&self.value, &self.lines);
        for step in path.steps() {
            match child(here, step) {
                Some(below) => here = below,
                None => break,
            }
        }
        here.1.line
    }

    pub(super) fn new(file: &str, node: Node) -> Self {
        let (value, lines) = split(node.line, node);
        Self { file: file.to_owned(), line: lines.line, value, lines }
    }

    /// The objects in this one: its items if it is a list (`kind: List`, `PodList`), as kubectl does, else itself.
    pub(super) fn expand(mut self) -> Vec<Self> {
        let kind = self.value["kind"].as_str().unwrap_or_default().to_owned();
        let Some(kind) = kind.strip_suffix("List") else { return vec![self] };
        let Some(Value::Array(items)) = self.value.get_mut("items").map(Value::take) else { return vec![self] };
        let Below::Map(mut lines) = self.lines.below else { return Vec::new() };
        let Some(Below::List(lines)) = lines.remove("items").map(|lines| lines.below) else { return Vec::new() };
        let version = self.value["apiVersion"].take();
        let item = |(value, lines): (Value, Lines)| {
            let value = name_kind(value, kind, &version);
            Self { file: self.file.clone(), line: lines.line, value, lines }.expand()
        };
        items.into_iter().zip(lines).flat_map(item).collect()
    }
}

/// The items of a `PodList` may leave out what they are; those of a plain `List` may not.
fn name_kind(mut item: Value, kind: &str, version: &Value) -> Value {
    if let Value::Object(map) = &mut item
        && !kind.is_empty()
        && !map.contains_key("kind")
    {
        map.insert("kind".to_owned(), json!(kind));
        map.insert("apiVersion".to_owned(), version.clone());
    }
    item
}

fn child<'a>((value, lines): (&'a Value, &'a Lines), step: &Step) -> Option<(&'a Value, &'a Lines)> {
    match (step, value, &lines.below) {
        (Step::Key(key), Value::Object(map), Below::Map(lines)) => Some((map.get(key)?, lines.get(key)?)),
        (Step::Index(index), Value::Array(list), Below::List(lines)) => Some((list.get(*index)?, lines.get(*index)?)),
        (Step::Entry(identity), Value::Array(list), Below::List(lines)) => {
            list.iter().zip(lines).find(|(entry, _)| has_identity(entry, identity))
        }
        _ => None,
    }
}

fn has_identity(entry: &Value, identity: &str) -> bool {
    let env_vars = entry["keys"].as_array().into_iter().flatten().map(|key| &key["envVar"]);
    [&entry["name"], &entry["mountPath"]].into_iter().chain(env_vars).any(|found| found == identity)
}

/// Takes a tree apart into the value and its lines. `line` is the key's, or the value's own.
fn split(line: usize, node: Node) -> (Value, Lines) {
    let (value, below) = match node.content {
        Content::Scalar(value) => (value, Below::Nothing),
        Content::List(list) => {
            let (values, lines) = list.into_iter().map(|node| split(node.line, node)).unzip();
            (Value::Array(values), Below::List(lines))
        }
        Content::Map(map) => {
            let (mut values, mut below) = (Map::new(), BTreeMap::new());
            for (key, (line, node)) in map {
                let (value, lines) = split(line, node);
                values.insert(key.clone(), value);
                below.insert(key, lines);
            }
            (Value::Object(values), Below::Map(below))
        }
    };
    (value, Lines { line, below })
}
