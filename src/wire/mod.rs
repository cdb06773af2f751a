//! Protobuf on one side, domain types on the other.
//!
//! ```text
//! bytes ─prost→ proto::v1 messages, each Struct still bytes (RawStruct) ─read::from_struct→ any serde type
//! bytes ←prost─ proto::v1 messages, with RawStructs passed through or ←write::to_struct─ any serde type
//! ```
//!
//! Crossplane sends Kubernetes objects as `google.protobuf.Struct`, a tree of maps that costs far more to build than the
//! call needs. So a Struct stays the bytes it came in until somebody reads it; [`read`] and [`write`] are a serde format
//! over those bytes, which is to Struct what `serde_json` is to JSON.

mod container;
mod entries;
mod error;
mod fields;
pub mod proto;
mod raw_struct;
pub mod read;
mod value;
pub mod write;
mod writer;

pub use error::{ReadError, WireError, WriteError};
pub use raw_struct::RawStruct;
pub use read::from_struct;
pub use write::to_struct;

/// How deep objects and lists may nest in a Struct; the Struct itself is the first level.
///
/// Enough for any Kubernetes object (an OpenAPI schema reaches about 40) and little enough for a 2 MiB stack.
pub const MAX_DEPTH: usize = 512;
