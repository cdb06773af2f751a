//! Whether a wrapped object is applied: nothing refused it, and what lives is what we emit.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use smallvec::SmallVec;

use crate::api::{Condition, Live, Object, when_false};
use crate::go;
use crate::wire::Written;

/// How far an Object has brought our manifest.
#[derive(Clone, Debug)]
pub enum Applied<'a> {
    /// There is no live object yet.
    Missing,
    /// The provider or Kubernetes refused it.
    Refused(&'a Condition),
    /// The live object is not yet the one we emit.
    Differs(&'a Live),
    /// The live object is the one we emit.
    Same(&'a Live),
}

impl<'a> Applied<'a> {
    /// Compares what lives with `manifest`; without one, whatever lives is taken for ours.
    pub fn read(object: Option<&'a Object>, manifest: Option<Written<'_>>) -> Self {
        let Some(object) = object else { return Applied::Missing };
        if let Some(refused) = when_false(object.conditions(), "Synced") {
            return Applied::Refused(refused);
        }
        match (object.live(), manifest) {
            (None, _) => Applied::Missing,
            (Some(live), Some(manifest)) if !covers(manifest, live) => Applied::Differs(live),
            (Some(live), _) => Applied::Same(live),
        }
    }

    /// The live object, if it is the one we emit.
    pub fn same(&self) -> Option<&'a Live> {
        match self {
            Applied::Same(live) => Some(live),
            _ => None,
        }
    }
}

/// True if every field of `wanted` is in `live` with equal meaning. Lists have equal length; what is empty may be absent.
/// A live object that cannot be read does not cover anything.
fn covers(wanted: Written<'_>, live: &Live) -> bool {
    live.whole.read_as(Covers { wanted, meaning: Meaning::of(wanted) }).is_ok()
}

/// How values are compared.
#[derive(Clone, Copy, PartialEq)]
enum Meaning {
    /// As they are.
    Plain,
    /// As they are in a workload, of which Kubernetes leaves out counts that are 0.
    Workload,
    /// As Kubernetes quantities: `1` is `1000m`.
    Quantity,
    /// As maps of quantities.
    Quantities,
}

impl Meaning {
    /// How the values of a manifest are compared.
    fn of(manifest: Written<'_>) -> Self {
        let workload = manifest.at(&["kind"]) == Some(Written::Text(b"Deployment"));
        if workload { Meaning::Workload } else { Meaning::Plain }
    }
}

fn below(key: &[u8], meaning: Meaning) -> Meaning {
    match (key, meaning) {
        (_, Meaning::Quantities) | (b"sizeLimit" | b"divisor", _) => Meaning::Quantity,
        (b"limits" | b"requests", _) => Meaning::Quantities,
        (_, Meaning::Workload) => Meaning::Workload,
        _ => Meaning::Plain,
    }
}

/// A live value being read, and what it should be. The first difference ends the reading, as an error.
struct Covers<'w> {
    wanted: Written<'w>,
    meaning: Meaning,
}

impl Covers<'_> {
    fn if_same<E: Error>(&self, same: bool) -> Result<(), E> {
        if same { Ok(()) } else { Err(E::custom("differs")) }
    }

    /// A number, or a text: equal as they are, or as quantities.
    fn if_equal<E: Error>(&self, plain: bool, text: &dyn fmt::Display) -> Result<(), E> {
        let quantity = || {
            self.meaning == Meaning::Quantity && {
                let own = match self.wanted {
                    Written::Number(number) => go::quantity(&number.to_string()),
                    other => other.as_str().and_then(go::quantity),
                };
                own.is_some() && own == go::quantity(&text.to_string())
            }
        };
        self.if_same(plain || quantity())
    }
}

impl<'de> DeserializeSeed<'de> for Covers<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Covers<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what is wanted")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Written::Map(wanted) = self.wanted else { return self.if_same(false) };
        let wanted: Wanted<'_> = wanted.entries().collect();
        let mut seen = Seen::default();
        while let Some(place) = access.next_key_seed(Which(&wanted))? {
            let Some(place) = place else {
                access.next_value::<IgnoredAny>()?;
                continue;
            };
            // Nobody sends a key twice; whoever does has not shown that what lives is what we emit.
            self.if_same(!seen.has(place))?;
            seen.add(place);
            let (key, wanted) = wanted[place];
            access.next_value_seed(Covers { wanted, meaning: below(key, self.meaning) })?;
        }
        let mut missing = wanted.iter().enumerate().filter(|(place, _)| !seen.has(*place));
        self.if_same(missing.all(|(_, (_, wanted))| is_zero(*wanted, self.meaning)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Written::List(wanted) = self.wanted else { return self.if_same(false) };
        for wanted in wanted.items() {
            let read = access.next_element_seed(Covers { wanted, meaning: self.meaning })?;
            self.if_same(read.is_some())?;
        }
        self.if_same(access.next_element::<IgnoredAny>()?.is_none())
    }

    fn visit_str<E: Error>(self, live: &str) -> Result<(), E> {
        self.if_equal(self.wanted == Written::Text(live.as_bytes()), &live)
    }

    fn visit_bool<E: Error>(self, live: bool) -> Result<(), E> {
        self.if_same(self.wanted == Written::Bool(live))
    }

    fn visit_i64<E: Error>(self, live: i64) -> Result<(), E> {
        self.if_equal(self.wanted == Written::Number(live as f64), &live)
    }

    fn visit_u64<E: Error>(self, live: u64) -> Result<(), E> {
        self.if_equal(self.wanted == Written::Number(live as f64), &live)
    }

    fn visit_f64<E: Error>(self, live: f64) -> Result<(), E> {
        self.if_equal(self.wanted == Written::Number(live), &live)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.if_same(is_zero(self.wanted, self.meaning))
    }
}

/// The entries of a map that is wanted.
type Wanted<'w> = SmallVec<[(&'w [u8], Written<'w>); 12]>;

/// Where a live key stands in the wanted map.
struct Which<'a>(&'a [(&'a [u8], Written<'a>)]);

impl<'de> DeserializeSeed<'de> for Which<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Which<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Option<usize>, E> {
        self.visit_bytes(key.as_bytes())
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Option<usize>, E> {
        Ok(self.0.iter().position(|(name, _)| *name == key))
    }
}

/// Places that were seen.
#[derive(Default)]
struct Seen {
    first: u64,
    further: std::collections::BTreeSet<usize>,
}

impl Seen {
    fn add(&mut self, place: usize) {
        if place < 64 {
            self.first |= 1 << place;
        } else {
            self.further.insert(place);
        }
    }

    fn has(&self, place: usize) -> bool {
        if place < 64 { self.first & 1 << place != 0 } else { self.further.contains(&place) }
    }
}

/// What Kubernetes may leave out of an object because it says nothing.
fn is_zero(value: Written<'_>, meaning: Meaning) -> bool {
    match value {
        Written::Nothing => true,
        Written::Bool(value) => !value,
        Written::Number(number) => meaning == Meaning::Workload && number == 0.0,
        Written::Text(text) => text.is_empty(),
        Written::List(list) => list.is_empty(),
        Written::Map(map) => map.entries().all(|(_, value)| is_zero(value, meaning)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_meaning_is_what_counts() {
        let rows = [
            ("more in the live object is fine", json!({"a": 1}), json!({"a": 1, "b": 2}), true),
            ("less is not", json!({"a": 1, "b": 2}), json!({"a": 1}), false),
            ("an empty string may be absent", json!({"value": ""}), json!({}), true),
            ("false may be absent", json!({"readOnly": false}), json!({}), true),
            ("quantities by value", json!({"limits": {"cpu": "1000m"}}), json!({"limits": {"cpu": "1"}}), true),
            ("quantities that differ", json!({"limits": {"cpu": "2"}}), json!({"limits": {"cpu": "1"}}), false),
            ("text is no quantity", json!({"value": "1000m"}), json!({"value": "1"}), false),
            ("lists of equal length", json!([{"a": 1}]), json!([{"a": 1, "b": 2}]), true),
            ("a list that grew", json!([{"a": 1}]), json!([{"a": 1}, {"a": 2}]), false),
            ("a count of 0 is not absent in a custom resource", json!({"a": 0}), json!({}), false),
            (
                "a count of 0 may be absent in a workload",
                json!({"kind": "Deployment", "a": 0}),
                json!({"kind": "Deployment"}),
                true,
            ),
            ("whole doubles", json!({"a": 3}), json!({"a": 3.0}), true),
            ("a number is a quantity", json!({"limits": {"cpu": 4}}), json!({"limits": {"cpu": "4"}}), true),
            ("a fraction is one too", json!({"limits": {"cpu": 0.5}}), json!({"limits": {"cpu": "500m"}}), true),
            ("null is an empty map", json!({"a": {}}), json!({"a": null}), true),
            ("null is an empty list", json!({"a": []}), json!({"a": null}), true),
            ("null is an empty text", json!({"a": ""}), json!({"a": null}), true),
            ("null is false", json!({"a": false}), json!({"a": null}), true),
            ("null is no other text", json!({"a": "b"}), json!({"a": null}), false),
            ("a number beyond those we emit", json!({"a": 1}), json!({"a": 1e300}), false),
            ("a map is no list", json!({"a": {}}), json!({"a": []}), false),
        ];
        for (why, wanted, live, same) in rows {
            let (wanted, live) =
                (json!({"kind": wanted.get("kind"), "in": wanted}), json!({"kind": wanted.get("kind"), "in": live}));
            let wanted = crate::wire::to_struct(&json!({ "in": crate::node::Node::from(wanted) })).expect("an object");
            let wanted = wanted.written(&["in"]).expect("it was written");
            let encoded = crate::wire::to_struct(&live).expect("an object");
            let forms = [serde_json::from_value(live), Ok(crate::wire::from_struct(&encoded).expect("a live object"))];
            for live in forms {
                let live: Live = live.expect("a live object");
                let read = live.whole.read_as(Covers { wanted, meaning: Meaning::of(wanted) });
                assert_eq!(read.is_ok(), same, "{why}");
            }
        }
    }
}
