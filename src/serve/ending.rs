//! Ends a stream that has no end of its own once its connection is asked to end, with a status that says so.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use hyper::body::{Body, Frame};
use tokio::sync::watch;
use tonic::Status;

/// Tells when a connection is asked to end.
pub(super) type Ends = watch::Receiver<bool>;

/// A body that ends with its connection.
pub(super) struct Ending {
    inner: tonic::body::Body,
    asked: Pin<Box<dyn Future<Output = ()> + Send>>,
    ended: bool,
}

impl Ending {
    pub(super) fn new(inner: tonic::body::Body, mut ends: Ends) -> Self {
        let asked = async move {
            // A connection that is gone has ended too.
            let _ = ends.wait_for(|ends| *ends).await;
        };
        Self { inner, asked: Box::pin(asked), ended: false }
    }
}

impl Body for Ending {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        // What there is to say comes first: a watcher must still hear that we stop serving.
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) {
            return Poll::Ready(frame);
        }
        ready!(this.asked.as_mut().poll(cx));
        this.ended = true;
        let mut trailers = HeaderMap::new();
        let end = Status::unavailable("the connection ends; connect again");
        Poll::Ready(Some(end.add_header(&mut trailers).map(|()| Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.inner.is_end_stream()
    }
}
