//! What a `google.protobuf.Value` says.

use super::RawStruct;
use super::fields::{Content, Malformed, Message, only_field};

/// A `google.protobuf.Value`; what is inside objects and lists is not read yet, strings are not yet checked.
pub(super) enum Value<'de> {
    Null,
    Number(f64),
    String(&'de [u8]),
    Bool(bool),
    Struct(Message<'de>),
    List(Message<'de>),
    /// An object that is not inside another.
    Root(&'de RawStruct),
}

impl<'de> Value<'de> {
    /// Reads the field that is set: the last one, and null if there is none. The same object or list twice in a row is
    /// one of both, as protobuf merges messages.
    #[inline]
    pub fn read(message: &Message<'de>) -> Result<Self, Malformed> {
        message.whole().and_then(Self::read_usual).map_or_else(|| Self::read_any(message), Ok)
    }

    /// One field and nothing else: only what is written otherwise is read field by field.
    #[inline]
    fn read_usual(bytes: &'de [u8]) -> Option<Self> {
        match bytes.first()? {
            0x1a => only_field(0x1a, bytes).map(Value::String),
            0x2a => only_field(0x2a, bytes).map(|object| Value::Struct(Message::new(object))),
            0x32 => only_field(0x32, bytes).map(|list| Value::List(Message::new(list))),
            0x11 => bytes[1..].try_into().ok().map(|number| Value::Number(f64::from_le_bytes(number))),
            _ => None,
        }
    }

    fn read_any(message: &Message<'de>) -> Result<Self, Malformed> {
        let mut value = Value::Null;
        let mut fields = message.fields();
        while let Some((number, content)) = fields.next(&[0, 1, 2, 0, 2, 2])? {
            value = match (number, content) {
                (1, Content::Varint(_)) => Value::Null,
                (2, Content::Fixed64(bytes)) => Value::Number(f64::from_le_bytes(bytes)),
                (3, Content::Bytes(bytes)) => Value::String(bytes),
                (4, Content::Varint(truth)) => Value::Bool(truth != 0),
                (5, Content::Bytes(piece)) => value.merge_struct(piece),
                (6, Content::Bytes(piece)) => value.merge_list(piece),
                _ => value,
            };
        }
        Ok(value)
    }

    fn merge_struct(self, piece: &'de [u8]) -> Self {
        match self {
            Value::Struct(mut message) => {
                message.merge(piece);
                Value::Struct(message)
            }
            _ => Value::Struct(Message::new(piece)),
        }
    }

    fn merge_list(self, piece: &'de [u8]) -> Self {
        match self {
            Value::List(mut message) => {
                message.merge(piece);
                Value::List(message)
            }
            _ => Value::List(Message::new(piece)),
        }
    }
}

/// The encoded messages of field 1, which is the only one a Struct and a ListValue have.
#[inline]
pub(super) fn next_item<'de>(fields: &mut super::fields::Fields<'de>) -> Result<Option<&'de [u8]>, Malformed> {
    if let Some(item) = fields.next_usual(0x0a) {
        return Ok(Some(item));
    }
    loop {
        match fields.next(&[2])? {
            None => return Ok(None),
            Some((1, Content::Bytes(item))) => return Ok(Some(item)),
            Some(_) => {}
        }
    }
}
