//! `lint` as people run it: one folder a case, whose name is a sentence.

#[path = "common/commands.rs"]
mod commands;

#[test]
fn every_case_says_what_is_expected() {
    commands::check("lint");
}
