//! Names and texts of conversations that are written to files.

use super::*;
use crate::domain::ids::{At, CallId, MessageId, SessionId};
use crate::domain::message::{AssistantText, Failure, UserText};
use crate::domain::permission::Mode;
use crate::domain::secret::{self, escapings, examples};
use crate::domain::tool::{ToolCall, ToolFigures, ToolStatus};
use proptest::prelude::*;
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
fn a_page_is_no_wider_than_a_phone() {
    let wide = format!("| {} |\n|---|\n| `{}` |\n", "head ".repeat(20), "x".repeat(300));
    let long = "y".repeat(400);
    let mut page = Format::Html.head(&meta(&long), &at);
    let rows =
        [said(&wide), said(&format!("`{long}` {long}\n\n```\n{long}\n```\n")), asked(&long), called(&long, &long)];
    rows.iter().for_each(|row| page.push_str(&Format::Html.row(row, &at)));
    let rule = |selector: &str| page.split_once(&format!("{selector}{{")).and_then(|(_, rest)| rest.split('}').next());
    // Every word may break, but for those in a table, which scrolls by itself.
    assert!(rule("\nbody").is_some_and(|rule| rule.contains("overflow-wrap:anywhere")), "{page}");
    assert_eq!(rule("\n.wide"), Some("overflow-x:auto"));
    assert!(rule("\npre").is_some_and(|rule| rule.contains("overflow-x:auto")));
    assert_eq!(page.matches("<table>").count(), 1);
    assert!(page.contains("<div class=\"wide\"><table>") && page.contains("</table></div>"), "{page}");
    assert!(!page.contains("nowrap") && !page.contains("min-width:4"));
}

#[test]
fn formats_are_known_by_word_and_by_name() {
    for format in Format::ALL {
        assert_eq!(Format::parse(format.word()), Some(format));
        // Lines of JSON say by their name only that they are some.
        let by_name = if format == Format::Openclaw { Format::Json } else { format };
        assert_eq!(Format::of(Path::new(&format!("a.{}", format.ending()))), Some(by_name));
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

#[test]
fn a_table_of_data_is_a_table_in_what_is_written() {
    let text =
        "See:\n```datatable\n{\"columns\": [\"City\", \"Sum\"], \"rows\": [[\"東|京\", 1], [\"<b>\", 2]]}\n```\n";
    let markdown = Format::Markdown.row(&said(text), &at);
    assert!(markdown.contains("| City | Sum |") && markdown.contains("東\\|京 | 1"), "{markdown}");
    let html = Format::Html.row(&said(text), &at);
    assert!(
        html.contains("<th>City</th>") && html.contains("<td>&lt;b&gt;</td>") && !html.contains("datatable"),
        "{html}"
    );
    let plain = Format::Text.row(&said(text), &at);
    assert!(plain.contains("| City | Sum |"), "{plain}");
    let broken = Format::Html.row(&said("```datatable\n{\"rows\": [\n```"), &at);
    assert!(broken.contains("<pre><code>"), "{broken}");
}

/// Rows that have the text wherever one can stand.
fn rows_with(text: &str) -> Vec<Message> {
    let failure =
        Failure { code: "c".into(), title: text.into(), text: text.into(), detail: text.into(), actions: vec![] };
    let mut all = vec![asked(text), said(text), called(text, text), row(Body::Error(failure))];
    for body in [
        Body::Thinking(crate::domain::message::Thinking { text: text.into(), ..Default::default() }),
        Body::Plan(crate::domain::message::Plan { path: text.into(), markdown: text.into() }),
        Body::Odd(crate::domain::message::Odd { what: text.into(), line: 1, raw: text.into() }),
        Body::Info(crate::domain::message::Info {
            text: text.into(),
            level: crate::domain::notice::Level::Info,
            kind: crate::domain::message::InfoKind::Remark,
            carried: None,
        }),
    ] {
        all.push(row(body));
    }
    all
}

/// A text as a reader copies it from the page or the markdown, signs of the format taken away.
fn read_back(written: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let text = entities.iter().fold(written.to_owned(), |text, (entity, sign)| text.replace(entity, sign));
    text.replace('\\', "")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_secret_stands_in_any_format_whatever_surrounds_it(
        before in "[*_`<>\\[\\](){}|~#&\"' \n.:;,-]{0,4}",
        behind in "[*_`<>\\[\\](){}|~#\"' \n,;]{0,4}",
        which in any::<prop::sample::Index>(),
        how in any::<prop::sample::Index>(),
    ) {
        let all = examples();
        let (text, plain) = &all[which.index(all.len())];
        let mut escapings = escapings().to_vec();
        escapings.push(("none", str::to_owned));
        let escape = how.get(&escapings).1;
        let (text, secret) = (escape(text), escape(plain));
        let whole = format!("see {before}{text}{behind} there");
        for format in [Format::Markdown, Format::Html, Format::Text] {
            let mut titled = meta(&whole);
            titled.preview = whole.clone();
            let mut out = format.safe_head(&titled, &at).0;
            rows_with(&whole).iter_mut().for_each(|row| out.push_str(&format.safe_row(row, &at).0));
            prop_assert!(!read_back(&out).contains(plain.as_str()), "{format:?} {whole:?}: {out}");
            prop_assert!(!out.contains(secret.as_str()) && !read_back(&out).contains(secret.as_str()), "{format:?} {whole:?}: {out}");
        }
        let line = serde_json::json!({"type": "user", "content": whole, "native": serde_json::json!([whole]).to_string()});
        let (safe, _) = secret::masked_json(&line.to_string()).unwrap_or_default();
        let read: serde_json::Value = serde_json::from_str(&safe).unwrap();
        let texts = [&read["content"], &read["native"]].map(|text| text.as_str().unwrap_or_default().to_owned());
        prop_assert!(texts.iter().all(|text| !text.contains(secret.as_str())), "{safe}");
    }
}

#[test]
fn home_paths_are_masked_wherever_they_begin() {
    let own = Path::new("/data/people/ann");
    for (text, masked) in [
        ("in /home/ann/a.rs, /Users/bob and /data/people/ann/x", "in ~/a.rs, ~ and ~/x"),
        (r"C:\Users\ann\a.rs", r"~\a.rs"),
        (
            r#"{"a":"x\n/home/ann/a","b":"C:\\Users\\ann\\a","c":"\t/data/people/ann"}"#,
            r#"{"a":"x\n~/a","b":"~\\a","c":"\t~"}"#,
        ),
        ("first\n/home/ann/a\n/home/ann.", "first\n~/a\n~."),
        ("file:///home/ann/a", "file://~/a"),
        ("(`/home/björk-2/a b`)", "(`~/a b`)"),
        ("cd /data/people/ann.", "cd ~."),
        (r"*/home/ann\_b/a\_b*", r"*~/a\_b*"),
    ] {
        assert_eq!(homes_masked(text, own).map(|(text, _)| text).as_deref(), Some(masked), "{text}");
    }
    for text in [
        "",
        "/home",
        "/home/",
        "/srv/home/ann",
        "https://a.example/Users/ann",
        "/data/people/anna",
        "/x/data/people/ann",
    ] {
        assert_eq!(homes_masked(text, own), None, "{text}");
    }
    assert_eq!(homes_masked("/home/a /home/b", Path::new("/")).map(|(_, count)| count), Some(2));
    for (text, masked) in [
        ("in /opt/acme/my_w/a.rs, /opt/acme/my_w.", Some("in …/my_w/a.rs, …/my_w.")),
        (r"*session · /opt/acme/my\_w*", Some(r"*session · …/my\_w*")),
        ("/opt/acme/my_work /srv/opt/acme/my_w /opt/acme", None),
    ] {
        assert_eq!(folder_masked(text, Path::new("/opt/acme/my_w")).as_deref(), masked, "{text}");
    }
    assert_eq!(folder_masked("/w/x", Path::new("/w")), None);
    let words = |keys, homes| Masked { keys, homes }.words();
    assert_eq!(
        (words(0, 0), words(1, 0).as_deref(), words(2, 1).as_deref()),
        (None, Some("1 key"), Some("2 keys, 1 home path"))
    );
}

/// Words between the tags of a page.
fn words_of(page: &str) -> String {
    let body = page.rsplit_once("</h2>").map_or(page, |(_, body)| body);
    let mut out = String::new();
    let mut in_tag = false;
    for c in body.chars() {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            c if !in_tag => out.push(c),
            _ => {}
        }
    }
    out.replace("&amp;", "&").replace("&#39;", "'").trim().to_owned()
}

proptest::proptest! {
    #[test]
    fn masked_homes_are_text_in_a_page_and_in_markdown(
        pieces in proptest::collection::vec(("[a-z]{1,5}", "[:=, ]", "[a-z]{1,5}"), 1..6),
    ) {
        let text: String = pieces.iter().map(|(word, sign, name)| format!("{word}{sign}/home/alice/{name} ")).collect();
        let shown: String = pieces.iter().map(|(word, sign, name)| format!("{word}{sign}~/{name} ")).collect();
        let (masked, count) = homes_masked_as(&text, Path::new("/root"), HOME_MARK).unwrap();
        assert_eq!(count, pieces.len());
        let page = |text: &str| {
            Format::Html.safe_row(&mut said(text), &at).0.replace(HOME_MARK, "~")
        };
        let html = page(&masked);
        assert!(!html.contains("<del>"), "{html}");
        assert_eq!(words_of(&html), shown.trim());
        let markdown = homes_shown(&masked);
        assert_eq!(words_of(&page(&markdown)), shown.trim(), "{markdown}");
    }
}

#[test]
fn masked_homes_in_code_have_no_backslash() {
    let (masked, _) =
        homes_masked_as("a /home/al/x `/home/al/y`\n\n```\n/home/al/z\n```\n", Path::new("/root"), HOME_MARK).unwrap();
    assert_eq!(homes_shown(&masked), "a \\~/x `~/y`\n\n```\n~/z\n```\n");
}

#[test]
fn a_carriage_return_ends_a_line_of_a_message_and_hides_nothing() {
    for format in [Format::Markdown, Format::Text, Format::Html] {
        let text = "first part\rsecond part\r\nthird\r";
        for mut row in [said(text), asked(text)] {
            let shown = format.safe_row(&mut row, &at).0;
            assert!(shown.contains("first part\nsecond part\nthird"), "{format:?}: {shown:?}");
        }
    }
}
