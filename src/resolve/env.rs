//! `env` and `secretRefs` are two ways of setting one environment, so they are merged as one list keyed by the variable's name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use smallvec::smallvec;

use super::field::{Field, History, Setting, Shape};
use super::layers::Layer;
use super::merge::conflict;
use crate::path::Path;
use crate::platform::Inline;
use crate::problem::{Problem, Problems, Source};

/// The two fields.
pub const FIELDS: [&str; 2] = ["env", "secretRefs"];

/// How a variable is set.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way<'a> {
    /// By an entry of `env`.
    Entry(&'a Value),
    /// By a key of a Secret: the Secret's name as written, and the entry of `keys`.
    Secret(&'a Value, &'a Value),
}

impl Way<'_> {
    fn field(self) -> &'static str {
        match self {
            Way::Entry(_) => FIELDS[0],
            Way::Secret(..) => FIELDS[1],
        }
    }
}

/// One variable, or an entry without a name that the schema will complain about.
struct Variable<'a> {
    name: Option<&'a str>,
    way: Way<'a>,
    history: History<'a>,
}

impl<'a> Variable<'a> {
    fn by(&self) -> Option<&'a Layer> {
        self.history.last().map(|setting| setting.by)
    }
}

/// True if both fields are lists wherever they are set, and every `secretRefs` entry is of the known form; anything else is left to the general merge, and then to the schema.
pub fn is_regular(flavors: &[Layer], actor: &Layer) -> bool {
    flavors.iter().chain([actor]).all(|layer| {
        let list = |field: &str| layer.spec.get(field).is_none_or(Value::is_array);
        let secrets = layer.spec.get(FIELDS[1]).and_then(Value::as_array);
        let known = |entry: &Value| {
            let only = entry.as_object().is_some_and(|map| map.keys().all(|key| key == "secretName" || key == "keys"));
            let keys = entry.get("keys").and_then(Value::as_array);
            only && entry.get("secretName").is_some_and(Value::is_string)
                && keys.is_some_and(|keys| !keys.is_empty() && keys.iter().all(Value::is_object))
        };
        list(FIELDS[0]) && list(FIELDS[1]) && secrets.is_none_or(|entries| entries.iter().all(known))
    })
}

/// Merges both fields of all layers into `root`.
pub fn merge<'a>(
    root: &mut Field<'a>,
    flavors: &'a [Layer],
    actor: &'a Layer,
    inline: Inline,
    problems: &mut Problems,
) {
    let own = own_variables(actor, problems);
    let mine: BTreeSet<&str> = own.iter().filter_map(|own| own.name).collect();
    let mut merged = Merged::default();
    let mut overridden: BTreeMap<&str, History<'a>> = BTreeMap::new();
    for flavor in flavors {
        for variable in variables(flavor) {
            if let Some(name) = variable.name.filter(|name| mine.contains(name)) {
                overridden.entry(name).or_default().extend(variable.history);
            } else if !is_replaced(actor, variable.way.field(), inline) {
                merged.add(variable, problems);
            }
        }
    }
    let mut merged = merged.variables;
    for mut variable in own {
        let below = variable.name.and_then(|name| overridden.remove(name)).unwrap_or_default();
        variable.history.insert_many(0, below);
        merged.push(variable);
    }
    write(root, merged, flavors, actor);
}

/// True if the actor's word on the whole field makes the flavors' idle: an empty list, or any list under `inline: Field`.
fn is_replaced(actor: &Layer, field: &str, inline: Inline) -> bool {
    let list = actor.spec.get(field).and_then(Value::as_array);
    list.is_some_and(|list| list.is_empty() || inline == Inline::Field)
}

/// Variables in order, and where each name stands.
#[derive(Default)]
struct Merged<'a> {
    variables: Vec<Variable<'a>>,
    places: BTreeMap<&'a str, usize>,
}

impl<'a> Merged<'a> {
    fn add(&mut self, variable: Variable<'a>, problems: &mut Problems) {
        let place = variable.name.and_then(|name| self.places.get(name).copied());
        let Some(same) = place.map(|place| &mut self.variables[place]) else {
            self.places.extend(variable.name.map(|name| (name, self.variables.len())));
            self.variables.push(variable);
            return;
        };
        if is_same(same.way, variable.way) {
            same.history.extend(variable.history);
            return;
        }
        let first = same.history.first().map(|setting| setting.by);
        if let (Some(first), Some(later), Some(name)) = (first, variable.by(), variable.name) {
            problems.push(if first.rank == later.rank {
                twice(name, &later.source)
            } else {
                disagree(name, (&first.source, same.way), (&later.source, variable.way))
            });
        }
    }
}

fn is_same(a: Way<'_>, b: Way<'_>) -> bool {
    match (a, b) {
        (Way::Entry(a), Way::Entry(b)) => a == b,
        (Way::Secret(a, x), Way::Secret(b, y)) => a == b && x == y,
        _ => false,
    }
}

fn disagree(name: &str, first: (&Source, Way<'_>), later: (&Source, Way<'_>)) -> Problem {
    let note = if first.1.field() == later.1.field() {
        "two different values".to_owned()
    } else {
        format!("one sets it in {}, the other in {}", first.1.field(), later.1.field())
    };
    conflict(&Path::keys("env").entry(name), first.0, later.0, note)
}

fn twice(name: &str, by: &Source) -> Problem {
    let path = Path::keys("spec.env").entry(name);
    Problem::value(path, by.clone(), "is set twice, with different content")
        .hint("keep one of the two; `env` and `secretRefs` count together")
}

/// The actor's own variables; equal ones once.
fn own_variables<'a>(actor: &'a Layer, problems: &mut Problems) -> Vec<Variable<'a>> {
    let mut own = Merged::default();
    for variable in variables(actor) {
        own.add(variable, problems);
    }
    let mut own = own.variables;
    own.iter_mut().for_each(|variable| variable.history.truncate(1));
    own
}

/// A layer's variables as it lists them.
fn variables(layer: &Layer) -> Vec<Variable<'_>> {
    let list = |field: &str| layer.spec.get(field).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let by = layer;
    let entries = list(FIELDS[0]).iter().enumerate().map(|(index, value)| Variable {
        name: value.get("name").and_then(Value::as_str),
        way: Way::Entry(value),
        history: smallvec![Setting { by, value, index }],
    });
    let secrets = list(FIELDS[1]).iter().enumerate().flat_map(|(index, entry)| {
        let keys = entry.get("keys").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        keys.iter().map(move |key| Variable {
            name: key.get("envVar").and_then(Value::as_str),
            way: Way::Secret(&entry["secretName"], key),
            history: smallvec![Setting { by, value: key, index }],
        })
    });
    entries.chain(secrets).collect()
}

/// Writes the variables back as the two fields: entries in order, keys grouped by Secret in first-seen order.
fn write<'a>(root: &mut Field<'a>, variables: Vec<Variable<'a>>, flavors: &'a [Layer], actor: &'a Layer) {
    let mut entries = Vec::new();
    let mut secrets: Vec<(&'a Value, Vec<Field<'a>>)> = Vec::new();
    let mut places = BTreeMap::new();
    for Variable { way, history, .. } in variables {
        match way {
            Way::Entry(value) => entries.push(Field { shape: Shape::Leaf(value), history }),
            Way::Secret(secret, key) => {
                let place = *places.entry(secret.as_str()).or_insert(secrets.len());
                if place == secrets.len() {
                    secrets.push((secret, Vec::new()));
                }
                secrets[place].1.push(Field { shape: Shape::Leaf(key), history });
            }
        }
    }
    let Shape::Map(fields) = &mut root.shape else { return };
    let groups = secrets.into_iter().map(group).collect();
    for (field, list) in FIELDS.into_iter().zip([entries, groups]) {
        let history = flavors
            .iter()
            .chain([actor])
            .filter_map(|layer| layer.spec.get(field).map(|value| Setting { by: layer, value, index: 0 }));
        let history: History<'a> = history.collect();
        if !history.is_empty() {
            fields.insert(field, Field { shape: Shape::List(list), history });
        }
    }
}

fn group<'a>((secret, keys): (&'a Value, Vec<Field<'a>>)) -> Field<'a> {
    let first = keys.first().map(|key| key.history.clone()).unwrap_or_default();
    let name = Field { shape: Shape::Leaf(secret), history: first };
    let keys = Field { shape: Shape::List(keys), history: History::new() };
    Field { shape: Shape::Map(BTreeMap::from([("secretName", name), ("keys", keys)])), history: History::new() }
}
