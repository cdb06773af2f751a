//! What our calls are measured against: **tree** decodes a request as every SDK does, into a tree of maps, and encodes a
//! prepared answer. What it costs is what an SDK pays before it starts to think.
//!
//! A bench that uses this names it `wire`, since the generated code calls a Struct `crate::wire::RawStruct`.

pub use prost_types::Struct as RawStruct;

/// The official messages once more, with Structs as trees.
#[rustfmt::skip]
#[allow(missing_docs, unused, clippy::all, reason = "generated code")]
#[path = "../src/wire/proto/v1.rs"]
pub mod v1;

impl std::fmt::Debug for v1::CredentialData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CredentialData")
    }
}

impl std::fmt::Debug for v1::Resource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Resource")
    }
}
