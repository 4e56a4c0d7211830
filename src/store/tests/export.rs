//! Conversations as files: all of them, whatever is odd in them, and nothing else changed.

use super::lifecycle::{quick, tree};
use super::*;
use crate::domain::code::{Shade, ShadedRun};
use crate::domain::export::{ExportContext, Format, Masked};
use std::os::unix::fs::PermissionsExt;

fn at(at: At) -> String {
    at.0.to_string()
}

#[test]
fn every_session_of_every_sort_is_written_in_every_format() {
    for workspace in ["main", "damaged"] {
        let root = copy_of(workspace);
        let out = folder();
        let store = quick(root.path());
        for meta in store.list().sessions {
            let before = tree(&store.session_dir(&meta.id));
            let seen = store.read(&meta.id, 5000).unwrap();
            for format in Format::ALL {
                let done = store.export(&meta.id, Some(format), Some(out.path()), &at).unwrap();
                let text = String::from_utf8_lossy(&std::fs::read(&done.path).unwrap()).into_owned();
                assert_eq!(std::fs::metadata(&done.path).unwrap().permissions().mode() & 0o777, 0o600);
                for row in &seen.rows {
                    let Body::User(said) = &row.body else { continue };
                    let word = said.text.split(|c: char| !c.is_ascii_alphanumeric()).max_by_key(|word| word.len());
                    // A path into the session stands otherwise in its lines.
                    let plain = |word: &&str| word.len() < 16 && !said.text.contains("/sessions/");
                    let word = word.filter(plain).unwrap_or_default();
                    assert!(text.contains(word), "{} {format:?}: {word}", meta.id);
                }
            }
            assert_eq!(tree(&store.session_dir(&meta.id)), before, "{}", meta.id);
        }
    }
}

#[test]
fn lines_come_as_they_are_but_for_keys() {
    let root = folder();
    let store = quick(root.path());
    let mut meta =
        SessionMeta::new(SessionId::parse("260902-swift-river").unwrap(), NOW, Mode::Ask, root.path().into());
    meta.title = "Fix: the login".to_owned();
    let (id, mut journal) = store.create(&meta).unwrap();
    let key = format!("sk-{}", "a1b2c3d4e5f6a7b8");
    let said = Body::User(UserText::from(format!("the key is {key} here").as_str()));
    let rows = [user(1), Message::new(MessageId::new("msg-2"), NOW, said)];
    journal.append(&rows, Durability::Written).unwrap();
    journal.close().unwrap();
    drop(journal);
    let lines = store.export(&id, Some(Format::Json), None, &at).unwrap();
    assert_eq!(lines.path, root.path().join("fix-the-login.jsonl"));
    let file = std::fs::read_to_string(session_file(root.path(), id.as_str())).unwrap();
    assert_eq!(std::fs::read_to_string(&lines.path).unwrap(), file.replace(&key, "sk-***"));
    assert_eq!(lines.masked, Masked { keys: 1, homes: 0 });
    let openclaw = store.export(&id, Some(Format::Openclaw), None, &at).unwrap();
    let text = std::fs::read_to_string(&openclaw.path).unwrap();
    assert!(text.starts_with("{\"type\":\"session\",\"version\":3") && !text.contains(&key), "{text}");
    assert_eq!((openclaw.masked.keys, text.lines().count()), (1, 4), "{text}");
    std::fs::remove_file(&openclaw.path).unwrap();
    // Never over another one; and the name says the format.
    let again = store.export(&id, None, Some(Path::new("fix-the-login.jsonl")), &at).unwrap();
    assert_eq!(again.path, root.path().join("fix-the-login-2.jsonl"));
    let shared = store.share(&id, Format::Html, &at).unwrap();
    assert_eq!(shared.path, store.session_dir(&id).join("shared/fix-the-login.html"));
    assert!(!std::fs::read_to_string(&shared.path).unwrap().contains(&key));
    assert_eq!(store.verify(&id).unwrap().orphans, Vec::<String>::new());
    // Where tools work there may be no place.
    std::fs::remove_dir_all(root.path().join("gone")).ok();
    store.alter(&id, |meta| meta.cwd = root.path().join("gone")).unwrap();
    assert_eq!(store.export(&id, None, None, &at).unwrap().path, store.session_dir(&id).join("fix-the-login.md"));
    assert!(store.export(&id, None, Some(Path::new("nowhere/a.md")), &at).is_err());
}

/// A page in which every letter of code has a colour of its own.
struct Gaudy;

impl ExportContext for Gaudy {
    fn time(&self, _: At) -> String {
        String::new()
    }

    fn colours(&self, code: &str, _: &str) -> Vec<Vec<ShadedRun>> {
        let run = |(at, c): (usize, char)| {
            let (start, end) = (u32::try_from(at).unwrap(), u32::try_from(at + c.len_utf8()).unwrap());
            ShadedRun { start, end, shade: Shade::Keyword }
        };
        code.split('\n').map(|line| line.char_indices().map(run).collect()).collect()
    }
}

#[test]
fn no_colour_of_code_hides_a_path_from_its_mask() {
    let root = folder();
    let store = quick(root.path());
    let cwd = root.path().join("work/secret-project");
    let meta = SessionMeta::new(SessionId::parse("260902-swift-river").unwrap(), NOW, Mode::Ask, cwd.clone());
    let (id, mut journal) = store.create(&meta).unwrap();
    let code = format!("```rust\n// /home/ada/a.rs, /Users/Ann/b.rs and {}/c.rs\n```\n", cwd.display());
    let said = Body::Assistant(AssistantText { text: code, ..AssistantText::default() });
    journal.append(&[Message::new(MessageId::new("m"), NOW, said)], Durability::Written).unwrap();
    journal.close().unwrap();
    drop(journal);
    let shared = store.share(&id, Format::Html, &Gaudy).unwrap();
    let page = std::fs::read_to_string(&shared.path).unwrap();
    let plain = page.replace("<span class=\"k\">", "").replace("</span>", "");
    assert!(plain.contains("// ~/a.rs, ~/b.rs and …/secret-project/c.rs"), "{plain}");
    assert_eq!(shared.masked.homes, 2);
}
