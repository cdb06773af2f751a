//! The walk of a value and its schema, side by side.

use serde_json::{Map, Value};

use super::scalar::{is_inexact, outside, printed};
use super::{Breach, BreachKind, Schema};
use crate::path::{Path, Place};
use crate::problem::nearest;

/// The most fields a hint lists when none is near the unknown one.
const LISTED_FIELDS: usize = 12;

impl Schema {
    /// Every way in which `value`, which stands at `at`, breaks this schema; in order of path.
    ///
    /// List entries are named by position: `env[0].value`. Values at paths that are `secret` are never printed.
    pub fn breaches(&self, value: &Value, at: &Path, secret: &dyn Fn(&Path) -> bool) -> Vec<Breach> {
        let mut check = Check { secret, closed: true, found: Vec::new() };
        check.value(self, value, &Place::Start(at));
        check.sorted()
    }

    /// The fields of `value` that this schema does not know, wherever types let one look; in order of path.
    pub fn unknown_fields(&self, value: &Value) -> Vec<Breach> {
        let mut check = Check { secret: &|_| true, closed: true, found: Vec::new() };
        check.names(self, value, &Place::Start(&Path::root()));
        check.sorted()
    }
}

/// One walk and what it found.
pub(super) struct Check<'a> {
    pub(super) secret: &'a dyn Fn(&Path) -> bool,
    /// Whether unknown fields are breaches; below `anyOf` and the like they are not.
    pub(super) closed: bool,
    pub(super) found: Vec<Breach>,
}

impl Check<'_> {
    /// Checks one value; one of a wrong type is not looked into.
    pub(super) fn value(&mut self, schema: &Schema, value: &Value, place: &Place<'_>) {
        if value.is_null() && schema.nullable {
            return;
        }
        if let Some((what, hint)) = schema.type_breach(value) {
            self.found.push(Breach { path: place.path(), kind: BreachKind::Type, what, hint });
            return;
        }
        match value {
            Value::Object(map) => self.map(schema, map, place),
            Value::Array(list) => self.list(schema, list, place),
            Value::String(text) => self.text(schema, text, place),
            Value::Number(_) => self.number(schema, value, place),
            Value::Bool(_) | Value::Null => {}
        }
        self.listed(schema, value, place);
        self.forms(schema, value, place);
    }

    fn sorted(mut self) -> Vec<Breach> {
        self.found.sort_by(|a, b| a.path.cmp(&b.path).then(a.kind.cmp(&b.kind)));
        self.found
    }

    /// Looks at names alone.
    fn names(&mut self, schema: &Schema, value: &Value, place: &Place<'_>) {
        match value {
            Value::Object(map) if schema.type_breach(value).is_none() => {
                for (key, value) in map {
                    let below = Place::Key(place, key);
                    match schema.field(key).or_else(|| schema.each_value()) {
                        Some(field) => self.names(field, value, &below),
                        None if !schema.tolerates(key) => self.unknown(schema, key, &below),
                        None => {}
                    }
                }
            }
            Value::Array(list) if schema.type_breach(value).is_none() => {
                let Some(items) = schema.items() else { return };
                for (index, value) in list.iter().enumerate() {
                    self.names(items, value, &Place::Index(place, index));
                }
            }
            _ => {}
        }
    }

    pub(super) fn breach(&mut self, place: &Place<'_>, kind: BreachKind, what: String) {
        self.found.push(Breach { path: place.path(), kind, what, hint: None });
    }

    fn map(&mut self, schema: &Schema, map: &Map<String, Value>, place: &Place<'_>) {
        self.count(map.len(), schema.min_properties, schema.max_properties, place);
        for key in schema.required.iter().filter(|key| !map.contains_key(*key) && schema.requires(key)) {
            self.breach(&Place::Key(place, key), BreachKind::Required, "is required".to_owned());
        }
        for (key, value) in map {
            let below = Place::Key(place, key);
            match schema.field(key).or_else(|| schema.each_value()) {
                Some(field) => self.value(field, value, &below),
                None if self.closed && !schema.tolerates(key) => self.unknown(schema, key, &below),
                None => {}
            }
        }
    }

    fn unknown(&mut self, schema: &Schema, key: &str, place: &Place<'_>) {
        let known: Vec<_> = schema.known().collect();
        let hint = match nearest(key, known.iter().copied()) {
            Some(near) => Some(format!("`{near}`; an unknown field would otherwise be dropped")),
            None if (1..=LISTED_FIELDS).contains(&known.len()) => Some(format!("known here: {}", known.join(", "))),
            None => None,
        };
        let what = "unknown field".to_owned();
        self.found.push(Breach { path: place.path(), kind: BreachKind::Unknown, what, hint });
    }

    fn list(&mut self, schema: &Schema, list: &[Value], place: &Place<'_>) {
        self.count(list.len(), schema.min_items, schema.max_items, place);
        let Some(items) = schema.items() else { return };
        for (index, value) in list.iter().enumerate() {
            self.value(items, value, &Place::Index(place, index));
        }
    }

    fn count(&mut self, count: usize, least: Option<usize>, most: Option<usize>, place: &Place<'_>) {
        if let Some(limit) = outside(count, least, most, ["entry", "entries"]) {
            self.breach(place, BreachKind::Items, format!("must have {limit}, not {count}"));
        }
    }

    fn text(&mut self, schema: &Schema, text: &str, place: &Place<'_>) {
        // Characters are counted only where it matters: a value may be long.
        if schema.min_length.is_some() || schema.max_length.is_some() {
            let count = text.chars().count();
            if let Some(limit) = outside(count, schema.min_length, schema.max_length, ["character", "characters"]) {
                self.breach(place, BreachKind::Length, format!("must be {limit}"));
            }
        }
        if let Some(pattern) = schema.pattern.as_ref().filter(|pattern| !pattern.matches(text)) {
            self.breach(place, BreachKind::Pattern, format!("does not match `{pattern}`"));
        }
    }

    fn number(&mut self, schema: &Schema, value: &Value, place: &Place<'_>) {
        let Some(number) = value.as_f64() else { return };
        if schema.wants_integer() && is_inexact(number) {
            let what = "is beyond 2^53 and cannot be carried exactly".to_owned();
            self.breach(place, BreachKind::Inexact, what);
            return;
        }
        for bound in schema.bounds().filter(|bound| !bound.admits(number)) {
            let instead = self.shown(value, place).map_or_else(String::new, |value| format!(", not {value}"));
            self.breach(place, BreachKind::Bound, format!("must be {bound}{instead}"));
        }
    }

    fn listed(&mut self, schema: &Schema, value: &Value, place: &Place<'_>) {
        if schema.lists(value) {
            return;
        }
        let what = match self.shown(value, place) {
            Some(value) => format!("{value} is not one of {}", schema.listed()),
            None => format!("must be one of {}", schema.listed()),
        };
        self.breach(place, BreachKind::Enum, what);
    }

    /// The value for a message, unless it is a secret.
    fn shown(&self, value: &Value, place: &Place<'_>) -> Option<String> {
        (!(self.secret)(&place.path())).then(|| printed(value))
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
