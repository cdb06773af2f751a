//! A connection that comes back from whoever it was lent to: hyper keeps what it serves, and drops it when it is done.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;

/// Lends `io` out; it is received when the loan is dropped.
pub(super) fn lend<IO>(io: IO) -> (Lent<IO>, oneshot::Receiver<IO>) {
    let (back, received) = oneshot::channel();
    (Lent(Some((io, back))), received)
}

/// A loan, until it is dropped.
pub(super) struct Lent<IO>(Option<(IO, oneshot::Sender<IO>)>);

impl<IO> Drop for Lent<IO> {
    fn drop(&mut self) {
        if let Some((io, back)) = self.0.take() {
            // Nobody waits for it: then it ends here.
            let _ = back.send(io);
        }
    }
}

impl<IO: Unpin> Lent<IO> {
    fn io(self: Pin<&mut Self>) -> Pin<&mut IO> {
        let (io, _) = self.get_mut().0.as_mut().expect("it is taken only when dropped");
        Pin::new(io)
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Lent<IO> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.io().poll_read(cx, buffer)
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Lent<IO> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.io().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io().poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.as_ref().is_some_and(|(io, _)| io.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io().poll_shutdown(cx)
    }
}
