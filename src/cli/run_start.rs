//! Start of `lisle run`: what the user wrote, the session that it is for, and the connections that can answer.

use super::args::LimitArgs;
use super::exit::Exit;
use super::headless::Ended;
use super::output::{complain, sentences};
use super::prompt;
use super::run_input::RunInput;
use super::run_line::RunLine;
use crate::agent::Link;
use crate::domain::command::is_name;
use crate::domain::message::UserText;
use crate::domain::{ConnectionName, SessionId, SessionMeta};
use crate::runtime::gateway::{self, EngineChoice};
use crate::runtime::setup::{Bootstrap, Which};
use tokio::time::Instant;

/// The session to continue; `None` for a new one.
///
/// # Errors
/// The exit, once the reason was told.
pub(super) fn session_of(bootstrap: &Bootstrap) -> Result<Option<SessionId>, Exit> {
    let session = match bootstrap.wanted.which.clone() {
        Which::This(id) => Some(id),
        Which::Latest => bootstrap.latest(),
        // A name was looked up already.
        Which::New | Which::Named(_) => return Ok(None),
    };
    if session.is_none() {
        complain("lisle: no session to continue");
        return Err(Exit::Usage);
    }
    Ok(session)
}

/// The engine of a run, the line to it, and what can answer there. `session`: the one to continue.
///
/// # Errors
/// The exit, once the reason was told.
pub(super) async fn engine(
    bootstrap: &Bootstrap,
    choice: EngineChoice,
    limits: &LimitArgs,
    session: Option<&SessionId>,
) -> Result<(Link, RunLine, Here), Exit> {
    // What holds for this run alone is unknown to an engine that others use.
    let choice = if limits.are_engines() { EngineChoice::Own } else { choice };
    let opened = gateway::open(&choice, bootstrap, "run", !limits.wait).await.map_err(|error| {
        complain(&format!("lisle: {error:#}"));
        Exit::Failed
    })?;
    if let Some(news) = &opened.news {
        complain(&format!("lisle: {}", sentences(&news.text, &news.hint)));
    }
    let line = RunLine::new(opened.gateway.map(|gateway| gateway.line.state));
    if limits.wait && !line.is_gateway() {
        complain(
            "lisle: --wait needs a gateway: people at its clients answer. Start one with \"lisle serve --background\".",
        );
        return Err(Exit::Usage);
    }
    let usable = if line.is_gateway() { Ok(()) } else { bootstrap.usable_connection() };
    if let Some(why) = usable.as_ref().err().filter(|_| session.is_none()) {
        complain(&format!("lisle: {why}"));
        return Err(Exit::NoCredentials);
    }
    Ok((opened.link, line, Here { names: bootstrap.connection_names(), usable }))
}

/// The words of the message, and what is piped in.
///
/// # Errors
/// The exit, once the reason was told.
pub(super) async fn typed(words: &[String], input: &RunInput, deadline: Option<Instant>) -> Result<UserText, Exit> {
    let (words, enough) = (words.to_vec(), input.is_enough());
    let reading = tokio::task::spawn_blocking(move || prompt::read(&words, enough));
    let read = match deadline {
        Some(deadline) => tokio::time::timeout_at(deadline, reading).await.ok(),
        None => Some(reading.await),
    };
    match read {
        Some(Ok(Ok(prompt))) if prompt.text.trim().is_empty() && !enough => {
            complain("lisle: empty message. Pass one as an argument or pipe it in.");
            Err(Exit::Usage)
        }
        Some(Ok(Ok(prompt))) => Ok(prompt),
        Some(Ok(Err(error))) => {
            complain(&format!("lisle: can't read stdin: {error}."));
            Err(Exit::Failed)
        }
        Some(Err(_)) => Err(Exit::Failed),
        None => {
            complain("lisle: nothing sent: stdin was still open at the --timeout.");
            Err(Exit::Failed)
        }
    }
}

/// Says so where a message begins with a name that calls nothing: it goes to the model as it stands.
pub(super) fn note_names(bootstrap: &Bootstrap, prompt: &UserText) {
    let Some(rest) = prompt.own().trim_start().strip_prefix('/') else { return };
    let name = rest.split_whitespace().next().unwrap_or_default();
    if !is_name(name) {
        return;
    }
    let (all, _) = bootstrap.rules().extensions().called(bootstrap.cwd());
    match all.iter().find(|one| one.name == name) {
        Some(one) if one.trusted => {}
        Some(_) => complain(&format!("lisle: /{name} is sent as text: it is not trusted. /trust in the app shows it.")),
        None => complain(&format!("lisle: /{name} is sent as text: no skill and no command has that name.")),
    }
}

/// The connections of this home.
pub(super) struct Here {
    pub(super) names: Vec<ConnectionName>,
    /// The default one can be used, or why not.
    pub(super) usable: Result<(), String>,
}

impl Here {
    /// Reason why a session cannot be continued with its connection, or with the requested one.
    pub(super) fn refuses(&self, meta: &SessionMeta, asked: Option<&ConnectionName>) -> Option<Ended> {
        let session = &meta.id;
        match (&meta.connection, asked) {
            // What names no connection asks the default one.
            (None, None) => self.usable.clone().err().map(Ended::NoConnection),
            (Some(its), Some(asked)) if meta.connection_locked && asked != its && self.names.contains(its) => {
                Some(Ended::Usage(format!(
                    "{session} uses connection {its}, which can't change to {asked} after the first message. Leave \
                     out --connection, or start a new session."
                )))
            }
            (Some(its), None) if meta.unmapped => {
                let names: Vec<&str> = self.names.iter().map(ConnectionName::as_str).collect();
                Some(Ended::NoConnection(format!(
                    "{session} uses connection {its}, which is not configured here. Available: {}. Switch this \
                     session with \"lisle run --session {session} --connection NAME …\".",
                    names.join(", ")
                )))
            }
            _ => None,
        }
    }
}
