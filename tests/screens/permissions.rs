//! The rules in force, what is trusted, and the questions before a change of either, at several sizes, through a terminal
//! emulator. With `LISLE_PICTURES=DIR` each screen is also written there as SVG.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::state::open::Open;
use lisle::app::state::overlay::Overlay;
use lisle::app::state::rules::{Purpose, Rules};
use lisle::app::state::session_rows::ExtensionsCard;
use lisle::app::state::{Current, Focus, Size, State};
use lisle::domain::extension::{ExtensionKind, ExtensionOrigin, ExtensionState, ExtensionView};
use lisle::domain::request::{Approval, Ask, Request, TrustRequest, TrustWhat};
use lisle::domain::rule::{KnownRule, Offer, Rule, RuleEffect, RuleScope};
use lisle::domain::tool::Proposal;
use lisle::domain::{At, CallId, Mode, RequestId, SessionId, SessionMeta};
use lisle::keymap;
use lisle::protocol::InForce;
use screen::shot;
use std::path::PathBuf;
use std::sync::Arc;

/// 2026-09-02, 21:04 UTC, a Wednesday.
const NOW: At = At(1_788_383_040_000);
const SIZES: [(u16, u16); 3] = [(140, 40), (80, 24), (40, 10)];

fn used() -> State {
    let loaded = keymap::load(None);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let mut state = State::new(Arc::new(loaded.table), Size { width: 100, height: 30 }, NOW, 0);
    let session = session();
    let mut meta = SessionMeta::new(session.clone(), NOW, Mode::Ask, PathBuf::from("/home/me/src/app"));
    meta.title = "Fix login redirect".to_owned();
    meta.last_message = NOW;
    state.sessions.replace(vec![meta], NOW, 0);
    let mut open = Open::default();
    open.loaded = true;
    state.conversations.open.insert(session.clone(), open);
    state.conversations.current = Current::Session(session);
    state
}

fn session() -> SessionId {
    SessionId::parse("260902-swift-river").unwrap()
}

fn shots(name: &str, state: &State) {
    for (width, height) in SIZES {
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), shot(name, state, width, height));
    }
}

fn bash(program: &str, args: &[&str]) -> Rule {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    Rule { program: Some(program.to_owned()), args: Some(args), ..Rule::allow("bash") }
}

fn known(rule: Rule, scope: RuleScope, file: Option<&str>, hits: u64) -> KnownRule {
    KnownRule { rule, pattern: None, scope, file: file.map(PathBuf::from), hits, removable: true }
}

fn all() -> InForce {
    let workspace = Some("/home/me/.local/share/lisle/workspaces/default/permissions.json");
    let long =
        ["run", "--release", "--package", "a-crate-with-a-long-name", "--", "--input", "tests/fixtures/one.json"];
    let deny = Rule { effect: RuleEffect::Deny, note: Some("CI does that.".to_owned()), ..bash("git", &["push"]) };
    let ask = Rule { effect: RuleEffect::Ask, path: Some("./migrations/**".to_owned()), ..Rule::allow("edit") };
    let mut pattern = known(Rule::allow("bash"), RuleScope::Workspace, workspace, 0);
    (pattern.pattern, pattern.removable) = (Some("^npm (test|run lint)".to_owned()), false);
    InForce {
        rules: vec![
            known(bash("git", &["commit", "-m", "*"]), RuleScope::Session, None, 12),
            known(bash("cargo", &long), RuleScope::Workspace, workspace, 3),
            pattern,
            known(ask, RuleScope::User, Some("/home/me/.config/lisle/permissions.json"), 1),
            known(deny, RuleScope::Repository, Some("/home/me/src/app/.lisle/permissions.json"), 0),
        ],
        trust: Vec::new(),
    }
}

fn repository(changed: bool) -> TrustRequest {
    let text = if changed {
        " {\n   \"rules\": [\n-    { \"effect\": \"allow\", \"tool\": \"bash\", \"program\": \"make\" }\n+    { \"effect\": \"allow\", \"tool\": \"bash\" }\n   ]\n }\n"
    } else {
        "{\n  \"rules\": [\n    { \"effect\": \"allow\", \"tool\": \"bash\", \"program\": \"make\" }\n  ]\n}\n"
    };
    TrustRequest {
        what: TrustWhat::Repository,
        path: "/home/me/src/app/.lisle/permissions.json".into(),
        hash: "00".to_owned(),
        text: text.to_owned(),
        changed,
        starts: Vec::new(),
    }
}

#[test]
fn rules_in_force() {
    let mut state = used();
    let mut rules = Rules::new(session(), Purpose::List);
    state.overlays = vec![Overlay::Rules(rules.clone())];
    insta::assert_snapshot!("permissions-reading-80x24", shot("permissions-reading", &state, 80, 24));
    rules.fill(InForce::default());
    state.overlays = vec![Overlay::Rules(rules.clone())];
    insta::assert_snapshot!("permissions-empty-80x24", shot("permissions-empty", &state, 80, 24));
    insta::assert_snapshot!("permissions-empty-40x10", shot("permissions-empty", &state, 40, 10));
    rules.fill(all());
    rules.select(1);
    state.overlays = vec![Overlay::Rules(rules.clone())];
    shots("permissions", &state);
    rules.fill(InForce { trust: vec![repository(false)], ..all() });
    rules.select(4);
    state.overlays = vec![Overlay::Rules(rules)];
    insta::assert_snapshot!("permissions-untrusted-80x24", shot("permissions-untrusted", &state, 80, 24));
}

#[test]
fn trust_is_asked_in_the_panel() {
    let mut state = used();
    let request = Request { id: RequestId::new("ask-1"), ask: Ask::Trust(Box::new(repository(true))) };
    let open = state.current_open_mut().unwrap();
    open.panel = Some(lisle::app::state::panel::Panel::new(&request));
    open.requests = vec![request];
    state.focus = Focus::Panel;
    shots("trust", &state);
}

#[test]
fn trust_in_extensions_is_asked_in_the_panel() {
    let mut state = used();
    let trust = TrustRequest {
        what: TrustWhat::Extensions,
        path: "/home/me/src/app".into(),
        text: "=== /home/me/src/app/.claude/skills/ship/SKILL.md\n---\ndescription: Ships it\nallowed-tools: Bash(git push:*)\n---\nShip it.\n".into(),
        starts: vec![
            "skill ship: runs without asking while it is used: Bash(git push:*)".into(),
            "agent reviewer: instructions for the model".into(),
            "command /state: runs git status".into(),
        ],
        ..repository(false)
    };
    let request = Request { id: RequestId::new("ask-1"), ask: Ask::Trust(Box::new(trust)) };
    let open = state.current_open_mut().unwrap();
    open.panel = Some(lisle::app::state::panel::Panel::new(&request));
    open.requests = vec![request];
    state.focus = Focus::Panel;
    shots("trust-extensions", &state);
}

/// Nothing of a text that is agreed to is hidden by signs in it.
#[test]
fn text_that_is_agreed_to_hides_nothing() {
    use lisle::app::state::overlay::{Confirm, Deed};
    const HIDES: &str = "evil words\rharmless \u{1b}[2K\u{8}\u{8}\u{200b}end";
    let mut state = used();
    let trust = TrustRequest { text: format!("one\n{HIDES}\n"), ..repository(false) };
    let request = Request { id: RequestId::new("ask-1"), ask: Ask::Trust(Box::new(trust)) };
    let open = state.current_open_mut().unwrap();
    open.panel = Some(lisle::app::state::panel::Panel::new(&request));
    open.requests = vec![request];
    state.focus = Focus::Panel;
    let asked = Confirm::new("Send the text?", vec![HIDES.to_owned()], "send", Deed::Copy(String::new()));
    let mut over = used();
    over.overlays.push(Overlay::Confirm(Box::new(asked)));
    for state in [state, over] {
        let shown = shot("hides", &state, 140, 40);
        assert!(shown.contains("evil words") && shown.contains("harmless"), "{shown}");
    }
}

#[test]
fn extensions_have_a_row_each() {
    let view = |kind, name: &str, origin, state, tokens| ExtensionView {
        kind,
        name: name.to_owned(),
        description: format!("does {name}"),
        origin,
        file: format!("/home/me/src/app/.claude/{name}").into(),
        state,
        tokens,
        notes: vec!["allows Bash(git push:*)".to_owned()],
    };
    let mut state = used();
    let mut card = ExtensionsCard::new(session());
    state.overlays = vec![Overlay::Extensions(card.clone())];
    insta::assert_snapshot!("extensions-reading-80x24", shot("extensions-reading", &state, 80, 24));
    card.fill(Vec::new());
    state.overlays = vec![Overlay::Extensions(card.clone())];
    insta::assert_snapshot!("extensions-empty-80x24", shot("extensions-empty", &state, 80, 24));
    let failed = ExtensionState::Failed {
        why: "/home/me/x/SKILL.md:3: Can't use the skill broken: unclosed quote. Fix it.".into(),
    };
    let taken = ExtensionState::Off { why: "/home/me/.claude/skills/pdf/SKILL.md has this name.".into() };
    card.fill(vec![
        view(ExtensionKind::Source, "files", ExtensionOrigin::Workspace, ExtensionState::On, 1_240),
        view(ExtensionKind::Skill, "broken", ExtensionOrigin::Home, failed, 0),
        view(ExtensionKind::Skill, "pdf", ExtensionOrigin::Home, ExtensionState::On, 22),
        view(ExtensionKind::Skill, "pdf", ExtensionOrigin::Repository, taken, 0),
        view(ExtensionKind::Agent, "reviewer", ExtensionOrigin::User, ExtensionState::On, 18),
        view(ExtensionKind::Command, "ship", ExtensionOrigin::Repository, ExtensionState::NotTrusted, 0),
    ]);
    card.select(1);
    state.overlays = vec![Overlay::Extensions(card.clone())];
    shots("extensions", &state);
    card.select(5);
    state.overlays = vec![Overlay::Extensions(card)];
    insta::assert_snapshot!("extensions-untrusted-80x24", shot("extensions-untrusted", &state, 80, 24));
}

#[test]
fn a_host_that_a_command_connects_to_is_asked_in_the_panel() {
    let mut state = used();
    let rule = Rule { host: Some("example.org".into()), ..Rule::allow("network") };
    let worst = "any command can send what it reads to example.org and run what it downloads";
    let approval = Approval {
        call: CallId::new("call-1"),
        tool: "network".into(),
        subject: "example.org:443".into(),
        intent: None,
        proposal: Proposal::Connect { to: "example.org:443".into(), command: "curl -s https://example.org/a".into() },
        reasons: vec![
            "A command wants to connect to example.org: not a package registry, git remote or allowed host.".into(),
        ],
        risks: vec!["network".into()],
        parts: vec![],
        offers: vec![Offer { rule, harmless: None, worst: Some(worst.into()) }],
        scopes: vec![RuleScope::Session, RuleScope::Workspace],
        would_run_now: false,
        irreversible: false,
    };
    let request = Request { id: RequestId::new("ask-1"), ask: Ask::Approval(Box::new(approval)) };
    let open = state.current_open_mut().unwrap();
    open.panel = Some(lisle::app::state::panel::Panel::new(&request));
    open.requests = vec![request];
    state.focus = Focus::Panel;
    shots("network", &state);
}
