//! From any serde type to an encoded `google.protobuf.Struct`, without a tree in between.
//!
//! The bytes are those prost writes for the same tree, entries in the order they are given.

use bytes::{Buf, Bytes};
use prost::Message as _;
use serde::Serializer;
use serde::ser::{Impossible, Serialize};

use super::container::Container;
use super::writer::{BOOL, LIST, NULL, STRING, STRUCT, Writer};
use super::{RawStruct, WriteError};

/// Writes an object. Enums are written by their name, `None` and unit as null.
///
/// # Errors
/// The first number that is not finite, integer beyond 2^53, key that is no string, enum variant that is more than a
/// name, or nesting deeper than [`MAX_WRITTEN_DEPTH`](super::MAX_WRITTEN_DEPTH); and if `value` is not an object.
pub fn to_struct<T: Serialize + ?Sized>(value: &T) -> Result<RawStruct, WriteError> {
    let mut writer = Writer { out: Vec::with_capacity(USUAL), ..Writer::default() };
    value.serialize(&mut writer).map_err(WriteError::shortened)?;
    let mut encoded = Bytes::from(writer.out);
    if encoded.first() != Some(&STRUCT) {
        return Err(WriteError::new("not an object"));
    }
    encoded.advance(1);
    RawStruct::decode_length_delimited(encoded).map_err(|error| WriteError::new(error.to_string()))
}

/// What most objects fit into, in bytes.
const USUAL: usize = 4096;

/// Each of these serde methods does the same for its type of integer.
macro_rules! integers {
    ($($method:ident($type:ty)),*) => {
        $(fn $method(self, integer: $type) -> Result<(), WriteError> {
            self.integer(integer)
        })*
    };
}

impl<'a> Serializer for &'a mut Writer {
    type Ok = ();
    type Error = WriteError;
    type SerializeSeq = Container<'a>;
    type SerializeTuple = Container<'a>;
    type SerializeTupleStruct = Container<'a>;
    type SerializeTupleVariant = Impossible<(), WriteError>;
    type SerializeMap = Container<'a>;
    type SerializeStruct = Container<'a>;
    type SerializeStructVariant = Impossible<(), WriteError>;

    integers! {
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64)
    }

    fn serialize_bool(self, truth: bool) -> Result<(), WriteError> {
        self.out.extend_from_slice(&[BOOL, u8::from(truth)]);
        Ok(())
    }

    fn serialize_f32(self, number: f32) -> Result<(), WriteError> {
        self.number(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), WriteError> {
        self.number(number)
    }

    fn serialize_char(self, char: char) -> Result<(), WriteError> {
        self.serialize_str(char.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<(), WriteError> {
        self.text(STRING, text);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), WriteError> {
        self.collect_seq(bytes)
    }

    fn serialize_none(self) -> Result<(), WriteError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), WriteError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), WriteError> {
        self.out.extend_from_slice(&[NULL, 0]);
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), WriteError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<(), WriteError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), WriteError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _value: &T,
    ) -> Result<(), WriteError> {
        Err(more_than_a_name(variant))
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Container<'a>, WriteError> {
        Container::open(self, LIST)
    }

    fn serialize_tuple(self, _len: usize) -> Result<Container<'a>, WriteError> {
        Container::open(self, LIST)
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Container<'a>, WriteError> {
        Container::open(self, LIST)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeTupleVariant, WriteError> {
        Err(more_than_a_name(variant))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Container<'a>, WriteError> {
        Container::open(self, STRUCT)
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Container<'a>, WriteError> {
        Container::open(self, STRUCT)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Self::SerializeStructVariant, WriteError> {
        Err(more_than_a_name(variant))
    }
}

fn more_than_a_name(variant: &str) -> WriteError {
    WriteError::new(format!("the enum variant `{variant}` is more than a name"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use prost::Message as _;
    use serde::Serialize;
    use serde_json::{Value, json};

    use super::to_struct;
    use crate::wire::from_struct;

    #[derive(Serialize)]
    struct Everything {
        letter: char,
        nothing: Option<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u8>,
        unit: Plain,
        bytes: [u8; 2],
        pair: (f32, i64),
        keys: BTreeMap<Plain, &'static str>,
    }

    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    enum Plain {
        Delete,
    }

    #[derive(Serialize)]
    enum Fancy {
        New(u8),
        Tuple(u8, u8),
        Struct { field: u8 },
    }

    #[test]
    fn types_become_what_json_would_make_of_them() {
        let everything = Everything {
            letter: 'é',
            nothing: None,
            skipped: None,
            unit: Plain::Delete,
            bytes: [1, 255],
            pair: (0.5, -(1 << 53)),
            keys: BTreeMap::from([(Plain::Delete, "")]),
        };
        let object = to_struct(&everything).unwrap();
        let mut expected = serde_json::to_value(&everything).unwrap();
        expected["pair"][1] = json!(-9007199254740992.0);
        assert_eq!(from_struct::<Value>(&object).unwrap(), expected);
    }

    #[test]
    fn lengths_take_the_room_they_need() {
        for length in (0..300).chain(16_300..16_420).step_by(7).chain([127, 128, 16_383, 16_384]) {
            let (text, list) = ("x".repeat(length), vec![true; length / 4]);
            let value = serde_json::json!({"text": text, "list": [list], text: {"": 1}});
            let object = to_struct(&value).unwrap();
            let tree = prost_types::Struct::decode(&*object.encode_to_vec()).unwrap();
            assert_eq!(tree.encoded_len(), object.encoded_len(), "{length}");
            assert_eq!(from_struct::<Value>(&object).unwrap(), value, "{length}");
        }
    }

    #[test]
    fn what_a_struct_cannot_hold_is_refused_with_its_place() {
        fn error(value: impl Serialize) -> String {
            to_struct(&BTreeMap::from([("a", BTreeMap::from([("b", vec![value])]))])).unwrap_err().to_string()
        }
        assert_eq!(error(f64::NAN), "a.b[0]: a number that is not finite");
        assert_eq!(error(f32::INFINITY), "a.b[0]: a number that is not finite");
        assert_eq!(error(u64::MAX), "a.b[0]: 18446744073709551615 is beyond 2^53 and would be rounded");
        assert_eq!(error(-(1_i64 << 53) - 1), "a.b[0]: -9007199254740993 is beyond 2^53 and would be rounded");
        assert_eq!(error(BTreeMap::from([(1, 2)])), "a.b[0]: a map key that is not a string");
        assert_eq!(error(Fancy::New(1)), "a.b[0]: the enum variant `New` is more than a name");
        assert_eq!(error(Fancy::Tuple(1, 1)), "a.b[0]: the enum variant `Tuple` is more than a name");
        assert_eq!(error(Fancy::Struct { field: 1 }), "a.b[0]: the enum variant `Struct` is more than a name");
        assert_eq!(to_struct(&[1]).unwrap_err().to_string(), "not an object");
        assert_eq!(to_struct(&None::<()>).unwrap_err().to_string(), "not an object");
    }
}
