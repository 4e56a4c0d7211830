//! Words that a text on the screen does not use: each string literal of the sources is read, and a phrase of the table
//! is refused. Comments and test code are skipped. Texts for the model are read with the short table alone.

use super::source::{raw_hashes, sources, without_tests};
use std::path::Path;

/// A phrase in small letters, and what to write.
type Phrase = (&'static str, &'static str);

/// Refused in every text.
const EVERYWHERE: &[Phrase] = &[
    ("anew", "again, from scratch"),
    ("of theirs", "their"),
    ("what is there", "the noun: current content"),
    ("what is to be done", "Ask anything, or type / for commands"),
    ("began just now", "started just now"),
    ("broke off", "interrupted, closed early"),
    ("holds from", "takes effect after restart"),
    ("from the next start", "takes effect after restart"),
    ("nobody can bring back", "may be irreversible"),
    ("nobody can be asked", "this run is non-interactive"),
    ("nobody can answer", "this run is non-interactive"),
    ("not proved", "not known to be read-only"),
    ("commands that only read", "read-only commands"),
    ("known to only read", "known to be read-only"),
    ("only known when it runs", "only known at run time"),
    ("write or paste", "Enter key"),
    ("fixed once", "locked after the first message"),
    ("fixed after", "can't change after"),
    ("back to before", "Rewind to before…"),
    ("said lately", "Recent notifications"),
    ("with their last lines", "Tool output: tails"),
    ("rehearsed", "demo"),
    ("failed inside lisle", "internal error, see the log"),
    ("start lisle again", "restart lisle"),
    ("the nearest is", "Closest match:"),
    ("waits to be chosen", "found"),
    ("list all again", "clear filter"),
    ("had an error of its own", "returned a server error"),
    ("has too much to do", "is overloaded"),
    ("with no way back", "permanently"),
    ("does not exist any more", "no longer exists"),
    ("is not here any more", "no longer exists"),
    ("not there any more", "no longer exists"),
    ("write ahead", "Type ahead"),
    ("is this plan good", "Approve this plan?"),
    ("nothing waits for", "Nothing to answer"),
    ("the queue is held", "Queue paused"),
    ("lets it go", "sends it"),
    ("the program ended", "lisle quit"),
    ("stays with", "can't change"),
    ("asked not yet", "not checked"),
    ("not asked yet", "not checked"),
    ("or no longer", "toggle X"),
    ("take one back", "view or revoke"),
    ("what others wrote", "trust this workspace"),
    ("goes on as", "continues as"),
    ("in the last row", "recent notifications"),
    ("offered to the terminal", "copied (OSC 52, unconfirmed)"),
    ("tries again in a while", "Try again in a moment"),
    ("try again in a while", "Try again in a moment"),
    ("would be stopped", "will be stopped"),
    ("nothing is known of", "No model details from server"),
    ("nobody else", "name it"),
    ("go to ask to edit", "continue in Ask to Edit"),
    ("session is being made", "Session not saved yet"),
];

/// Refused in what a user reads: screens, notices, the command line, settings.
const FOR_USERS: &[Phrase] = &[
    ("is to be", "the verb itself: approve, run"),
    ("are to be", "the verb itself"),
    ("it waits", "pending, queued"),
    ("are not understood", "invalid X"),
    ("counts no longer", "is no longer valid"),
    ("no longer is", "is no longer X"),
    ("at this place", "at this position"),
    ("of this id", "with this id"),
    ("of this name", "with this name"),
    ("nobody answered", "no answer"),
    ("parsing failed", "the noun: what was not checked"),
    ("waits for you", "waiting for you, needs you"),
    ("who answers", "choose a model"),
    ("there is no", "No X, or: unknown X"),
    ("there are no", "No X"),
    ("there is nothing", "Nothing to X"),
    ("is no longer there", "no longer exists"),
    ("this is no", "not a X"),
    ("it is no", "not a X"),
    ("could not be", "can't X, or: X failed"),
    ("cannot", "can't"),
    ("take back", "undo, restore, revoke"),
    ("takes back", "undoes, restores"),
    ("taken back", "undone, restored"),
    ("take away", "remove"),
    ("takes away", "removes"),
    ("put it away", "discard"),
    ("sum up", "summarize"),
    ("sums up", "summarizes"),
    ("summed up", "summarized"),
    ("any more", "no longer"),
    ("once more", "again"),
    ("look again", "check again"),
    ("let it go", "send"),
    ("so that there is room", "to free context"),
    ("at this moment", "nothing, or: now"),
    ("is not understood", "is not supported, invalid X"),
    ("comes along", "is included"),
    ("come along", "is included"),
    ("goes along", "is attached"),
    ("of the one", "name it"),
    ("colour", "color"),
    ("colours", "colors"),
    ("equal ones", "identical requests"),
    ("all of it is", "name it"),
    ("block of code", "code block"),
    ("blocks of code", "code blocks"),
    ("by itself", "automatically"),
    ("it is well", "OK"),
    ("gone for good", "deleted permanently"),
];

/// Folders of texts for users.
const USER_FOLDERS: &[&str] = &[
    "src/app",
    "src/channels",
    "src/gateway",
    "src/ui",
    "src/cli",
    "src/runtime",
    "src/domain",
    "src/config",
    "src/permit",
    "src/routes",
    "src/keymap",
    "src/theme",
];

/// Folders whose texts reach a user at times, and the model otherwise.
const OTHER_FOLDERS: &[&str] = &["src/agent", "src/tools", "src/store", "src/provider", "src/sandbox"];

/// Texts that keep a phrase: file, a part of the text, reason.
const KEPT: &[(&str, &str, &str)] = &[
    ("src/permit/shell/table/search.rs", "--colour?", "an option of grep"),
    ("src/store/format/row.rs", "The program ended", "a row that earlier versions wrote"),
];

/// The string literals of a source with their lines, without those of comments and tests.
fn texts(source: &str, tests_only: bool) -> Vec<(usize, String)> {
    let chars: Vec<char> = source.chars().collect();
    let at_char = |i: usize| chars.get(i).copied().unwrap_or('\0');
    // The code with a mark for each literal, so that test items can be cut out of it.
    let (mut code, mut found, mut line, mut at) = (String::new(), Vec::new(), 1, 0);
    while at < chars.len() {
        let c = chars[at];
        let word_before = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
        let raw = raw_hashes(&chars, at).filter(|_| !word_before);
        if c == '/' && at_char(at + 1) == '/' {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if raw.is_some() || c == '"' {
            let (hashes, begin) = raw.map_or((None, at + 1), |(hashes, begin)| (Some(hashes), begin));
            let (start, mut text) = (line, String::new());
            at = begin;
            while at < chars.len() {
                let closed = chars[at] == '"' && (0..hashes.unwrap_or(0)).all(|i| at_char(at + 1 + i) == '#');
                if closed {
                    break;
                }
                line += usize::from(chars[at] == '\n');
                if hashes.is_none() && chars[at] == '\\' {
                    at += 1;
                    if at_char(at) == '\n' {
                        // The text goes on behind the blanks of the next line.
                        line += 1;
                        while at_char(at + 1).is_whitespace() {
                            at += 1;
                            line += usize::from(chars[at] == '\n');
                        }
                    } else {
                        text.push(if at_char(at) == 'n' { ' ' } else { at_char(at) });
                    }
                } else {
                    text.push(chars[at]);
                }
                at += 1;
            }
            at += 1 + hashes.unwrap_or(0);
            code.push_str(&format!("\u{1}{}\u{2}", found.len()));
            found.push((start, text));
        } else if c == '\'' && (at_char(at + 1) == '\\' || at_char(at + 2) == '\'') {
            at += if at_char(at + 1) == '\\' { 3 } else { 2 };
            while at < chars.len() && chars[at] != '\'' {
                at += 1;
            }
            at += 1;
        } else {
            line += usize::from(c == '\n');
            code.push(c);
            at += 1;
        }
    }
    let code = without_tests(&code, tests_only);
    let kept = code.split('\u{1}').skip(1).filter_map(|rest| rest.split_once('\u{2}')?.0.parse::<usize>().ok());
    kept.filter_map(|n| found.get(n).cloned()).collect()
}

/// True if a text has a phrase as whole words.
fn has(text: &str, phrase: &str) -> bool {
    let text = text.to_lowercase();
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(phrase)
        .any(|(at, _)| !word(text[..at].chars().next_back()) && !word(text[at + phrase.len()..].chars().next()))
}

#[test]
fn texts_use_the_words_of_the_field() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut refused = Vec::new();
    for folder in USER_FOLDERS.iter().chain(OTHER_FOLDERS) {
        let mut files = Vec::new();
        sources(root, Path::new(folder), &mut files).unwrap();
        for file in files {
            let name = file.to_string_lossy().into_owned();
            let tests_only = name.contains("/tests");
            let tables = if USER_FOLDERS.contains(folder) { [EVERYWHERE, FOR_USERS] } else { [EVERYWHERE, &[]] };
            for (line, text) in texts(&std::fs::read_to_string(root.join(&file)).unwrap(), tests_only) {
                // A single word is a name.
                if !text.contains(' ') || KEPT.iter().any(|(at, part, _)| name == *at && text.contains(part)) {
                    continue;
                }
                let found = tables.into_iter().flatten().find(|(phrase, _)| has(&text, phrase));
                refused.extend(
                    found.map(|(phrase, write)| format!("{name}:{line}: “{phrase}”; write: {write}\n    {text}")),
                );
            }
        }
    }
    assert!(refused.is_empty(), "{} texts to reword:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn literals_are_found_and_comments_and_tests_are_not() {
    let source = "//! \"no\"\nconst A: &str = \"one \\\n    two\"; // \"no\"\nlet q = '\"'; let b = r#\"a \"b\" c\"#;\n\
                  #[cfg(test)]\nmod tests {\n    const T: &str = \"is to be {\";\n}\nconst Z: &str = \"last\";\n";
    let found: Vec<String> = texts(source, false).into_iter().map(|(line, text)| format!("{line} {text}")).collect();
    assert_eq!(found, ["2 one two", "4 a \"b\" c", "9 last"]);
    assert!(has("It is to be done.", "is to be") && !has("this to be", "is to be") && !has("Renewed", "anew"));
}
