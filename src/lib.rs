//! From an AsyncActor claim to its resources.
//!
//! ```text
//! RunFunctionRequest ─decode→ (Envelope, Inputs) ─gather→ Layers ─resolve→ Resolved { spec, origins }
//!     ─bind→ Binding ─plan→ Resources ─summarise→ Composition ─encode→ RunFunctionResponse
//! ```

pub mod cli;
pub mod path;
pub mod problem;
