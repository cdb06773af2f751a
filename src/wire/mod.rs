//! Protobuf on one side, domain types on the other.
//!
//! ```text
//! bytes ─prost→ proto::v1 messages, each Struct still bytes (RawStruct) ─read::from_struct→ any serde type
//! bytes ←prost─ proto::v1 messages, with RawStructs passed through or ←write::to_struct─ any serde type
//! ```
//!
//! Crossplane sends Kubernetes objects as `google.protobuf.Struct`, a tree of maps that costs far more to build than the
//! call needs. So a Struct stays the bytes it came in until somebody reads it; [`read`] and [`mod@write`] are a serde format
//! over those bytes, which is to Struct what `serde_json` is to JSON. What is only compared, or of which only a few fields are
//! asked, is not even read that far: [`Encoded`] is a value where it stands, and [`At`] reads fields there, with their places.

mod at;
mod container;
mod encoded;
mod entries;
mod error;
mod fields;
pub mod proto;
mod raw_struct;
pub mod read;
pub mod request;
pub mod response;
mod shelf;
mod value;
pub mod write;
mod writer;

pub use at::{At, Fault, if_right};
pub(crate) use encoded::{ByKey, NoObject, Places};
pub use encoded::{Encoded, Items};
pub use error::{ReadError, WireError, WriteError};
pub use raw_struct::RawStruct;
pub use read::from_struct;
pub use write::to_struct;

/// How deep objects and lists may nest in a Struct; the Struct itself is the first level.
///
/// Enough for any Kubernetes object (the deepest CRD we know has 35), and at most half of a 2 MiB stack in a debug build,
/// whatever serde buffers on the way.
pub const MAX_DEPTH: usize = 256;

/// How deep what we write may nest: whatever was read fits, a few levels further down in a resource of ours.
pub const MAX_WRITTEN_DEPTH: usize = MAX_DEPTH + 64;
