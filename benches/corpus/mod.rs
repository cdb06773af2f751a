//! Requests that look like life, made of the files beside this one: an actor of thirty fields, flavors that touch most of
//! them, platform settings, and everything that exists once the actor is ready, with the metadata that an API server,
//! Crossplane and the providers add.

use std::path::PathBuf;

use function_asya::cli::scene::{Arguments, Scene};
use function_asya::cli::simulate::{self, End};
use function_asya::wire::proto::v1::{Capability, Ready, RequestMeta, Resource, Resources, RunFunctionRequest, State};
use function_asya::wire::to_struct;
use prost::Message as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// The name of the first actor. Those of the others are as long, so that all answers have one length.
pub const NAME: &str = "text-to-im-00";

/// What a request is like.
#[derive(Clone, Copy, Debug)]
pub struct Life {
    /// How many flavors the actor lists, up to 8.
    pub flavors: usize,
    /// Objects carry `managedFields`, as the API server hands them out.
    pub managed_fields: bool,
    /// Every observed resource is filled up to so many bytes of JSON; 0 leaves them as they are.
    pub observed_bytes: usize,
    /// How many resources earlier steps of the pipeline desire.
    pub foreign: usize,
    /// Whether anything exists yet.
    pub exists: bool,
    /// Whether what was asked for has been looked up.
    pub looked_up: bool,
    /// Which actor it is, of a hundred that differ in nothing but their names.
    pub actor: usize,
    /// Whether somebody has changed the actor's image, and the change has been rolled out.
    pub edited: bool,
}

impl Life {
    /// The usual call: the second of a reconcile, nothing to do.
    pub const USUAL: Life = Life {
        flavors: 4,
        managed_fields: true,
        observed_bytes: 0,
        foreign: 0,
        exists: true,
        looked_up: true,
        actor: 0,
        edited: false,
    };

    /// The first call of a reconcile, before anything was looked up.
    pub const ASKING: Life = Life { looked_up: false, ..Life::USUAL };

    /// The second call for an actor of which nothing exists yet.
    pub const NEW: Life = Life { exists: false, ..Life::USUAL };

    /// Calls between which somebody edits the actor every time, so that nothing that was worked out before holds.
    pub const EDITS: [Life; 2] = [Life::USUAL, Life { edited: true, ..Life::USUAL }];

    /// The request, encoded as Crossplane 2 sends it.
    pub fn bytes(&self) -> Vec<u8> {
        self.request().encode_to_vec()
    }

    /// The request.
    pub fn request(&self) -> RunFunctionRequest {
        let mut scene = self.scene();
        let names: Vec<Value> = scene.composite["spec"]["flavors"].as_array().expect("a list")[..self.flavors].to_vec();
        scene.composite["spec"]["flavors"] = names.clone().into();
        if self.exists {
            let composition = simulate::play(&mut scene, End::Ready).unwrap_or_else(|stop| panic!("{}", stop.message));
            assert!(composition.problems.is_empty(), "{}", composition.problems);
        }
        self.grow_up(&mut scene.composite, "XAsyncActor");
        let mut answers = std::collections::BTreeMap::new();
        for config in &scene.configs {
            let (name, mut config) = (config.value["metadata"]["name"].clone(), config.value.clone());
            self.grow_up(&mut config, "EnvironmentConfig");
            let key = match name.as_str() {
                Some("asya-platform") => "platform".to_owned(),
                Some(flavor) if names.contains(&name) => format!("flavor-{flavor}"),
                _ => continue,
            };
            answers.insert(key, Resources { items: vec![resource(&config)] });
        }
        if !self.looked_up {
            answers.clear();
        }
        let observed = scene.observed.iter_mut().map(|(name, object)| {
            self.live(name, object);
            (name.clone(), resource(object))
        });
        let capabilities = [Capability::Capabilities, Capability::RequiredResources, Capability::Conditions];
        RunFunctionRequest {
            meta: Some(RequestMeta {
                tag: "5a1f3c0e9d7b4a62880d1c3e5f7a9b0d2c4e6f8091a3b5c7d9e0f1a2b3c4d5e6".to_owned(),
                capabilities: capabilities.map(i32::from).to_vec(),
            }),
            observed: Some(State { resources: observed.collect(), composite: Some(resource(&scene.composite)) }),
            desired: (self.foreign > 0).then(|| self.desired()),
            input: scene.input.as_ref().map(|input| to_struct(input).expect("the packaged Composition's input")),
            extra_resources: answers.clone(),
            required_resources: answers,
            ..RunFunctionRequest::default()
        }
    }

    /// The files, read.
    fn scene(&self) -> Scene {
        let file = |name: &str| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/corpus").join(name);
        let arguments = Arguments {
            actor: "-".into(),
            environment: vec![file("flavors.yaml"), file("platform.yaml")],
            observed: Vec::new(),
            namespace: None,
            composition: None,
        };
        let actor = std::fs::read_to_string(file("actor.yaml")).expect("the actor");
        let name = NAME.replace("00", &format!("{:02}", self.actor));
        let actor = actor.replace(": text-to-image\n", &format!(": {name}\n"));
        let actor = if self.edited { actor.replace("text-to-image:2.14.3", "text-to-image:2.14.4") } else { actor };
        Scene::read(&arguments, &mut actor.as_bytes()).unwrap_or_else(|stop| panic!("{}", stop.message))
    }

    /// What earlier steps desire: ConfigMaps of 4 kB.
    fn desired(&self) -> State {
        let one = |index: usize| {
            let data: Map<String, Value> =
                (0..40).map(|line| (format!("line-{line}"), "x".repeat(88).into())).collect();
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": format!("other-{index}"), "labels": {"app": "other"}}, "data": data});
            (format!("other-{index:03}"), Resource { ready: Ready::True.into(), ..resource(&object) })
        };
        State { resources: (0..self.foreign).map(one).collect(), ..State::default() }
    }

    /// What an API server and Crossplane add to an observed resource and to the object inside it.
    fn live(&self, name: &str, object: &mut Value) {
        object["metadata"]["annotations"]["crossplane.io/external-name"] = "text-to-image".into();
        object["metadata"]["finalizers"] = json!(["finalizer.managedresource.crossplane.io"]);
        if let Some(live) = object.pointer_mut("/status/atProvider/manifest") {
            self.grow_up(live, name);
        }
        self.grow_up(object, name);
        self.fill(object);
    }

    fn grow_up(&self, object: &mut Value, seed: &str) {
        let uid = uid(seed);
        let metadata = &mut object["metadata"];
        metadata["uid"] = uid.into();
        metadata["resourceVersion"] = "184467440".into();
        metadata["creationTimestamp"] = "2026-11-01T09:30:00Z".into();
        if self.managed_fields {
            object["metadata"]["managedFields"] = managed_fields(object);
        }
    }

    /// Fills an observed resource up: half of what is missing as annotations of what lives, half as `managedFields`.
    fn fill(&self, object: &mut Value) {
        let missing = self.observed_bytes.saturating_sub(object.to_string().len());
        let lines = missing / 2 / 128;
        let inside =
            if object.pointer("/status/atProvider/manifest").is_some() { "/status/atProvider/manifest" } else { "" };
        let Some(target) = object.pointer_mut(inside) else { return };
        for line in 0..lines {
            target["metadata"]["annotations"][format!("example.com/line-{line:04}")] = "y".repeat(99).into();
            target["metadata"]["managedFields"][0]["fieldsV1"][format!("f:line-{line:04}")] =
                json!({"f:a": {}, "f:b": {".": {}}, "f:c": "z".repeat(80)});
        }
    }
}

fn resource(object: &Value) -> Resource {
    Resource { resource: Some(to_struct(&Shuffled(object)).expect("an object")), ..Resource::default() }
}

/// Go encodes the entries of a map in any order; here that order is the same every time.
struct Shuffled<'a>(&'a Value);

impl Serialize for Shuffled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by_key(|(key, _)| hash(key));
                serializer.collect_map(entries.into_iter().map(|(key, value)| (key, Shuffled(value))))
            }
            Value::Array(list) => serializer.collect_seq(list.iter().map(Shuffled)),
            leaf => leaf.serialize(serializer),
        }
    }
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A UUID that is the same for the same text.
fn uid(seed: &str) -> String {
    let hash = hash(seed);
    let hex = format!("{hash:016x}{:016x}", hash.rotate_left(17));
    format!("{}-{}-4{}-9{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

/// What two managers are told to own: one everything but the status, the other the status.
fn managed_fields(object: &Value) -> Value {
    let mut whole = object.clone();
    let status = whole.as_object_mut().and_then(|map| map.remove("status"));
    let manager = |name: &str, subresource: Option<&str>, fields: &Value| {
        let mut entry = json!({"apiVersion": object["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": owned(fields),
            "manager": name, "operation": "Apply", "time": "2026-11-01T09:30:00Z"});
        if let Some(subresource) = subresource {
            entry["subresource"] = subresource.into();
        }
        entry
    };
    let spec = manager("apiextensions.crossplane.io/composed", None, &whole);
    let status = status.map(|status| manager("provider", Some("status"), &json!({ "status": status })));
    std::iter::once(spec).chain(status).collect()
}

/// The field set of an object as server-side apply writes it.
fn owned(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let skipped = ["apiVersion", "kind", "uid", "resourceVersion", "creationTimestamp", "managedFields"];
            let fields = map.iter().filter(|(key, _)| !skipped.contains(&key.as_str()));
            Value::Object(fields.map(|(key, value)| (format!("f:{key}"), owned(value))).collect())
        }
        Value::Array(list) => {
            let keyed = list.iter().filter_map(|entry| Some((entry.get("name")?.as_str()?, entry)));
            let entries = keyed.map(|(name, entry)| (format!("k:{{\"name\":\"{name}\"}}"), owned(entry)));
            Value::Object(entries.collect())
        }
        _ => json!({}),
    }
}
