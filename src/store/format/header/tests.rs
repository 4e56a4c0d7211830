//! Headers that are written, read, foreign or broken.

use super::*;
use crate::domain::session::Worktree;
use crate::domain::session::{BranchedFrom, ThinkingLevel, TitleFrom};
use crate::domain::{ConnectionName, MessageId, Mode, SessionId};
use proptest::prelude::*;

const DIR: &str = "/home/ada/w/sessions/a";

fn place() -> Home<'static> {
    Home { dir: Path::new(DIR), home: Path::new("/home/ada") }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        Just("{{SESSION_PATH}}/x".to_owned()),
        Just(format!("{DIR}/plans")),
        Just("line\n\"quote\" \\ \u{1f600}".to_owned()),
    ]
}

fn any_meta() -> impl Strategy<Value = SessionMeta> {
    let texts = (any_text(), any_text(), prop::collection::vec("[a-z:]{1,8}", 0..4), prop::option::of(any_text()));
    let flags = prop::array::uniform7(any::<bool>());
    let rest = (0i64..4_000_000_000_000, 0u64..99, 0usize..3, 0usize..6, 0usize..3, 0u64..1_000_000);
    (texts, flags, rest).prop_map(|((title, preview, labels, model), flags, (at, n, mode, thinking, from, tokens))| {
        let id = SessionId::parse("a").unwrap();
        let mut meta = SessionMeta::new(id, At(at), Mode::ALL[mode], "/home/ada/code".into());
        meta.title_from = [TitleFrom::Provisional, TitleFrom::Generated, TitleFrom::User][from];
        (meta.title, meta.preview, meta.labels, meta.model) = (title, preview, labels, model.clone());
        meta.connection = model.map(ConnectionName::new);
        [meta.flagged, meta.archived, meta.hidden, meta.unread, meta.connection_locked, _, _] = flags;
        meta.cwd = if flags[5] { "/home/ada".into() } else { format!("{DIR}/data").into() };
        meta.archived_at = meta.archived.then_some(At(at + 1));
        meta.last_read = (n % 3 == 0).then(|| MessageId::new("m-1"));
        meta.first_cwd = (n % 5 > 1).then(|| "/home/ada/first".into());
        meta.branched_from = (n % 4 == 0)
            .then(|| BranchedFrom { session: SessionId::parse("b").unwrap(), message: MessageId::new("m") });
        meta.worktree = (n % 7 == 0).then(|| Worktree {
            repository: "/r".into(),
            path: "/data/worktrees/w/a".into(),
            branch: "lisle/a".into(),
        });
        meta.messages = n;
        meta.plan_pending = n % 2 == 1;
        meta.thinking = ThinkingLevel::ALL[thinking];
        meta.usage.output_tokens = tokens;
        meta.usage.cost_usd = if flags[6] { 2.0 } else { 0.125 };
        meta
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_and_foreign_keys_stay(
        first in any_meta(), second in any_meta(), foreign in "[ -~]{0,20}", slot in prop::sample::select(vec![0, SLOT, SLOT_MAX]),
    ) {
        let mut fields = JsonFields::default();
        encode(&mut fields, None, &first, place());
        let stays = json!({"text": foreign, "deep": [[1.0]]}).to_string();
        fields.set("theirs", stays.clone());
        let (line, length) = line(&mut fields, slot).unwrap();
        prop_assert_eq!(line.len() + 1, length);
        let First::Header { fields: mut read, end, .. } = super::first(format!("{line}\nrow").as_bytes()) else {
            return Err(TestCaseError::fail("no header"));
        };
        prop_assert_eq!(end, length);
        let id = first.id.clone();
        prop_assert_eq!(&decode(&read, &id, place(), At(0)), &first);
        encode(&mut read, Some(&first), &second, place());
        prop_assert_eq!(&decode(&read, &id, place(), At(0)), &second);
        prop_assert_eq!(read.raw("theirs"), Some(stays.as_str()));
    }

    #[test]
    fn no_bytes_make_it_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in any::<prop::sample::Index>()) {
        super::first(&bytes);
        let mut fields = JsonFields::default();
        encode(&mut fields, None, &SessionMeta::new(SessionId::parse("a").unwrap(), At(5), Mode::Ask, "/".into()), place());
        let line = fields.render();
        let cut = cut.index(line.len());
        let torn_is_a_header = matches!(super::first(&line.as_bytes()[..cut]), First::Header { .. });
        prop_assert!(!torn_is_a_header);
    }
}

#[test]
fn the_preview_is_cut_first_and_then_the_header_is_refused() {
    let mut fields = JsonFields::default();
    fields.set("preview", json!("p".repeat(150)).to_string());
    fields.set("big", json!("x".repeat(8090)).to_string());
    let (line, slot) = super::line(&mut fields, 0).unwrap();
    assert_eq!((line.len() + 1, slot), (SLOT_MAX, SLOT_MAX));
    assert!(fields.text("preview").unwrap().len() < 150);
    fields.set("big", json!("x".repeat(8300)).to_string());
    assert!(super::line(&mut fields, 0).unwrap_err() > 100);
}

#[test]
fn whether_a_plan_waits_is_what_lisle_says_and_else_the_last_role() {
    for (own, role, pending) in [
        (r#"{"planPending":true}"#, "assistant", true),
        (r#"{"planPending":false}"#, "plan", false),
        (r#"{"titleFrom":"user"}"#, "plan", true),
        ("{}", "user", false),
    ] {
        let fields = JsonFields::parse(&format!(r#"{{"lastMessageRole":"{role}","lisle":{own}}}"#)).unwrap();
        let meta = decode(&fields, &SessionId::parse("a").unwrap(), place(), At(0));
        assert_eq!(meta.plan_pending, pending, "{own} {role}");
    }
}

#[test]
fn a_preview_is_one_line_of_150_characters() {
    assert_eq!(preview(" a\n\n b\tc "), "a b c");
    // The 150th character would be a blank at the end.
    assert_eq!(preview(&"日本 ".repeat(200)).chars().count(), 149);
    assert_eq!(preview(&"\u{1f600}".repeat(151)).chars().count(), 150);
}

#[test]
fn the_second_file_comes_back() {
    let mut header = JsonFields::default();
    header.set("id", "\"a\"".to_owned());
    let second = Second {
        before: "b".into(),
        after: "c".into(),
        length: 7,
        header,
        own: json!({"plan": {"deep": [1]}}),
        old: None,
    };
    let read = Second::parse(second.render().as_bytes()).unwrap();
    assert_eq!((read.before.as_str(), read.after.as_str(), read.length), ("b", "c", 7));
    assert_eq!((read.header.render(), read.own), ("{\"id\":\"a\"}".to_owned(), second.own));
    assert!(Second::parse(b"{\"before\":\"b\"").is_none());
}
