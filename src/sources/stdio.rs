//! Transport of a program: the crate's own over its pipes, with lines of bounded length.

use rmcp::RoleClient;
use rmcp::model::{ClientRequest, JsonRpcMessage, NumberOrString};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;

/// Bytes of one message.
const LONGEST: usize = 16 << 20;

/// Reason why lisle ended a connection, where it did.
pub(super) type CutOff = Arc<OnceLock<String>>;

/// Transport over a program's standard output and input. A message that is too long ends it: whoever waits for an answer that
/// was dropped would wait for ever.
pub(super) fn transport(
    output: pipe::Receiver,
    input: pipe::Sender,
) -> (Careful<AsyncRwTransport<RoleClient, LineLimit, pipe::Sender>>, CutOff) {
    let cut = CutOff::default();
    let limited = LineLimit { from: output, open: 0, cut: Arc::clone(&cut) };
    let transport = AsyncRwTransport::new_client(limited, input).with_max_line_length(usize::MAX);
    (Careful::new(transport), cut)
}

/// Reader that fails in a line that is too long.
pub(super) struct LineLimit {
    from: pipe::Receiver,
    /// Bytes since the last line end.
    open: usize,
    cut: CutOff,
}

impl AsyncRead for LineLimit {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.from).poll_read(cx, buf))?;
        let new = buf.filled().get(before..).unwrap_or_default();
        self.open = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => new.len() - at - 1,
            None => self.open.saturating_add(new.len()),
        };
        if self.open <= LONGEST {
            return Poll::Ready(Ok(()));
        }
        let why = format!("it sent a message of more than {} MB", LONGEST >> 20);
        // The first reason stays.
        let _ = self.cut.set(why.clone());
        Poll::Ready(Err(io::Error::other(why)))
    }
}

/// Transport that passes over answers to what is asked no more. A handshake that was tried and given up may be answered late,
/// and the next one takes that for its own answer and fails.
pub(super) struct Careful<T> {
    inner: T,
    /// Number of the request that begins a session.
    began: Option<i64>,
}

impl<T> Careful<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, began: None }
    }

    fn is_late(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        id.and_then(number).zip(self.began).is_some_and(|(id, began)| id < began)
    }
}

fn number(id: &NumberOrString) -> Option<i64> {
    match id {
        NumberOrString::Number(number) => Some(*number),
        NumberOrString::String(_) => None,
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Careful<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item
            && matches!(request.request, ClientRequest::InitializeRequest(_))
        {
            self.began = number(&request.id);
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            if !self.is_late(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::collections::VecDeque;

    struct Lines(VecDeque<Value>);

    impl Transport<RoleClient> for Lines {
        type Error = io::Error;

        fn send(&mut self, _: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            self.0.pop_front().map(|line| serde_json::from_value(line).unwrap())
        }

        async fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn an_answer_to_a_handshake_that_was_given_up_is_passed_over() {
        let refused = |id: u32| json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}});
        let begun = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
        let lines = || Lines([refused(0), begun.clone(), refused(2)].into());
        let ids = async |mut transport: Careful<Lines>| {
            let mut ids = Vec::new();
            while let Some(message) = transport.receive().await {
                ids.push(serde_json::to_value(&message).unwrap()["id"].as_i64());
            }
            ids
        };
        assert_eq!(ids(Careful::new(lines())).await, [Some(0), Some(1), Some(2)]);
        let mut later = Careful::new(lines());
        let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "n", "version": "1"}}});
        later.send(serde_json::from_value(initialize).unwrap()).await.unwrap();
        assert_eq!(ids(later).await, [Some(1), Some(2)]);
    }
}
