//! A container's environment, in which each name stands once.

use std::collections::BTreeMap;

use crate::node::{Node, map};
use crate::spec::EnvVar;

/// Environment variables in order.
#[derive(Default)]
pub struct Environment {
    entries: Vec<Node>,
    places: BTreeMap<String, usize>,
}

impl Environment {
    /// Sets a variable of ours.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.put(name, map! { "name" => name.to_owned(), "value" => value.into() });
    }

    /// Sets a variable of ours unless the value is empty.
    pub fn set_filled(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.set(name, value);
        }
    }

    /// Sets the user's variables; one that overrides ours stands where ours stood.
    pub fn extend(&mut self, variables: &[EnvVar]) {
        for EnvVar { name, value, value_from } in variables {
            self.put(name, map! { "name" => name, "value" => value.as_ref(), "valueFrom" => value_from.as_ref() });
        }
    }

    /// Sets a variable from a key of a Secret.
    pub fn secret(&mut self, name: &str, secret: &str, key: &str) {
        let key = map! { "name" => secret.to_owned(), "key" => key.to_owned() };
        self.put(name, map! { "name" => name.to_owned(), "valueFrom" => map! { "secretKeyRef" => key } });
    }

    fn put(&mut self, name: &str, entry: Node) {
        match self.places.get(name) {
            Some(place) => self.entries[*place] = entry,
            None => {
                self.places.insert(name.to_owned(), self.entries.len());
                self.entries.push(entry);
            }
        }
    }

    /// As a container takes it.
    pub fn into_node(self) -> Node {
        Node::List(self.entries)
    }
}
