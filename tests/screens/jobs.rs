//! Commands in the background, patches of several files and scripts, as the screen shows them: at several sizes, through a
//! terminal emulator. With `LISLE_PICTURES=DIR` each screen is also written there as SVG.

// What goes wrong in a helper of a test is the test's failure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::screen;

use lisle::app::state::State;
use lisle::app::state::chat::Entry;
use lisle::app::state::open::Open;
use lisle::app::state::overlay::{JobsCard, Overlay};
use lisle::app::state::panel::Panel;
use lisle::domain::diff::FileDiff;
use lisle::domain::ids::CallId;
use lisle::domain::job::{EndedBy, JobEnd, JobShown};
use lisle::domain::message::{Body, Info, InfoKind};
use lisle::domain::request::{Approval, Ask, Request};
use lisle::domain::tool::{FileChange, Proposal, ToolCall, ToolFigures, ToolStatus};
use lisle::domain::{At, Level, Message, MessageId, RequestId};
use screen::{NOW, SIZES, one_session, session};

fn open(state: &mut State) -> &mut Open {
    state.conversations.open.get_mut(&session()).unwrap()
}

fn shots(name: &str, state: &State) {
    for (width, height) in SIZES {
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), screen::shot(name, state, width, height));
    }
}

fn ago(seconds: i64) -> At {
    At(NOW.0 - 1_000 * seconds)
}

fn job(id: &str, command: &str, since: i64, last: &str) -> JobShown {
    JobShown { id: id.into(), command: command.into(), since: ago(since), end: None, bytes: 48_213, last: last.into() }
}

fn ended(words: &str, failed: bool, by: EndedBy) -> Option<JobEnd> {
    Some(JobEnd { at: ago(30), words: words.into(), failed, by, protected: vec![] })
}

fn jobs() -> Vec<JobShown> {
    vec![
        JobShown {
            end: ended("exit 101", true, EndedBy::Itself),
            ..job("k7pd", "cargo test --workspace", 400, "failed")
        },
        job(
            "x2ma",
            "cd web && npm run dev -- --port 5173\u{202e} --host",
            95,
            "  VITE v6.0.3  ready in 412 ms\n\n  \u{1b}[32m➜\u{1b}[0m  Local:   http://localhost:5173/\n  page reload src/App.tsx",
        ),
        JobShown { end: ended("ended by you", false, EndedBy::User), ..job("9hbc", "tail -f log/dev.log", 9_000, "") },
        job("w4tr", "cargo watch -x check", 7_300, ""),
    ]
}

#[test]
fn what_goes_on_in_the_background() {
    let mut state = one_session();
    open(&mut state).jobs = jobs();
    let text = "Background job k7pd (`cargo test --workspace`) is over after 370 s: exit 101. It wrote 48.2 KB.";
    let info = Info { text: text.into(), level: Level::Info, kind: InfoKind::JobEnded, carried: None };
    say(&mut state, Body::Info(info));
    shots("jobs-in-the-status-line", &state);
    let card = |id: &str| JobsCard { session: session(), selected: Some(id.into()) };
    state.overlays.push(Overlay::Jobs(card("x2ma")));
    shots("jobs", &state);
    state.overlays = vec![Overlay::Jobs(card("9hbc"))];
    shots("jobs-ended", &state);
    open(&mut state).jobs.clear();
    shots("jobs-none", &state);
    state.overlays = vec![Overlay::ConfirmQuit];
    open(&mut state).jobs = jobs();
    shots("jobs-quit", &state);
}

fn say(state: &mut State, body: Body) {
    let entries = &mut open(state).chat.entries;
    let key = i64::try_from(entries.len()).unwrap();
    let message = Message::new(MessageId::new(format!("m{key}")), ago(30), body);
    entries.push_back(Entry { key, revision: 1, message, live: false });
}

fn diffs() -> Vec<FileDiff> {
    let one = FileDiff::between("src/auth/redirect.rs", Some("a\nb\nc\n"), "a\nB\nc\n");
    let new = FileDiff::between("tests/redirect.rs", None, "#[test]\nfn keeps() {}\n");
    let gone = FileDiff { is_gone: true, ..FileDiff::between("src/auth/old.rs", Some("fn old() {}\n"), "") };
    let moved = FileDiff {
        moved_from: Some("src/util.rs".into()),
        ..FileDiff::between("src/auth/util.rs", Some("x\n"), "x\n")
    };
    vec![one, new, gone, moved]
}

fn call(name: &str, subject: &str, input: serde_json::Value, figures: ToolFigures) -> Body {
    Body::Tool(Box::new(ToolCall {
        id: CallId::new(subject),
        name: name.into(),
        input,
        subject: subject.into(),
        status: ToolStatus::Completed,
        result: Some("ok".into()),
        millis: Some(1_200),
        figures,
        decision: None,
    }))
}

#[test]
fn calls_say_what_they_are_for_and_patches_show_every_file() {
    let mut state = one_session();
    let intent = serde_json::json!({"intent": "Start the server to look at the redirect\nby hand"});
    say(
        &mut state,
        call("bash", "npm run dev", intent, ToolFigures { job: Some("x2ma".into()), ..ToolFigures::default() }),
    );
    let figures = ToolFigures { diffs: diffs(), ..ToolFigures::default() };
    let subject = "src/auth/redirect.rs, tests/redirect.rs, src/auth/old.rs, src/util.rs";
    say(&mut state, call("patch", subject, serde_json::json!({}), figures));
    say(&mut state, call("job_output", "x2ma", serde_json::json!({}), ToolFigures::default()));
    say(
        &mut state,
        call(
            "transform_data",
            "data/sum.csv",
            serde_json::json!({}),
            ToolFigures { exit: Some(0), ..ToolFigures::default() },
        ),
    );
    open(&mut state).chat.toggled.insert(1);
    shots("calls-of-hands", &state);
}

fn ask(state: &mut State, tool: &str, proposal: Proposal, intent: &str) {
    let approval = Approval {
        call: CallId::new("c1"),
        tool: tool.into(),
        subject: "x".into(),
        intent: Some(intent.into()),
        proposal,
        reasons: vec!["File change: /home/me/src/app/src/auth/redirect.rs.".into()],
        risks: vec!["deletes files".into()],
        parts: vec![],
        offers: vec![],
        scopes: vec![],
        would_run_now: false,
        irreversible: false,
    };
    let request = Request { id: RequestId::new("r1"), ask: Ask::Approval(Box::new(approval)) };
    let open = open(state);
    open.panel = Some(Panel::new(&request));
    open.requests = vec![request];
    open.turn.started = Some(ago(12));
}

#[test]
fn a_patch_is_approved_with_all_its_files_in_sight() {
    let mut state = one_session();
    let change = |diff| FileChange { diff, ..FileChange::default() };
    let proposal = Proposal::Changes { changes: diffs().into_iter().map(change).collect() };
    ask(&mut state, "patch", proposal, "Decode the query once\u{202e}");
    shots("patch-asked", &state);
    let script = Proposal::Script {
        language: "python3".into(),
        script: "import sys\nprint(open(sys.argv[1]).read().count('x'))".into(),
        files: vec!["/home/me/src/app/a.csv".into(), "/home/me/.local/share/lisle/s/data/out.csv".into()],
    };
    ask(&mut state, "transform_data", script, "Count the lines");
    shots("script-asked", &state);
}
