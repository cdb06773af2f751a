//! Bytes of a RunFunctionRequest, as a client may send them.
#![no_main]

use function_asya_fuzz::{mutate, request};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|bytes: &[u8]| request::check(bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| { mutate::request(data, size, most, seed) });
