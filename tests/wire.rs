//! Our reader and writer of encoded Structs agree with prost's own tree, whatever bytes they get.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "common/oracle.rs"]
mod oracle;

use function_asya::wire::{from_struct, to_struct};
use oracle::{agree, ours, theirs};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;
use prost::encoding::encode_varint;
use prost_types::value::Kind;
use serde_json::Value;

/// A field that is delimited by its length.
fn delimited(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    encode_varint(content.len() as u64, &mut field);
    field.extend(content);
    field
}

/// Values in every encoding that protobuf allows: split, overwritten, with unknown fields, empty.
fn encoded_value() -> impl Strategy<Value = Vec<u8>> {
    let number = any::<f64>().prop_filter("finite", |number| number.is_finite());
    let leaf =
        prop_oneof![
            Just(vec![]),
            any::<u8>().prop_map(|null| vec![1 << 3, null & 0x7f]),
            prop_oneof![number, (-9..9_i32).prop_map(f64::from), Just(-0.0), Just(9007199254740992.0)]
                .prop_map(|number| [&[2 << 3 | 1][..], &number.to_le_bytes()].concat()),
            ".{0,4}".prop_map(|text| delimited(3, text.as_bytes())),
            any::<bool>().prop_map(|truth| vec![4 << 3, truth.into()]),
            prop_oneof![Just(vec![0x38, 7]), Just(delimited(9, b"?")), Just(vec![0x43, 0x4b, 0x4c, 0x44])],
        ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            3 => vec(encoded_entry(inner.clone()), 0..5).prop_map(|entries| delimited(5, &entries.concat())),
            3 => vec(inner.clone(), 0..4).prop_map(|items| {
                delimited(6, &items.iter().flat_map(|item| delimited(1, item)).collect::<Vec<_>>())
            }),
            2 => vec(inner, 2..4).prop_map(|occurrences| occurrences.concat()),
        ]
    })
}

fn encoded_entry(value: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let key = "[ab]{0,2}".prop_map(|key| delimited(1, key.as_bytes()));
    let values = vec(value.prop_map(|value| delimited(2, &value)), 0..3);
    (vec(key, 0..3), values, any::<bool>()).prop_map(|(keys, values, value_first)| {
        let (keys, values) = (keys.concat(), values.concat());
        delimited(1, &if value_first { [values, keys] } else { [keys, values] }.concat())
    })
}

fn encoded_struct() -> impl Strategy<Value = Vec<u8>> {
    vec(encoded_entry(encoded_value()), 0..24).prop_map(|entries| entries.concat())
}

fn tree(value: &Value) -> prost_types::Value {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(truth) => Kind::BoolValue(*truth),
        Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap()),
        Value::String(text) => Kind::StringValue(text.clone()),
        Value::Array(items) => Kind::ListValue(prost_types::ListValue { values: items.iter().map(tree).collect() }),
        Value::Object(_) => Kind::StructValue(object_tree(value)),
    };
    prost_types::Value { kind: Some(kind) }
}

fn object_tree(object: &Value) -> prost_types::Struct {
    let fields = object.as_object().unwrap().iter().map(|(key, value)| (key.clone(), tree(value)));
    prost_types::Struct { fields: fields.collect() }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53)..=1 << 53).prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        ".{0,200}".prop_map(Value::from),
    ];
    leaf.prop_recursive(30, 128, 4, |inner| {
        prop_oneof![vec(inner.clone(), 0..4).prop_map(Value::from), any_object(inner)]
    })
}

fn any_object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    vec((".{0,3}", value), 0..4).prop_map(|entries| Value::Object(entries.into_iter().collect()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_valid_encoding_is_read_as_prost_reads_it(bytes in encoded_struct()) {
        let object = prost_types::Struct::decode(&bytes[..]).unwrap();
        prop_assert_eq!(ours(&bytes), Ok(theirs(object).unwrap()));
    }

    #[test]
    fn damaged_bytes_are_read_as_prost_reads_them_or_refused(
        mut bytes in encoded_struct(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for (position, byte) in damage.into_iter().filter(|_| !bytes.is_empty()).collect::<Vec<_>>() {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        agree(&bytes).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn arbitrary_bytes_are_read_as_prost_reads_them_or_refused(bytes in vec(any::<u8>(), 0..64)) {
        agree(&bytes).map_err(TestCaseError::fail)?;
        agree(&delimited(1, &bytes)).map_err(TestCaseError::fail)?;
        agree(&delimited(1, &delimited(2, &bytes))).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn what_we_write_is_what_prost_writes(object in any_object(any_json())) {
        let written = to_struct(&object).unwrap();
        prop_assert_eq!(written.encode_to_vec(), object_tree(&object).encode_to_vec());
        prop_assert_eq!(written.encoded_len(), object_tree(&object).encoded_len());
    }

    #[test]
    fn every_finite_double_survives(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        let written = to_struct(&std::collections::BTreeMap::from([("x", number)]));
        prop_assert_eq!(written.is_ok(), number.is_finite());
        if let Ok(object) = written {
            let read: std::collections::BTreeMap<String, f64> = from_struct(&object).unwrap();
            prop_assert_eq!(read["x"].to_bits(), bits);
        }
    }
}
