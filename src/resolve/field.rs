//! A field of the spec with its whole history: who set it, and what that overrode.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use smallvec::{SmallVec, smallvec};

use super::layers::Layer;
use crate::path::{Path, Step};
use crate::problem::Source;

/// One layer's word on a field.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Who set it.
    pub by: &'a Layer,
    /// To what.
    pub value: &'a Value,
    /// Where it stands in the list of whoever set it, for an entry of a list.
    pub index: usize,
}

/// Who set a field, lowest rank first; mostly one layer does.
pub type History<'a> = SmallVec<[Setting<'a>; 1]>;

/// A field, or an entry of a list.
#[derive(Clone, Debug)]
pub struct Field<'a> {
    /// What it is.
    pub shape: Shape<'a>,
    /// Who set it, lowest rank first: the last one is in force. For a map, which flavors touched it.
    pub history: History<'a>,
}

/// What a field is.
#[derive(Clone, Debug)]
pub enum Shape<'a> {
    /// Fields by name.
    Map(BTreeMap<&'a str, Field<'a>>),
    /// Entries in order.
    List(Vec<Field<'a>>),
    /// A value, or a whole entry of a list.
    Leaf(&'a Value),
}

impl<'a> Field<'a> {
    /// A map without fields.
    pub fn empty() -> Self {
        Self { shape: Shape::Map(BTreeMap::new()), history: History::new() }
    }

    /// A whole value as one layer set it, entries and leaves each with this one setting.
    pub fn new(value: &'a Value, by: &'a Layer) -> Self {
        let setting = Setting { by, value, index: 0 };
        match value {
            Value::Object(map) => {
                let fields = map.iter().map(|(key, value)| (key.as_str(), Field::new(value, by)));
                Self { shape: Shape::Map(fields.collect()), history: History::new() }
            }
            Value::Array(list) => Self { shape: Shape::List(entries(list, by)), history: smallvec![setting] },
            leaf => Self { shape: Shape::Leaf(leaf), history: smallvec![setting] },
        }
    }

    /// The value in force.
    pub fn value(&self) -> Value {
        match &self.shape {
            Shape::Map(fields) => Value::Object(
                fields.iter().map(|(key, field)| ((*key).to_owned(), field.value())).collect::<Map<_, _>>(),
            ),
            Shape::List(list) => Value::Array(list.iter().map(Field::value).collect()),
            Shape::Leaf(value) => (*value).clone(),
        }
    }

    /// What it is, with its article.
    pub fn shape_name(&self) -> &'static str {
        match &self.shape {
            Shape::Map(_) => "a map",
            Shape::List(_) => "a list",
            Shape::Leaf(value) => crate::tree::shape(value),
        }
    }

    /// The field of a map.
    pub fn get(&self, key: &str) -> Option<&Field<'a>> {
        match &self.shape {
            Shape::Map(fields) => fields.get(key),
            _ => None,
        }
    }

    /// The entries, if it is a list.
    pub fn entries(&self) -> &[Field<'a>] {
        match &self.shape {
            Shape::List(list) => list,
            _ => &[],
        }
    }

    /// The field at a path of keys and positions, or the nearest one above it.
    pub fn nearest(&self, path: &Path) -> &Field<'a> {
        let mut field = self;
        for step in path.steps() {
            let next = match (step, &field.shape) {
                (Step::Key(key), Shape::Map(fields)) => fields.get(key.as_str()),
                (Step::Index(index), Shape::List(list)) => list.get(*index),
                _ => None,
            };
            match next {
                Some(next) => field = next,
                None => return field,
            }
        }
        field
    }

    /// What the actor and its flavors say, without what only the defaults say; nothing if nobody says anything.
    pub fn said(&self) -> Option<Value> {
        match &self.shape {
            Shape::Map(fields) => {
                let said = fields.iter().filter_map(|(key, field)| Some(((*key).to_owned(), field.said()?)));
                let said: Map<String, Value> = said.collect();
                (!said.is_empty() || self.set_by().is_none()).then_some(Value::Object(said))
            }
            _ => (self.set_by().is_none_or(|layer| layer.source != Source::Default)).then(|| self.value()),
        }
    }

    /// Who set what is in force: the highest layer anywhere in it.
    pub fn set_by(&self) -> Option<&'a Layer> {
        let own = self.history.last().map(|setting| setting.by);
        let highest = |layers: &mut dyn Iterator<Item = &'a Layer>| layers.max_by_key(|layer| layer.rank);
        let inner = match &self.shape {
            Shape::Map(fields) => highest(&mut fields.values().filter_map(Field::set_by)),
            Shape::List(list) => highest(&mut list.iter().filter_map(Field::set_by)),
            Shape::Leaf(_) => None,
        };
        highest(&mut own.into_iter().chain(inner))
    }
}

/// The entries of a list as one layer set them.
pub fn entries<'a>(list: &'a [Value], by: &'a Layer) -> Vec<Field<'a>> {
    let settings = list.iter().enumerate().map(|(index, value)| Setting { by, value, index });
    settings.map(|setting| Field { shape: Shape::Leaf(setting.value), history: smallvec![setting] }).collect()
}
