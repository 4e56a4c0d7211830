//! Words of pages, escaped, and what stands around them.

use super::problem::Problem;
use crate::domain::export;
use crate::domain::sanitise::clean_line;
use crate::gateway::frame::ErrorCode;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use std::fmt::Write;

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

pub(super) fn escaped(text: &str) -> String {
    export::escaped(&clean_line(text))
}

/// A part of a path.
pub(super) fn encoded(text: &str) -> String {
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

pub(super) fn html(status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

pub(super) fn page(title: &str, body: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_text() {
        assert_eq!(
            escaped("<a href=\"x\">&'\u{1b}[1m"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;[1m".replace("[1m", "")
        );
        assert_eq!(encoded("my space/ä\"."), "my%20space%2F%C3%A4%22.");
    }
}
