//! A conversation as markdown: a heading for each message, tool calls folded, fences longer than those inside.

use super::context::ExportContext;
use super::mask::HOME_MARK;
use super::parts::{files, input, outcome, spent};
use crate::domain::datatable;
pub(super) use crate::domain::datatable::plain;
use crate::domain::message::{Body, Message};
use crate::domain::sanitise::{clean, clean_line};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::fmt::Write;

pub(super) fn row(row: &Message, look: &dyn ExportContext) -> String {
    let headed = |who: &str, text: &str| {
        format!("\n## {who} · {}\n\n{}\n", look.time(row.at), closed(clean(&datatable::unfolded(text)).trim_end()))
    };
    match &row.body {
        Body::User(said) => {
            let mut out = headed("You", &said.text);
            for name in files(row) {
                let _ = write!(out, "\n*with {}*\n", plain(&name));
            }
            out
        }
        Body::Assistant(said) if said.text.trim().is_empty() => String::new(),
        Body::Assistant(said) if said.partial => {
            headed(&format!("Assistant ({})", said.cut_off().unwrap_or_default()), &said.text)
        }
        Body::Assistant(said) => headed("Assistant", &said.text),
        Body::Thinking(thought) if thought.text.trim().is_empty() => String::new(),
        Body::Thinking(thought) => {
            let time = thought.millis.map_or_else(String::new, |millis| format!(" · {}", spent(millis)));
            folded(&format!("thinking{time}"), &fenced(&thought.text, ""))
        }
        Body::Tool(call) => {
            let subject = clean_line(&call.subject);
            let subject = subject.trim();
            let mut head = tagless(&call.name);
            if !subject.is_empty() {
                let _ = write!(head, " <code>{}</code>", tagless(subject));
            }
            let outcome = outcome(call);
            if !outcome.is_empty() {
                let _ = write!(head, " · {outcome}");
            }
            let language = if call.name == "bash" { "sh" } else { "json" };
            let result = call.result.as_deref().unwrap_or("(no result)");
            folded(&head, &format!("{}\n{}", fenced(&input(call), language), fenced(result, "")))
        }
        Body::Error(failure) => {
            let text = format!("{}: {}", failure.title, failure.text);
            format!("\n> **Error** · {}\n", quoted(&plain(&clean(&text))))
        }
        Body::Info(info) => format!("\n> {}\n", quoted(&plain(&clean(&info.text)))),
        Body::Plan(plan) => headed("Plan", &plan.markdown),
        Body::Odd(odd) => folded(&tagless(&odd.what), &fenced(&odd.raw, "")),
    }
}

fn folded(head: &str, body: &str) -> String {
    format!("\n<details>\n<summary>{head}</summary>\n\n{body}\n</details>\n")
}

fn quoted(text: &str) -> String {
    text.trim_end().replace('\n', "\n> ")
}

/// A text between fences that nothing in it closes.
fn fenced(text: &str, language: &str) -> String {
    let text = clean(text);
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// A text whose code does not run on into what follows: a fence that it left open is closed.
fn closed(text: &str) -> String {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let inner = line.trim_start();
        let Some(sign) = inner.chars().next().filter(|c| matches!(c, '`' | '~')) else { continue };
        let count = inner.chars().take_while(|c| *c == sign).count();
        let rest = inner.get(count..).unwrap_or_default();
        match open {
            Some((of, least)) if of == sign && count >= least && rest.trim().is_empty() => open = None,
            None if count >= 3 && !(sign == '`' && rest.contains('`')) => open = Some((sign, count)),
            _ => {}
        }
    }
    match open {
        Some((sign, count)) => format!("{text}\n{}", sign.to_string().repeat(count)),
        None => text.to_owned(),
    }
}

/// Markdown with `~` in the place of each [`HOME_MARK`], escaped outside of code and tags.
#[must_use]
pub fn homes_shown(text: &str) -> String {
    if !text.contains(HOME_MARK) {
        return text.to_owned();
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let (mut verbatim, mut in_block) = (Vec::new(), false);
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_block = true,
            Event::End(TagEnd::CodeBlock) => in_block = false,
            Event::Text(_) if !in_block => continue,
            Event::Text(_) | Event::Code(_) | Event::Html(_) | Event::InlineHtml(_) => {}
            _ => continue,
        }
        verbatim.push(range);
    }
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            HOME_MARK if verbatim.iter().any(|range| range.contains(&at)) => out.push('~'),
            HOME_MARK => out.push_str("\\~"),
            c => out.push(c),
        }
    }
    out
}

/// A text in which nothing is a tag.
fn tagless(text: &str) -> String {
    clean_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
