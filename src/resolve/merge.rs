//! The merge of flavors with each other, and of the actor over them.
//!
//! Between flavors maps merge, lists append, and a leaf has one owner. The actor wins over all of them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use smallvec::smallvec;

use super::env;
use super::field::{Field, History, Setting, Shape};
use super::layers::Layer;
use super::tables::{actor_first, collapses, identity, identity_key, is_secret};
use crate::path::{Path, Place};
use crate::platform::Inline;
use crate::problem::{Kind, Problem, Problems, Source};
use crate::tree;

/// Merges the flavors in the order the actor lists them, then the actor over them, then the defaults below all.
///
/// # Errors
/// Into `problems`: one for each pair of flavors that disagree, and for each entry that one layer lists twice.
pub fn merge<'a>(
    defaults: &'a Layer,
    flavors: &'a [Layer],
    actor: &'a Layer,
    inline: Inline,
    problems: &mut Problems,
) -> Field<'a> {
    let mut merge = Merge { problems, spec: Path::keys("spec") };
    let (mut root, start) = (Field::empty(), Path::root());
    let environment = env::is_regular(flavors, actor);
    for flavor in flavors {
        for (key, value) in flavor.fields() {
            let settled = inline == Inline::Field && actor.spec.get(key).is_some();
            let elsewhere = environment && env::FIELDS.contains(&key);
            if !settled && !elsewhere {
                merge.flavor_field(&mut root, key, value, flavor, &Place::Start(&start), actor.spec.get(key));
            }
        }
    }
    for (key, value) in actor.fields() {
        if !(environment && env::FIELDS.contains(&key)) {
            merge.actor_field(&mut root, key, value, actor, &Place::Start(&start));
        }
    }
    if environment {
        env::merge(&mut root, flavors, actor, inline, merge.problems);
    }
    fill(&mut root, &defaults.spec, defaults);
    root
}

struct Merge<'p> {
    problems: &'p mut Problems,
    spec: Path,
}

impl Merge<'_> {
    /// Adds a flavor's word on `key` of the map `map`; `actor` is what the actor says there.
    fn flavor_field<'a>(
        &mut self,
        map: &mut Field<'a>,
        key: &'a str,
        value: &'a Value,
        by: &'a Layer,
        above: &Place<'_>,
        actor: Option<&'a Value>,
    ) {
        let Shape::Map(fields) = &mut map.shape else { return };
        let path = Place::Key(above, key);
        match fields.entry(key) {
            Entry::Occupied(mut field) => self.flavor(field.get_mut(), value, by, &path, actor),
            Entry::Vacant(place) => self.flavor(place.insert(blank(value)), value, by, &path, actor),
        }
    }

    fn flavor<'a>(
        &mut self,
        field: &mut Field<'a>,
        value: &'a Value,
        by: &'a Layer,
        place: &Place<'_>,
        actor: Option<&'a Value>,
    ) {
        match (&mut field.shape, value) {
            (Shape::Map(_), Value::Object(map)) => {
                field.history.push(Setting { by, value, index: 0 });
                for (key, value) in map {
                    self.flavor_field(field, key, value, by, place, below(actor, key));
                }
            }
            (Shape::List(_), Value::Array(list)) => {
                field.history.push(Setting { by, value, index: 0 });
                self.flavor_entries(field, list, by, &place.path(), actor);
            }
            (Shape::Leaf(_), _) if field.history.is_empty() => field.history.push(Setting { by, value, index: 0 }),
            _ => match settles(actor, field, value) {
                true => field.history.push(Setting { by, value, index: 0 }),
                false => self.problems.push(disagreement(&place.path(), field, value, by)),
            },
        }
    }

    /// Adds a flavor's entries to a list.
    fn flavor_entries<'a>(
        &mut self,
        field: &mut Field<'a>,
        list: &'a [Value],
        by: &'a Layer,
        path: &Path,
        actor: Option<&Value>,
    ) {
        let Shape::List(merged) = &mut field.shape else { return };
        let mut places = Places::of(path, merged);
        let own = ActorsEntries::of(path, actor);
        for (index, value) in list.iter().enumerate() {
            let setting = Setting { by, value, index };
            match places.find(value, merged.len()) {
                None => merged.push(Field { shape: Shape::Leaf(value), history: smallvec![setting] }),
                Some(place) => self.flavor_entry(&mut merged[place], setting, path, &own),
            }
        }
    }

    /// A flavor's entry where the list holds one of the same identity already.
    fn flavor_entry<'a>(&mut self, same: &mut Field<'a>, setting: Setting<'a>, path: &Path, own: &ActorsEntries<'_>) {
        let first = same.history.first().map_or(setting.by, |first| first.by);
        match identity(path, setting.value).filter(|_| !is_equal(same, setting.value)) {
            Some(name) if first.rank == setting.by.rank => {
                self.problems.push(twice(&path.below(&self.spec).entry(name), &setting.by.source));
            }
            Some(name) if !own.settle(name) => {
                self.problems.push(disagreement(&path.entry(name), same, setting.value, setting.by));
            }
            _ => same.history.push(setting),
        }
    }

    /// Lays the actor's word on `key` over the map `map`.
    fn actor_field<'a>(
        &mut self,
        map: &mut Field<'a>,
        key: &'a str,
        value: &'a Value,
        by: &'a Layer,
        above: &Place<'_>,
    ) {
        let Shape::Map(fields) = &mut map.shape else { return };
        let path = Place::Key(above, key);
        match fields.entry(key) {
            Entry::Occupied(mut field) => self.actor(field.get_mut(), value, by, &path),
            Entry::Vacant(place) => self.actor(place.insert(blank(value)), value, by, &path),
        }
    }

    fn actor<'a>(&mut self, field: &mut Field<'a>, value: &'a Value, by: &'a Layer, place: &Place<'_>) {
        let setting = Setting { by, value, index: 0 };
        match (&mut field.shape, value) {
            (Shape::Map(_), Value::Object(map)) => {
                for (key, value) in map {
                    self.actor_field(field, key, value, by, place);
                }
                return;
            }
            (Shape::List(below), Value::Array(list)) => {
                let path = place.path();
                let own = self.own_entries(list, by, &path);
                *below = if list.is_empty() { Vec::new() } else { lay_list(std::mem::take(below), own, &path) };
            }
            (shape, value) => *shape = Field::new(value, by).shape,
        }
        field.history.push(setting);
    }

    /// The actor's own entries; equal ones of the same identity once, different ones are a problem.
    fn own_entries<'a>(&mut self, list: &'a [Value], by: &'a Layer, path: &Path) -> Vec<Field<'a>> {
        let mut own: Vec<Field<'a>> = Vec::new();
        let mut places = Places::of(path, &own);
        for (index, value) in list.iter().enumerate() {
            match places.find(value, own.len()) {
                None => own.push(Field { shape: Shape::Leaf(value), history: smallvec![Setting { by, value, index }] }),
                Some(place) if is_equal(&own[place], value) => {}
                Some(_) => {
                    let name = identity(path, value).unwrap_or_default();
                    self.problems.push(twice(&path.below(&self.spec).entry(name), &by.source));
                }
            }
        }
        own
    }
}

/// Lays the actor's entries over the flavors': same identity replaces, else the table says who comes first.
fn lay_list<'a>(below: Vec<Field<'a>>, mut own: Vec<Field<'a>>, path: &Path) -> Vec<Field<'a>> {
    let places = Places::of(path, &own);
    let mut kept = Vec::new();
    for field in below {
        let Shape::Leaf(value) = field.shape else { continue };
        match places.get(value) {
            Some(place) => own[place].history.insert_many(0, field.history),
            None => kept.push(field),
        }
    }
    if actor_first(path) { own.into_iter().chain(kept).collect() } else { kept.into_iter().chain(own).collect() }
}

/// Where the entries of a list stand, by what makes two of them the same thing: their identity, or, where the table
/// says that equal entries collapse, their content.
struct Places {
    key: Option<&'static str>,
    collapses: bool,
    places: BTreeMap<String, usize>,
}

impl Places {
    fn of(path: &Path, list: &[Field<'_>]) -> Self {
        let mut places = Self { key: identity_key(path), collapses: collapses(path), places: BTreeMap::new() };
        for (place, field) in list.iter().enumerate() {
            if let Shape::Leaf(value) = field.shape {
                places.find(value, place);
            }
        }
        places
    }

    /// What makes two entries the same, if anything does.
    fn sameness(&self, value: &Value) -> Option<String> {
        match self.key {
            Some(key) => value.get(key)?.as_str().map(str::to_owned),
            None => self.collapses.then(|| value.to_string()),
        }
    }

    fn get(&self, value: &Value) -> Option<usize> {
        self.places.get(&self.sameness(value)?).copied()
    }

    /// Where the same thing stands already; if nowhere, it is taken to stand at `place` from now on.
    fn find(&mut self, value: &Value, place: usize) -> Option<usize> {
        match self.places.entry(self.sameness(value)?) {
            Entry::Occupied(taken) => Some(*taken.get()),
            Entry::Vacant(free) => {
                free.insert(place);
                None
            }
        }
    }
}

fn is_equal(field: &Field<'_>, value: &Value) -> bool {
    matches!(field.shape, Shape::Leaf(own) if own == value)
}

/// A field of the shape of `value`, with nothing in it yet; a leaf holds its value already, but no setting.
fn blank(value: &Value) -> Field<'_> {
    let shape = match value {
        Value::Object(_) => Shape::Map(Default::default()),
        Value::Array(_) => Shape::List(Vec::new()),
        leaf => Shape::Leaf(leaf),
    };
    Field { shape, history: History::new() }
}

/// What the actor says of a field of a map: a map says it of each field, anything else of all of them.
fn below<'a>(actor: Option<&'a Value>, key: &str) -> Option<&'a Value> {
    match actor {
        Some(Value::Object(map)) => map.get(key),
        other => other,
    }
}

/// True if what the actor says at this place makes it idle what the flavors say.
fn settles(actor: Option<&Value>, field: &Field<'_>, value: &Value) -> bool {
    match actor {
        None => false,
        Some(Value::Object(_)) => !matches!(field.shape, Shape::Map(_)) && !value.is_object(),
        Some(Value::Array(list)) if !list.is_empty() => !matches!(field.shape, Shape::List(_)) && !value.is_array(),
        Some(_) => true,
    }
}

/// The actor's own entries of a list, which settle what flavors say of the same identity.
enum ActorsEntries<'v> {
    /// Everything is settled: the list is cleared, or is no list.
    All,
    /// These identities are.
    These(BTreeSet<&'v str>),
}

impl<'v> ActorsEntries<'v> {
    fn of(path: &Path, actor: Option<&'v Value>) -> Self {
        match actor {
            Some(Value::Array(list)) if !list.is_empty() => {
                Self::These(list.iter().filter_map(|entry| identity(path, entry)).collect())
            }
            None | Some(Value::Object(_)) => Self::These(BTreeSet::new()),
            Some(_) => Self::All,
        }
    }

    fn settle(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::These(names) => names.contains(name),
        }
    }
}

fn twice(path: &Path, by: &Source) -> Problem {
    Problem::value(path.clone(), by.clone(), "is listed twice, with different content").hint("keep one of the two")
}

/// Two flavors that disagree at `path`: the one that set it first, and the one that came later.
fn disagreement(path: &Path, field: &Field<'_>, value: &Value, later: &Layer) -> Problem {
    let first = field.history.first().map(|setting| setting.by).or_else(|| field.set_by()).unwrap_or(later);
    let (first, by) = (&first.source, &later.source);
    let mine = field.value();
    let note = if kind_of(&mine) == kind_of(value) {
        values(path, (first, &mine), (by, value))
    } else {
        format!("{} sets {}, {} {}", name(first), tree::shape(&mine), name(by), tree::shape(value))
    };
    conflict(path, first, by, note)
}

/// 0 for a map, 1 for a list, 2 for anything else.
fn kind_of(value: &Value) -> u8 {
    match value {
        Value::Object(_) => 0,
        Value::Array(_) => 1,
        _ => 2,
    }
}

/// The second line of a conflict: both values, unless they may be secrets.
fn values(path: &Path, first: (&Source, &Value), later: (&Source, &Value)) -> String {
    if is_secret(path, Some(first.1)) || is_secret(path, Some(later.1)) {
        return if first.1 == later.1 { "the same value twice".to_owned() } else { "two different values".to_owned() };
    }
    format!("{} says {}, {} says {}", name(first.0), compact(first.1), name(later.0), compact(later.1))
}

/// A value as compact JSON, cut to 80 characters.
fn compact(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some(_) => text.chars().take(79).chain(['…']).collect(),
        None => text,
    }
}

/// A conflict between two flavors, in the words people grep for.
pub fn conflict(path: &Path, first: &Source, later: &Source, note: String) -> Problem {
    let what = format!("flavor merge conflict: flavors {:?} and {:?} conflict on {path}", name(first), name(later));
    Problem::value(path.below(&Path::keys("spec")), later.clone(), what)
        .of_kind(Kind::Conflict)
        .note(note)
        .hint("set it on the actor, which always wins, or keep it in one flavor only")
}

fn name(source: &Source) -> &str {
    match source {
        Source::Flavor(name) => name,
        _ => "the actor",
    }
}

/// Fills in what nobody set, and notes where somebody overrode a default.
fn fill<'a>(field: &mut Field<'a>, defaults: &'a Value, by: &'a Layer) {
    match (&mut field.shape, defaults) {
        (Shape::Map(fields), Value::Object(map)) => {
            for (key, value) in map {
                match fields.entry(key) {
                    Entry::Occupied(mut field) => fill(field.get_mut(), value, by),
                    Entry::Vacant(place) => drop(place.insert(Field::new(value, by))),
                }
            }
        }
        (Shape::Leaf(_), value) => field.history.insert(0, Setting { by, value, index: 0 }),
        _ => {}
    }
}
