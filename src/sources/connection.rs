//! Client of one server: the handshake, the list of its tools, one call at a time of each caller. The crate `rmcp` speaks the
//! protocol.

#![allow(deprecated, reason = "logging is only deprecated in the newest protocol, and older servers log")]

use super::config::{Launch, SourceConfig, filled};
use super::definition::{MOST_TOOLS, RemoteTool};
use super::log::{HiddenValues, SourceLog};
use super::program::{self, ProgramHold, ProgramOrder};
use super::surroundings::Surroundings;
use crate::domain::sanitise::clean_line;
use crate::http;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotification, CancelledNotificationParam,
    ClientCapabilities, ClientConfig, ClientRequest, Implementation, JsonObject, LoggingMessageNotificationParam,
    NumberOrString, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ServerResult, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions, RoleClient,
    RunningService, ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
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

/// Starts a server and shakes hands with it.
///
/// # Errors
/// A sentence why it does not answer. No key is in it.
pub(super) async fn connect(
    source: &SourceConfig,
    cwd: &Path,
    around: &Arc<Surroundings>,
    log: &Arc<SourceLog>,
) -> Result<(Connection, Hold), String> {
    let variable = |name: &str| around.variable(source, cwd, name);
    match &source.launch {
        Launch::Program { command, args, env } => {
            let env = filled_map(env, &variable)?;
            log.hide(HiddenValues::new(keys(&env, source_env(source))));
            let args = args.iter().map(|arg| filled(arg, &variable)).collect::<Result<Vec<_>, _>>()?;
            let readable = program::folders(&source.readable, cwd, &variable)?;
            let writable = program::folders(&source.writable, cwd, &variable)?;
            let own = around.folder_of(source);
            let command = filled(command, &variable)?;
            let order = ProgramOrder { command, args, env, readable, writable, cwd: cwd.to_owned(), own };
            let running = program::start(order, around, log).await?;
            let ended = running.ended.map(|said| said.unwrap_or_else(|_| "ended".to_owned())).boxed().shared();
            let hold = running.hold;
            let shaken = handshake((running.output, running.input), log).await;
            match shaken {
                Ok((connection, service)) => {
                    Ok((Connection { ended, ..connection }, Hold { service, program: Some(hold) }))
                }
                Err(why) => {
                    drop(hold);
                    let status = tokio::time::timeout(Duration::from_secs(3), ended).await.unwrap_or_default();
                    Err(failed_start(&why, &status, &log.last_words()))
                }
            }
        }
        Launch::Http { url, headers } => {
            let (url, headers) = (filled(url, &variable)?, filled_map(headers, &variable)?);
            let mut hidden = keys(&headers, source_env(source));
            hidden.extend(url.split_once('?').map(|(_, query)| query.to_owned()));
            log.hide(HiddenValues::new(hidden));
            let transport = web(&url, &headers)?;
            let (connection, service) = handshake(transport, log).await.map_err(|why| log.keys().masked(&why))?;
            Ok((connection, Hold { service, program: None }))
        }
        Launch::Unsupported(why) => Err(why.clone()),
    }
}

fn failed_start(why: &str, status: &str, words: &str) -> String {
    let ended = if status.is_empty() { String::new() } else { format!(" ({status})") };
    let words = if words.is_empty() { String::new() } else { format!(" It said: {words}") };
    format!("The program did not answer{ended}: {why}.{words}")
}

fn filled_map(
    map: &BTreeMap<String, String>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, String> {
    map.iter().map(|(name, value)| Ok((name.clone(), filled(value, variable)?))).collect()
}

fn source_env(source: &SourceConfig) -> &BTreeMap<String, String> {
    match &source.launch {
        Launch::Program { env, .. } => env,
        Launch::Http { headers, .. } => headers,
        Launch::Unsupported(_) => {
            static NONE: BTreeMap<String, String> = BTreeMap::new();
            &NONE
        }
    }
}

/// Values that are keys: what came from a variable, and what its name or its look gives away.
fn keys(filled: &BTreeMap<String, String>, written: &BTreeMap<String, String>) -> Vec<String> {
    let is_key = |name: &str, value: &str| {
        written.get(name).is_some_and(|text| text.contains("${"))
            || crate::domain::secret::is_secret_variable(name, value)
            || name.eq_ignore_ascii_case("authorization")
    };
    let values = filled.iter().filter(|(name, value)| is_key(name, value)).map(|(_, value)| value.clone());
    let bare = |value: String| match value.split_once(' ') {
        // The token of `Bearer TOKEN` is the key.
        Some((_, token)) => vec![token.to_owned(), value],
        None => vec![value],
    };
    values.flat_map(bare).collect()
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
    let ended = futures_util::future::pending().boxed().shared();
    Ok((Connection { peer, progress, changed, instructions, ended }, service))
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
        }
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
            let page = self.peer.list_tools(Some(params)).await;
            let page = page.map_err(|error| format!("No list of tools: {}.", clean_line(&service_words(&error))))?;
            out.extend(page.tools.into_iter().map(remote));
            cursor = page.next_cursor;
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
        ServiceError::TransportSend(sent) => sent.error.to_string(),
        ServiceError::McpError(error) => error.message.to_string(),
        other => other.to_string(),
    }
}

fn initialize_words(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => initialize_words(fallback),
        ClientInitializeError::TransportError { error, .. } => error.error.to_string(),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        other => other.to_string(),
    }
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

fn remote(tool: Tool) -> RemoteTool {
    let hint = tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint);
    RemoteTool {
        name: tool.name.into_owned(),
        description: tool.description.map(|text| text.into_owned()).or(tool.title).unwrap_or_default(),
        schema: Arc::unwrap_or_clone(tool.input_schema),
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

    #[test]
    fn keys_are_what_came_from_variables_or_looks_like_one() {
        let map = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let written: BTreeMap<String, String> =
            map(&[("A", "${X}"), ("Authorization", "Bearer abcdef"), ("PLAIN", "value"), ("API_KEY", "k-123456")]);
        let filled: BTreeMap<String, String> =
            map(&[("A", "from-x"), ("Authorization", "Bearer abcdef"), ("PLAIN", "value"), ("API_KEY", "k-123456")]);
        assert_eq!(keys(&filled, &written), ["from-x", "k-123456", "abcdef", "Bearer abcdef"]);
    }
}
