//! A container's environment, in which each name stands once.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::spec::EnvVar;
use crate::tree;

/// Environment variables in order.
#[derive(Default)]
pub struct Environment {
    entries: Vec<Value>,
    places: BTreeMap<String, usize>,
}

impl Environment {
    /// Sets a variable of ours.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.put(name, json!({"name": name, "value": value.into()}));
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
            let entry = [
                ("name", Some(name.as_str().into())),
                ("value", value.clone().map(Value::String)),
                ("valueFrom", value_from.clone()),
            ];
            self.put(name, tree::object(entry));
        }
    }

    /// Sets a variable from a key of a Secret.
    pub fn secret(&mut self, name: &str, secret: &str, key: &str) {
        self.put(name, json!({"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}));
    }

    fn put(&mut self, name: &str, entry: Value) {
        match self.places.get(name) {
            Some(place) => self.entries[*place] = entry,
            None => {
                self.places.insert(name.to_owned(), self.entries.len());
                self.entries.push(entry);
            }
        }
    }

    /// As a container takes it.
    pub fn into_value(self) -> Value {
        Value::Array(self.entries)
    }
}
