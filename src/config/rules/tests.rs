//! Files of rules as people and other programs write them, and what becomes of them.

use super::*;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;

const WHOLE: &str = r#"{
  "version": "2026-01-01",
  "allowedBashPatterns": ["^cargo test\\b", { "pattern": "^ls", "comment": "harmless" }, "("],
  "allowedMcpPatterns": ["list_.*"],
  "allowedApiEndpoints": [{ "method": "GET", "path": ".*", "comment": "reading" }],
  "allowedWritePaths": ["docs/**", { "pattern": "~/notes/**" }],
  "blockedTools": ["WebFetch", "MultiEdit"],
  "blockedCommandHints": [
    { "command": "git push", "reason": "Not from here.", "tryInstead": ["git format-patch", "ask"], "example": "x" }
  ],
  "rules": [
    { "effect": "allow", "tool": "bash", "program": "make", "args": ["-j4"] },
    { "effect": "deny", "tool": "bash", "program": "git", "args": ["push"], "note": "CI does that." }
  ],
  "theirs": { "a": [1.50, 2e3] }
}
"#;

fn parsed(text: &str) -> (PermissionsFile, Vec<Problem>) {
    parse(Path::new("/ws/permissions.json"), text)
}

fn make() -> Rule {
    Rule { program: Some("make".into()), args: Some(vec!["-j4".into()]), ..Rule::allow("bash") }
}

fn named(program: &str) -> Rule {
    Rule { program: Some(program.into()), ..Rule::allow("bash") }
}

#[test]
fn every_key_is_read() {
    let (written, problems) = parsed(WHOLE);
    assert_eq!(written.commands, ["^cargo test\\b", "^ls"]);
    assert_eq!(written.paths, ["docs/**", "~/notes/**"]);
    assert_eq!(written.blocked, ["fetch", "edit"]);
    assert_eq!(written.hints[0].text, "Not from here. Try instead: git format-patch; ask. Example: x");
    assert_eq!(written.rules[0], make());
    assert_eq!((written.rules[1].effect, written.rules[1].note.as_deref()), (RuleEffect::Deny, Some("CI does that.")));
    assert_eq!(problems.len(), 1, "{problems:?}");
    let told = problems[0].to_string();
    assert!(told.starts_with("/ws/permissions.json:3: ") && told.contains("\"(\""), "{told}");
}

#[test]
fn a_defect_in_what_allows_leaves_that_entry_out() {
    for (bad, says) in [
        (r#"{"effect": "allow", "tool": "bash", "pogram": "x"}"#, "no key \"pogram\""),
        (r#"{"effect": "allow", "tool": "bash", "program": 3}"#, "invalid type"),
        (r#"{"effect": "allow", "tool": "bash", "program": "x", "args": ["*", "y"]}"#, "must be last"),
        (r#"{"effect": "allow"}"#, "tool"),
    ] {
        let text = format!(
            "{{\"rules\": [\n{bad},\n{{\"effect\": \"allow\", \"tool\": \"bash\", \"program\": \"make\", \"args\": [\"-j4\"]}}\n]}}"
        );
        let (written, problems) = parsed(&text);
        assert_eq!(written.rules, [make()], "{bad}");
        assert_eq!((problems.len(), problems[0].line), (1, Some(2)), "{bad}");
        assert!(problems[0].text.contains(says), "{:?}", problems[0]);
    }
}

#[test]
fn a_file_that_is_not_understood_whole_only_tightens() {
    let tight = r#"{"effect": "deny", "tool": "bash", "program": "git"}"#;
    let allow = r#"{"effect": "allow", "tool": "bash", "program": "make"}"#;
    for text in [
        // Cut off, or broken at the end.
        format!(
            "{{\"allowedBashPatterns\": [\"x\"], \"blockedTools\": [\"Bash\"], \"rules\": [{allow}, {tight}, {{\"eff"
        ),
        format!("{{\"rules\": [{allow}, {tight}], \"blockedTools\": [\"Bash\"], }}"),
        format!("{{\"rules\": [{allow}, {tight}], \"blockedTools\": [\"Bash\"]}} x"),
        // A rule that may be meant to deny.
        format!(
            "{{\"blockedTools\": [\"Bash\"], \"rules\": [{allow}, {tight}, {{\"effect\": \"dney\", \"tool\": \"x\"}}]}}"
        ),
        format!(
            "{{\"blockedTools\": [\"Bash\"], \"rules\": [{allow}, {tight}, {{\"effect\": \"deny\", \"tol\": \"x\"}}]}}"
        ),
        format!("{{\"blockedTools\": [\"Bash\"], \"rules\": [{allow}, {tight}, 3]}}"),
        format!("{{\"blockedTools\": [\"Bash\", 3], \"rules\": [{allow}, {tight}]}}"),
        // The same key twice.
        format!("{{\"blockedTools\": [\"Bash\"], \"rules\": [{tight}], \"rules\": [{allow}]}}"),
    ] {
        let (written, problems) = parsed(&text);
        assert!(!written.loosens(), "{text}");
        assert_eq!(written.rules.len(), 1, "{text}: {written:?}");
        assert_eq!((written.rules[0].effect, written.blocked.as_slice()), (RuleEffect::Deny, &["bash".to_owned()][..]));
        assert!(!problems.is_empty() && problems[0].fix.contains("no rule in this file allows anything"), "{text}");
    }
    let (written, problems) = parsed("{\"rules\": 3, \"allowedBashPatterns\": [\"x\"]}");
    assert!(!written.loosens() && problems[0].text.contains("not a list"));
    assert_eq!(parsed(""), Default::default());
    assert!(!parsed("[]").1.is_empty());
}

#[test]
fn adding_changes_the_rules_key_and_no_other_byte() {
    for (before, after) in [
        ("", "{\n  \"rules\": [\n    RULE\n  ]\n}\n"),
        ("{}", "{\n  \"rules\": [\n    RULE\n  ]\n}"),
        ("{\"a\": 1}", "{\"a\": 1, \"rules\": [RULE]}"),
        ("{\n\t\"a\": 1.50\n}\n", "{\n\t\"a\": 1.50,\n\t\"rules\": [\n\t  RULE\n\t]\n}\n"),
        ("{\n  \"rules\": [],\n  \"z\": 2e3\n}", "{\n  \"rules\": [\n    RULE\n  ],\n  \"z\": 2e3\n}"),
        ("{\"rules\": [{\"x\": 1}]}", "{\"rules\": [{\"x\": 1}, RULE]}"),
        ("{\n  \"rules\": [\n    {\"x\": 1}\n  ]\n}", "{\n  \"rules\": [\n    {\"x\": 1},\n    RULE\n  ]\n}"),
        ("\u{feff}{}", "\u{feff}{\n  \"rules\": [\n    RULE\n  ]\n}"),
    ] {
        let rule = serde_json::to_string(&make()).unwrap();
        let added = text::add(before, &[make()]).unwrap();
        assert_eq!(added, after.replace("RULE", &rule), "{before:?}");
        assert_eq!(text::add(&added, &[make()]).unwrap(), added, "not twice");
    }
    for broken in ["{", "[]", "{\"rules\": 3}", "{\"rules\": [], \"rules\": []}"] {
        assert!(text::add(broken, &[make()]).is_err(), "{broken}");
    }
    let edited = text::add(WHOLE, &[named("x")]).unwrap();
    assert!(edited.contains("\"theirs\": { \"a\": [1.50, 2e3] }") && edited.contains("\"(\"]"));
}

#[test]
fn removing_takes_the_rule_and_its_comma() {
    let (a, b, c) =
        ("{\"effect\":\"allow\",\"tool\":\"a\"}", "{ \"effect\": \"allow\", \"tool\": \"b\" }", "{\"own\": 1}");
    let gone = |tool: &'static str| move |raw: &str| rule(raw).is_ok_and(|rule| rule == Rule::allow(tool));
    let (is_a, is_b) = (gone("a"), gone("b"));
    for (before, meant, after) in [
        (format!("{{\"rules\": [{a}]}}"), &is_a as &dyn Fn(&str) -> bool, "{\"rules\": []}".to_owned()),
        (format!("{{\"rules\": [{a}, {c}]}}"), &is_a, format!("{{\"rules\": [{c}]}}")),
        (format!("{{\"rules\": [{c}, {b}, {a}]}}"), &is_b, format!("{{\"rules\": [{c}, {a}]}}")),
        (format!("{{\"rules\": [{a}, {c}, {a}], \"z\": 1.0}}"), &is_a, format!("{{\"rules\": [{c}], \"z\": 1.0}}")),
        (
            format!("{{\n  \"rules\": [\n    {a},\n    {b}\n  ]\n}}\n"),
            &is_b,
            format!("{{\n  \"rules\": [\n    {a}\n  ]\n}}\n"),
        ),
        (format!("{{\n  \"rules\": [\n    {a}\n  ]\n}}\n"), &is_a, "{\n  \"rules\": []\n}\n".to_owned()),
        ("{\"z\": 1}".to_owned(), &is_a, "{\"z\": 1}".to_owned()),
        (String::new(), &is_a, String::new()),
    ] {
        assert_eq!(text::remove(&before, meant).unwrap(), after, "{before}");
    }
}

#[test]
fn files_are_written_whole_and_for_their_owner() {
    let dir = tempfile::tempdir().unwrap();
    let (path, locks) = (dir.path().join("ws/permissions.json"), dir.path().join("config"));
    assert_eq!(read(&path), None);
    add(&path, &locks, &[make()]).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(read(&path).unwrap().written.rules, [make()]);
    // The rights of a file that is there stay.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    add(&path, &locks, &[named("x")]).unwrap();
    remove(&path, &locks, &make()).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    assert_eq!(read(&path).unwrap().written.rules, [named("x")]);
    assert_eq!(std::fs::read_dir(dir.path().join("ws")).unwrap().count(), 1, "nothing is left beside it");
    // What cannot be understood is not written over.
    std::fs::write(&path, "{ no").unwrap();
    let error = add(&path, &locks, &[make()]).unwrap_err();
    assert!(error.contains("permissions.json was not changed") && error.contains("was not changed"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{ no");
    let found = read(&path).unwrap();
    assert!(found.problems[0].to_string().contains("permissions.json:1: Not valid JSON"), "{:?}", found.problems);
}

#[test]
fn writers_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (path, locks) = (dir.path().join("permissions.json"), dir.path().join("config"));
    std::fs::write(&path, "{\n  \"theirs\": 1.50\n}\n").unwrap();
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (path, locks) = (&path, &locks);
            scope.spawn(move || {
                for m in 0..5 {
                    add(path, locks, &[named(&format!("p{n}-{m}"))]).unwrap();
                }
            });
        }
    });
    let found = read(&path).unwrap();
    assert_eq!((found.written.rules.len(), found.problems.len()), (20, 0));
    assert!(found.text.contains("\"theirs\": 1.50"));
}

proptest! {
    #[test]
    fn what_was_added_can_be_taken_out_again(
        tools in prop::collection::vec("[a-z]{1,6}", 1..5),
        before in prop::sample::select(vec!["{}", "{\"a\": 1.0}", WHOLE, "{\n\"rules\": [\n]\n}"]),
    ) {
        let mut text = before.to_owned();
        let rules: Vec<Rule> = tools.iter().map(|tool| named(tool)).collect();
        text = text::add(&text, &rules).unwrap();
        let there = parsed(&text).0.rules;
        prop_assert!(rules.iter().all(|rule| there.contains(rule)));
        for gone in &rules {
            text = text::remove(&text, &|raw| rule(raw).is_ok_and(|rule| rule == *gone)).unwrap();
        }
        prop_assert_eq!(parsed(&text).0, parsed(before).0);
    }

    #[test]
    fn no_text_makes_it_fail(text in "\\PC{0,60}", cut in 0usize..800) {
        let _ = parsed(&text);
        let cut: String = WHOLE.chars().take(cut).collect();
        let (written, _) = parsed(&cut);
        prop_assert!(cut.len() >= WHOLE.trim_end().len() || !written.loosens());
    }
}
