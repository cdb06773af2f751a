//! Crossplane's protocol: code generated from the official files in `proto/` (see `tests/generated.rs`).

use std::fmt;

#[rustfmt::skip]
#[allow(missing_docs, rustdoc::all, clippy::all, reason = "generated code")]
pub mod v1;

/// The older package: its service, with the messages of [`v1`], so that one handler answers both.
#[rustfmt::skip]
#[allow(missing_docs, rustdoc::all, clippy::all, reason = "generated code")]
pub mod v1beta1;

/// The official files and all they import, as an encoded `FileDescriptorSet`: what gRPC reflection answers from.
pub const DESCRIPTORS: &[u8] = include_bytes!("proto/descriptors.bin");

/// Names what is there, never what it says: it is secret.
impl fmt::Debug for v1::CredentialData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.data.keys()).finish()
    }
}

/// Leaves out what the connection details say: it is secret.
impl fmt::Debug for v1::Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource")
            .field("resource", &self.resource)
            .field("connection_details", &self.connection_details.keys())
            .field("ready", &self.ready())
            .finish()
    }
}
