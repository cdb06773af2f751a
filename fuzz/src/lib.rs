//! What must hold whatever the input: one module for each fuzz target, each with a `check` that panics if it does not.
//!
//! `.ci/run fuzz` runs every target for a while, from seeds that `cargo run --example corpus` makes of the cases.

pub mod amount;
pub mod merge;
pub mod mutate;
#[path = "../../tests/common/oracle.rs"]
pub mod oracle;
pub mod request;
pub mod yaml;

/// Our reading of a Struct, with prost's own tree as the oracle.
pub mod object {
    /// # Panics
    /// If prost reads something else, or reads what we refuse.
    pub fn check(bytes: &[u8]) {
        if let Err(difference) = super::oracle::agree(bytes) {
            panic!("{difference}");
        }
    }
}
