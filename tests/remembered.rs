//! What a process remembers of earlier calls saves work and changes no answer: every call here is also answered without it.

mod common;

use common::case;
use common::crossplane::{self, Version};
use common::play;
use function_asya::cli::scene::Scene;
use function_asya::cli::simulate::{self, End};
use function_asya::pipeline::{self, compose};
use function_asya::wire::proto::v1::{Resource, Resources, RunFunctionRequest};
use function_asya::wire::{request, response, to_struct};
use prost::Message as _;
use serde_json::{Value, json};

/// The answer of a process that knows earlier calls, beside that of one that does not use what it knows.
fn both(call: &RunFunctionRequest) -> [Vec<u8>; 2] {
    [true, false].map(|recurs| {
        let mut inputs = request::inputs(call, None).expect("a composite is there");
        inputs.recurs &= recurs;
        response::response(call.clone(), &compose(&inputs)).expect("an answer").encode_to_vec()
    })
}

/// The request of a scene with everything in it that will be asked for.
fn whole(scene: &Scene) -> RunFunctionRequest {
    let mut request = crossplane::request(scene, "", Version::One);
    let item = |config: &Value| Resource { resource: to_struct(config).ok(), ..Resource::default() };
    // What was looked up and is not there.
    let flavors = scene.composite["spec"]["flavors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let settings =
        scene.input.as_ref().and_then(|input| input["environmentConfig"].as_str()).map(|_| "platform".to_owned());
    for key in flavors.map(|name| format!("flavor-{name}")).chain(settings) {
        request.extra_resources.insert(key, Resources::default());
    }
    for config in &scene.configs {
        let name = config.value["metadata"]["name"].as_str().unwrap_or_default();
        let settings = scene.input.as_ref().and_then(|input| input["environmentConfig"].as_str()) == Some(name);
        let key = if settings { "platform".to_owned() } else { format!("flavor-{name}") };
        request.extra_resources.insert(key, Resources { items: vec![item(&config.value)] });
    }
    request
}

#[test]
fn cases_are_answered_alike_whatever_was_asked_before() {
    let requests: Vec<_> =
        case::all().iter().filter_map(|case| Some((case.name.clone(), whole(&play::scene(case)?)))).collect();
    assert!(requests.len() > 300, "{}", requests.len());
    let asks = |request| pipeline::asks(&request::inputs(request, None).expect("a composite is there"));
    assert!(!requests.iter().any(|(_, request)| asks(request)), "everything is looked up");
    // Once around, and once more the other way round: each meets what others have left behind, and then itself.
    for (name, request) in requests.iter().chain(requests.iter().rev()) {
        let [warm, fresh] = both(request);
        assert!(warm == fresh, "{name}: another answer with what is remembered");
    }
}

/// One thing about a call changes.
type Change = fn(&mut Scene);

/// Whatever the design of an actor depends on, or might.
const CHANGES: &[(&str, Change)] = &[
    ("nothing", |_| {}),
    ("its image", |scene| scene.composite["spec"]["image"] = "ghcr.io/example/other:2".into()),
    ("a field goes", |scene| drop(scene.composite["spec"].as_object_mut().expect("a map").remove("scaling"))),
    ("a number", |scene| scene.composite["spec"]["scaling"] = json!({"maxReplicaCount": 7})),
    ("scaling off", |scene| scene.composite["spec"]["scaling"] = json!({"enabled": false})),
    ("a label", |scene| scene.composite["metadata"]["labels"]["team"] = "other".into()),
    ("its namespace", |scene| {
        scene.composite["metadata"]["labels"]["crossplane.io/claim-namespace"] = "elsewhere".into();
        scene.composite["spec"]["claimRef"]["namespace"] = "elsewhere".into();
        scene.observed.clear();
    }),
    ("its order of flavors", |scene| {
        scene.composite["spec"]["flavors"].as_array_mut().into_iter().for_each(|flavors| flavors.reverse());
    }),
    ("a flavor's word", |scene| {
        scene.configs.iter_mut().for_each(|config| config.value["data"]["pythonExecutable"] = "python4".into());
    }),
    ("an unknown word", |scene| {
        scene.configs.iter_mut().for_each(|config| config.value["data"]["unheardOf"] = 1.into());
    }),
    ("a flavor grows old", |scene| {
        for config in &mut scene.configs {
            config.value["metadata"]["labels"]["asya.sh/deprecated"] = "true".into();
        }
    }),
    ("no flavors", |scene| scene.configs.clear()),
    ("the settings", |scene| scene.input = Some(json!({"awsRegion": "eu-west-3", "ttl": "5m"}))),
    ("IRSA", |scene| {
        scene.input = Some(json!({"irsa": {"enabled": true, "roleArn": "arn:aws:iam::123456789012:role/a"}}));
    }),
    ("flavors alone", |scene| scene.input = Some(json!({"stages": ["resolve-flavors"]}))),
    ("bad settings", |scene| scene.input = Some(json!({"awsRegion": 5}))),
    ("nothing exists", |scene| scene.observed.clear()),
    ("its queue has no URL", |scene| {
        scene.observed.entry("sqs-queue".to_owned()).and_modify(|queue| queue["status"] = json!({}));
    }),
    ("its queue has moved", |scene| {
        scene.observed.entry("sqs-queue".to_owned()).and_modify(|queue| {
            queue["status"]["atProvider"]["url"] = "https://sqs.us-east-1.amazonaws.com/1/moved".into();
        });
    }),
    ("an account that is there", |scene| {
        let manifest = json!({"metadata": {"name": "asya", "uid": "1"}});
        let account = json!({"kind": "Object", "spec": {"forProvider": {"manifest": manifest}},
            "status": {"atProvider": {"manifest": manifest}}});
        scene.observed.insert("serviceaccount".to_owned(), account);
    }),
    ("a word too many", |scene| scene.composite["spec"]["imagee"] = "x".into()),
    ("a wrong word", |scene| scene.composite["spec"]["replicas"] = "many".into()),
    ("what Crossplane notes", |scene| scene.composite["spec"]["resourceRefs"] = json!([{"name": "a"}])),
];

#[test]
fn whatever_changes_between_two_calls_is_seen() {
    let settled = case::all().into_iter().filter_map(|case| {
        let mut scene = play::scene(&case)?;
        let composition = simulate::play(&mut scene, End::Ready).ok()?;
        let is_rich = scene.observed.len() > 3 && scene.configs.len() > 1 && composition.applied.len() > 1;
        is_rich.then_some((case.name, scene))
    });
    let settled: Vec<_> = settled.take(3).collect();
    assert_eq!(settled.len(), 3);
    for (name, scene) in settled {
        let changed = |change: &Change| {
            let mut scene = scene.clone();
            change(&mut scene);
            whole(&scene)
        };
        let requests: Vec<_> = CHANGES.iter().map(|(what, change)| (*what, changed(change))).collect();
        for (before, first) in &requests {
            for (after, second) in &requests {
                both(first);
                let [warm, fresh] = both(second);
                assert!(warm == fresh, "{name}: `{after}` after `{before}` has another answer");
                let [again, _] = both(second);
                assert!(again == fresh, "{name}: `{after}` twice after `{before}` has another answer");
            }
        }
    }
}
