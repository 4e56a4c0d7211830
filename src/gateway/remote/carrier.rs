//! Carries requests and events over a line, and makes it again when it is lost.

use super::known::{KnownOfClient, is_message, may_be_repeated};
use super::{EVENTS, FIRST_PAUSE, LONGEST_PAUSE, LineState, MOST_WAITING, OWN, OpenLine, PING, SILENCE};
use crate::domain::ids::MessageId;
use crate::gateway::dial::{Attempt, DialError, GatewayRoute};
use crate::gateway::frame::{self, FrameError, LinkFrame};
use crate::gateway::handshake::{Connect, Hello, Resume};
use crate::gateway::methods::{self, Closing, CommandParams, EngineNews, PingParams};
use crate::protocol::{
    self, ClientRequest, Command, CommandError, EngineCommand, EngineEvent, Event, Reply, Stamped, ToClient,
};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;

/// How a line ended.
enum LineEnd {
    /// It was lost, for this reason.
    Lost(String),
    /// The gateway cut the client off for good.
    Cut(String),
    /// The client left, or is gone.
    Left,
}

/// Request that was not answered yet.
struct Waiting {
    /// Number on the line, rising: clients may number as they like.
    number: u64,
    /// Number that the client gave it; `None` for one of this module.
    client: Option<u64>,
    /// Id of the message that it sends: whoever took it once takes no second one.
    message: Option<MessageId>,
    command: Command,
    written: Written,
    /// It may have reached an engine that ended before it answered.
    repeated: bool,
}

impl Waiting {
    /// Request of this module's own, not written yet.
    fn new(number: u64, command: Command) -> Self {
        Self { number, client: None, message: None, command, written: Written::No, repeated: false }
    }
}

/// Id for a message whose client chose none.
fn new_message_id() -> MessageId {
    let letters: String = std::iter::repeat_with(|| fastrand::char('a'..='z')).take(10).collect();
    MessageId::new(format!("msg-{}-{letters}", jiff::Timestamp::now().as_millisecond()))
}

/// State of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    No,
    /// To a line that was lost.
    Before,
    /// To the line that there is.
    Now,
}

/// Time for the last word to a gateway, and for the program that is the line to take it there.
const LEAVES: Duration = Duration::from_millis(600);

/// Reason for a line that is lost as long as no gateway runs.
const NO_GATEWAY: &str = "the gateway ended, and \"lisle serve --background\" starts one";

/// Client's end of a line.
pub(super) struct Carrier {
    way: GatewayRoute,
    connect: Connect,
    instance: String,
    requests: mpsc::Receiver<ClientRequest>,
    events: mpsc::Sender<ToClient>,
    state: watch::Sender<LineState>,
    hurry: Arc<Notify>,
    /// Requests that were not answered yet, in order.
    waiting: VecDeque<Waiting>,
    /// Number of the last request on the line.
    number: u64,
    /// Number of the last event that came.
    seen: u64,
    /// Number of the last sign of life.
    pings: u64,
    /// Events that came and have no room in the channel yet.
    incoming: VecDeque<ToClient>,
    known: KnownOfClient,
}

impl Carrier {
    /// A carrier for a client that has just connected. `channels`: its requests, and what it gets; `shown`: the state of the line,
    /// and what hurries.
    pub fn new(
        way: GatewayRoute,
        connect: Connect,
        instance: String,
        (requests, events): (mpsc::Receiver<ClientRequest>, mpsc::Sender<ToClient>),
        (state, hurry): (watch::Sender<LineState>, Arc<Notify>),
    ) -> Self {
        Self {
            way,
            connect,
            instance,
            requests,
            events,
            state,
            hurry,
            waiting: VecDeque::new(),
            number: 0,
            seen: 0,
            pings: OWN,
            incoming: VecDeque::new(),
            known: KnownOfClient::default(),
        }
    }

    /// Works until the client leaves.
    pub async fn work(mut self, line: OpenLine) {
        let mut line = line;
        loop {
            let why = match self.connected(line).await {
                LineEnd::Left => return,
                LineEnd::Lost(why) => Err(why),
                LineEnd::Cut(why) => Ok(why),
            };
            let (why, cut) = match why {
                Ok(why) => (why, true),
                Err(why) => (why, false),
            };
            match self.reconnect(why, cut).await {
                Some(again) => line = again,
                None => return,
            }
        }
    }

    /// Carries requests and events as long as the line holds.
    async fn connected(&mut self, line: OpenLine) -> LineEnd {
        let OpenLine { mut reader, write, program } = line;
        let (out, outgoing) = mpsc::unbounded_channel();
        let mut writer = tokio::spawn(write_all(write, outgoing));
        let mut ping = tokio::time::interval_at(Instant::now() + PING, PING);
        let mut heard = Instant::now();
        let events = self.events.clone();
        let end = loop {
            self.write_waiting(&out);
            tokio::select! {
                room = events.reserve(), if !self.incoming.is_empty() => match (room, self.incoming.pop_front()) {
                    (Ok(room), Some(item)) => room.send(item),
                    // The client is gone without a word.
                    _ => break LineEnd::Left,
                },
                request = self.requests.recv(), if self.waiting.len() < MOST_WAITING => match request {
                    Some(request) => if self.take(request) { break LineEnd::Left },
                    None => break LineEnd::Left,
                },
                frame = reader.frame(), if self.incoming.len() < EVENTS => {
                    heard = Instant::now();
                    match frame {
                        Ok(Some(frame)) => if let Some(end) = self.frame(frame) { break end },
                        Ok(None) => break LineEnd::Lost("the line was closed".to_owned()),
                        Err(error) => break LineEnd::Lost(format!("the line failed: {error}")),
                    }
                }
                _ = ping.tick() => {
                    // A client that takes no events reads no frames either.
                    if heard.elapsed() > SILENCE && self.incoming.len() < EVENTS {
                        break LineEnd::Lost("nothing came for 45 seconds".to_owned());
                    }
                    self.pings += 1;
                    let _ = out.send(frame::request(self.pings, methods::PING, &PingParams { seen: self.seen }));
                }
                _ = &mut writer => break LineEnd::Lost("the connection no longer accepts data".to_owned()),
            }
        };
        if matches!(end, LineEnd::Left) {
            self.pings += 1;
            let _ = out.send(frame::request(self.pings, methods::LEAVE, &()));
            drop(out);
            let _ = tokio::time::timeout(LEAVES, &mut writer).await;
            if let Some(mut program) = program {
                let _ = tokio::time::timeout(LEAVES, program.wait()).await;
            }
            self.last_words().await;
        }
        writer.abort();
        end
    }

    /// Writes the requests that were not written to this line yet.
    fn write_waiting(&mut self, out: &mpsc::UnboundedSender<Vec<u8>>) {
        let first = self.waiting.iter().rposition(|one| one.written == Written::Now).map_or(0, |at| at + 1);
        for one in self.waiting.iter_mut().skip(first) {
            let params = CommandParams { workspace: None, message: one.message.clone(), command: one.command.clone() };
            let _ = out.send(frame::request(one.number, methods::COMMAND, &params));
            one.written = Written::Now;
        }
    }

    /// Takes a request of the client. True if it leaves.
    fn take(&mut self, request: ClientRequest) -> bool {
        if request.command == Command::Engine(EngineCommand::Shutdown) {
            return true;
        }
        self.known.sent(&request.command);
        self.number += 1;
        let ClientRequest { id, message, command } = request;
        let message = message.or_else(|| is_message(&command).then(new_message_id));
        let own = Waiting::new(self.number, command);
        self.waiting.push_back(Waiting { client: Some(id), message, ..own });
        false
    }

    /// The client gets what came, and the end that it asked for.
    async fn last_words(&mut self) {
        let seq = self.known.engine_seq + 1;
        let ended = ToClient::Event(Arc::new(Stamped::new(seq, Event::Engine(EngineEvent::Ended))));
        for item in self.incoming.drain(..).chain([ended]) {
            if self.events.send(item).await.is_err() {
                return;
            }
        }
    }

    fn frame(&mut self, frame: LinkFrame) -> Option<LineEnd> {
        match frame {
            LinkFrame::Event { event, payload, seq } if event == methods::EVENT => {
                match serde_json::from_str::<EngineNews>(payload.get()) {
                    Ok(EngineNews { mut stamped, .. }) => {
                        self.seen = seq.unwrap_or(self.seen);
                        // The gateway's engine ended, and not this client's work with it: another one may follow.
                        if stamped.event == Event::Engine(EngineEvent::Ended) {
                            return None;
                        }
                        self.known.came(&mut stamped);
                        self.incoming.push_back(ToClient::Event(Arc::new(stamped)));
                    }
                    Err(error) => {
                        tracing::error!(%error, "invalid event from the gateway");
                        self.seen = seq.unwrap_or(self.seen);
                    }
                }
                None
            }
            LinkFrame::Event { event, payload, .. } if event == methods::CLOSING => {
                let closing: Closing = serde_json::from_str(payload.get())
                    .unwrap_or_else(|_| Closing { why: "The gateway closed the line.".to_owned(), may_return: true });
                let why = closing.why.trim_end_matches('.').to_owned();
                Some(if closing.may_return { LineEnd::Lost(why) } else { LineEnd::Cut(why) })
            }
            LinkFrame::Reply { id, result } => {
                self.replied(id, result.err());
                None
            }
            // Later versions may send more.
            LinkFrame::Event { .. } | LinkFrame::Request { .. } => None,
        }
    }

    fn replied(&mut self, number: u64, error: Option<FrameError>) {
        // What came again after a line was lost was answered already.
        let Some(at) = self.waiting.iter().position(|one| one.number == number) else { return };
        let Some(Waiting { client: Some(id), repeated, .. }) = self.waiting.remove(at) else { return };
        // The engine before had taken it, and wrote it down.
        let taken = |error: &FrameError| repeated && error.details == Some(protocol::ErrorCode::Duplicate);
        let error =
            error.filter(|error| !taken(error)).map(|FrameError { message, retryable, details, told, .. }| {
                let code = details.unwrap_or(protocol::ErrorCode::Unavailable);
                Box::new(CommandError { code, message, retryable, told })
            });
        self.incoming.push_back(ToClient::Reply(Reply { id, error }));
    }

    /// Messages of the user that wait.
    fn messages(&self) -> usize {
        self.waiting.iter().filter(|one| is_message(&one.command)).count()
    }

    fn show(&self, why: &str, by_itself: bool) {
        let (why, waiting) = (why.to_owned(), self.messages());
        let state = if by_itself { LineState::Reconnecting { why, waiting } } else { LineState::Down { why, waiting } };
        self.state.send_replace(state);
    }

    /// Makes a line again. `None` if the client leaves first.
    async fn reconnect(&mut self, mut why: String, cut: bool) -> Option<OpenLine> {
        let (mut pause, mut by_itself) = (FIRST_PAUSE, !cut);
        let (events, hurry) = (self.events.clone(), self.hurry.clone());
        loop {
            self.show(&why, by_itself);
            // Many clients of a gateway that was away do not come at once.
            let jittered = pause.mul_f64(0.75 + fastrand::f64() / 2.0);
            let wait = tokio::time::sleep(jittered);
            tokio::pin!(wait);
            loop {
                tokio::select! {
                    () = &mut wait, if by_itself => break,
                    () = hurry.notified() => break,
                    room = events.reserve(), if !self.incoming.is_empty() => match (room, self.incoming.pop_front()) {
                        (Ok(room), Some(item)) => room.send(item),
                        _ => return None,
                    },
                    request = self.requests.recv(), if self.waiting.len() < MOST_WAITING => {
                        match request {
                            Some(request) => if self.take(request) {
                                self.last_words().await;
                                return None;
                            },
                            None => return None,
                        }
                        self.show(&why, by_itself);
                    }
                }
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
            let resume = Some(Resume { instance: self.instance.clone(), seq: self.seen });
            let connect = Connect { resume, ..self.connect.clone() };
            match OpenLine::open(&self.way, &connect, Attempt::Again).await {
                Ok((line, hello)) => {
                    self.back(&hello);
                    self.state.send_replace(LineState::Connected);
                    return Some(line);
                }
                Err(DialError::Refused(refused)) => (why, by_itself) = (refused, false),
                Err(DialError::NoGateway) => (why, by_itself) = (NO_GATEWAY.to_owned(), true),
                Err(error) => (why, by_itself) = (error.to_string(), true),
            }
        }
    }

    /// There is a line again: what was taken is not sent again, and what was missed is asked for.
    fn back(&mut self, hello: &Hello) {
        let same = hello.instance == self.instance;
        self.instance.clone_from(&hello.instance);
        for one in &mut self.waiting {
            if one.written == Written::Now {
                one.written = Written::Before;
            }
        }
        if same && hello.resumed {
            // Replies to what was taken are on their way: the gateway does nothing for a number that it had.
            return;
        }
        self.seen = 0;
        if !same {
            // Numbers begin at 1 there. One is left out, so that the client knows that it missed something.
            self.known.shift = self.known.engine_seq + 1;
        }
        self.number = if same { hello.taken } else { 0 };
        let anew = self.known.anew().into_iter();
        let anew: Vec<_> = anew.map(|command| Waiting::new(0, command)).collect();
        for mut one in std::mem::take(&mut self.waiting) {
            one.repeated |= !same && one.written != Written::No;
            let Some(id) = one.client else { continue };
            let lost = match (same, one.written) {
                // Its reply was lost, and it was done.
                (true, _) if one.number <= hello.taken => None,
                // Whoever has it knows it by its id, or it changes nothing.
                (false, Written::Before | Written::Now) if !may_be_repeated(&one.command) => {
                    Some(Box::new(CommandError {
                        code: protocol::ErrorCode::Unavailable,
                        message: "The gateway ended before it answered: this may have been done or not.".to_owned(),
                        retryable: false,
                        told: false,
                    }))
                }
                _ => {
                    self.waiting.push_back(one);
                    continue;
                }
            };
            self.incoming.push_back(ToClient::Reply(Reply { id, error: lost }));
        }
        for one in anew.into_iter().rev() {
            self.waiting.push_front(one);
        }
        for one in &mut self.waiting {
            self.number += 1;
            one.number = self.number;
        }
    }
}

async fn write_all(mut write: Box<dyn AsyncWrite + Send + Unpin>, mut outgoing: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(mut bytes) = outgoing.recv().await {
        while let Ok(more) = outgoing.try_recv() {
            bytes.extend_from_slice(&more);
        }
        if write.write_all(&bytes).await.is_err() || write.flush().await.is_err() {
            return;
        }
    }
    let _ = write.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::SessionId;
    use crate::gateway::frame::ErrorCode;
    use crate::gateway::handshake::ClientName;
    use crate::protocol::SessionCommand;

    fn carrier() -> (Carrier, mpsc::Sender<ClientRequest>, mpsc::Receiver<ToClient>) {
        let (requests, to) = mpsc::channel(8);
        let (events, from) = mpsc::channel(8);
        let connect = Connect {
            min_protocol: 1,
            max_protocol: protocol::VERSION,
            client: ClientName { id: "1".to_owned(), name: "test".to_owned(), version: String::new() },
            secret: String::new(),
            workspace: None,
            cwd: None,
            headless: false,
            resume: None,
        };
        let route = GatewayRoute::Socket(crate::gateway::home::GatewayFiles::of(std::path::Path::new("/"), None));
        let (state, _) = watch::channel(LineState::Connected);
        let carrier = Carrier::new(route, connect, "first".to_owned(), (to, events), (state, Arc::default()));
        (carrier, requests, from)
    }

    fn hello(instance: &str) -> Hello {
        Hello {
            protocol: protocol::VERSION,
            version: String::new(),
            instance: instance.to_owned(),
            pid: 1,
            host: String::new(),
            workspace: None,
            resumed: false,
            taken: 0,
        }
    }

    #[test]
    fn what_an_engine_took_before_it_died_is_no_error_of_the_next_one() {
        let (mut carrier, _requests, _events) = carrier();
        let (out, mut written) = mpsc::unbounded_channel();
        let (id, command) = (SessionId::parse("261124-calm-reef").unwrap(), SessionCommand::send("hello"));
        carrier.take(ClientRequest::new(7, Command::Session { id, command }));
        carrier.write_waiting(&out);
        let first = carrier.waiting[0].message.clone();
        assert!(first.is_some(), "a message has an id from the first time on");
        carrier.back(&hello("second"));
        carrier.write_waiting(&out);
        assert_eq!(carrier.waiting[0].message, first, "and keeps it");
        for text in [written.try_recv().unwrap(), written.try_recv().unwrap()] {
            assert!(String::from_utf8(text).unwrap().contains(first.as_ref().unwrap().as_str()));
        }
        let mut duplicate = FrameError::new(ErrorCode::Refused, "taken");
        duplicate.details = Some(protocol::ErrorCode::Duplicate);
        let number = carrier.waiting[0].number;
        carrier.replied(number, Some(duplicate));
        assert_eq!(carrier.incoming.pop_front(), Some(ToClient::Reply(Reply { id: 7, error: None })));
    }

    #[test]
    fn a_message_that_is_sent_twice_by_its_client_is_a_duplicate() {
        let (mut carrier, _requests, _events) = carrier();
        let (id, command) = (SessionId::parse("261124-calm-reef").unwrap(), SessionCommand::send("hello"));
        let message = Some(MessageId::new("msg-1-chosen"));
        carrier.take(ClientRequest { id: 7, message, command: Command::Session { id, command } });
        let mut duplicate = FrameError::new(ErrorCode::Refused, "taken");
        duplicate.details = Some(protocol::ErrorCode::Duplicate);
        carrier.replied(1, Some(duplicate));
        let Some(ToClient::Reply(Reply { error: Some(error), .. })) = carrier.incoming.pop_front() else {
            panic!("no error came");
        };
        assert_eq!(error.code, protocol::ErrorCode::Duplicate);
    }
}
