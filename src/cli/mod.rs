//! The command line: the only place that knows disk, stdout and YAML text.

pub mod files;
pub mod print;
