//! Durations as Go writes them, and quantities as Kubernetes does.
#![no_main]

use function_asya_fuzz::amount;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| amount::check(bytes));
