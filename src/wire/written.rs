//! Values that we have written, read where they stand: nothing in them can be wrong.

use super::RawStruct;
use super::entries::Entry;
use super::fields::{Fields, Message};
use super::value::{Value, next_item};

/// A value inside an object that [`super::to_struct`] wrote. Whatever else is in such bytes is nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Written<'a> {
    /// `null`.
    Nothing,
    /// A boolean.
    Bool(bool),
    /// Any number.
    Number(f64),
    /// A text's bytes.
    Text(&'a [u8]),
    /// A list's items, encoded.
    List(Encoded<'a>),
    /// An object's entries, encoded.
    Map(Encoded<'a>),
}

/// The encoded items of a list, or entries of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Encoded<'a>(&'a [u8]);

impl<'a> Written<'a> {
    fn read(message: &Message<'a>) -> Self {
        match Value::read(message) {
            Ok(Value::Bool(truth)) => Written::Bool(truth),
            Ok(Value::Number(number)) => Written::Number(number),
            Ok(Value::String(text)) => Written::Text(text),
            Ok(Value::List(list)) => Written::List(Encoded(list.whole().unwrap_or_default())),
            Ok(Value::Struct(map)) => Written::Map(Encoded(map.whole().unwrap_or_default())),
            Ok(Value::Null | Value::Root(_)) | Err(_) => Written::Nothing,
        }
    }

    /// The value at a path of keys.
    pub fn at(self, keys: &[&str]) -> Option<Written<'a>> {
        keys.iter().try_fold(self, |value, key| match value {
            Written::Map(map) => map.entries().find(|(name, _)| *name == key.as_bytes()).map(|(_, value)| value),
            _ => None,
        })
    }

    /// The text, if it is one.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Written::Text(text) => str::from_utf8(text).ok(),
            _ => None,
        }
    }
}

impl<'a> Encoded<'a> {
    /// The items of a list.
    pub fn items(self) -> impl Iterator<Item = Written<'a>> {
        self.messages().map(|item| Written::read(&Message::new(item)))
    }

    /// The entries of an object in the order in which they were written, each key once.
    pub fn entries(self) -> impl Iterator<Item = (&'a [u8], Written<'a>)> {
        self.messages().filter_map(entry)
    }

    /// True if there is none.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    fn messages(self) -> impl Iterator<Item = &'a [u8]> {
        let mut fields: Fields<'a> = Message::new(self.0).fields();
        std::iter::from_fn(move || next_item(&mut fields).ok().flatten())
    }
}

fn entry(entry: &[u8]) -> Option<(&[u8], Written<'_>)> {
    let Entry { key, value } = Entry::read(entry).ok()?;
    Some((key, Written::read(&value)))
}

impl RawStruct {
    /// The same as a JSON tree, for an object that we have written.
    pub fn to_value(&self) -> serde_json::Value {
        super::from_struct(self).unwrap_or_default()
    }

    /// The value at a path of keys in an object that we have written.
    pub fn written(&self, keys: &[&str]) -> Option<Written<'_>> {
        let (first, keys) = keys.split_first()?;
        let mut entries = self.entries().iter().filter_map(|bytes| entry(bytes));
        entries.find(|(name, _)| *name == first.as_bytes())?.1.at(keys)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::to_struct;

    #[test]
    fn what_was_written_is_read() {
        let object = to_struct(&json!({"a": {"b": [1, "x", true, null, {}], "c": 0.5}, "d": "y"})).expect("an object");
        assert_eq!(object.written(&["d"]).and_then(Written::as_str), Some("y"));
        assert_eq!(object.written(&["a", "c"]), Some(Written::Number(0.5)));
        let Some(Written::List(list)) = object.written(&["a", "b"]) else { panic!("a list") };
        let items: Vec<_> = list.items().collect();
        let expected = [
            Written::Number(1.0),
            Written::Text(b"x"),
            Written::Bool(true),
            Written::Nothing,
            Written::Map(Encoded(b"")),
        ];
        assert_eq!(items, expected);
        assert_eq!(object.to_value()["a"]["c"], json!(0.5));
        assert_eq!(object.written(&["a", "x"]), None);
        assert_eq!(object.written(&["d", "x"]), None);
        let Some(Written::Map(map)) = object.written(&["a"]) else { panic!("a map") };
        assert_eq!(map.entries().map(|(key, _)| key).collect::<Vec<_>>(), [b"b", b"c"]);
    }
}
