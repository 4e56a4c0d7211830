//! Transport of a connection: how its frames come in and go out. A connection over a socket and one over a WebSocket differ in
//! this alone.

use super::frame::{FrameReader, LinkFrame, ReadError};
use std::io;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

/// Frames that come in.
pub(super) trait FrameSource: Send {
    /// The next frame; `None` at the end.
    fn frame(&mut self) -> impl Future<Output = Result<Option<LinkFrame>, ReadError>> + Send;

    /// The client proved who it is: frames may be this long from now on.
    fn allow(&mut self, longest: usize);
}

/// Frames that go out.
pub(super) trait FrameSink: Send + 'static {
    /// Sends whole frames, each with a line end behind it.
    fn send(&mut self, lines: &[u8]) -> impl Future<Output = io::Result<()>> + Send;

    /// Says that nothing follows.
    fn close(&mut self) -> impl Future<Output = ()> + Send;
}

impl<R: AsyncRead + Unpin + Send> FrameSource for FrameReader<R> {
    fn frame(&mut self) -> impl Future<Output = Result<Option<LinkFrame>, ReadError>> + Send {
        FrameReader::frame(self)
    }

    fn allow(&mut self, longest: usize) {
        FrameReader::allow(self, longest);
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> FrameSink for W {
    async fn send(&mut self, lines: &[u8]) -> io::Result<()> {
        self.write_all(lines).await
    }

    async fn close(&mut self) {}
}
