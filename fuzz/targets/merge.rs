//! An actor, its flavors and the settings as JSON: what they are merged to.
#![no_main]

use function_asya_fuzz::{merge, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|bytes: &[u8]| merge::check(bytes));
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| { mutate::json(data, size, most, seed) });
