//! The types a schema can ask for, and the words for what a value is instead.

use serde::Deserialize;
use serde_json::Value;

use super::Schema;

/// What kind of value a schema asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    /// A map.
    Object,
    /// A list.
    Array,
    /// A string.
    String,
    /// A number without a fraction; `1.0` is one.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
}

impl Type {
    fn fits(self, value: &Value) -> bool {
        match self {
            Self::Object => value.is_object(),
            Self::Array => value.is_array(),
            Self::String => value.is_string(),
            Self::Integer => is_integer(value),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Object => "a map",
            Self::Array => "a list",
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
        }
    }
}

impl Schema {
    /// What is wrong with the type of `value`, and what to do about it.
    pub(super) fn type_breach(&self, value: &Value) -> Option<(String, Option<String>)> {
        let (fits, wanted) = match (self.int_or_string, self.kind) {
            (true, _) => (is_integer(value) || value.is_string(), "an integer or a string"),
            (false, Some(kind)) => (kind.fits(value), kind.words()),
            (false, None) => return None,
        };
        (!fits).then(|| (format!("must be {wanted}, not {}", words(value)), self.type_hint(value).map(str::to_owned)))
    }

    /// YAML decides types by their looks, so most wrong types are quotes that are missing or too many.
    fn type_hint(&self, value: &Value) -> Option<&'static str> {
        match (self.kind?, value) {
            (Type::String, Value::Number(_) | Value::Bool(_)) => Some("put it in quotes"),
            (wanted @ (Type::Integer | Type::Number | Type::Boolean), Value::String(text)) => {
                let unquoted: Value = serde_json::from_str(text).ok()?;
                wanted.fits(&unquoted).then_some("write it without quotes")
            }
            _ => None,
        }
    }

    /// True if numbers here are whole, and so must be carried exactly.
    pub(super) fn wants_integer(&self) -> bool {
        self.int_or_string || self.kind == Some(Type::Integer)
    }
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn words(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) if is_integer(value) => "an integer",
        Value::Number(_) => "a number with a fraction",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
