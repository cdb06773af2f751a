//! Bytes of a `google.protobuf.Struct`, read by us and by prost.
#![no_main]

use function_asya_fuzz::object;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| object::check(bytes));
