//! Response of a server as text for a model: the character set, a page as markdown, its title.

use encoding_rs::{Encoding, UTF_8};
use htmd::element_handler::{HandlerResult, Handlers};
use htmd::{Element, HtmlToMarkdown};
use reqwest::Url;

/// Elements that stay open inside each other. Beyond it a page is no page, and its markup is not followed.
const DEEPEST: usize = 5_000;
/// Room for as many elements inside each other: turning a page into markdown goes down into them.
const STACK: usize = 256 << 20;

/// Kind of a response's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// A page.
    Html,
    /// Any other text.
    Text,
    /// Binary data.
    Binary,
}

/// Kind of the bytes, from the server's header, or from their beginning where that is of no use.
#[must_use]
pub fn kind(content_type: &str, start: &[u8]) -> BodyKind {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (family, name) = essence.split_once('/').unwrap_or_default();
    match (family, name) {
        ("text", "html") | ("application", "xhtml+xml") => BodyKind::Html,
        ("text", _) => BodyKind::Text,
        ("application", name)
            if [
                "json",
                "xml",
                "javascript",
                "ecmascript",
                "yaml",
                "x-yaml",
                "toml",
                "sql",
                "x-sh",
                "graphql",
                "x-ndjson",
            ]
            .contains(&name)
                || name.ends_with("+json")
                || name.ends_with("+xml")
                || name.ends_with("+yaml") =>
        {
            BodyKind::Text
        }
        ("image", "svg+xml") => BodyKind::Text,
        ("", _) | ("application", "octet-stream" | "unknown") => by_start(start),
        _ => BodyKind::Binary,
    }
}

fn by_start(start: &[u8]) -> BodyKind {
    let start = start.get(..1024).unwrap_or(start);
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // The cut may lie within a character.
        Err(error) if error.error_len().is_none() => {
            start.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default()
        }
        Err(_) => return BodyKind::Binary,
    };
    if text.contains('\0') {
        return BodyKind::Binary;
    }
    let lower = text.trim_start().to_ascii_lowercase();
    if lower.starts_with("<!doctype html") || lower.starts_with("<html") { BodyKind::Html } else { BodyKind::Text }
}

/// The bytes as text: by a byte order mark, by what the server says, by what the page says, else as UTF-8.
#[must_use]
pub fn decode(bytes: &[u8], content_type: &str, kind: BodyKind) -> String {
    let said = charset(content_type).or_else(|| (kind == BodyKind::Html).then(|| charset_within(bytes)).flatten());
    let encoding = said.and_then(|label| Encoding::for_label(label.as_bytes())).unwrap_or(UTF_8);
    encoding.decode(bytes).0.into_owned()
}

fn charset(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let (_, after) = lower.split_once("charset")?;
    let after = after.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end =
        after.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '/' | '>')).unwrap_or(after.len());
    after.get(..end).filter(|label| !label.is_empty()).map(str::to_owned)
}

/// Character set named in a page's first bytes.
fn charset_within(bytes: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(bytes.get(..2048).unwrap_or(bytes)).into_owned();
    let lower = start.to_ascii_lowercase();
    lower.match_indices("<meta").find_map(|(at, _)| {
        let tag = lower.get(at..)?;
        charset(tag.get(..tag.find('>')?)?)
    })
}

/// A page as markdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkdownPage {
    /// Title on one line; may be empty.
    pub title: String,
    /// Text, without the site's navigation.
    pub markdown: String,
}

/// Turns a page into markdown. Links lead where they lead from `base`. Takes its time and a stack of its own: not for an
/// async thread.
#[must_use]
pub fn page(html: String, base: Url) -> MarkdownPage {
    if depth(&html) > DEEPEST {
        return MarkdownPage { title: String::new(), markdown: bare(&html) };
    }
    let work = std::thread::Builder::new().name("page".to_owned()).stack_size(STACK);
    let task = work.spawn(move || convert(&html, &base));
    task.ok().and_then(|task| task.join().ok()).unwrap_or_default()
}

fn convert(html: &str, base: &Url) -> MarkdownPage {
    let (links, pictures) = (base.clone(), base.clone());
    let reader = HtmlToMarkdown::builder()
        .scripting_enabled(false)
        .skip_tags(vec![
            "script", "style", "template", "svg", "iframe", "nav", "footer", "title", "select", "button", "dialog",
        ])
        .add_handler(vec!["a"], move |handlers: &dyn Handlers, element: Element<'_>| link(handlers, &element, &links))
        .add_handler(vec!["img"], move |_: &dyn Handlers, element: Element<'_>| Some(picture(&element, &pictures)))
        .build();
    let read = |part: &str| reader.convert(part).unwrap_or_default();
    let title = between(html, "title").map(|inner| read(inner).split_whitespace().collect::<Vec<_>>().join(" "));
    let main = ["main", "article"].into_iter().find_map(|tag| section(html, tag)).map(read);
    let markdown = match main {
        // A page that keeps its text elsewhere has a hull of its main part.
        Some(text) if text.len() >= 200 => text,
        _ => read(html),
    };
    MarkdownPage { title: title.unwrap_or_default(), markdown: calm(&markdown) }
}

fn attribute(element: &Element<'_>, name: &str) -> Option<String> {
    element.attrs.iter().find(|one| &*one.name.local == name).map(|one| one.value.to_string())
}

/// The address that a link leads to, as it can be asked for.
fn target(link: &str, base: &Url) -> Option<String> {
    let full = base.join(link.trim()).ok()?;
    matches!(full.scheme(), "http" | "https" | "mailto")
        .then(|| full.to_string().replace('(', "%28").replace(')', "%29"))
}

fn link(handlers: &dyn Handlers, element: &Element<'_>, base: &Url) -> Option<HandlerResult> {
    let inner = handlers.walk_children(element.node).content;
    let to = attribute(element, "href").filter(|link| !link.starts_with('#')).and_then(|link| target(&link, base));
    let text = inner.trim();
    Some(match to {
        _ if text.is_empty() => String::new().into(),
        // A link around several lines is a card, not a word.
        Some(to) if !text.contains('\n') => format!("[{text}]({to})").into(),
        Some(to) => format!("{text}\n\n[{to}]({to})\n\n").into(),
        None => inner.into(),
    })
}

/// A picture by its name; what stands in the page as bytes is not for reading.
fn picture(element: &Element<'_>, base: &Url) -> HandlerResult {
    let name = attribute(element, "alt").unwrap_or_default();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() {
        return String::new().into();
    }
    match attribute(element, "src").and_then(|src| target(&src, base)) {
        Some(src) => format!("![{name}]({src})").into(),
        None => format!("![{name}]").into(),
    }
}

/// Start and end of an opening tag of that name.
fn opening(lower: &str, tag: &str, from: usize) -> Option<(usize, usize)> {
    let sign = format!("<{tag}");
    let mut at = from;
    loop {
        at += lower.get(at..)?.find(&sign)?;
        let after = at + sign.len();
        if lower.get(after..)?.starts_with(|c: char| c.is_whitespace() || matches!(c, '>' | '/')) {
            return Some((at, after + lower.get(after..)?.find('>')? + 1));
        }
        at = after;
    }
}

/// Content of the first element of that name.
fn between<'a>(html: &'a str, tag: &str) -> Option<&'a str> {
    let lower = html.to_ascii_lowercase();
    let (_, from) = opening(&lower, tag, 0)?;
    let end = from + lower.get(from..)?.find(&format!("</{tag}"))?;
    html.get(from..end)
}

/// From the first element of that name to the end of the last one.
fn section<'a>(html: &'a str, tag: &str) -> Option<&'a str> {
    let lower = html.to_ascii_lowercase();
    let (from, _) = opening(&lower, tag, 0)?;
    let end = lower.rfind(&format!("</{tag}")).filter(|end| *end > from)?;
    html.get(from..end)
}

/// Nesting depth of the elements, from the tags alone: an upper bound.
fn depth(html: &str) -> usize {
    const EMPTY: [&str; 13] =
        ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];
    let (mut open, mut most) = (0_usize, 0_usize);
    for (at, _) in html.match_indices('<') {
        let rest = html.get(at + 1..).unwrap_or_default();
        let closing = rest.starts_with('/');
        let name: String = rest
            .trim_start_matches('/')
            .chars()
            .take(8)
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase();
        match name.as_str() {
            "" => {}
            _ if closing => open = open.saturating_sub(1),
            // These close themselves.
            name if EMPTY.contains(&name)
                || matches!(name, "p" | "li" | "dt" | "dd" | "tr" | "td" | "th" | "option") => {}
            _ => {
                open += 1;
                most = most.max(open);
            }
        }
    }
    most
}

/// The text of a page whose markup cannot be followed.
fn bare(html: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                out.push(' ');
            }
            c if !inside => out.push(c),
            _ => {}
        }
    }
    calm(&out)
}

/// No blanks at the ends of lines, and no more than one empty line in a row.
fn calm(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.trim().lines() {
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn base() -> Url {
        Url::parse("https://example.org/docs/start.html").unwrap()
    }

    #[test]
    fn a_page_becomes_markdown_without_what_is_not_its_text() {
        let html = r##"<!DOCTYPE html><html><head><title>Fish &amp;
            chips</title><style>p{}</style><script>alert(1)</script></head><body><nav><a href="/">Home</a></nav>
            <h1>Fish</h1><p>A <b>good</b> <a href="../chips?x=(1)">meal</a> and <a href="#top">more</a>,
            <a href="javascript:alert(1)">not this</a>.</p><img alt="a fish" src="data:image/png;base64,AAAA">
            <ul><li>one</li><li>two</li></ul><pre><code>let x = 1;</code></pre>
            <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><footer>legal</footer></body></html>"##;
        let page = page(html.to_owned(), base());
        assert_eq!(page.title, "Fish & chips");
        for part in [
            "# Fish",
            "**good**",
            "[meal](https://example.org/chips?x=%281%29)",
            "and more",
            "not this.",
            "![a fish]",
            "one",
            "```\nlet x = 1;",
            "| 1",
        ] {
            assert!(page.markdown.contains(part), "{part}:\n{}", page.markdown);
        }
        for not in ["alert", "p{}", "Home", "legal", "base64", "javascript"] {
            assert!(!page.markdown.contains(not), "{not}:\n{}", page.markdown);
        }
    }

    #[test]
    fn the_main_part_is_taken_where_there_is_one() {
        let long = "Words that say something. ".repeat(20);
        let html = format!("<body><div>Sign in</div><MAIN class=x><p>{long}</p></MAIN><div>Cookies</div></body>");
        let text = page(html, base()).markdown;
        assert!(text.starts_with("Words") && !text.contains("Cookies"), "{text}");
        let hull = format!("<main></main><div>{long}</div>");
        assert!(page(hull, base()).markdown.starts_with("Words"));
    }

    #[test]
    fn a_page_of_elements_inside_elements_is_survived() {
        let deep = format!("{}x{}", "<div>".repeat(4_900), "</div>".repeat(4_900));
        assert_eq!(page(deep, base()).markdown.trim(), "x");
        let absurd = "<b>".repeat(300_000) + "words";
        assert_eq!(page(absurd, base()).markdown.trim(), "words");
    }

    #[test]
    fn kinds_go_by_what_the_server_says_then_by_the_beginning() {
        for (said, start, is) in [
            ("text/html; charset=utf-8", "", BodyKind::Html),
            ("application/xhtml+xml", "", BodyKind::Html),
            ("TEXT/PLAIN", "<html>", BodyKind::Text),
            ("application/json", "", BodyKind::Text),
            ("application/ld+json", "", BodyKind::Text),
            ("application/pdf", "%PDF", BodyKind::Binary),
            ("image/png", "", BodyKind::Binary),
            ("image/svg+xml", "", BodyKind::Text),
            ("", "  <!DOCTYPE HTML><p>", BodyKind::Html),
            ("", "plain words", BodyKind::Text),
            ("application/octet-stream", "a\0b", BodyKind::Binary),
        ] {
            assert_eq!(kind(said, start.as_bytes()), is, "{said}");
        }
        assert_eq!(kind("", &[0xff, 0xd8, 0xff]), BodyKind::Binary);
        assert_eq!(kind("", &"ä".repeat(600).as_bytes()[..1023]), BodyKind::Text);
    }

    #[test]
    fn character_sets() {
        let latin = b"<meta charset='iso-8859-1'><p>caf\xe9";
        assert!(decode(latin, "text/html", BodyKind::Html).ends_with("caf\u{e9}"));
        assert_eq!(decode(b"caf\xe9", "text/plain; charset=\"windows-1252\"", BodyKind::Text), "caf\u{e9}");
        assert_eq!(decode(b"\xef\xbb\xbfx", "text/plain; charset=latin1", BodyKind::Text), "x");
        assert_eq!(decode("ü".as_bytes(), "text/plain; charset=nonsense", BodyKind::Text), "ü");
        let old = br#"<meta http-equiv="Content-Type" content="text/html; charset=shift_jis"><p>"#;
        let html = [old.as_slice(), &[0x93, 0xfa, 0x96, 0x7b]].concat();
        assert!(decode(&html, "text/html", BodyKind::Html).ends_with("日本"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes_is_read(html in "(<[a-z/!]{0,6}( href=[\"a-z#/]{0,5})?>?|[a-zä &;\n]{0,9}){0,60}") {
            let _ = page(html, base());
        }
    }
}
