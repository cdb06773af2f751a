//! Rules for one number or one string: bounds, lengths, patterns, listed values.

use std::fmt;

use regex_lite::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::Schema;

/// The first whole number that a double, and so many a JSON reader, cannot tell from its neighbour.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// A pattern a string must match somewhere, compiled when the schema is loaded.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Regex::new(&text).map(Self).map_err(|error| format!("the pattern `{text}` cannot be compiled: {error}"))
    }
}

impl Pattern {
    pub(super) fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// One end of the numbers that are allowed.
#[derive(Clone, Copy)]
pub(super) enum Bound {
    AtLeast(f64),
    MoreThan(f64),
    AtMost(f64),
    LessThan(f64),
}

impl Bound {
    pub(super) fn admits(self, number: f64) -> bool {
        match self {
            Self::AtLeast(bound) => number >= bound,
            Self::MoreThan(bound) => number > bound,
            Self::AtMost(bound) => number <= bound,
            Self::LessThan(bound) => number < bound,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(f, "at least {bound}"),
            Self::MoreThan(bound) => write!(f, "more than {bound}"),
            Self::AtMost(bound) => write!(f, "at most {bound}"),
            Self::LessThan(bound) => write!(f, "less than {bound}"),
        }
    }
}

impl Schema {
    /// Both ends of the numbers allowed here. `format: int64` needs none: whole numbers end at 2^53 anyway.
    pub(super) fn bounds(&self) -> impl Iterator<Item = Bound> {
        let int32 = self.format.as_deref() == Some("int32");
        let lower = self.minimum.or(int32.then_some(f64::from(i32::MIN)));
        let upper = self.maximum.or(int32.then_some(f64::from(i32::MAX)));
        let lower = lower.map(if self.exclusive_minimum { Bound::MoreThan } else { Bound::AtLeast });
        let upper = upper.map(if self.exclusive_maximum { Bound::LessThan } else { Bound::AtMost });
        lower.into_iter().chain(upper)
    }

    /// True if nothing is listed, or `value` is; a double counts as the whole number it is.
    pub(super) fn lists(&self, value: &Value) -> bool {
        let number = value.as_f64();
        let equals = |listed: &Value| listed == value || (number.is_some() && listed.as_f64() == number);
        self.values.is_empty() || self.values.iter().any(equals)
    }

    /// The listed values, as one writes them: `Always, IfNotPresent, Never`.
    pub(super) fn listed(&self) -> String {
        // A text without its quotes, unless it is empty and would not be seen.
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let written = self.values.iter().map(|value| text(value).unwrap_or_else(|| value.to_string()));
        written.collect::<Vec<_>>().join(", ")
    }
}

/// True if a double cannot be trusted to hold exactly this whole number.
pub(super) fn is_inexact(number: f64) -> bool {
    number.abs() >= INEXACT
}

/// What is wrong with `count` of some `unit`, such as `at least 1 character`.
pub(super) fn outside(count: usize, least: Option<usize>, most: Option<usize>, unit: [&str; 2]) -> Option<String> {
    let counted = |limit: usize| format!("{limit} {}", if limit == 1 { unit[0] } else { unit[1] });
    match (least, most) {
        (Some(least), _) if count < least => Some(format!("at least {}", counted(least))),
        (_, Some(most)) if count > most => Some(format!("at most {}", counted(most))),
        _ => None,
    }
}

/// The value as JSON, cut to what fits a message; a double that is a whole number looks like one.
pub(super) fn printed(value: &Value) -> String {
    const FITS: usize = 80;
    let text = match value.as_f64().filter(|_| !value.is_i64() && !value.is_u64()) {
        Some(double) => double.to_string(),
        None => value.to_string(),
    };
    match text.char_indices().nth(FITS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
