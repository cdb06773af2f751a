//! What the reader and writer of encoded Structs do at their limits: depth, damage, size, split messages.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use function_asya::wire::proto::v1::{Resource, RunFunctionRequest, State};
use function_asya::wire::{MAX_DEPTH, MAX_WRITTEN_DEPTH, RawStruct, from_struct, to_struct};
use prost::Message;
use prost::encoding::encode_varint;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Every way in which serde buffers what it reads takes more stack.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only read into")]
struct Buffered {
    #[serde(flatten)]
    rest: BTreeMap<String, Either>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[expect(dead_code, reason = "only read into")]
enum Either {
    Flag(bool),
    Other(Value),
}

/// A Struct `{"a": [[[…]]]}` of this many levels, built from the inside.
fn nested(levels: usize) -> RawStruct {
    let mut headers: Vec<Vec<u8>> = Vec::new();
    let mut len = 0;
    let mut wrap = |key: u8, len: &mut usize| {
        let mut header = vec![key];
        encode_varint(*len as u64, &mut header);
        *len += header.len();
        headers.push(header);
    };
    for level in 1..levels {
        if level > 1 {
            wrap(1 << 3 | 2, &mut len);
        }
        wrap(6 << 3 | 2, &mut len);
    }
    wrap(2 << 3 | 2, &mut len);
    len += 3;
    headers.push(b"\x0a\x01a".to_vec());
    wrap_entry(headers, len)
}

fn wrap_entry(mut headers: Vec<Vec<u8>>, len: usize) -> RawStruct {
    let mut entry = vec![1 << 3 | 2];
    encode_varint(len as u64, &mut entry);
    headers.push(entry);
    headers.reverse();
    RawStruct::decode(Bytes::from(headers.concat())).unwrap()
}

/// Runs on a stack of 2 MiB, as tokio's threads have.
fn on_a_small_stack(check: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(check).unwrap().join().unwrap();
}

#[test]
fn two_hundred_levels_are_read_and_written() {
    on_a_small_stack(|| {
        let value: Value = from_struct(&nested(200)).unwrap();
        assert_eq!(to_struct(&value).unwrap(), nested(200));
    });
}

#[test]
fn the_limit_is_reached_without_overflowing_the_stack() {
    on_a_small_stack(|| {
        let value: Value = from_struct(&nested(MAX_DEPTH)).unwrap();
        assert_eq!(to_struct(&value).unwrap(), nested(MAX_DEPTH));
        from_struct::<Buffered>(&nested(MAX_DEPTH)).unwrap();
        // What we write holds all that was read, and a little more around it.
        let wrap = |levels| (0..levels).fold(value.clone(), |inner, _| json!({ "b": inner }));
        let room = MAX_WRITTEN_DEPTH - MAX_DEPTH;
        assert!(to_struct(&wrap(room)).is_ok());
        assert!(to_struct(&wrap(room + 1)).unwrap_err().to_string().ends_with(": nested more than 320 levels deep"));
    });
}

#[test]
fn a_hundred_thousand_levels_are_refused_politely() {
    on_a_small_stack(|| {
        let error = from_struct::<Value>(&nested(100_000)).unwrap_err();
        assert_eq!(error.what, "nested more than 256 levels deep");
        assert_eq!(error.path.to_string(), format!("a{}", "[0]".repeat(31)));
        from_struct::<Buffered>(&nested(100_000)).unwrap_err();
        assert!(from_struct::<Value>(&nested(MAX_DEPTH + 1)).is_err());
    });
}

#[test]
fn what_nobody_reads_may_be_as_deep_as_it_likes() {
    on_a_small_stack(|| {
        from_struct::<IgnoredAny>(&nested(100_000)).unwrap();
        from_struct::<BTreeMap<String, IgnoredAny>>(&nested(100_000)).unwrap();
    });
}

/// A request in which each kind of value occurs.
fn request() -> RunFunctionRequest {
    let actor = json!({
        "apiVersion": "asya.sh/v1alpha1", "kind": "XAsyncActor", "metadata": {"name": "text-ünïcode", "generation": 3},
        "spec": {"flavors": ["gpu", "fast"], "scaling": {"enabled": true, "target": 0.75}, "env": [{"name": "A", "value": null}]},
    });
    let resource = Resource { resource: Some(to_struct(&actor).unwrap()), ..Resource::default() };
    let state = State { composite: Some(resource.clone()), resources: [("deployment".to_owned(), resource)].into() };
    RunFunctionRequest { observed: Some(state), input: Some(to_struct(&actor).unwrap()), ..Default::default() }
}

#[test]
fn a_request_may_be_cut_anywhere() {
    let whole = Bytes::from(request().encode_to_vec());
    assert_eq!(RunFunctionRequest::decode(whole.clone()).unwrap(), request());
    for end in 0..whole.len() {
        if let Ok(RunFunctionRequest { input: Some(input), .. }) = RunFunctionRequest::decode(whole.slice(..end)) {
            let _ = from_struct::<Value>(&input);
        }
    }
}

#[test]
fn an_object_may_be_cut_anywhere() {
    let whole = Bytes::from(request().input.unwrap().encode_to_vec());
    for end in 0..whole.len() {
        let theirs = prost_types::Struct::decode(whole.slice(..end)).is_ok();
        let ours = RawStruct::decode(whole.slice(..end)).is_ok_and(|object| from_struct::<Value>(&object).is_ok());
        assert_eq!(ours, theirs, "cut at {end}");
    }
}

/// What prost makes of a Resource, with its own Struct.
#[derive(Clone, PartialEq, prost::Message)]
struct Oracle {
    #[prost(message, optional, tag = "1")]
    resource: Option<prost_types::Struct>,
}

#[test]
fn an_object_that_comes_in_two_parts_is_one() {
    let part = |object: Value| Resource { resource: Some(to_struct(&object).unwrap()), ..Default::default() };
    let first = part(json!({"kind": "Queue", "spec": {"a": 1, "b": 2}})).encode_to_vec();
    let second = part(json!({"spec": {"b": 3}, "status": {}})).encode_to_vec();
    let both = [first, second].concat();

    let merged = Resource::decode(Bytes::from(both.clone())).unwrap().resource.unwrap();
    let read: Value = from_struct(&merged).unwrap();
    assert_eq!(read, json!({"kind": "Queue", "spec": {"b": 3}, "status": {}}));
    let theirs = Oracle::decode(&both[..]).unwrap().resource.unwrap();
    assert_eq!(to_struct(&read).unwrap().encode_to_vec(), theirs.encode_to_vec());
}

#[test]
fn a_struct_type_sees_each_key_once() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Spec {
        replicas: u32,
    }
    let once = |replicas: u32| to_struct(&json!({ "replicas": replicas })).unwrap().encode_to_vec();
    for times in [2, 3, 40] {
        let bytes: Vec<u8> = (1..=times).flat_map(once).collect();
        let object = RawStruct::decode(Bytes::from(bytes)).unwrap();
        assert_eq!(from_struct::<Spec>(&object).unwrap(), Spec { replicas: times });
    }
}

/// Quadratic work would take minutes here.
#[test]
fn large_objects_take_linear_time() {
    let started = Instant::now();
    let many: BTreeMap<String, u32> = (0..100_000).map(|n| (format!("{n:07}"), n)).collect();
    let object = to_struct(&many).unwrap();
    assert_eq!(from_struct::<BTreeMap<String, u32>>(&object).unwrap(), many);

    let same = RawStruct::decode(Bytes::from(b"\x0a\x00".repeat(1_000_000))).unwrap();
    assert_eq!(from_struct::<Value>(&same).unwrap(), json!({"": null}));
    let split =
        RawStruct::decode(Bytes::from([&b"\x0a\xc0\x8d\xb7\x01"[..], &b"\x12\x02\x2a\x00".repeat(750_000)].concat()));
    assert_eq!(from_struct::<Value>(&split.unwrap()).unwrap(), json!({"": {}}));
    assert!(started.elapsed() < Duration::from_secs(30));
}
