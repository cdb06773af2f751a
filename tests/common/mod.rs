//! What several test binaries share.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod case;
pub mod crds;
pub mod crossplane;
pub mod expected;
pub mod fields;
pub mod play;
pub mod report;
pub mod server;
pub mod trees;
