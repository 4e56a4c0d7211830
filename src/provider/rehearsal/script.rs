//! Reads what the user wrote as a chain of steps. Pure text; what a step does is decided in `act`.

/// The verbs, as the help text lists them.
pub(super) const VERBS: [(&str, &str); 13] = [
    ("list [PATH]", "list a directory"),
    ("read PATH", "read a file"),
    ("find TEXT [in PATH]", "search in files"),
    ("run COMMAND", "run a shell command"),
    ("write PATH: CONTENT", "write a file"),
    ("replace OLD with NEW in PATH", "change a file"),
    ("fetch URL", "fetch a page from the network"),
    ("ask QUESTION | OPTION | OPTION", "ask you something"),
    ("plan TEXT", "submit a plan and carry it out once approved"),
    ("delegate TEXT | TEXT", "spawn a session per task; a trailing & runs them in the background"),
    ("think TEXT", "show some thinking"),
    ("stream N", "write N words of markdown"),
    (
        "fail KIND [TIMES]",
        "simulate a failure: network, break, stall, rate, server, overload, key, billing, model, context",
    ),
];

/// One step of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScriptStep {
    List { path: String },
    Read { path: String },
    Find { text: String, path: Option<String> },
    Run { command: String },
    Write { path: String, content: String },
    Replace { old: String, new: String, path: String },
    Fetch { url: String },
    Ask { question: String, options: Vec<String> },
    Plan { text: String },
    Delegate { tasks: Vec<String>, background: bool },
    Think { text: String },
    Stream { words: usize },
    Fail { kind: FailKind, times: Option<u32> },
}

/// Failure on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailKind {
    Network,
    Break,
    Stall,
    Rate,
    Server,
    Overload,
    Key,
    Billing,
    Model,
    Context,
}

/// Result of reading a text as a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// These steps, at least one.
    Steps(Vec<ScriptStep>),
    /// It begins with a verb, but something is missing: a sentence that says what.
    Wrong(String),
    /// It begins with no verb.
    Unknown,
}

/// The most words that `stream` writes.
pub(super) const MOST_WORDS: usize = 100_000;

#[derive(Clone, Copy)]
enum Verb {
    List,
    Read,
    Find,
    Run,
    Write,
    Replace,
    Fetch,
    Ask,
    Plan,
    Delegate,
    Think,
    Stream,
    Fail,
}

/// Reads a text. It begins at its first line that starts with a verb, so that remarks before it do no harm.
pub(super) fn parse(text: &str) -> Script {
    let mut start = 0;
    let mut found = None;
    for line in text.split_inclusive('\n') {
        if verb_at(line).is_some() {
            found = text.get(start..);
            break;
        }
        start += line.len();
    }
    let Some(text) = found else { return Script::Unknown };
    let mut steps = Vec::new();
    for part in split_chain(text) {
        match verb_at(part).map(|(verb, rest)| step(verb, rest)) {
            Some(Ok(step)) => steps.push(step),
            Some(Err(why)) => return Script::Wrong(why),
            None => return Script::Unknown,
        }
    }
    Script::Steps(steps)
}

/// The verb that a text begins with (after "please" and the like), and what follows it.
fn verb_at(text: &str) -> Option<(Verb, &str)> {
    let mut text = text.trim_start();
    loop {
        let (word, rest) = first_word(text);
        let verb = match word.trim_end_matches([':', ',']).to_lowercase().as_str() {
            "please" | "first" | "now" | "then" | "and" => {
                text = rest;
                continue;
            }
            "list" | "ls" => Verb::List,
            "read" | "cat" => Verb::Read,
            "find" | "grep" | "search" => Verb::Find,
            "run" => Verb::Run,
            "write" => Verb::Write,
            "replace" => Verb::Replace,
            "fetch" => Verb::Fetch,
            "ask" => Verb::Ask,
            "plan" => Verb::Plan,
            "delegate" => Verb::Delegate,
            "think" => Verb::Think,
            "stream" => Verb::Stream,
            "fail" => Verb::Fail,
            _ => return None,
        };
        return Some((verb, rest.trim()));
    }
}

fn first_word(text: &str) -> (&str, &str) {
    match text.find(char::is_whitespace) {
        Some(end) => (text.get(..end).unwrap_or(text), text.get(end..).unwrap_or("").trim_start()),
        None => (text, ""),
    }
}

/// Cuts a text at each "then" that stands outside of quotes and is followed by a verb. The second condition keeps
/// `run if true; then echo yes; fi` and prose in one piece.
fn split_chain(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let word_begins = before.is_none_or(|b| b.is_whitespace() || matches!(b, ',' | ';' | ':' | '('));
        if word_begins && is_quote(c) {
            if let Some(end) = closing(text, at, c) {
                at = end;
                continue;
            }
        } else if word_begins
            && at > from
            && let Some(word) = text.get(at..at + 4)
            && word.eq_ignore_ascii_case("then")
            && let Some(rest) = text.get(at + 4..)
            && rest.starts_with(|c: char| c.is_whitespace())
            && verb_at(rest).is_some()
            && let Some(head) = text.get(from..at)
        {
            parts.push(trim_joint(head));
            at += 4;
            from = at;
            continue;
        }
        at += c.len_utf8();
    }
    parts.push(text.get(from..).unwrap_or("").trim());
    parts
}

/// Takes the comma or "and" off the end of a part that a "then" follows.
fn trim_joint(part: &str) -> &str {
    let part = part.trim_end().trim_end_matches([',', ';']).trim_end();
    match part.len().checked_sub(4).and_then(|cut| Some((part.get(..cut)?, part.get(cut..)?))) {
        Some((head, tail)) if tail.eq_ignore_ascii_case(" and") => head.trim_end().trim_end_matches(',').trim_end(),
        _ => part,
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
}

/// The place after the quote that closes the one at `open`: one that a word could end with, so that the apostrophe of
/// "don't" closes nothing.
fn closing(text: &str, open: usize, quote: char) -> Option<usize> {
    let inside = text.get(open + 1..)?;
    inside.match_indices(quote).map(|(i, _)| open + 1 + i + 1).find(|&end| {
        let next = text.get(end..).and_then(|rest| rest.chars().next());
        next.is_none_or(|c| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '.' | '!' | '?' | ')' | '|'))
    })
}

/// A quoted text at the beginning, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|&c| is_quote(c))?;
    let end = closing(text, 0, quote)?;
    Some((text.get(1..end - 1)?, text.get(end..)?.trim_start()))
}

/// The whole text without the quotes around it, if there are any.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    match quoted(text) {
        Some((inside, "")) => inside,
        _ => text,
    }
}

/// A path as people write it in a sentence: quotes and the full stop at its end do not belong to it.
fn path(text: &str) -> String {
    let bare = unquoted(text);
    if bare.len() < text.trim().len() {
        return bare.to_owned();
    }
    let cut = bare.trim_end_matches(['.', ',', ';', '!', '?']);
    if cut.is_empty() || cut.ends_with('/') { bare.to_owned() } else { unquoted(cut).to_owned() }
}

/// Words that stand around a path in a sentence.
const AROUND_A_PATH: &[&str] = &[
    "the",
    "all",
    "of",
    "in",
    "file",
    "files",
    "folder",
    "directory",
    "content",
    "contents",
    "here",
    "this",
    "please",
    "me",
];

/// A text without the words around its path, if one word or none is left: `the files in src, please` is `src`.
fn without_words_around(text: &str) -> &str {
    let is_around = |word: &str| {
        let word = word.trim_end_matches(['.', ',', ';', '!', '?']).to_lowercase();
        !word.is_empty() && AROUND_A_PATH.contains(&&*word)
    };
    if quoted(text).is_some() || text.split_whitespace().count() < 2 {
        return text;
    }
    let mut left = text.split_whitespace().filter(|word| !is_around(word));
    match (left.next(), left.next()) {
        (None, _) => "",
        (Some(path), None) => path,
        _ => text,
    }
}

fn step(verb: Verb, rest: &str) -> Result<ScriptStep, String> {
    let rest = if matches!(verb, Verb::List | Verb::Read) { without_words_around(rest) } else { rest };
    let needs = |what: &str| -> Result<&str, String> { if rest.is_empty() { Err(what.to_owned()) } else { Ok(rest) } };
    Ok(match verb {
        Verb::List => ScriptStep::List { path: if rest.is_empty() { ".".to_owned() } else { path(rest) } },
        Verb::Read => ScriptStep::Read { path: path(needs("`read` needs a path: `read README.md`.")?) },
        Verb::Find => find(needs("`find` needs a text: `find TODO in src`.")?),
        Verb::Run => ScriptStep::Run { command: unquoted(needs("`run` needs a command: `run ls -l`.")?).to_owned() },
        Verb::Write => write(rest)?,
        Verb::Replace => replace(rest)?,
        Verb::Fetch => {
            ScriptStep::Fetch { url: path(needs("`fetch` needs an address: `fetch https://example.org/`.")?) }
        }
        Verb::Ask => ask(needs("`ask` needs a question: `ask Which one? | the first | the second`.")?),
        Verb::Plan => ScriptStep::Plan { text: unquoted(needs("`plan` needs a topic: `plan a tidy-up`.")?).to_owned() },
        Verb::Delegate => delegate(rest)?,
        Verb::Think => {
            // "think about it" is thinking about "it".
            let (word, topic) = first_word(rest);
            let topic = if word.eq_ignore_ascii_case("about") { topic } else { rest };
            ScriptStep::Think { text: unquoted(topic).to_owned() }
        }
        Verb::Stream => stream(rest)?,
        Verb::Fail => fail(rest)?,
    })
}

fn find(rest: &str) -> ScriptStep {
    if let Some((text, after)) = quoted(rest) {
        let (word, place) = first_word(after);
        let place = if word.eq_ignore_ascii_case("in") { place } else { after };
        return ScriptStep::Find { text: text.to_owned(), path: (!place.is_empty()).then(|| path(place)) };
    }
    match split_word(rest, " in ", Side::Last) {
        Some((text, place)) => ScriptStep::Find { text: text.to_owned(), path: Some(path(place)) },
        None => ScriptStep::Find { text: rest.to_owned(), path: None },
    }
}

fn write(rest: &str) -> Result<ScriptStep, String> {
    let wrong = || "`write` needs a path, a colon and the content: `write notes.md: Remember the milk`.".to_owned();
    let (name, content) = match quoted(rest) {
        Some((name, after)) => (name, after.strip_prefix(':').ok_or_else(wrong)?),
        None => rest.split_once(':').ok_or_else(wrong)?,
    };
    let name = unquoted(name);
    if name.is_empty() {
        return Err(wrong());
    }
    let content = content.trim();
    let content = match content.strip_prefix("```").and_then(|text| text.strip_suffix("```")) {
        Some(fenced) => fenced.split_once('\n').map_or(fenced, |(_, body)| body).trim_end_matches('\n'),
        None => unquoted(content),
    };
    let end = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
    Ok(ScriptStep::Write { path: name.to_owned(), content: format!("{content}{end}") })
}

fn replace(rest: &str) -> Result<ScriptStep, String> {
    let wrong = || "`replace` needs three things: `replace \"old\" with \"new\" in notes.md`.".to_owned();
    let (old, after) = match quoted(rest) {
        Some((old, after)) => {
            let (word, after) = first_word(after);
            if !word.eq_ignore_ascii_case("with") {
                return Err(wrong());
            }
            (old, after)
        }
        None => split_word(rest, " with ", Side::First).ok_or_else(wrong)?,
    };
    let (new, place) = match quoted(after) {
        Some((new, after)) => {
            let (word, place) = first_word(after);
            if !word.eq_ignore_ascii_case("in") {
                return Err(wrong());
            }
            (new, place)
        }
        None => split_word(after, " in ", Side::Last).ok_or_else(wrong)?,
    };
    if old.is_empty() || place.trim().is_empty() {
        return Err(wrong());
    }
    Ok(ScriptStep::Replace { old: old.to_owned(), new: new.to_owned(), path: path(place) })
}

/// Tasks in quotes may hold a "then" of their own.
fn delegate(rest: &str) -> Result<ScriptStep, String> {
    let (rest, background) = match rest.trim().strip_suffix('&') {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let tasks: Vec<String> =
        rest.split('|').map(|task| unquoted(task).to_owned()).filter(|task| !task.is_empty()).collect();
    if tasks.is_empty() {
        return Err("`delegate` needs a task: `delegate \"list src then read README.md\"`.".to_owned());
    }
    Ok(ScriptStep::Delegate { tasks, background })
}

fn ask(rest: &str) -> ScriptStep {
    let mut parts = rest.split('|').map(|part| unquoted(part).to_owned()).filter(|part| !part.is_empty());
    let question = parts.next().unwrap_or_else(|| rest.to_owned());
    ScriptStep::Ask { question, options: parts.collect() }
}

fn stream(rest: &str) -> Result<ScriptStep, String> {
    let (word, _) = first_word(rest);
    let digits: String = word.chars().filter(|c| !matches!(c, '_' | ',' | '.' | '\'')).collect();
    match digits.parse::<usize>() {
        Ok(words) if words > 0 => Ok(ScriptStep::Stream { words: words.min(MOST_WORDS) }),
        _ => Err("`stream` needs a number of words: `stream 500`.".to_owned()),
    }
}

fn fail(rest: &str) -> Result<ScriptStep, String> {
    let (word, rest) = first_word(rest);
    let kind = match word.trim_end_matches(['.', ',']).to_lowercase().as_str() {
        "network" => FailKind::Network,
        "break" => FailKind::Break,
        "stall" => FailKind::Stall,
        "rate" => FailKind::Rate,
        "server" => FailKind::Server,
        "overload" => FailKind::Overload,
        "key" => FailKind::Key,
        "billing" => FailKind::Billing,
        "model" => FailKind::Model,
        "context" => FailKind::Context,
        _ => {
            return Err("`fail` needs a kind: network, break, stall, rate, server, overload, key, billing, model or \
                        context, and if you like how many times: `fail rate 2`."
                .to_owned());
        }
    };
    let (times, _) = first_word(rest);
    let times = match times.trim_end_matches(['.', ',']).to_lowercase().as_str() {
        "once" => Some(1),
        "twice" => Some(2),
        number => number.parse().ok(),
    };
    Ok(ScriptStep::Fail { kind, times })
}

#[derive(Clone, Copy)]
enum Side {
    First,
    Last,
}

/// Splits at a word, whatever its case.
fn split_word<'a>(text: &'a str, word: &str, side: Side) -> Option<(&'a str, &'a str)> {
    // ASCII lower case keeps every byte where it was.
    let lower = text.to_ascii_lowercase();
    let at = match side {
        Side::First => lower.find(word),
        Side::Last => lower.rfind(word),
    }?;
    Some((text.get(..at)?.trim(), text.get(at + word.len()..)?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(path: &str) -> ScriptStep {
        ScriptStep::List { path: path.into() }
    }
    fn read(path: &str) -> ScriptStep {
        ScriptStep::Read { path: path.into() }
    }
    fn run(command: &str) -> ScriptStep {
        ScriptStep::Run { command: command.into() }
    }
    fn find(text: &str, path: Option<&str>) -> ScriptStep {
        ScriptStep::Find { text: text.into(), path: path.map(Into::into) }
    }
    fn write(path: &str, content: &str) -> ScriptStep {
        ScriptStep::Write { path: path.into(), content: content.into() }
    }
    fn replace(old: &str, new: &str, path: &str) -> ScriptStep {
        ScriptStep::Replace { old: old.into(), new: new.into(), path: path.into() }
    }
    fn ask(question: &str, options: &[&str]) -> ScriptStep {
        ScriptStep::Ask { question: question.into(), options: options.iter().map(|&o| o.into()).collect() }
    }
    fn fail(kind: FailKind, times: Option<u32>) -> ScriptStep {
        ScriptStep::Fail { kind, times }
    }

    #[test]
    fn thinking_has_a_topic() {
        for (text, topic) in
            [("think about it", "it"), ("think hard", "hard"), ("think", ""), ("think 'about x'", "about x")]
        {
            assert_eq!(parse(text), Script::Steps(vec![ScriptStep::Think { text: topic.into() }]), "{text}");
        }
    }

    #[test]
    fn one_verb() {
        let table = [
            ("list", list(".")),
            ("List", list(".")),
            ("list src", list("src")),
            ("list .", list(".")),
            ("list ..", list("..")),
            ("please list ./", list("./")),
            ("list the files here, please", list(".")),
            ("List all files in src.", list("src")),
            ("list here", list("here")),
            ("read the file README.md, please", read("README.md")),
            ("read my notes", read("my notes")),
            ("read README.md", read("README.md")),
            ("READ README.md.", read("README.md")),
            ("read \"a file.txt\"", read("a file.txt")),
            ("read `a b`.", read("a b")),
            ("find TODO", find("TODO", None)),
            ("find fn main in src", find("fn main", Some("src"))),
            ("find \"in the\" in 'my docs'", find("in the", Some("my docs"))),
            ("find 'x y'", find("x y", None)),
            ("run cargo test -- --nocapture", run("cargo test -- --nocapture")),
            ("run `ls -l`", run("ls -l")),
            ("run if true; then echo yes; fi", run("if true; then echo yes; fi")),
            ("run echo \"a\" \"b\"", run("echo \"a\" \"b\"")),
            ("write a.md: Hello: you", write("a.md", "Hello: you\n")),
            ("write 'a b.md': \"one\ntwo\"", write("a b.md", "one\ntwo\n")),
            ("write a.rs:\n```rust\nfn a() {}\n```", write("a.rs", "fn a() {}\n")),
            ("write a.md:", write("a.md", "")),
            ("replace a with b in c.txt", replace("a", "b", "c.txt")),
            ("replace \"x with y\" with \"z in w\" in c.txt", replace("x with y", "z in w", "c.txt")),
            ("replace 'x' with '' in c.txt", replace("x", "", "c.txt")),
            ("ask Which one? | red | blue", ask("Which one?", &["red", "blue"])),
            ("ask Why don't you", ask("Why don't you", &[])),
            ("plan a tidy-up", ScriptStep::Plan { text: "a tidy-up".into() }),
            ("think about it", ScriptStep::Think { text: "it".into() }),
            ("stream 50", ScriptStep::Stream { words: 50 }),
            ("stream 5,000 words", ScriptStep::Stream { words: 5000 }),
            ("stream 999999999", ScriptStep::Stream { words: MOST_WORDS }),
            ("fail network", fail(FailKind::Network, None)),
            ("fail rate 2", fail(FailKind::Rate, Some(2))),
            ("fail server once.", fail(FailKind::Server, Some(1))),
            ("[The user stopped the turn before.]\n\nread a", read("a")),
        ];
        for (text, step) in table {
            assert_eq!(parse(text), Script::Steps(vec![step]), "{text}");
        }
    }

    #[test]
    fn chains() {
        let table = [
            ("list then read a", vec![list("."), read("a")]),
            ("list src, then read a, and then run ls", vec![list("src"), read("a"), run("ls")]),
            ("LIST THEN READ a THEN think", vec![list("."), read("a"), ScriptStep::Think { text: String::new() }]),
            (
                "write a.md: first this then that then read a.md",
                vec![write("a.md", "first this then that\n"), read("a.md")],
            ),
            ("write a.md: \"one then read two\" then list", vec![write("a.md", "one then read two\n"), list(".")]),
            ("run echo don't then read a", vec![run("echo don't"), read("a")]),
            ("read a\nthen read b", vec![read("a"), read("b")]),
            ("find grün in ä then please list ö", vec![find("grün", Some("ä")), list("ö")]),
            ("ask Now? | yes | no; then list", vec![ask("Now?", &["yes", "no"]), list(".")]),
        ];
        for (text, steps) in table {
            assert_eq!(parse(text), Script::Steps(steps), "{text}");
        }
    }

    #[test]
    fn what_is_no_script() {
        for text in ["", "hello", "Can you read this?", "then", "please", "lists", "thenlist"] {
            assert_eq!(parse(text), Script::Unknown, "{text}");
        }
        for text in [
            "read",
            "find",
            "run",
            "write a.md",
            "write : x",
            "replace a",
            "replace a with b",
            "replace 'a' by b in c",
            "ask",
            "plan",
            "stream",
            "stream many",
            "fail",
            "fail well",
            "list then read",
        ] {
            assert!(matches!(parse(text), Script::Wrong(_)), "{text}: {:?}", parse(text));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(text in "(list|read|then| |'|\"|`|:|ä|\n|with|in|replace|write|\\PC){0,30}") {
            let _ = parse(&text);
        }
    }
}
