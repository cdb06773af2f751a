//! A file of YAML or JSON, as the command line reads it.
#![no_main]

use function_asya_fuzz::yaml;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| yaml::check(bytes));
