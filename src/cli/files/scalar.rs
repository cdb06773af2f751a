//! What an unquoted YAML word means to kubectl, that is to go-yaml v2 with its YAML 1.1 rules.
//!
//! serde-saphyr resolves scalars by YAML 1.2 with options (`014`, `1_000`, `0b11` and `08` come out differently), so
//! the tree is built from the events of the parser it re-exports, and this table says what they mean.

use serde_json::{Number, Value};
use serde_yaml::granit_parser::{ScalarStyle, Tag};

/// Why a scalar is refused: what, and what to do.
pub(super) type Refusal = (&'static str, &'static str);

const TOO_BIG: Refusal = ("an integer that does not fit into 64 bits", "quote it if it is meant as text");
const NOT_FINITE: Refusal = ("infinity or not-a-number, which JSON does not know", "quote it if it is meant as text");
const WRONG_TAG: Refusal =
    ("a value that is not of the type its `!!` tag names", "remove the tag or correct the value");
const BINARY: Refusal = ("`!!binary`, which this tool does not decode", "write the text itself");

/// What a scalar with its quotes and tag means. Tags that are not YAML's own make it a string, as in kubectl.
pub(super) fn resolve(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, Refusal> {
    let string = || Value::String(text.to_owned());
    let Some(tag) = tag else {
        return if style == ScalarStyle::Plain { plain(text) } else { Ok(string()) };
    };
    match tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() {
        Some("null") => typed(text, Value::is_null),
        Some("bool") => typed(text, Value::is_boolean),
        Some("int") => typed(text, |value| value.is_i64() || value.is_u64()),
        Some("float") => typed(text, Value::is_number),
        Some("binary") => Err(BINARY),
        _ => Ok(string()),
    }
}

fn typed(text: &str, fits: impl Fn(&Value) -> bool) -> Result<Value, Refusal> {
    plain(text).and_then(|value| if fits(&value) { Ok(value) } else { Err(WRONG_TAG) })
}

/// What an unquoted word without a tag means.
pub(in crate::cli) fn plain(text: &str) -> Result<Value, Refusal> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Value::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf"
        | "-.INF" => return Err(NOT_FINITE),
        _ => number(text)?.unwrap_or_else(|| Value::String(text.to_owned())),
    })
}

/// The number a word means, or None for a string. Timestamps and base 60 (`1:30`) are strings, as in go-yaml.
fn number(text: &str) -> Result<Option<Value>, Refusal> {
    match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'+' | b'-') => {}
        Some(b'.') if underscores_part_digits(text) => return Ok(float(&text.replace('_', ""))),
        _ => return Ok(None),
    }
    let digits = text.replace('_', "");
    if let Some(integer) = integer(&digits) {
        return Ok(Some(integer));
    }
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(&digits);
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return decimal(&digits).map(Some).ok_or(TOO_BIG);
    }
    Ok(float(&digits))
}

/// Go's `strconv.ParseInt(text, 0, 64)`, and `ParseUint` after it: the prefix tells the base, a leading 0 means octal.
fn integer(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, base) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&unsigned[2..], 16),
        [b'0', b'o' | b'O', ..] => (&unsigned[2..], 8),
        [b'0', b'b' | b'B', ..] => (&unsigned[2..], 2),
        [b'0', _, ..] => (&unsigned[1..], 8),
        _ => (unsigned, 10),
    };
    if !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    signed(text, u64::from_str_radix(digits, base).ok()?)
}

/// Digits that are no octal number after all, such as `08`, count as decimal: go-yaml reads them as a float.
fn decimal(text: &str) -> Option<Value> {
    signed(text, text.strip_prefix(['+', '-']).unwrap_or(text).parse().ok()?)
}

/// The magnitude with the sign `text` starts with; None if it does not fit.
fn signed(text: &str, magnitude: u64) -> Option<Value> {
    match text.as_bytes().first() {
        Some(b'-') => 0_i64.checked_sub_unsigned(magnitude).map(Value::from),
        Some(b'+') => i64::try_from(magnitude).ok().map(Value::from),
        _ => Some(Value::from(magnitude)),
    }
}

/// A float; whole ones are integers (`1.0` is 1), because kubectl passes them on as JSON. Too large ones are strings.
fn float(text: &str) -> Option<Value> {
    if !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    if value.fract() == 0.0 && value.abs() < 2.0_f64.powi(63) {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^63")]
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}

/// Go's rule for underscores in a float without a sign: each stands between two digits.
fn underscores_part_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    (0..bytes.len()).filter(|at| bytes[*at] == b'_').all(|at| digit(at.checked_sub(1)) && digit(Some(at + 1)))
}

/// A key as text: sigs.k8s.io/yaml writes booleans and numbers as strings; nothing else can be a key.
pub(super) fn key(value: &Value) -> Result<String, Refusal> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(bool) => Ok(bool.to_string()),
        Value::Number(number) if number.is_i64() => Ok(number.to_string()),
        Value::Number(number) => float_key(number).ok_or(("a number that cannot be a key", "quote it")),
        Value::Null => Err(("an empty key", "quote it if it is meant: `\"\"` or `\"null\"`")),
        _ => Err(("a list or a map as a key", "use a string")),
    }
}

/// A float key as Go's `FormatFloat(.., 'g', -1, 32)` writes it, where that needs no exponent.
fn float_key(number: &Number) -> Option<String> {
    #[expect(clippy::cast_possible_truncation, reason = "sigs.k8s.io/yaml writes float keys in single precision")]
    let short = number.as_f64().filter(|value| number.is_f64() && (1e-4..1e6).contains(&value.abs()))? as f32;
    Some(short.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_words_mean_what_they_mean_to_kubectl() {
        for (text, value, why) in [
            ("y", json!(true), "YAML 1.1 boolean, one letter"),
            ("Off", json!(false), "YAML 1.1 boolean"),
            ("oFF", json!("oFF"), "only three spellings of case count"),
            ("Null", json!(null), "null in its cases"),
            ("014", json!(12), "a leading zero is octal"),
            ("0o14", json!(12), "octal as Go writes it"),
            ("-014", json!(-12), "octal with a sign"),
            ("08", json!(8), "not octal after all"),
            ("09.5", json!(9.5), "a float may start with zero"),
            ("0x_1F", json!(31), "hex, underscores anywhere"),
            ("0B11", json!(3), "binary, capital prefix"),
            ("-0x10", json!(-16), "hex with a sign"),
            ("0x", json!("0x"), "no digits"),
            ("0xffffffffffffffffff", json!("0xffffffffffffffffff"), "too large hex is a string in go-yaml"),
            ("1__0", json!(10), "any number of underscores"),
            ("_1", json!("_1"), "does not start like a number"),
            ("18446744073709551615", json!(u64::MAX), "all of u64"),
            ("-9223372036854775808", json!(i64::MIN), "all of i64"),
            ("1.0", json!(1), "whole floats become integers on the way through JSON"),
            ("-0.0", json!(0), "and so does minus zero"),
            ("1e3", json!(1000), "an exponent needs no point"),
            ("1e19", json!(1e19), "beyond i64 a float stays one"),
            (".5_5", json!(0.55), "underscore between digits"),
            (".5__5", json!(".5__5"), "two underscores are not Go's float"),
            ("+.5", json!(0.5), "sign and point"),
            ("1.", json!(1), "a point at the end"),
            (".", json!("."), "only a point"),
            ("1e400", json!("1e400"), "out of range is a string in go-yaml"),
            ("2024-01-01", json!("2024-01-01"), "timestamps stay strings"),
            ("1:30", json!("1:30"), "base 60 stays a string"),
            ("=", json!("="), "the value key is a string"),
            ("+inf", json!("+inf"), "Rust's own spelling of infinity is no YAML"),
        ] {
            assert_eq!(plain(text), Ok(value), "{text}: {why}");
        }
    }

    #[test]
    fn what_json_cannot_hold_is_refused() {
        for (text, refusal, why) in [
            (".nan", NOT_FINITE, "kubectl fails to turn it into JSON"),
            ("-.Inf", NOT_FINITE, "the same for infinity"),
            ("18446744073709551616", TOO_BIG, "kubectl would round it silently"),
            ("-9223372036854775809", TOO_BIG, "below i64"),
        ] {
            assert_eq!(plain(text), Err(refusal), "{text}: {why}");
        }
    }

    #[test]
    fn keys_are_text() {
        for (value, text, why) in [
            (json!(1), "1", "integer"),
            (json!(true), "true", "boolean"),
            (json!(1.5), "1.5", "float"),
            (json!(123_456.7), "123456.7", "float, in single precision"),
        ] {
            assert_eq!(key(&value).as_deref(), Ok(text), "{why}");
        }
        assert!(key(&json!(null)).is_err() && key(&json!([1])).is_err() && key(&json!(u64::MAX)).is_err());
    }
}
