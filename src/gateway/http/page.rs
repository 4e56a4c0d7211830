//! Pages for a browser that opened a link: sessions and conversations, to read. Nothing runs in them and nothing is fetched.

use super::ask::{self, Asking};
use super::guard::{COOKIE, Caller, Guarding};
use super::html::{encoded, escaped, html, page, without_link};
use super::problem::Problem;
use crate::domain::export::Format;
use crate::domain::message::Message;
use crate::domain::session::{Activity, SessionMeta};
use crate::gateway::access::Grant;
use crate::gateway::browsers::BROWSER_LIVES;
use crate::local_export::LocalExport;
use crate::local_time::minute;
use crate::protocol::{Event, Scope, SessionCommand, SessionEvent};
use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

/// Sessions of a workspace on the page.
const SESSIONS: usize = 200;
/// Rows of a conversation on a page.
const ROWS: usize = 200;
/// `GET /link/LINK`: the browser gets a cookie, once. Programs that look at addresses before somebody opens them (HEAD, a
/// browser's prefetch) use nothing up.
pub(super) async fn link(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    method: Method,
    headers: HeaderMap,
    Path(link): Path<String>,
) -> Response {
    if method != Method::GET || is_ahead(&headers) {
        return html(StatusCode::OK, page("lisle", "<p>This link lets one browser in, once.</p>\n"));
    }
    let opened = guarding.gateway.access.open_link(caller.address, &link, Instant::now());
    let cookie = match opened {
        Ok(Ok(cookie)) => cookie,
        Ok(Err(error)) => {
            tracing::error!(%error, "no cookie was made");
            return without_link(&Problem::unavailable("No cookie was made: the log says why."));
        }
        Err(_) => {
            let text = "<p>This link was opened before, or is too old. <code>lisle gateway link</code> prints a new \
                        one.</p>\n";
            return html(StatusCode::FORBIDDEN, page("lisle", text));
        }
    };
    // A browser that came from another site sends a strict cookie with the next click alone, so this page is not a redirection.
    let body = "<p><a href=\"/\">Sessions</a></p>\n";
    let page = page("lisle", body).replacen("<title>", "<meta http-equiv=\"refresh\" content=\"0;url=/\">\n<title>", 1);
    let mut response = html(StatusCode::OK, page);
    let secure = if guarding.secure { "; Secure" } else { "" };
    let age = BROWSER_LIVES.as_secs();
    let cookie = format!("{COOKIE}={cookie}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}");
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// True for a page that a browser fetches before anybody asked for it.
fn is_ahead(headers: &HeaderMap) -> bool {
    let says = |value: &HeaderValue| {
        value.to_str().is_ok_and(|text| ["prefetch", "preview", "prerender"].iter().any(|word| text.contains(word)))
    };
    ["sec-purpose", "purpose", "x-purpose", "x-moz"].iter().any(|name| headers.get_all(*name).iter().any(says))
}

/// `GET /`: sessions of all workspaces.
pub(super) async fn sessions(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    let grant = caller.needs(Scope::Read)?;
    let mut body = String::new();
    for workspace in guarding.gateway.workspaces().await {
        if workspace.sessions == 0 {
            continue;
        }
        let _ = write!(body, "<h2>{}</h2>\n<ul>\n", escaped(&workspace.name));
        match listed(&guarding, &workspace.name, grant).await {
            Ok(sessions) => sessions.iter().for_each(|meta| body.push_str(&entry(&workspace.name, meta))),
            Err(problem) => {
                let _ = writeln!(body, "<li><small>{}</small></li>", escaped(&problem.error.message));
            }
        }
        body.push_str("</ul>\n");
    }
    if body.is_empty() {
        body.push_str("<p>No sessions yet.</p>\n");
    }
    Ok(html(StatusCode::OK, page("Sessions", &body)))
}

async fn listed(guarding: &Guarding, workspace: &str, grant: &Grant) -> Result<Vec<SessionMeta>, Problem> {
    let mut sessions = Asking::of(guarding, workspace, grant, false).await?.list().await?;
    sessions.retain(|meta| !(meta.hidden || meta.archived));
    sessions.truncate(SESSIONS);
    Ok(sessions)
}

fn entry(workspace: &str, meta: &SessionMeta) -> String {
    let state = match &meta.activity {
        Activity::NeedsYou(_) => " · <span class=\"wants\">waiting for you</span>",
        Activity::Running(_) | Activity::Stopping => " · <span class=\"runs\">running</span>",
        Activity::Idle => "",
    };
    format!(
        "<li><a href=\"/w/{}/{}\"><span class=\"title\">{}</span><small>{}{state}</small></a></li>\n",
        encoded(workspace),
        encoded(meta.id.as_str()),
        escaped(meta.shown_title()),
        escaped(&minute(meta.last_message)),
    )
}

/// `GET /w/W/ID`: a conversation, its end first; `before` in the query pages back.
pub(super) async fn conversation(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    Path((workspace, session)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let grant = caller.needs(Scope::Read)?;
    let id = ask::session_id(&session)?;
    let before: Option<u64> = super::rest::parameter(query.as_deref(), "before")?;
    let mut asking = Asking::of(&guarding, &workspace, grant, false).await?;
    let opened = asking.open(&id, if before.is_some() { 1 } else { ROWS }).await?;
    let (rows, earlier) = match before {
        None => (opened.rows, opened.earlier),
        Some(cursor) => {
            let events = asking.session(&id, SessionCommand::Earlier { cursor, rows: ROWS }, None).await?;
            let page = events.into_iter().find_map(|stamped| match Arc::unwrap_or_clone(stamped).event {
                Event::Session { event: SessionEvent::Page { rows, earlier }, .. } => Some((rows, earlier)),
                Event::Session { .. } | Event::Engine(_) => None,
            });
            page.ok_or_else(|| Problem::invalid("No messages at this position."))?
        }
    };
    let here = format!("/w/{}/{}", encoded(&workspace), encoded(id.as_str()));
    Ok(html(StatusCode::OK, written(&opened.meta, rows, earlier.map(|cursor| format!("{here}?before={cursor}")))))
}

/// A conversation as `/share` writes it, with keys masked, and ways to other pages.
fn written(meta: &SessionMeta, mut rows: Vec<Message>, earlier: Option<String>) -> String {
    let mut text = Format::Html.safe_head(meta, &LocalExport).0;
    text.push_str("<nav><a href=\"/\">Sessions</a></nav>\n");
    if let Some(earlier) = earlier {
        let _ = writeln!(text, "<p><a href=\"{}\">Earlier messages</a></p>", escaped(&earlier));
    }
    for row in &mut rows {
        text.push_str(&Format::Html.safe_row(row, &LocalExport).0);
    }
    text.push_str(Format::Html.tail());
    text
}
