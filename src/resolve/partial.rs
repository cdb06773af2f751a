//! Checks a spec of which a part is not there: a flavor for itself, or an actor some of whose flavors are missing.

use serde_json::{Map, Value, json};

use super::layers::Layer;
use super::{Layers, resolve};
use crate::path::Path;
use crate::platform::Platform;
use crate::problem::Problems;
use crate::tree;

/// What is wrong whatever the missing layers say: nothing they might put right is told.
pub fn check(layers: &Layers, platform: &Platform) -> Problems {
    let layers = Layers { defaults: stand_in(layers), ..layers.clone() };
    resolve(&layers, platform).err().unwrap_or_default()
}

/// What missing layers might set, in the most forgiving way, in place of the defaults.
fn stand_in(layers: &Layers) -> Layer {
    let mut spec = Value::clone(&layers.defaults.spec);
    let most = i32::MAX;
    let said = json!({
        "image": "any",
        "handler": "any",
        "scaling": {"minReplicaCount": 0, "maxReplicaCount": most, "advanced": {"formula": "queue", "target": "5"}},
        "resiliency": {"policies": policies(layers)},
    });
    tree::overlay(&mut spec, &said);
    Layer { spec: spec.into(), ..layers.defaults.clone() }
}

/// A policy for each name that a rule speaks of.
fn policies(layers: &Layers) -> Value {
    let path = Path::keys("resiliency.rules");
    let rules = layers.flavors.iter().chain([&layers.actor]).filter_map(|layer| tree::get(&layer.spec, &path));
    let names = rules.filter_map(Value::as_array).flatten().filter_map(|rule| rule.get("policy")?.as_str());
    Value::Object(names.map(|name| (name.to_owned(), Value::Object(Map::new()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Source;
    use crate::resolve::layers;

    fn problems(flavor: Value) -> Vec<String> {
        let flavors = vec![Layer { source: Source::Flavor("gpu".to_owned()), spec: flavor.into(), rank: 1 }];
        let actor = Layer { source: Source::Actor, spec: json!({}).into(), rank: 2 };
        let found = check(&Layers { defaults: layers::defaults(), flavors, actor }, &Platform::built_in());
        found.iter().map(crate::problem::Problem::headline).collect()
    }

    #[test]
    fn only_what_no_other_layer_can_put_right_is_told() {
        let rows = [
            ("an image may come from elsewhere", json!({"replicas": 2}), vec![]),
            ("so may a higher maximum", json!({"scaling": {"minReplicaCount": 20}}), vec![]),
            ("and the formula's target", json!({"scaling": {"advanced": {"formula": "queue + 1"}}}), vec![]),
            ("and a policy", json!({"resiliency": {"rules": [{"errors": ["E"], "policy": "p"}]}}), vec![]),
            (
                "a wrong type stays wrong",
                json!({"replicas": "two"}),
                vec!["spec.replicas: must be an integer, not a string (from flavor `gpu`)"],
            ),
            (
                "so does a bad duration",
                json!({"resiliency": {"actorTimeout": "soon"}}),
                vec!["spec.resiliency.actorTimeout: \"soon\" is no positive duration (from flavor `gpu`)"],
            ),
        ];
        for (why, flavor, expected) in rows {
            assert_eq!(problems(flavor), expected, "{why}");
        }
    }
}
