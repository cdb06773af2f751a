//! The values of what we emit: like JSON's, but cheap to build, since most keys and many texts are constants.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// A value of a resource that we emit. Maps keep the order in which they are written here; each key stands once.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Node {
    /// Nothing: a map leaves such an entry out.
    #[default]
    Absent,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A text.
    Text(Cow<'static, str>),
    /// Values in order.
    List(Vec<Node>),
    /// Values by key.
    Map(Vec<(Cow<'static, str>, Node)>),
}

/// A map of what is set: `map! { "name" => name, "image" => image }`.
macro_rules! map {
    ($($key:expr => $value:expr),* $(,)?) => {
        $crate::node::Node::map([$((::std::borrow::Cow::from($key), $crate::node::Node::from($value))),*])
    };
}

/// A list of anything that can be emitted.
macro_rules! list {
    ($($value:expr),* $(,)?) => {
        $crate::node::Node::List(vec![$($crate::node::Node::from($value)),*])
    };
}

pub(crate) use {list, map};

impl Node {
    /// A map of those entries that are set.
    pub fn map(entries: impl IntoIterator<Item = (Cow<'static, str>, Node)>) -> Self {
        let entries = entries.into_iter();
        let mut map = Vec::with_capacity(entries.size_hint().0);
        map.extend(entries.filter(|(_, value)| !matches!(value, Node::Absent)));
        Node::Map(map)
    }

    /// The value at a path of keys.
    pub fn at(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| match node {
            Node::Map(map) => map.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        })
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Sets a key of a map, over what it says there; a value that is absent takes the key out.
    ///
    /// # Panics
    /// In tests, if it is no map.
    pub fn set(&mut self, key: &'static str, value: impl Into<Node>) {
        let Node::Map(map) = self else {
            debug_assert!(false, "`{key}` set on what is no map");
            return;
        };
        match (map.iter().position(|(name, _)| name == key), value.into()) {
            (Some(place), Node::Absent) => drop(map.remove(place)),
            (Some(place), value) => map[place].1 = value,
            (None, Node::Absent) => {}
            (None, value) => map.push((key.into(), value)),
        }
    }

    /// The same, or nothing if it is an empty list or map.
    pub fn filled(self) -> Self {
        match self {
            Node::List(list) if list.is_empty() => Node::Absent,
            Node::Map(map) if map.is_empty() => Node::Absent,
            other => other,
        }
    }

    /// A text, or nothing if it is empty.
    pub fn text(text: &str) -> Self {
        if text.is_empty() { Node::Absent } else { text.to_owned().into() }
    }

    /// The same as a JSON tree.
    pub fn to_value(&self) -> Value {
        match self {
            Node::Absent => Value::Null,
            Node::Bool(truth) => Value::Bool(*truth),
            Node::Integer(integer) => Value::from(*integer),
            Node::Number(number) => Value::from(*number),
            Node::Text(text) => Value::String(text.clone().into_owned()),
            Node::List(list) => list.iter().map(Node::to_value).collect(),
            Node::Map(map) => map.iter().map(|(key, value)| (key.clone().into_owned(), value.to_value())).collect(),
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Absent => serializer.serialize_unit(),
            Node::Bool(truth) => serializer.serialize_bool(*truth),
            Node::Integer(integer) => serializer.serialize_i64(*integer),
            Node::Number(number) => serializer.serialize_f64(*number),
            Node::Text(text) => serializer.serialize_str(text),
            Node::List(list) => serializer.collect_seq(list),
            Node::Map(map) => serializer.collect_map(map.iter().map(|(key, value)| (key, value))),
        }
    }
}

impl From<&Value> for Node {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Node::Absent,
            Value::Bool(truth) => Node::Bool(*truth),
            Value::Number(number) => number.into(),
            Value::String(text) => Node::Text(Cow::Owned(text.clone())),
            Value::Array(list) => Node::List(list.iter().map(Node::from).collect()),
            Value::Object(map) => {
                Node::map(map.iter().map(|(key, value)| (Cow::Owned(key.clone()), Node::from(value))))
            }
        }
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Node::Text(Cow::Owned(text)),
            Value::Array(list) => Node::List(list.into_iter().map(Node::from).collect()),
            Value::Object(map) => Node::map(map.into_iter().map(|(key, value)| (Cow::Owned(key), Node::from(value)))),
            other => Node::from(&other),
        }
    }
}

impl From<&serde_json::Number> for Node {
    fn from(number: &serde_json::Number) -> Self {
        number.as_i64().map_or_else(|| Node::Number(number.as_f64().unwrap_or_default()), Node::Integer)
    }
}

impl<T: Into<Node>> From<Option<T>> for Node {
    fn from(value: Option<T>) -> Self {
        value.map_or(Node::Absent, Into::into)
    }
}

impl<T: Into<Node>> From<Vec<T>> for Node {
    fn from(list: Vec<T>) -> Self {
        Node::List(list.into_iter().map(Into::into).collect())
    }
}

impl From<&BTreeMap<String, String>> for Node {
    fn from(texts: &BTreeMap<String, String>) -> Self {
        Node::map(texts.iter().map(|(key, text)| (Cow::Owned(key.clone()), Node::from(text))))
    }
}

/// Each of these becomes the variant of the same meaning.
macro_rules! plain {
    ($($type:ty => |$value:ident| $node:expr),* $(,)?) => {
        $(impl From<$type> for Node {
            fn from($value: $type) -> Self {
                $node
            }
        })*
    };
}

plain! {
    bool => |truth| Node::Bool(truth),
    i64 => |integer| Node::Integer(integer),
    u32 => |integer| Node::Integer(integer.into()),
    i32 => |integer| Node::Integer(integer.into()),
    String => |text| Node::Text(Cow::Owned(text)),
    &String => |text| Node::Text(Cow::Owned(text.clone())),
    &'static str => |text| Node::Text(Cow::Borrowed(text)),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_set_is_left_out() {
        let node =
            map! { "name" => "a", "nothing" => None::<String>, "list" => list![1_i64, true], "none" => Value::Null };
        assert_eq!(node.to_value(), json!({"name": "a", "list": [1, true]}));
        assert_eq!(node.at(&["name"]).and_then(Node::as_str), Some("a"));
    }

    #[test]
    fn json_comes_back_as_it_went() {
        let value = json!({"a": [1, -1.5, "x", {"b": false}], "c": {}});
        assert_eq!(Node::from(&value).to_value(), value);
        assert_eq!(Node::from(value.clone()).to_value(), value);
        assert_eq!(serde_json::to_value(Node::from(&value)).expect("JSON"), value);
    }

    #[test]
    fn setting_replaces() {
        let mut node = map! { "a" => 1_i64 };
        node.set("a", 2_i64);
        node.set("b", 3_i64);
        assert_eq!(node.to_value(), json!({"a": 2, "b": 3}));
        node.set("a", None::<bool>);
        node.set("c", None::<bool>);
        assert_eq!(node.to_value(), json!({"b": 3}));
    }
}
