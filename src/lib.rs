//! From an AsyncActor claim to its resources.
//!
//! ```text
//! RunFunctionRequest ─decode→ (Envelope, Inputs) ─gather→ Layers ─resolve→ Resolved { spec, origins }
//!     ─design→ Design ─plan→ Plans ─summarise→ Composition ─encode→ RunFunctionResponse
//! ```
//!
//! Steps are plain functions from one named type to the next, and [`pipeline::compose`] is all of them. The core knows
//! no clock, disk, network or environment: same inputs, same answer. Every command is a prefix of the picture, or all
//! of it from files instead of a request.
//!
//! | module | what it is |
//! |---|---|
//! | [`pipeline`] | the steps in order |
//! | [`resolve`] | layers, the merge with its tables, the rules on what comes out |
//! | [`design`] | what is wanted of an actor, as its words decide it, and the designs that are known |
//! | [`lint`] | one file a rule: what is wrong with files that one call cannot see |
//! | [`status`] | phase, conditions and readiness |
//! | [`resources`] | one file a resource: how to build it, and when it is ready |
//! | [`transport`] | one file a broker: what it contributes |
//! | [`wire`] | protobuf to and from the nouns, once each way |
//! | [`api`] | the few fields we read of other people's resources |
//! | [`inputs`], [`composed`], [`spec`], [`platform`], [`identity`], [`problem`], [`path`] | the nouns |
//! | [`schema`], [`tree`], [`go`], [`names`] | structural schemas, JSON trees, Go's durations and quantities, Kubernetes' names |
//! | [`memory`] | what was worked out before, within bounds |
//! | [`node`], [`unread`], [`words`] | values that we emit, cheap to build; values that came, read only where somebody asks |

pub mod api;
pub mod cli;
pub mod composed;
pub mod design;
pub mod go;
pub mod identity;
pub mod inputs;
pub mod lint;
pub mod memory;
pub mod names;
pub mod node;
mod parallel;
pub mod path;
pub mod pipeline;
pub mod platform;
pub mod problem;
pub mod resolve;
pub mod resources;
pub mod schema;
pub mod serve;
pub mod spec;
pub mod status;
pub mod transport;
pub mod tree;
pub mod unread;
pub mod wire;
pub mod words;
