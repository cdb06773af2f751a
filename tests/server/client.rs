//! Clients: Crossplane's, and those that are not quite.

use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use function_asya::wire::proto::v1::{RunFunctionRequest, RunFunctionResponse};
use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tonic::codegen::Service;
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status};

use crate::authority::{Authority, CLIENT_KEY, Leaf, private_key};

pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// How a client meets the server.
#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
}

pub const BOTH: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];

/// A client's TLS with a certificate from `issuer`, which trusts `root`.
pub fn tls(
    root: &Authority,
    leaf: Option<(&Authority, Leaf)>,
    versions: &[&'static SupportedProtocolVersion],
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(root.pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
    let config = config.with_root_certificates(roots);
    let mut config = match leaf {
        None => config.with_no_client_auth(),
        Some((issuer, leaf)) => {
            let chain = vec![CertificateDer::from_pem_slice(issuer.leaf(leaf, CLIENT_KEY).as_bytes()).unwrap()];
            config.with_client_auth_cert(chain, private_key(CLIENT_KEY)).unwrap()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Arc::new(config)
}

impl Client {
    pub fn plain(address: SocketAddr) -> Self {
        Self { address, tls: None }
    }

    pub fn with(address: SocketAddr, tls: Arc<ClientConfig>) -> Self {
        Self { address, tls: Some(tls) }
    }

    /// Crossplane itself.
    pub fn crossplane(address: SocketAddr) -> Self {
        let ours = Authority::ours();
        Self::with(address, tls(&ours, Some((&ours, Leaf::Client)), BOTH))
    }

    /// A channel that connects when it must.
    pub fn channel(&self) -> Channel {
        Endpoint::from_static("http://function-asya.crossplane-system:9443").connect_with_connector_lazy(self.clone())
    }

    pub async fn connect(&self) -> std::io::Result<Box<dyn Stream>> {
        let tcp = TcpStream::connect(self.address).await?;
        tcp.set_nodelay(true)?;
        let Some(tls) = &self.tls else { return Ok(Box::new(tcp)) };
        let name = ServerName::try_from("function-asya.crossplane-system").unwrap();
        Ok(Box::new(TlsConnector::from(Arc::clone(tls)).connect(name, tcp).await?))
    }

    /// One call on a connection of its own.
    pub async fn call(&self, request: RunFunctionRequest) -> Result<RunFunctionResponse, Status> {
        call(self.channel(), request).await
    }
}

impl Service<http::Uri> for Client {
    type Response = TokioIo<Box<dyn Stream>>;
    type Error = std::io::Error;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), std::io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let client = self.clone();
        Box::pin(async move { client.connect().await.map(TokioIo::new) })
    }
}

pub const V1: &str = "/apiextensions.fn.proto.v1.FunctionRunnerService/RunFunction";
pub const V1BETA1: &str = "/apiextensions.fn.proto.v1beta1.FunctionRunnerService/RunFunction";

/// RunFunction as any message, at any path.
pub async fn unary<Q, A>(channel: Channel, path: &'static str, request: Q) -> Result<A, Status>
where
    Q: prost::Message + Send + Sync + 'static,
    A: prost::Message + Default + Send + Sync + 'static,
{
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await.map_err(|error| Status::unavailable(format!("{error:?}")))?;
    let codec = tonic_prost::ProstCodec::<Q, A>::default();
    let answer = client.unary(tonic::Request::new(request), PathAndQuery::from_static(path), codec).await;
    answer.map(Response::into_inner)
}

pub async fn call(channel: Channel, request: RunFunctionRequest) -> Result<RunFunctionResponse, Status> {
    unary(channel, V1, request).await
}
