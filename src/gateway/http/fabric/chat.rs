//! `POST /chat`: prompts one after another, each a turn without tools, answered as server-sent events.
//!
//! A prompt without `sessionName` has a session of its own, which goes to the trash when it is answered; so nothing is lost,
//! and the list stays the user's. Numbers that Fabric passes on to vendors (`temperature`, `topP` …) are taken and not used.

use super::super::ask::Asking;
use super::super::problem::Problem;
use super::super::rest;
use super::asked::Asked;
use super::saved_sessions::found;
use super::texts;
use crate::domain::ids::MessageId;
use crate::domain::message::{AssistantText, Body as RowBody};
use crate::domain::prompt_text::{PromptKind, fill, name_fault};
use crate::domain::session::{Activity, SessionMeta, SessionSwitch};
use crate::domain::usage::Usage;
use crate::domain::{ConnectionName, Mode, SessionId};
use crate::protocol::{
    Command, EngineCommand, Event, NewSession, Scope, SessionCommand, SessionEvent, ToClient, TurnEnd,
};
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::convert::Infallible;
use tokio::sync::mpsc;

/// Frames that wait for a client that reads slowly; then the turn's events wait with it.
const WAITING: usize = 256;
/// Prompts of a request at most.
const PROMPTS: usize = 32;

/// Body of a request, with Fabric's field names.
#[derive(Debug, Deserialize)]
struct ChatRequest {
    prompts: Vec<Prompt>,
    #[serde(default)]
    language: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Prompt {
    user_input: String,
    vendor: String,
    model: String,
    context_name: String,
    pattern_name: String,
    strategy_name: String,
    session_name: String,
    variables: BTreeMap<String, String>,
}

/// ChatFrame of the answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "type")]
enum ChatFrame {
    Content { format: &'static str, content: String },
    Usage { format: &'static str, content: &'static str, usage: TokenUsage },
    Error { format: &'static str, content: String },
    Complete { format: &'static str, content: &'static str },
}

#[derive(Debug, Serialize)]
struct TokenUsage {
    input_tokens: u64,
    output_tokens: u64,
    total_tokens: u64,
}

impl ChatFrame {
    fn content(content: impl Into<String>) -> Self {
        Self::Content { format: "markdown", content: content.into() }
    }

    fn error(content: impl Into<String>) -> Self {
        Self::Error { format: "plain", content: content.into() }
    }

    fn usage(before: &Usage, after: &Usage) -> Self {
        let input_tokens = after.input_tokens.saturating_sub(before.input_tokens);
        let output_tokens = after.output_tokens.saturating_sub(before.output_tokens);
        let usage = TokenUsage { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens };
        Self::Usage { format: "plain", content: "", usage }
    }
}

/// The client reads no more.
struct Gone;

/// Reason why a prompt has no answer.
enum Unanswered {
    Gone,
    Because(String),
}

impl From<Gone> for Unanswered {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl From<Problem> for Unanswered {
    fn from(problem: Problem) -> Self {
        Self::Because(problem.error.message)
    }
}

/// Frames on their way to the client.
struct Frames(mpsc::Sender<ChatFrame>);

impl Frames {
    async fn send(&self, frame: ChatFrame) -> Result<(), Gone> {
        self.0.send(frame).await.map_err(|_| Gone)
    }
}

pub(super) async fn chat(asked: Asked, given: Body) -> Result<Response, Problem> {
    asked.caller.needs(Scope::Write)?;
    let request: ChatRequest = rest::body(given).await?;
    if request.prompts.is_empty() || request.prompts.len() > PROMPTS {
        return Err(Problem::invalid(format!("prompts has 1 to {PROMPTS} entries.")));
    }
    let asking = asked.engine(Scope::Write).await?;
    let (frames, mut waiting) = mpsc::channel(WAITING);
    tokio::spawn(answer_each(asked, asking, request, Frames(frames)));
    let body = futures_util::stream::poll_fn(move |context| {
        waiting.poll_recv(context).map(|frame: Option<ChatFrame>| {
            let json = frame.map(|frame| serde_json::to_string(&frame).unwrap_or_default());
            json.map(|json| Ok::<_, Infallible>(format!("data: {json}\n\n")))
        })
    });
    let mut response = Response::new(Body::from_stream(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Answers the prompts in order. A client that leaves stops the turn, and those after it.
async fn answer_each(asked: Asked, mut asking: Asking, request: ChatRequest, frames: Frames) {
    for prompt in &request.prompts {
        let answered = answer(&asked, &mut asking, prompt, &request.language, &frames).await;
        let told = match answered {
            Ok(()) => Ok(()),
            Err(Unanswered::Gone) => return,
            Err(Unanswered::Because(why)) => frames.send(ChatFrame::error(why)).await,
        };
        let complete = ChatFrame::Complete { format: "plain", content: "" };
        if told.is_err() || frames.send(complete).await.is_err() {
            return;
        }
    }
}

async fn answer(
    asked: &Asked,
    asking: &mut Asking,
    prompt: &Prompt,
    language: &str,
    frames: &Frames,
) -> Result<(), Unanswered> {
    let text = message(asked, prompt, language).await?;
    let before = match prompt.session_name.as_str() {
        "" => None,
        name => found(asking, name).await?,
    };
    if before.as_ref().is_some_and(|meta| meta.activity != Activity::Idle) {
        return Err(Unanswered::Because(format!("Session {:?} is busy.", prompt.session_name)));
    }
    let meta = opened(asking, prompt, before.as_ref()).await?;
    let id = meta.id.clone();
    let mut turn =
        ChatTurn { id: id.clone(), row: None, sent: String::new(), usage: meta.usage.clone(), trouble: None };
    let answered = match prepare(asking, prompt, before.is_some(), &id).await {
        Ok(()) => turn.run(asking, text, frames).await,
        Err(problem) => Err(problem.into()),
    };
    // A session of the user's keeps its tools; one that was made for this prompt is over.
    let after = match &before {
        Some(before) if !before.switches.no_tools => {
            Some(Command::Session { id: turn.id.clone(), command: tools(false) })
        }
        None if prompt.session_name.is_empty() => {
            Some(Command::Engine(EngineCommand::Delete { sessions: vec![turn.id.clone()], now: false }))
        }
        _ => None,
    };
    if let Some(command) = after {
        // Nothing was written of a session whose message was refused: then there is nothing to move either.
        let _ = asking.ask(command, None).await;
    }
    answered?;
    frames.send(ChatFrame::usage(&meta.usage, &turn.usage)).await?;
    Ok(())
}

fn tools(off: bool) -> SessionCommand {
    SessionCommand::Switch { what: SessionSwitch::NoTools, on: off }
}

/// What is sent for a prompt.
async fn message(asked: &Asked, prompt: &Prompt, language: &str) -> Result<String, Unanswered> {
    let mut text = match prompt.pattern_name.as_str() {
        "" => prompt.user_input.clone(),
        name => {
            let pattern = texts::read(asked, PromptKind::Pattern, name).await?;
            let filled = fill(&pattern, &prompt.variables, &prompt.user_input);
            filled.map_err(|error| Unanswered::Because(format!("{error}.")))?
        }
    };
    if text.trim().is_empty() {
        return Err(Unanswered::Because("The prompt has no text.".to_owned()));
    }
    if !language.trim().is_empty() {
        text.push_str(&format!("\n\nAnswer in this language: {}", language.trim()));
    }
    Ok(text)
}

/// The session of a prompt: the one of its name, or a new one.
async fn opened(asking: &mut Asking, prompt: &Prompt, before: Option<&SessionMeta>) -> Result<SessionMeta, Unanswered> {
    if let Some(before) = before {
        return Ok(asking.open(&before.id, 1).await?.meta);
    }
    let named = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let alias = named(&prompt.session_name);
    if let Some(fault) = alias.as_deref().and_then(name_fault) {
        return Err(Unanswered::Because(format!("Invalid session name: {fault}.")));
    }
    let new = NewSession {
        alias,
        connection: named(&prompt.vendor).map(ConnectionName::new),
        model: named(&prompt.model),
        mode: Some(Mode::Explore),
        ..NewSession::default()
    };
    let events = asking.ask(Command::Engine(EngineCommand::Create(new)), None).await?;
    let made = events.iter().find_map(|stamped| match &stamped.event {
        Event::Session { event: SessionEvent::Opened(opened), .. } => Some(opened.meta.clone()),
        Event::Session { .. } | Event::Engine(_) => None,
    });
    made.ok_or_else(|| Unanswered::Because("The session was not made.".to_owned()))
}

/// Takes the session's tools and gives it what the prompt names.
async fn prepare(asking: &mut Asking, prompt: &Prompt, is_old: bool, id: &SessionId) -> Result<(), Problem> {
    let mut commands = vec![tools(true)];
    let named = [(PromptKind::Context, &prompt.context_name), (PromptKind::Strategy, &prompt.strategy_name)];
    for (kind, name) in named.into_iter().filter(|(_, name)| !name.is_empty()) {
        commands.push(SessionCommand::UsePrompt { kind, name: Some(name.clone()) });
    }
    if is_old && !prompt.model.is_empty() {
        let connection = Some(prompt.vendor.as_str()).filter(|name| !name.is_empty()).map(ConnectionName::new);
        commands.push(SessionCommand::Model { connection, model: prompt.model.clone() });
    }
    for command in commands {
        asking.session(id, command, None).await?;
    }
    Ok(())
}

/// A prompt's turn as it is followed.
struct ChatTurn {
    id: SessionId,
    /// Row of the answer that streams.
    row: Option<MessageId>,
    /// Text of it that was sent.
    sent: String,
    usage: Usage,
    trouble: Option<String>,
}

impl ChatTurn {
    /// Sends the message and passes on what comes until the turn is over.
    async fn run(&mut self, asking: &mut Asking, text: String, frames: &Frames) -> Result<(), Unanswered> {
        let ended = || Unanswered::Because("The engine of this workspace has ended.".to_owned());
        let command = Command::Session { id: self.id.clone(), command: SessionCommand::send(text) };
        let number = asking.link.requests.send(command).await.map_err(|_| ended())?;
        loop {
            let item = tokio::select! {
                item = asking.link.events.recv() => item.ok_or_else(ended)?,
                () = frames.0.closed() => return self.stop(asking).await,
            };
            let stamped = match item {
                ToClient::Event(stamped) => stamped,
                ToClient::Reply(reply) if reply.id == number => match reply.error {
                    Some(error) => return Err(Unanswered::Because(error.message)),
                    None => continue,
                },
                ToClient::Reply(_) => continue,
                ToClient::CutOff { why } => return Err(Unanswered::Because(why)),
            };
            let Event::Session { id, event } = &stamped.event else { continue };
            if *id != self.id {
                continue;
            }
            match self.hear(event, frames).await {
                Ok(None) => {}
                Ok(Some(_)) => return self.trouble.take().map_or(Ok(()), |why| Err(Unanswered::Because(why))),
                Err(Unanswered::Gone) => return self.stop(asking).await,
                Err(why) => return Err(why),
            }
        }
    }

    /// The client is gone: nobody waits for the rest.
    async fn stop(&self, asking: &mut Asking) -> Result<(), Unanswered> {
        let _ = asking.session(&self.id, SessionCommand::Stop, None).await;
        Err(Unanswered::Gone)
    }

    /// A text row: what was sent with more of it, or another attempt of the same response.
    async fn shows(&mut self, id: &MessageId, said: &AssistantText, frames: &Frames) -> Result<(), Unanswered> {
        if self.row.as_ref() != Some(id) {
            (self.row, self.sent) = (Some(id.clone()), String::new());
        } else if !said.text.starts_with(&self.sent) {
            // Between two attempts the row shows the longer one.
            if said.partial {
                return Ok(());
            }
            self.start_over(frames).await?;
        }
        let rest = said.text.get(self.sent.len()..).unwrap_or_default().to_owned();
        if !rest.is_empty() {
            self.sent.push_str(&rest);
            frames.send(ChatFrame::content(rest)).await?;
        }
        Ok(())
    }

    /// Takes back what was sent.
    async fn start_over(&mut self, frames: &Frames) -> Result<(), Unanswered> {
        self.sent.clear();
        Ok(frames.send(ChatFrame::error("The answer was interrupted; it starts over.")).await?)
    }

    async fn hear(&mut self, event: &SessionEvent, frames: &Frames) -> Result<Option<TurnEnd>, Unanswered> {
        match event {
            SessionEvent::Reidentified { to } => self.id = to.clone(),
            SessionEvent::Refused { why, .. } => return Err(Unanswered::Because(why.clone())),
            SessionEvent::Changed(meta) => self.usage = meta.usage.clone(),
            SessionEvent::Row(row) => match &row.body {
                RowBody::Assistant(said) => self.shows(&row.id, said, frames).await?,
                RowBody::Error(failure) => {
                    let text = [&failure.title, &failure.text].map(|text| text.trim()).join(": ");
                    self.trouble = Some(text.trim_end_matches([':', ' ']).to_owned());
                }
                _ => {}
            },
            SessionEvent::Delta { id, add } if self.row.as_ref() == Some(id) => {
                self.sent.push_str(add);
                frames.send(ChatFrame::content(add.as_str())).await?;
            }
            SessionEvent::Dropped { id } if self.row.as_ref() == Some(id) => {
                self.row = None;
                self.start_over(frames).await?;
            }
            SessionEvent::ConnectionWanted { .. } | SessionEvent::ModelWanted { .. } => {
                return Err(Unanswered::Because("No model is chosen: name a vendor and a model.".to_owned()));
            }
            SessionEvent::TurnEnded { end } => return Ok(Some(*end)),
            _ => {}
        }
        Ok(None)
    }
}
