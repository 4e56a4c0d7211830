//! The search over all sessions, the pickers of properties, questions, trash, health, and what a session says above its
//! conversation: at several sizes, through a terminal emulator. With `LISLE_PICTURES=DIR` each screen is also written
//! there as SVG.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::state::audit::Audit;
use lisle::app::state::chat::{Entry as Row, View};
use lisle::app::state::edit::Line;
use lisle::app::state::find::{Find, Phase, Trail};
use lisle::app::state::open::Open;
use lisle::app::state::overlay::{Bin, Card, Confirm, Deed, Overlay, Prompt, Wanted};
use lisle::app::state::picker::{Item, Kind, Picker, Value};
use lisle::app::state::{Current, Focus, Size, State};
use lisle::domain::audit_log::{AuditEntry, AuditLog};
use lisle::domain::message::{AssistantText, Body, UserText};
use lisle::domain::permission::{Authority, Decision, Sandbox};
use lisle::domain::property::{Properties, ValueType};
use lisle::domain::query::Query;
use lisle::domain::search_hit::{HitIn, RowHit, Searched, SessionHits};
use lisle::domain::session::BranchedFrom;
use lisle::domain::session_health::HealthReport;
use lisle::domain::tool::ToolStatus;
use lisle::domain::trash::{TrashId, Trashed};
use lisle::domain::{At, CallId, Message, MessageId, Mode, SessionId, SessionMeta};
use lisle::keymap;
use lisle::protocol::{Command, Queued, SessionCommand};
use lisle::theme::{Colors, Theme};
use lisle::ui;
use ratatui::style::Modifier;
use screen::{draw_with, shot};
use std::path::PathBuf;
use std::sync::Arc;

/// 2026-09-02, 21:04 UTC, a Wednesday.
const NOW: At = At(1_788_383_040_000);
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const SIZES: [(u16, u16); 4] = [(140, 40), (100, 30), (80, 24), (40, 10)];

fn ago(ms: i64) -> At {
    At(NOW.0 - ms)
}

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn meta(name: &str, title: &str, at: At) -> SessionMeta {
    let mut meta = SessionMeta::new(id(name), at, Mode::Ask, PathBuf::from("/home/me/src/app"));
    meta.title = title.to_owned();
    meta.last_message = at;
    meta.messages = 12;
    meta
}

/// Three sessions, of which the first is open with a conversation.
fn used() -> State {
    let loaded = keymap::load(None);
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let mut state = State::new(Arc::new(loaded.table), Size { width: 100, height: 30 }, NOW, 0);
    state.engine.properties = Properties::builtin();
    let mut login = meta("260902-swift-river", "Fix login redirect", ago(2 * MINUTE));
    login.status = "in-progress".to_owned();
    login.labels = vec!["bug".to_owned(), "priority::2".to_owned()];
    let report = meta("260902-red-leaf", "Weekly report", ago(3 * HOUR));
    let old = meta("260820-dry-sand", "Sketch of the release notes", ago(13 * DAY));
    state.sessions.replace(vec![login, report, old], NOW, 0);
    let mut open = Open::default();
    open.loaded = true;
    let name = id("260902-swift-river");
    state.conversations.open.insert(name.clone(), open);
    state.conversations.current = Current::Session(name.clone());
    state.sessions.select(&name);
    talk(&mut state);
    state
}

fn talk(state: &mut State) {
    let user = |text: &str| Body::User(UserText { text: text.to_owned(), ..UserText::default() });
    let answer = |text: &str| Body::Assistant(AssistantText { text: text.to_owned(), ..AssistantText::default() });
    let chat = &mut state.current_open_mut().unwrap().chat;
    for (n, body) in [
        user("The redirect after login drops the query string. Fix it and add a test."),
        answer("I look at the redirect first. The query is decoded twice:\n\n1. in `redirect.rs`\n2. in the router\n"),
        user("Does the redirect of the logout path do the same?"),
        answer("No. The logout path has no query at all, so there is nothing to lose."),
    ]
    .into_iter()
    .enumerate()
    {
        let message = Message::new(MessageId::new(format!("m{n}")), ago(2 * MINUTE), body);
        chat.entries.push_back(Row { key: n as i64, revision: 0, message, live: false });
    }
}

fn shots(name: &str, state: &State) {
    for (width, height) in SIZES {
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), shot(name, state, width, height));
    }
}

fn hit(place: HitIn, line: &str, query: &Query, when: At) -> RowHit {
    let row = (place != HitIn::Title).then(|| MessageId::new("m2"));
    RowHit { place, row, at: 400, when, line: line.to_owned(), marks: query.marks(line) }
}

fn found(query: &str) -> Find {
    let parsed = Query::parse(query).unwrap();
    let hit = |place, line: &str, when| hit(place, line, &parsed, when);
    let session = |name: &str, title: &str, at: At, total: u64, hits: Vec<RowHit>| SessionHits {
        session: id(name),
        title: title.to_owned(),
        last_message: at,
        hits,
        total,
    };
    let mut find = Find::default();
    (find.query, find.number, find.sent) = (Line::new(query), 1, query.to_owned());
    find.add(vec![
        session(
            "260902-swift-river",
            "Fix login redirect",
            ago(2 * MINUTE),
            37,
            vec![
                hit(HitIn::Title, "Fix login redirect", ago(2 * MINUTE)),
                hit(HitIn::User, "The redirect after login drops the query string. Fix it and add a test.", ago(HOUR)),
                hit(HitIn::Assistant, "I look at the redirect first. The query is decoded twice:", ago(50 * MINUTE)),
                hit(
                    HitIn::Tool,
                    "…    let next = percent_decode(url.query().unwrap_or_default()); // the redirect decodes it again",
                    ago(40 * MINUTE),
                ),
            ],
        ),
        session(
            "260820-dry-sand",
            "Sketch of the release notes",
            ago(13 * DAY),
            2,
            vec![
                hit(HitIn::Assistant, "Fixed: a redirect lost its query string.", ago(13 * DAY)),
                hit(HitIn::Label, "redirect", ago(13 * DAY)),
            ],
        ),
    ]);
    find.phase = Phase::Done(Searched { sessions: 214, bytes: 90_000_000, millis: 41, ..Searched::default() });
    find
}

#[test]
fn searching() {
    let mut state = used();
    state.overlays = vec![Overlay::Find];
    shots("find-empty", &state);
    state.searches.sessions = found("redirect");
    state.searches.sessions.step(1, 20);
    shots("find", &state);
    state.searches.sessions.phase = Phase::Searching(NOW);
    insta::assert_snapshot!("find-running-100x30", shot("find-running", &state, 100, 30));
    state.searches.sessions.query = Line::new("redirect after:soon");
    state.searches.sessions.phase = Phase::Wrong(Query::parse("redirect after:soon").unwrap_err());
    insta::assert_snapshot!("find-wrong-100x30", shot("find-wrong", &state, 100, 30));
    state.searches.sessions = Find::default();
    state.searches.sessions.query = Line::new("no such thing");
    state.searches.sessions.phase =
        Phase::Done(Searched { sessions: 214, millis: 39, unreadable: 1, ..Searched::default() });
    insta::assert_snapshot!("find-nothing-80x24", shot("find-nothing", &state, 80, 24));
}

#[test]
fn opened_at_a_hit() {
    let mut state = used();
    let find = found("redirect");
    state.searches.trail = Trail::of(&find.groups[0], &find.groups[0].hits[1], "redirect");
    state.searches.sessions = find;
    state.focus = Focus::Chat;
    let chat = &mut state.current_open_mut().unwrap().chat;
    chat.view = View::Mark { key: 2 };
    chat.cursor = Some(2);
    chat.later = Some(900);
    shots("jumped", &state);
    // Every hit is marked, also where there is no colour.
    for name in ["lisle-dark", "lisle-light", "ansi", "mono"] {
        let theme = lisle::theme::load(name, &[]).theme;
        let (buf, _) = draw_with(&state, &theme, ui::glyphs::GlyphSet::Ascii, 100, 30);
        let plain = theme.style(lisle::theme::Role::Text);
        let marked: String = buf
            .content
            .iter()
            .filter(|cell| {
                let style = cell.style();
                style.add_modifier.contains(Modifier::REVERSED)
                    || (style.bg != plain.bg && style.bg.is_some_and(|bg| bg != ratatui::style::Color::Reset))
            })
            .map(ratatui::buffer::Cell::symbol)
            .collect();
        assert!(marked.matches("redirect").count() >= 4, "{name}: {marked}");
    }
}

#[test]
fn choosing_properties() {
    let mut state = used();
    let name = id("260902-swift-river");
    let items = |state: &State| -> Vec<Item> {
        let status = |s: &lisle::domain::property::Status| Item::new(s.label.clone(), "", Value::Status(s.id.clone()));
        state.engine.properties.statuses.iter().map(status).collect()
    };
    let mut picker = Picker::new(Kind::Status, items(&state), 1);
    picker.sessions = vec![name.clone()];
    state.overlays = vec![Overlay::Picker(Box::new(picker))];
    shots("status", &state);
    let label = |label: &str, detail: &str, id: &str| Item::new(label, detail, Value::Label(id.to_owned()));
    let items = vec![label("Bug", "", "bug"), label("  Crash", "", "crash"), label("Priority", "number", "priority")];
    let mut picker = Picker::new(Kind::Labels, items, 0);
    picker.sessions = vec![name.clone(), id("260902-red-leaf")];
    state.overlays = vec![Overlay::Picker(Box::new(picker))];
    insta::assert_snapshot!("labels-100x30", shot("labels", &state, 100, 30));
    insta::assert_snapshot!("labels-40x10", shot("labels", &state, 40, 10));
    state.overlays = vec![Overlay::Picker(Box::new(Picker::new(Kind::Labels, Vec::new(), 0)))];
    let none = shot("labels-none", &state, 80, 24);
    assert!(none.contains("No labels yet: type a name to create one"), "{none}");
    state.overlays.push(Overlay::Prompt(Box::new(Prompt {
        title: "Priority: which number?".to_owned(),
        line: Line::new("high"),
        problem: Some("expected a number: 3 or 2.5".to_owned()),
        wanted: Wanted::LabelValue { label: "priority".to_owned(), value: ValueType::Number, sessions: vec![name] },
    })));
    insta::assert_snapshot!("prompt-80x24", shot("prompt", &state, 80, 24));
}

#[test]
fn questions() {
    let mut state = used();
    state.overlays = vec![Overlay::Confirm(Box::new(Confirm::new(
        "Clear “Fix login redirect”?",
        vec![
            "12 messages move to the trash; cost and tokens restart at zero.".to_owned(),
            "Title, status, labels and settings stay. /trash keeps the messages for 30 days.".to_owned(),
        ],
        "clear",
        Deed::Send(Command::Session { id: id("260902-swift-river"), command: SessionCommand::Clear }),
    )))];
    shots("clear", &state);
}

#[test]
fn trash() {
    let mut state = used();
    state.overlays = vec![Overlay::Trash(Bin::default())];
    insta::assert_snapshot!("trash-reading-80x24", shot("trash-reading", &state, 80, 24));
    let row = |title: &str, at: At, bytes: u64, cleared: bool| Trashed {
        trash: TrashId(title.to_owned()),
        session: id("x"),
        title: title.to_owned(),
        deleted: at,
        bytes,
        cleared,
    };
    let rows = vec![
        row("An experiment that went nowhere", ago(20 * MINUTE), 84_000, false),
        row("Fix login redirect", ago(2 * DAY), 1_250_000, true),
        row("Old notes", ago(28 * DAY), 900, false),
    ];
    state.overlays = vec![Overlay::Trash(Bin { rows: Some(rows), selected: 1 })];
    shots("trash", &state);
    state.overlays = vec![Overlay::Trash(Bin { rows: Some(Vec::new()), selected: 0 })];
    insta::assert_snapshot!("trash-empty-40x10", shot("trash-empty", &state, 40, 10));
}

#[test]
fn audit() {
    let mut state = used();
    let session = id("260902-swift-river");
    state.overlays = vec![Overlay::Audit(Audit::new(session.clone()))];
    insta::assert_snapshot!("audit-reading-80x24", shot("audit-reading", &state, 80, 24));
    let entry = |call: &str, minutes: i64, tool: &str, subject: &str, decision: Option<Decision>| AuditEntry {
        at: ago(minutes * MINUTE),
        call: CallId::new(call),
        tool: tool.to_owned(),
        subject: subject.to_owned(),
        status: if decision.is_some() { ToolStatus::Completed } else { ToolStatus::Pending },
        exit: (tool == "bash").then_some(0),
        decision,
    };
    let decided = |allowed, mode, authority, sandbox, reason: &str| {
        Some(Decision { allowed, mode, authority, sandbox, reason: reason.to_owned(), client: None })
    };
    let entries = vec![
        entry(
            "a",
            30,
            "read",
            "src/auth/redirect.rs",
            decided(true, Mode::Explore, Authority::Mode, Sandbox::None, ""),
        ),
        entry("b", 29, "bash", "rg -n next= src", decided(true, Mode::Explore, Authority::Mode, Sandbox::ReadOnly, "")),
        entry(
            "c",
            28,
            "bash",
            "rm -rf target && cargo build --release --locked --target x86_64-unknown-linux-gnu",
            decided(
                false,
                Mode::Explore,
                Authority::Mode,
                Sandbox::None,
                "Explore is read-only: `rm` is not a known read-only command. Switch to Ask to Edit to be asked.",
            ),
        ),
        entry("d", 4, "edit", "src/auth/redirect.rs", decided(true, Mode::Ask, Authority::Person, Sandbox::None, "")),
        entry(
            "e",
            3,
            "bash",
            "cargo test redirect",
            decided(true, Mode::Ask, Authority::Grant("cargo test *".into()), Sandbox::None, ""),
        ),
        entry("f", 2, "bash", "git push origin 修正 \u{202e}", None),
    ];
    let mut audit = Audit::new(session.clone());
    audit.fill(AuditLog { session: session.clone(), entries, left_out: 0, messages: Vec::new() });
    audit.step(-3);
    state.overlays = vec![Overlay::Audit(audit.clone())];
    shots("audit", &state);
    audit.turn();
    state.overlays = vec![Overlay::Audit(audit.clone())];
    insta::assert_snapshot!("audit-refused-100x30", shot("audit-refused", &state, 100, 30));
    audit.fill(AuditLog { session, entries: Vec::new(), left_out: 0, messages: Vec::new() });
    state.overlays = vec![Overlay::Audit(audit)];
    insta::assert_snapshot!("audit-empty-40x10", shot("audit-empty", &state, 40, 10));
}

#[test]
fn health() {
    let mut state = used();
    let card = |report| Card { session: id("260902-swift-river"), report, busy: false, then_repair: false, scroll: 0 };
    let mut report = HealthReport {
        session: "260902-swift-river".to_owned(),
        messages: 1_204,
        lines: 1_207,
        bytes: 3_460_000,
        files: 9,
        last_writer: Some("lisle, process 4711 on this machine, 2 minutes ago".to_owned()),
        ..HealthReport::default()
    };
    state.overlays = vec![Overlay::Health(card(Some(report.clone())))];
    insta::assert_snapshot!("health-sound-80x24", shot("health-sound", &state, 80, 24));
    report.odd = vec![
        ("lines that do not parse".to_owned(), vec![17, 400]),
        ("rows of an unknown type".to_owned(), (1..=20).collect()),
    ];
    report.unfinished = 2;
    report.missing = vec!["attachments/screen.png".to_owned()];
    report.orphans = vec!["long_responses/old.txt".to_owned(), "plans/unused.md".to_owned()];
    report.held_by = Some("lisle, process 812 on this machine".to_owned());
    report.repairs = vec!["Move 2 invalid lines to session.jsonl.salvage.".to_owned()];
    state.overlays = vec![Overlay::Health(card(Some(report)))];
    shots("health", &state);
}

#[test]
fn what_stands_above_a_conversation() {
    let mut state = used();
    let mut meta = state.sessions.meta(&id("260902-swift-river")).unwrap().clone();
    meta.branched_from =
        Some(BranchedFrom { session: id("260902-red-leaf"), message: MessageId::new("msg-1788379440000-abcdef") });
    state.sessions.put(meta.clone(), NOW, 0);
    insta::assert_snapshot!("branch-100x30", shot("branch", &state, 100, 30));
    meta.branched_from = Some(BranchedFrom { session: id("260101-gone-away"), message: MessageId::new("elsewhere") });
    meta.held_by = Some("lisle, process 812 on this machine".to_owned());
    state.sessions.put(meta, NOW, 0);
    shots("held", &state);
}

#[test]
fn what_is_sent_again() {
    let mut state = used();
    let open = state.current_open_mut().unwrap();
    open.queue = vec![Queued {
        id: MessageId::new("q"),
        text: "also check the logout path".to_owned(),
        at: ago(HOUR),
        redelivered: true,
        attachments: Vec::new(),
        piped: None,
        client: None,
    }];
    open.redelivery = Some(At(NOW.0 + 6_400));
    shots("redelivery", &state);
    let open = state.current_open_mut().unwrap();
    open.redelivery = None;
    open.queue_held = true;
    insta::assert_snapshot!("redelivery-held-100x30", shot("redelivery-held", &state, 100, 30));
}

#[test]
fn every_size_and_theme_draws() {
    let mut state = used();
    state.searches.sessions = found("redirect");
    let report = HealthReport { odd: vec![("x".to_owned(), vec![1])], ..HealthReport::default() };
    let card = Card { session: id("x"), report: Some(report), busy: false, then_repair: false, scroll: 900 };
    for overlay in [Overlay::Find, Overlay::Trash(Bin::default()), Overlay::Health(card)] {
        state.overlays = vec![overlay];
        for colors in [Colors::None, Colors::C16, Colors::True] {
            let theme = Theme::builtin(true).for_terminal(colors);
            for (width, height) in [(1, 1), (2, 3), (19, 5), (20, 5), (21, 6), (40, 10), (60, 18), (300, 90)] {
                draw_with(&state, &theme, ui::glyphs::GlyphSet::Ascii, width, height);
            }
        }
    }
}
