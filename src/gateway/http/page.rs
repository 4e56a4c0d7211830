//! Pages for a browser that opened a link: sessions and conversations, to read. Nothing runs in them and nothing is fetched.

use super::ask::{self, Asking};
use super::guard::{COOKIE, Caller, Guarding};
use super::problem::Problem;
use crate::domain::export::Format;
use crate::domain::ids::At;
use crate::domain::message::Message;
use crate::domain::sanitise::clean_line;
use crate::domain::session::{Activity, SessionMeta};
use crate::gateway::access::{BROWSER_LIVES, Grant};
use crate::gateway::frame::ErrorCode;
use crate::protocol::{Event, Scope, SessionCommand, SessionEvent};
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

/// Sessions of a workspace on the page.
const SESSIONS: usize = 200;
/// Rows of a conversation on a page.
const ROWS: usize = 200;
/// Style of the pages.
const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1f2328;--dim:#656d76;--line:#d0d7de;--back:#fff;--you:#0a58ca;--bad:#b42318}
@media (prefers-color-scheme:dark){:root{--text:#e6e6e6;--dim:#9a9fa6;--line:#3a3f46;--back:#16181c;--you:#7aa7ff;--bad:#ff8a7a}}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:52rem;margin:0 auto;padding:1rem 1rem 4rem}
h1{font-size:1.4rem;margin:.5rem 0}h2{font-size:1rem;color:var(--dim);margin:1.5rem 0 .3rem}
ul{list-style:none;margin:0;padding:0}li{border-bottom:1px solid var(--line)}
li a{display:block;padding:.7rem 0;color:var(--text);text-decoration:none}
.title{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden}
small{color:var(--dim)}.wants{color:var(--bad);font-weight:600}.runs{color:var(--you);font-weight:600}
";

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A part of a path.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn time(at: At) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map(|at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_default()
}

fn html(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"robots\" content=\"noindex\">\n\
         <title>{0}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{body}</main>\n</body>\n</html>\n",
        escaped(title)
    )
}

/// Page for a browser without a link.
pub(super) fn without_link(problem: &Problem) -> Response {
    let how = "<p>This browser is not known. On the machine of the gateway, <code>lisle gateway link</code> prints an \
               address that lets it in.</p>\n";
    let text = match problem.error.code {
        ErrorCode::Unauthorized => how.to_owned(),
        _ => format!("<p>{}</p>\n", escaped(&problem.error.message)),
    };
    html(problem.status, page("lisle", &text))
}

/// `GET /link/LINK`: the browser gets a cookie, once.
pub(super) async fn link(
    State(guarding): State<Arc<Guarding>>,
    Extension(caller): Extension<Caller>,
    Path(link): Path<String>,
) -> Response {
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
        body.push_str("<p>There are no sessions yet.</p>\n");
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
        escaped(&time(meta.last_message)),
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
            page.ok_or_else(|| Problem::invalid("There are no messages at this place."))?
        }
    };
    let here = format!("/w/{}/{}", encoded(&workspace), encoded(id.as_str()));
    Ok(html(StatusCode::OK, written(&opened.meta, rows, earlier.map(|cursor| format!("{here}?before={cursor}")))))
}

/// A conversation as `/share` writes it, with keys masked, and ways to other pages.
fn written(meta: &SessionMeta, mut rows: Vec<Message>, earlier: Option<String>) -> String {
    let mut text = Format::Html.safe_head(meta, &time).0;
    text.push_str("<nav><a href=\"/\">Sessions</a></nav>\n");
    if let Some(earlier) = earlier {
        let _ = writeln!(text, "<p><a href=\"{}\">Earlier messages</a></p>", escaped(&earlier));
    }
    for row in &mut rows {
        text.push_str(&Format::Html.safe_row(row, &time).0);
    }
    text.push_str(Format::Html.tail());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_text() {
        assert_eq!(escaped("<a href=\"x\">&'\u{1b}[1m"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;[1m".replace("[1m", ""));
        assert_eq!(encoded("my space/ä\"."), "my%20space%2F%C3%A4%22.");
    }
}
