//! Server reflection, so that `grpcurl` can list, describe and call without the proto files.

use tonic_reflection::pb;
use tonic_reflection::server::{Builder, v1, v1alpha};

use crate::wire::proto::DESCRIPTORS;

fn builder() -> Builder<'static> {
    Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        // Each protocol tells of the other one too.
        .register_encoded_file_descriptor_set(pb::v1::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(pb::v1alpha::FILE_DESCRIPTOR_SET)
        .include_reflection_service(false)
}

/// The protocol as it is today.
pub(super) fn v1() -> v1::ServerReflectionServer<impl v1::ServerReflection> {
    builder().build_v1().expect("the descriptors are built in, and a test reads them")
}

/// The protocol that older tools speak.
pub(super) fn v1alpha() -> v1alpha::ServerReflectionServer<impl v1alpha::ServerReflection> {
    builder().build_v1alpha().expect("the descriptors are built in, and a test reads them")
}
