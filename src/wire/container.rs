//! Objects and lists being written.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple, SerializeTupleStruct};

use super::fields::{Content, Message};
use super::writer::{FIRST, SECOND, STRING, Writer};
use super::{MAX_WRITTEN_DEPTH, WriteError};
use crate::path::Step;

/// An object or list being written.
pub(super) struct Container<'a> {
    writer: &'a mut Writer,
    /// Where its length goes.
    at: usize,
    /// Where the length of the current entry goes.
    entry: usize,
    /// How many elements were written.
    index: usize,
}

impl<'a> Container<'a> {
    /// Begins the object or list that is the field `key` of a Value.
    pub fn open(writer: &'a mut Writer, key: u8) -> Result<Self, WriteError> {
        if writer.depth == MAX_WRITTEN_DEPTH {
            return Err(WriteError::new(format!("nested more than {MAX_WRITTEN_DEPTH} levels deep")));
        }
        writer.depth += 1;
        let at = writer.open(key);
        Ok(Self { writer, at, entry: at, index: 0 })
    }

    fn close(self) {
        self.writer.close(self.at);
        self.writer.depth -= 1;
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        let at = self.writer.open(FIRST);
        value.serialize(&mut *self.writer).map_err(|error| error.under(Step::Index(self.index)))?;
        self.writer.close(at);
        self.index += 1;
        Ok(())
    }

    /// Writes a key as the string it must be, then makes a key of that. An empty one is left out, as prost does.
    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.entry = self.writer.open(FIRST);
        let at = self.writer.out.len();
        key.serialize(&mut *self.writer)?;
        match &mut self.writer.out[at..] {
            [STRING, 0] => self.writer.out.truncate(at),
            [first, ..] if *first == STRING => *first = FIRST,
            _ => return Err(WriteError::new("a map key that is not a string")),
        }
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        let at = self.writer.open(SECOND);
        value.serialize(&mut *self.writer).map_err(|error| error.under(self.current_key()))?;
        self.writer.close(at);
        self.writer.close(self.entry);
        Ok(())
    }

    /// The key written last, read back: only an error needs it.
    fn current_key(&self) -> Step {
        let entry = Message::new(&self.writer.out[self.entry + 1..]);
        match entry.fields().next(&[]) {
            Ok(Some((1, Content::Bytes(key)))) => Step::Key(String::from_utf8_lossy(key).into_owned()),
            _ => Step::Key(String::new()),
        }
    }
}

impl SerializeMap for Container<'_> {
    type Ok = ();
    type Error = WriteError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), WriteError> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
        self.value(value)
    }

    fn end(self) -> Result<(), WriteError> {
        self.close();
        Ok(())
    }
}

impl SerializeStruct for Container<'_> {
    type Ok = ();
    type Error = WriteError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), WriteError> {
        self.key(key)?;
        self.value(value)
    }

    fn end(self) -> Result<(), WriteError> {
        self.close();
        Ok(())
    }
}

/// Each of these serde traits writes a list.
macro_rules! lists {
    ($($list:ident::$method:ident),*) => {
        $(impl $list for Container<'_> {
            type Ok = ();
            type Error = WriteError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), WriteError> {
                self.element(value)
            }

            fn end(self) -> Result<(), WriteError> {
                self.close();
                Ok(())
            }
        })*
    };
}

lists! { SerializeSeq::serialize_element, SerializeTuple::serialize_element, SerializeTupleStruct::serialize_field }
