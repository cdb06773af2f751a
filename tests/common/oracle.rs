//! Encoded Structs as we read them and as prost does.

use bytes::Bytes;
use function_asya::wire::{RawStruct, ReadError, from_struct};
use prost::Message as _;
use prost_types::value::Kind;
use serde_json::Value;

/// Our reading.
///
/// # Errors
/// What is wrong with the bytes, in words.
pub fn ours(bytes: &[u8]) -> Result<Value, String> {
    let raw = RawStruct::decode(Bytes::copy_from_slice(bytes)).map_err(|error| error.to_string())?;
    from_struct(&raw).map_err(|error: ReadError| error.to_string())
}

/// prost's tree as JSON; `None` if there is a number in it that is not finite.
pub fn theirs(object: prost_types::Struct) -> Option<Value> {
    object.fields.into_iter().map(|(key, value)| Some((key, json(value)?))).collect::<Option<_>>().map(Value::Object)
}

fn json(value: prost_types::Value) -> Option<Value> {
    Some(match value.kind {
        None | Some(Kind::NullValue(_)) => Value::Null,
        Some(Kind::NumberValue(number)) if !number.is_finite() => return None,
        Some(Kind::NumberValue(number))
            if number.abs() < 2f64.powi(53) && number.to_string().parse::<i64>().is_ok() =>
        {
            if number == 0.0 && number.is_sign_negative() { number.into() } else { (number as i64).into() }
        }
        Some(Kind::NumberValue(number)) => number.into(),
        Some(Kind::StringValue(text)) => text.into(),
        Some(Kind::BoolValue(truth)) => truth.into(),
        Some(Kind::StructValue(object)) => theirs(object)?,
        Some(Kind::ListValue(list)) => list.values.into_iter().map(json).collect::<Option<_>>()?,
    })
}

/// True if there is, anywhere, what would be a number that is not finite.
fn holds_no_number(bytes: &[u8]) -> bool {
    let number = |bytes: &[u8]| bytes.try_into().map_or(0.0, f64::from_le_bytes);
    bytes.windows(9).any(|bytes| bytes[0] == 0x11 && !number(&bytes[1..]).is_finite())
}

/// Wherever prost reads something, we read the same. Not so for numbers that are not finite, which JSON does not have,
/// and for map fields of a wrong wire type, which prost takes for right.
///
/// # Errors
/// How the readings differ.
pub fn agree(bytes: &[u8]) -> Result<(), String> {
    let ours = ours(bytes);
    let Ok(object) = prost_types::Struct::decode(bytes) else { return Ok(()) };
    match (ours, theirs(object)) {
        (Err(error), _) if error.ends_with("a field of another wire type than it has") => Ok(()),
        (Err(error), _) if error.contains(": invalid wire type: ") => Ok(()),
        (ours, Some(theirs)) if ours == Ok(theirs.clone()) => Ok(()),
        // prost forgets what stood under a key that comes again, and we do not.
        (Err(error), _) if error.ends_with("a number that is not finite") && holds_no_number(bytes) => Ok(()),
        (ours, theirs) => Err(format!("we read {ours:?}, prost {theirs:?}")),
    }
}
