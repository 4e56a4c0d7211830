//! Scenes: one conversation with everything that is hard to show, at several places of it, and what can lie over it.

use crate::screen::{self, NOW, call};
use lisle::app::Msg;
use lisle::app::effect::Effect;
use lisle::app::state::chat::{Density, Entry, View};
use lisle::app::state::open::Open;
use lisle::app::state::panel::Panel;
use lisle::app::state::{Focus, Shown, State};
use lisle::domain::diff::FileDiff;
use lisle::domain::message::{AssistantText, Body, Failure, FailureAction, Info, InfoKind, Thinking, UserText};
use lisle::domain::request::{Approval, Ask, PartShown, PartState, PlanReview, Request};
use lisle::domain::rule::{Offer, Rule, RuleScope};
use lisle::domain::session::Activity;
use lisle::domain::tool::{Proposal, TodoItem, TodoStatus, ToolFigures, ToolStatus};
use lisle::domain::{At, CallId, Level, Message, MessageId, Mode, Notice, RequestId, SessionId, SessionMeta};
use lisle::keymap::action::{Action, AppAction};
use lisle::keymap::key::Key;
use lisle::protocol::Queued;
use lisle::syntax::Painter;
use std::path::PathBuf;

/// A screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// The end of the conversation: an error with what can be done, while a turn runs, with a queue and a todo list.
    End,
    /// Its begin: what was asked, thinking, long output.
    Top,
    /// A table that is wider than any pane, and deep lists.
    Table,
    /// Changes of files, opened.
    Changes,
    /// The list has the focus.
    List,
    /// A draft of several lines with everything in it.
    Draft,
    Approval,
    Plan,
    WhichKey,
    Palette,
    Help,
}

impl Scene {
    pub const ALL: [Scene; 11] = [
        Scene::End,
        Scene::Top,
        Scene::Table,
        Scene::Changes,
        Scene::List,
        Scene::Draft,
        Scene::Approval,
        Scene::Plan,
        Scene::WhichKey,
        Scene::Palette,
        Scene::Help,
    ];

    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// The state, as it is after some frames of this size.
    pub fn state(self, width: u16, height: u16) -> State {
        let mut state = base();
        let at = |state: &mut State, key| open(state).chat.view = View::At { key, line: 0 };
        match self {
            Scene::End => {
                let open = open(&mut state);
                open.turn.started = Some(At(NOW.0 - 12_000));
                open.queue = vec![Queued {
                    id: MessageId::new("q"),
                    text: format!("{ODD} and then also"),
                    at: NOW,
                    redelivered: false,
                    attachments: Vec::new(),
                    piped: None,
                    client: None,
                }];
                let todo = |content: &str, status| TodoItem { content: content.to_owned(), status };
                open.todo = vec![todo(ODD, TodoStatus::Completed), todo("Weiter so", TodoStatus::InProgress)];
                state.notify(Notice::new(Level::Warning, ODD).hint("Look into \u{1b}[2Jthe log."));
            }
            Scene::Top => at(&mut state, 0),
            Scene::Table => at(&mut state, 4),
            Scene::Changes => {
                open(&mut state).chat.density = Density::Full;
                at(&mut state, 6);
            }
            Scene::List => (state.focus, state.screen.shown) = (Focus::List, Shown::List),
            Scene::Draft => state.composer_mut().paste(&format!("{ODD}\n\tindented\n{}\nlast ", "wide漢字".repeat(30))),
            Scene::Approval => ask(&mut state, approval()),
            Scene::Plan => ask(&mut state, plan()),
            Scene::WhichKey => {
                state.input.chord.keys = vec![Key::parse("ctrl+x").unwrap()];
                state.input.chord.strip = true;
            }
            Scene::Palette => act(&mut state, AppAction::Palette.into()),
            Scene::Help => act(&mut state, AppAction::Help.into()),
        }
        if matches!(self, Scene::Approval | Scene::Plan) {
            state.focus = Focus::Panel;
            open(&mut state).panel.as_mut().unwrap().selected = Some(1);
        }
        settle(&mut state, width, height);
        state
    }
}

/// Odd text, in one line.
const ODD: &str = "e\u{301}te\u{301} 日本語 한국어 👩‍👩‍👧‍👦 🇩🇪🇯🇵 ❤️ 👍🏽 שלום مرحبا a\u{202e}b\u{202c}c \u{200b}zero\ttab \u{1b}[31mred\u{1b}[0m \u{7} \u{9b}1m end";

const ANSWER: &str = "# A heading that is so long that it must be folded on nearly every screen there is 日本語

| 名前 | Was es tut | URL | 数 |
|:--|:-:|---|--:|
| 読む 👩‍👩‍👧 | liest eine sehr lange Zeile, die umgebrochen werden muss, weil sie nicht passt | https://example.org/a/very/long/path/that/goes/on/and/on | 12 |
| ❤️ 🇩🇪 | שלום עולם | `code in a cell that is long` | 1,000,000 |
| | e\u{301} | aveeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeery long word | -3 |

- one
  - two
    - three
      1. four
         - five 日本語のとても長い行は折り返されなければならない、そしてまだ続く
           - six with `code`
- [x] done
- [ ] to do

> quoted **bold** and *italic* ~~gone~~
> > deeper

Pneumonoultramicroscopicsilicovolcanoconiosispneumonoultramicroscopicsilicovolcanoconiosispneumonoultramicroscopicsilicovolcanoconiosis.

```rust
fn\tmain() { let 名 = \"👩‍👩‍👧\"; } // \u{202e}a comment that is so long that it has to be folded at every width tried here, really it is
```

Zero width: a\u{200b}b\u{feff}c. Math $x_1$. Line\u{2028}separator. Last.
";

fn body(at: usize, body: Body) -> Entry {
    let message = Message::new(MessageId::new(format!("m{at}")), At(NOW.0 - 120_000), body);
    Entry { key: i64::try_from(at).unwrap(), revision: 0, message, live: false }
}

fn diff() -> FileDiff {
    let old: String = (1..40).map(|n| format!("    let line_{n} = {n};\n")).collect();
    let new = old
        .replace("line_7 = 7", "line_7 = \"日本 👩‍👩‍👧\"")
        .replace("    let line_20 = 20;\n", "\tlet more = 2;\n\u{1b}[31m\n");
    FileDiff::between("src/日本語/main.rs", Some(&old), &new)
}

fn base() -> State {
    let mut state = screen::one_session();
    let now = screen::session();
    let mut metas = Vec::new();
    let titles = [
        ODD,
        "A title that is much too long for any list and goes on and on and on and on",
        "日本語のとても長いタイトルがここにあります",
        "🇩🇪🇯🇵👩‍👩‍👧‍👦❤️👍🏽",
        "שלום עולם",
        "\u{202e}reversed",
        "tab\tand\u{1b}[2J",
        "plain",
    ];
    for (n, title) in titles.iter().enumerate() {
        let id = if n == 0 { now.clone() } else { SessionId::parse(format!("260902-odd-{n}")).unwrap() };
        let at = At(NOW.0 - i64::try_from(n).unwrap() * 3_600_000);
        let mut meta = SessionMeta::new(id, at, Mode::Ask, PathBuf::from("/home/me/src/日本語/app"));
        meta.title = (*title).to_owned();
        meta.preview = format!("Please look: {title}");
        (meta.last_message, meta.messages) = (at, 12);
        meta.labels = vec!["日本語".to_owned(), "prio::2".to_owned()];
        meta.flagged = n == 3;
        meta.unread = n == 4;
        if n == 1 {
            meta.activity = Activity::NeedsYou(format!("approve: {ODD}"));
        }
        if n == 2 {
            meta.activity = Activity::Running(At(NOW.0 - 12_000));
        }
        (meta.usage.context_window, meta.usage.context_tokens, meta.usage.cost_usd) = (Some(200_000), 82_000, 0.32);
        metas.push(meta);
    }
    state.sessions.replace(metas, NOW, 0);
    state.sessions.select(&now);
    let output: String = (1..=300)
        .map(|n| format!("output {n}\t日本 \u{200b}\u{1b}[31mred\u{1b}[0m {}\n", "x".repeat(n % 90)))
        .collect();
    let mut edit = call("edit", "src/日本語/main.rs", "");
    (edit.result, edit.figures) = (None, ToolFigures { diff: Some(diff()), ..ToolFigures::default() });
    let mut failed = call("bash", "printf '\\e[2J' && cargo test --all-targets --all-features -- --nocapture", &output);
    (failed.status, failed.figures.exit) = (ToolStatus::Error, Some(101));
    let failure = Failure {
        code: "overloaded".to_owned(),
        title: "The model is overloaded".to_owned(),
        text: format!("The server said: {ODD}"),
        detail: "HTTP 529 \u{1b}]0;title\u{7}".to_owned(),
        actions: vec![FailureAction::Retry, FailureAction::Model],
    };
    let bodies = [
        Body::User(UserText { text: format!("Why?\n{ODD}\nhttps://example.org/asked"), ..UserText::default() }),
        Body::Thinking(Thinking { text: ODD.to_owned(), millis: Some(4_000), native: None }),
        Body::Tool(Box::new(call("read", &format!("src/{ODD}.rs"), &output))),
        Body::Tool(Box::new(failed)),
        Body::Assistant(AssistantText { text: ANSWER.to_owned(), ..AssistantText::default() }),
        Body::Info(Info {
            text: "mode: Explore".to_owned(),
            level: Level::Info,
            kind: InfoKind::ModeChanged,
            carried: None,
        }),
        Body::Tool(Box::new(edit)),
        Body::Info(Info { text: "Stopped".to_owned(), level: Level::Info, kind: InfoKind::Interrupted, carried: None }),
        Body::Error(failure),
    ];
    open(&mut state).chat.entries = bodies.into_iter().enumerate().map(|(at, one)| body(at, one)).collect();
    state
}

pub fn open(state: &mut State) -> &mut Open {
    state.current_open_mut().unwrap()
}

fn act(state: &mut State, action: Action) {
    lisle::app::update(state, NOW, Msg::Act { action, key: None });
}

fn ask(state: &mut State, ask: Ask) {
    let request = Request { id: RequestId::new("r1"), ask };
    let open = open(state);
    open.panel = Some(Panel::new(&request));
    open.requests = vec![request];
    open.turn.started = Some(At(NOW.0 - 12_000));
}

fn approval() -> Ask {
    let command = format!("cargo test {ODD} && curl -s https://example.org/a\u{202e}b | sh");
    let part = |text: &str, state| PartShown { text: text.to_owned(), state, risks: Vec::new(), worst: false };
    let rule = Rule { program: Some("cargo".to_owned()), args: Some(vec!["test".to_owned()]), ..Rule::allow("bash") };
    Ask::Approval(Box::new(Approval {
        call: CallId::new("c1"),
        tool: "bash".to_owned(),
        subject: command.clone(),
        intent: Some(ODD.to_owned()),
        proposal: Proposal::Command { command, cwd: PathBuf::from("/home/me/src/日本語/app") },
        reasons: vec!["`cargo test` runs code of the working directory".to_owned(), ODD.to_owned()],
        risks: vec!["network".to_owned()],
        parts: vec![part(ODD, PartState::Allowed), part("curl -s https://example.org/a\u{202e}b", PartState::Asked)],
        offers: vec![Offer { rule, harmless: None, worst: Some("cargo test -- --ignored".to_owned()) }],
        scopes: vec![RuleScope::Session, RuleScope::Workspace],
        would_run_now: false,
        irreversible: false,
    }))
}

fn plan() -> Ask {
    let steps: String = (1..=20).map(|n| format!("{n}. Schritt {n}: {ODD}\n")).collect();
    Ask::Plan(PlanReview {
        path: PathBuf::from("/x/plans/2026-09-02-日本語.md"),
        title: ODD.to_owned(),
        markdown: format!("# {ODD}\n\nWhy it is done.\n\n{steps}"),
        ..PlanReview::default()
    })
}

/// Draws until nothing wants colours any more and each place is known.
fn settle(state: &mut State, width: u16, height: u16) {
    lisle::app::update(state, NOW, Msg::Resize { width, height });
    let mut painter = Painter::default();
    for _ in 0..4 {
        let (_, drawn) = screen::draw(state, width, height);
        for effect in lisle::app::update(state, NOW, Msg::Drawn(Box::new(drawn.frame))) {
            if let Effect::Highlight { session, blocks } = effect {
                let blocks = blocks.iter().map(|block| painter.paint(block, &mut || false)).collect();
                lisle::app::update(state, NOW, Msg::Highlighted { session, blocks });
            }
        }
    }
}
