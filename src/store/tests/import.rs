//! Sessions of other programs as sessions here, and what is told of the rest.

use super::lifecycle::{quick, tree};
use super::*;
use crate::domain::message::Body;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import").join(name)
}

fn imported(name: &str, mode: Mode) -> (tempfile::TempDir, Imported, Vec<String>) {
    let root = tempfile::tempdir().unwrap();
    let store = quick(root.path());
    let before = std::fs::read(fixture(name)).unwrap();
    let imported = store.import(&fixture(name), Path::new(""), mode, NOW).unwrap();
    assert!(std::fs::read(fixture(name)).unwrap() == before, "the source is only read");
    assert!(store.verify(&imported.meta.id).unwrap().is_sound());
    let rows = store.read(&imported.meta.id, 500).unwrap().rows;
    assert_eq!(imported.meta.messages as usize, rows.len());
    // What did not come along is told at the end.
    let last = rows.last().map(|row| format!("{:?}", row.body)).unwrap_or_default();
    assert!(imported.left.iter().all(|sentence| last.contains(sentence.as_str())), "{last}");
    let said = rows.iter().filter(|row| !matches!(row.body, Body::Info(_)));
    let words = said.map(|row| match &row.body {
        Body::User(said) => format!("you: {}", said.text),
        Body::Assistant(said) => format!("assistant: {}", said.text),
        Body::Thinking(thought) => format!("thinking: {}", thought.text),
        Body::Tool(call) => {
            format!("{} {} [{:?}]: {}", call.name, call.subject, call.status, call.result.clone().unwrap_or_default())
        }
        other => format!("{other:?}"),
    });
    let words = words.collect();
    (root, imported, words)
}

#[test]
fn a_transcript_of_claude_code() {
    let (_root, imported, words) = imported("claude.jsonl", Mode::Execute);
    let wanted = [
        "you: Why does the redirect drop the query?",
        "thinking: Look at the redirect.",
        "assistant: I look first.",
        "read /home/ada/app/src/redirect.rs [Completed]: fn redirect() {}",
        "bash cargo test redirect [Error]: 1 failed",
        "assistant: `next` is decoded **twice**.",
        "you: And this picture?",
        "bash sleep 60 [Error]: interrupted",
    ];
    assert_eq!(words, wanted);
    let meta = &imported.meta;
    assert_eq!((meta.title.as_str(), meta.cwd.as_path()), ("Redirect keeps its query", Path::new("/home/ada/app")));
    assert_eq!((meta.created, meta.mode), (At(1_779_780_459_000), Mode::Ask));
    assert!(meta.id.as_str().starts_with("260526-"), "{}", meta.id);
    assert_eq!((imported.program, meta.last_message), ("Claude Code", At(1_779_780_480_000)));
    let left = [
        "Attached files that did not come along: 1.",
        "Commands of the program that did not come along: 1.",
        "Lines that are no JSON that did not come along: 1.",
        "Records of a kind that lisle does not know that did not come along: 1.",
        "Records of subagents that did not come along: 1.",
        "Remarks of the program that did not come along: 1.",
    ];
    assert_eq!(imported.left, left);
}

#[test]
fn rollouts_of_codex() {
    let (_root, imported, words) = imported("codex.jsonl", Mode::Explore);
    let wanted = [
        "you: How many files are here?",
        "thinking: **Counting files**",
        "bash ls | wc -l [Completed]: 12\n",
        "apply_patch  [Error]: failed",
        "assistant: There are 12.",
    ];
    assert_eq!(words, wanted);
    assert_eq!(imported.left, ["Searches of the web that did not come along: 1."]);
    assert_eq!((imported.meta.mode, imported.meta.shown_title()), (Mode::Explore, "How many files are here?"));
    let (_root, imported, words) = self::imported("codex-older.jsonl", Mode::Ask);
    assert_eq!(words, ["you: Say hello", "bash echo hello [Completed]: hello", "assistant: hello"]);
    assert_eq!((imported.left.len(), imported.program), (0, "Codex"));
}

#[test]
fn a_folder_comes_with_every_line_and_its_times() {
    for workspace in ["main", "damaged"] {
        let other = copy_of(workspace);
        let from = quick(other.path());
        let root = tempfile::tempdir().unwrap();
        let store = quick(root.path());
        for parent in from.list().sessions {
            let dir = from.session_dir(&parent.id);
            let before = tree(&dir);
            let imported = store.import(&dir, Path::new(""), Mode::Execute, NOW).unwrap();
            assert_eq!(tree(&dir), before, "{}", parent.id);
            let meta = imported.meta;
            assert_eq!((meta.created, meta.last_message), (parent.created, parent.last_message), "{}", parent.id);
            assert_eq!((&meta.cwd, &meta.branched_from), (&parent.cwd, &None));
            // A path into the session leads into the new one.
            assert!(meta.title == parent.title || meta.title.contains(meta.id.as_str()), "{}", meta.title);
            let theirs = from.read(&parent.id, 5000).unwrap().rows;
            let ours = store.read(&meta.id, 5000).unwrap().rows.len();
            // The half of a line that a death left is none.
            let half = theirs.last().is_some_and(|row| matches!(row.body, Body::Odd(_)));
            assert!(ours == theirs.len() || half && ours + 1 == theirs.len(), "{}", parent.id);
        }
    }
}

#[test]
fn what_is_no_session_makes_none() {
    let root = tempfile::tempdir().unwrap();
    let store = quick(root.path());
    for (name, content) in
        [("notes.txt", "hello\n"), ("a.jsonl", "{\"a\":1}\n"), ("empty.jsonl", ""), ("b.bin", "\u{0}\u{1}")]
    {
        std::fs::write(root.path().join(name), content).unwrap();
        let error = store.import(Path::new(name), root.path(), Mode::Ask, NOW).unwrap_err().to_string();
        assert!(error.contains("no session that lisle knows"), "{error}");
    }
    assert!(store.import(Path::new("gone"), root.path(), Mode::Ask, NOW).is_err());
    assert!(store.import(root.path(), Path::new(""), Mode::Ask, NOW).is_err(), "a folder without a session");
    assert!(store.list().sessions.is_empty());
}
