//! The official messages with prost's own tree in place of our encoded Structs, and Structs in another order.

use std::collections::BTreeMap;

use bytes::Bytes;
use function_asya::wire::RawStruct;
use function_asya::wire::proto::v1::{Condition, RequestMeta, Requirements, ResponseMeta, Result};
use prost::Message;
use prost_types::value::Kind;
use prost_types::{Struct, Value};
use serde_json::{Map, Number, json};

/// A RunFunctionRequest, as prost would read it.
#[derive(Clone, PartialEq, Message)]
pub struct Request {
    #[prost(message, optional, tag = "1")]
    pub meta: Option<RequestMeta>,
    #[prost(message, optional, tag = "2")]
    pub observed: Option<State>,
    #[prost(message, optional, tag = "3")]
    pub desired: Option<State>,
    #[prost(message, optional, tag = "4")]
    pub input: Option<Struct>,
    #[prost(message, optional, tag = "5")]
    pub context: Option<Struct>,
    #[prost(btree_map = "string, message", tag = "6")]
    pub extra_resources: BTreeMap<String, Resources>,
    #[prost(btree_map = "string, message", tag = "8")]
    pub required_resources: BTreeMap<String, Resources>,
}

/// A RunFunctionResponse, as prost would read it.
#[derive(Clone, PartialEq, Message)]
pub struct Response {
    #[prost(message, optional, tag = "1")]
    pub meta: Option<ResponseMeta>,
    #[prost(message, optional, tag = "2")]
    pub desired: Option<State>,
    #[prost(message, repeated, tag = "3")]
    pub results: Vec<Result>,
    #[prost(message, optional, tag = "4")]
    pub context: Option<Struct>,
    #[prost(message, optional, tag = "5")]
    pub requirements: Option<Requirements>,
    #[prost(message, repeated, tag = "6")]
    pub conditions: Vec<Condition>,
}

/// A State, as prost would read it.
#[derive(Clone, PartialEq, Message)]
pub struct State {
    #[prost(message, optional, tag = "1")]
    pub composite: Option<Resource>,
    #[prost(btree_map = "string, message", tag = "2")]
    pub resources: BTreeMap<String, Resource>,
}

/// Resources, as prost would read them.
#[derive(Clone, PartialEq, Message)]
pub struct Resources {
    #[prost(message, repeated, tag = "1")]
    pub items: Vec<Resource>,
}

/// A Resource, as prost would read it.
#[derive(Clone, PartialEq, Message)]
pub struct Resource {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Struct>,
    #[prost(btree_map = "string, bytes", tag = "2")]
    pub connection_details: BTreeMap<String, Vec<u8>>,
    #[prost(int32, tag = "3")]
    pub ready: i32,
}

/// prost's tree as JSON, whole numbers whole.
pub fn json(object: &Struct) -> serde_json::Value {
    object.fields.iter().map(|(key, value)| (key.clone(), json_value(value))).collect::<Map<_, _>>().into()
}

fn json_value(value: &Value) -> serde_json::Value {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => serde_json::Value::Null,
        Some(Kind::BoolValue(truth)) => json!(truth),
        Some(Kind::StringValue(text)) => json!(text),
        Some(Kind::NumberValue(number)) if number.fract() == 0.0 => Number::from(*number as i64).into(),
        Some(Kind::NumberValue(number)) => json!(number),
        Some(Kind::StructValue(object)) => json(object),
        Some(Kind::ListValue(list)) => list.values.iter().map(json_value).collect(),
    }
}

/// The same Struct with every map's entries in the opposite order.
pub fn reversed(object: &RawStruct) -> RawStruct {
    let tree = Struct::decode(&*object.encode_to_vec()).expect("a Struct");
    RawStruct::decode(Bytes::from(backwards(&tree))).expect("the same Struct")
}

fn backwards(object: &Struct) -> Vec<u8> {
    let entries = object.fields.iter().rev().map(|(key, value)| {
        let key = delimited(1, key.as_bytes());
        let value = delimited(2, &backwards_value(value));
        delimited(1, &[value, key].concat())
    });
    entries.collect::<Vec<_>>().concat()
}

fn backwards_value(value: &Value) -> Vec<u8> {
    match &value.kind {
        Some(Kind::StructValue(object)) => delimited(5, &backwards(object)),
        Some(Kind::ListValue(list)) => {
            let items: Vec<_> = list.values.iter().map(|item| delimited(1, &backwards_value(item))).collect();
            delimited(6, &items.concat())
        }
        _ => value.encode_to_vec(),
    }
}

/// A field that is delimited by its length.
fn delimited(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    prost::encoding::encode_varint(content.len() as u64, &mut field);
    field.extend(content);
    field
}
