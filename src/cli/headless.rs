//! `lisle run`: one message through the same engine as the app, with nobody to ask.

use super::Exit;
use super::args::{Output, Run};
use super::output::{complain, say};
use crate::agent::{self, Link};
use crate::domain::contract::{Act, NewSession, TurnEnd};
use crate::domain::message::{Body, Message};
use crate::domain::notice::Level;
use crate::domain::{Command, Event, MessageId, SessionId, SessionMeta, Stamped};
use crate::runtime::setup::{Ground, Wanted, Which};
use std::io::{IsTerminal, Read};

/// How long an interrupted run may take to save and to end its processes.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_secs(4);

pub(super) async fn run(ground: Ground, run: Run) -> Exit {
    let Some(prompt) = prompt(&run.prompt) else { return Exit::Failed };
    if prompt.trim().is_empty() {
        complain("lisle: the message is empty. Say what is to be done, or pipe it in.");
        return Exit::Usage;
    }
    let wanted = ground.wanted.clone();
    let needs_connection = wanted.which == Which::New;
    if needs_connection && let Err(why) = ground.usable_connection() {
        complain(&format!("lisle: {why}"));
        return Exit::NoCredentials;
    }
    let session = match wanted.which.clone() {
        Which::New => None,
        Which::This(id) => Some(id),
        Which::Latest => match ground.latest() {
            Some(id) => Some(id),
            None => {
                complain("lisle: there is no session to continue.");
                return Exit::Usage;
            }
        },
    };
    let mut link = agent::open(ground.engine(true));
    let first = match &session {
        Some(session) => Command::Open { session: session.clone(), rows: 1 },
        None => Command::Create(NewSession {
            cwd: None,
            connection: wanted.connection.clone(),
            model: wanted.model.clone(),
            mode: wanted.mode,
            ..NewSession::default()
        }),
    };
    let _ = link.commands.send(first).await;
    let mut face = Face { output: run.output, session, answer: None, plan: None, refused: false, trouble: None };
    let mut begun = false;
    let mut interrupted = std::pin::pin!(interrupted());
    let end = loop {
        let stamped = tokio::select! {
            next = link.events.recv() => next,
            () = &mut interrupted => {
                face.stop(&link).await;
                break Ended::Interrupted;
            }
        };
        let Some(stamped) = stamped else { break Ended::Lost };
        if !face.print(&stamped) {
            break Ended::Lost;
        }
        if let Event::Opened(opened) = &stamped.event
            && !begun
        {
            begun = true;
            if let Some(holder) = &opened.meta.held_by {
                complain(&format!("lisle: {holder} has this session open. Close it there, or start a new session."));
                break Ended::Lost;
            }
            face.begin(&link, &opened.meta, &wanted, prompt.clone()).await;
            continue;
        }
        if let Some(end) = face.hear(stamped, begun) {
            break Ended::Turn(end);
        }
    };
    let patience = if matches!(end, Ended::Interrupted) { LAST_WORDS } else { std::time::Duration::MAX };
    tokio::select! {
        _ = tokio::time::timeout(patience, finish(link, &mut face)) => {}
        // Asked twice, or something that cannot be ended holds the end.
        () = self::interrupted() => return Exit::Interrupted,
    }
    face.exit(end)
}

enum Ended {
    Turn(TurnEnd),
    Interrupted,
    Lost,
}

/// What `run` remembers of the events.
struct Face {
    output: Output,
    session: Option<SessionId>,
    /// The last text of the model and its row.
    answer: Option<(MessageId, String)>,
    plan: Option<String>,
    refused: bool,
    trouble: Option<(String, String)>,
}

impl Face {
    async fn begin(&mut self, link: &Link, meta: &SessionMeta, wanted: &Wanted, text: String) {
        let session = meta.id.clone();
        self.session = Some(session.clone());
        // A new session was made as wanted.
        let mut acts = if wanted.which == Which::New { Vec::new() } else { wanted.acts(meta.model.as_deref()) };
        acts.push(Act::send(text));
        for act in acts {
            let _ = link.commands.send(Command::To { session: session.clone(), act }).await;
        }
    }

    /// Prints the event where events are wanted. False when nobody reads any more.
    fn print(&self, stamped: &Stamped) -> bool {
        match self.output {
            Output::Text => true,
            Output::Json => match serde_json::to_string(stamped) {
                Ok(line) => say(&(line + "\n")),
                Err(error) => {
                    complain(&format!("lisle: an event could not be written as JSON: {error}"));
                    true
                }
            },
        }
    }

    fn hear(&mut self, stamped: Stamped, begun: bool) -> Option<TurnEnd> {
        match stamped.event {
            Event::Row(row) => self.row(*row),
            Event::Reidentified { to } => self.session = Some(to),
            Event::Retrying { attempt, of, wait_ms, reason } => {
                complain(&format!(
                    "lisle: {reason} Trying again ({attempt} of {of}) in {:.1} s.",
                    wait_ms as f64 / 1000.0
                ));
            }
            Event::Notice(notice) if notice.level >= Level::Warning => {
                complain(&format!("lisle: {} {}", notice.text, notice.hint));
                // Without a session nothing comes after an error; a warning, as of a view that cannot be used, ends nothing.
                if !begun && notice.level == Level::Error {
                    return Some(TurnEnd::Failed);
                }
            }
            Event::TurnEnded { end } => return Some(end),
            _ => {}
        }
        None
    }

    fn row(&mut self, row: Message) {
        match row.body {
            Body::Assistant(said) if !said.intermediate => self.answer = Some((row.id, said.text)),
            // What looked like the answer while it streamed was a remark before a call.
            Body::Assistant(_) => self.answer = self.answer.take().filter(|(id, _)| *id != row.id),
            Body::Plan(plan) => self.plan = Some(plan.markdown),
            Body::Tool(call) => {
                if let Some(decision) = call.decision.filter(|decision| !decision.allowed) {
                    if !self.refused {
                        complain(&format!("lisle: refused: {} {}: {}", call.name, call.subject, decision.reason));
                    }
                    self.refused = true;
                }
            }
            // What ends a turn short of its goal, as a limit does, is no error of the provider's.
            Body::Info(info) if info.level >= Level::Warning => complain(&format!("lisle: {}", info.text)),
            Body::Error(failure) => self.trouble = Some((failure.code, format!("{}: {}", failure.title, failure.text))),
            _ => {}
        }
    }

    async fn stop(&self, link: &Link) {
        if let Some(session) = self.session.clone() {
            let _ = link.commands.send(Command::To { session, act: Act::Stop }).await;
        }
    }

    fn exit(&self, end: Ended) -> Exit {
        if self.output == Output::Text
            && let Some(text) = self.plan.as_ref().or(self.answer.as_ref().map(|(_, text)| text))
        {
            say(&format!("{}\n", text.trim_end()));
        }
        match end {
            Ended::Interrupted | Ended::Turn(TurnEnd::Stopped) => Exit::Interrupted,
            Ended::Lost => Exit::Failed,
            Ended::Turn(TurnEnd::Failed | TurnEnd::Limit) => {
                let (code, text) = self.trouble.clone().unwrap_or_default();
                if !text.is_empty() {
                    complain(&format!("lisle: {text}"));
                }
                if matches!(code.as_str(), "invalid_api_key" | "invalid_credentials") {
                    Exit::NoCredentials
                } else {
                    Exit::Failed
                }
            }
            Ended::Turn(TurnEnd::Done | TurnEnd::Plan) if self.refused => Exit::Refused,
            Ended::Turn(TurnEnd::Done | TurnEnd::Plan) => Exit::Done,
        }
    }
}

/// Lets the engine save and end.
async fn finish(mut link: Link, face: &mut Face) {
    let _ = link.commands.send(Command::Shutdown).await;
    while let Some(stamped) = link.events.recv().await {
        face.print(&stamped);
        match stamped.event {
            Event::Ended => return,
            // The stopped turn's last rows still belong to the answer.
            Event::Row(row) => face.row(*row),
            _ => {}
        }
    }
}

/// The message, with what was piped in behind it. `None` when stdin cannot be read.
fn prompt(words: &[String]) -> Option<String> {
    let mut text = words.join(" ");
    let mut stdin = std::io::stdin();
    if !stdin.is_terminal() {
        let mut piped = Vec::new();
        if let Err(error) = stdin.read_to_end(&mut piped) {
            complain(&format!("lisle: stdin could not be read: {error}."));
            return None;
        }
        let piped = String::from_utf8_lossy(&piped);
        if !piped.trim().is_empty() {
            text.push_str("\n\n");
            text.push_str(piped.trim_end());
        }
    }
    Some(text)
}

async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut int), Ok(mut term), Ok(mut hup)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return std::future::pending().await;
    };
    tokio::select! { _ = int.recv() => {}, _ = term.recv() => {}, _ = hup.recv() => {} }
}
