//! How long a client waits, by the header `grpc-timeout`.

use std::time::Duration;

use http::HeaderMap;

/// Reads the header: at most eight digits and a unit. What cannot be read counts as absent.
pub(super) fn of(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let amount: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(amount * 3600),
        "M" => Duration::from_secs(amount * 60),
        "S" => Duration::from_secs(amount),
        "m" => Duration::from_millis(amount),
        "u" => Duration::from_micros(amount),
        "n" => Duration::from_nanos(amount),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read_and_nothing_else() {
        let read = |text: &str| of(&HeaderMap::from_iter([("grpc-timeout".parse().unwrap(), text.parse().unwrap())]));
        for (text, expected) in [("1H", 3_600_000), ("2M", 120_000), ("10S", 10_000), ("99999999m", 99_999_999)] {
            assert_eq!(read(text), Some(Duration::from_millis(expected)), "{text}");
        }
        assert_eq!(read("5u"), Some(Duration::from_micros(5)));
        assert_eq!(read("0n"), Some(Duration::ZERO));
        for text in ["", "S", "1", "-1S", "+1S", "123456789S", "1.5S", "1h", "1é"] {
            assert_eq!(http::HeaderValue::from_str(text).ok().and_then(|_| read(text)), None, "{text}");
        }
    }
}
