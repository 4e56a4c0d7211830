//! WebSocket: each message is a frame, as a line of the socket is.

use super::guard::{Caller, Guarding};
use super::problem::Problem;
use crate::gateway::connection::{self, Door};
use crate::gateway::frame::{self, LONGEST_FIRST, LinkFrame, ReadError};
use crate::gateway::transport::{FrameSink, FrameSource};
use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures_util::SinkExt;
use futures_util::stream::{SplitSink, SplitStream, StreamExt};
use std::io;
use std::sync::Arc;

/// Bytes of a message at most.
const LONGEST_MESSAGE: usize = 1 << 20;

/// `GET /v1/socket`
pub(super) async fn upgrade(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|error| Problem::invalid(format!("A WebSocket begins here: {error}.")))?;
    let upgrade = upgrade.max_message_size(LONGEST_MESSAGE).max_frame_size(LONGEST_MESSAGE);
    Ok(upgrade.on_upgrade(async move |socket| {
        // Its place among the connections is held to the end.
        let Caller { address, grant, peer } = caller;
        let (sink, source) = socket.split();
        let (source, sink) =
            (SocketSource { socket: source, longest: LONGEST_FIRST, greeted: false }, SocketSink(sink));
        connection::serve(&guarding.gateway, Door::Network { address, grant }, source, sink).await;
        drop(peer);
    }))
}

struct SocketSource {
    socket: SplitStream<WebSocket>,
    longest: usize,
    greeted: bool,
}

impl FrameSource for SocketSource {
    async fn frame(&mut self) -> Result<Option<LinkFrame>, ReadError> {
        loop {
            let message = match self.socket.next().await {
                Some(Ok(message)) => message,
                None => return Ok(None),
                // A message that is too long ends the connection as well.
                Some(Err(error)) => return Err(io::Error::other(error).into()),
            };
            let bytes = match &message {
                Message::Text(text) => text.as_bytes(),
                Message::Binary(bytes) => bytes.as_ref(),
                // Signs of life of the WebSocket itself count as such; before the handshake nothing does.
                Message::Ping(_) | Message::Pong(_) if self.greeted => {
                    let event = "ping".to_owned();
                    return Ok(Some(LinkFrame::Event { event, payload: frame::null(), seq: None }));
                }
                Message::Ping(_) | Message::Pong(_) => continue,
                Message::Close(_) => return Ok(None),
            };
            if bytes.len() > self.longest {
                return Err(ReadError::TooLong(self.longest));
            }
            return frame::parse(bytes).map(Some);
        }
    }

    fn allow(&mut self, longest: usize) {
        self.longest = longest.min(LONGEST_MESSAGE);
        self.greeted = true;
    }
}

struct SocketSink(SplitSink<WebSocket, Message>);

impl FrameSink for SocketSink {
    async fn send(&mut self, lines: &[u8]) -> io::Result<()> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let text = std::str::from_utf8(line).map_err(io::Error::other)?;
            self.0.feed(Message::Text(Utf8Bytes::from(text))).await.map_err(io::Error::other)?;
        }
        self.0.flush().await.map_err(io::Error::other)
    }

    async fn close(&mut self) {
        // The other side may be gone already.
        let _ = self.0.close().await;
    }
}
