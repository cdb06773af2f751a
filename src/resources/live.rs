//! Whether a wrapped object is applied: nothing refused it, and what lives is what we emit.

use crate::api::{Condition, Live, Object, when_false};
use crate::go;
use crate::wire::{ByKey, Encoded, Items, Places};

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
    pub fn read(object: Option<&'a Object>, manifest: Option<Encoded<'_>>) -> Self {
        let Some(object) = object else { return Applied::Missing };
        if let Some(refused) = when_false(object.conditions(), "Synced") {
            return Applied::Refused(refused);
        }
        match (object.live(), manifest) {
            (None, _) => Applied::Missing,
            (Some(live), Some(manifest)) if !is_applied(manifest, live) => Applied::Differs(live),
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

/// True if what lives is what we emit.
fn is_applied(manifest: Encoded<'_>, live: &Live) -> bool {
    covers(manifest, live.whole.encoded(), Meaning::of(manifest))
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
    fn of(manifest: Encoded<'_>) -> Self {
        let workload = manifest.at(&["kind"]) == Some(Encoded::Text(b"Deployment"));
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

/// True if every field of `wanted` is in `live` with equal meaning. Lists have equal length; what is empty may be absent.
/// A live object that cannot be read does not cover anything.
fn covers(wanted: Encoded<'_>, live: Encoded<'_>, meaning: Meaning) -> bool {
    match (wanted, live) {
        (_, Encoded::Odd) => false,
        // Written alike, as small parts often are.
        (wanted, live) if wanted == live => true,
        (wanted, Encoded::Nothing) => is_zero(wanted, meaning),
        (Encoded::Map(wanted), Encoded::Map(live)) => has_fields(wanted, live, meaning),
        (Encoded::List(wanted), Encoded::List(live)) => has_items(wanted, live, meaning),
        _ => meaning == Meaning::Quantity && quantity(wanted).is_some_and(|wanted| Some(wanted) == quantity(live)),
    }
}

fn has_fields(wanted: Items<'_>, live: Items<'_>, meaning: Meaning) -> bool {
    let mut fields = ByKey::default();
    if !fields.fill(wanted) {
        return false;
    }
    let mut seen = Places::default();
    let same = live.entries().all(|entry| {
        let Some((key, live)) = entry else { return false };
        let Some(place) = fields.place(key) else { return true };
        // Nobody sends a key twice; whoever does has not shown that what lives is what we emit.
        seen.add(place) && covers(fields.value(place), live(), below(key, meaning))
    });
    let mut missing = (0..fields.len()).filter(|place| !seen.has(*place));
    same && missing.all(|place| is_zero(fields.value(place), meaning))
}

fn has_items(wanted: Items<'_>, live: Items<'_>, meaning: Meaning) -> bool {
    let (mut wanted, mut live) = (wanted.items(), live.items());
    loop {
        match (wanted.next(), live.next()) {
            (Some(wanted), Some(live)) if covers(wanted, live, meaning) => {}
            (wanted, live) => return wanted.is_none() && live.is_none(),
        }
    }
}

fn quantity(value: Encoded<'_>) -> Option<i128> {
    match value {
        Encoded::Number(number) => go::quantity(&number.to_string()),
        other => other.as_str().and_then(go::quantity),
    }
}

/// What Kubernetes may leave out of an object because it says nothing.
fn is_zero(value: Encoded<'_>, meaning: Meaning) -> bool {
    match value {
        Encoded::Nothing => true,
        Encoded::Bool(value) => !value,
        Encoded::Number(number) => meaning == Meaning::Workload && number == 0.0,
        Encoded::Text(text) => text.is_empty(),
        Encoded::List(list) => list.is_empty(),
        Encoded::Map(map) => map.entries().all(|entry| entry.is_some_and(|(_, value)| is_zero(value(), meaning))),
        Encoded::Odd => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Node;
    use crate::wire::{MAX_WRITTEN_DEPTH, to_struct};
    use serde_json::json;

    /// As deep as we write, on half of the stack that a thread has, even in a debug build.
    #[test]
    fn deep_objects_are_compared() {
        let compare = || {
            let deep = (0..MAX_WRITTEN_DEPTH / 2 - 2).fold(json!(1), |inner, _| json!([{ "a": inner }]));
            let object = to_struct(&json!({ "in": deep })).expect("an object");
            let deep = object.at(&["in"]).expect("it was written");
            assert!(covers(deep, deep, Meaning::Plain) && deep.equals(deep) && !is_zero(deep, Meaning::Plain));
            let other = (0..MAX_WRITTEN_DEPTH / 2 - 2).fold(json!(2), |inner, _| json!([{ "a": inner }]));
            let other = to_struct(&json!({ "in": other })).expect("an object");
            assert!(!covers(deep, other.at(&["in"]).expect("it was written"), Meaning::Plain));
        };
        let thread = std::thread::Builder::new().stack_size(1024 * 1024).spawn(compare).expect("a thread");
        thread.join().expect("it ends well");
    }

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
            let (wanted, live) = (json!({ "in": Node::from(wanted) }), json!({ "in": live }));
            let [wanted, live] = [wanted, live].map(|value| to_struct(&value).expect("an object"));
            let [wanted, live] = [&wanted, &live].map(|object| object.at(&["in"]).expect("it was written"));
            assert_eq!(covers(wanted, live, Meaning::of(wanted)), same, "{why}");
        }
    }
}
