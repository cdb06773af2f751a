//! Changes that keep the outer form of an input, so that what is behind its first check is reached too.

use std::sync::LazyLock;

use function_asya::cli::files;
use function_asya::wire::proto::v1::{Resource, RunFunctionRequest};
use function_asya::wire::{RawStruct, from_struct, to_struct};
use libfuzzer_sys::fuzzer_mutate;
use prost::Message as _;
use serde_json::{Map, Value, json};

/// Every field that the XRD and the settings know, and names of Kubernetes that stand in what is observed.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut words = Vec::new();
    for file in [include_str!("../../package/xrd.yaml"), include_str!("../../package-function/input.yaml")] {
        let documents = files::parse("a packaged file", file.as_bytes()).expect("a packaged file is YAML");
        documents.iter().for_each(|document| properties(&document.value, &mut words));
    }
    let more = ["status", "atProvider", "manifest", "conditions", "data", "labels", "annotations", "asya.sh/actor"];
    words.extend(more.map(str::to_owned));
    words.sort();
    words.dedup();
    words
});

fn properties(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::Object(fields)) = map.get("properties") {
                words.extend(fields.keys().cloned());
            }
            map.values().for_each(|value| properties(value, words));
        }
        Value::Array(items) => items.iter().for_each(|value| properties(value, words)),
        _ => {}
    }
}

/// Changes JSON as JSON, or now and then as bytes.
pub fn json(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut dice = Dice::new(seed);
    let value = serde_json::from_slice::<Value>(&data[..size]).ok().filter(|_| dice.roll(8) > 0);
    let written = value.and_then(|mut value| {
        alter(&mut value, &mut dice);
        serde_json::to_vec(&value).ok()
    });
    put(data, size, most, written)
}

/// Changes one object of a request, or now and then its bytes.
pub fn request(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut dice = Dice::new(seed);
    let request = RunFunctionRequest::decode(&data[..size]).ok().filter(|_| dice.roll(4) > 0);
    let written = request.map(|mut request| {
        let mut objects = objects(&mut request);
        if !objects.is_empty() {
            let object = dice.roll(objects.len());
            alter_object(objects.swap_remove(object), &mut dice);
        }
        request.encode_to_vec()
    });
    put(data, size, most, written)
}

/// Every object in a request.
fn objects(request: &mut RunFunctionRequest) -> Vec<&mut RawStruct> {
    let states = [&mut request.observed, &mut request.desired].into_iter().flatten();
    let resources = states.flat_map(|state| state.composite.iter_mut().chain(state.resources.values_mut()));
    let answers = request.required_resources.values_mut().chain(request.extra_resources.values_mut());
    let resources = resources.chain(answers.flat_map(|answer| &mut answer.items));
    resources.filter_map(|Resource { resource, .. }| resource.as_mut()).chain(&mut request.input).collect()
}

fn alter_object(object: &mut RawStruct, dice: &mut Dice) {
    let Ok(mut value) = from_struct::<Value>(object) else { return };
    alter(&mut value, dice);
    if let Some(altered) = value.as_object().and_then(|value| to_struct(value).ok()) {
        *object = altered;
    }
}

/// What was written, if it fits; else libFuzzer's own change.
fn put(data: &mut [u8], size: usize, most: usize, written: Option<Vec<u8>>) -> usize {
    match written {
        Some(written) if written.len() <= most => {
            data[..written.len()].copy_from_slice(&written);
            written.len()
        }
        _ => fuzzer_mutate(data, size, most),
    }
}

/// One to three changes anywhere in a value.
fn alter(root: &mut Value, dice: &mut Dice) {
    for _ in 0..=dice.roll(3) {
        let other = node(root, dice.roll(count(root))).clone();
        let at = dice.roll(count(root));
        let here = node(root, at);
        match (dice.roll(6), &mut *here) {
            (0, Value::Object(map)) => drop(take_any(map, dice)),
            (0, Value::Array(items)) if !items.is_empty() => drop(items.remove(dice.roll(items.len()))),
            (1 | 2, Value::Object(map)) => {
                let word = WORDS[dice.roll(WORDS.len())].clone();
                map.insert(word, if dice.roll(2) == 0 { other } else { simple(dice) });
            }
            (1 | 2, Value::Array(items)) => items.insert(dice.roll(items.len() + 1), other),
            (3, Value::Array(items)) if items.len() > 1 => {
                let (one, two) = (dice.roll(items.len()), dice.roll(items.len()));
                items.swap(one, two);
            }
            (3, Value::Object(map)) => {
                if let Some((_, value)) = take_any(map, dice) {
                    map.insert(WORDS[dice.roll(WORDS.len())].clone(), value);
                }
            }
            (4, _) => *here = other,
            _ => *here = simple(dice),
        }
    }
}

fn take_any(map: &mut Map<String, Value>, dice: &mut Dice) -> Option<(String, Value)> {
    let key = map.keys().nth(dice.roll(map.len().max(1)))?.clone();
    map.remove_entry(&key)
}

/// Values at which something changes.
fn simple(dice: &mut Dice) -> Value {
    match dice.roll(24) {
        0 => Value::Null,
        1 => true.into(),
        2 => false.into(),
        3 => 0.into(),
        4 => (-1).into(),
        5 => 0.5.into(),
        6 => (1_u64 << 53).into(),
        7 => 1e300.into(),
        8 => "".into(),
        9 => "1".into(),
        10 => "500m".into(),
        11 => "1m30s".into(),
        12 => "a".repeat(300).into(),
        13 => "https://sqs.eu-west-1.amazonaws.com/123456789012/asya-demo-hello".into(),
        14 => json!({"name": "A", "value": "1"}),
        15 => json!([]),
        16 => json!({}),
        17 => "False".into(),
        18 => json!([{"type": "Ready", "status": "True"}]),
        _ => dice.roll(100).into(),
    }
}

/// How many values there are, the root among them.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Object(map) => map.values().map(count).sum(),
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

/// The value that is counted as `number`, from 0.
fn node(value: &mut Value, number: usize) -> &mut Value {
    if number == 0 {
        return value;
    }
    let mut left = number - 1;
    let below: Vec<&mut Value> = match value {
        Value::Object(map) => map.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    for child in below {
        let size = count(child);
        if left < size {
            return node(child, left);
        }
        left -= size;
    }
    unreachable!("there are more values than that")
}

/// Numbers that follow from a seed, so that a run can be repeated.
struct Dice(u64);

impl Dice {
    fn new(seed: u32) -> Self {
        Self(u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Less than `sides`, which is at least one.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}
