//! From YAML text to a tree that knows the line of every value: the parser's events, put together.

mod keys;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use serde_yaml::granit_parser::{Event, Parser, ScalarStyle, Span, Tag, options};

use super::failure::{Fault, ReadFailure};
use super::scalar::{self, Refusal};

/// How many lists and maps may stand in one another. Everything after reading may recurse this deep.
pub(super) const MAX_DEPTH: usize = 256;
/// How much the anchors and aliases of a file may copy, in [`Node::weight`]: enough for people, little for a bomb.
const MAX_COPIED: usize = 8 << 20;

pub(super) const TOO_DEEP: &str = "lists and maps are nested more than 256 deep";
pub(super) const FLATTEN: &str = "no Kubernetes object needs that; look for a bracket too many";
const ITSELF: Refusal = ("an alias inside the value it stands for", "write the value out");
const BOMB: Refusal = ("aliases that repeat too much", "write the values out, or split the file");

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
/// A scalar as it is written: its text, quotes and tag.
type Written<'a> = (&'a str, ScalarStyle, Option<&'a Tag>);

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
    /// The values that have an anchor. The parser gives each anchor of a stream a number of its own.
    anchors: HashMap<usize, Node>,
    copied: usize,
    faults: Vec<Fault>,
}

impl<'a> Builder<'a> {
    fn new(file: &'a str) -> Self {
        Self { file, documents: vec![], open: vec![], anchors: HashMap::new(), copied: 0, faults: vec![] }
    }

    /// Takes in one event; an error ends the reading.
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let place = (span.start.line(), span.start.col() + 1);
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar((&text, style, tag.as_deref()), anchor, place),
            Event::SequenceStart(_, anchor, _) => self.start(Content::List(Vec::new()), anchor, place),
            Event::MappingStart(_, anchor, _) => self.start(Content::Map(BTreeMap::new()), anchor, place),
            Event::SequenceEnd | Event::MappingEnd => self.end(place),
            Event::Alias(anchor) => self.alias(anchor, place),
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, (text, style, tag): Written<'_>, anchor: usize, place: Place) -> Result<(), Fault> {
        if self.wants_key() && keys::is_merge((text, style, tag)) {
            self.set_key(Key::Merge(place));
            return Ok(());
        }
        let value = scalar::resolve(text, style, tag).unwrap_or_else(|refusal| {
            self.refuse(refusal, place);
            Value::String(text.to_owned())
        });
        let node = Node { line: place.0, content: Content::Scalar(value), height: 0, weight: 32 + text.len() };
        self.remember(anchor, &node, place)?;
        self.add(node, place);
        Ok(())
    }

    fn start(&mut self, content: Content, anchor: usize, place: Place) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(self.fault((TOO_DEEP, FLATTEN), place));
        }
        let node = Node { line: place.0, content, height: 1, weight: 32 };
        self.open.push(Open { node, anchor, key: None, merged: BTreeSet::new() });
        Ok(())
    }

    fn end(&mut self, place: Place) -> Result<(), Fault> {
        let Some(Open { node, anchor, .. }) = self.open.pop() else { return Ok(()) };
        self.remember(anchor, &node, place)?;
        self.add(node, place);
        Ok(())
    }

    fn remember(&mut self, anchor: usize, node: &Node, place: Place) -> Result<(), Fault> {
        if anchor != 0 {
            self.copied += node.weight;
            self.anchors.insert(anchor, node.clone());
        }
        self.within_budget(place)
    }

    fn within_budget(&self, place: Place) -> Result<(), Fault> {
        if self.copied > MAX_COPIED { Err(self.fault(BOMB, place)) } else { Ok(()) }
    }

    fn alias(&mut self, anchor: usize, place: Place) -> Result<(), Fault> {
        let Some(node) = self.anchors.get(&anchor) else { return Err(self.fault(ITSELF, place)) };
        if self.open.len() + node.height > MAX_DEPTH {
            return Err(self.fault((TOO_DEEP, FLATTEN), place));
        }
        self.copied += node.weight;
        let node = Node { line: place.0, ..node.clone() };
        self.add(node, place);
        self.within_budget(place)
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

    fn refuse(&mut self, refusal: Refusal, place: Place) {
        let fault = self.fault(refusal, place);
        self.faults.push(fault);
    }

    fn fault(&self, (what, hint): Refusal, place: Place) -> Fault {
        Fault::whole(self.file, what, hint).at(place)
    }
}
