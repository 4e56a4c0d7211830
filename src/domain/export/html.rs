//! A conversation as one page: everything escaped, nothing that runs, nothing that is fetched; light or dark as the
//! reader's screen is.

use super::colours::coloured;
use super::context::ExportContext;
use super::parts::{files, input, outcome, spent};
use crate::domain::datatable;
use crate::domain::message::{Body, Message};
use crate::domain::sanitise::{clean, clean_line};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::fmt::Write;

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1f2328;--dim:#656d76;--line:#d0d7de;--back:#fff;--code:#f6f8fa;--you:#0a58ca;--bad:#b42318;--key:#7a3e9d;--str:#1a7f37;--num:#9a5b00}
@media (prefers-color-scheme:dark){:root{--text:#e6e6e6;--dim:#9a9fa6;--line:#3a3f46;--back:#16181c;--code:#1f2329;--you:#7aa7ff;--bad:#ff8a7a;--key:#d2a8ff;--str:#7ee787;--num:#ffb86b}}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.55 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:52rem;margin:0 auto;padding:2rem 1rem 4rem;min-width:0}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:.9rem;color:var(--dim);font-weight:600;margin:2rem 0 .4rem}
h2.you{color:var(--you)}.facts,time{color:var(--dim);font-weight:400;font-size:.85rem}
.said{white-space:pre-wrap}
pre{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:.7rem;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}
code{font:.88em ui-monospace,monospace}details{margin:.5rem 0;border-left:2px solid var(--line);padding-left:.7rem}
.c{color:var(--dim)}.s,.a{color:var(--str)}.n{color:var(--num)}.k{color:var(--key)}.f{color:var(--you)}.d{color:var(--bad)}
img{max-width:100%;height:auto}
summary{cursor:pointer;color:var(--dim)}.note{color:var(--dim)}.bad{color:var(--bad)}
.wide{overflow-x:auto}table{border-collapse:collapse}td,th{overflow-wrap:normal;min-width:3rem}td,th{border:1px solid var(--line);padding:.2rem .6rem;text-align:left}
blockquote{margin:0;border-left:3px solid var(--line);padding-left:1rem;color:var(--dim)}
";

pub(super) fn head(title: &str, facts: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         <p class=\"facts\">{}</p>\n",
        escaped(facts)
    )
}

pub(super) fn row(row: &Message, look: &dyn ExportContext) -> String {
    let headed = |class: &str, who: &str, body: &str| {
        format!("<h2 class=\"{class}\">{who} <time>{}</time></h2>\n{body}\n", escaped(&look.time(row.at)))
    };
    match &row.body {
        Body::User(said) => {
            let mut body = format!("<div class=\"said\">{}</div>", escaped(said.text.trim_end()));
            for name in files(row) {
                let _ = write!(body, "\n<p class=\"note\">with {}</p>", escaped(&name));
            }
            headed("you", "You", &body)
        }
        Body::Assistant(said) if said.text.trim().is_empty() => String::new(),
        Body::Assistant(said) if said.partial => {
            headed("", &format!("Assistant ({})", said.cut_off().unwrap_or_default()), &markdown(&said.text, look))
        }
        Body::Assistant(said) => headed("", "Assistant", &markdown(&said.text, look)),
        Body::Thinking(thought) if thought.text.trim().is_empty() => String::new(),
        Body::Thinking(thought) => {
            let time = thought.millis.map_or_else(String::new, |millis| format!(" · {}", spent(millis)));
            folded(&format!("thinking{time}"), &markdown(&thought.text, look))
        }
        Body::Tool(call) => {
            let mut head = escaped(&clean_line(&call.name));
            let _ = write!(head, " <code>{}</code>", escaped(clean_line(&call.subject).trim()));
            let outcome = outcome(call);
            if !outcome.is_empty() {
                let _ = write!(head, " · {outcome}");
            }
            let result = call.result.as_deref().unwrap_or("(no result)");
            folded(&head, &format!("{}\n{}", code(&input(call)), code(result)))
        }
        Body::Error(failure) => {
            let text = format!("{}: {}", failure.title, failure.text);
            format!("<p class=\"bad\">{}</p>\n", escaped(&text))
        }
        Body::Info(info) => format!("<p class=\"note\">{}</p>\n", escaped(&info.text)),
        Body::Plan(plan) => headed("", "Plan", &markdown(&plan.markdown, look)),
        Body::Odd(odd) => folded(&escaped(&clean_line(&odd.what)), &code(&odd.raw)),
    }
}

/// A picture in the page itself. `data` is base64.
#[must_use]
pub fn picture(mime: &str, data: &str, name: &str) -> String {
    format!("<p><img src=\"data:{mime};base64,{data}\" alt=\"{}\"></p>\n", escaped(&clean_line(name)))
}

fn folded(head: &str, body: &str) -> String {
    format!("<details>\n<summary>{head}</summary>\n{body}\n</details>\n")
}

fn code(text: &str) -> String {
    format!("<pre><code>{}</code></pre>", escaped(text.trim_end_matches('\n')))
}

/// A text in which nothing is a tag, an entity or the end of an attribute, and nothing acts on a terminal.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
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

/// True if a link may lead there: nothing that runs, nothing on the reader's own disk.
fn harmless(address: &str) -> bool {
    let address = address.trim().to_ascii_lowercase();
    ["https://", "http://", "mailto:"].iter().any(|scheme| address.starts_with(scheme))
}

/// Markdown as HTML. HTML in it is shown as it was written; pictures are links.
fn markdown(text: &str, look: &dyn ExportContext) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut out = String::with_capacity(text.len() * 2);
    // What closes the links that are open.
    let mut links: Vec<&str> = Vec::new();
    let mut in_head = false;
    // Language and text of the code block that is open.
    let mut block: Option<(String, String)> = None;
    for event in Parser::new_ext(&datatable::unfolded(text), options) {
        match event {
            Event::Start(tag) => match tag {
                Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } if harmless(&dest_url) => {
                    let _ = write!(out, "<a href=\"{}\" rel=\"noreferrer noopener\">", escaped(&dest_url));
                    links.push("</a>");
                }
                Tag::Link { .. } | Tag::Image { .. } => links.push(""),
                Tag::List(Some(first)) => {
                    let _ = writeln!(out, "<ol start=\"{first}\">");
                }
                Tag::TableHead => {
                    in_head = true;
                    out.push_str("<tr>");
                }
                Tag::CodeBlock(kind) => {
                    let info = match kind {
                        CodeBlockKind::Fenced(info) => info.into_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    block = Some((info, String::new()));
                }
                // A wide one scrolls by itself, and not the page.
                Tag::Table(_) => out.push_str("<div class=\"wide\"><table>"),
                tag => {
                    let _ = write!(out, "<{}>", name(tag.to_end(), in_head));
                }
            },
            Event::End(end) => match end {
                TagEnd::Link | TagEnd::Image => out.push_str(links.pop().unwrap_or_default()),
                TagEnd::TableHead => {
                    in_head = false;
                    out.push_str("</tr>\n");
                }
                TagEnd::CodeBlock => {
                    let (info, text) = block.take().unwrap_or_default();
                    let _ = writeln!(out, "<pre><code>{}</code></pre>", coloured(&text, &info, look));
                }
                TagEnd::Table => out.push_str("</table></div>\n"),
                end => {
                    let _ = write!(out, "</{}>", name(end, in_head));
                    if !matches!(end, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough) {
                        out.push('\n');
                    }
                }
            },
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => match &mut block {
                Some((_, code)) => code.push_str(&text),
                None => out.push_str(&escaped(&text)),
            },
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                let _ = write!(out, "<code>{}</code>", escaped(&text));
            }
            Event::FootnoteReference(name) => out.push_str(&escaped(&name)),
            Event::SoftBreak => out.push('\n'),
            Event::HardBreak => out.push_str("<br>\n"),
            Event::Rule => out.push_str("<hr>\n"),
            Event::TaskListMarker(done) => out.push_str(if done { "[x] " } else { "[ ] " }),
        }
    }
    out
}

fn name(end: TagEnd, in_head: bool) -> &'static str {
    match end {
        TagEnd::Heading(HeadingLevel::H1) => "h3",
        TagEnd::Heading(HeadingLevel::H2) => "h4",
        TagEnd::Heading(HeadingLevel::H3) => "h5",
        TagEnd::Heading(_) => "h6",
        TagEnd::BlockQuote(_) => "blockquote",
        TagEnd::List(true) => "ol",
        TagEnd::List(false) => "ul",
        TagEnd::Item => "li",
        TagEnd::TableRow => "tr",
        TagEnd::TableCell if in_head => "th",
        TagEnd::TableCell => "td",
        TagEnd::Emphasis => "em",
        TagEnd::Strong => "strong",
        TagEnd::Strikethrough => "del",
        TagEnd::Paragraph => "p",
        _ => "div",
    }
}
