//! Events of one session as they happen, as server-sent events.
//!
//! The id of each is `INSTANCE:SEQ`. A client that comes back with the last one gets what it missed from the session's ring, or
//! a snapshot if that is gone or another engine runs.

use super::ask::{self, Asking};
use super::guard::{Caller, Guarding};
use super::problem::Problem;
use crate::agent::Incoming;
use crate::domain::SessionId;
use crate::gateway::access::Grant;
use crate::protocol::{Command, EngineEvent, Event, Scope, SessionCommand, SessionEvent, Stamped, ToClient};
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

/// Rows of a snapshot.
const ROWS: usize = 50;
/// Time for the engine to begin.
const BEGINS: Duration = Duration::from_secs(30);
/// A comment is sent after this time without events, so that a line that broke is noticed.
const QUIET: Duration = Duration::from_secs(15);
/// Time between looks if the token still counts.
const LOOK: Duration = Duration::from_secs(1);

/// Events on their way to one client.
struct EventStream {
    guarding: Arc<Guarding>,
    caller: Caller,
    grant: Grant,
    asking: Asking,
    session: SessionId,
    instance: String,
    first: VecDeque<Vec<u8>>,
    look: Interval,
    sent: Instant,
    ended: bool,
}

/// `GET /v1/workspaces/W/sessions/ID/events`
pub(super) async fn stream(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    Path((workspace, session)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let grant = caller.needs(Scope::Read)?.clone();
    let session = ask::session_id(&session)?;
    let mut asking = Asking::of(&guarding, &workspace, &grant, false).await?;
    let slow = |_| Problem::unavailable("The engine did not answer in time.");
    let instance = timeout(BEGINS, instance(&mut asking.link.events)).await.map_err(slow)??;
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (first, sent) = (VecDeque::new(), Instant::now());
    let mut stream =
        EventStream { guarding, caller, grant, asking, session, instance, first, look, sent, ended: false };
    timeout(BEGINS, stream.open(last_seen(&headers))).await.map_err(slow)??;
    let body = futures_util::stream::unfold(stream, |mut stream| async move {
        let part = stream.next().await?;
        Some((Ok::<_, Infallible>(part), stream))
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Proxies that gather what they pass on would hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Id of the engine's run, which it says first.
async fn instance(events: &mut Incoming) -> Result<String, Problem> {
    loop {
        match events.event().await.map(|stamped| stamped.event) {
            Some(Event::Engine(EngineEvent::Configured(configured))) => return Ok(configured.instance),
            Some(_) => {}
            None => return Err(Problem::unavailable("The engine of this workspace has ended.")),
        }
    }
}

/// The event that a client saw last.
fn last_seen(headers: &HeaderMap) -> Option<(String, u64)> {
    let (instance, seq) = headers.get("last-event-id")?.to_str().ok()?.split_once(':')?;
    Some((instance.to_owned(), seq.parse().ok()?))
}

impl EventStream {
    /// Opens the session. What comes before the engine's reply is sent first.
    async fn open(&mut self, seen: Option<(String, u64)>) -> Result<(), Problem> {
        let command = match seen {
            Some((instance, seq)) => SessionCommand::Resume { instance, seq, rows: ROWS },
            None => SessionCommand::Open { rows: ROWS },
        };
        let command = Command::Session { id: self.session.clone(), command };
        let ended = || Problem::unavailable("The engine of this workspace has ended.");
        let opens = self.asking.link.requests.send(command).await.map_err(|_| ended())?;
        loop {
            match self.asking.link.events.recv().await.ok_or_else(ended)? {
                ToClient::Event(stamped) => {
                    let part = self.part(&stamped);
                    self.first.extend(part);
                }
                ToClient::Reply(reply) if reply.id == opens => {
                    let Some(error) = reply.error else { return Ok(()) };
                    return Err(self.asking.not_opened(&self.session.clone(), (*error).into()).await);
                }
                ToClient::Reply(_) => {}
                ToClient::CutOff { why } => return Err(Problem::unavailable(why)),
            }
        }
    }

    /// The next part of the body; `None` at its end.
    async fn next(&mut self) -> Option<Vec<u8>> {
        if let Some(part) = self.first.pop_front() {
            return Some(part);
        }
        while !self.ended {
            let part = tokio::select! {
                item = self.asking.link.events.recv() => match item {
                    Some(ToClient::Event(stamped)) => self.part(&stamped),
                    Some(ToClient::Reply(_)) => None,
                    Some(ToClient::CutOff { why }) => self.end(&why),
                    None => self.end("The engine of this workspace has ended."),
                },
                _ = self.look.tick() => self.quiet(),
            };
            if part.is_some() {
                self.sent = Instant::now();
                return part;
            }
        }
        None
    }

    fn quiet(&mut self) -> Option<Vec<u8>> {
        if !self.guarding.gateway.access.is_valid(&self.grant) {
            tracing::info!(address = %self.caller.address, "an event stream ends: its token is no longer valid");
            return self.end("The token is no longer valid.");
        }
        (self.sent.elapsed() >= QUIET).then(|| b":\n\n".to_vec())
    }

    fn end(&mut self, why: &str) -> Option<Vec<u8>> {
        self.ended = true;
        let data = serde_json::json!({ "why": why });
        Some(format!("event: closing\ndata: {data}\n\n").into_bytes())
    }

    /// An event as it is written; `None` for those of other sessions.
    fn part(&mut self, stamped: &Stamped) -> Option<Vec<u8>> {
        let Event::Session { id, event } = &stamped.event else { return None };
        if *id != self.session {
            return None;
        }
        let json = serde_json::to_string(stamped).ok()?;
        let part = format!("id: {}:{}\ndata: {json}\n\n", self.instance, stamped.seq);
        if let SessionEvent::Reidentified { to } = event {
            self.session = to.clone();
        }
        Some(part.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_is_an_instance_and_a_number() {
        for (value, expected) in [
            ("5f0c:17", Some(("5f0c".to_owned(), 17))),
            ("5f0c", None),
            ("5f0c:x", None),
            ("5f0c:-1", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("last-event-id", HeaderValue::from_str(value).unwrap());
            assert_eq!(last_seen(&headers), expected, "{value}");
        }
    }
}
