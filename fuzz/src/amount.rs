//! Amounts are numbers: they add up, and write in more than one way.

use std::time::Duration;

use function_asya::go::{duration, quantity};

/// Reads `bytes` as a duration and as a quantity.
///
/// # Panics
/// If two ways to write an amount are read as two amounts.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    durations(text);
    quantities(text);
}

fn durations(text: &str) {
    let Some(read) = duration(text) else { return };
    assert!(i64::try_from(read.as_nanos()).is_ok(), "Go holds no more");
    assert_eq!(duration(&format!("{}ns", read.as_nanos())), Some(read));
    if !text.starts_with('+') {
        assert_eq!(duration(&format!("+{text}")), Some(read));
        if text != "0" {
            let whole = Some(Duration::from_secs(3600)).and_then(|hour| read.checked_add(hour));
            let whole = whole.filter(|sum| i64::try_from(sum.as_nanos()).is_ok());
            assert_eq!(duration(&format!("{text}1h")), whole);
            assert_eq!(duration(&format!("60m{text}")), whole);
        }
    }
    assert_eq!(duration(&format!("-{text}")), None);
}

fn quantities(text: &str) {
    let Some(read) = quantity(text) else { return };
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let signed = if text.starts_with('-') { [-read, read] } else { [read, -read] };
    assert_eq!([quantity(bare), quantity(&format!("-{bare}"))], signed.map(Some));
    // Far beyond what Kubernetes can hold, which is 2^63, there may be no other way to write it.
    if read.unsigned_abs() > 1 << 90 {
        return;
    }
    assert_eq!(quantity(&format!("{read}n")), Some(read), "in billionths");
    if bare.bytes().all(|byte| byte.is_ascii_digit()) {
        for suffix in ["k", "e3", "E3", "000"] {
            assert_eq!(quantity(&format!("{text}{suffix}")), Some(read * 1000));
        }
        assert_eq!(quantity(&format!("{text}000m")), Some(read));
        assert_eq!(quantity(&format!("{text}.0")), Some(read));
    }
}
