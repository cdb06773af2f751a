//! From YAML text to a tree that knows the line of every value: the parser's events, put together.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use serde_yaml::granit_parser::{Event, Parser, ScalarStyle, Span, Tag, options};

use super::failure::{Fault, ReadFailure};
use super::scalar::{self, Refusal};

/// How many lists and maps may stand in one another. Everything after reading may recurse this deep.
pub(super) const MAX_DEPTH: usize = 256;
/// How much all aliases of a file may bring, counted as [`Node::weight`]: enough for people, little for a bomb.
const MAX_ALIASED: usize = 4 << 20;

pub(super) const TOO_DEEP: &str = "lists and maps are nested more than 256 deep";
pub(super) const FLATTEN: &str = "no Kubernetes object needs that; look for a bracket too many";
const NO_KEY: Refusal = ("a list or a map as a key", "use a string");
const ITSELF: Refusal = ("an alias inside the value it stands for", "write the value out");
const BOMB: Refusal = ("aliases that repeat too much", "write the values out, or split the file");
const NO_MAP: Refusal = ("`<<` with something else than a map", "give it an alias of a map, or a list of those");

/// A value and where it stands.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) content: Content,
    /// Levels of lists and maps, this one included.
    height: usize,
    /// A rough size in bytes: 32 for each value, and the length of its text.
    weight: usize,
}

#[derive(Clone)]
pub(super) enum Content {
    Scalar(Value),
    List(Vec<Node>),
    /// Each value by its key, with the line of the key.
    Map(BTreeMap<String, (usize, Node)>),
}

/// A list or map that is still being read.
struct Open {
    node: Node,
    anchor: usize,
    key: Option<Key>,
    /// The keys that a `<<` brought and that the map has not set itself.
    merged: BTreeSet<String>,
}

/// A key whose value comes next.
enum Key {
    Name(String, Place),
    /// `<<`: the value's entries belong to this map.
    Merge(Place),
    /// A key that was refused; its value goes nowhere.
    Refused,
}

/// Line and column, both from 1.
type Place = (usize, usize);

/// The documents of a stream; empty ones are left out.
///
/// # Errors
/// All refused values, and the first mistake in syntax, where reading ends.
pub(super) fn documents(file: &str, text: &str) -> Result<Vec<Node>, ReadFailure> {
    let options = options! {
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder::new(file);
    for event in Parser::new_from_str_with_options(text, options) {
        let going = match event {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => Err(Fault::syntax(file, &error)),
        };
        if let Err(fault) = going {
            builder.faults.push(fault);
            break;
        }
    }
    ReadFailure::unless_empty(builder.faults, builder.documents)
}

struct Builder<'a> {
    file: &'a str,
    documents: Vec<Node>,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    aliased: usize,
    faults: Vec<Fault>,
}

impl<'a> Builder<'a> {
    fn new(file: &'a str) -> Self {
        Self { file, documents: vec![], open: vec![], anchors: HashMap::new(), aliased: 0, faults: vec![] }
    }

    /// Takes in one event; an error ends the reading.
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let place = (span.start.line(), span.start.col() + 1);
        match event {
            Event::DocumentStart(..) => self.anchors.clear(),
            Event::Scalar(text, style, anchor, tag) => self.scalar(&text, style, tag.as_deref(), anchor, place),
            Event::SequenceStart(_, anchor, _) => return self.start(Content::List(Vec::new()), anchor, place),
            Event::MappingStart(_, anchor, _) => return self.start(Content::Map(BTreeMap::new()), anchor, place),
            Event::SequenceEnd | Event::MappingEnd => self.end(place),
            Event::Alias(anchor) => return self.alias(anchor, place),
            _ => {}
        }
        Ok(())
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, anchor: usize, place: Place) {
        if self.wants_key() && is_merge(text, style, tag) {
            self.set_key(Key::Merge(place));
            return;
        }
        let value = scalar::resolve(text, style, tag).unwrap_or_else(|refusal| {
            self.refuse(refusal, place);
            Value::String(text.to_owned())
        });
        let node = Node { line: place.0, content: Content::Scalar(value), height: 0, weight: 32 + text.len() };
        self.remember(anchor, &node);
        self.add(node, place);
    }

    fn start(&mut self, content: Content, anchor: usize, place: Place) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.fault((TOO_DEEP, FLATTEN), place));
        }
        let node = Node { line: place.0, content, height: 1, weight: 32 };
        self.open.push(Open { node, anchor, key: None, merged: BTreeSet::new() });
        Ok(())
    }

    fn end(&mut self, place: Place) {
        if let Some(Open { node, anchor, .. }) = self.open.pop() {
            self.remember(anchor, &node);
            self.add(node, place);
        }
    }

    fn remember(&mut self, anchor: usize, node: &Node) {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<(), Fault> {
        let Some(node) = self.anchors.get(&anchor) else { return Err(self.fault(ITSELF, place)) };
        self.aliased += node.weight;
        if self.aliased > MAX_ALIASED {
            return Err(self.fault(BOMB, place));
        }
        if self.open.len() + node.height > MAX_DEPTH {
            return Err(self.fault((TOO_DEEP, FLATTEN), place));
        }
        let node = Node { line: place.0, ..node.clone() };
        self.add(node, place);
        Ok(())
    }

    /// Puts a finished value where it belongs: into the open list or map, or among the documents.
    fn add(&mut self, node: Node, place: Place) {
        if self.wants_key() {
            return self.add_key(&node, place);
        }
        let Some(open) = self.open.last_mut() else {
            if !matches!(node.content, Content::Scalar(Value::Null)) {
                self.documents.push(node);
            }
            return;
        };
        open.node.height = open.node.height.max(node.height + 1);
        open.node.weight += node.weight;
        match (open.key.take(), &mut open.node.content) {
            (_, Content::List(list)) => list.push(node),
            (Some(Key::Name(name, place)), Content::Map(_)) => self.insert(name, place, node),
            (Some(Key::Merge(place)), Content::Map(_)) => self.merge(node, place),
            _ => {}
        }
    }

    /// True if the next value is a key of the open map.
    fn wants_key(&self) -> bool {
        self.open.last().is_some_and(|open| matches!(open.node.content, Content::Map(_)) && open.key.is_none())
    }

    fn add_key(&mut self, node: &Node, place: Place) {
        let name = match &node.content {
            Content::Scalar(value) => scalar::key(value),
            _ => Err(NO_KEY),
        };
        let key = match name {
            Ok(name) => Key::Name(name, place),
            Err(refusal) => {
                self.refuse(refusal, place);
                Key::Refused
            }
        };
        self.set_key(key);
    }

    fn set_key(&mut self, key: Key) {
        if let Some(open) = self.open.last_mut() {
            open.node.weight += if let Key::Name(name, _) = &key { name.len() } else { 0 };
            open.key = Some(key);
        }
    }

    /// Sets a key of the open map; one that is written twice is refused, one that a `<<` brought is replaced.
    fn insert(&mut self, name: String, place: Place, node: Node) {
        let Some(Open { node: Node { content: Content::Map(map), .. }, merged, .. }) = self.open.last_mut() else {
            return;
        };
        match map.get(&name) {
            Some((line, _)) if !merged.remove(&name) => {
                let what = format!("the key `{}` stands twice in one map, first in line {line}", name.escape_debug());
                self.faults.push(Fault::whole(self.file, what, "keep one of the two").at(place));
            }
            _ => {
                map.insert(name, (place.0, node));
            }
        }
    }

    /// Brings the entries of a map, or of a list of maps where the first one counts, into the open map.
    fn merge(&mut self, node: Node, place: Place) {
        let sources = if let Content::List(list) = node.content { list } else { vec![node] };
        for source in sources.into_iter().rev() {
            match source.content {
                Content::Map(entries) => self.merge_entries(entries, place),
                _ => self.refuse(NO_MAP, place),
            }
        }
    }

    /// kubectl's reader lets `<<` replace keys written before it, other tools do not; so that is refused.
    fn merge_entries(&mut self, entries: BTreeMap<String, (usize, Node)>, place: Place) {
        let Some(Open { node: Node { content: Content::Map(map), .. }, merged, .. }) = self.open.last_mut() else {
            return;
        };
        for (name, entry) in entries {
            if map.contains_key(&name) && !merged.contains(&name) {
                let what = format!("`<<` after the key `{}`, which it brings too", name.escape_debug());
                self.faults.push(Fault::whole(self.file, what, "put `<<` first in the map").at(place));
                continue;
            }
            merged.insert(name.clone());
            map.insert(name, entry);
        }
    }

    fn refuse(&mut self, refusal: Refusal, place: Place) {
        let fault = self.fault(refusal, place);
        self.faults.push(fault);
    }

    fn fault(&self, (what, hint): Refusal, place: Place) -> Fault {
        Fault::whole(self.file, what, hint).at(place)
    }
}

/// True for the merge key, which only counts unquoted.
fn is_merge(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> bool {
    let tag_allows = tag.is_none_or(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() == Some("merge"));
    text == "<<" && style == ScalarStyle::Plain && tag_allows
}
