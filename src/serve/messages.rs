//! Counts gRPC messages in a body as it goes by: each is five bytes of head, then as many as the head says.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// Sees what goes by.
pub(super) trait Watcher: Unpin + Send + 'static {
    /// A message begins.
    fn message(&mut self);
    /// The body ends with these trailers.
    fn trailers(&mut self, _: &http::HeaderMap) {}
}

/// A body that is watched.
pub(super) struct Watched<B, W> {
    inner: B,
    watcher: W,
    heads: Heads,
}

impl<B, W> Watched<B, W> {
    pub(super) fn new(inner: B, watcher: W) -> Self {
        Self { inner, watcher, heads: Heads::default() }
    }
}

impl<B: Body<Data = Bytes> + Unpin, W: Watcher> Body for Watched<B, W> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.inner).poll_frame(cx));
        if let Some(Ok(frame)) = &frame {
            if let Some(data) = frame.data_ref() {
                this.heads.pass(data, || this.watcher.message());
            } else if let Some(trailers) = frame.trailers_ref() {
                this.watcher.trailers(trailers);
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Finds the heads of messages in pieces of any size.
#[derive(Default)]
struct Heads {
    head: [u8; 5],
    read: usize,
    skip: usize,
}

impl Heads {
    fn pass(&mut self, mut data: &[u8], mut message: impl FnMut()) {
        while !data.is_empty() {
            if self.skip > 0 {
                let skipped = self.skip.min(data.len());
                self.skip -= skipped;
                data = &data[skipped..];
                continue;
            }
            self.head[self.read] = data[0];
            self.read += 1;
            data = &data[1..];
            if self.read == self.head.len() {
                let [_, a, b, c, d] = self.head;
                self.skip = u32::from_be_bytes([a, b, c, d]) as usize;
                self.read = 0;
                message();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_however_the_bytes_are_cut() {
        let body = [0, 0, 0, 0, 3, 9, 9, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 9];
        for piece in 1..=body.len() {
            let (mut heads, mut seen) = (Heads::default(), 0);
            body.chunks(piece).for_each(|piece| heads.pass(piece, || seen += 1));
            assert_eq!(seen, 3, "in pieces of {piece}");
        }
    }
}
