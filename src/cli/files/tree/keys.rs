//! How a map takes its keys: as text, each once, and those that `<<` brings.

use std::collections::BTreeMap;

use serde_yaml::granit_parser::ScalarStyle;

use super::super::scalar::{self, Refusal};
use super::{Builder, Content, Fault, Key, Node, Open, Place, Written};

const NO_KEY: Refusal = ("a list or a map as a key", "use a string");
const NO_MAP: Refusal = ("`<<` with something else than a map", "give it an alias of a map, or a list of those");

impl Builder<'_> {
    pub(super) fn add_key(&mut self, node: &Node, place: Place) {
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

    pub(super) fn set_key(&mut self, key: Key) {
        if let Some(open) = self.open.last_mut() {
            open.node.weight += if let Key::Name(name, _) = &key { name.len() } else { 0 };
            open.key = Some(key);
        }
    }

    /// Sets a key of the open map; one that is written twice is refused, one that a `<<` brought is replaced.
    pub(super) fn insert(&mut self, name: String, place: Place, node: Node) {
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
    pub(super) fn merge(&mut self, node: Node, place: Place) {
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
}

/// True for the merge key, which only counts unquoted.
pub(super) fn is_merge((text, style, tag): Written<'_>) -> bool {
    let tag_allows = tag.is_none_or(|tag| tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() == Some("merge"));
    text == "<<" && style == ScalarStyle::Plain && tag_allows
}
