//! The baseline servers: our connection settings, our TLS, our way with memory, tonic's own unary call, and none of our logic.

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use clap::ValueEnum;
use function_asya::serve::{Certificates, Identity, Limits, keep_freed};
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use prost::Message as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::{BoxFuture, Service};
use tonic::server::Grpc;

use crate::raw::Raw;
use crate::wire::v1::{RunFunctionRequest, RunFunctionResponse};

/// A server that does less than ours.
#[derive(clap::Args)]
pub struct Serve {
    /// How much less
    #[arg(long, value_enum)]
    kind: Kind,
    /// The encoded answer to every call
    #[arg(long)]
    answer: PathBuf,
    /// The folder of certificates; plaintext without
    #[arg(long)]
    tls_certs_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Raw,
    Tree,
}

/// As `serve` has it without flags.
const LARGEST: usize = 32 * 1024 * 1024;

impl Serve {
    /// Serves until it is killed.
    pub fn run(&self) {
        keep_freed();
        let answer = fs::read(&self.answer).expect("the prepared answer");
        let prepared = match self.kind {
            Kind::Raw => Prepared::Raw(answer.into()),
            Kind::Tree => Prepared::Tree(Arc::new(RunFunctionResponse::decode(&*answer).expect("an answer"))),
        };
        let certificates = self.tls_certs_dir.as_ref().map(|folder| Certificates::read(folder).expect("certificates"));
        let identity = certificates.as_ref().map(Certificates::identity);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        runtime.block_on(serve(prepared, identity));
    }
}

async fn serve(prepared: Prepared, identity: Option<Identity>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    eprintln!("{}", serde_json::json!({"msg": "Serving", "address": address}));
    loop {
        let (tcp, _) = listener.accept().await.expect("a connection");
        tokio::spawn(admit(tcp, prepared.clone(), identity.clone()));
    }
}

async fn admit(tcp: TcpStream, prepared: Prepared, identity: Option<Identity>) {
    tcp.set_nodelay(true).expect("a socket");
    match identity {
        Some(identity) => match identity.acceptor().accept(tcp).await {
            Ok(tls) => speak(tls, prepared).await,
            Err(error) => eprintln!("{error}"),
        },
        None => speak(tcp, prepared).await,
    }
}

/// One connection, with the settings of `src/serve/connection.rs`.
async fn speak<IO: AsyncRead + AsyncWrite + Unpin + Send + 'static>(io: IO, prepared: Prepared) {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(Limits::default().streams)
        .max_header_list_size(Limits::HEADERS)
        .initial_stream_window_size(Limits::STREAM_WINDOW)
        .initial_connection_window_size(Limits::CONNECTION_WINDOW)
        .keep_alive_interval(Limits::KEEPALIVE)
        .keep_alive_timeout(Limits::KEEPALIVE_ANSWER);
    let service = service_fn(move |call| {
        let prepared = prepared.clone();
        async move { Ok::<_, Infallible>(prepared.answer(call).await) }
    });
    // The client goes when it is done, and that may look like an error.
    let _ = builder.serve_connection(TokioIo::new(io), service).await;
}

/// What every call is answered.
#[derive(Clone)]
enum Prepared {
    Raw(Bytes),
    Tree(Arc<RunFunctionResponse>),
}

impl Prepared {
    async fn answer(self, call: Request<Incoming>) -> Response<Body> {
        match self {
            Self::Raw(answer) => Grpc::new(Raw).max_decoding_message_size(LARGEST).unary(Always(answer), call).await,
            Self::Tree(answer) => Grpc::new(Tree).max_decoding_message_size(LARGEST).unary(Always(answer), call).await,
        }
    }
}

/// The service that says one thing.
struct Always<T>(T);

impl<Q, A: Clone + Send + 'static> Service<tonic::Request<Q>> for Always<A> {
    type Response = tonic::Response<A>;
    type Error = Status;
    type Future = BoxFuture<Self::Response, Status>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Status>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: tonic::Request<Q>) -> Self::Future {
        drop(request);
        let answer = self.0.clone();
        Box::pin(async move { Ok(tonic::Response::new(answer)) })
    }
}

/// Trees of maps, both ways; the answer is shared, so that nobody pays for copying it.
struct Tree;

impl Codec for Tree {
    type Encode = Arc<RunFunctionResponse>;
    type Decode = RunFunctionRequest;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Tree {
    type Item = Arc<RunFunctionResponse>;
    type Error = Status;

    fn encode(&mut self, answer: Arc<RunFunctionResponse>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        answer.encode(to).map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for Tree {
    type Item = RunFunctionRequest;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<RunFunctionRequest>, Status> {
        RunFunctionRequest::decode(from).map(Some).map_err(|error| Status::internal(error.to_string()))
    }
}
