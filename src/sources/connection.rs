//! Client of one server: the handshake, the list of its tools, one call at a time of each caller. The crate `rmcp` speaks the
//! protocol.

#![allow(deprecated, reason = "logging is only deprecated in the newest protocol, and older servers log")]

use super::config::SourceConfig;
use super::definition::{MOST_TOOLS, RemoteTool};
use super::launch::{self, FilledLaunch};
use super::log::SourceLog;
use super::program::{self, Covers, ProgramHold, RunningProgram};
use super::stdio::{self, Careful, CutOff};
use super::surroundings::{Reach, Surroundings};
use crate::domain::sanitise::clean_line;
use crate::http;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification, CancelledNotificationParam,
    ClientCapabilities, ClientConfig, ClientRequest, CustomResult, Implementation, JsonObject, ListToolsRequest,
    LoggingMessageNotificationParam, NumberOrString, PaginatedRequestParams, ProgressNotificationParam,
    ProtocolVersion, ServerResult, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions, RoleClient,
    RunningService, ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

/// Pages of a list of tools.
const MOST_PAGES: usize = 64;
/// Limit for the list of tools.
const LIST_PATIENCE: Duration = Duration::from_secs(20);
/// Limit for a call that shows no progress, and for any call.
const CALL_PATIENCE: Duration = Duration::from_secs(10 * 60);
const LONGEST_CALL: Duration = Duration::from_secs(60 * 60);
/// Limit for the status of a program whose pipe closed.
const STATUS: Duration = Duration::from_secs(3);
/// Limit for an answer of a web server's first bytes.
const CONNECT: Duration = Duration::from_secs(15);

/// A server that answered.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    progress: ProgressByToken,
    /// Tells that the list of tools changed.
    pub(super) changed: Arc<Notify>,
    /// The server's words about itself, for models. Not sanitised.
    pub(super) instructions: Option<String>,
    /// How its program ended, once it has; without a program never.
    pub(super) ended: Shared<BoxFuture<'static, String>>,
    cut: CutOff,
}

/// Holder of a connection; the server ends with it.
pub(super) struct Hold {
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) program: Option<ProgramHold>,
}

type ProgressByToken = Arc<Mutex<HashMap<String, mpsc::Sender<String>>>>;

/// Error of a call.
#[derive(Debug)]
pub(super) enum CallError {
    /// It was stopped.
    Stopped,
    /// A sentence.
    Failed(String),
    /// The connection is gone.
    Gone,
}

/// lisle's side of a connection.
pub(super) struct Handler {
    progress: ProgressByToken,
    changed: Arc<Notify>,
    log: Arc<SourceLog>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("lisle", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let to = {
            let known = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(&token(&params.progress_token.0)).cloned()
        };
        if let Some(to) = to {
            // A screen that is behind gets the next one.
            let _ = to.try_send(progress_line(&params));
        }
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        let text = params.data.as_str().map_or_else(|| params.data.to_string(), str::to_owned);
        self.log.add("server", vec![text]);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

fn token(token: &NumberOrString) -> String {
    token.to_string()
}

fn progress_line(params: &ProgressNotificationParam) -> String {
    let share = match params.total {
        Some(total) if total > 0.0 => format!("{:.0} %", (params.progress / total * 100.0).clamp(0.0, 100.0)),
        _ => format!("{}", params.progress),
    };
    match params.message.as_deref().map(clean_line).filter(|text| !text.trim().is_empty()) {
        Some(text) => format!("{share} · {}", text.chars().take(200).collect::<String>()),
        None => share,
    }
}

/// A server that was started, or has an address, and did not speak yet.
pub(super) enum StartedServer {
    Program(RunningProgram),
    Web(StreamableHttpClientTransport<reqwest::Client>),
}

/// Starts a server. Its sandbox is prepared before, which takes its time where much is to be looked at.
///
/// # Errors
/// A sentence why it is not started. No key is in it.
pub(super) async fn start(
    source: &SourceConfig,
    place: (&Path, Reach),
    around: &Arc<Surroundings>,
    log: &Arc<SourceLog>,
) -> Result<StartedServer, String> {
    let (hidden, filled) = launch::fill(source, place, around);
    log.hide(hidden);
    match filled? {
        FilledLaunch::Program(order) => program::start(order, around, log).await.map(StartedServer::Program),
        FilledLaunch::Http { url, headers } => web(&url, &headers).map(StartedServer::Web),
    }
}

impl StartedServer {
    /// Paths that the profile of its program covers.
    pub(super) fn covers(&self) -> Option<Covers> {
        match self {
            Self::Program(running) => running.covers.clone(),
            Self::Web(_) => None,
        }
    }

    /// Shakes hands with it.
    ///
    /// # Errors
    /// A sentence why it does not answer. No key is in it.
    pub(super) async fn connect(self, log: &Arc<SourceLog>) -> Result<(Connection, Hold), String> {
        let running = match self {
            Self::Program(running) => running,
            Self::Web(transport) => {
                let shaken = handshake(Careful::new(transport), log).await;
                let (connection, service) = shaken.map_err(|why| log.keys().masked(&why))?;
                return Ok((connection, Hold { service, program: None }));
            }
        };
        let ended = running.ended.map(|said| said.unwrap_or_else(|_| "ended".to_owned())).boxed().shared();
        let hold = running.hold;
        let (transport, cut) = stdio::transport(running.output, running.input);
        match handshake(transport, log).await {
            Ok((connection, service)) => {
                Ok((Connection { ended, cut, ..connection }, Hold { service, program: Some(hold) }))
            }
            Err(why) => {
                drop(hold);
                let why = cut.get().cloned().unwrap_or(why);
                let status = tokio::time::timeout(Duration::from_secs(3), ended).await.unwrap_or_default();
                Err(failed_start(&why, &status, &log.last_words()))
            }
        }
    }
}

fn failed_start(why: &str, status: &str, words: &str) -> String {
    let ended = if status.is_empty() { String::new() } else { format!(" ({status})") };
    let words = if words.is_empty() { String::new() } else { format!(" It said: {words}") };
    format!("The program did not answer{ended}: {why}.{words}")
}

fn web(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let parsed = reqwest::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    if parsed.is_none() {
        return Err("Not an http or https address.".to_owned());
    }
    let mut named = HashMap::new();
    for (name, value) in headers {
        let parsed = reqwest::header::HeaderName::from_bytes(name.as_bytes()).ok();
        let value = reqwest::header::HeaderValue::from_str(value).ok();
        let (Some(parsed), Some(mut value)) = (parsed, value) else {
            return Err(format!("The header {name:?} is not valid."));
        };
        value.set_sensitive(true);
        named.insert(parsed, value);
    }
    // Headers go to the server that was named and to no other.
    let client = http::client().connect_timeout(CONNECT).redirect(reqwest::redirect::Policy::none()).build();
    let client = client.map_err(|error| format!("No HTTP client: {error}."))?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(named);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

async fn handshake<T, E, A>(
    transport: T,
    log: &Arc<SourceLog>,
) -> Result<(Connection, RunningService<RoleClient, Handler>), String>
where
    T: rmcp::transport::IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let (progress, changed): (ProgressByToken, Arc<Notify>) = Default::default();
    let handler = Handler { progress: progress.clone(), changed: changed.clone(), log: Arc::clone(log) };
    let preferred_versions = vec![ProtocolVersion::LATEST];
    let lifecycle = ClientLifecycleMode::Auto { preferred_versions, legacy_version: None };
    let service = serve_client_with_lifecycle(handler, transport, lifecycle).await.map_err(|error| {
        if error.is_authorization_required() {
            return "the server wants a sign-in".to_owned();
        }
        clean_line(&initialize_words(&error)).chars().take(500).collect()
    })?;
    let peer = service.peer().clone();
    let instructions = peer.peer_info().and_then(|info| info.instructions.clone());
    let instructions = instructions.map(|text| log.keys().hidden(&text));
    let ended = futures_util::future::pending().boxed().shared();
    Ok((Connection { peer, progress, changed, instructions, ended, cut: CutOff::default() }, service))
}

impl Connection {
    /// The same connection, for another list of tools.
    pub(super) fn again(&self) -> Self {
        Self {
            peer: self.peer.clone(),
            progress: Arc::clone(&self.progress),
            changed: Arc::clone(&self.changed),
            instructions: self.instructions.clone(),
            ended: self.ended.clone(),
            cut: Arc::clone(&self.cut),
        }
    }

    /// How a connection that is gone came to its end, in a few words.
    pub(super) async fn end(&self) -> String {
        if let Some(why) = self.cut.get() {
            return why.clone();
        }
        tokio::time::timeout(STATUS, self.ended.clone()).await.unwrap_or_else(|_| "connection closed".to_owned())
    }

    /// The tools of the server. Lists without an end are cut.
    ///
    /// # Errors
    /// A sentence.
    pub(super) async fn tools(&self) -> Result<Vec<RemoteTool>, String> {
        let listed = tokio::time::timeout(LIST_PATIENCE, self.pages()).await;
        listed.unwrap_or_else(|_| Err(format!("No list of tools within {} s.", LIST_PATIENCE.as_secs())))
    }

    async fn pages(&self) -> Result<Vec<RemoteTool>, String> {
        let (mut out, mut cursor) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.take());
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let page = self.peer.send_request(request).await;
            let page = page.map_err(|error| format!("No list of tools: {}.", clean_line(&service_words(&error))))?;
            cursor = match page {
                ServerResult::ListToolsResult(page) => {
                    out.extend(page.tools.into_iter().map(remote));
                    page.next_cursor
                }
                // One tool that is no tool spoils no other one.
                ServerResult::CustomResult(CustomResult(mut page)) => {
                    let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
                        return Err("No list of tools: the answer is none.".to_owned());
                    };
                    out.extend(tools.into_iter().map(loose));
                    page.get("nextCursor").and_then(Value::as_str).map(str::to_owned)
                }
                _ => return Err("No list of tools: the answer is none.".to_owned()),
            };
            // One more than is offered says that there are more.
            if cursor.is_none() || out.len() > MOST_TOOLS {
                break;
            }
        }
        Ok(out)
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// See [`CallError`].
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        progress: &mpsc::Sender<String>,
        stop: &CancellationToken,
    ) -> Result<CallToolResult, CallError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(CALL_PATIENCE).reset_timeout_on_progress();
        let options = options.with_max_total_timeout(LONGEST_CALL);
        let handle = self.peer.send_cancellable_request(request, options).await.map_err(|error| call_error(&error))?;
        let (id, name) = (handle.id.clone(), token(&handle.progress_token.0));
        let _registered = Registered::new(&self.progress, name, progress.clone());
        tokio::select! {
            biased;
            () = stop.cancelled() => {
                let params = CancelledNotificationParam::new(Some(id), Some("stopped by the user".to_owned()));
                // A server that is gone needs no word.
                let _ = self.peer.send_notification(CancelledNotification::new(params).into()).await;
                Err(CallError::Stopped)
            }
            answer = handle.await_response() => match answer {
                Ok(ServerResult::CallToolResult(result)) => Ok(result),
                Ok(ServerResult::InputRequiredResult(_)) => {
                    Err(CallError::Failed("The server asks for input, which lisle does not support yet.".to_owned()))
                }
                Ok(ServerResult::CreateTaskResult(_)) => {
                    Err(CallError::Failed("The server made a task of it, which lisle does not support yet.".to_owned()))
                }
                Ok(_) => Err(CallError::Failed("The server's answer is no result of a tool.".to_owned())),
                Err(error) => Err(call_error(&error)),
            },
        }
    }
}

/// An error without the names of Rust types in it.
fn service_words(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(sent) => with_causes(sent.error.as_ref()),
        ServiceError::McpError(error) => error.message.to_string(),
        other => other.to_string(),
    }
}

fn initialize_words(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => initialize_words(fallback),
        ClientInitializeError::TransportError { error, .. } => with_causes(error.error.as_ref()),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        other => with_causes(other),
    }
}

/// An error with its causes: that a request failed says nothing without them.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        next = cause.source();
    }
    words
}

fn call_error(error: &ServiceError) -> CallError {
    match error {
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => CallError::Gone,
        ServiceError::McpError(error) => CallError::Failed(format!("The server refused the call: {}", error.message)),
        ServiceError::Timeout { timeout } => {
            CallError::Failed(format!("No answer within {} min.", timeout.as_secs() / 60))
        }
        other => CallError::Failed(format!("The call failed: {}.", service_words(other))),
    }
}

/// A call that hears of its progress, for as long as it lives.
struct Registered<'a> {
    all: &'a ProgressByToken,
    token: String,
}

impl<'a> Registered<'a> {
    fn new(all: &'a ProgressByToken, token: String, to: mpsc::Sender<String>) -> Self {
        all.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), to);
        Self { all, token }
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

/// A tool of a list that holds something else as well. Without a schema it is left out with a reason.
fn loose(tool: Value) -> RemoteTool {
    match serde_json::from_value::<Tool>(tool.clone()) {
        Ok(tool) => remote(tool),
        Err(_) => RemoteTool {
            name: tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            schema: None,
            ..RemoteTool::default()
        },
    }
}

fn remote(tool: Tool) -> RemoteTool {
    let hint = tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint);
    RemoteTool {
        name: tool.name.into_owned(),
        description: tool.description.map(|text| text.into_owned()).or(tool.title).unwrap_or_default(),
        schema: Some(Arc::unwrap_or_clone(tool.input_schema)),
        read_only_hint: hint == Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_harmless_line() {
        let line = |progress, total, message: Option<&str>| {
            let mut params =
                ProgressNotificationParam::new(rmcp::model::ProgressToken(NumberOrString::Number(1)), progress);
            (params.total, params.message) = (total, message.map(str::to_owned));
            progress_line(&params)
        };
        assert_eq!(line(1.0, Some(4.0), None), "25 %");
        assert_eq!(line(9.0, Some(4.0), Some("almost")), "100 % · almost");
        assert_eq!(line(3.0, None, Some("a\nb\u{1b}[2J")), format!("3 · {}", clean_line("a\nb\u{1b}[2J")));
        assert_eq!(line(f64::NAN, Some(0.0), Some(" ")), "NaN");
    }
}
