//! Names and texts of conversations that are written to files.

use super::*;
use crate::domain::ids::{CallId, MessageId, SessionId};
use crate::domain::message::{AssistantText, Failure, UserText};
use crate::domain::permission::Mode;
use crate::domain::tool::{ToolFigures, ToolStatus};
use pulldown_cmark::{Event, Parser, Tag};

fn at(_: At) -> String {
    "2026-09-02 10:00".to_owned()
}

fn row(body: Body) -> Message {
    Message::new(MessageId::new("m"), At(1), body)
}

fn said(text: &str) -> Message {
    row(Body::Assistant(AssistantText { text: text.to_owned(), ..AssistantText::default() }))
}

fn asked(text: &str) -> Message {
    row(Body::User(UserText::from(text)))
}

fn called(subject: &str, result: &str) -> Message {
    row(Body::Tool(Box::new(ToolCall {
        id: CallId::new("c"),
        name: "bash".to_owned(),
        input: serde_json::json!({"command": subject}),
        subject: subject.to_owned(),
        status: ToolStatus::Completed,
        result: Some(result.to_owned()),
        millis: Some(6240),
        figures: ToolFigures { exit: Some(101), ..ToolFigures::default() },
        decision: None,
    })))
}

fn meta(title: &str) -> SessionMeta {
    let id = SessionId::parse("260902-swift-river").unwrap();
    SessionMeta { title: title.to_owned(), ..SessionMeta::new(id, At(1), Mode::Ask, "/w".into()) }
}

/// The headings of the second level that a reader sees.
fn headings(markdown: &str) -> usize {
    let is = |event: &Event<'_>| matches!(event, Event::Start(Tag::Heading { level, .. }) if *level as usize == 2);
    Parser::new(markdown).filter(is).count()
}

#[test]
fn no_text_swallows_what_follows_it() {
    for text in ["```rust\nfn open() {}", "~~~~\n```\n", "`one` and ```two``` inline", "````\n```\n````\n```"] {
        let whole: String = [said(text), asked("next")].iter().map(|row| Format::Markdown.row(row, &at)).collect();
        assert_eq!(headings(&whole), 2, "{whole}");
    }
    let whole: String = [called("cat a.md", "```\n````\n# no heading\n## nor this"), asked("next")]
        .iter()
        .map(|row| Format::Markdown.row(row, &at))
        .collect();
    assert_eq!(headings(&whole), 1, "{whole}");
    assert!(whole.contains("<summary>bash <code>cat a.md</code> · exit 101 · 6.2 s</summary>"), "{whole}");
}

#[test]
fn nothing_in_a_page_acts() {
    let nasty = "a <script>alert(1)</script> [x](javascript:alert(1)) ![p](https://a.test/p.png) <img src=x onerror=a>\n\n\
                 [f](file:///etc/passwd) `<b>` \u{1b}]0;t\u{7}\n\n<div onclick=a>\n\n| a |\n|---|\n| <i> |\n";
    let failure = Failure {
        code: "c".into(),
        title: "<b>t".into(),
        text: "x & y".into(),
        detail: String::new(),
        actions: vec![],
    };
    let rows = [said(nasty), asked(nasty), called("<script>", nasty), row(Body::Error(failure))];
    let mut page = Format::Html.head(&meta("A </title><script>"), &at);
    rows.iter().for_each(|row| page.push_str(&Format::Html.row(row, &at)));
    page.push_str(Format::Html.tail());
    let tags: Vec<&str> = page.split('<').skip(1).filter_map(|rest| rest.split('>').next()).collect();
    for tag in &tags {
        let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
        assert!(!matches!(name, "script" | "img" | "i" | "b" | "iframe"), "{tag}");
        assert!(!tag.contains("onclick") && !tag.contains("onerror") && !tag.contains("javascript:"), "{tag}");
    }
    assert_eq!(page.matches("<script").count() + page.matches('\u{1b}').count(), 0);
    assert_eq!(page.matches("href=").count(), 1, "the picture is a link, and the others lead nowhere");
    assert!(page.contains("<th>a</th>") && page.contains("<td>&lt;i&gt;</td>"), "{page}");
}

#[test]
fn formats_are_known_by_word_and_by_name() {
    for format in Format::ALL {
        assert_eq!(Format::parse(format.word()), Some(format));
        assert_eq!(Format::of(Path::new(&format!("a.{}", format.ending()))), Some(format));
    }
    assert_eq!((Format::parse("pdf"), Format::of(Path::new("a"))), (None, None));
    for (title, name) in
        [("Fix: the /login redirect!", "fix-the-login-redirect"), ("…", "260902-swift-river"), ("Ünï", "ünï")]
    {
        assert_eq!(file_name(&meta(title)), name);
    }
    let plain = Format::Text.row(&called("ls", "a\u{1b}[31mb"), &at);
    assert_eq!(plain, "\n[bash ls · exit 101 · 6.2 s · 2026-09-02 10:00]\nab\n");
}
