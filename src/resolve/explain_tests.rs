use serde_json::json;

use super::*;
use crate::resolve::layers::{self, Layer};
use crate::resolve::merge;

fn explained(flavors: &[(&str, Value)], actor: Value, inline: Inline) -> Vec<Line> {
    let flavor = |(name, spec): &(&str, Value)| Layer {
        source: Source::Flavor((*name).to_owned()),
        spec: spec.clone().into(),
        rank: 1,
    };
    let layers = Layers {
        defaults: layers::defaults(),
        flavors: flavors.iter().map(flavor).collect(),
        actor: Layer { source: Source::Actor, spec: actor.into(), rank: 9 },
    };
    let mut problems = crate::problem::Problems::default();
    let fields = merge::merge(&layers.defaults, &layers.flavors, &layers.actor, inline, &mut problems);
    assert!(problems.is_empty(), "{problems}");
    lines(&layers, &fields, inline)
}

fn at(lines: &[Line], path: &str) -> Line {
    let found = lines.iter().find(|line| line.path.to_string() == path);
    found.unwrap_or_else(|| panic!("no line for {path} in {lines:#?}")).clone()
}

#[test]
fn a_line_tells_who_won_and_over_whom() {
    let gpu = ("gpu", json!({"scaling": {"minReplicaCount": 5}}));
    let lines = explained(&[gpu], json!({"scaling": {"minReplicaCount": 7}}), Inline::Leaf);
    let line = at(&lines, "scaling.minReplicaCount");
    assert_eq!((line.by, line.value), (Source::Actor, Shown::Value(json!(7))));
    let over: Vec<_> = line.over.into_iter().map(|over| (over.by, over.value)).collect();
    let flavor = Source::Flavor("gpu".to_owned());
    assert_eq!(over, [(flavor, Shown::Value(json!(5))), (Source::Default, Shown::Value(json!(0)))]);
}

#[test]
fn no_secret_is_in_any_line() {
    let secret = "s3cret";
    let flavor = json!({
        "env": [{"name": "KEY", "value": secret}, {"name": "OTHER", "value": secret}],
        "sidecar": {"env": [{"name": "A", "value": secret}]},
        "stateProxy": [{"name": "s", "connector": {"image": "i", "env": [{"name": "B", "value": secret}]}}],
        "sidecars": [{"name": "c", "env": [{"name": "B", "value": secret}]}],
        "scaling": {"additionalTriggers": [{"type": "cron", "name": "t", "metadata": {"start": secret}}]},
    });
    let actor = json!({
        "env": [{"name": "OTHER", "value": "mine"}],
        "scaling": {"minReplicaCount": 1},
        "sidecar": {"imagePullPolicy": "Always"},
        "secretRefs": [{"secretName": "s", "keys": [{"key": "k", "envVar": "KEY"}]}],
        "stateProxy": [{"name": "s", "connector": {"image": "j", "env": [{"name": "B", "value": "mine"}]}}],
    });
    for inline in [Inline::Leaf, Inline::Field] {
        let lines = explained(&[("gpu", flavor.clone())], actor.clone(), inline);
        let printed = format!("{lines:?}");
        assert!(!printed.contains(secret) && !printed.contains("mine"), "{inline:?}: {printed}");
        assert_eq!(at(&lines, "secretRefs[0].keys[KEY].key").value, Shown::Value(json!("k")));
    }
}

#[test]
fn entries_are_called_by_their_identity() {
    let actor = json!({
        "env": [{"name": "A.B", "value": "x"}],
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
        "volumeMounts": [{"mountPath": "/dev/shm", "name": "shm", "readOnly": true}],
        "tolerations": [{"key": "k"}],
        "nodeSelector": {"env": "prod"},
    });
    let lines = explained(&[], actor, Inline::Leaf);
    assert_eq!(at(&lines, "env[A.B].value").value, Shown::Hidden);
    assert_eq!(at(&lines, "volumes[shm].emptyDir").value, Shown::Value(json!({"medium": "Memory"})));
    assert_eq!(at(&lines, "volumeMounts[/dev/shm]").value, Shown::Value(json!({"name": "shm", "readOnly": true})));
    assert_eq!(at(&lines, "tolerations[0]").value, Shown::Value(json!({"key": "k"})));
    assert_eq!(at(&lines, "nodeSelector.env").value, Shown::Value(json!("prod")));
}

#[test]
fn a_whole_field_in_place_of_a_flavors_is_told() {
    let gpu = ("gpu", json!({"scaling": {"cooldownPeriod": 60}, "image": "a"}));
    let lines = explained(&[gpu], json!({"scaling": {"minReplicaCount": 7}, "image": "b"}), Inline::Field);
    let whole = at(&lines, "scaling");
    assert_eq!((whole.value, whole.over[0].value.clone()), (Shown::Whole, Shown::Value(json!({"cooldownPeriod": 60}))));
    assert_eq!(at(&lines, "image").over.len(), 1);
    assert_eq!(at(&lines, "scaling.cooldownPeriod").by, Source::Default);
}

#[test]
fn an_empty_list_tells_what_it_cleared() {
    let gpu = ("gpu", json!({"tolerations": [{"key": "k"}]}));
    let line = at(&explained(&[gpu], json!({"tolerations": []}), Inline::Leaf), "tolerations");
    assert_eq!((line.value, line.by, line.over.len()), (Shown::Value(json!([])), Source::Actor, 1));
}
