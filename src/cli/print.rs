//! Prints objects as YAML that kubectl reads back exactly, in the look of `kubectl get -o yaml`.
//!
//! The emitter is ours because what must be quoted is decided by kubectl's reader: a string stays plain only if
//! the reader reads it as a string.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::files::scalar;

/// A key that is longer than YAML's limit for `key: value` is written as `? key`.
const LONGEST_SIMPLE_KEY: usize = 1000;

/// The documents as a YAML stream: each starts with `---`, keys are sorted, strings are quoted where kubectl would
/// read something else.
pub fn yaml(documents: &[Value]) -> String {
    let mut out = String::new();
    for document in documents {
        out.push_str("---\n");
        node(&mut out, document, 0);
    }
    out
}

/// Writes a value that starts where `out` ends, at column `indent` of an otherwise blank line.
fn node(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => entries(out, map, indent),
        Value::Array(list) if !list.is_empty() => items(out, list, indent),
        _ => line(out, value, indent.max(2)),
    }
}

/// Writes `key: value` for each entry; the first one starts where `out` ends.
fn entries(out: &mut String, map: &Map<String, Value>, indent: usize) {
    for (position, (key, value)) in map.iter().enumerate() {
        if position > 0 {
            pad(out, indent);
        }
        let key = string(key, None);
        if key.len() > LONGEST_SIMPLE_KEY {
            let _ = writeln!(out, "? {key}");
            pad(out, indent);
        } else {
            out.push_str(&key);
        }
        out.push(':');
        entry_value(out, value, indent);
    }
}

/// Writes what stands behind the colon: a list at the key's own column, a map two to the right.
fn entry_value(out: &mut String, value: &Value, indent: usize) {
    let below = match value {
        Value::Object(map) if !map.is_empty() => indent + 2,
        Value::Array(list) if !list.is_empty() => indent,
        _ => {
            out.push(' ');
            return line(out, value, indent + 2);
        }
    };
    out.push('\n');
    pad(out, below);
    node(out, value, below);
}

fn items(out: &mut String, list: &[Value], indent: usize) {
    for (position, value) in list.iter().enumerate() {
        if position > 0 {
            pad(out, indent);
        }
        out.push_str("- ");
        node(out, value, indent + 2);
    }
}

/// Writes a value that needs no lines of its own, and ends the line.
fn line(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(text) => out.push_str(&string(text, Some(indent))),
        _ => out.push_str(&value.to_string()),
    }
    out.push('\n');
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A string as YAML: plain, in quotes, or as a block whose lines start at column `block`, if blocks are allowed.
pub(super) fn string(text: &str, block: Option<usize>) -> String {
    match block {
        Some(indent) if is_block(text) => literal(text, indent),
        _ if text.chars().any(needs_escape) => escaped(text),
        _ if is_ambiguous(text) => escaped(text),
        _ if is_plain(text) => text.to_owned(),
        _ => format!("'{}'", text.replace('\'', "''")),
    }
}

/// True if some reader of YAML 1.1 or 1.2 would take the bare word for something else than a string.
fn is_ambiguous(text: &str) -> bool {
    const OF_NUMBERS_AND_TIMES: &str = "0123456789abcdefABCDEFxXoO+-._:TtZz ";
    let like_a_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
        && text.chars().any(|c| c.is_ascii_digit())
        && text.chars().all(|c| OF_NUMBERS_AND_TIMES.contains(c));
    like_a_number || matches!(text, "=" | "<<") || !matches!(scalar::plain(text), Ok(Value::String(_)))
}

/// True if no character of the word means anything to YAML where it stands.
fn is_plain(text: &str) -> bool {
    let starts_well = text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '.' | '$' | '(' | '+'))
        || (text.starts_with('-') && text[1..].starts_with(|c: char| c.is_alphanumeric() || c == '-'));
    starts_well
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
}

/// True for what cannot stand in a file as it is: line ends, control characters, and what YAML 1.1 takes for such.
fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A double-quoted string.
fn escaped(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ if needs_escape(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// True if the lines can stand below `|` as they are: nothing to escape, and nothing blank that could get lost.
fn is_block(text: &str) -> bool {
    let body = text.trim_end_matches('\n');
    text.contains('\n')
        && !body.is_empty()
        && !body.starts_with(['\n', ' '])
        && body.split('\n').all(|line| line.is_empty() || !line.trim().is_empty() && !line.starts_with('\t'))
        && !body.chars().any(|c| !matches!(c, '\n' | '\t') && needs_escape(c))
}

/// A literal block; `-` and `+` tell how many line ends the text has.
fn literal(text: &str, indent: usize) -> String {
    let body = text.trim_end_matches('\n');
    let ends = text.len() - body.len();
    let mut out = String::from(match ends {
        0 => "|-",
        1 => "|",
        _ => "|+",
    });
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            pad(&mut out, indent);
            out.push_str(line);
        }
    }
    out.extend(std::iter::repeat_n('\n', ends.saturating_sub(1)));
    out
}

#[cfg(test)]
mod tests;
