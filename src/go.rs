//! Go's and Kubernetes' ways of writing amounts: durations (`1m30s`) and quantities (`1.5Gi`).

use std::time::Duration;

/// Reads a Go duration as `time.ParseDuration` does; `None` if it is none, negative, or beyond what a `Duration` holds.
///
/// Units are `h`, `m`, `s`, `ms`, `us` (or `µs`) and `ns`; a bare `0` needs none.
pub fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut nanos: u128 = 0;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let unit = rest[number..].find(|c: char| c.is_ascii_digit() || c == '.').map_or(rest.len(), |at| number + at);
        nanos = nanos.checked_add(decimal(&rest[..number], unit_nanos(&rest[number..unit])?)?)?;
        rest = &rest[unit..];
    }
    // Go counts in a signed 64-bit number of nanoseconds.
    let nanos = u64::try_from(nanos).ok().filter(|nanos| *nanos > 0 || !text.is_empty())?;
    (i64::try_from(nanos).is_ok() && !text.is_empty() && text != "+").then(|| Duration::from_nanos(nanos))
}

fn unit_nanos(unit: &str) -> Option<u128> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `1.5` times `scale`, cut to a whole number.
fn decimal(number: &str, scale: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let mut value = if whole.is_empty() { 0 } else { whole.parse::<u128>().ok()? }.checked_mul(scale)?;
    let mut scale = scale;
    for digit in fraction.chars() {
        scale /= 10;
        value = value.checked_add(scale.checked_mul(u128::from(digit.to_digit(10)?))?)?;
    }
    Some(value)
}

/// Writes a duration as Go does, for whole seconds: `1m30s`, `2h0m0s`.
pub fn format_seconds(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// A Kubernetes quantity in billionths; `None` if the text is none, or beyond what fits.
pub fn quantity(text: &str) -> Option<i128> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let number = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let nanos = decimal(&text[..number], 1_000_000_000)?;
    let (times, by) = suffix(&text[number..])?;
    let value = nanos.checked_mul(times)? / by;
    i128::try_from(value).ok().map(|value| sign * value)
}

/// A quantity's suffix as a factor and a divisor.
fn suffix(suffix: &str) -> Option<(u128, u128)> {
    if let Some(exponent) = suffix.strip_prefix(['e', 'E']).filter(|digits| !digits.is_empty()) {
        let exponent: i32 = exponent.parse().ok().filter(|exponent| (-18..=18).contains(exponent))?;
        let power = 10u128.pow(exponent.unsigned_abs());
        return Some(if exponent < 0 { (1, power) } else { (power, 1) });
    }
    let binary = |power: u32| Some((1024u128.pow(power), 1));
    let metric = |power: u32| Some((1000u128.pow(power), 1));
    match suffix {
        "n" => Some((1, 1_000_000_000)),
        "u" => Some((1, 1_000_000)),
        "m" => Some((1, 1_000)),
        "" => Some((1, 1)),
        "k" => metric(1),
        "M" => metric(2),
        "G" => metric(3),
        "T" => metric(4),
        "P" => metric(5),
        "E" => metric(6),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        let rows = [
            ("1m30s", Some(90_000)),
            ("1.5h", Some(5_400_000)),
            ("300ms", Some(300)),
            (".5s", Some(500)),
            ("0", Some(0)),
            ("0s", Some(0)),
            ("", None),
            ("+", None),
            ("300", None),
            ("5 m", None),
            ("-1s", None),
            ("1d", None),
            ("1.2.3s", None),
            ("s", None),
            (".s", None),
            ("9999999999h", None),
        ];
        for (text, millis) in rows {
            assert_eq!(duration(text).map(|duration| duration.as_millis()), millis, "{text:?}");
        }
    }

    #[test]
    fn quantities_compare_by_value() {
        for (left, right) in
            [("1", "1000m"), ("1Gi", "1024Mi"), ("0.5", "500m"), ("1e3", "1k"), ("4", "4.0"), ("-1", "-1000m")]
        {
            assert_eq!(quantity(left), quantity(right), "{left} {right}");
            assert!(quantity(left).is_some());
        }
        for text in ["", "four", "1 Gi", "1GiB", "1e", "1e99", "."] {
            assert_eq!(quantity(text), None, "{text:?}");
        }
        assert_eq!(format_seconds(90), "1m30s");
    }
}
