//! A container's environment, in which each name stands once.

use serde_json::{Value, json};

use crate::spec::EnvVar;
use crate::tree;

/// Environment variables in order.
#[derive(Default)]
pub struct Environment(Vec<(String, Value)>);

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
        match self.0.iter_mut().find(|(other, _)| other == name) {
            Some((_, place)) => *place = entry,
            None => self.0.push((name.to_owned(), entry)),
        }
    }

    /// As a container takes it.
    pub fn into_value(self) -> Value {
        Value::Array(self.0.into_iter().map(|(_, entry)| entry).collect())
    }
}
