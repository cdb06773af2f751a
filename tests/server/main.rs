//! The server as Crossplane and the kubelet meet it: the binary, its sockets, its logs and its exit code.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod authority;
mod client;
mod process;
mod requests;

mod flags;
mod hostile;
mod lifecycle;
mod observed;
mod refusals;
mod rotation;
