//! Bounds what requests take in memory, all together: each says how long it is, and waits until there is room for it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The room there is, in units of [`UNIT`] bytes.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    room: Arc<Semaphore>,
    largest: usize,
}

const UNIT: usize = 4096;

impl Budget {
    /// Room for `total` bytes of requests, and for at least one of the `largest`.
    pub(super) fn new(total: usize, largest: usize) -> Self {
        let units = total.max(largest).div_ceil(UNIT).min(Semaphore::MAX_PERMITS);
        Self { room: Arc::new(Semaphore::new(units)), largest }
    }

    /// Room for one request. One that is too large will be refused unread, and takes next to none.
    fn take(&self, length: usize) -> Take {
        let length = if length > self.largest { 0 } else { length };
        let units = u32::try_from(length.div_ceil(UNIT).max(1)).unwrap_or(u32::MAX);
        Box::pin(Arc::clone(&self.room).acquire_many_owned(units))
    }
}

type Take = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, tokio::sync::AcquireError>> + Send>>;

/// A request's body that is read no further than its length until there is room for it.
pub(super) struct Budgeted<B> {
    inner: B,
    budget: Budget,
    state: State,
}

enum State {
    /// The head of the message is not complete; this much of it came.
    Head(Vec<u8>),
    /// There is no room yet for what these bytes begin.
    Waits(Take, Bytes),
    /// There is room until the body is dropped.
    Fits { _room: Option<OwnedSemaphorePermit> },
}

/// A flag and a length.
const HEAD: usize = 5;

impl<B> Budgeted<B> {
    pub(super) fn new(inner: B, budget: Budget) -> Self {
        Self { inner, budget, state: State::Head(Vec::new()) }
    }

    /// Looks at the first bytes; gives them back unless they must wait.
    fn begin(&mut self, data: Bytes) -> Option<Bytes> {
        let State::Head(head) = &mut self.state else { return Some(data) };
        head.extend(data.iter().take(HEAD - head.len()));
        let [_, a, b, c, d] = head[..] else { return Some(data) };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        self.state = State::Waits(self.budget.take(length), data);
        None
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Budgeted<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        loop {
            if let State::Waits(take, data) = &mut this.state {
                let room = ready!(take.as_mut().poll(cx)).ok();
                let data = std::mem::take(data);
                this.state = State::Fits { _room: room };
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            let frame = match ready!(Pin::new(&mut this.inner).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                end => return Poll::Ready(end),
            };
            match frame.into_data().map(|data| this.begin(data)) {
                Ok(Some(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Ok(None) => {}
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        !matches!(self.state, State::Waits(..)) && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Full};

    use super::*;

    fn body(length: u32, budget: &Budget) -> Budgeted<Full<Bytes>> {
        let whole = [&[0][..], &length.to_be_bytes(), &vec![7; length as usize]].concat();
        Budgeted::new(Full::new(Bytes::from(whole)), budget.clone())
    }

    #[tokio::test]
    async fn a_request_waits_for_room_and_one_that_is_too_large_does_not() {
        let budget = Budget::new(3 * UNIT, 2 * UNIT);
        let mut first = body(2 * UNIT as u32, &budget);
        first.frame().await.unwrap().unwrap();
        let mut second = body(2 * UNIT as u32, &budget);
        let mut waits = std::pin::pin!(second.frame());
        let now = std::future::poll_fn(|cx| Poll::Ready(waits.as_mut().poll(cx).is_ready()));
        assert!(!now.await, "there is no room");
        drop(first);
        let data = waits.await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(data.len(), HEAD + 2 * UNIT);
        let mut large = body(3 * UNIT as u32, &budget);
        assert!(large.frame().await.is_some(), "its refusal does not wait");
    }
}
