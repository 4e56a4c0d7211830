//! Tables over the whole of the update: keys go in by their names, as the runtime sends them.

mod attach;
mod connect;
mod connection;
mod engine;
mod find;
mod first_hour;
mod focus;
mod hunks;
mod jobs;
mod key;
mod keys;
mod lifecycle;
mod list;
mod mark;
mod plan;
mod queue;
mod refused;
mod workspace;

use super::*;
use crate::app::msg::{Area, Frame, Target};
use crate::app::state::chat::Drawn;
use crate::app::state::{Current, Size};
use crate::domain::ids::{CallId, MessageId, RequestId};
use crate::domain::message::{AssistantText, Body, UserText};
use crate::domain::request::{AgentQuestion, Approval, Ask, PlanReview, Request, UserAnswer};
use crate::domain::rule::{Offer, Rule, RuleScope};
use crate::domain::session::{Activity, SessionMeta};
use crate::domain::tool::Proposal;
use crate::domain::{Message, Mode};
use crate::keymap::{Context, Table};
use crate::protocol::{Command, Configured, EngineEvent, Event, Opened, Queued, SessionCommand, SessionEvent, Stamped};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// A Saturday, 12:00 UTC.
pub(super) const NOON: i64 = 1_795_262_400_000;

pub(super) static TABLE: LazyLock<Arc<Table>> = LazyLock::new(|| Arc::new(crate::keymap::load(None).table));

/// A screen with an engine that is played by hand.
pub(super) struct Screen {
    pub(super) state: State,
    pub(super) fx: Vec<Effect>,
    seqs: std::collections::HashMap<String, u64>,
}

pub(super) fn id(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

pub(super) fn meta(name: &str) -> SessionMeta {
    let mut meta = SessionMeta::new(id(name), At(NOON), Mode::Ask, PathBuf::from("/w"));
    meta.title = format!("Title {name}");
    meta
}

pub(super) fn row(id: &str, body: Body) -> Message {
    Message::new(MessageId::new(id), At(NOON), body)
}

pub(super) fn user_row(id: &str, text: &str) -> Message {
    row(id, Body::User(UserText { text: text.to_owned(), ..UserText::default() }))
}

pub(super) fn assistant_row(id: &str, text: &str) -> Message {
    row(id, Body::Assistant(AssistantText { text: text.to_owned(), ..AssistantText::default() }))
}

/// The rule that the approval offers.
pub(super) fn cargo_test() -> Rule {
    Rule { program: Some("cargo".to_owned()), args: Some(vec!["test".to_owned()]), ..Rule::allow("bash") }
}

pub(super) fn approval(id: &str) -> Request {
    Request {
        id: RequestId::new(id),
        ask: Ask::Approval(Box::new(Approval {
            call: CallId::new(id),
            tool: "bash".to_owned(),
            subject: "cargo test".to_owned(),
            intent: None,
            proposal: Proposal::Command { command: "cargo test".to_owned(), cwd: PathBuf::from("/w") },
            reasons: vec![],
            risks: vec![],
            parts: vec![],
            offers: vec![Offer { rule: cargo_test(), harmless: None, worst: None }],
            scopes: vec![RuleScope::Session],
            would_run_now: false,
            irreversible: false,
        })),
    }
}

pub(super) fn plan(id: &str, markdown: &str) -> Request {
    let path = PathBuf::from("/plans/a.md");
    let ask = Ask::Plan(PlanReview {
        path,
        title: "A plan".to_owned(),
        markdown: markdown.to_owned(),
        ..PlanReview::default()
    });
    Request { id: RequestId::new(id), ask }
}

pub(super) fn question(id: &str, options: &[&str]) -> Request {
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    let ask = Ask::Question(AgentQuestion { call: CallId::new(id), text: "Which?".to_owned(), options });
    Request { id: RequestId::new(id), ask }
}

pub(super) fn snapshot(meta: SessionMeta) -> Opened {
    Opened {
        meta,
        rows: vec![],
        earlier: None,
        later: None,
        redelivery: None,
        queue: vec![],
        queue_held: false,
        steers: vec![],
        requests: vec![],
        plan: None,
        todo: vec![],
        jobs: Vec::new(),
        draft: String::new(),
        draft_attachments: vec![],
    }
}

impl Screen {
    /// A screen that shows the new session `s`, made by the engine, with `a` and `b` in the list.
    pub(super) fn new() -> Self {
        let keys = Arc::clone(&TABLE);
        let mut state = State::new(keys, Size { width: 120, height: 40 }, At(NOON), 0);
        let fx = start(&mut state, None);
        let mut screen = Self { state, fx, seqs: Default::default() };
        screen.whole(EngineEvent::Configured(Box::new(Configured {
            cycle: Mode::ALL.to_vec(),
            history: vec!["first".to_owned(), "second".to_owned()],
            ..Configured::default()
        })));
        screen.whole(EngineEvent::Listed { sessions: vec![meta("a"), meta("b")] });
        screen.session("s", SessionEvent::Opened(Box::new(snapshot(meta("s")))));
        screen.draw(true);
        screen.fx.clear();
        screen
    }

    pub(super) fn msg(&mut self, msg: Msg) -> &mut Self {
        let now = self.state.clock.now;
        self.fx.extend(update(&mut self.state, now, msg));
        self
    }

    pub(super) fn wait(&mut self, ms: u64) -> &mut Self {
        self.state.clock.now = self.state.clock.now.plus(ms);
        self
    }

    pub(super) fn key(&mut self, key: Key) -> &mut Self {
        let msg = resolve(&self.state, key);
        self.msg(msg)
    }

    /// Presses keys by their names, with blanks between, at once; but Enter after a letter that marks an answer as
    /// soon as it counts.
    pub(super) fn keys(&mut self, names: &str) -> &mut Self {
        for key in Key::parse_chord(names).unwrap() {
            if key == Key::plain(crate::keymap::key::Code::Enter) && letters::is_marked(&mut self.state) {
                self.wait(150);
            }
            self.key(key);
            if self.state.input.letter.is_some_and(|held| held.pane == crate::app::state::Focus::Chat) {
                self.wait(220).msg(Msg::Timer(Timer::HeldLetter));
            }
        }
        self
    }

    /// Types a text, 10 ms a character.
    pub(super) fn type_text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.wait(10).key(Key::char(c));
        }
        self
    }

    pub(super) fn whole(&mut self, event: EngineEvent) -> &mut Self {
        self.stamped(Event::Engine(event))
    }

    pub(super) fn session(&mut self, name: &str, event: SessionEvent) -> &mut Self {
        self.stamped(Event::Session { id: id(name), event })
    }

    fn stamped(&mut self, event: Event) -> &mut Self {
        let seq = self.seqs.entry(event.session().map_or(String::new(), |id| id.to_string())).or_default();
        *seq += 1;
        let stamped = Stamped::new(*seq, event);
        self.msg(Msg::Engine(Box::new(stamped)))
    }

    /// Loses an event of a session on its way.
    pub(super) fn lose(&mut self, name: &str) -> &mut Self {
        *self.seqs.entry(name.to_owned()).or_default() += 1;
        self
    }

    pub(super) fn ask(&mut self, request: Request) -> &mut Self {
        self.session("s", SessionEvent::Asked(Box::new(request)))
    }

    /// A frame: the conversation at its end or not, the panel at row 30, its answers from 31 on.
    pub(super) fn draw(&mut self, at_end: bool) -> &mut Self {
        let keys = self.state.current_open().map(|open| open.chat.entries.iter().map(|e| e.key).collect::<Vec<_>>());
        let top = match self.state.current_open().map(|open| open.chat.view) {
            Some(crate::app::state::chat::View::At { key, line }) => Some((key, line)),
            _ => keys.and_then(|keys| keys.first().copied()).map(|key| (key, 0)),
        };
        let chat = Drawn { top, at_end, below: 0, height: 20, at_top: false };
        let full = |y, h| Area { x: 40, y, w: 80, h };
        let mut areas =
            vec![(full(0, 30), Target::Chat), (full(30, 6), Target::Panel), (full(36, 3), Target::Composer)];
        areas.extend((0..4).map(|at| (full(31 + at, 1), Target::Choice(usize::from(at)))));
        self.msg(Msg::Drawn(Box::new(Frame {
            chat: Some(chat),
            areas,
            list_rows: 30,
            panel_rows: 5,
            panel_hidden: 20,
            panel: self.state.panel().map(|(panel, _)| (panel.request.clone(), true)),
            both_panes: true,
            ..Frame::default()
        })))
    }

    pub(super) fn text(&self) -> String {
        self.state.composer().text()
    }

    /// Commands sent to the engine since the last call.
    pub(super) fn sent(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.fx)
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Send(command) => Some(command),
                _ => None,
            })
            .collect()
    }

    /// Commands to the session `s` since the last call, without drafts and what only shows it.
    pub(super) fn acts(&mut self) -> Vec<SessionCommand> {
        self.sent()
            .into_iter()
            .filter_map(|command| match command {
                Command::Session { id: session, command } if session == id("s") => Some(command),
                Command::Session { .. } | Command::Engine(_) => None,
            })
            .filter(|command| !matches!(command, SessionCommand::Draft { .. } | SessionCommand::Open { .. }))
            .collect()
    }

    pub(super) fn last_notice(&self) -> String {
        self.state.notices.last().map(|n| format!("{} {}", n.text, n.hint)).unwrap_or_default()
    }
}

pub(super) fn answered(acts: &[SessionCommand]) -> Vec<UserAnswer> {
    acts.iter()
        .filter_map(|act| match act {
            SessionCommand::Answer { answer, .. } => Some(answer.clone()),
            _ => None,
        })
        .collect()
}

#[test]
fn a_list_that_comes_late_does_not_take_a_session_that_is_nowhere_but_here() {
    let mut screen = Screen::new();
    assert!(screen.state.current_meta().is_some());
    screen.whole(EngineEvent::Listed { sessions: vec![meta("a")] });
    assert!(screen.state.current_meta().is_some(), "the new session stays");
    assert!(screen.state.sessions.meta(&SessionId::parse("b").unwrap()).is_none(), "one that is gone goes");
}
