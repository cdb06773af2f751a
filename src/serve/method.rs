//! The methods that are served, and the codes they end with, as the Go ecosystem's metrics name them.

use prometheus_client::encoding::EncodeLabelSet;
use tonic::Code;

/// One method, as metrics label it.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
pub struct Method {
    /// `unary`, `server_stream` or `bidi_stream`.
    pub grpc_type: &'static str,
    /// The service's full name.
    pub grpc_service: &'static str,
    /// The method's name.
    pub grpc_method: &'static str,
}

const fn method(grpc_type: &'static str, grpc_service: &'static str, grpc_method: &'static str) -> Method {
    Method { grpc_type, grpc_service, grpc_method }
}

/// Every method that is served.
pub(super) const METHODS: &[Method] = &[
    method("unary", "apiextensions.fn.proto.v1.FunctionRunnerService", "RunFunction"),
    method("unary", "apiextensions.fn.proto.v1beta1.FunctionRunnerService", "RunFunction"),
    method("unary", "grpc.health.v1.Health", "Check"),
    method("server_stream", "grpc.health.v1.Health", "Watch"),
    method("bidi_stream", "grpc.reflection.v1.ServerReflection", "ServerReflectionInfo"),
    method("bidi_stream", "grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo"),
];

impl Method {
    /// The method at a path `/service/method`.
    pub(super) fn at(path: &str) -> Option<&'static Self> {
        let (service, method) = path.strip_prefix('/')?.split_once('/')?;
        METHODS.iter().find(|known| known.grpc_service == service && known.grpc_method == method)
    }

    /// True if it may last as long as the client likes.
    pub(super) fn streams(&self) -> bool {
        self.grpc_type != "unary"
    }
}

/// A code in Go's spelling.
pub(super) fn code(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "Canceled",
        Code::Unknown => "Unknown",
        Code::InvalidArgument => "InvalidArgument",
        Code::DeadlineExceeded => "DeadlineExceeded",
        Code::NotFound => "NotFound",
        Code::AlreadyExists => "AlreadyExists",
        Code::PermissionDenied => "PermissionDenied",
        Code::ResourceExhausted => "ResourceExhausted",
        Code::FailedPrecondition => "FailedPrecondition",
        Code::Aborted => "Aborted",
        Code::OutOfRange => "OutOfRange",
        Code::Unimplemented => "Unimplemented",
        Code::Internal => "Internal",
        Code::Unavailable => "Unavailable",
        Code::DataLoss => "DataLoss",
        Code::Unauthenticated => "Unauthenticated",
    }
}
