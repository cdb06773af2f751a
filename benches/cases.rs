//! The cases that are counted and timed within the process, bytes in to bytes out.

use std::cell::Cell;
use std::hint::black_box;

use bytes::Bytes;
use function_asya::serve::{Settings, run};
use function_asya::wire::proto::v1;
use prost::Message as _;

use crate::corpus::Life;
use crate::wire;

/// Requests, with what answers them.
pub struct Case {
    /// How tables call it.
    pub name: String,
    /// The encoded requests, which take turns.
    pub requests: Vec<Bytes>,
    turn: Cell<usize>,
    answerer: Answerer,
}

enum Answerer {
    Ours,
    Tree(Box<wire::v1::RunFunctionResponse>),
}

impl Case {
    /// Our function.
    pub fn ours(name: impl Into<String>, life: Life) -> Self {
        Self::in_turn(name, &[life])
    }

    /// Our function, given these in turn.
    pub fn in_turn(name: impl Into<String>, lives: &[Life]) -> Self {
        let requests = lives.iter().map(|life| life.bytes().into()).collect();
        Self { name: name.into(), requests, turn: Cell::new(0), answerer: Answerer::Ours }
    }

    /// A server of trees, whose prepared answer is the one that ours gives.
    pub fn tree(name: impl Into<String>, life: Life) -> Self {
        let ours = Self::ours(name, life);
        let answer = wire::v1::RunFunctionResponse::decode(&*ours.answer()).expect("what we encode can be decoded");
        Self { answerer: Answerer::Tree(Box::new(answer)), ..ours }
    }

    /// Answers the next request.
    pub fn answer(&self) -> Vec<u8> {
        let request = self.requests[self.turn.get()].clone();
        self.turn.set((self.turn.get() + 1) % self.requests.len());
        match &self.answerer {
            Answerer::Ours => ours(request),
            Answerer::Tree(prepared) => {
                black_box(wire::v1::RunFunctionRequest::decode(request).expect("a request"));
                prepared.encode_to_vec()
            }
        }
    }
}

/// As `serve` has them without flags.
const SETTINGS: Settings = Settings { max_request: 32 * 1024 * 1024, ttl: None };

fn ours(request: Bytes) -> Vec<u8> {
    let request = v1::RunFunctionRequest::decode(request).expect("a request");
    run(request, &SETTINGS).expect("an answer").encode_to_vec()
}

/// The whole call and its parts as a reconcile has them, for ours and for trees.
pub fn usual() -> Vec<Case> {
    vec![
        Case::ours("ask", Life::ASKING),
        Case::ours("answer", Life::USUAL),
        Case::in_turn("answer, edited", &Life::EDITS),
        Case::ours("answer, new actor", Life::NEW),
        Case::ours("answer, no managedFields", Life { managed_fields: false, ..Life::USUAL }),
        Case::ours("answer, no flavors", Life { flavors: 0, ..Life::USUAL }),
        Case::tree("tree", Life::USUAL),
    ]
}
