//! Addresses as Go writes them, and the sockets they make.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use tokio::net::TcpListener;

/// Which of the internet's two families to listen on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Network {
    /// Both
    #[default]
    Tcp,
    /// IPv4 alone
    Tcp4,
    /// IPv6 alone
    Tcp6,
}

/// Connections that the kernel holds until they are accepted.
const BACKLOG: i32 = 1024;

/// Listens on `HOST:PORT`; an empty host is every interface.
///
/// # Errors
/// If it is no address, or cannot be had.
pub fn listen(address: &str, network: Network) -> io::Result<TcpListener> {
    let (host, port) = address.rsplit_once(':').ok_or(io::ErrorKind::InvalidInput)?;
    let port: u16 = port.parse().map_err(|_| io::ErrorKind::InvalidInput)?;
    if host.is_empty() {
        return everywhere(port, network);
    }
    let found = lookup(host.trim_matches(['[', ']']), port)?.into_iter().filter(|address| match network {
        Network::Tcp => true,
        Network::Tcp4 => address.is_ipv4(),
        Network::Tcp6 => address.is_ipv6(),
    });
    // Like Go, IPv4 first when a name means both.
    let address = found.min_by_key(SocketAddr::is_ipv6).ok_or(io::ErrorKind::AddrNotAvailable)?;
    bind(address, address.is_ipv6())
}

/// The addresses of a host. Everybody knows localhost's, even an image that holds nothing but this binary.
fn lookup(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    match host {
        "localhost" => Ok(vec![(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()]),
        host => Ok((host, port).to_socket_addrs()?.collect()),
    }
}

fn everywhere(port: u16, network: Network) -> io::Result<TcpListener> {
    let (v4, v6) = (SocketAddr::from(([0; 4], port)), SocketAddr::from(([0u16; 8], port)));
    match network {
        Network::Tcp4 => bind(v4, false),
        Network::Tcp6 => bind(v6, true),
        // A node without IPv6 says so when the socket is made or bound; a taken port is taken either way.
        Network::Tcp => bind(v6, false).or_else(|error| match error.kind() {
            io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied => Err(error),
            _ => bind(v4, false),
        }),
    }
}

fn bind(address: SocketAddr, only_v6: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(only_v6)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}
